"""Moving a database as it is: SQLite to PostgreSQL and back, every row of every table, compared before it counts.

The source is read in one transaction, so it may be in use. The target is filled in one transaction and read again
there; only where each row has arrived as it was, it is committed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from bot.ports import StoreUnavailable
from storage import file, is_postgres, named, upgrade

PORTION = 1000  # rows in memory, where they are short
LENGTH = 500_000  # characters in memory, of those that were read at a time
FEW = 20  # rows that are read of a table before it is known how long they are

Values = Sequence[Any]


def next_portion(rows: Sequence[Values]) -> int:
    """How many rows to read next, by those that have just been read: a state is fifty times as long as most rows."""
    longest = max(sum([len(value) for value in row if isinstance(value, str)]) for row in rows)
    return min(PORTION, LENGTH // (longest + 1) + 1)


@dataclass(frozen=True, slots=True)
class Shape:
    """A table: its columns in order, and those of its key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def listed(self) -> str:
        return ", ".join(f'"{column}"' for column in self.columns)

    @property
    def select(self) -> str:
        order = ", ".join(f'"{column}"' for column in self.key)
        return f'SELECT {self.listed} FROM "{self.name}" ORDER BY {order}'  # noqa: S608 - names of our own schema


def shapes() -> list[Shape]:
    """Every table, those that others point at first."""
    from storage.schema import metadata

    return [
        Shape(table.name, tuple(table.columns.keys()), tuple(column.name for column in table.primary_key.columns))
        for table in metadata.sorted_tables
    ]


@dataclass(frozen=True, slots=True)
class Copied:
    """How many rows of each table."""

    rows: dict[str, int]


class Side(Protocol):
    def read(self, shape: Shape) -> AsyncGenerator[list[Values]]:
        """All rows, some at a time, in the order of their key."""
        ...

    async def write(self, shape: Shape, rows: list[Values]) -> None: ...

    async def last_row(self) -> int:
        """The highest number that an outbox row ever had: none is given out twice."""
        ...

    async def go_on_from(self, row: int) -> None: ...

    async def commit(self) -> None: ...


async def copy(source: str, target: str) -> Copied:
    """Copy everything into an empty database. Raises `StoreUnavailable`, and then nothing was written."""
    if named(source) == named(target):
        raise StoreUnavailable(f"{named(source)} can not be copied onto itself. Name another target.")
    async with AsyncExitStack() as stack:
        origin: Side = await stack.enter_async_context(_opened(source))
        await upgrade(target)
        copy: Side = await stack.enter_async_context(_opened(target, writing=True))
        for shape in shapes():
            async with aclosing(copy.read(shape)) as portions:  # left open, it would outlive its connection
                async for _ in portions:
                    raise StoreUnavailable(
                        f"{named(target)} is not empty: there are rows in {shape.name}. Copy into a new database."
                    )
        counted, taken = {}, {}
        for shape in shapes():
            counted[shape.name], taken[shape.name] = await _copied(origin, copy, shape)
        await copy.go_on_from(await origin.last_row())
        for shape in shapes():
            if await _digest(copy.read(shape)) != taken[shape.name]:
                raise StoreUnavailable(
                    f"the rows of {shape.name} did not arrive in {named(target)} as they were. Nothing was copied; "
                    "please report this."
                )
        await copy.commit()
    return Copied(counted)


async def _copied(origin: Side, copy: Side, shape: Shape) -> tuple[int, str]:
    digest, count = sha256(), 0
    async for rows in origin.read(shape):
        for row in rows:
            digest.update(_written(row))
        count += len(rows)
        await copy.write(shape, rows)
    return count, digest.hexdigest()


async def _digest(portions: AsyncIterator[list[Values]]) -> str:
    digest = sha256()
    async for rows in portions:
        for row in rows:
            digest.update(_written(row))
    return digest.hexdigest()


def _written(row: Values) -> bytes:
    """Texts, whole numbers and None look the same from both databases; JSON would take twice as long."""
    return repr(tuple(row)).encode("utf-8", "surrogatepass")


@asynccontextmanager
async def _opened(url: str, *, writing: bool = False) -> AsyncIterator[Side]:
    from storage import ready

    await ready(url)
    if is_postgres(url):
        from storage.copy_postgres import opened

        async with opened(url, writing=writing) as side:
            yield side
    else:
        async with _sqlite(file(url), writing=writing) as side:
            yield side


@asynccontextmanager
async def _sqlite(path: Path, *, writing: bool) -> AsyncIterator[Side]:
    import sqlite3

    from storage.errors import unavailable
    from storage.lane import connect

    connection = None
    try:
        connection = await connect(path)
        connection.row_factory = None
        begin = ("PRAGMA synchronous = FULL", "BEGIN IMMEDIATE") if writing else ("BEGIN",)
        for statement in begin:
            await connection.execute_fetchall(statement)
        yield _Sqlite(connection)
    except sqlite3.Error as error:
        raise unavailable(error, str(path)) from error
    finally:
        if connection is not None:
            await connection.close()  # what was not committed is rolled back


class _Sqlite:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def read(self, shape: Shape) -> AsyncGenerator[list[Values]]:
        cursor = await self._connection.execute(shape.select)
        count = FEW
        try:
            while rows := await cursor.fetchmany(count):
                count = next_portion(rows)
                yield rows
                del rows  # or they would be held beside the next ones
        finally:
            await cursor.close()

    async def write(self, shape: Shape, rows: Iterable[Values]) -> None:
        marks = ", ".join("?" * len(shape.columns))
        put = f'INSERT INTO "{shape.name}" ({shape.listed}) VALUES ({marks})'  # noqa: S608 - as above
        await self._connection.executemany(put, rows)

    async def last_row(self) -> int:
        found = await self._connection.execute_fetchall("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'")
        return int(next(iter(found))[0]) if found else 0

    async def go_on_from(self, row: int) -> None:
        await self._connection.execute_fetchall("DELETE FROM sqlite_sequence WHERE name = 'outbox'")
        await self._connection.execute_fetchall("INSERT INTO sqlite_sequence VALUES ('outbox', ?)", (row,))

    async def commit(self) -> None:
        await self._connection.execute_fetchall("COMMIT")
