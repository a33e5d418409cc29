"""The main paths, one step each, compared whole: state, effects, records, reply and outcome.

The steps are in tests/data/steps, written down by `builders.written`. After a change on purpose
`python -m tests.core.test_step` writes them anew; read the diff before you believe it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from bot.core import book as book_module
from bot.core import events, model, policies, state
from bot.core.codec import decode_envelope, decode_state, encode_envelope, encode_state
from bot.core.effects import Audit, Clarification, Say, Step
from bot.core.events import BotAway, DeliveryFailed, Envelope, MessageReceived, PlaceLost, PlaceRestored
from bot.core.flows import recording
from bot.core.model import MessageRef, Place
from bot.core.replies import reading
from bot.core.state import Ancient, Conversation
from bot.core.turn import Turn
from bot.core.view import plain
from tests.core.builders import START, Talk, book, models, person, written

STEPS = Path(__file__).parents[1] / "data" / "steps"


def opening(talk: Talk) -> Step:
    """RT-2 RD-6 RD-8: an explicit request goes straight to its round, and the round waits."""
    return talk.says("ana", "review my paper")


def menu(talk: Talk) -> Step:
    """RT-4 RT-8: nothing to go on brings the menu."""
    return talk.says("ana", "hi")


def menu_answered(talk: Talk) -> Step:
    """RT-9: a letter begins the workflow; the menu's card loses its buttons."""
    talk.says("ana", "hi")
    return talk.says("ana", "c")


def posted(talk: Talk) -> Step:
    """RP-7: the card's own id and place in the order are remembered; nothing else changes."""
    talk.says("ana", "review my paper")
    return talk.posted("s000000001.1", "m1", 7)


def crossed(talk: Talk) -> Step:
    """RP-7: a loose message older than the round's post never answers it."""
    talk.says("ana", "review my paper")
    talk.posted("s000000001.1", "m1", 7)
    return talk.says("ana", "1: A", order=6)


def partial(talk: Talk) -> Step:
    """RP-2 RD-10: an error is one item's; the rest counts and is kept."""
    talk.says("ana", "lit-review this")
    return talk.says("ana", "2: A, 1: Z")


def bulk(talk: Talk) -> Step:
    """RP-4 CA-3 RD-16: what is named is the person's own, the rest is accepted in bulk; the round closes."""
    talk.says("ana", "lit-review this")
    return talk.says("ana", "1: A, defaults for the rest")


def handed_over(talk: Talk) -> Step:
    """RT-15 RD-16: after the grace one document is handed on."""
    bulk(talk)
    return talk.rings("grace:s000000001")


def doubtful(talk: Talk) -> Step:
    """RP-3: agreement that names nothing is asked back; nothing is recorded."""
    talk.says("ana", "review my paper")
    return talk.says("ana", "yeah ok")


def confirmed(talk: Talk) -> Step:
    """RP-3 CA-2: the yes records it, with both messages as proof."""
    doubtful(talk)
    return talk.says("ana", "yes")


def tapped(talk: Talk) -> Step:
    """CH-1 CA-2: a tap is proven by the act, the card and the label."""
    talk.says("ana", "lit-review this")
    return talk.presses("ana", "a:s000000001.1:1:A", "A")


def conflict(talk: Talk) -> Step:
    """RD-12: another person's different answer waits for the requester."""
    talk.says("ana", "lit-review this", addressed=True)
    talk.says("ana", "/settings answers anyone")
    talk.says("ana", "1: A")
    return talk.says("ben", "1: B")


def conflict_settled(talk: Talk) -> Step:
    """RD-12: the requester switches; the answer is the other person's, with their message as proof."""
    conflict(talk)
    assert talk.state is not None
    return talk.presses("ana", f"p:{talk.state.pending[0].id}:y", "Switch to B")


def amendment_asked(talk: Talk) -> Step:
    """RD-13: after the end a change is asked about first."""
    handed_over(talk)
    return talk.says("ana", "change 1 to C")


def amended(talk: Talk) -> Step:
    """RD-13: confirmed, versioned, audited, and sent on."""
    amendment_asked(talk)
    return talk.says("ana", "yes")


def cancelled(talk: Talk) -> Step:
    """CA-4 CH-3: open questions end with the session, and nothing is handed on."""
    talk.says("ana", "lit-review this")
    talk.says("ana", "1: A")
    return talk.says("ana", "/cancel")


def undeliverable(talk: Talk) -> Step:
    """CA-4 CH-7: a state of the delivery, not of a question; nobody has acted."""
    talk.says("ana", "review my paper")
    return talk.undelivered("s000000001.1", "blocked")


def restored(talk: Talk) -> Step:
    """CA-4: lifted when a later delivery succeeds."""
    undeliverable(talk)
    return talk.posted("s000000001.1", "m2", 9)


