"""The same transactions through an async ORM: what most programs of this kind are built on.

One session and one transaction for each event: look whether the event is known, load the conversation, change it, add
and replace the rows of that event. The rows are ready-made; ours has to make them.
"""

from __future__ import annotations

import asyncio
import functools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import registry

from bench.figure import Figure, Goal, interleaved
from bench.steps import Rows, recorded, talk
from bench.talk import STEPS
from bot.app import load_book
from bot.core.book import Book
from config.settings import load_settings
from storage.migrate import upgrade
from storage.schema import metadata

FASTER = Goal(5.0, "least")
SETTINGS = ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "busy_timeout = 5000")

_MAPPED = registry(metadata=metadata)


def _mapped(table: str) -> type[Any]:
    made = type(table.title().replace("_", ""), (), {})
    _MAPPED.map_imperatively(made, metadata.tables[table])
    return made


CLASSES = {name: _mapped(name) for name in metadata.tables}
# statement -> table; those that replace a row are merged, the others added
ADDED = {"add_event": "event", "add_audit": "audit"}
REPLACED = {
    "put_clarification": "clarification",
    "put_session": "session",
    "put_head": "audit_head",
    "set_timer": "timer",
}


def figures(rounds: int, people: int, intakes: int) -> list[Figure]:
    book = load_book(load_settings(config=None))
    written = recorded(book, people, intakes)
    ours = functools.partial(_ours, book, people, intakes)
    rate, orm = interleaved(rounds, ours, functools.partial(_orm, written))
    return [Figure("steps_vs_async_orm", rate, orm, "/s", FASTER)]


def _ours(book: Book, people: int, intakes: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        taken = asyncio.run(talk(Path(folder) / "askfirst.db", book, people, intakes, people))
    return people * intakes * STEPS / taken


def _orm(written: Sequence[Sequence[Rows]]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "askfirst.db"
        upgrade(path)
        return asyncio.run(_through_sessions(path, written))


async def _through_sessions(path: Path, written: Sequence[Sequence[Rows]]) -> float:
    # One connection: with more of them writers wait for each other's lock, and it is slower.
    engine = create_async_engine(f"sqlite+aiosqlite:///{path}", pool_size=1, max_overflow=0)

    @event.listens_for(engine.sync_engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None
        for setting in SETTINGS:
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine.sync_engine, "begin")
    def begins(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    sessions = async_sessionmaker(engine, expire_on_commit=False)

    async def one(place: Sequence[Rows]) -> None:
        for rows in place:
            async with sessions.begin() as session:
                await _apply(session, rows)

    started = time.perf_counter()
    try:
        await asyncio.gather(*(one(place) for place in written))
    finally:
        await engine.dispose()
    return sum(map(len, written)) / (time.perf_counter() - started)


async def _apply(session: AsyncSession, rows: Rows) -> None:
    [put] = rows.get("add_conversation") or rows["advance_conversation"]
    [heard] = rows["add_event"]
    if await session.get(CLASSES["event"], heard["event_id"]) is not None:
        return
    known: Any = await session.get(CLASSES["conversation"], put["conversation"])
    if known is None:
        session.add(_made("conversation", {"id": put["conversation"], **put}))
        await session.flush()
    else:
        known.state, known.revision = put["state"], put["revision"]
    for name, table in ADDED.items():
        session.add_all(_made(table, row) for row in rows.get(name, ()))
    for name, table in REPLACED.items():
        for row in rows.get(name, ()):
            await session.merge(_made(table, row))
    for row in rows.get("add_outbox", ()):
        session.add(_made("outbox", {**row, "created_at": row["at"], "ready_at": row["at"]}))
    for name in ("end_timer", "clear_timer"):
        for row in rows.get(name, ()):
            timer = await session.get(CLASSES["timer"], (row["conversation"], row["name"]))
            if timer is not None:
                await session.delete(timer)


def _made(table: str, row: dict[str, Any]) -> Any:
    made = CLASSES[table]()
    for column in metadata.tables[table].columns.keys():  # noqa: SIM118 - columns are no dict
        if column in row:
            setattr(made, column, row[column])
    return made
