"""Reading the records of a SQLite file: one read transaction, rows in small portions."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiosqlite

from storage.errors import unavailable
from storage.lane import connect
from storage.queries import Row, statements
from storage.values import text

PORTION = 500  # rows per hop to the thread and in memory


class SqliteSnapshot:
    """A read transaction of its own: writers go on, and what they write is not seen here."""

    def __init__(self, connection: aiosqlite.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def sessions(self) -> AsyncIterator[Row]:
        return self._rows("sessions")

    async def session(self, session: str) -> Row | None:
        return await self._first("session", session=text(session))

    def events(self, conversation: str) -> AsyncIterator[Row]:
        return self._rows("events", conversation=text(conversation))

    def clarifications(self, session: str | None = None) -> AsyncIterator[Row]:
        if session is None:
            return self._rows("clarifications")
        return self._rows("session_clarifications", session=text(session))

    def history(self, session: str) -> AsyncIterator[Row]:
        return self._rows("session_history", session=text(session))

    async def clarified_sessions(self) -> Sequence[str]:
        return [row["session"] async for row in self._rows("clarified_sessions")]

    async def chains(self) -> Sequence[str]:
        return [row["chain"] async for row in self._rows("chains")]

    def chain(self, chain: str) -> AsyncIterator[Row]:
        return self._rows("chain", chain=text(chain))

    async def chain_head(self, chain: str) -> Row | None:
        return await self._first("chain_head", chain=text(chain))

    def failures(self, mistake: str) -> AsyncIterator[Row]:
        return self._rows("failures", mistake=text(mistake))

    def unsent(self) -> AsyncIterator[Row]:
        return self._rows("unsent")

    async def _rows(self, name: str, **values: Any) -> AsyncIterator[Row]:
        try:
            cursor = await self._connection.execute(statements()[name].sql, values)
            try:
                while portion := await cursor.fetchmany(PORTION):
                    for row in portion:
                        assert isinstance(row, dict)
                        yield row
            finally:
                with suppress(sqlite3.ProgrammingError):  # a reader that stopped early outlived its connection
                    await cursor.close()
        except sqlite3.Error as error:
            raise unavailable(error, str(self._path)) from error

    async def _first(self, name: str, **values: Any) -> Row | None:
        async for row in self._rows(name, **values):
            return row
        return None


@asynccontextmanager
async def open_snapshot(path: Path) -> AsyncIterator[SqliteSnapshot]:
    try:
        connection = await connect(path)
    except sqlite3.Error as error:
        raise unavailable(error, str(path)) from error
    try:
        for setting in ("PRAGMA query_only = ON", "PRAGMA wal_autocheckpoint = 0", "BEGIN"):
            await connection.execute_fetchall(setting)
        yield SqliteSnapshot(connection, path)
    except sqlite3.Error as error:
        raise unavailable(error, str(path)) from error
    finally:
        await connection.close()
