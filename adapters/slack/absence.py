"""When payloads were last heard, and reading what was said since: after a gap, a restart, or a start at which Slack
was not there yet.

The note in the store moves on only when everything before it has been read: a kill in the middle, or a Slack that
answers late, leaves the gap to the next try.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from datetime import datetime, timedelta

from adapters.slack.history import Channel, History
from adapters.slack.places import PLATFORM
from bot.faults import report
from bot.ports import Clock, Store

HEARD = f"{PLATFORM}:heard:"
LONGEST_GAP = timedelta(days=7)
NOTE_EVERY = 30.0  # seconds
LONGEST_PAUSE = 600.0  # seconds between two tries at what could not be read


class Absence:
    """`hears` tells whether payloads can come in at present."""

    def __init__(self, team: str, history: History, store: Store, clock: Clock, hears: Callable[[], bool]) -> None:
        self._key, self._history, self._store, self._clock = HEARD + team, history, store, clock
        self._hears = hears
        self._unread: datetime | None = None  # what was said since then may not have been read
        self._back = asyncio.Event()

    def over(self, since: datetime | None) -> None:
        """Payloads come in again; everything up to `since` was heard, or nothing is known of a gap."""
        if since is not None:
            self._unread = since if self._unread is None else min(since, self._unread)
        self._back.set()

    async def run(self) -> None:
        kept = (await self._store.kept(self._key)).get(self._key)  # by the last run, before this one notes anything
        if kept is not None:
            self._unread = datetime.fromisoformat(kept)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._note(), name="slack-note")
            group.create_task(self._catch_up(), name="slack-history")

    async def _note(self) -> None:
        """When we were last there, so that a restart knows how long it was away."""
        while True:
            await self._clock.sleep(NOTE_EVERY)
            if self._hears():
                await self._keep(self._clock.now())

    async def _keep(self, now: datetime) -> None:
        at = now if self._unread is None else min(now, self._unread)
        try:
            await self._store.keep(self._key, at.isoformat())
        except Exception as error:  # noqa: BLE001 - an older note only makes the next reading longer
            report("slack_presence_not_noted", error)

    async def _catch_up(self) -> None:
        while True:
            await self._back.wait()
            self._back.clear()
            await self._read()
            await self._keep(self._clock.now())

    async def _read(self) -> None:
        """Until all of it is read. A gap that comes meanwhile is read with it, from its beginning."""
        only: Collection[Channel] | None = None
        pause = 15.0
        while (since := self._unread) is not None:
            since = max(since, self._clock.now() - LONGEST_GAP)
            try:
                only = await self._history.read(since, only)
            except Exception as error:  # noqa: BLE001 - the store; it may be back the next time
                report("slack_history_failed", error)
            else:
                if not only:
                    if self._back.is_set():  # another gap: everything once more
                        self._back.clear()
                        only = None
                        continue
                    self._unread = None
                    return
            await self._clock.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 2)
            if self._back.is_set():
                self._back.clear()
                only = None
