"""Waking the loops: rung after each commit, so that nobody has to poll an idle database."""

from __future__ import annotations

import asyncio
from datetime import datetime

from bot.ports import Clock

LONGEST = 60.0  # seconds


class Bell:
    """Rings for everybody who listens. A ring that nobody has heard yet is kept, never counted."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Event] = set()

    def ring(self) -> None:
        for event in self._listeners:
            event.set()

    def listen(self) -> asyncio.Event:
        """A flag of one's own. Clear it *before* looking for work: a ring during the look is then not lost."""
        event = asyncio.Event()
        self._listeners.add(event)
        return event

    def leave(self, event: asyncio.Event) -> None:
        self._listeners.discard(event)


async def heard_or_due(heard: asyncio.Event, clock: Clock, due: datetime | None, *, least: float = 0.0) -> None:
    """Return at a ring or when `due` has come; with neither, wait for the ring alone.

    `least` is the shortest wait for a moment that has already passed: something is due that this loop can not
    take (another loop's timer, a row that another worker holds), and looking again at once would spin. The longest is
    `LONGEST`: the clock may be set meanwhile.
    """
    if heard.is_set():
        return
    if due is None:
        await heard.wait()
        return
    ring = asyncio.ensure_future(heard.wait())
    wait = min(LONGEST, max(least, (due - clock.now()).total_seconds()))
    sleep = asyncio.ensure_future(clock.sleep(wait))
    try:
        await asyncio.wait((ring, sleep), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiter in (ring, sleep):
            waiter.cancel()
        await asyncio.gather(ring, sleep, return_exceptions=True)
