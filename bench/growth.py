"""The same on a database with nothing in it and on one with years in it: start, steps and memory.

    python -m bench.growth [SHARE [FILE]]     # 1: the full size, 100,000 open sessions; FILE is built once and kept

The full size takes minutes and gigabytes (`make soak` does it); `make bench` builds a small share, and says which.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.figure import Figure, Goal, interleaved, table
from bench.grown import OPEN, build, recorded
from bench.postgres import ended, go, worker
from bench.start import first_answer
from storage.migrate import upgrade

PEOPLE, INTAKES = 32, 2
MEGABYTES = 50  # that a program on the full database may take more
SMALL = 0.02  # of the full size, in `make bench`

START = Goal(1.5, "most")
STEP = Goal(1.5, "most")


def figures(rounds: int, *, share: float = SMALL, kept: Path | None = None) -> list[Figure]:
    """`share` is the part of the full database that is built; `kept` is where it stays, and may be already."""
    people = max(1, int(OPEN * share))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        empty, full = folder / "empty.db", kept or folder / "full.db"
        upgrade(empty)
        if not full.exists():
            build(str(full), people)
        upgrade(full)
        begun, floor = interleaved(
            rounds, functools.partial(first_answer, full), functools.partial(first_answer, empty)
        )
        worked: dict[str, list[dict[str, float]]] = {"full": [], "empty": []}
        for number in range(rounds):
            for name, path in (("full", full), ("empty", empty)):
                # Nobody has talked there before, in this run or an earlier one.
                worked[name].append(_work(path, int(time.time()) % 10_000_000 * 1000 + number * PEOPLE))
    late, usual = (median(one["p99"] for one in worked[name]) * 1000 for name in ("full", "empty"))
    more, plain = (median(one["megabytes"] for one in worked[name]) for name in ("full", "empty"))
    size = f"{people:,} open sessions, {people * len(recorded().hashes):,} clarifications"
    return [
        Figure("growth_start", begun, floor, "ms", START, size),
        Figure("growth_step_p99", late, usual, "ms", STEP, size),
        Figure("growth_memory", more, plain, "MB", Goal(round(1 + MEGABYTES / plain, 2), "most"), size),
    ]


def _work(path: Path, first: int) -> dict[str, float]:
    """Steps of some people who are new there, then the export of everything; the most memory of both."""
    [process] = go([worker(str(path), first, PEOPLE, INTAKES)])
    found = ended(process)
    return {**found, "megabytes": max(found["megabytes"], command("export", "--format", "jsonl", "--db", str(path)))}


def command(*arguments: str) -> float:
    """The most memory that a command of the program takes, in megabytes."""
    program = (
        f"import sys; sys.argv = ['askfirst', *{arguments!r}]\n"
        "from bench.worker import peak\n"
        "from bot.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(peak(), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True
    )
    return float(done.stderr.split()[-1])


def whole(full: Path, url: str | None = None) -> Iterator[str]:
    """What reads or writes all of a database: seconds and the most memory of each. `url`: an empty PostgreSQL one."""
    with tempfile.TemporaryDirectory(dir=full.parent) as folder:
        copy, back = f"{folder}/copy.db", f"{folder}/back.db"
        file = ("--db", str(full))
        commands: list[tuple[str, ...]] = [
            ("export", "--format", "jsonl", *file),
            ("sessions", *file),
            ("audit", "verify", *file),
            ("db", "backup", copy, *file),
            ("db", "prune", "--older-than", "365", "--dry-run", *file),
        ]
        commands += [] if url is None else [("db", "copy", copy, url), ("db", "copy", url, back)]
        for arguments in commands:
            begun = time.perf_counter()
            memory = command(*arguments)
            yield f"{' '.join(arguments[:2]):<20} {time.perf_counter() - begun:8.1f} s {memory:8.0f} MB"


def main() -> None:
    share = float(sys.argv[1]) if len(sys.argv) > 1 else SMALL
    with tempfile.TemporaryDirectory() as folder:
        full = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(folder) / "full.db"
        sys.stdout.write(f"{table(figures(3, share=share, kept=full))}\n")
        for line in whole(full):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
