"""A lane: one connection, its thread, and what waits for it.

A call into aiosqlite's thread costs about as much as a small commit, so everything that is asked while the thread is
busy is run together in the next hop. The jobs of a hop run in the order in which they were asked for.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from bot.ports import StoreUnavailable
from storage.errors import unavailable
from storage.queries import as_dict

T = TypeVar("T")
Result = Any | BaseException
# Does all of a hop's jobs on the connection's thread. One result each; an exception is the job's own failure.
Runner = Callable[[sqlite3.Connection, Sequence[Any]], Sequence[Result]]

LARGEST_HOP = 256  # jobs; a few milliseconds of work, so that nobody waits long behind a crowd


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
        self._waiting: list[tuple[Any, asyncio.Future[Any]]] = []
        self._wake = asyncio.Event()
        self._closing = False
        self._task = asyncio.create_task(self._serve(), name=f"lane {path}")

    async def ask(self, job: Any) -> Any:
        """Have a job done in the next hop.

        The caller waits behind a shield: when it is cancelled the job is still done. "Cancelled" never means
        "not written".
        """
        if self._closing:
            raise StoreUnavailable(f"the database {self._path} has been closed")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_seen)
        self._waiting.append((job, future))
        self._wake.set()
        return await asyncio.shield(future)

    async def close(self) -> None:
        """Finish what waits, then close. Ends aiosqlite's thread, which would otherwise keep the program alive."""
        self._closing = True
        self._wake.set()
        try:
            await asyncio.shield(self._task)
        finally:
            await self._connection.close()

    async def _serve(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                taken, self._waiting = self._waiting[:LARGEST_HOP], self._waiting[LARGEST_HOP:]
                results = await self._hop([job for job, _ in taken])
                for (_, future), result in zip(taken, results, strict=True):
                    if isinstance(result, BaseException):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
                # Let the callers ask again before the next hop, so that it carries all of them.
                await asyncio.sleep(0)
            if self._closing:
                return

    async def _hop(self, jobs: list[Any]) -> Sequence[Result]:
        done: list[Sequence[Result]] = []

        def work() -> None:
            done.append(self._run(self._raw, jobs))

        self._raw.work = work
        try:
            await self._connection.commit()
        except sqlite3.Error as error:
            return [unavailable(error, str(self._path)) for _ in jobs]  # each caller its own: they get tracebacks
        except Exception as error:  # noqa: BLE001 - the callers must hear of it, and the lane must go on
            return [error] * len(jobs)
        return done[0]


def _seen(future: asyncio.Future[Any]) -> None:
    """Mark a failure as noticed: its caller may have been cancelled."""
    if not future.cancelled():
        future.exception()


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
