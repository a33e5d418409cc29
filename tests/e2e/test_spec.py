"""A specification through the installed command: chat, gate, export, import, bad input (CA-6, AU-1)."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bot.cli.signals import Refused, parsed
from config.settings import BUNDLED
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
    assert (entry["actor"], entry["details"]["asked_by"]) == ("agent:writer", "agent:writer")
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
    ran = askfirst("import", file, "--json", "--db", database)  # again: refused again, not "read in before"
    assert (ran.code, ran.json()["outcome"]) == (1, "refused")
    assert all(wrong["path"] and wrong["code"] and wrong["message"] for wrong in ran.json()["mistakes"])
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


def heard(ran: Any) -> list[tuple[str, str]]:
    """For each line said: its outcome, and all that was answered to it."""
    answers, words = [], []
    for line in ran.lines():
        if "done" in line:
            answers.append((line["outcome"], "\n".join(words)))
            words = []
        elif "edits" not in line:
            words.append(line["text"])
    return answers


def test_what_can_not_be_done_is_refused_with_the_reason_and_the_way_on(tmp_path: Path) -> None:
    """RD-4 RD-7 RD-13 SP-2 A tier and a phase that do not exist, a closed round, a fourth one; nothing is lost."""
    said = (
        {"text": "/spec Refunds in the shop"},
        {"text": "/tier 4"},
        {"text": "/jump 8"},
        {"text": "3: other (unclear), rest default"},
        {"text": "/jump 2"},
        {"text": "/continue"},
        {"text": "accept recommendations", "reply_to": "m1"},
        {"text": "1: other (still unclear)"},
        {"text": "/continue"},
        {"text": "1: other (no idea)"},
        {"text": "/continue"},
        {"text": "/jump 2"},
    )
    database = tmp_path / "bad.db"
    ran = askfirst("chat", "--jsonl", "--db", database, said=as_said(said))
    assert (ran.code, ran.err) == (0, "")
    answers = heard(ran)
    assert answers[1][0] == answers[2][0] == "refused"
    assert "There is no tier “4”" in answers[1][1]
    assert "/tier 1 full, /tier 2 standard, /tier 3 incremental" in answers[1][1]
    assert "There is no phase “8”. The phases: 1 discovery" in answers[2][1]
    waits = "Phase 2 can begin once the scope is locked in phase 1, discovery."
    unclear = "Ambiguity score 2: Surfaces that it touches: “unclear” holds no one number. /continue asks about it."
    assert answers[4] == ("refused", f"{waits}\n{unclear}")
    assert "That round is over. To change an answer of it, reply: change 1 to …" in answers[6][1]
    assert "Round 3 of 3" in answers[8][1]
    assert "Its three rounds are used up and something is still open; a fourth is not asked" in answers[10][1]
    assert "1) Revise the request: send the new words" in answers[10][1]
    assert answers[11][0] == "refused"
    session = next(line["session"] for line in ran.lines() if "session" in line)
    gate = askfirst("gate", "--session", session, "--phase", 1, "--json", "--db", database).json()
    assert {v["code"] for v in gate["violations"]} == {"escalated", "scope_not_locked"}
    shown = askfirst("show", session, "--json", "--db", database).json()
    assert len(shown["clarifications"]) == 8
    assert {c["chosen_via"] for c in shown["clarifications"]} == {"user_response", "accept_recommendations_bulk"}


def test_a_bank_with_two_recommended_options_is_refused_with_its_line(tmp_path: Path) -> None:
    """RD-3 By `check`, with file, line and what to do; and the program does not start on it."""
    shutil.copytree(BUNDLED / "packs", tmp_path / "packs")
    bank = tmp_path / "packs" / "spec" / "playbooks" / "2-research.yaml"
    words = bank.read_text(encoding="utf-8")
    bank.write_text(words.replace("    recommended: A\n", "    recommended: [A, B]\n", 1), encoding="utf-8")
    said = "2-research.yaml:11: refused: two_recommended: 2 options are recommended; keep the mark on one of them"
    ran = askfirst("check", tmp_path / "packs")
    assert (ran.code, ran.out.strip().endswith(said)) == (1, True)
    ran = askfirst("chat", "--jsonl", "--config", tmp_path, "--db", tmp_path / "x.db")
    assert (ran.code, ran.err.strip().endswith(said)) == (1, True)


SIGNAL = {"kind": "diverging", "said": "“refund” is money or a voucher", "evidence": "request, line 1"}


def test_an_agent_raises_what_it_finds_unclear(talked: tuple[Path, str], tmp_path: Path) -> None:
    """SC-2 AU-2 Signals in, score out; they are the agent's own on record, and the conversation hears of them."""
    database, session = tmp_path / "signals.db", talked[1]
    database.write_bytes(talked[0].read_bytes())
    to = ("signals", "--session", session, "--db", database)
    raised = askfirst(*to, "-", "--as", "writer", said=json.dumps(SIGNAL).encode()).json()
    assert raised["outcome"] == "accepted"
    assert (raised["session"], raised["phase"], raised["phase_name"]) == (session, 2, "research")
    assert (raised["points"], raised["action"]) == (2, "pause")
    assert [(s["kind"], s["source"], s["points"]) for s in raised["signals"]] == [("diverging", "agent:writer", 2)]
    shown = askfirst("show", session, "--json", "--db", database).json()
    assert [(e["actor"], e["phase"]) for e in shown["audit"] if e["event"] == "round.signal_raised"] == [
        ("agent:writer", 2)
    ]


