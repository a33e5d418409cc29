"""The way back out of an escalation, and what stays on record of it (RD-7, CA-5)."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core import spec_view
from bot.core.events import RaisedSignal, SignalsRaised
from bot.core.spec_record import spec_state
from tests.core.spec.talk import DISCOVERED, SpecTalk
from tests.core.spec.test_gate import both
from tests.core.spec.test_import import imported, with_log


def raises(talk: SpecTalk, *said: str) -> None:
    signals = tuple(RaisedSignal(kind="diverging", said=words, evidence="line 3") for words in said)
    talk.happens(SignalsRaised(session=talk.session.id, raised_by="agent:writer", signals=signals))


def test_a_signal_is_the_agents_own_on_record_and_the_same_one_changes_nothing() -> None:
    """SC-2 AU-2"""
    talk = SpecTalk()
    talk.ana(*DISCOVERED)
    raises(talk, "two readings")
    raises(talk, "two readings")
    assert talk.last is not None
    assert talk.last.outcome == "ignored"
    assert [(e.actor, e.phase) for e in talk.audited("round.signal_raised")] == [("agent:writer", 1)]
    assert not [r for r in talk.clarified() if r.chosen_via not in ("user_response", "accept_recommendations_bulk")]


def test_an_earlier_phase_again_is_a_way_out_and_the_escalation_stays_counted() -> None:
    """RD-7 RD-11 CA-5 It asks only what is new, and the phase that was escalated begins anew afterwards."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED, "/continue", "A, A")
    raises(talk, "two readings of refund", "two readings of shop")
    made = talk.ana("/continue")
    assert made.outcome == "accepted"
    assert "This phase looks mis-scoped" in talk.heard
    assert "1) Do discovery again" in talk.heard
    talk.ana("1: the readings begin there")
    assert (talk.spec.phase, talk.spec.present.run) == (1, 2)
    assert "Loopback" in talk.heard
    [chosen] = [e for e in talk.audited("clarification_escalation") if e.details.get("way")]
    assert (chosen.details["way"], chosen.details["words"]) == ("rerun", "1: the readings begin there")
    talk.ana("y", "/jump 2")
    gate = spec_state(talk.session, "x")["gates"]["phase_2"]
    assert gate["run"] == 2
    assert gate["intake_clarifications"]["escalated"] is True


ESCALATED = [{"code": "escalated"}]
CHOSEN = {"event": "clarification_escalation", "phase": 1, "actor": "x:ana", "details": {"way": "carry"}}


