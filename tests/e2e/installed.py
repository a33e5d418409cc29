"""The installed command, run as people and programs run it."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import Any

from tests.e2e.forked import start

ASKFIRST = Path(sys.executable).parent / "askfirst"
LONG = 60  # seconds; nothing here takes three, but the machine may be busy

# A conversation with every way of answering; it ends by itself. Lines as `chat --jsonl` reads them, each with an id.
TALK: tuple[dict[str, Any], ...] = (
    {
        "text": "Here's an abstract and some literature, see what you can do.",
        "files": [{"name": "abstract.md"}, {"name": "references.bib"}],
    },
    {"press": {"message": "m1", "button": "b"}},
    {"press": {"message": "m2", "button": "B"}},
    {"text": "what does A mean for 3?"},
    {"press": {"message": "m2", "button": "A"}},
    {"text": "3: other (only open-access journals)"},
    {"edit": "k6", "text": "3: other (only open-access journals, in English)"},
    {"text": "yeah ok"},
    {"text": "accept recommendations"},
)


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


def surroundings(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without settings of ours, and with those given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASKFIRST_")}
    return {**kept, "PYTHONWARNINGS": "error", **(given or {})}


def askfirst(
    *arguments: object, said: bytes = b"", cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Ran:
    """Forked from a process that has it imported; see there for what starts it from nothing."""
    with TemporaryFile() as into, TemporaryFile() as out, TemporaryFile() as complaints:
        into.write(said)
        into.seek(0)
        streams = into.fileno(), out.fileno(), complaints.fileno()
        words = [str(argument) for argument in arguments]
        process = start(words, env=surroundings(env), cwd=cwd or Path.cwd(), streams=streams)
        late = Timer(LONG, process.send_signal, (signal.SIGKILL,))
        late.start()
        code = process.end()
        late.cancel()
        out.seek(0)
        complaints.seek(0)
        return Ran(code, out.read().decode(), complaints.read().decode())


def as_said(lines: Iterable[Mapping[str, Any]], *, by: str = "ana") -> bytes:
    """Lines of JSON with the ids k1, k2, …"""
    return b"".join(
        json.dumps({"id": f"k{number}", "from": by, **line}).encode() + b"\n" for number, line in enumerate(lines, 1)
    )


def chat(database: Path, lines: Iterable[Mapping[str, Any]] = TALK) -> list[Any]:
    ran = askfirst("chat", "--jsonl", "--db", database, said=as_said(lines))
    assert (ran.code, ran.err) == (0, "")
    return ran.lines()


def exported(database: Path) -> list[dict[str, Any]]:
    """The clarifications without what differs from run to run: times, dates in ids, the session."""
    found = askfirst("export", "--format", "json", "--db", database).json()
    return [
        {**entry, "id": entry["id"][-3:], "chosen_at": None, "session": None}
        for entry in sorted(found, key=lambda entry: entry["id"])
    ]


def plainly_refused(ran: Ran, *words: str) -> None:
    """One plain message: what was wrong and what to do. No traceback."""
    assert ran.code == 1, ran
    assert ran.err.startswith("askfirst: "), ran.err
    assert "Traceback" not in ran.err
    assert len(ran.err) < 2000
    for word in words:
        assert word in ran.err, (word, ran.err)
