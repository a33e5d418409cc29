"""The installed command, killed -9 in the middle of a conversation and fed the same lines again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

ASKFIRST = Path(sys.executable).parent / "askfirst"
LINES = [
    {"text": "Here's an abstract and some literature, see what you can do."},
    {"text": "b"},
    {"text": "1: B"},
    {"text": "what does A mean for 2?"},
    {"text": "2: A", "from": "you"},
    {"edit": "k5", "text": "2: B"},
    {"text": "accept recommendations"},
]


def feed(*lines: dict) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


FED = feed(*({**line, "id": f"k{n}"} for n, line in enumerate(LINES, 1)))


def run(database: Path, kill_after: int | None = None, fed: bytes = FED) -> tuple[list[dict], int]:
    command = [ASKFIRST, "chat", "--jsonl", "--db", database]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines: list[dict] = []
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
        return lines, process.wait(timeout=60)


def said(lines: list[dict]) -> set[tuple[str, str]]:
    """Sessions have random names; numbers and texts are the same in every run."""
    return {(line["message"], line["text"]) for line in lines if "message" in line}


def clarified(database: Path) -> list[tuple]:
    command = [ASKFIRST, "export", "--format", "json", "--db", database]
    exported = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    return [(c["topic"], c["chosen"], c["chosen_via"]) for c in exported]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[set, list]:
    database = tmp_path_factory.mktemp("whole") / "chat.db"
    lines, code = run(database)
    assert code == 0
    assert len(clarified(database)) >= 3
    return said(lines), clarified(database)


@pytest.mark.parametrize("seed", range(2))
def test_killed_twice_the_conversation_is_the_same(tmp_path: Path, undisturbed: tuple[set, list], seed: int) -> None:
    chance = random.Random(seed)
    database, lines = tmp_path / "chat.db", []
    for _ in range(2):
        some, _ = run(database, kill_after=chance.randrange(1, 12))
        lines += some
    rest, code = run(database)
    assert code == 0
    assert said(lines + rest) == undisturbed[0]
    assert clarified(database) == undisturbed[1]
    again, _ = run(database)
    assert [line.get("outcome") for line in again] == ["duplicate"] * len(LINES)


def test_a_button_of_an_earlier_run_can_be_pressed_by_its_letter(tmp_path: Path) -> None:
    """CH-1: what a card shows is in the database; after a restart nothing of it is lost."""
    database = tmp_path / "chat.db"
    lines, _ = run(database, fed=feed({"text": "/ars-lit-review moss on roofs"}))
    [card] = [line["message"] for line in lines if line.get("buttons")]
    for _ in range(2):  # the second press is on the card as redrawn by the first: the next question
        lines, code = run(database, fed=feed({"press": {"message": card, "button": "B"}}))
        assert code == 0
        assert [line["outcome"] for line in lines if "done" in line] == ["accepted"]
        assert [line["edits"] for line in lines if "edits" in line] == [card]
    assert [chosen for _, chosen, _ in clarified(database)] == ["B", "B"]
