"""Reading the records of a SQLite file: one read transaction, rows in small portions."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiosqlite

from storage.errors import unavailable
from storage.lane import connect
from storage.queries import Row, statements
from storage.reading import Reading

PORTION = 500  # rows per hop to the thread and in memory


class SqliteSnapshot(Reading):
    def __init__(self, connection: aiosqlite.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

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