def lost(talk: Talk) -> Step:
    """CH-7: the bot was removed from a place with a round open; the requester learns it in private."""
    talk.says("ana", "lit-review this", addressed=True)
    talk.posted("s000000001.1", "m1", 7)
    talk.says("ana", "1: A", order=8)
    return talk.happens(PlaceLost(reason="the bot was removed from here"))


def found_again(talk: Talk) -> Step:
    """CA-4 EX-6: the open round is offered again, compactly; the older card gives up its buttons."""
    lost(talk)
    return talk.happens(PlaceRestored())


def away(talk: Talk) -> Step:
    """RD-6 EX-6: some messages are lost; said, and the round is shown again, never asked anew."""
    talk.says("ana", "review my paper")
    talk.posted("s000000001.1", "m1", 7)
    until = talk.at + timedelta(days=3)
    return talk.happens(BotAway(since=talk.at, until=until, lost_before=until - timedelta(days=1)), after=259200)


def unknown_person(talk: Talk) -> Step:
    """CH-5: told their id and the operator's command, and nothing else."""
    return talk.says("mallory", "review my paper")


def unknown_person_again(talk: Talk) -> Step:
    """CH-5: told once."""
    unknown_person(talk)
    return talk.says("mallory", "hello?")


def several_asked(talk: Talk) -> Step:
    """RP-4: several rounds are summed up, bound to their revisions, and nothing is recorded."""
    talk.says("ana", "lit-review this")
    talk.says("ana", "/new review my paper")
    return talk.says("ana", "accept recommendations for #1, #2 except #1 3: A")


def several_taken(talk: Talk) -> Step:
    """RP-4 CA-3: after the yes one receipt a round, all with the same proof."""
    several_asked(talk)
    return talk.says("ana", "yes")


def not_theirs(talk: Talk) -> Step:
    """RD-12: whoever may not answer is told why, privately, and it is audited."""
    talk.says("ana", "review my paper", addressed=True)
    return talk.says("ben", "1: A")


def ordinary_talk(talk: Talk) -> Step:
    """CH-2: talk in a shared place is neither eaten nor answered."""
    talk.says("ana", "review my paper", addressed=True)
    return talk.says("ana", "yes, let's have lunch")


PRIVATE: tuple[Callable[[Talk], Step], ...] = (
    several_asked,
    several_taken,
    opening,
    menu,
    menu_answered,
    posted,
    crossed,
    partial,
    bulk,
    handed_over,
    doubtful,
    confirmed,
    tapped,
    amendment_asked,
    amended,
    cancelled,
    away,
    undeliverable,
    restored,
    unknown_person,
    unknown_person_again,
)
SHARED: tuple[Callable[[Talk], Step], ...] = (
    conflict,
    conflict_settled,
    not_theirs,
    ordinary_talk,
    lost,
    found_again,
)


def told(path: Callable[[Talk], Step]) -> str:
    talk = Talk(shared=path in SHARED)
    made = path(talk)
    return written(talk.before, made) + "\n"


@pytest.mark.parametrize("path", [*PRIVATE, *SHARED], ids=lambda path: path.__name__)
def test_the_whole_step(path: Callable[[Talk], Step]) -> None:
    """The rule of each is in its own words, above."""
    assert told(path) == (STEPS / f"{path.__name__}.txt").read_text(encoding="utf-8")


# -- smaller things, each of which was once wrong ------------------------------------------------------------------


def recorded(made: Step) -> list[tuple[str, str | None, str | None]]:
    return [(r.question, r.chosen, r.chosen_text) for r in made.records if isinstance(r, Clarification)]


def words(made: Step) -> str:
    return "\n".join(plain(e.message) for e in made.effects if isinstance(e, Say))


@pytest.mark.parametrize(
    "token",
    [
        "a:s000000001.1:1:+",  # a statement is confirmed so, and this is none
        "a:s000000001.1:01:A",
        "a:s000000001.1:²:A",
        f"a:s000000001.1:{'9' * 5000}:A",
        "a:s000000001.1:1:Z",
        "a:s000000001.1:1:",
        "r:s000000001.1:2",
        "e:s000000001",  # the route was not taken by default
        "p:p.2.0:y",
        "p:p.2.0:1",
        "p:p.2.0:²",
        f"p:p.2.0:{'9' * 5000}",
        "",
        "\0",
    ],
)
def test_a_forged_button_decides_nothing(token: str) -> None:
    """CA-2 RD-14 RD-15: only what was offered can be pressed; a question of our own keeps waiting."""
    talk = Talk()
    talk.says("ana", "review my paper")
    talk.says("ana", "yeah ok")
    made = talk.presses("ana", token)
    assert (made.outcome, recorded(made)) == ("refused", [])
    assert made.reply is not None
    assert len(made.state.pending) == 1
    assert made.state.current is not None


