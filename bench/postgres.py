"""Steps on a PostgreSQL server of our own: beside raw asyncpg writing the same rows, and two workers beside one.

The floor of postgres_steps is one connection that writes the same rows into the same tables, one `executemany` per
table, one transaction for each event of all people together: what any program must pay that keeps these records.

postgres_two_workers is the rate of two processes together beside that of one, with the same people in all. Nothing
is counted before each worker has connected and each of its people has gone through an intake: by then the plans are
made and the code is warm, which happens once in a worker's life. How long a process takes to end is not counted
either. The run is LONGER than the others, or the odd tenth of a second would show. Before each, what the one before
has left (dead rows, pages to be written) is cleared away; else the server does that in the middle of some runs and
not of others.

On a machine of two cores, with W of CPU a step in a worker and P in the server, two workers reach at most 2 / (W +
P). One reaches at most 1 / W, and less as far as it waits for the server.
"""

from __future__ import annotations

import asyncio
import functools
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import asyncpg

from bench.figure import Figure, Goal, interleaved
from bench.steps import Rows, collected_seldom, committed, decisions, recorded, talk
from bench.talk import STEPS
from bot.app import load_book
from bot.core.book import Book
from bot.ports import Commit
from config.settings import load_settings
from storage.queries import numbered, statements
from storage.rows import STATEMENTS
from tests.fakes.postgres import PostgresServer

LONGER = 3  # times as many intakes
SHARED = Goal(0.5, "least")
TWO = Goal(1.4, "least")


def figures(rounds: int, people: int, intakes: int) -> list[Figure]:
    book = load_book(load_settings(config=None))
    written = recorded(book, people, intakes)
    server = PostgresServer()
    try:
        server.start()
        ours = functools.partial(_ours, server, book, people, intakes)
        floor = functools.partial(_floor, server, written)
        rate, plain = interleaved(rounds, ours, floor)
        decided = decisions(book, people, intakes)
        stored, beside = interleaved(rounds, functools.partial(_ours_decided, server, decided), floor)
        two = functools.partial(_workers, server, 2, people, intakes)
        one = functools.partial(_workers, server, 1, people, intakes)
        both, alone = interleaved(rounds, two, one)
    finally:
        server.remove()
    return [
        Figure("postgres_steps", rate, plain, "/s", SHARED),
        Figure("postgres_commits", stored, beside, "/s", note="postgres_steps without the deciding"),
        Figure("postgres_two_workers", both, alone, "/s", TWO),
    ]


def _ours(server: PostgresServer, book: Book, people: int, intakes: int) -> float:
    url = asyncio.run(server.emptied())
    with collected_seldom():
        taken = asyncio.run(talk(url, book, people, intakes, people))
    return people * intakes * STEPS / taken


def _ours_decided(server: PostgresServer, decided: list[list[Commit]]) -> float:
    url = asyncio.run(server.emptied())
    with collected_seldom():
        return asyncio.run(committed(url, decided))


def _floor(server: PostgresServer, written: Sequence[Sequence[Rows]]) -> float:
    url = asyncio.run(server.emptied())
    with collected_seldom():
        return asyncio.run(_raw(url, written))


async def _raw(url: str, written: Sequence[Sequence[Rows]]) -> float:
    transactions: list[list[tuple[str, list[Any]]]] = []
    for together in zip(*written, strict=True):
        batches = [(name, [row for one in together for row in one.get(name, ())]) for name in STATEMENTS]
        known = [(numbered(statements()[name].sql), batch) for name, batch in batches if batch]
        transactions.append([(statement.sql, [statement.values(row) for row in batch]) for statement, batch in known])
    connection = await asyncpg.connect(url)
    try:
        started = time.perf_counter()
        for transaction in transactions:
            async with connection.transaction():
                for sql, batch in transaction:
                    await connection.executemany(sql, batch)
        taken = time.perf_counter() - started
    finally:
        await connection.close()
    return sum(map(len, written)) / taken


def _workers(server: PostgresServer, count: int, people: int, intakes: int) -> float:
    """Steps a second of some processes together, from the moment at which all are ready and warm."""
    url = asyncio.run(server.emptied())
    asyncio.run(server.asks("VACUUM", "CHECKPOINT", database=url))
    each = max(1, people // count)
    begun = [worker(url, number * each, each, intakes * LONGER, warm=1) for number in range(count)]
    found = [ended(process) for process in go(begun)]
    steps, seconds = sum(one["steps"] for one in found), max(one["seconds"] for one in found)
    return float(steps / seconds)


def worker(database: str, first: int, people: int, intakes: int, warm: int = 0) -> subprocess.Popen[str]:
    """`bench.worker`, ready."""
    command = [sys.executable, "-m", "bench.worker", database, *map(str, (first, people, intakes, warm))]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    if process.stdout.readline() != "ready\n":
        raise RuntimeError("a worker did not start")
    return process


def go(processes: Sequence[subprocess.Popen[str]]) -> Sequence[subprocess.Popen[str]]:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return processes


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdin is not None
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError("a worker failed")
    found: dict[str, Any] = json.loads(out)
    return found
