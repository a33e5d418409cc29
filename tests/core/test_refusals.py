"""What is refused says what was wrong and the one thing to do next, in a line or two (CH-2, RD-14)."""

from __future__ import annotations

import pytest

from bot.core.effects import Say, Step
from bot.core.events import FormField, FormSubmitted
from bot.core.model import MessageRef
from bot.core.view import plain
from tests.core.builders import Talk, person
from tests.core.spec.talk import SpecTalk


def told(made: Step) -> str:
    """All that somebody gets to read of a step: messages, and the notice of a tap or a form."""
    said = [plain(e.message) for e in made.effects if isinstance(e, Say)]
    return "\n".join([*said, made.reply.text] if made.reply else said)


def asked(*, shared: bool = False) -> Talk:
    talk = Talk(shared=shared)
    talk.says("ana", "lit-review this", addressed=True)
    return talk


def over() -> Talk:
    talk = asked()
    talk.says("ana", "accept recommendations")
    assert talk.state is not None
    talk.rings(f"grace:{talk.state.sessions[0].id}")
    return talk


def round_of(talk: Talk) -> str:
    assert talk.state is not None
    return talk.state.sessions[0].rounds[0].id


OVER = "Literature review (#1) is over; {}. To change an answer: change 1 to … in #1"


def test_a_late_tap_names_the_round_and_the_way_to_change_it() -> None:
    """RD-14"""
    talk = over()
    assert told(talk.presses("ana", f"r:{round_of(talk)}:1")) == OVER.format("the tap records nothing")
    assert "1 · Years to cover: was B" in told(talk.says("ana", "change 1 to A in #1"))


def test_a_late_tap_on_what_was_cancelled_says_so() -> None:
    """RD-14"""
    talk = asked()
    talk.says("ana", "/cancel")
    words = "Literature review (#1) was cancelled; the tap records nothing. /new starts something new."
    assert told(talk.presses("ana", f"r:{round_of(talk)}:1")) == words


def test_a_late_form_says_what_to_do_with_it() -> None:
    """RD-14"""
    talk = over()
    fields = {1: FormField(chosen="A")}
    form = FormSubmitted(
        person=person("ana"), round=round_of(talk), revision=1, fields=fields, ref=MessageRef(id="f", quote="Send")
    )
    assert told(talk.happens(form)) == OVER.format("nothing of the form was recorded")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "Nothing is filled in yet. Choose or write an answer, or close this."),
        ({1: FormField(chosen="Z")}, "1: It is not asked like this any more. Close this and open the form again."),
        ({9: FormField(chosen="A")}, "9: It is not asked like this any more. Close this and open the form again."),
    ],
)
def test_a_form_that_can_not_be_taken_says_what_to_do(fields: dict[int, FormField], words: str) -> None:
    talk = asked()
    ref = MessageRef(id="f", quote="Send")
    assert (
        told(
            talk.happens(
                FormSubmitted(person=person("ana"), round=round_of(talk), revision=1, fields=fields, ref=ref)
            )
        )
        == words
    )


def test_a_forged_or_old_button_says_what_to_write() -> None:
    """CH-1"""
    talk = asked()
    lead = "This button does not fit the questions any more. "
    assert told(talk.presses("ana", f"a:{round_of(talk)}:1:Z")) == f"{lead}Please write it, e.g. 1: your answer"
    assert told(talk.presses("ana", f"a:{round_of(talk)}:9:A")) == f"{lead}/resume shows what is asked."
    talk.says("ana", "yeah ok")
    assert talk.state is not None
    name = talk.state.pending[-1].id
    words = "This button does not fit the question any more. Please write “Yes, take it so” or “No”."
    assert told(talk.presses("ana", f"p:{name}:7")) == words
    assert told(talk.presses("ben", f"p:{name}:0")) == "That was asked of ana; only they can answer it."
    talk.says("ana", "no")
    assert told(talk.presses("ana", f"p:{name}:0")).endswith("this tap changes nothing. /status shows what is open.")


def test_what_is_answered_is_not_skipped_and_says_how_it_is_changed() -> None:
    """RD-10"""
    talk = asked()
    talk.says("ana", "1: B")
    assert "1 stays B, Last 10 years. To change it: change 1 to …" in told(talk.says("ana", "skip 1"))


