"""The platforms of `askfirst serve`, as they answer: one that can not be reached holds up none of the others.

What is there after `WAIT` seconds is served. When another one answers later, serving pauses for a moment and goes on
with it: what people did meanwhile waits at their platform, as it does during any restart.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType

import structlog

from bot.cli.platforms import Connect, Connected
from bot.ports import Clock

WAIT = 10.0  # seconds that the first to answer waits for the others

log = structlog.get_logger(__name__)


class Connecting:
    """`platforms` by name. Closes at its end whatever has answered."""

    def __init__(self, platforms: Mapping[str, Connect], clock: Clock) -> None:
        self._platforms = platforms
        self._clock = clock
        self._tasks: dict[str, asyncio.Task[Connected]] = {}
        self._news = asyncio.Event()  # somebody has answered, or was refused

    async def __aenter__(self) -> Connecting:
        for name, one in self._platforms.items():
            self._tasks[name] = asyncio.create_task(self._connect(one), name=name)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks.values():
            task.cancel()
        for result in await asyncio.gather(*self._tasks.values(), return_exceptions=True):
            if isinstance(result, Connected):
                await result.close()

    async def some(self, stop: asyncio.Event) -> Sequence[Connected]:
        """Those that have answered: all, or at least one after a while; none when it was asked to stop.

        A refused token ends it for all: better now than half.
        """
        late = False
        while not stop.is_set():
            self._news.clear()
            there = self._there()
            if len(there) == len(self._tasks):
                return there
            if there and late:
                log.warning("serving_without", missing=self.missing())
                return there
            late = await self._nothing_new(stop, WAIT if there else None)
        return ()

    @asynccontextmanager
    async def more(self, stop: asyncio.Event) -> AsyncIterator[asyncio.Event]:
        """An event for when to pause: asked to stop, or another platform has answered since `some`."""
        pause = asyncio.Event()
        waiting = asyncio.create_task(self._until_news(stop, pause))
        try:
            yield pause
        finally:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    def missing(self) -> list[str]:
        """Those that have not answered yet."""
        return [name for name, task in self._tasks.items() if not task.done()]

    def all_but(self, served: Collection[str]) -> list[str]:
        """Those that are not served: not answered yet, or answered a moment ago."""
        return [name for name in self._tasks if name not in served]

    async def _connect(self, one: Connect) -> Connected:
        try:
            return await one()
        finally:
            self._news.set()  # not by a callback: it would come once the task has already been seen to be done

    async def _until_news(self, stop: asyncio.Event, pause: asyncio.Event) -> None:
        await self._nothing_new(stop, None)
        pause.set()

    async def _nothing_new(self, stop: asyncio.Event, seconds: float | None) -> bool:
        """Wait for news or for the word to stop, at most so long; whether the time is over without."""
        waiting: list[asyncio.Future[object]] = [asyncio.ensure_future(stop.wait())]
        waiting.append(asyncio.ensure_future(self._news.wait()))
        if seconds is not None:
            waiting.append(asyncio.ensure_future(self._clock.sleep(seconds)))
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waiting:
                one.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        return not stop.is_set() and not self._news.is_set()

    def _there(self) -> list[Connected]:
        """Raises what a platform has refused."""
        return [task.result() for task in self._tasks.values() if task.done()]
