"""The SQL of storage/sql for asyncpg, which knows numbered values only, and of storage/sql_postgres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import aiosql
from aiosql.adapters.asyncpg import AsyncPGAdapter

from storage.queries import SQL, Row

ONLY_HERE = Path(__file__).parent / "sql_postgres"


@dataclass(frozen=True, slots=True)
class Numbered:
    """`sql` says $1, $2, …; `names` are the values' names in that order."""

    sql: str
    names: tuple[str, ...]

    def values(self, given: Mapping[str, Any]) -> list[Any]:
        return [given[name] for name in self.names]


@cache
def statements() -> dict[str, Numbered]:
    """Every named statement; where both folders have one, PostgreSQL's own."""
    found: dict[str, Numbered] = {}
    for folder in (SQL, ONLY_HERE):
        adapter = AsyncPGAdapter()
        loaded = aiosql.from_path(folder, lambda made=adapter: made, mandatory_parameters=False)  # type: ignore[arg-type, misc]
        for name in loaded.available_queries:
            if "_cursor" not in name:
                sql = getattr(loaded, name).sql
                found[name] = Numbered(sql, tuple(adapter.var_sorted[name]))
    return found


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
