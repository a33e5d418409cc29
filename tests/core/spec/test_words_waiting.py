"""Words of one's own that wait for a yes, and words beside an agreement: no recommendation replaces them (RP-3)."""

from __future__ import annotations

import pytest

from bot.core.events import SpecImported
from tests.core.spec.talk import SpecTalk
from tests.core.spec.test_contradictions import found
from tests.core.spec.test_import import with_log

OPEN = ("/spec Refunds", "1b 2a 3b", "5 the clerks then")  # asked: shall I take it as 5: “the clerks then”?


def begun() -> SpecTalk:
    talk = SpecTalk(short=False)
    talk.ana(*OPEN)
    assert "Shall I take it as: 5: “the clerks then”?" in talk.heard
    return talk


@pytest.mark.parametrize("words", ["whatever you think", "accept recommendations", "you decide", "rest default"])
def test_an_acceptance_leaves_out_what_waits_for_a_yes(words: str) -> None:
    """RP-3 RP-4 Explicit words stand above a recommendation; they are asked about again, with their own proof."""
    talk = begun()
    talk.ana(words)
    assert [c.question for c in talk.clarified() if c.chosen_via == "accept_recommendations_bulk"] == [
        "comparators", "success",
    ]  # fmt: skip
    assert "it waits for your yes" in talk.heard
    talk.ana("yes")
    last = talk.clarified()[-1]
    assert (last.question, last.chosen_text, last.chosen_via) == ("role", "the clerks then", "user_response")
    assert "5 the clerks then" in last.user_message_ref


def test_an_agreement_that_is_asked_back_holds_it() -> None:
    """RP-3 One yes for both, and both are shown."""
    talk = begun()
    talk.ana("what is 6", "looks good")
    assert "accept recommendations for 4 and 6; 5: “the clerks then”?" in talk.heard
    talk.ana("yes")
    assert {c.question: c.chosen_text for c in talk.clarified()}["role"] == "the clerks then"


def test_what_was_declined_waits_no_more() -> None:
    """RP-3"""
    talk = begun()
    talk.ana("no", "accept recommendations")
    assert {c.question: c.chosen for c in talk.clarified()}["role"] == "A"


def test_somebody_elses_words_do_not_hold_ones_own_acceptance_back() -> None:
    """RD-12 What Ben was asked about is Ben's to confirm."""
    talk = SpecTalk(short=False, shared=True)
    talk.ana("/spec Refunds", "/settings answers anyone", "1b 2a 3b")
    assert talk.session.round is not None
    talk.says("ben", "5 the clerks then", about=talk.session.round.id)
    talk.ana("accept recommendations")
    assert {c.question: c.chosen for c in talk.clarified()}["role"] == "A"


def test_words_beside_an_agreement_are_no_part_of_it() -> None:
    """RP-3 RP-5 "looks good but 4 competitors": what the yes takes, and what it leaves out."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "looks good but 4 competitors")
    assert "“but 4 competitors” is no part of that" in talk.heard
    assert not talk.clarified()


def test_what_is_unclear_in_a_specification_read_in_whole_is_asked_about() -> None:
    """SC-2 AU-1 All seven phases are done in the file; a contradiction in it is no less one."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "5: other (clerks. launch on 3 December), rest default")
    while talk.spec.phase < 7:
        talk.ana("/continue")
        if "Is this still the scope" in talk.heard:
            talk.ana("y")
        talk.ana("accept recommendations")
    talk.ana("/continue")
    document = with_log(talk)
    late = next(e for e in document["context"]["clarifications"] if e["question"] == "readers")
    late["chosen"], late["chosen_text"] = late["options"][-1]["key"], "the team; launch on 10 December"
    late["chosen_via"] = "user_response"
    for entry in document["audit_log"]:
        if entry["details"].get("clarification_id") == late["id"]:
            entry["details"] |= {key: late[key] for key in ("chosen", "chosen_text", "chosen_via")}
    back = SpecTalk(short=False)
    back.at = back.at.replace(year=2027)
    back.happens(SpecImported(document=document, digest="ab" * 32))
    assert len(found(back)) == 1
    back.ana("/resume 1")
    assert "/continue asks about it" in back.heard
    back.ana("/continue")
    assert "Ambiguity pause" in back.heard
    back.ana("B", "/continue")
    assert back.session.stage.kind == "ended"


@pytest.mark.parametrize("words", ["ok A", "ok a", "ok B", "take A"])
def test_a_letter_beside_an_ok_is_no_yes(words: str) -> None:
    """RP-3 RP-8 In Vietnamese "ạ" is a courtesy; here A is an option, and B was what the yes would have taken."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "2a 3b 4b 5a 6a", "ok")
    assert "Shall I take it as: accept recommendations for 1?" in talk.heard
    talk.ana(words)
    assert {c.question: c.chosen for c in talk.clarified()}.get("tier") in (None, words[-1].upper())


def test_a_letter_behind_the_round_is_no_pleasantry() -> None:
    """CH-2 It was passed over in silence."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "accept recommendations")
    assert talk.ana("take A").outcome == "accepted"
    assert talk.ana("thanks!").outcome == "ignored"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("go on", "Nothing goes on by that"), ("accept recommendations", "Nothing goes on by that"),
        ("later", "It waits here"), ("no", "Nothing is confirmed."), ("not sure", "It waits here"),
    ],
)  # fmt: skip
def test_what_confirms_no_scope_is_told_what_it_does_not_do(words: str, says: str) -> None:
    """SC-3 RD-6"""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "accept recommendations", "/continue", "accept recommendations", "/continue", words)
    assert says in talk.heard
    assert talk.spec.lock.reconfirmed_at is None


def test_a_change_of_the_scope_in_an_open_round_is_told_where_it_can_be_made() -> None:
    """SC-3 CH-2"""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "accept recommendations", "/continue", "lass die Gutscheine weg weil keine Zeit")
    assert "The scope stays as it is" in talk.heard
    assert not talk.spec.lock.changes
