"""kill -9 in the middle, and the same lines once more: nothing is lost and nothing happens twice.

The toy core on the real SQLite store, as a process of its own.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

LINES = [
    {"text": "hello", "from": "ana"},
    {"text": "two", "from": "ben"},
    {"text": "card", "from": "ana"},
    {"press": {"message": "m4", "button": "B"}, "from": "ana"},
    {"text": "redraw 1", "from": "ana"},
    {"text": "about the card", "from": "ben", "reply_to": "m4"},
    {"text": "elsewhere", "from": "cleo", "place": "room"},
    {"edit": "k1", "text": "hello there", "from": "ana"},
    {"text": "grace", "from": "ana"},
    {"text": "last", "from": "ana"},
]
FED = b"".join(json.dumps({**line, "id": f"k{n}"}).encode() + b"\n" for n, line in enumerate(LINES, 1))
FED_TO_THE_CARD = b"".join(FED.splitlines(keepends=True)[:3])


def start(database: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.fakes.terminal", str(database)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def said(lines: list[dict]) -> set[tuple[str, str, str]]:
    """What was said under which number, whole; the notice that answers a press is said at most once."""
    return {
        (line["message"], line["place"], json.dumps(line, sort_keys=True))
        for line in lines
        if "message" in line and not line["message"].endswith(".reply")
    }


def run(database: Path, fed: bytes = FED, kill_after: int | None = None) -> tuple[list[dict], int]:
    """Feed everything; kill -9 as soon as so many lines have come out."""
    with start(database) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines: list[dict] = []
        if kill_after == 0:
            process.kill()
        try:
            process.stdin.write(fed)
            process.stdin.close()
        except BrokenPipeError:
            pass
        for raw in process.stdout:
            if raw.endswith(b"\n"):
                lines.append(json.loads(raw))
            if kill_after is not None and len(lines) >= kill_after:
                process.kill()
        return lines, process.wait(timeout=30)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str, str]]:
    lines, code = run(tmp_path_factory.mktemp("whole") / "chat.db")
    assert code == 0
    return said(lines)


def test_a_press_by_letter_after_a_restart_finds_the_button_of_before(tmp_path: Path, undisturbed) -> None:
    """The card is out, the process dies, and the press comes to one that has never drawn it."""
    some, _ = run(tmp_path / "chat.db", FED_TO_THE_CARD)
    rest, code = run(tmp_path / "chat.db")
    assert code == 0
    assert said(some + rest) == undisturbed


@pytest.mark.parametrize("seed", range(2))
def test_killed_again_and_again_the_conversation_is_the_same(tmp_path: Path, undisturbed, seed: int) -> None:
    chance = random.Random(seed)
    database, lines = tmp_path / "chat.db", []
    for _ in range(3):
        some, _ = run(database, kill_after=chance.randrange(0, 14))
        lines += some
    rest, code = run(database)
    assert code == 0
    assert said(lines + rest) == undisturbed
    again, _ = run(database)
    assert [line.get("outcome") for line in again] == ["duplicate"] * len(LINES)
