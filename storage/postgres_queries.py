"""The SQL of storage/sql for asyncpg, which knows numbered values only, and of storage/sql_postgres."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from storage.queries import SQL, Row, named

ONLY_HERE = Path(__file__).parent / "sql_postgres"
# A quoted text (kept), a comment (left out), or the name of a value.
PART = re.compile(r"('[^']*')|--[^\n]*|(?<![:\w]):(\w+)")


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
    return {name: numbered(found.sql) for name, found in {**named(SQL), **named(ONLY_HERE)}.items()}


def numbered(sql: str) -> Numbered:
    names: dict[str, int] = {}

    def part(found: re.Match[str]) -> str:
        if found[2] is None:
            return found[1] or ""
        return f"${names.setdefault(found[2], len(names) + 1)}"

    return Numbered(PART.sub(part, sql), tuple(names))


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