def test_a_dispute_that_is_over_says_which_answer_holds() -> None:
    """RD-12 The rivals were taken back meanwhile."""
    talk = asked(shared=True)
    assert talk.state is not None
    talk.says("ana", "@ben please", about=round_of(talk))
    talk.says("ana", "1: B", about=round_of(talk))
    talk.says("ben", "1: A", about=round_of(talk))
    session = talk.state.sessions[0]
    round_ = session.rounds[0]
    items = tuple(item.model_copy(update={"rivals": ()}) for item in round_.items)
    sessions = (session.model_copy(update={"rounds": (round_.model_copy(update={"items": items}),)}),)
    talk.state = talk.state.model_copy(update={"sessions": sessions})
    made = talk.presses("ana", f"p:{talk.state.pending[-1].id}:y")
    words = "1 (Years to cover) is settled already: B, Last 10 years. To change it: change 1 to … in #1"
    assert told(made) == words


def test_what_waits_elsewhere_or_is_done_says_how_it_goes_on() -> None:
    """RP-7"""
    talk = Talk()
    talk.says("ana", "hello there, I have something")
    talk.says("ana", "/new")
    assert "#1 waits for the choice of a workflow: /resume 1 shows its menu." in told(talk.says("ana", "accept #1"))
    talk = asked()
    talk.says("ana", "accept recommendations")
    made = talk.says("ana", "accept recommendations for #1")
    assert "#1 is answered and about to be handed over. To change it: change 1 to … in #1" in told(made)


def test_continue_in_an_intake_says_why_nothing_goes_on() -> None:
    """RD-6"""
    talk = SpecTalk()
    talk.ana("/ars-lit-review", "/continue")
    talk.ana("/settings pack research", "/new lit-review this")
    talk.ana("/continue")
    assert talk.heard.startswith(
        "I can't go on before these are answered; nothing is decided meanwhile.\nStill open:"
    )


def test_a_phase_that_can_not_begin_says_what_goes_before_it() -> None:
    """SC-3 SP-2"""
    talk = SpecTalk()
    talk.ana("/spec Refunds", "1: B", "/jump 4")
    assert "still open" in talk.heard.lower()
    talk.ana("accept recommendations", "/continue", "A, A", "/continue", "/jump 4")
    assert talk.heard.startswith("Phase 4 can begin once the scope is confirmed again")
    assert talk.heard.count("\n") == 1, talk.heard


def test_a_second_thought_is_about_the_answer_that_was_given_last() -> None:
    """RD-13 Not about the one with the highest number."""
    talk = asked()
    talk.says("ana", "1: B")
    talk.says("ana", "2: A")
    talk.says("ana", "1: A")
    assert told(talk.says("ana", "hm wait")).startswith("What is answered stays. To change it: change 1 to …")


def test_a_second_thought_between_two_phases_says_how_an_answer_is_changed() -> None:
    """RD-13 SP-2"""
    talk = SpecTalk()
    talk.ana("/spec Refunds", "accept recommendations", "oops")
    assert talk.heard.startswith("What is answered stays. To change it: change ")
    assert "/continue" in talk.heard


def test_the_same_again_within_the_grace_is_said_to_be_recorded_already() -> None:
    """RD-16"""
    talk = asked()
    talk.says("ana", "accept recommendations")
    assert told(talk.says("ana", "1: B")).startswith("1 is B, Last 10 years already.\nDone: 3 answers")


def test_who_accepted_recommendations_is_named_where_others_answered_too() -> None:
    """RD-12 RD-16: "you" is whoever reads it."""
    talk = asked(shared=True)
    name = round_of(talk)
    talk.says("ana", "@ben please", about=name)
    talk.says("ana", "1: A", about=name)
    assert "Done: 3 answers, 2 of them recommendations ben accepted." in told(
        talk.says("ben", "accept recommendations", about=name)
    )


def test_settings_are_one_to_a_line_and_a_change_is_one_line() -> None:
    talk = Talk()
    assert "\n/settings answers requester|participants|anyone\n" in told(talk.says("ana", "/settings"))
    changed = told(talk.says("ana", "/settings answers anyone"))
    assert changed == "Pack: research. Who may answer in a shared place: anyone."
