"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class ManualClock:
    """`sleep` waits until `advance` has passed its moment; with `auto` it moves the clock itself and goes on."""

    def __init__(self, start: datetime = START, *, auto: bool = False) -> None:
        self._now = start
        self._auto = auto
        self._sleepers: list[tuple[datetime, asyncio.Future[None]]] = []
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self._now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self._auto or seconds <= 0:
            self._now += timedelta(seconds=max(0.0, seconds))
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._now + timedelta(seconds=seconds), future))
        await future

    def advance(self, by: timedelta | float) -> None:
        self._now += by if isinstance(by, timedelta) else timedelta(seconds=by)
        for until, future in self._sleepers:
            if until <= self._now and not future.done():
                future.set_result(None)
        self._sleepers = [(until, future) for until, future in self._sleepers if not future.done()]

    @property
    def sleeping(self) -> int:
        return sum(not future.done() for _, future in self._sleepers)


async def until(condition: Callable[[], object], turns: int = 2000) -> None:
    """Let other tasks run until a condition holds; bounded, without real time."""
    for _ in range(turns):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("the condition never came true")


async def eventually(condition: Callable[[], object]) -> None:
    """Wait, in bounded real time, for something that another thread brings about."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - what is waited for does not know that it is
            await asyncio.sleep(0.001)


async def turns(count: int = 50) -> None:
    """Let other tasks have their turns, to show that nothing more happens."""
    for _ in range(count):
        await asyncio.sleep(0)
