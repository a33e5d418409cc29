"""The copies of the shared tables through the installed command: thresholds for the reader and the router."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.core.replies import score
from tests.core.routing.test_cases import corpus, differences
from tests.e2e.installed import askfirst

KEYS = ("id", "reply", "questions", "options", "recommended", "answered", "labels")


def through(command: str, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    said = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    ran = askfirst(command, "--jsonl", said=said)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.lines()
    assert [line["id"] for line in lines] == [record["id"] for record in records]
    return lines


def test_replies() -> None:
    """RP-1, RP-2: 97 of 100 exactly as the table says, and no answer that nobody gave."""
    cases = list(score.cases())
    lines = through("parse", [{key: case[key] for key in KEYS if key in case} for case in cases])
    required, optional = {"id", "kind", "answers", "errors", "resolved", "open"}, {"confirm", "note"}
    assert all(required <= line.keys() <= required | optional for line in lines)
    exact = sum(
        not min((score.differences(line, outcome) for outcome in score.outcomes(case)), key=len)
        for case, line in zip(cases, lines, strict=True)
    )
    captured = [
        (case["id"], wrong)
        for case, line in zip(cases, lines, strict=True)
        if (wrong := score.wrong_captures(line, case))
    ]
    assert captured == []
    assert exact / len(cases) >= 0.97


def test_first_messages() -> None:
    """RT-1: 95 of 100."""
    cases = corpus()
    asked = ("id", "text", "files", "position", "pack", "menu")
    lines = through("route", [{key: case[key] for key in asked if key in case} for case in cases])
    assert {tuple(line) for line in lines} == {
        ("id", "outcome", "by", "direct_mode", "workflow", "text", "phases", "options")
    }
    right = sum(not differences(case, line) for case, line in zip(cases, lines, strict=True))
    assert right / len(cases) >= 0.95


def test_the_tables_are_whole() -> None:
    folder = Path(score.__file__).parent
    assert len(list(score.cases())) == len((folder / "replies.jsonl").read_text(encoding="utf-8").splitlines()) > 450
    assert len(corpus()) > 100
