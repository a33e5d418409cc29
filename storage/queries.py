"""The SQL of `storage/sql`, one text for SQLite and PostgreSQL, loaded through aiosql.

Of `*!` nothing is used but that it did not fail: the drivers count differently. What must come back is asked for with
RETURNING.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol, cast

import aiosql

Row = dict[str, Any]
SQL = Path(__file__).parent / "sql"
# A quoted text (kept), a comment (left out), or the name of a value.
PART = re.compile(r"('[^']*')|--[^\n]*|(?<![:\w]):(\w+)")


class Statement(Protocol):
    """Rows come as dicts when the connection's `row_factory` is `as_dict`."""

    sql: str

    def __call__(self, connection: Any, *batch: Any, **values: Any) -> Any: ...


@cache
def statements() -> dict[str, Statement]:
    """Every named statement. The names are unique over all files."""
    return named(SQL)


def named(folder: Path) -> dict[str, Statement]:
    loaded = aiosql.from_path(folder, "sqlite3", mandatory_parameters=False)
    return {
        name: cast(Statement, getattr(loaded, name)) for name in loaded.available_queries if "_cursor" not in name
    }


@dataclass(frozen=True)
class Numbered:
    """`sql` says $1, $2, … (or ?1, ?2, …); `names` are the values' names in that order."""

    sql: str
    names: tuple[str, ...]

    @cached_property
    def values(self) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
        """The values of a row, in order."""
        if len(self.names) > 1:
            return itemgetter(*self.names)  # a third of the time of a loop, and every row of a commit comes by here
        return lambda given: [given[name] for name in self.names]


def numbered(sql: str, mark: str = "$") -> Numbered:
    names: dict[str, int] = {}

    def part(found: re.Match[str]) -> str:
        if found[2] is None:
            return found[1] or ""
        return f"{mark}{names.setdefault(found[2], len(names) + 1)}"

    return Numbered(PART.sub(part, sql), tuple(names))


@cache
def _by_number(name: str) -> Numbered:
    """For SQLite, which finds values by their number quicker than by their name."""
    return numbered(statements()[name].sql, "?")


def as_dict(cursor: Any, row: Sequence[Any]) -> Row:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}


def many(name: str, connection: Any, batch: Sequence[Row]) -> None:
    """Run a `*!` statement over a batch."""
    statement = _by_number(name)
    connection.executemany(statement.sql, list(map(statement.values, batch)))


def one(name: str, connection: Any, **values: Any) -> Row | None:
    """The row of a `^` statement."""
    row = statements()[name](connection, **values)
    assert row is None or isinstance(row, dict)
    return row


def rows(name: str, connection: Any, **values: Any) -> list[Row]:
    found: Iterable[Row] = statements()[name](connection, **values)
    return list(found)
