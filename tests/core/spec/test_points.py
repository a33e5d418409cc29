"""Open points: carried, settled, handed on, opened again; never a clarification (RD-7, AU-1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.core.effects import Audit, Clarification
from bot.core.spec_file import Document, read
from bot.core.spec_record import markdown, spec_state
from tests.core.spec.talk import SpecTalk
from tests.core.spec.test_import import imported, with_log

CARRIED = (
    "/spec Refunds: many refunds, according to a blog, and everything by friday",
    "2: B, 5: other (users), rest default",
    "/continue",
    "2 we will know after the pilot",
)


def carried(*texts: str) -> SpecTalk:
    talk = SpecTalk()
    talk.ana(*CARRIED, *texts)
    return talk


def events(talk: SpecTalk, name: str) -> list[dict[str, Any]]:
    return [r.details for r in talk.records if isinstance(r, Audit) and r.event == name]


def point(talk: SpecTalk, name: str = "V-001") -> Any:
    return next(p for p in talk.spec.open_points if p.id == name)


@pytest.mark.parametrize(
    "text",
    [
        "/point V-001 done: legal says 30 days",
        "/point v1 done legal says 30 days",
        "/POINT 1 resolved — legal says 30 days",
        "/point V-001, settled: legal says 30 days",
        "V-001 done: legal says 30 days",
        "@askfirst point V-001 done: legal says 30 days",
    ],
)
def test_a_point_is_settled_with_the_persons_words(text: str) -> None:
    """RD-7 AU-1 CA-2 With the message; and no clarification comes of it."""
    talk = carried()
    before = [r for r in talk.records if isinstance(r, Clarification)]
    talk.ana(text)
    assert point(talk).status == "resolved"
    [entry] = events(talk, "verify_item_resolved")
    assert (entry["id"], entry["words"]) == ("V-001", "legal says 30 days")
    assert "legal says 30 days" in entry["user_message_ref"]
    assert [r for r in talk.records if isinstance(r, Clarification)] == before


def test_a_point_is_handed_to_a_later_phase() -> None:
    """AU-1 From where to where, and why."""
    talk = carried("/point V-002 phase 5 because the pilot ends then", "/point 2 move to prototype: later still")
    assert [(e["from"], e["to"]) for e in events(talk, "verify_item_moved")] == [(1, 5), (5, 6)]
    assert (point(talk, "V-002").due, point(talk, "V-002").status) == (6, "open")
    talk.ana("/show 6")
    assert "V-002 (phase 6)" in talk.heard


def test_a_settled_point_is_opened_again() -> None:
    """AU-1 Raised again; what was said before stays."""
    talk = carried("/point 1 done: legal says 30 days", "/point 1 reopen: legal has changed its mind")
    assert point(talk).status == "open"
    assert [a.kind for a in point(talk).acts] == ["resolved", "reopened"]
    assert events(talk, "verify_item_raised")[-1]["again"] is True


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/point V-001 done", "How was it settled?"),
        ("/point V-001 done: ok", "How was it settled?"),
        ("/point V-001 done:\n> legal says 30 days", "How was it settled?"),
        ("/point V-001 phase 5", "Why then?"),
        ("/point V-001 phase 9 because of the pilot", "There is no phase 9"),
        ("/point V-001 phase 1 because of the pilot", "belongs to phase 1"),
        ("/point V-001 reopen: I want to", "open already"),
        ("/point V-077 done: legal says so", "There is no open point"),
        ("/point banana", "There is no open point"),
        ("/point V-001 legal says 30 days", "stays as it is"),
        ("V-001: B", "stays as it is"),
    ],
)
def test_what_settles_nothing_says_what_would(text: str, words: str) -> None:
    """RP-8 Nothing changes, nothing is recorded, the way on is told."""
    talk = carried()
    old, records = talk.spec, len([r for r in talk.records if isinstance(r, Clarification)])
    talk.ana(text)
    assert words in talk.heard
    assert talk.spec.open_points == old.open_points
    assert len([r for r in talk.records if isinstance(r, Clarification)]) == records
    assert not events(talk, "verify_item_resolved")


def test_show_and_status_tell_of_open_points() -> None:
    """SP-2 With the words that settled one."""
    talk = carried("/point 1 done: legal says 30 days", "/show")
    assert "✔ settled: “legal says 30 days”" in talk.heard
    talk.ana("/point V-001")
    assert "carried: “2 we will know after the pilot” — x:ana" in talk.heard
    talk.ana("/status")
    assert "Open points carried: V-002" in talk.heard
    assert "V-001" not in talk.heard


def test_points_survive_export_and_import() -> None:
    """AU-1 Settled stays settled, with who said it."""
    talk = carried("/point 1 done: legal says 30 days", "/point 2 phase 5 because the pilot ends then")
    made = with_log(talk)
    row = made["context"]["open_questions"][0]
    assert (row["status"], row["resolution"]) == ("resolved", "legal says 30 days")
    assert "settled: “legal says 30 days” (x:ana)" in markdown(made)
    back = imported(made)
    assert [(p.id, p.status, p.due) for p in back.spec.open_points] == [
        (p.id, p.status, p.due) for p in talk.spec.open_points
    ]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"status": "resolved"}, "status"),
        ({"acts": [{"kind": "resolved", "words": "fine", "at": "2026-01-01T10:00:00Z"}]}, "acts[0].by"),
        (
            {"acts": [{"kind": "moved", "words": "w", "by": "x:a", "user_message_ref": "m", "to": 9, "at": "x"}]},
            "acts[0].to",
        ),
        (
            {
                "status": "resolved",
                "acts": [
                    {
                        "kind": "resolved",
                        "words": "w",
                        "by": "x:a",
                        "user_message_ref": "m",
                        "at": "2099-01-01T10:00:00Z",
                    }
                ],
            },
            "acts[0].at",
        ),
        ({"id": "V-2"}, "id"),
    ],
)
def test_a_file_settles_no_point_without_a_person(change: dict[str, Any], path: str) -> None:
    """AU-3 CA-2 A status alone, an act without its message, a time that can not be: refused with the path."""
    talk = carried()
    made = json.loads(json.dumps(spec_state(talk.session, "x")))
    made["context"]["open_questions"][0].update(change)
    found = read(made, talk.at)
    assert not isinstance(found, Document)
    assert f"context.open_questions[0].{path}" in {m.path for m in found}


@pytest.mark.parametrize("text", ["no", "not yet", "nein"])
def test_a_person_keeps_an_open_gate_closed(text: str) -> None:
    """AU-1 `gate_withheld`: nothing goes on, and their word is on record."""
    talk = SpecTalk()
    talk.ana("/spec Refunds", "accept recommendations", text)
    [entry] = events(talk, "gate_withheld")
    assert text in entry["user_message_ref"]
    assert talk.spec.phase == 1
    talk.ana("/continue")
    assert talk.spec.phase == 2


@pytest.mark.parametrize("text", ["1: B, rest default", "2 B", "2) a"])
def test_an_answer_to_a_round_chooses_no_way_out(text: str) -> None:
    """RD-7 RP-8 Sent a moment too late, it means questions, not ways."""
    talk = SpecTalk()
    talk.ana(*CARRIED[:-1], text)
    assert "names no way on" in talk.heard
    assert talk.session.stage.waits == "escalation"  # type: ignore[union-attr]
    talk.ana("2 we will know after the pilot")
    assert talk.spec.open_points
