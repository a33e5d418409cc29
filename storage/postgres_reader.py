"""Reading the records of a PostgreSQL database: one read transaction, rows in small portions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from storage.postgres_errors import DATABASE, unavailable
from storage.postgres_link import PATIENTLY, connect, end
from storage.postgres_queries import statements
from storage.postgres_url import Target
from storage.queries import Row
from storage.reading import Reading

PORTION = 500  # rows per answer and in memory
# Of one session: a few rows. A cursor would take two turns for each, and `verify` asks four of them of every session.
AT_ONCE = {"session", "chain_head", "session_clarifications", "session_history"}
BEGIN = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {PATIENTLY}"


class PostgresSnapshot(Reading):
    def __init__(self, connection: Any, name: str) -> None:
        self.connection = connection
        self._name = name

    async def _rows(self, name: str, **values: Any) -> AsyncIterator[Row]:
        statement = statements()[name]
        try:
            if name in AT_ONCE:
                for row in await self.connection.fetch(statement.sql, *statement.values(values)):
                    yield dict(row)
                return
            async for row in self.connection.cursor(statement.sql, *statement.values(values), prefetch=PORTION):
                yield dict(row)
        except DATABASE as error:
            raise unavailable(error, self._name) from error


@asynccontextmanager
async def open_snapshot(target: Target) -> AsyncIterator[PostgresSnapshot]:
    try:
        connection = await connect(target, patient=True)
    except DATABASE as error:
        raise unavailable(error, target.name) from error
    try:
        await connection.execute(BEGIN)
        yield PostgresSnapshot(connection, target.name)
    except DATABASE as error:
        raise unavailable(error, target.name) from error
    finally:
        await end(connection)
