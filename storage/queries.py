"""The SQL of `storage/sql`, one text for SQLite and PostgreSQL, loaded through aiosql.

Of `*!` nothing is used but that it did not fail: the drivers count differently. What must come back is asked for with
RETURNING.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

import aiosql

Row = dict[str, Any]
SQL = Path(__file__).parent / "sql"


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


def as_dict(cursor: Any, row: Sequence[Any]) -> Row:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}


def many(name: str, connection: Any, batch: Sequence[Row]) -> None:
    """Run a `*!` statement over a batch."""
    statements()[name](connection, batch)


def one(name: str, connection: Any, **values: Any) -> Row | None:
    """The row of a `^` statement."""
    row = statements()[name](connection, **values)
    assert row is None or isinstance(row, dict)
    return row


def rows(name: str, connection: Any, **values: Any) -> list[Row]:
    found: Iterable[Row] = statements()[name](connection, **values)
    return list(found)
