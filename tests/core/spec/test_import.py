"""What was exported can be read in again; what can not be believed is refused whole (AU-1, CA-2)."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from bot.core.effects import Clarification
from bot.core.events import SpecImported
from bot.core.gate import check, of_record
from bot.core.spec_evidence import gate_of
from bot.core.spec_reading import Document, read
from bot.core.spec_record import markdown, spec_state
from tests.core.spec.talk import DISCOVERED, SpecTalk


def exported(*texts: str) -> tuple[SpecTalk, dict[str, Any]]:
    talk = SpecTalk()
    talk.ana(*DISCOVERED, *texts)
    made = spec_state(talk.session, "x")
    return talk, json.loads(json.dumps(made))


def imported(document: dict[str, Any]) -> SpecTalk:
    talk = SpecTalk()
    talk.at = talk.at.replace(year=2027)
    talk.happens(SpecImported(document=document, digest="ab" * 32))
    return talk


def test_the_names_are_those_of_the_source() -> None:
    """CA-1 CA-5"""
    _, made = exported("/continue", "1: B, rest default")
    assert {"meta", "scope_lock", "phase", "gates", "context", "audit_log", "artifacts"} <= made.keys()
    assert made["scope_lock"].keys() >= {
        "locked", "locked_at", "complexity_tier", "scope_summary", "in_scope", "out_of_scope", "surface_count",
        "comparator_count", "reconfirmed_at_phase_3", "reconfirmed_at", "changes",
    }  # fmt: skip
    assert made["gates"]["phase_2"]["intake_clarifications"] == {
        "rounds_completed": 1,
        "questions_asked": 2,
        "questions_resolved": 2,
        "bulk_accept_used": True,
        "escalated": False,
    }
    row = made["context"]["clarifications"][-1]
    assert row.keys() >= {
        "id", "phase", "round", "trigger", "topic", "why_it_matters", "options", "recommendation_rationale", "chosen",
        "chosen_at", "chosen_via", "user_message_ref", "user_note",
    }  # fmt: skip
    result = made["gates"]["phase_2"]["rounds"][0]
    assert result.keys() >= {
        "phase", "round", "trigger", "questions_asked", "questions_resolved", "clarifications", "bulk_accept_used",
        "ready_to_proceed", "escalation_needed",
    }  # fmt: skip
    assert result["ready_to_proceed"] is True


def test_a_round_trip_keeps_every_decision_and_every_gate() -> None:
    """AU-1 Exported, read in elsewhere, exported again: the same, but for the store's own times."""
    talk, made = exported("/continue", "1: B, rest default", "/continue", "surfaces: 4 because it grew", "y", "A")
    again = imported(made)
    back = spec_state(again.session, "x")
    for row in back["context"]["clarifications"]:
        assert row.pop("imported") is True
        assert row["chosen_at"].startswith("2027")
        row["chosen_at"] = row.pop("claimed_at")
    for one in (made, back):
        for row in one["context"]["clarifications"]:
            row.pop("run_round")
            row.pop("session")
    assert back["context"]["clarifications"] == made["context"]["clarifications"]
    for key in ("surface_count", "comparator_count", "in_scope", "out_of_scope", "complexity_tier", "locked"):
        assert back["scope_lock"][key] == made["scope_lock"][key]
    for number in range(1, 8):
        assert gate_of(again.session, number).open == gate_of(talk.session, number).open
    again.ana("/resume 1", "/continue")
    assert again.spec.phase == 4


def test_claimed_times_stand_beside_the_stores_own() -> None:
    """AU-1 Marked as imported, in the record and in the audit log."""
    _, made = exported()
    again = imported(made)
    records = [r for r in again.records if isinstance(r, Clarification)]
    assert all(r.platform_at is not None and r.platform_at.year == 2026 for r in records)
    assert all(e.details["imported"] and e.actor == "system" for e in again.audited("clarification_resolved"))
    assert again.audited("import.accepted")[0].details["clarifications"] == 5


