"""Retention: whole places that nobody has used for long are archived and removed (`askfirst db prune`).

A place goes as a whole or stays as a whole, so what stays can still be verified and replayed. What went is in the
archive: one JSON object a line for each place, with its state, its events, and its sessions with their clarifications
and audit rows. The system's chain keeps an entry for each place, with the ends of the chains that were removed: an
archive that was changed since does not fit them.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from bot.core.effects import Audit
from bot.ports import StoreUnavailable
from storage import file, is_postgres, open_store
from storage.chain import EMPTY, SYSTEM, Head, linked
from storage.readers import session_record
from storage.records import RecordStore
from storage.rows import audit_row
from storage.values import micros

PORTION = 200  # places looked at together
STRETCH = 5000  # places for which all that adapters keep is read once
KEPT = 1000  # rows of it in memory
SWEPT = 2000  # messages looked at together
LONGEST_LOG = 4 * 1024 * 1024  # bytes that the log of a SQLite file may grow by before it is put away
PRUNED = "privacy.pruned"

# Runs a named statement; the rows that it gives back.
Run = Callable[..., Awaitable[list[dict[str, Any]]]]


@dataclass
class Pruned:
    places: int = 0
    sessions: int = 0
    clarifications: int = 0
    events: int = 0
    messages: int = 0


async def prune(url: str, before: datetime, now: datetime, archive: TextIO | None, *, dry: bool = False) -> Pruned:
    """Remove places in which nothing has happened since `before`, after they are safely in the archive.

    `dry` only counts the places. Workers may be at work meanwhile: a place that somebody uses again just then stays.
    """
    done, beyond = Pruned(), ""
    async with AsyncExitStack() as opened:
        work = _Work(url, opened)
        await work.open()
        while found := await _stretch(work.link.run, micros(before), beyond):
            beyond = found[-1]["id"]
            if dry:
                done.places += len(found)
                continue
            held = await _held(work.link.run, [place["id"] for place in found])
            for place in found:
                kept = held.get(place["id"], [])
                await _one(work.store, work.link, place["id"], place["revision"], kept, now, archive, done)
                await work.pause()
        if not dry:
            await _sweep(work, done)
            await work.link.after()
    return done


async def _sweep(work: _Work, done: Pruned) -> None:
    """Messages of places that are no more. Some at a time: workers write in between, and the log stays short."""
    beyond = 0
    while found := await work.link.run("outbox_after", beyond=beyond, limit=SWEPT):
        async with work.link.transaction():
            done.messages += len(await work.link.run("sweep_outbox", beyond=beyond, last=found[-1]["row"]))
        beyond = found[-1]["row"]
        await work.pause()


async def _stretch(run: Run, before: int, beyond: str) -> list[dict[str, Any]]:
    """The next places that may go."""
    found: list[dict[str, Any]] = []
    while len(found) < STRETCH:
        portion = await run("prunable", before=before, beyond=beyond, limit=PORTION)
        found += portion
        if len(portion) < PORTION:
            break
        beyond = portion[-1]["id"]
    return found


async def _held(run: Run, places: list[str]) -> dict[str, list[dict[str, Any]]]:
    """What adapters keep of some places: by the place's name (a part of the key, or the value), or by a session's.

    A session's name stands in the key before a dot and the round: of forms that were filled in and never sent.
    """
    owner = {place: place for place in places}
    for place in places:
        owner |= {f"{row['session']}.": place for row in await run("sessions_of", conversation=place)}
    held: dict[str, list[dict[str, Any]]] = {}
    beyond = ""
    while portion := await run("kept_after", beyond=beyond, limit=KEPT):
        beyond = portion[-1]["key"]
        for row in portion:
            for place in {owner[name] for name in _names(row["key"], row["value"]) if name in owner}:
                held.setdefault(place, []).append(row)
    return held


def _names(key: str, value: str) -> Iterator[str]:
    """What may be the name of a place, or of a session with a dot behind it."""
    yield value
    starts = [0, *(at + 1 for at, letter in enumerate(key) if letter == ":")]
    for start in starts:
        yield key[start:]
        yield from (key[start : end - 1] for end in starts if end > start)
        if start:
            yield from (key[start : at + 1] for at, letter in enumerate(key) if letter == "." and at > start)


async def _one(
    store: RecordStore,
    link: _Link,
    conversation: str,
    revision: int,
    held: list[dict[str, Any]],
    now: datetime,
    archive: TextIO | None,
    done: Pruned,
) -> None:
    sessions = [row["session"] for row in await link.run("sessions_of", conversation=conversation)]
    if archive is not None:
        _keep(await _archived(store, link, conversation, revision, sessions), archive)
    async with link.transaction() as kept:
        heads = {name: head for name in sessions if (head := await _head(link.run, name)) is not None}
        events = await link.run("remove_events", conversation=conversation)
        if not await link.run("remove_conversation", conversation=conversation, revision=revision):
            kept.undo = True  # used again while it was archived
            return
        for session in sessions:
            done.clarifications += len(await link.run("remove_clarifications", session=session))
            await link.run("remove_history", session=session)
            await link.run("remove_chain", chain=session)
            await link.run("remove_head", chain=session)
            await link.run("remove_session", session=session)
        for row in held:
            await link.run("remove_kept", **row)
        await _note(link.run, conversation, heads, now)
    done.places += 1
    done.sessions += len(sessions)
    done.events += len(events)


def _keep(record: dict[str, Any], archive: TextIO) -> None:
    try:
        archive.write(json.dumps(record, ensure_ascii=False) + "\n")
        archive.flush()
        os.fsync(archive.fileno())
    except OSError as error:
        raise StoreUnavailable(
            f"the archive can not be written: {error.strerror}. What is not in it whole was not removed. Make room, "
            "then run it again."
        ) from None


async def _archived(
    store: RecordStore, link: _Link, conversation: str, revision: int, sessions: list[str]
) -> dict[str, Any]:
    [state] = await link.run("load", conversation=conversation)
    events = await link.run("events", conversation=conversation)
    return {
        "conversation": conversation,
        "revision": revision,
        "state": json.loads(state["state"]),
        "events": [{**row, "envelope": json.loads(row["envelope"])} for row in events],
        "sessions": [await session_record(store, session) for session in sessions],
    }


async def _head(run: Run, chain: str) -> Head | None:
    found = await run("head", chain=chain)
    return Head(found[0]["seq"], found[0]["hash"]) if found else None


async def _note(run: Run, conversation: str, heads: dict[str, Head], now: datetime) -> None:
    """In the system's chain, in the same transaction."""
    ends = {session: {"seq": head.seq, "hash": head.hash} for session, head in heads.items()}
    details = {"place": conversation, "ends": ends}
    row = audit_row(Audit(event=PRUNED, session=None, actor="system", details=details), micros(now))
    head = linked(row, await _head(run, SYSTEM) or EMPTY)
    await run("add_audit", **row)
    await run("put_head", chain=SYSTEM, seq=head.seq, hash=head.hash)


