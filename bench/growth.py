"""The same on a database with nothing in it and on one with years in it: start, steps and memory.

    python -m bench.growth [SHARE [FILE]]     # 1: the full size, 100,000 open sessions; FILE is built once and kept
    python -m bench.growth SHARE postgresql   # the same on a PostgreSQL server of its own

The full size takes minutes and gigabytes (`make soak` does it); `make bench` builds a small share, and says which.
"""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median

from bench.figure import Figure, Goal, interleaved, table
from bench.grown import OPEN, build, recorded
from bench.postgres import ended, go, worker
from bench.start import first_answer
from storage import is_postgres
from storage import upgrade as upgraded
from storage.migrate import upgrade
from tests.fakes.postgres import PostgresServer

PEOPLE, INTAKES = 32, 2
MEGABYTES = 50  # that a program on the full database may take more
SMALL = 0.02  # of the full size, in `make bench`

START = Goal(1.5, "most")
STEP = Goal(1.5, "most")


@contextmanager
def files(share: float, kept: Path | None = None) -> Iterator[tuple[str, str]]:
    """An empty database and a full one. `kept` is where the full one stays, and may be already."""
    with tempfile.TemporaryDirectory() as folder:
        empty, full = Path(folder) / "empty.db", kept or Path(folder) / "full.db"
        upgrade(empty)
        if not full.exists():
            build(str(full), people(share))
        upgrade(full)
        yield str(empty), str(full)


@contextmanager
def served(share: float) -> Iterator[tuple[str, str]]:
    """The same two on a PostgreSQL server, which is gone afterwards."""
    server = PostgresServer()
    try:
        server.start()
        empty, full = (asyncio.run(server.new_database()) for _ in range(2))
        asyncio.run(upgraded(empty))
        build(full, people(share))
        yield empty, full
    finally:
        server.remove()


def people(share: float) -> int:
    return max(1, int(OPEN * share))


def figures(rounds: int, *, share: float = SMALL, among: tuple[str, str] | None = None) -> list[Figure]:
    """`share` is the part of the full database that is built; `among`: an empty and a full one that are there."""
    with files(share) if among is None else nullcontext(among) as (empty, full):
        begun, floor = interleaved(
            rounds, functools.partial(first_answer, full), functools.partial(first_answer, empty)
        )
        worked: dict[str, list[dict[str, float]]] = {"full": [], "empty": []}
        for number in range(rounds):
            for name, database in (("full", full), ("empty", empty)):
                # Nobody has talked there before, in this run or an earlier one.
                worked[name].append(_work(database, int(time.time()) % 10_000_000 * 1000 + number * PEOPLE))
    late, usual = (median(one["p99"] for one in worked[name]) * 1000 for name in ("full", "empty"))
    more, plain = (median(one["megabytes"] for one in worked[name]) for name in ("full", "empty"))
    size = f"{people(share):,} open sessions, {people(share) * len(recorded().hashes):,} clarifications"
    return [
        Figure("growth_start", begun, floor, "ms", START, size),
        Figure("growth_step_p99", late, usual, "ms", STEP, size),
        Figure("growth_memory", more, plain, "MB", Goal(round(1 + MEGABYTES / plain, 2), "most"), size),
    ]


def _work(database: str, first: int) -> dict[str, float]:
    """Steps of some people who are new there, then the export of everything; the most memory of both."""
    [process] = go([worker(database, first, PEOPLE, INTAKES)])
    found = ended(process)
    return {**found, "megabytes": max(found["megabytes"], command("export", "--format", "jsonl", "--db", database))}


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


def whole(full: str, other: str | None = None) -> Iterator[str]:
    """What reads or writes all of a database: seconds and the most memory of each.

    `other`: an empty PostgreSQL database, for a copy there and back.
    """
    with tempfile.TemporaryDirectory(dir=None if is_postgres(full) else Path(full).parent) as folder:
        copy, back = f"{folder}/copy.db", f"{folder}/back.db"
        at = ("--db", full)
        commands: list[tuple[str, ...]] = [
            ("export", "--format", "jsonl", *at),
            ("sessions", *at),
            ("audit", "verify", *at),
            ("db", "backup", copy, *at),
            ("db", "prune", "--older-than", "365", "--dry-run", *at),
        ]
        commands += [] if other is None else [("db", "copy", copy, other), ("db", "copy", other, back)]
        for arguments in commands:
            begun = time.perf_counter()
            memory = command(*arguments)
            name = " ".join([*arguments[:2], *(word for word in arguments if word == "--dry-run")])
            yield f"{name:<20} {time.perf_counter() - begun:8.1f} s {memory:8.0f} MB"


def main() -> None:
    share = float(sys.argv[1]) if len(sys.argv) > 1 else SMALL
    where = sys.argv[2] if len(sys.argv) > 2 else None
    with served(share) if where == "postgresql" else files(share, None if where is None else Path(where)) as among:
        sys.stdout.write(f"{table(figures(3, share=share, among=among))}\n")
        for line in whole(among[1]):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
