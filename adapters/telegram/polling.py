"""Long polling that loses nothing: the offset moves after the commit, and what was not committed comes again.

The library's own poller confirms a batch before it is handled. One poller a token: a second one gets 409.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from telegram.error import Conflict, InvalidToken, RetryAfter, TelegramError

from adapters.telegram.bot import TelegramBot
from adapters.telegram.codec import queue_of
from adapters.telegram.intake import Intake
from adapters.telegram.places import PLATFORM, Me
from bot.faults import report
from bot.ports import Clock, Store

TIMEOUT = 25  # seconds; at most 50 are honoured
LIMIT = 100
KEPT_FOR = timedelta(hours=24)  # how long Telegram keeps messages: core.telegram.org/bots/api#getting-updates
NOTE_EVERY = timedelta(minutes=1)  # of quiet
LONGEST_PAUSE = 30.0
CONFLICT_PAUSE = 60.0

log = structlog.get_logger(__name__)


class Polling:
    def __init__(
        self,
        bot: TelegramBot,
        me: Me,
        intake: Intake,
        store: Store,
        clock: Clock,
        *,
        timeout: int = TIMEOUT,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._bot = bot
        self._intake = intake
        self._store = store
        self._clock = clock
        self._timeout = timeout
        self._jitter = jitter
        self._key = f"{PLATFORM}:read:{me.id}"
        self._noted: datetime | None = None
        self.offset: int | None = None
        self.state = "starting"
        self.away: timedelta | None = None  # longer than Telegram keeps messages: some may be lost

    async def begin(self) -> None:
        """Go on where the last run stopped, and notice a gap in which messages were lost."""
        kept = (await self._store.kept(self._key)).get(self._key)
        if kept is not None:
            note = json.loads(kept)
            gap = self._clock.now() - datetime.fromisoformat(note["at"])
            if gap <= KEPT_FOR:
                self.offset = note["offset"]  # an older one may be wrong: after a week ids begin anew
            else:
                self.away = gap
                log.warning("away_too_long", hours=round(gap / timedelta(hours=1), 1))
        await self._bot.delete_webhook(drop_pending_updates=False)

    async def run(self) -> None:
        """Look until cancelled. A failure ends a look, never the loop."""
        begun, failures = False, 0
        while True:
            try:
                if not begun:
                    await self.begin()
                    begun = True
                await self.look()
                failures = 0
                self._now("polling")
            except Conflict:
                failures += 1
                self._now("conflict")
                await self._pause(min(CONFLICT_PAUSE, 5.0 * 2 ** min(failures, 6)))
            except RetryAfter as error:
                wait = error.retry_after
                await self._pause(wait.total_seconds() if isinstance(wait, timedelta) else float(wait))
            except InvalidToken:
                self._now("token refused")
                await self._pause(CONFLICT_PAUSE)
            except TelegramError as error:
                failures += 1
                self._now("unreachable", error=type(error).__name__)
                await self._pause(min(LONGEST_PAUSE, 2.0 ** min(failures, 6) / 2))
            except Exception as error:  # noqa: BLE001 - the loop survives and comes back to the same update
                failures += 1
                report("polling_failed", error)
                self._now("failing")
                await self._pause(min(LONGEST_PAUSE, 2.0 ** min(failures, 6) / 2))

    async def look(self) -> int:
        """One call, and everything in it handled; how many updates there were."""
        # After a start or a failure without waiting, so that it is known at once whether all is well.
        seconds = self._timeout if self.state == "polling" else 0
        updates = await self._bot.raw_updates(self.offset, seconds, LIMIT)
        try:
            await self._handle(updates)
        finally:
            await self._note(bool(updates))
        return len(updates)

    async def _handle(self, updates: Sequence[Any]) -> None:
        """Side by side over chats, in order within one. The offset moves up to the first that failed."""
        queues: dict[Any, list[Any]] = {}
        for raw in updates:
            queues.setdefault(queue_of(raw) if isinstance(raw, dict) else None, []).append(raw)
        done: set[int] = set()
        looking = (self._in_order(queue, done) for queue in queues.values())
        results = await asyncio.gather(*looking, return_exceptions=True)
        for raw in updates:
            if id(raw) not in done:
                break
            if isinstance(raw, dict) and isinstance(raw.get("update_id"), int):
                self.offset = raw["update_id"] + 1
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _in_order(self, queue: Sequence[Any], done: set[int]) -> None:
        for raw in queue:
            await self._intake.take(raw)
            done.add(id(raw))

    async def _note(self, news: bool) -> None:
        """Where we are and when, so that a restart goes on here and knows how long it was away."""
        now = self._clock.now()
        if news or self._noted is None or now - self._noted >= NOTE_EVERY:
            await self._store.keep(self._key, json.dumps({"offset": self.offset, "at": now.isoformat()}))
            self._noted = now

    def _now(self, state: str, **facts: str) -> None:
        if state != self.state:
            self.state = state
            tell = log.info if state == "polling" else log.warning
            hint = {"what": "another program polls with this token; only one may"} if state == "conflict" else {}
            tell("telegram_" + state.replace(" ", "_"), **facts, **hint)

    async def _pause(self, seconds: float) -> None:
        await self._clock.sleep(seconds * (0.5 + self._jitter() / 2))
