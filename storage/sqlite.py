"""The store in one SQLite file: a writer's lane, a reader's lane, and the hot states in memory.

WAL with `synchronous=FULL`: what has been committed survives a power cut, because transports are acknowledged on
the strength of it. One writer connection per process does all the writing and all the checkpoints: SQLite before
3.51.3 can lose a commit when checkpoints of several connections race (sqlite.org/wal.html, "WAL-reset bug").
Another process may write to the same file; the revision check notices.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.core.codec import decode_effect, decode_envelope, decode_shown, decode_state
from bot.core.effects import Message
from bot.core.events import Envelope
from bot.core.state import Conversation
from bot.faults import report
from bot.ports import Commit, DueTimer, DuplicateEvent, OutboxRow, Settle
from storage.hot import Hot
from storage.lane import Lane, open_lane
from storage.line import FRONT, Line
from storage.queries import many, one, rows
from storage.records import Ring, Snapshot
from storage.rows import (
    NOT_READABLE,
    UNREADABLE,
    Row,
    asking,
    asking_count,
    beginning,
    in_order,
    listed,
    looking,
    outbox_row,
    prepare,
    settled,
    turn_key,
    turns,
    within,
)
from storage.sqlite_reader import open_snapshot
from storage.sqlite_watch import Watch
from storage.sqlite_writer import Writer
from storage.values import micros, moment, text

BUSY = 5.0  # seconds to wait for another program's write: longer than any of ours, shorter than a webhook's patience

_WRITER = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
)
_READER = ("PRAGMA query_only = ON", "PRAGMA wal_autocheckpoint = 0")

Question = Callable[[sqlite3.Connection], Any]


def _answer(connection: sqlite3.Connection, questions: Sequence[Question]) -> list[Any]:
    return [question(connection) for question in questions]


class SqliteStore:
    """Opened with `open_sqlite`, on a file that has been migrated."""

    shared = False

    def __init__(self, path: Path, writer: Lane, reader: Lane) -> None:
        self.path = path
        self._writer = writer
        self._reader = reader
        self._hot = Hot()
        self._line = Line()
        self._watch: Watch | None = None

    # -- conversations -------------------------------------------------------------------------------------------

    async def load(self, conversation: str) -> Conversation | None:
        known = self._hot.get(conversation)
        if known is not None:
            return known
        row = await self._read("load", conversation=text(conversation))
        if row is None:
            return None
        state = decode_state(row["state"])
        self._hot.keep(state)
        return state

    async def seen(self, event_id: str) -> bool:
        return await self._read("seen", event_id=text(event_id)) is not None

    async def commit(self, commit: Commit) -> None:
        prepared = prepare(commit, self._hot.parts(commit.state.place.conversation))
        try:
            await self._writer.ask(prepared)
        except DuplicateEvent:
            raise
        except BaseException:
            # Stale: another process has written. Cancelled or failed: it may be written yet. The file knows.
            self._hot.forget(prepared.conversation)
            raise
        self._hot.keep(prepared.state, prepared.parts)

    async def about(self, conversation: str, message: str) -> str | None:
        row = await self._read("about", conversation=text(conversation), message=text(message))
        return None if row is None else row["about"]

    async def shown(self, conversation: str, message: str) -> Message | None:
        row = await self._read("shown", conversation=text(conversation), message=text(message))
        return None if row is None else decode_shown(row["effect"])

    async def drawings(self, conversation: str, message: str) -> Sequence[Message]:
        found = await self._read_all("drawings", conversation=text(conversation), message=text(message))
        return [shown for row in found if (shown := decode_shown(row["effect"])) is not None]

    async def conversation_of(self, session: str) -> str | None:
        row = await self._read("conversation_of", session=text(session))
        return None if row is None else row["conversation"]

    async def open_conversations(self, platform: str) -> Sequence[str]:
        found = await self._read_all("open_conversations", **beginning(f"{platform}:"))
        return [row["conversation"] for row in found]

    async def sessions_begun(self, place: str) -> int:
        row = await self._read("sessions_begun", **within(place))
        return 0 if row is None else int(row["begun"])

    async def asking(self, within: str, limit: int) -> Sequence[str]:
        found = None if ":" in within else await self._read("asking_count", **asking_count(within))
        statement, values = asking(within, limit, 0 if found is None else found["counted"])
        return [row["conversation"] for row in await self._read_all(statement, **values)]

    async def event(self, event_id: str) -> Envelope | None:
        row = await self._read("event", event_id=text(event_id))
        return None if row is None else decode_envelope(row["envelope"])

    async def keep(self, key: str, value: str | None) -> None:
        if value is None:
            await self._change("forget", key=text(key))
        else:
            await self._change("keep", key=text(key), value=text(value))

    async def kept(self, prefix: str) -> dict[str, str]:
        return {row["key"]: row["value"] for row in await self._read_all("kept", **beginning(prefix))}

    async def take_turn(self, what: str, owner: str, now: datetime, until: datetime) -> bool:
        values = {"key": turn_key(what), "owner": text(owner), **turns(now, until)}
        row: Row | None = await self._writer.ask(lambda connection: one("take_turn", connection, **values))
        return row is not None

    async def end_turn(self, what: str, owner: str) -> None:
        await self._change("end_turn", key=turn_key(what), owner=text(owner))

    # -- outbox --------------------------------------------------------------------------------------------------

    async def claim(
        self, now: datetime, limit: int, lease: timedelta, platforms: Sequence[str] | None = None
    ) -> Sequence[OutboxRow]:
        values = looking(now, lease, limit)

        def change(connection: sqlite3.Connection) -> list[Row]:
            asked = [row["platform"] for row in rows("waiting_on", connection)] if platforms is None else platforms
            names = self._line.in_turn([text(name) for name in asked])
            taken: list[Row] = []
            for name in names:
                if len(taken) < limit:
                    taken += rows("claim", connection, **{**values, "limit": limit - len(taken)}, platform=name)
            if self._line.look():
                lined_up = (rows("line_up", connection, **values, front=FRONT, platform=name) for name in names)
                self._line.found(sum(map(len, lined_up)))
            for row in taken:
                place = {"conversation": row["conversation"], "card": row["card"]}
                posted = one("card_message", connection, **place) if row["kind"] == "redraw" else None
                row["card_message"] = None if posted is None else posted["message"]
            return taken

        taken = sorted(await self._writer.ask(change), key=lambda row: row["row"])
        return [row for row in [await self._readable(row, now) for row in taken] if row is not None]

    async def _readable(self, row: Row, now: datetime) -> OutboxRow | None:
        """None for a row that a newer version of the program has left: one that can read it is to send it."""
        try:
            return outbox_row(row, decode_effect)
        except ValueError as error:
            report("row_not_readable", error, row=row["row"])
            await self.retry_at(row["row"], now + UNREADABLE, NOT_READABLE)
            return None

    async def extend(self, rows: Sequence[int], until: datetime) -> None:
        end = micros(until)

        def change(connection: sqlite3.Connection) -> None:
            for row in rows:
                one("extend", connection, row=row, until=end)

        await self._writer.ask(change)

    async def settle(self, settle: Settle) -> None:
        row = settled(settle)
        await self._writer.ask(lambda connection: many("settle", connection, [row]))

    async def release(self, platforms: Sequence[str]) -> None:
        names = listed(platforms)

        def change(connection: sqlite3.Connection) -> None:
            rows("release", connection, platforms=names)
            rows("release_timers", connection)

        await self._writer.ask(change)

    async def retry_at(self, row: int, at: datetime, error: str) -> None:
        await self._change("retry_at", row=row, at=micros(at), error=text(error))

    async def give_up(self, row: int, error: str) -> None:
        await self._change("give_up", row=row, error=text(error))

    async def next_due(self, platforms: Sequence[str] | None = None) -> datetime | None:
        row = await self._read("next_due", platforms=listed(platforms))
        return None if row is None or row["at"] is None else moment(row["at"])

    async def waiting(self) -> int:
        row = await self._read("waiting")
        return 0 if row is None else int(row["waiting"])

    async def posted_count(self, platform: str) -> int:
        row = await self._read("posted_count", platform=text(platform))
        return 0 if row is None else int(row["posted"])

    # -- timers --------------------------------------------------------------------------------------------------

    async def due(self, now: datetime, limit: int, lease: timedelta) -> Sequence[DueTimer]:
        values = looking(now, lease, limit)
        if await self._read("any_due", **values) is None:  # nearly always; a look costs the writer nothing
            return []
        taken: list[Row] = await self._writer.ask(lambda connection: rows("claim_timers", connection, **values))
        return in_order(taken)

    async def timer_at(self, conversation: str, name: str) -> datetime | None:
        row = await self._read("timer_at", conversation=text(conversation), timer=text(name))
        return None if row is None else moment(row["at"])

    async def timers(self, prefix: str = "") -> Sequence[DueTimer]:
        return in_order(await self._read_all("timers", **beginning(prefix)))

    # -- records -------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        async with open_snapshot(self.path) as snapshot:
            yield snapshot

    def listen(self, ring: Ring) -> None:
        """Nobody else serves from the file; a command may write to it all the same."""
        self._watch = Watch(self.path, self._version, ring)

    async def _version(self) -> int:
        found: list[Row] = await self._writer.ask(lambda raw: raw.execute("PRAGMA data_version").fetchall())
        return int(found[0]["data_version"])

    async def close(self) -> None:
        """What has been asked for is written first."""
        if self._watch is not None:
            await self._watch.close()
        try:
            await self._writer.close()
        finally:
            await self._reader.close()

    # -- the two lanes -------------------------------------------------------------------------------------------

    async def _read(self, name: str, **values: Any) -> Row | None:
        row: Row | None = await self._reader.ask(lambda connection: one(name, connection, **values))
        return row

    async def _read_all(self, name: str, **values: Any) -> list[Row]:
        found: list[Row] = await self._reader.ask(lambda connection: rows(name, connection, **values))
        return found

    async def _change(self, name: str, **values: Any) -> None:
        await self._writer.ask(lambda connection: one(name, connection, **values))


async def open_sqlite(path: Path, *, busy: float = BUSY) -> SqliteStore:
    writer = await open_lane(path, Writer().run, _WRITER, busy)
    try:
        reader = await open_lane(path, _answer, _READER, busy)
    except BaseException:
        with suppress(Exception):
            await writer.close()
        raise
    return SqliteStore(path, writer, reader)
