"""Waking the loops: rung after a commit that gives them something to do, so that nobody polls an idle database."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import datetime
from typing import Literal

from bot.ports import Clock

LONGEST = 60.0  # seconds


What = Literal["messages", "timers"]
ANYTHING: tuple[What, ...] = ("messages", "timers")


class Bell:
    """Rings for everybody who listens. A ring that nobody has heard yet is kept, never counted."""

    def __init__(self) -> None:
        self._listeners: dict[asyncio.Event, Collection[What]] = {}

    def ring(self, what: Collection[str] = ANYTHING) -> None:
        """There is something of these to do, or there may be."""
        for event, wanted in self._listeners.items():
            if not event.is_set() and any(one in what for one in wanted):
                event.set()

    def listen(self, *what: What) -> asyncio.Event:
        """A flag of one's own, for these or for anything.

        Clear it *before* looking for work: a ring during the look is then not lost.
        """
        event = asyncio.Event()
        self._listeners[event] = what or ANYTHING
        return event

    def leave(self, event: asyncio.Event) -> None:
        self._listeners.pop(event, None)


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
