"""From starting the installed chat on a new file to its first answer."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.figure import Figure, Goal, interleaved

ASKFIRST = Path(sys.executable).with_name("askfirst")
FLOOR = "import pydantic, sqlite3, asyncio"  # what any program of this kind has to load before it can do anything
LINE = b'{"text": "hello"}\n'
# Beyond the floor: the models of the state are built, packs and phrases taken in, the database made. Somebody
# who types `askfirst chat` sees the prompt in about the time that the interpreter takes for the libraries thrice.
START = Goal(4.0, "most")


def figures(rounds: int) -> list[Figure]:
    # The first start writes the bytecode and keeps what it has read of the packs (config/kept.py); the libraries of
    # the floor have had their bytecode since they came.
    _chat()
    ours, floor = interleaved(rounds, _chat, _imports)
    return [Figure("chat_start", ours, floor, "ms", START)]


def _chat() -> float:
    with tempfile.TemporaryDirectory() as folder:
        return first_answer(str(Path(folder) / "askfirst.db"))


def first_answer(database: str) -> float:
    """From the start of the chat to its first answer, in milliseconds. The answer is left behind, as by anybody."""
    started = time.perf_counter()
    with subprocess.Popen(
        [ASKFIRST, "chat", "--jsonl", "--db", database],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tempfile.gettempdir(),
        env=_environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(LINE)
        process.stdin.flush()
        for line in process.stdout:
            if line.startswith(b'{"done"'):
                break
        else:
            raise RuntimeError("the chat ended without an answer")
        taken = time.perf_counter() - started
        process.stdin.close()
    return taken * 1000


def _environment() -> dict[str, str]:
    """Ours, without what keeps a program from having its bytecode, as an installed one has."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _imports() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", FLOOR], check=True)
    return (time.perf_counter() - started) * 1000
