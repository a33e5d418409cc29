"""A specification through the installed command: chat, gate, export, import, bad input (CA-6, AU-1)."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.installed import as_said, askfirst

TALK = tuple(
    {"text": text}
    for text in (
        "/spec Refunds in the shop",
        "1: B, rest default",
        "/continue",
        "1: B",
    )
)


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    database = tmp_path_factory.mktemp("spec") / "spec.db"
    ran = askfirst("chat", "--jsonl", "--db", database, said=as_said(TALK))
    assert (ran.code, ran.err) == (0, "")
    [found] = askfirst("sessions", "--json", "--db", database).json()
    return database, found["session"]


def test_the_gate_as_programs_ask_it(talked: tuple[Path, str]) -> None:
    """CA-6 Open: exit 0. Closed: exit 1, each violation named; audited, and the round waits to be shown again."""
    database, session = talked
    ran = askfirst("gate", "--session", session, "--phase", 1, "--json", "--db", database)
    assert (ran.code, ran.json()) == (0, {"session": session, "phase": 1, "open": True, "violations": []})
    ran = askfirst("gate", "--session", session, "--phase", 2, "--json", "--as", "writer", "--db", database)
    found = ran.json()
    assert ran.code == 1
    assert found.keys() == {"session", "phase", "open", "violations"}
    assert {v["code"] for v in found["violations"]} == {"unanswered"}
    assert all(v["question"] and v["message"] for v in found["violations"])
    audit = askfirst("show", session, "--json", "--db", database).json()["audit"]
    [entry] = [e for e in audit if e["event"] == "clarification_gate_violation"]
    assert entry["details"]["asked_by"] == "agent:writer"
    assert entry["phase"] == 2
    shown = askfirst("chat", "--jsonl", "--db", database, said=b"").lines()
    assert any("[Phase 2] Clarification" in line.get("text", "") for line in shown)
    assert askfirst("audit", "verify", "--db", database).code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--session", "SESSION", "--phase", 9), 2, "there is no phase 9"),
        (("--session", "nobody", "--phase", 1), 1, "there is no session nobody"),
        (("--session", "SESSION", "--phase", "two"), 2, "--phase"),
        (("--phase", 1), 2, "--session"),
    ],
)
def test_a_gate_that_can_not_be_asked(
    talked: tuple[Path, str], arguments: tuple[object, ...], code: int, words: str
) -> None:
    database, session = talked
    given = [session if a == "SESSION" else a for a in arguments]
    ran = askfirst("gate", *given, "--db", database)
    assert ran.code == code
    assert words in ran.err
    assert "Traceback" not in ran.err


def document(talked: tuple[Path, str]) -> dict[str, Any]:
    database, session = talked
    ran = askfirst("export", "--format", "spec", "--session", session, "--db", database)
    assert ran.code == 0
    found: dict[str, Any] = ran.json()
    return found


def test_an_export_can_be_read_in_elsewhere(talked: tuple[Path, str], tmp_path: Path) -> None:
    """AU-1 With its audit log; marked as imported; a second time changes nothing."""
    made = document(talked)
    assert {e["event"] for e in made["audit_log"]} >= {"spec_created", "tier_set", "scope_locked", "intake_round"}
    file, database = tmp_path / "spec.json", tmp_path / "other.db"
    file.write_text(json.dumps(made), encoding="utf-8")
    ran = askfirst("import", file, "--json", "--db", database)
    assert ran.code == 0
    session = ran.json()["session"]
    assert askfirst("gate", "--session", session, "--phase", 1, "--db", database).code == 0
    assert askfirst("gate", "--session", session, "--phase", 2, "--db", database).code == 1
    again = askfirst("import", file, "--db", database)
    assert again.code == 0
    assert "read in there before" in again.out
    assert askfirst("audit", "verify", "--db", database).code == 0
    assert askfirst("replay", session, "--db", database).code == 0
    back = askfirst("export", "--format", "spec", "--session", session, "--db", database).json()
    assert all(row["imported"] for row in back["context"]["clarifications"])
    text = askfirst("export", "--format", "spec-md", "--session", session, "--db", database)
    assert text.out.startswith("# Spec: Refunds in the shop\n")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"chosen_via": "agent_default"}, "chosen_via: 'agent_default' is no way in which a person chooses"),
        ({"chosen_at": "2199-01-01T00:00:00Z"}, "chosen_at: 2199-01-01T00:00:00Z lies in the future"),
        ({"user_message_ref": ""}, "user_message_ref"),
    ],
)
def test_a_forged_file_is_refused(
    talked: tuple[Path, str], tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    """CA-2 AU-1 The reason with its path; nothing is written."""
    made = document(talked)
    made["context"]["clarifications"][0] |= change
    file, database = tmp_path / "forged.json", tmp_path / "other.db"
    file.write_text(json.dumps(made), encoding="utf-8")
    ran = askfirst("import", file, "--db", database)
    assert ran.code == 1
    assert words in ran.err
    assert "context.clarifications[0]" in ran.err
    assert askfirst("export", "--format", "jsonl", "--db", database).out == ""


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"schema_version": "1.0"}', b"[" * 100_000])
def test_a_file_that_is_no_specification(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "what.json"
    file.write_bytes(content)
    ran = askfirst("import", file, "--db", tmp_path / "other.db")
    assert ran.code == 1
    assert "what.json" in ran.err
    assert "Traceback" not in ran.err


def test_the_database_refuses_an_illegal_way_of_choosing(talked: tuple[Path, str], tmp_path: Path) -> None:
    """CA-2 The constraint itself, whoever writes: agent_default, auto, recommended, inferred, nothing."""
    database = tmp_path / "copy.db"
    database.write_bytes(talked[0].read_bytes())
    with closing(sqlite3.connect(database)) as open_:
        for via in ("agent_default", "auto", "recommended", "inferred", "", None):
            with pytest.raises(sqlite3.IntegrityError):
                open_.execute("UPDATE clarification SET chosen_via = ?", (via,))
        with pytest.raises(sqlite3.IntegrityError):
            open_.execute("UPDATE clarification SET user_message_ref = ''")
