"""Long polling that loses nothing: the offset moves after the commit, and what was not committed comes again.

The library's own poller confirms a batch before it is handled. One poller a token: a second one gets 409.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import structlog
from telegram.error import Conflict, InvalidToken, RetryAfter, TelegramError

from adapters.telegram.attendance import Attendance
from adapters.telegram.bot import TelegramBot
from adapters.telegram.codec import queue_of
from adapters.telegram.http import why
from adapters.telegram.intake import Intake
from bot.faults import report
from bot.ports import Clock

TIMEOUT = 25  # seconds; at most 50 are honoured
LIMIT = 100
QUIET = timedelta(days=6)  # after a week without updates ids begin anew: core.telegram.org/bots/api#update
LONGEST_PAUSE = 30.0
CONFLICT_PAUSE = 60.0
RIVAL = "Another program polls Telegram with this bot's token; only one may"
HOOK = "A webhook is set for this bot's token, by another program"

log = structlog.get_logger(__name__)


class Polling:
    def __init__(
        self,
        bot: TelegramBot,
        intake: Intake,
        attendance: Attendance,
        clock: Clock,
        *,
        timeout: int = TIMEOUT,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._bot = bot
        self._intake = intake
        self._attendance = attendance
        self._clock = clock
        self._timeout = timeout
        self._jitter = jitter
        self.offset: int | None = None
        self.state = "starting"

    async def begin(self) -> None:
        """Go on where the last run stopped, and notice a gap in which messages were lost."""
        await self._attendance.begin()
        self.offset = self._attendance.offset
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
            except Conflict as error:
                failures += 1
                what = HOOK if "webhook" in error.message.casefold() else RIVAL
                self._now("conflict", what=what)
                await self._conflict(what)
                await self._pause(min(CONFLICT_PAUSE, 5.0 * 2 ** min(failures, 6)))
            except RetryAfter as error:
                wait = error.retry_after
                await self._pause(wait.total_seconds() if isinstance(wait, timedelta) else float(wait))
            except InvalidToken:
                self._now("token refused")
                await self._pause(CONFLICT_PAUSE)
            except TelegramError as error:
                failures += 1
                self._now("unreachable", error=why(error))
                await self._pause(min(LONGEST_PAUSE, 2.0 ** min(failures, 6) / 2))
            except Exception as error:  # noqa: BLE001 - the loop survives and comes back to the same update
                failures += 1
                report("polling_failed", error)
                self._now("failing")
                await self._pause(min(LONGEST_PAUSE, 2.0 ** min(failures, 6) / 2))

    async def look(self) -> int:
        """One call, and everything in it handled; how many updates there were."""
        # After a start or a failure without waiting, so that it is known at once whether all is well.
        seconds = self._timeout if self.state == "polling" and self._attendance.gap is None else 0
        heard = self._attendance.heard
        if await self._attendance.look_back() or (heard is not None and self._clock.now() - heard > QUIET):
            self.offset = None
        updates = await self._bot.raw_updates(self.offset, seconds, LIMIT)
        try:
            await self._handle(updates)
        finally:
            await self._attendance.note(self.offset, news=bool(updates))
        if len(updates) < LIMIT:  # what was answered within the day is heard first, and is not asked for again
            await self._attendance.tell()
        return len(updates)

    async def _conflict(self, what: str) -> None:
        try:
            await self._attendance.conflict(what)
        except Exception as error:  # noqa: BLE001 - only a note
            report("conflict_not_noted", error)

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

    def _now(self, state: str, **facts: str) -> None:
        if state != self.state:
            self.state = state
            tell = log.info if state == "polling" else log.warning
            tell("telegram_" + state.replace(" ", "_"), **facts)

    async def _pause(self, seconds: float) -> None:
        await self._clock.sleep(seconds * (0.5 + self._jitter() / 2))
