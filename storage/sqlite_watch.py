"""Noticing that another program has written to the file: `askfirst retry`, say, can not ring the bell of `serve`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from bot.faults import report
from storage.records import Ring

LOOK = 5.0  # seconds; whoever has typed a command waits for it


class Watch:
    """Looks at the log's file, which costs nothing, and asks the database only where that has changed.

    `version` is of the one connection that writes here: it changes when another one has committed
    (sqlite.org/pragma.html#pragma_data_version).
    """

    def __init__(self, path: Path, version: Callable[[], Awaitable[int]], ring: Ring) -> None:
        self._log = path.with_name(f"{path.name}-wal")
        self._version = version
        self._ring = ring
        self._task = asyncio.create_task(self._run(), name="watch")

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        seen, known = self._mark(), await self._asked()
        while True:
            await asyncio.sleep(LOOK)
            mark = self._mark()
            if mark == seen:
                continue
            version = await self._asked()
            if version is None:  # asked again at the next look, though nothing be written until then
                continue
            if version != known:
                self._ring()
            seen, known = mark, version

    def _mark(self) -> tuple[int, int] | None:
        try:
            found = self._log.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    async def _asked(self) -> int | None:
        try:
            return await self._version()
        except Exception as error:  # noqa: BLE001 - without it nobody would be woken again
            report("watch_failed", error)
            return None
