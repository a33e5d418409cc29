"""SIGKILL at any moment of a conversation, and the same lines once more: nothing is lost, nothing happens twice.

The feeder speaks like a program: a line, its `done`, the next line. Presses are by letter and by id; an id is known
only once the card has been seen.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.installed import ASKFIRST, LONG, TALK, as_said, askfirst, exported, surroundings

START, ANSWER = 1.2, 0.03  # seconds, at most: until the first line is handled, and from any other to its `done`
BY_ID = {3: "B", 5: "A"}  # presses of the talk that name the button by its id, once the card has been seen

Seen = dict[str, dict[str, str]]  # message -> the ids of its buttons by what they say, as last shown


class Feeder:
    """Feeds the whole talk to one process after the other, on one database."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self.seen: Seen = {}
        self.said: list[dict[str, Any]] = []
        self.done: list[str] = []

    def feed(self, kill: tuple[int, float] | None = None) -> int:
        """`kill`: behind which line (0: all are given at once), and how many seconds later. Gives the exit code."""
        self.done = []
        command = [ASKFIRST, "chat", "--jsonl", "--db", self.database]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings()
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            timer = None
            try:
                at_once = kill is not None and kill[0] == 0
                if at_once:  # all lines are in the pipe already, as from a file
                    timer = threading.Timer(kill[1], process.kill)
                    timer.start()
                    process.stdin.write(as_said(TALK))
                for number in range(1, 1 if at_once else len(TALK) + 1):
                    os.write(process.stdin.fileno(), json.dumps(self.line(number)).encode() + b"\n")
                    if kill is not None and kill[0] == number:
                        timer = threading.Timer(kill[1], process.kill)
                        timer.start()
                    self._listen(process.stdout, until=f"k{number}")
                process.stdin.close()
            except BrokenPipeError:
                pass
            self._listen(process.stdout, until=None)
            complaints = process.stderr.read()
            code = process.wait(LONG)
            if timer is not None:
                timer.cancel()
            assert complaints == b""
            return code

    def line(self, number: int) -> dict[str, Any]:
        said = TALK[number - 1]
        if number in BY_ID and (button := self._button("m2", BY_ID[number])) is not None:
            said = {"press": {"message": "m2", "button": button}}
        return {"id": f"k{number}", "from": "ana", **said}

    def _button(self, message: str, letter: str) -> str | None:
        return next((i for label, i in self.seen.get(message, {}).items() if label.startswith(letter)), None)

    def _listen(self, out: Any, until: str | None) -> None:
        for raw in _whole(out):
            line = json.loads(raw)
            if "message" in line:
                self.said.append(line)
                self.seen[line["message"]] = {b["label"]: b["id"] for b in line.get("buttons", ())}
            elif "done" in line:
                self.done.append(line["outcome"])
                if line["done"] == until:
                    return
            else:
                raise AssertionError(line)

    def messages(self) -> set[tuple[str, str]]:
        """New messages by number, with their text. A redraw may give way to a newer one, a notice is said once."""
        return {
            (line["message"], line["text"])
            for line in self.said
            if "edits" not in line and not line["message"].endswith(".reply")
        }


def _whole(out: Any) -> Iterator[bytes]:
    for raw in out:
        if raw.endswith(b"\n"):  # the last line may be cut by the kill
            yield raw


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Feeder, list[dict[str, Any]]]:
    feeder = Feeder(tmp_path_factory.mktemp("whole") / "chat.db")
    assert feeder.feed() == 0
    found = exported(feeder.database)
    assert [entry["chosen"] for entry in found] == ["B", "A", "D", "B"]
    return feeder, found


def killed_and_whole_again(
    feeder: Feeder, kills: int, chance: random.Random, undisturbed: tuple[Feeder, list]
) -> None:
    for _ in range(kills):
        behind = max(0, chance.randint(-2, len(TALK)))
        feeder.feed(kill=(behind, chance.uniform(0, START if behind < 2 else ANSWER)))
    assert feeder.feed() == 0
    whole, found = undisturbed
    # Each question once: every message has one number and one text in all runs together.
    assert feeder.messages() == whole.messages()
    assert feeder.feed() == 0
    assert feeder.done == ["duplicate"] * len(TALK)
    assert exported(feeder.database) == found
    [session] = askfirst("sessions", "--json", "--db", feeder.database).json()
    assert session["state"] == "completed"
    assert askfirst("replay", session["session"], "--db", feeder.database).code == 0
    assert askfirst("audit", "verify", "--db", feeder.database).code == 0


def test_killed_at_any_moment(tmp_path: Path, undisturbed: tuple[Feeder, list]) -> None:
    killed_and_whole_again(Feeder(tmp_path / "chat.db"), 6, random.Random(1), undisturbed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_killed_fifty_times(tmp_path: Path, undisturbed: tuple[Feeder, list], seed: int) -> None:
    killed_and_whole_again(Feeder(tmp_path / "chat.db"), 5, random.Random(100 + seed), undisturbed)
