"""One worker at a time: where a platform speaks to one listener only, the others wait for their turn."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta

from bot.faults import log, report
from bot.ports import Clock, Store, StoreUnavailable

TURN = timedelta(seconds=10)  # a worker that died keeps the others waiting for no longer
LOOKS = 4  # in the length of a turn: whether it is ours, and while it is, to renew it


class Turn:
    """Runs `work` while it has the turn. Whoever dies, or can not reach the database, loses it."""

    def __init__(
        self,
        what: str,
        owner: str,
        work: Callable[[], Awaitable[None]],
        store: Store,
        clock: Clock,
        length: timedelta = TURN,
    ) -> None:
        self._length = length
        self._look = length / LOOKS
        self._what = what
        self._owner = owner
        self._work = work
        self._store = store
        self._clock = clock
        self._working: asyncio.Future[None] | None = None

    @property
    def ours(self) -> bool:
        return self._working is not None

    async def run(self) -> None:
        """Until cancelled; then the turn is given away at once."""
        until = self._clock.now()
        try:
            while True:
                now = self._clock.now()
                if await self._take(now):
                    until = now + self._length
                    self._begin()
                elif self._working is not None and now >= until - self._look:
                    await self._end()  # before another one may begin
                await self._rest()
        finally:
            had = self._working is not None
            await self._end()
            if had:
                with suppress(StoreUnavailable):
                    await self._store.end_turn(self._what, self._owner)

    async def _take(self, now: datetime) -> bool:
        try:
            return await self._store.take_turn(self._what, self._owner, now, now + self._length)
        except StoreUnavailable as error:
            report("turn_not_taken", error, at=self._what)
            return False

    async def _rest(self) -> None:
        """A pause, cut short when the work ends by itself: it never does, unless it has failed."""
        if self._working is None:
            await self._clock.sleep(self._look.total_seconds())
            return
        pause = asyncio.ensure_future(self._clock.sleep(self._look.total_seconds()))
        try:
            await asyncio.wait((pause, self._working), return_when=asyncio.FIRST_COMPLETED)
        finally:
            pause.cancel()
        if self._working.done():
            self._working.result()

    def _begin(self) -> None:
        if self._working is None:
            log.info("turn_begun", at=self._what)
            self._working = asyncio.ensure_future(self._work())

    async def _end(self) -> None:
        working, self._working = self._working, None
        if working is not None:
            log.info("turn_ended", at=self._what)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