@pytest.mark.parametrize(
    ("violations", "log", "codes"),
    [
        (ESCALATED, [], ["escalated"]),
        ([], [], ["escalated"]),  # the file's own log knows better
        (["escalated", None], [], ["escalated"]),
        ([], [CHOSEN], []),
    ],
)
def test_an_escalation_waits_in_the_imported_specification_as_well(
    violations: list[Any], log: list[Any], codes: list[str]
) -> None:
    """RD-7 CA-6 An export and an import are no way out of it."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED)
    raises(talk, "one", "two")
    talk.ana("/continue")
    made = with_log(talk)
    assert [v["code"] for v in made["gates"]["phase_1"]["violations"]] == ["escalated"]
    made["gates"]["phase_1"]["violations"] = violations
    made["audit_log"] += log
    again = imported(made)
    assert both(again, 1) == codes
    assert (again.session.stage.waits == "escalation") is bool(codes)  # type: ignore[union-attr]
    if codes:
        again.ana("/continue")
        assert both(again, 1) == codes


def escalated() -> SpecTalk:
    talk = SpecTalk()
    talk.ana(*DISCOVERED, "/continue", "A, A")
    raises(talk, "two readings of refund", "two readings of shop")
    talk.ana("/continue")
    return talk


@pytest.mark.parametrize(
    "words",
    [
        "2", "2.", "(2)", "2️⃣", "2 please", "ok 2", "2: because the lab agreed", "2 because legal asked",
        "2, the lab agreed",
        "way 2, the lab agreed", "option 2", "2 - the lab agreed", "2\nthe lab agreed", "2 we need other words",
        "2 revise it", "revise the request", "Weg 2, weil das Labor zustimmt", "2 weil das Labor zustimmt", "方案2",
        "2 因为实验室同意",
    ],
)  # fmt: skip
def test_a_way_out_is_chosen_by_its_number_and_a_reason_that_can_be_told_from_it(words: str) -> None:
    """RD-7"""
    talk = escalated()
    assert talk.ana(words).outcome == "accepted"
    [chosen] = [e for e in talk.audited("clarification_escalation") if e.details.get("way")]
    assert chosen.details["way"] == "revise"


@pytest.mark.parametrize(
    "words",
    [
        "2 screens are enough", "2-screen version is enough", "2 of them are enough", "2 Bildschirme reichen",
        "2個で十分",
        "2 later", "2: not sure", "2 if legal agrees", "2 the screens",
    ],
)  # fmt: skip
def test_a_number_that_counts_something_is_asked_about_and_a_yes_takes_it(words: str) -> None:
    """RD-7 Recording a choice nobody made; one "yes" makes it, with both messages as its proof."""
    talk = escalated()
    assert talk.ana(words).outcome == "refused"
    assert "Do you choose 2) Revise the request?" in talk.heard
    assert not [e for e in talk.audited("clarification_escalation") if e.details.get("way")]
    assert talk.session.stage.waits == "escalation"  # type: ignore[union-attr]
    talk.ana("yes")
    [chosen] = [e for e in talk.audited("clarification_escalation") if e.details.get("way")]
    assert chosen.details["way"] == "revise"
    assert words.split("\n")[0][:20] in chosen.details["user_message_ref"]
    assert "yes" in chosen.details["user_message_ref"]


@pytest.mark.parametrize(
    "words", ["2.5 screens", "2:30 works", "2, 3 screens", "no 2", "not 2", "maybe 2", "2: A", '"2"', "boss: 2"]
)
def test_what_names_no_way_is_no_choice(words: str) -> None:
    """RD-7 AU-3 Neither is a "yes" that follows it."""
    talk = escalated()
    talk.ana(words, "yes")
    assert not [e for e in talk.audited("clarification_escalation") if e.details.get("way")]


def test_a_yes_to_a_way_that_is_no_longer_offered_chooses_nothing() -> None:
    """RD-15"""
    talk = escalated()
    talk.ana("2 screens are enough", "3", "yes")
    assert [e.details["way"] for e in talk.audited("clarification_escalation") if e.details.get("way")] == ["carry"]
    talk = escalated()
    talk.ana("2 screens are enough", "no", "yes")
    assert talk.session.stage.waits == "escalation"  # type: ignore[union-attr]


def test_an_edit_of_the_words_that_were_asked_about_takes_the_question_back() -> None:
    """RD-13 RD-7 A yes would choose what is not said any more."""
    talk = escalated()
    said = f"u{talk.acts + 1}"
    talk.ana("2 screens are enough")
    talk.edits("ana", said, "let us talk about it")
    talk.ana("yes")
    assert not [e for e in talk.audited("clarification_escalation") if e.details.get("way")]


@pytest.mark.parametrize("words", ["no", "cancel", "go back", "never mind", "back", "nein", "undo", "abbrechen"])
def test_a_way_that_was_chosen_can_be_left_before_its_request_is_sent(words: str) -> None:
    """RD-7 Such words are no revised request, and the ways are open again."""
    talk = escalated()
    before = talk.session.request.text
    talk.ana("2", words)
    assert talk.session.request.text == before
    assert talk.session.stage.waits == "escalation"  # type: ignore[union-attr]
    assert not talk.spec.earlier_requests
    assert both(talk, 2) == ["escalated"]
    talk.ana("3")
    assert both(talk, 2) == []


def test_a_late_yes_says_what_is_decided_and_where_it_stands() -> None:
    """RD-14 RD-15 Nothing follows from it; the way was left by going to another phase."""
    talk = escalated()
    talk.ana("2 screens are enough")
    assert talk.state is not None
    asked = talk.state.pending[-1].id
    talk.ana("/jump 1")
    talk.presses("ana", f"p:{asked}:y")
    assert talk.heard == (
        "Which way it goes on is decided: Do discovery again.\n"
        "Now: phase 1 of 7, discovery, round 1 of 3, nothing to ask, waits for your “y”. /resume shows it."
    )
    assert not [e for e in talk.audited("clarification_escalation") if e.details.get("way")]
    talk.ana("/abandon")
    assert talk.state is not None
    assert not talk.state.pending


def pressed(talk: SpecTalk, waits: str, mark: str, choice: str) -> str:
    """What the notice says to a tap on a card between rounds that is a while old."""
    made = talk.presses("ana", f"s:{talk.session.id}:{waits}:{mark}:{choice}")
    assert made.outcome == "refused"
    assert made.reply is not None
    assert len(made.reply.text) <= 200  # of a Telegram notice
    return made.reply.text


@pytest.mark.parametrize(
    ("words", "decided"),
    [
        ("2", "is decided: Revise the request. Now: phase 2 of 7, research"),
        ("3", "is decided: Go on with open points. Now: phase 2 of 7, research"),
        ("1", "is decided: Do discovery again. Now: phase 1 of 7, discovery"),
        ("/jump 1", "is decided: Do discovery again. Now: phase 1 of 7, discovery"),
        ("/abandon", "The specification “Refunds” (#1) is over. /show shows what it decided."),
    ],
)
def test_a_late_tap_on_a_way_says_which_one_was_taken(words: str, decided: str) -> None:
    """RD-14"""
    talk = escalated()
    seen = spec_view.mark(talk.session)
    talk.ana(words)
    assert decided in pressed(talk, "escalation", seen, "3")


def test_a_late_tap_on_what_was_settled_or_confirmed_says_so() -> None:
    """RD-14 RD-5 SC-3"""
    talk = escalated()
    talk.ana("/jump 1")
    seen = spec_view.mark(talk.session)
    talk.ana("y")
    assert "What the phase takes as settled is decided: yes, all of it. Now: " in pressed(talk, "settled", seen, "y")
    talk = SpecTalk()
    talk.ana(*DISCOVERED, "/continue", "A, A", "/continue", "/jump 3")
    seen = spec_view.mark(talk.session)
    talk.ana("surfaces: 4 because the admin page joins")
    assert "Whether this is still the scope is decided: surfaces: was 2, is now 4. Now: " in pressed(
        talk, "reconfirm", seen, "y"
    )
