"""PostgreSQL as a side of a copy."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from storage.copy import FEW, Shape, Values, next_portion, shapes
from storage.postgres_errors import DATABASE, unavailable
from storage.postgres_link import PATIENTLY, connect, end
from storage.postgres_url import target

READ = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {PATIENTLY}"
# Locked for others: a worker that starts meanwhile waits, and writes into the filled database.
WRITE = f"BEGIN; {PATIENTLY}; SET LOCAL synchronous_commit = on; LOCK TABLE conversation IN EXCLUSIVE MODE"


async def analyze(connection: Any) -> None:
    """Let the planner look at tables that have just been filled, or emptied of much.

    By itself the server does so some minutes later, and guesses until then
    (postgresql.org/docs/15/populate.html#POPULATE-ANALYZE). A table without rows is left alone: known to be empty it
    would be read whole, in plans that are kept while it grows.
    """
    for shape in shapes():
        if await connection.fetchval(f'SELECT EXISTS (SELECT 1 FROM "{shape.name}")'):  # noqa: S608 - a name of ours
            await connection.execute(f'ANALYZE "{shape.name}"')


class _Postgres:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def read(self, shape: Shape) -> AsyncGenerator[list[Values]]:
        cursor = await self._connection.cursor(shape.select)
        count = FEW
        while rows := await cursor.fetch(count):
            rows = list(map(tuple, rows))
            count = next_portion(rows)
            yield rows
            del rows  # or they would be held beside the next ones

    async def write(self, shape: Shape, rows: list[Values]) -> None:
        await self._connection.copy_records_to_table(shape.name, records=rows, columns=shape.columns)

    async def last_row(self) -> int:
        last = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM outbox_row_seq"
        return int(await self._connection.fetchval(last))

    async def go_on_from(self, row: int) -> None:
        await self._connection.execute("SELECT setval('outbox_row_seq', $1, $2)", max(row, 1), row > 0)
        await self._connection.execute(
            "SELECT setval('audit_id_seq', coalesce(max(id), 1), max(id) IS NOT NULL) FROM audit"
        )

    async def commit(self) -> None:
        await analyze(self._connection)
        await self._connection.execute("COMMIT")


@asynccontextmanager
async def opened(url: str, *, writing: bool) -> AsyncIterator[_Postgres]:
    where = target(url)
    try:
        connection = await connect(where, patient=True)
    except DATABASE as error:
        raise unavailable(error, where.name) from error
    try:
        await connection.execute(WRITE if writing else READ)
        yield _Postgres(connection)
    except DATABASE as error:
        raise unavailable(error, where.name) from error
    finally:
        await end(connection)  # what was not committed is rolled back