# -- both databases --------------------------------------------------------------------------------------------------


@dataclass
class _Kept:
    undo: bool = False


class _Work:
    """The store to read from and the connection to remove with."""

    store: RecordStore
    link: _Link

    def __init__(self, url: str, opened: AsyncExitStack) -> None:
        self._url, self._opened = url, opened

    async def open(self) -> None:
        self.store = await open_store(self._url, create=False)
        self._opened.push_async_callback(self.store.close)
        self.link = await self._opened.enter_async_context(_connected(self._url))
        self._log = self._length()

    async def pause(self) -> None:
        """Opened anew where the log has become long: SQLite puts it away when nobody else has the file open."""
        if self._length() > self._log + LONGEST_LOG:
            await self._opened.aclose()
            await self.open()

    def _length(self) -> int:
        if is_postgres(self._url):
            return 0
        log = file(self._url).with_name(f"{file(self._url).name}-wal")
        return log.stat().st_size if log.exists() else 0


class _Link:
    """A connection of either kind, with named statements, and what is to be done after much was removed."""

    def __init__(
        self, run: Run, execute: Callable[[str], Awaitable[Any]], begin: str, after: Callable[[], Awaitable[None]]
    ) -> None:
        self.run, self._execute, self._begin, self.after = run, execute, begin, after

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[_Kept]:
        kept = _Kept()
        await self._execute(self._begin)
        try:
            yield kept
        except BaseException:
            await self._execute("ROLLBACK")
            raise
        await self._execute("ROLLBACK" if kept.undo else "COMMIT")


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[_Link]:
    if is_postgres(url):
        from storage import postgres_queries
        from storage.copy_postgres import analyze
        from storage.postgres_errors import DATABASE
        from storage.postgres_errors import unavailable as gone
        from storage.postgres_link import PATIENTLY, connect, end
        from storage.postgres_url import target

        connection = await connect(target(url), patient=True)
        try:

            async def ask(name: str, **values: Any) -> list[dict[str, Any]]:
                return await postgres_queries.rows(name, connection, **values)

            async def after() -> None:
                await analyze(connection)

            yield _Link(ask, connection.execute, f"BEGIN; {PATIENTLY}; SET LOCAL synchronous_commit = on", after)
        except DATABASE as error:
            raise gone(error, target(url).name) from error
        finally:
            await end(connection)
        return
    import sqlite3

    from storage import lane, queries
    from storage.errors import unavailable

    try:
        opened = await lane.connect(file(url))
    except sqlite3.Error as error:
        raise unavailable(error, str(file(url))) from error
    try:
        # It never checkpoints: beside a serving store there would be two that do, and SQLite before 3.51.3 may then
        # take what was just committed for old (sqlite.org/wal.html, "WAL-reset bug"). The serving store does it after
        # its commits; where there is none, whoever closes the file last, with nobody beside (`_Work.pause`).
        for setting in ("PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON", "PRAGMA wal_autocheckpoint = 0"):
            await opened.execute_fetchall(setting)

        async def look(name: str, **values: Any) -> list[dict[str, Any]]:
            found: Any = await opened.execute_fetchall(queries.statements()[name].sql, values)
            return list(found)

        async def nothing() -> None:
            """SQLite chooses its indexes without knowing how many rows there are."""

        yield _Link(look, opened.execute_fetchall, "BEGIN IMMEDIATE", nothing)
    except sqlite3.Error as error:
        raise unavailable(error, str(file(url))) from error
    finally:
        await opened.close()


def opened_archive(path: str) -> TextIO:
    """The file to append to. A line that was broken off (by a kill, or no room) spoils none of the later ones."""
    try:
        broken = Path(path).is_file() and not _whole(path)
        archive = open(path, "a", encoding="utf-8", newline="\n")  # noqa: PTH123, SIM115 - the caller closes it
    except OSError as error:
        raise StoreUnavailable(
            f"the archive {path} can not be written: {error.strerror}. Nothing was removed."
        ) from None
    if broken:
        archive.write("\n")
    return archive


def _whole(path: str) -> bool:
    with open(path, "rb") as archive:  # noqa: PTH123
        size = archive.seek(0, os.SEEK_END)
        archive.seek(max(0, size - 1))
        return archive.read() in (b"", b"\n")