def test_two_disputes_stand_side_by_side() -> None:
    """RD-12: one card a question, each answered by itself."""
    talk = Talk(shared=True)
    talk.says("ana", "lit-review this", addressed=True)
    talk.says("ana", "/settings answers anyone")
    talk.says("ana", "1: A, 2: A")
    first, second = talk.says("ben", "1: C, 2: B").state.pending
    assert first.id != second.id
    assert recorded(talk.presses("ana", f"p:{second.id}:y")) == [("databases", "B", None)]
    assert recorded(talk.presses("ana", f"p:{first.id}:n")) == []


def test_a_loose_yes_is_not_for_a_session_that_was_left() -> None:
    """RP-3 RP-7: what is asked now has come between; the old question can still be pressed or replied to."""
    talk = Talk()
    talk.says("ana", "lit-review this")
    talk.says("ana", "yeah ok")
    talk.says("ana", "/new")
    talk.says("ana", "/ars-3w on battery recycling")
    assert recorded(talk.says("ana", "yes")) == []
    pending = talk.says("ana", "/status").state.pending
    assert len(recorded(talk.says("ana", "yes", about=pending[0].id))) == 3


def test_permission_counts_when_it_is_used() -> None:
    """RD-12: who may not answer any more can not confirm what they wrote before, nor edit it."""
    talk = Talk(shared=True)
    talk.says("ana", "lit-review this", addressed=True)
    talk.says("ana", "/settings answers anyone")
    talk.says("ben", "2: B")
    talk.says("ben", "yeah ok", about="s000000001.1")
    made = talk.says("ana", "/settings answers requester")
    pressed = talk.presses("ben", f"p:{made.state.pending[0].id}:0")
    assert (pressed.outcome, recorded(pressed)) == ("refused", [])
    edited = talk.edits("ben", "u3", "2: A")
    assert (edited.outcome, recorded(edited)) == ("refused", [])


def test_the_same_check_guards_every_way_in() -> None:
    """CH-5: text, taps and edits alike."""
    talk = Talk(shared=True)
    talk.says("ana", "lit-review this", addressed=True)
    talk.says("ana", "/settings answers anyone")
    for made in (
        talk.says("mallory", "1: A"),
        talk.presses("mallory", "a:s000000001.1:1:A"),
        talk.presses("mallory", "x:s000000001"),
        talk.edits("mallory", "u3", "1: A"),
        talk.says("mallory", "/export"),
    ):
        assert (made.outcome, made.reason, recorded(made)) == ("refused", "not let in", [])
        assert not any(isinstance(e, Say) and e.message.files for e in made.effects)


def test_a_confirmation_is_for_the_person_it_was_asked_of() -> None:
    """RP-3: somebody else's yes, typed in reply or pressed, confirms nothing."""
    talk = Talk(shared=True)
    talk.says("ana", "lit-review this", addressed=True)
    talk.says("ana", "/settings answers anyone")
    pending = talk.says("ana", "yeah ok", about="s000000001.1").state.pending[0]
    assert recorded(talk.says("ben", "yes", about=pending.id)) == []
    assert recorded(talk.presses("ben", f"p:{pending.id}:0")) == []
    assert len(recorded(talk.says("ana", "yes", about=pending.id))) == 3


def test_silence_resolves_nothing() -> None:
    """RD-6: a timer that rings while questions are open is no answer."""
    talk = Talk()
    talk.says("ana", "lit-review this")
    for timer in ("grace:s000000001", "gather:parts", "anything"):
        assert talk.rings(timer, after=10**6).outcome == "ignored"
        assert talk.state is not None
        assert talk.state.current is not None
        assert talk.state.current.stage.kind == "asking"


def test_bulk_never_takes_what_is_answered() -> None:
    """RP-4: also where the numbers were read before the answer came."""
    talk = Talk()
    talk.says("ana", "lit-review this")
    before = talk.says("ana", "1: A").state
    envelope = Envelope(
        event_id="e9",
        place=talk.place,
        at=talk.at,
        event=MessageReceived(person=person("ana"), text="x", ref=MessageRef(id="u9", quote="x")),
    )
    turn = Turn(before=before, envelope=envelope, book=book())
    session = before.sessions[0]
    recording.record(turn, session, session.rounds[0], {}, (1, 2), person("ana"), MessageRef(id="u9", quote="x"))
    assert [(r.question, r.chosen) for r in turn.records if isinstance(r, Clarification)] == [("databases", "A")]


def test_an_answer_to_what_was_not_seen_does_not_count() -> None:
    """RD-15 RP-7: the request came as an album, and the next message before anything was shown."""
    talk = Talk()
    talk.says("ana", "lit-review this", album="x")
    assert recorded(talk.says("ana", "accept recommendations")) == []


