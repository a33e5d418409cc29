"""Reading the records of a PostgreSQL database: one read transaction, rows in small portions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from storage.postgres_errors import DATABASE, unavailable
from storage.postgres_link import connect, end
from storage.postgres_queries import statements
from storage.postgres_url import Target
from storage.queries import Row
from storage.values import text

PORTION = 500  # rows per answer and in memory
BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0"


class PostgresSnapshot:
    """A read transaction of its own: writers go on, and what they write is not seen here."""

    def __init__(self, connection: Any, name: str) -> None:
        self.connection = connection
        self._name = name

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
        statement = statements()[name]
        try:
            async for row in self.connection.cursor(statement.sql, *statement.values(values), prefetch=PORTION):
                yield dict(row)
        except DATABASE as error:
            raise unavailable(error, self._name) from error

    async def _first(self, name: str, **values: Any) -> Row | None:
        async for row in self._rows(name, **values):
            return row
        return None


@asynccontextmanager
async def open_snapshot(target: Target) -> AsyncIterator[PostgresSnapshot]:
    try:
        connection = await connect(target)
    except DATABASE as error:
        raise unavailable(error, target.name) from error
    try:
        await connection.execute(BEGIN)
        yield PostgresSnapshot(connection, target.name)
    except DATABASE as error:
        raise unavailable(error, target.name) from error
    finally:
        await end(connection)
