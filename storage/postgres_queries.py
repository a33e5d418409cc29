"""The SQL of storage/sql for asyncpg, which knows numbered values only, and of storage/sql_postgres."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from storage.queries import SQL, Numbered, Row, named, numbered

ONLY_HERE = Path(__file__).parent / "sql_postgres"


@cache
def statements() -> dict[str, Numbered]:
    """Every named statement; where both folders have one, PostgreSQL's own."""
    return {name: numbered(found.sql) for name, found in {**named(SQL), **named(ONLY_HERE)}.items()}


async def many(name: str, connection: Any, batch: Sequence[Row]) -> None:
    statement = statements()[name]
    await connection.executemany(statement.sql, [statement.values(row) for row in batch])


async def one(name: str, connection: Any, **values: Any) -> Row | None:
    statement = statements()[name]
    row = await connection.fetchrow(statement.sql, *statement.values(values))
    return None if row is None else dict(row)


async def rows(name: str, connection: Any, **values: Any) -> list[Row]:
    statement = statements()[name]
    return [dict(row) for row in await connection.fetch(statement.sql, *statement.values(values))]
