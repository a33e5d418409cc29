"""The platforms of `askfirst serve`, as they answer: one that can not be reached holds up none of the others.

What is there after `WAIT` seconds is served. When another one answers later, serving pauses for a moment and goes on
with it: what people did meanwhile waits at their platform, as it does during any restart.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from types import TracebackType

import structlog

from bot.cli.platforms import Connect, Connected

WAIT = 10.0  # seconds that the first to answer waits for the others

log = structlog.get_logger(__name__)


class Connecting:
    """Closes at its end whatever has answered."""

    def __init__(self, platforms: Sequence[Connect]) -> None:
        self._platforms = platforms
        self._tasks: list[asyncio.Task[Connected]] = []

    async def __aenter__(self) -> Connecting:
        self._tasks = [asyncio.ensure_future(_connect(one)) for one in self._platforms]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        for result in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(result, Connected):
                await result.close()

    async def some(self, stop: asyncio.Event) -> Sequence[Connected]:
        """Those that have answered: all, or at least one after a while; none when it was asked to stop.

        A refused token ends it for all: better now than half.
        """
        stopping = asyncio.ensure_future(stop.wait())
        try:
            late = False
            while not stopping.done() and not all(task.done() for task in self._tasks):
                there = self._there()
                if there and late:
                    log.warning("serving_without", missing=len(self._tasks) - len(there))
                    break
                waiting = {stopping, *(task for task in self._tasks if not task.done())}
                timeout = WAIT if there else None
                done, _ = await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
                late = not done
        finally:
            stopping.cancel()
        return () if stop.is_set() else self._there()

    @asynccontextmanager
    async def more(self, stop: asyncio.Event) -> AsyncIterator[asyncio.Event]:
        """An event for when to pause: asked to stop, or another platform has answered."""
        pause = asyncio.Event()
        missing = [task for task in self._tasks if not task.done()]
        for task in missing:
            task.add_done_callback(lambda _: pause.set())
        stopping = asyncio.ensure_future(_passed_on(stop, pause))
        try:
            yield pause
        finally:
            stopping.cancel()

    def _there(self) -> list[Connected]:
        """Raises what a platform has refused."""
        return [task.result() for task in self._tasks if task.done()]


async def _connect(one: Connect) -> Connected:
    return await one()


async def _passed_on(stop: asyncio.Event, pause: asyncio.Event) -> None:
    await stop.wait()
    pause.set()