def test_what_was_open_at_the_export_is_asked_again() -> None:
    """CA-6 A question without an answer does not get one by being read in."""
    _, made = exported("/continue", "1: A")
    again = imported(made)
    again.ana("/resume 1", "/continue")
    assert "Evidence that counts as enough" in again.heard


def change(path: str, value: Any) -> dict[str, Any]:
    _, made = exported("/continue", "A, A")
    made = copy.deepcopy(made)
    at: Any = made
    *steps, last = path.split(".")
    for step in steps:
        at = at[int(step) if step.isdigit() else step]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return made


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("context.clarifications.0.chosen_via", "agent_default", "no way in which a person chooses"),
        ("context.clarifications.0.chosen_via", "auto", "no way in which a person chooses"),
        ("context.clarifications.0.chosen_via", ..., "nothing is no way"),
        ("context.clarifications.0.chosen_at", "2031-01-01T00:00:00Z", "in the future"),
        ("context.clarifications.0.chosen_at", "yesterday", "no time"),
        ("context.clarifications.0.chosen_at", "2026-01-01T00:00:00", "no time with a zone"),
        ("context.clarifications.0.user_message_ref", "", "must be a text"),
        ("context.clarifications.0.answered_by", "agent:writer", "names no person"),
        ("context.clarifications.0.answered_by", ..., "names no person"),
        ("context.clarifications.0.chosen", "Q", "none of its options"),
        ("context.clarifications.0.phase", 9, "no phase"),
        ("context.clarifications.0.round", True, "no round"),
        ("context.clarifications.1.id", "clar-2026-03-02-001", "there twice"),
        ("context.clarifications", {}, "must be a list"),
        ("meta.complexity_tier", "Tier 7", "no tier"),
        ("scope_lock.comparator_count", 1, "at least 3"),
        ("scope_lock.surface_count", None, "no number"),
        ("scope_lock.locked_at", "2099-01-01T00:00:00Z", "in the future"),
        ("schema_version", "1.0", "Export it anew"),
        ("phase.current", 0, "no phase"),
    ],
)
def test_a_file_that_can_not_be_believed_is_refused_whole(path: str, value: Any, told: str) -> None:
    """CA-2 AU-1 With the path and the way on; nothing of it is written."""
    talk = SpecTalk()
    talk.at = talk.at.replace(year=2027)
    made = talk.happens(SpecImported(document=change(path, value), digest="ab" * 32))
    assert made.outcome == "refused"
    assert told in (made.reason or "")
    assert not made.state.sessions
    assert [r.kind for r in made.records] == ["audit"]


@pytest.mark.parametrize(
    "data", [None, [], 1, "x", {}, {"schema_version": "2.0.0"}, {"schema_version": "2.0.0", "meta": 1}]
)
def test_anything_else_is_told_as_such(data: object) -> None:
    found = read(data, SpecTalk().at)
    assert not isinstance(found, Document)
    assert all(m.message for m in found)


def test_an_import_can_not_open_a_gate_without_answers() -> None:
    """CA-6 A file that says "approved" for a phase with nothing behind it."""
    _, made = exported()
    made["gates"]["phase_4"]["status"] = "approved"
    made["gates"]["phase_4"]["rounds"] = [{"questions": ["q4"]}]
    again = imported(made)
    rows = [r.model_dump() for r in again.records if isinstance(r, Clarification)]
    audit = [r.model_dump() for r in again.records if r.kind == "audit"]
    found = check("s", of_record({"clarifications": rows, "audit": audit}, 4))
    assert not found.open
    assert not gate_of(again.session, 4).open


def test_the_markdown_holds_text_from_people_on_its_line() -> None:
    _, made = exported("/continue", "1: other (**bold**\n# heading), 2: A")
    text = markdown(made)
    assert "\n# heading" not in text
    assert text.count("\n# ") == 0
