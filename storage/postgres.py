"""The store in a PostgreSQL database, for many workers on many hosts: any of them may serve any event.

Commits go through one writer per process, in batches. Everything else runs on a pool of connections: a row or timer
that one worker takes is locked for the others and hidden from them until its lease ends. The states that this worker
has seen are kept; what another worker changes is forgotten when it says so, and refused as stale if that comes late.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

import asyncpg

from bot.core.codec import decode_effect, decode_envelope, decode_shown, decode_state
from bot.core.effects import Message
from bot.core.events import Envelope
from bot.core.state import Conversation
from bot.faults import report
from bot.ports import Commit, DueTimer, DuplicateEvent, OutboxRow, Settle, StoreUnavailable
from storage.batches import Batches
from storage.hot import Hot
from storage.line import FRONT, Line
from storage.postgres_errors import DATABASE, LOST, unavailable
from storage.postgres_link import KEYS, options
from storage.postgres_listener import Listener
from storage.postgres_queries import one, rows
from storage.postgres_reader import open_snapshot
from storage.postgres_url import Target
from storage.postgres_writer import Writer
from storage.queries import Row
from storage.records import Ring, Snapshot
from storage.rows import (
    NOT_READABLE,
    UNREADABLE,
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
from storage.values import micros, moment, text

TRIES = 4  # at a question while connections are lost
PAUSE = 0.1  # seconds, doubled each time

T = TypeVar("T")


class PostgresStore:
    """Opened with `open_postgres`, on a database that has been migrated."""

    shared = True

    def __init__(self, target: Target, pool: Any) -> None:
        self.target = target
        self._pool = pool
        self._name = secrets.token_hex(4)
        self._writer = Writer(target, self._name)
        self._commits = Batches(self._writer.run, target.name)
        self._abouts = Batches(self._about_all, target.name)
        self._listener: Listener | None = None
        self._hot = Hot()
        self._line = Line()
        self._closed = False

    # -- conversations -------------------------------------------------------------------------------------------

    async def load(self, conversation: str) -> Conversation | None:
        known = self._hot.get(conversation)
        if known is not None:
            return known
        row = await self._one("load", conversation=text(conversation))
        if row is None:
            return None
        state = decode_state(row["state"])
        self._hot.keep(state)
        return state

    async def seen(self, event_id: str) -> bool:
        return await self._one("seen", event_id=text(event_id)) is not None

    async def commit(self, commit: Commit) -> None:
        prepared = prepare(commit, self._hot.parts(commit.state.place.conversation))
        try:
            await self._commits.ask(prepared)
        except DuplicateEvent:
            raise
        except BaseException:
            # Stale: another worker has written. Cancelled or failed: it may be written yet. The database knows.
            self._hot.forget(prepared.conversation)
            raise
        self._hot.keep(prepared.state, prepared.parts)

    def _forget(self, conversations: Sequence[str] | None) -> None:
        self._writer.forget(conversations)
        if conversations is None:
            self._hot.clear()
        else:
            for conversation in conversations:
                self._hot.forget(conversation)

    async def about(self, conversation: str, message: str) -> str | None:
        found: str | None = await self._abouts.ask((text(conversation), text(message)))
        return found

    async def _about_all(self, asked: list[tuple[str, str]]) -> list[str | None]:
        """Asked for each tap and reply; those of a crowd go to the server together."""
        conversations, messages = zip(*asked, strict=True)
        found = await self._rows("abouts", conversations=conversations, messages=messages)
        return [row["about"] for row in found]

    async def shown(self, conversation: str, message: str) -> Message | None:
        row = await self._one("shown", conversation=text(conversation), message=text(message))
        return None if row is None else decode_shown(row["effect"])

    async def drawings(self, conversation: str, message: str) -> Sequence[Message]:
        found = await self._rows("drawings", conversation=text(conversation), message=text(message))
        return [shown for row in found if (shown := decode_shown(row["effect"])) is not None]

    async def conversation_of(self, session: str) -> str | None:
        row = await self._one("conversation_of", session=text(session))
        return None if row is None else row["conversation"]

    async def open_conversations(self, platform: str) -> Sequence[str]:
        return [row["conversation"] for row in await self._rows("open_conversations", **beginning(f"{platform}:"))]

    async def sessions_begun(self, place: str) -> int:
        row = await self._one("sessions_begun", **within(place))
        return 0 if row is None else int(row["begun"])

    async def asking(self, within: str, limit: int) -> Sequence[str]:
        found = None if ":" in within else await self._one("asking_count", **asking_count(within))
        statement, values = asking(within, limit, 0 if found is None else found["counted"])
        return [row["conversation"] for row in await self._rows(statement, **values)]

    async def event(self, event_id: str) -> Envelope | None:
        row = await self._one("event", event_id=text(event_id))
        return None if row is None else decode_envelope(row["envelope"])

    async def keep(self, key: str, value: str | None) -> None:
        if value is None:
            await self._one("forget", key=text(key))
        else:
            await self._one("keep", key=text(key), value=text(value))

    async def kept(self, prefix: str) -> dict[str, str]:
        return {row["key"]: row["value"] for row in await self._rows("kept", **beginning(prefix))}

    async def take_turn(self, what: str, owner: str, now: datetime, until: datetime) -> bool:
        values = {"key": turn_key(what), "owner": text(owner), **turns(now, until)}
        return await self._one("take_turn", **values) is not None

    async def end_turn(self, what: str, owner: str) -> None:
        await self._one("end_turn", key=turn_key(what), owner=text(owner))

    # -- outbox --------------------------------------------------------------------------------------------------

    async def claim(
        self, now: datetime, limit: int, lease: timedelta, platforms: Sequence[str] | None = None
    ) -> Sequence[OutboxRow]:
        values = {**looking(now, lease, limit), "platforms": listed(platforms)}
        if self._line.look():  # before: where this fails, nothing has been taken yet
            self._line.found(len(await self._rows("line_up", **values, front=FRONT)))
        taken = sorted(await self._rows("claim", **values), key=lambda row: row["row"])
        return [row for row in [await self._readable(row, now) for row in taken] if row is not None]

    async def _readable(self, row: Row, now: datetime) -> OutboxRow | None:
        """None for a row that a newer version of the program has written: that version is to send it."""
        place = {"conversation": row["conversation"], "card": row["card"]}
        posted = await self._one("card_message", **place) if row["kind"] == "redraw" else None
        try:
            return outbox_row({**row, "card_message": None if posted is None else posted["message"]}, decode_effect)
        except ValueError as error:
            report("row_not_readable", error, row=row["row"])
            await self.retry_at(row["row"], now + UNREADABLE, NOT_READABLE)
            return None

    async def extend(self, rows: Sequence[int], until: datetime) -> None:
        for row in rows:  # not in one transaction: two that lock the same rows in another order wait in a circle
            await self._one("extend", row=row, until=micros(until))

    async def settle(self, settle: Settle) -> None:
        row = settled(settle)
        await self._one("settle", **row)

    async def release(self, platforms: Sequence[str]) -> None:
        await self._rows("release", platforms=listed(platforms))
        await self._rows("release_timers")

    async def retry_at(self, row: int, at: datetime, error: str) -> None:
        await self._one("retry_at", row=row, at=micros(at), error=text(error))

    async def give_up(self, row: int, error: str) -> None:
        await self._one("give_up", row=row, error=text(error))

    async def next_due(self, platforms: Sequence[str] | None = None) -> datetime | None:
        row = await self._one("next_due", platforms=listed(platforms))
        return None if row is None or row["at"] is None else moment(row["at"])

    async def waiting(self) -> int:
        row = await self._one("waiting")
        return 0 if row is None else int(row["waiting"])

    async def posted_count(self, platform: str) -> int:
        row = await self._one("posted_count", platform=text(platform))
        return 0 if row is None else int(row["posted"])

    # -- timers --------------------------------------------------------------------------------------------------

    async def due(self, now: datetime, limit: int, lease: timedelta) -> Sequence[DueTimer]:
        values = looking(now, lease, limit)
        if await self._one("any_due", now=values["now"], jumped=values["jumped"]) is None:  # nearly always
            return []
        return in_order(await self._rows("claim_timers", **values))

    async def timer_at(self, conversation: str, name: str) -> datetime | None:
        row = await self._one("timer_at", conversation=text(conversation), timer=text(name))
        return None if row is None else moment(row["at"])

    async def timers(self, prefix: str = "") -> Sequence[DueTimer]:
        return in_order(await self._rows("timers", **beginning(prefix)))

    # -- records -------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        async with open_snapshot(self.target) as snapshot:
            yield snapshot

    def listen(self, ring: Ring) -> None:
        self._listener = Listener(self.target, self._name, self._forget, ring)

    async def close(self) -> None:
        """What has been asked for is written first."""
        self._closed = True
        if self._listener is not None:
            await self._listener.close()
        try:
            await self._commits.finish()
            await self._abouts.finish()
        finally:
            await self._writer.close()
            await self._pool.close()

    # -- the pool ------------------------------------------------------------------------------------------------

    async def _one(self, name: str, **values: Any) -> Row | None:
        return await self._asked(lambda connection: one(name, connection, **values))

    async def _rows(self, name: str, **values: Any) -> list[Row]:
        return await self._asked(lambda connection: rows(name, connection, **values))

    async def _asked(self, question: Callable[[Any], Awaitable[T]]) -> T:
        """Asked again where the connection was lost: to write any of this a second time changes nothing."""
        if self._closed:
            raise StoreUnavailable(f"the database {self.target.name} has been closed")
        for attempt in range(TRIES):
            try:
                async with self._pool.acquire() as connection:
                    return await question(connection)
            except LOST as error:
                if attempt + 1 == TRIES:
                    raise unavailable(error, self.target.name) from error
                await asyncio.sleep(PAUSE * 2**attempt)
            except DATABASE as error:
                raise unavailable(error, self.target.name) from error
        raise AssertionError("unreachable")


async def _left_as_it_is(connection: Any) -> None:
    """Nothing of ours changes a connection for longer than a transaction; to reset it would cost a round trip."""


async def open_postgres(target: Target) -> PostgresStore:
    logging.getLogger("asyncpg").setLevel(logging.CRITICAL)  # its tracebacks; we say what is lost
    try:
        made = options(target, KEYS, min_size=1, max_size=target.pool, reset=_left_as_it_is)
        pool = await asyncpg.create_pool(**made)
    except DATABASE as error:
        raise unavailable(error, target.name) from error
    return PostgresStore(target, pool)
