"""What whoever asked gets back, headings of rounds: plain values on the real core."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from bot.core.capture import clarification, decision, exported, round_result
from bot.core.effects import Say
from bot.core.events import TimerDue
from bot.core.model import MessageRef, Option, Question
from bot.core.state import Ended, Item, Round, Session
from bot.core.view import heading, plain, round_card
from tests.core.test_taps import ANA, Talk, book

__all__ = ["book"]  # the fixture

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def a_round(**more: object) -> Round:
    options = (Option(key="A", label="One"), Option(key="B", label="Other", other=True))
    question = Question(id="q", topic="Which one", why="Decides the rest.", options=options)
    items = (Item(number=1, question=question),)
    known = {"id": "s.1", "number": 2, "title": "Review", "purpose": "It decides.", "items": items, "card": "s.1"}
    return Round.model_validate(known | {"opened_at": NOON} | more)


@pytest.mark.parametrize(
    ("trigger", "words"), [("intake", "Intake"), ("ambiguity", "Ambiguity pause"), ("loopback", "Loopback")]
)
def test_a_phase_names_itself_its_trigger_and_its_round(trigger: str, words: str) -> None:
    """RD-8"""
    shown = heading(a_round(phase=3, trigger=trigger, of=3), "1 question")
    assert shown == f"[Phase 3] Clarification — {words} · Round 2 of 3"


def test_a_workflow_names_itself_instead_of_a_phase() -> None:
    """RD-17"""
    assert heading(a_round(), "1 question") == "Review · 1 question"


ENDS = {
    "Closed; it is answered.": ["resolved"],
    "Closed; both are answered.": ["resolved", "resolved"],
    "Closed; 1 of 2 is answered.": ["resolved", "skipped"],
    "Closed; none of 2 is answered.": ["declined", "skipped"],
    "Cancelled; 2 of 3 are answered.": ["resolved", "resolved", "cancelled"],
    "Expired; none of 1 is answered.": ["expired"],
    "Stopped early; 1 of 3 is answered.": ["resolved", "skipped", "force_quit"],
}


@pytest.mark.parametrize(("words", "ends"), ENDS.items())
def test_a_card_in_which_nothing_is_open_says_how_it_ended_and_nothing_of_what_comes(
    words: str, ends: list[str]
) -> None:
    """RD-8, CA-4: not that something waits for an answer, nor what is left for later."""
    question = a_round().items[0].question
    items = tuple(
        Item.model_validate({"number": n, "question": question, "status": end}) for n, end in enumerate(ends)
    )
    round_ = a_round(items=items, purpose="Nothing starts before you answer.")
    request = {"text": "x", "original": "x", "materials": (), "ref": MessageRef(id="u1", quote="x")}
    later = {"question": "q2", "topic": "Much later", "reason": "full", "later": True}
    known = {"id": "s", "number": 1, "pack": "research", "request": request, "requester": ANA, "started_at": NOON}
    more = {"touched_at": NOON, "stage": {"kind": "asking"}, "rounds": (round_,), "dropped": (later,)}
    session = Session.model_validate(known | more)
    card = round_card(session, round_, bulk=True)
    assert words in plain(card).splitlines()
    assert "before you answer" not in plain(card)
    assert "Much later" not in plain(card)
    assert card.buttons == ()
    cancelled = session.model_copy(update={"stage": Ended(how="cancelled", at=NOON)})
    assert plain(round_card(cancelled, round_, bulk=True)).splitlines()[1].startswith("Cancelled; ")


def test_a_round_result_has_the_counts_and_names_of_its_source(book) -> None:
    """CA-5: ready only when every question is resolved."""
    talk = Talk(book)
    talk.says("lit-review this")
    talk.says("1: A, rest default")
    assert talk.state is not None
    session = talk.state.sessions[-1]
    result = round_result(session, session.rounds[0], "chat")
    assert list(result) == [
        "phase",
        "round",
        "trigger",
        "questions_asked",
        "questions_resolved",
        "clarifications",
        "bulk_accept_used",
        "ready_to_proceed",
        "escalation_needed",
    ]
    assert (result["questions_asked"], result["questions_resolved"]) == (3, 3)
    assert result["bulk_accept_used"] is True
    assert result["ready_to_proceed"] is True
    assert [c["chosen_via"] for c in result["clarifications"]] == ["user_response"] + 2 * [
        "accept_recommendations_bulk"
    ]


def test_a_document_and_an_export_say_the_same_of_a_decision(book) -> None:
    """CA-1: the names, their order and what they hold."""
    talk = Talk(book)
    talk.says("lit-review this")
    talk.says("1: A, 2: other (arXiv alone), rest default")
    assert talk.state is not None
    session = talk.state.sessions[-1]
    for item in session.rounds[0].items:
        assert item.answer is not None
        record = clarification(session, session.rounds[0], item, "chat")
        told = decision(session, session.rounds[0], item, "chat")
        assert json.dumps(told) == json.dumps(exported(record, item.answer.at))


def test_a_round_with_something_open_is_not_ready(book) -> None:
    """CA-5, RD-6"""
    talk = Talk(book)
    talk.says("lit-review this")
    talk.says("1: A")
    assert talk.state is not None
    session = talk.state.sessions[-1]
    assert round_result(session, session.rounds[0], "chat")["ready_to_proceed"] is False


def test_the_document_holds_every_clarification_with_its_proof(book) -> None:
    """RT-15"""
    talk = Talk(book)
    talk.says("review my paper")
    made = talk.says("A")
    assert talk.state is not None
    talk.at = NOON.replace(year=2027)
    made = talk.happen(TimerDue(name=f"grace:{talk.state.sessions[-1].id}"))
    said = next(effect for effect in made.effects if isinstance(effect, Say))
    document = json.loads(next(f.content for f in said.message.files if f.media == "application/json"))
    assert document["workflow"] == "academic-paper-reviewer/full"
    assert document["request"]["text"] == "review my paper"
    assert document["clarifications"][0]["chosen"] == "A"
    assert document["clarifications"][0]["user_message_ref"].endswith('"A"')
    assert document["open"] == []