def test_who_may_answer_is_the_requesters_to_say() -> None:
    """RD-12: also while their session is paused, and never a guest's."""
    talk = Talk(shared=True)
    assert talk.says("guest", "/settings pack triage").outcome == "refused"
    talk.says("ana", "lit-review this", addressed=True)
    talk.says("ben", "/new")
    assert talk.says("ben", "/settings answers anyone").outcome == "refused"


@pytest.mark.parametrize("text", ["1: A", "accept recommendations", "/cancel", "yes"])
def test_forwarded_words_decide_nothing(text: str) -> None:
    """AU-3: also a command, and also when they come as an album behind one's own words."""
    talk = Talk()
    talk.says("ana", "review my paper")
    talk.says("ana", "yeah ok")
    talk.says("ana", "x" * 50, partial=True)
    talk.says("ana", text, forwarded="the boss")
    made = talk.rings("gather:parts", after=2)
    assert recorded(made) == []
    assert made.state.current is not None
    assert made.state.current.stage.kind == "asking"


def test_other_is_owed_until_the_question_is_answered_otherwise() -> None:
    """RP-5: later prose is not taken for words that nobody waits for."""
    talk = Talk()
    talk.says("ana", "lit-review this")
    talk.presses("ana", "a:s000000001.1:1:D")
    talk.presses("ana", "a:s000000001.1:1:B")
    assert recorded(talk.says("ana", "let me think about this for a while")) == []


def test_two_messages_in_one_step_are_one_revision() -> None:
    """RT-11 CA-1: an album's answer and the next message's, to the same question: the later word stands."""
    talk = Talk()
    talk.says("ana", "lit-review this")
    talk.says("ana", "1: A", album="x")
    made = talk.says("ana", "1: C")
    assert recorded(made) == [("years", "C", None)]
    assert [r.details["chosen"] for r in made.records if isinstance(r, Audit)] == ["C"]
    assert [r.revision for r in made.records if isinstance(r, Clarification)] == [1]


def test_an_edit_to_something_else_is_not_passed_over() -> None:
    """RD-13: the same again is silent; words that no longer answer are told that nothing is withdrawn."""
    talk = Talk()
    talk.says("ana", "lit-review this")
    talk.says("ana", "1: A")
    assert talk.edits("ana", "u2", "1. a").outcome == "ignored"
    assert "stays" in words(talk.edits("ana", "u2", "hello there"))


def test_a_letter_in_reply_to_the_result_is_a_change() -> None:
    """RD-13: it is about that card, and no new request."""
    talk = Talk()
    talk.says("ana", "review my paper")
    talk.says("ana", "A")
    talk.rings("grace:s000000001")
    made = talk.says("ana", "B", about="s000000001")
    assert made.state.active is None
    assert [p.ask.kind for p in made.state.pending] == ["amend"]


def test_a_cancelled_session_is_not_said_to_be_handed_on() -> None:
    """RD-13 CA-4: the question about a change says what became of the session."""
    talk = Talk()
    cancelled(talk)
    assert "nothing was handed on" in words(talk.says("ana", "change 1 to C"))


def test_nothing_to_accept_is_said() -> None:
    """RP-4: where nothing is recommended, accepting says so instead of repeating the questions."""
    talk = Talk()
    talk.says("ana", "/ars-3w on battery recycling")
    assert "no recommendations" in words(talk.says("ana", "accept recommendations"))


def test_every_stored_value_reads_back_without_its_empty_fields() -> None:
    """What may be None must be allowed to be absent: stored JSON leaves it out."""
    found = models(events, state, model, policies, reading)
    assert len(found) > 40
    required = [
        f"{m.__name__}.{name}"
        for m in found
        for name, field in m.model_fields.items()
        if field.is_required() and "None" in str(field.annotation)
    ]
    assert required == []
    place = Place(conversation="x:room", platform="x")
    old = Ancient(id="s1", number=1, workflow=None, how="cancelled", at=START)
    kept = Conversation(place=place, ancient=(old,))
    assert decode_state(encode_state(kept)) == kept
    lost = Envelope(event_id="e1", place=place, at=START, event=DeliveryFailed(card=None, reason="blocked"))
    assert decode_envelope(encode_envelope(lost)) == lost


def test_the_same_arguments_give_the_same_step() -> None:
    """What `askfirst replay` relies on."""
    assert told(bulk) == told(bulk)
    assert isinstance(book(), book_module.Book)


if __name__ == "__main__":
    for each in (*PRIVATE, *SHARED):
        (STEPS / f"{each.__name__}.txt").write_text(told(each), encoding="utf-8")
