"""The gate as a pure check: each way in which evidence can be missing or illegal has its name (CA-6)."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core.events import RaisedSignal, SignalsRaised
from bot.core.gate import Asked, Evidence, NoSuchPhase, Surfaced, check, of_record, phase_number
from bot.core.spec_evidence import gate_of
from tests.core.spec.talk import DISCOVERED, SpecTalk

GOOD = Asked(
    question="q", topic="Topic", clarification="c", chosen_via="user_response", user_message_ref="m", audited=True
)


def codes(evidence: Evidence) -> list[str]:
    return [v.code for v in check("s", evidence).violations]


@pytest.mark.parametrize("via", [None, "", "agent_default", "auto", "recommended", "inferred", "USER_RESPONSE"])
def test_only_two_ways_of_choosing_open_a_gate(via: str | None) -> None:
    """CA-2 CA-6 Illegal and missing ways of choosing are refused by name."""
    item = GOOD.model_copy(update={"chosen_via": via})
    assert codes(Evidence(phase=2, rounds=(Surfaced(round=1, asked=(item,)),))) == ["illegal_via"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"clarification": None}, "unanswered"),
        ({"user_message_ref": " "}, "no_message"),
        ({"user_message_ref": None}, "no_message"),
        ({"audited": False}, "no_audit"),
    ],
)
def test_every_item_needs_its_evidence(change: dict[str, Any], code: str) -> None:
    """CA-6 The second stage: answer, message, audit entry, each by itself."""
    rounds = (Surfaced(round=1, asked=(GOOD, GOOD.model_copy(update=change))),)
    found = check("s", Evidence(phase=2, rounds=rounds))
    assert [(v.code, v.question) for v in found.violations] == [(code, "q")]


def test_no_round_no_gate_at_any_tier() -> None:
    """CA-6 The first stage: a surfaced round, or a bulk accept."""
    assert codes(Evidence(phase=2)) == ["no_round"]
    assert codes(Evidence(phase=2, bulk=True)) == []


def test_a_round_without_questions_needs_its_yes() -> None:
    """RD-5 CA-6 What is taken as settled counts as surfaced once a person has agreed."""
    assert codes(Evidence(phase=2, rounds=(Surfaced(round=1),))) == ["not_confirmed"]
    assert codes(Evidence(phase=2, rounds=(Surfaced(round=1, confirmed=True),))) == []


def test_phase_1_needs_the_lock_and_phase_3_the_reconfirm() -> None:
    """CA-6 SC-3"""
    rounds = (Surfaced(round=1, asked=(GOOD,)),)
    assert codes(Evidence(phase=1, rounds=rounds)) == ["scope_not_locked"]
    assert codes(Evidence(phase=3, rounds=rounds, scope_locked=True)) == ["scope_not_reconfirmed"]
    assert codes(Evidence(phase=4, rounds=rounds)) == []


@pytest.mark.parametrize("number", [0, 8, -1, 99])
def test_a_phase_that_does_not_exist_is_told_with_those_that_do(number: int) -> None:
    with pytest.raises(NoSuchPhase, match="1 discovery, 2 research"):
        phase_number(number)


def record(talk: SpecTalk) -> dict[str, Any]:
    """What a store would give of the session: latest clarifications and all entries."""
    rows: dict[str, dict[str, Any]] = {}
    audit = []
    for r in talk.records:
        if r.kind == "audit":
            if r.session == talk.session.id:
                audit.append({"event": r.event, "phase": r.phase, "details": r.details})
        else:
            rows[r.id] = r.model_dump()
    return {"clarifications": list(rows.values()), "audit": audit}


def both(talk: SpecTalk, number: int) -> list[str]:
    """The gate from memory and from the records; they must say the same."""
    remembered = [v.code for v in gate_of(talk.session, number).violations]
    stored = [v.code for v in check(talk.session.id, of_record(record(talk), number)).violations]
    assert remembered == stored
    return remembered


def test_evidence_of_one_phase_never_serves_another() -> None:
    """CA-6 Phase 1 is answered; phase 2 has asked nothing, whatever is known."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED)
    assert both(talk, 1) == []
    assert both(talk, 2) == ["no_round"]
    talk.ana("/continue")
    assert both(talk, 2) == ["unanswered", "unanswered"]
    talk.ana("1: A")
    assert both(talk, 2) == ["unanswered"]
    talk.ana("2: A")
    assert both(talk, 2) == []


def test_a_phase_done_again_needs_its_evidence_again() -> None:
    """CA-6 RD-11 Of a repeated phase only the last run counts."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED, "/continue", "A, A", "/jump 1")
    assert both(talk, 1) == ["not_confirmed"]
    talk.ana("y")
    assert both(talk, 1) == []
    assert both(talk, 2) == []


def test_a_record_whose_rows_were_tampered_with_does_not_open_the_gate() -> None:
    """CA-6 A way of choosing changed in the table no longer agrees with its entry."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED)
    stored = record(talk)
    stored["clarifications"][0]["chosen_via"] = "user_response"
    assert [v.code for v in check("s", of_record(stored, 1)).violations] == ["no_audit"]
    stored["clarifications"][0]["chosen_via"] = "agent_default"
    assert [v.code for v in check("s", of_record(stored, 1)).violations] == ["illegal_via", "no_audit"]
    del stored["clarifications"][0]
    assert [v.code for v in check("s", of_record(stored, 1)).violations] == ["unanswered"]


def test_a_gate_stays_closed_until_the_revised_request_has_come() -> None:
    """RD-7 CA-6 Choosing to revise settles nothing yet, in memory as in the records."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED, "/continue", "A, A")
    signals = tuple(RaisedSignal(kind="diverging", said=words, evidence="line 3") for words in ("one", "two"))
    talk.happens(SignalsRaised(session=talk.session.id, raised_by="agent:writer", signals=signals))
    talk.ana("/continue")
    assert both(talk, 2) == ["escalated"]
    talk.ana("2 will send it")
    assert both(talk, 2) == ["escalated"]


def test_an_older_runs_answer_does_not_answer_what_is_asked_again() -> None:
    """CA-6 Changed after the phase was begun anew, it stays the older run's."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED, "/continue", "A, A", "/continue", "surfaces: 4 because it grew")
    talk.ana("/jump 2")
    before = both(talk, 2)
    talk.says("ana", "1: B", about=talk.session.rounds[1].id)
    assert both(talk, 2) == before
