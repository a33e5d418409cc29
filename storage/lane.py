"""A lane: one connection, its thread, and what waits for it.

A call into aiosqlite's thread costs about as much as a small commit, so everything that is asked while the thread is
busy is run together in the next hop (`storage.batches`), in the order in which it was asked for.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from storage.batches import Batches
from storage.errors import unavailable
from storage.queries import as_dict

T = TypeVar("T")
Result = Any | BaseException
# Does all of a hop's jobs on the connection's thread. One result each; an exception is the job's own failure.
Runner = Callable[[sqlite3.Connection, Sequence[Any]], Sequence[Result]]


class _Connection(sqlite3.Connection):
    """A connection whose `commit` does one prepared piece of work.

    aiosqlite runs each of sqlite3's methods in a hop of its own. `commit` is a public method without arguments, which
    makes it a door to the thread: what is in `work` is done there, in one hop.
    """

    work: Callable[[], None] | None = None

    def commit(self) -> None:
        work, self.work = self.work, None
        if work is None:
            super().commit()
        else:
            work()


class Lane:
    """Opened with `open_lane`. `ask` returns when the job has been done, even where the caller was cancelled."""

    def __init__(self, connection: aiosqlite.Connection, raw: _Connection, run: Runner, path: Path) -> None:
        self._connection = connection
        self._raw = raw
        self._run = run
        self._path = path
        self._batches = Batches(self._hop, str(path))

    async def ask(self, job: Any) -> Any:
        return await self._batches.ask(job)

    async def close(self) -> None:
        """Finish what waits, then close. Ends aiosqlite's thread, which would otherwise keep the program alive."""
        try:
            await self._batches.finish()
        finally:
            await self._connection.close()

    async def _hop(self, jobs: list[Any]) -> Sequence[Result]:
        done: list[Sequence[Result]] = []

        def work() -> None:
            done.append(self._run(self._raw, jobs))

        self._raw.work = work
        try:
            await self._connection.commit()
        except sqlite3.Error as error:
            return [unavailable(error, str(self._path)) for _ in jobs]  # each caller its own: they get tracebacks
        return done[0]


def address(path: Path) -> str:
    """The file for `sqlite3.connect(uri=True)`. Never created here: only a migration does that."""
    return f"{path.absolute().as_uri()}?mode=rw"


async def connect(path: Path, **options: Any) -> aiosqlite.Connection:
    """Connect to an existing file. Rows are dicts; transactions are written out (sqlite3 begins DEFERRED ones)."""
    connecting = aiosqlite.connect(address(path), uri=True, isolation_level=None, **options)
    # aiosqlite's thread keeps the interpreter alive when a program fails without closing its store. It may end with
    # the program: what was not committed was not acknowledged. SQLAlchemy reaches in for the same reason.
    thread: threading.Thread | None = getattr(connecting, "_thread", None)
    if thread is not None:
        thread.daemon = True
    connection = await connecting
    connection.row_factory = as_dict  # type: ignore[assignment]
    return connection


async def open_lane(path: Path, run: Runner, settings: Sequence[str], busy: float) -> Lane:
    """Connect to an existing file. `busy` is how long, in seconds, to wait for another program's write."""
    opened: list[_Connection] = []

    def factory(*args: Any, **options: Any) -> _Connection:
        raw = _Connection(*args, **options)
        opened.append(raw)
        return raw

    try:
        connection = await connect(path, factory=factory, timeout=busy)
    except sqlite3.Error as error:
        raise unavailable(error, str(path)) from error
    try:
        for setting in settings:
            await connection.execute_fetchall(setting)
    except sqlite3.Error as error:
        await connection.close()
        raise unavailable(error, str(path)) from error
    return Lane(connection, opened[0], run, path)