@pytest.mark.parametrize(
    ("name", "said", "code"),
    [
        ("w", b"{", "bad_json"),
        ("w", b"\xff", "bad_json"),
        ("w", b"[" * 100_000, "bad_json"),
        ("w", b'{"kind": "hunch", "said": "s", "evidence": "e"}', "bad_signal"),
        ("w", b'{"kind": "diverging", "said": "s"}', "bad_signal"),
        ("w", b"\n\n", "no_signals"),
        ("w", (json.dumps(SIGNAL) + "\n").encode() * 51, "too_many"),
        ("w", b" " * 1_000_001, "too_large"),
        ("", json.dumps(SIGNAL).encode(), "no_name"),
        ("w\nx", json.dumps(SIGNAL).encode(), "no_name"),
    ],
)
def test_signals_that_can_not_be_taken_in(name: str, said: bytes, code: str) -> None:
    """SC-2 A stable code, and what to do."""
    with pytest.raises(Refused) as refused:
        parsed(said, name)
    assert refused.value.as_json()["error"]["code"] == code
    assert str(refused.value)


def test_a_signal_for_nobody_is_refused_as_json(talked: tuple[Path, str]) -> None:
    """SC-2 All or nothing: the bad second line is named, and the first is not raised either."""
    database, session = talked
    said = json.dumps(SIGNAL).encode() + b"\n{}\n"
    ran = askfirst("signals", "--session", session, "-", "--as", "w", "--db", database, said=said)
    assert (ran.code, ran.json()["error"]["code"], ran.json()["error"]["line"]) == (1, "bad_signal", 2)
    assert askfirst("signals", "--session", session, "--db", database).json()["points"] == 0


def test_an_export_without_its_log_is_read_in_as_known_and_says_so(talked: tuple[Path, str], tmp_path: Path) -> None:
    """CA-6 AU-1 In plain words, and for programs by their ids; no gate opens by it."""
    made = document(talked) | {"audit_log": []}
    file, database = tmp_path / "spec.json", tmp_path / "other.db"
    file.write_text(json.dumps(made), encoding="utf-8")
    ran = askfirst("import", file, "--json", "--db", database)
    assert ran.json()["unproven"] == [row["id"] for row in made["context"]["clarifications"]]
    ran = askfirst("import", file, "--place", "terminal:b", "--db", database)
    assert "it has no audit log, so nothing proves that a person gave these answers" in ran.out
    assert askfirst("export", "--format", "jsonl", "--db", database).out == ""
