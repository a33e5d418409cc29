"""The whole path of an event: envelope → runner → core with the bundled packs → commit in a SQLite file.

The floor is plain sqlite3 writing the same rows into the same tables, with the same durability, one transaction for
each event (steps_1) or for each event of all 64 people together (steps_64): what any program must pay that keeps
these records.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import itertools
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.figure import Figure, Goal, interleaved
from bench.talk import STEPS, Talker
from bot.app import load_book
from bot.cli import COLLECTED
from bot.clock import SystemClock
from bot.core.book import Book
from bot.core.state import Conversation
from bot.core.step import step
from bot.ports import Commit
from bot.runner import Runner
from config.settings import load_settings
from storage import open_store, sqlite, sqlite_writer
from storage.migrate import upgrade
from storage.queries import statements
from storage.rows import STATEMENTS, prepare

Rows = dict[str, list[dict[str, Any]]]  # of one commit, by statement

# What the product set itself: everything that it does for a person costs no more than keeping the record of it.
SHARED = Goal(0.5, "least")
# Alone, nobody shares the wait for the disk; the floor waits for it as well.
ALONE = Goal(0.5, "least")
# Where nothing is timed.
UNSAFE = ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF", "PRAGMA foreign_keys = ON")


def figures(rounds: int, people: int, intakes: int) -> list[Figure]:
    book = load_book(load_settings(config=None))
    written = recorded(book, people, intakes)
    figures = []
    few = max(1, people // 8)  # one after the other they need so long that these are enough
    for name, crowd, at_once, goal in (("steps_1", few, 1, ALONE), ("steps_64", people, people, SHARED)):
        ours = functools.partial(_ours, book, crowd, intakes, at_once)
        floor = functools.partial(written_raw, written[:crowd], at_once)
        rate, plain = interleaved(rounds, ours, floor)
        figures.append(Figure(name, rate, plain, "/s", goal))
    decided = decisions(book, people, intakes)
    floor = functools.partial(written_raw, written, people)
    rate, plain = interleaved(rounds, functools.partial(_ours_decided, decided), floor)
    return [*figures, Figure("commits_64", rate, plain, "/s", SHARED, "steps_64 without the deciding")]


def _ours(book: Book, people: int, intakes: int, at_once: int) -> float:
    with collected_seldom(), file() as path:
        taken = asyncio.run(talk(path, book, people, intakes, at_once))
    return people * intakes * STEPS / taken


def _ours_decided(decided: list[list[Commit]]) -> float:
    with collected_seldom(), file() as path:
        return asyncio.run(committed(path, decided))


def _nothing(_: float) -> None:
    pass


async def talk(
    database: Path | str,
    book: Book,
    people: int,
    intakes: int,
    at_once: int,
    taken: Callable[[float], None] = _nothing,
) -> float:
    """All intakes of all people, `at_once` people at a time; the seconds that it took.

    `taken` is told how long each event took.
    """
    states: dict[str, Conversation] = {}
    decide = functools.partial(step, book=book)

    def watched(state: Conversation | None, envelope: Any) -> Any:
        decided = decide(state, envelope)
        states[envelope.place.conversation] = decided.state
        return decided

    store = await open_store(str(database))
    ids = itertools.count(1)
    runner = Runner(store, watched, SystemClock(), lambda: f"{next(ids):010d}")
    talkers = [Talker(n, intakes, states.__getitem__) for n in range(people)]

    async def one(talker: Talker) -> None:
        for envelope in talker.events():
            begun = time.perf_counter()
            await runner.handle(envelope)
            taken(time.perf_counter() - begun)

    started = time.perf_counter()
    for first in range(0, people, at_once):
        await asyncio.gather(*(one(talker) for talker in talkers[first : first + at_once]))
    seconds = time.perf_counter() - started
    await store.close()
    if not all(talker.done() for talker in talkers):
        raise RuntimeError("an intake was not completed: the measured conversation no longer fits the playbook")
    return seconds


def decisions(book: Book, people: int, intakes: int) -> list[list[Commit]]:
    """What each event of each person leads to, as decided by the core, before a store has seen it."""
    decided: dict[str, list[Commit]] = {}

    def noted(commit: Commit, *known: Any) -> Any:
        decided.setdefault(commit.state.place.conversation, []).append(commit)
        return prepare(commit, *known)

    with file() as path, patch.object(sqlite, "prepare", noted), patch.object(sqlite, "_WRITER", UNSAFE):
        asyncio.run(talk(path, book, people, intakes, 1))
    return list(decided.values())


async def committed(database: Path | str, decided: list[list[Commit]]) -> float:
    """Commits a second of all people together, each one's in their order. Nothing is decided any more."""
    store = await open_store(str(database))

    async def one(commits: list[Commit]) -> None:
        for commit in commits:
            await store.commit(commit)

    started = time.perf_counter()
    await asyncio.gather(*(one(commits) for commits in decided))
    seconds = time.perf_counter() - started
    await store.close()
    return sum(map(len, decided)) / seconds


def recorded(book: Book, people: int, intakes: int) -> list[list[Rows]]:
    """The rows that each event of each person leads to, as written."""
    written: dict[str, list[Rows]] = {}
    current: Rows = {}

    def noted(name: str, connection: Any, batch: Sequence[dict[str, Any]]) -> None:
        nonlocal current
        if name in ("add_conversation", "advance_conversation"):
            current = {}
            written.setdefault(batch[0]["conversation"], []).append(current)
        current[name] = [dict(row) for row in batch]
        statements()[name](connection, batch)

    with file() as path, patch.object(sqlite_writer, "many", noted), patch.object(sqlite, "_WRITER", UNSAFE):
        asyncio.run(talk(path, book, people, intakes, 1))
    return list(written.values())


def written_raw(written: list[list[Rows]], at_once: int, taken: Callable[[float], None] = _nothing) -> float:
    """Events a second. `at_once` people share a transaction: the first events of all, then the second ones …"""
    transactions = []
    for first in range(0, len(written), at_once):
        for together in zip(*written[first : first + at_once], strict=True):
            rows = [(name, [row for one in together for row in one.get(name, ())]) for name in STATEMENTS]
            transactions.append([(statements()[name].sql, batch) for name, batch in rows if batch])
    with file() as path, closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {setting}").fetchall()
        started = time.perf_counter()
        for transaction in transactions:
            begun = time.perf_counter()
            connection.execute("BEGIN IMMEDIATE")
            for sql, batch in transaction:
                connection.executemany(sql, batch)
            connection.execute("COMMIT")
            taken(time.perf_counter() - begun)
        seconds = time.perf_counter() - started
    return sum(map(len, written)) / seconds


@contextmanager
def collected_seldom() -> Iterator[None]:
    """The garbage collector as the program sets it; what is measured before in this process is no part of it."""
    usual = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTED)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


@contextmanager
def file() -> Iterator[Path]:
    """A new database, with its tables."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "askfirst.db"
        upgrade(path)
        yield path
