"""Where Telegram delivers to: setting it, and seeing to it that nobody else has set another address.

A poller that is started with the same token takes the webhook down, and a second deployment points it elsewhere;
either leaves this process deaf without a sound. So it is looked at every few minutes and set again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import structlog
from telegram import WebhookInfo
from telegram.error import RetryAfter, TelegramError

from adapters.telegram.attendance import Attendance
from adapters.telegram.bot import TelegramBot
from adapters.telegram.codec import WANTED
from adapters.telegram.webhook import PATH
from bot.faults import report
from bot.ports import Clock

CONNECTIONS = 40  # deliveries that Telegram may make at once; its default
LONGEST_PAUSE = 30.0
LOOK_EVERY = timedelta(minutes=5)
LONGEST_LOOK = timedelta(hours=1)  # between two looks while somebody else keeps taking it
PATIENCE = timedelta(minutes=10)  # for what waits at Telegram after a gap, before it is said that some is lost
TICK = 60.0  # seconds
TAKEN = "The webhook of this bot's token was set or removed by another program"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Webhook:
    url: str
    secret: str

    @property
    def address(self) -> str:
        """With our path, where only a host was given."""
        return self.url if urlsplit(self.url).path.strip("/") else self.url.rstrip("/") + PATH


def pause_after(error: TelegramError, failures: int) -> float:
    """Seconds before another try."""
    if isinstance(error, RetryAfter):
        wait = error.retry_after
        return float(wait) if isinstance(wait, int) else wait.total_seconds()
    return min(LONGEST_PAUSE, 2.0 ** min(failures, 6) / 2)


class Hook:
    """`state`: "setting", "set", or "taken" by somebody else until it is set again."""

    def __init__(self, bot: TelegramBot, webhook: Webhook, attendance: Attendance, clock: Clock) -> None:
        self._bot, self._webhook, self._attendance, self._clock = bot, webhook, attendance, clock
        self._every = LOOK_EVERY
        self._looked: datetime | None = None
        self.state = "setting"

    async def run(self) -> None:
        """Until cancelled. A failure ends a look, never the loop."""
        begun, failures = False, 0
        while True:
            try:
                if not begun:
                    await self._attendance.begin()
                    begun = True
                if self.state != "set":
                    await self._set()
                failures = 0
                await self.look()
                await self._clock.sleep(TICK)
            except TelegramError as error:
                failures += 1
                log.warning("webhook_not_set", error=type(error).__name__)
                await self._clock.sleep(pause_after(error, failures))
            except Exception as error:  # noqa: BLE001 - the store may be back at the next look
                failures += 1
                report("webhook_watch_failed", error)
                await self._clock.sleep(min(LONGEST_PAUSE, 2.0 ** min(failures, 6) / 2))

    async def look(self) -> None:
        """Note that we are here; every few minutes, and after a gap, see how the webhook stands."""
        now = self._clock.now()
        await self._attendance.look_back()
        # abs: a clock that was set back is no reason to wait until the old time comes again.
        if self._looked is None or self._attendance.gap is not None or abs(now - self._looked) >= self._every:
            self._looked = now
            info = await self._bot.get_webhook_info()
            if info.url != self._webhook.address:
                await self._taken()
            else:
                self._every = LOOK_EVERY
                await self._tell(info, now)
        await self._attendance.note(None)

    async def _taken(self) -> None:
        self.state = "taken"
        log.warning("webhook_taken", what=TAKEN)
        await self._attendance.conflict(TAKEN)
        await self._set()
        self._every = min(LONGEST_LOOK, self._every * 2)  # two that take it from each other do so less and less

    async def _tell(self, info: WebhookInfo, now: datetime) -> None:
        """Once what was kept for us has been delivered: what was answered in it is not asked for again."""
        gap = self._attendance.gap
        if gap is not None and (info.pending_update_count == 0 or now - gap[1] > PATIENCE):
            await self._attendance.tell()

    async def _set(self) -> None:
        await self._bot.set_webhook(
            self._webhook.address,
            secret_token=self._webhook.secret,
            allowed_updates=WANTED,
            max_connections=CONNECTIONS,
        )
        if self.state != "set":
            log.info("webhook_set", path=urlsplit(self._webhook.address).path)
        self.state = "set"
