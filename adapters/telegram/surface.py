"""Telegram as a part of the running program: transport, ingress, routes and what to say about their health."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import structlog
from starlette.routing import Route
from telegram import BotCommand
from telegram.error import InvalidToken, RetryAfter, TelegramError

from adapters.telegram.bot import TelegramBot, keep_token_out_of_logs
from adapters.telegram.codec import WANTED
from adapters.telegram.intake import Intake
from adapters.telegram.pace import pace_of
from adapters.telegram.places import PLATFORM, Me, Moves
from adapters.telegram.polling import Polling
from adapters.telegram.transport import TelegramTransport
from adapters.telegram.webhook import PATH, webhook_route
from bot.pace import Pace
from bot.ports import Clock, Store
from bot.runner import Runner

CONNECTIONS = 40  # deliveries that Telegram may make at once; its default
LONGEST_PAUSE = 30.0

log = structlog.get_logger(__name__)


class TokenRefused(Exception):
    """Telegram does not know the token. The message says what to do, and not the token."""


@dataclass(frozen=True, slots=True)
class Webhook:
    url: str
    secret: str

    @property
    def address(self) -> str:
        """With our path, where only a host was given."""
        return self.url if urlsplit(self.url).path.strip("/") else self.url.rstrip("/") + PATH


class TelegramConnection:
    """A bot that has answered who it is. Nothing else of the program is needed for that."""

    def __init__(self, bot: TelegramBot, me: Me, moves: Moves) -> None:
        self.bot, self.me, self.moves = bot, me, moves

    async def close(self) -> None:
        await self.bot.close_connections()


async def connect(token: str, base_url: str | None, clock: Clock) -> TelegramConnection:
    """Ask until Telegram answers; only a refused token ends it."""
    keep_token_out_of_logs()
    bot, moves = TelegramBot(token, base_url), Moves()
    await bot.open()
    failures = 0
    try:
        while True:
            try:
                return TelegramConnection(bot, await bot.who(moves), moves)
            except InvalidToken:
                raise TokenRefused(
                    "Telegram refuses the bot token. Copy it anew from @BotFather into ASKFIRST_TELEGRAM__TOKEN."
                ) from None
            except TelegramError as error:
                failures += 1
                log.warning("telegram_unreachable", error=type(error).__name__)
                await clock.sleep(_pause(error, failures))
    except BaseException:
        await bot.close_connections()
        raise


def _pause(error: TelegramError, failures: int) -> float:
    if isinstance(error, RetryAfter):
        wait = error.retry_after
        return float(wait) if isinstance(wait, int) else wait.total_seconds()
    return min(LONGEST_PAUSE, 2.0 ** min(failures, 6) / 2)


class TelegramSurface:
    """Built once the store is open. `run` takes updates until it is cancelled; `finish` ends what is under way."""

    platform = PLATFORM

    def __init__(
        self, connection: TelegramConnection, store: Store, runner: Runner, clock: Clock, webhook: Webhook | None
    ) -> None:
        bot, me, moves = connection.bot, connection.me, connection.moves
        self._bot, self._me, self._clock, self._webhook = bot, me, clock, webhook
        self.transport = TelegramTransport(bot, me, moves, clock, self._moved)
        self.intake = Intake(bot, me, moves, store, runner, self.transport)
        self.polling = None if webhook else Polling(bot, me, self.intake, store, clock)
        self._hooked = False
        self.alone = webhook is None  # a second poller gets 409
        self.pace: Pace = pace_of(moves)

    @property
    def routes(self) -> Sequence[Route]:
        return [webhook_route(self.intake, self._webhook.secret)] if self._webhook else []

    async def prepare(self, commands: Sequence[tuple[str, str]]) -> None:
        """What was learned before, and the menu of commands. Neither has to succeed for people to be heard."""
        await self.intake.recall()
        with suppress(TelegramError):
            await self._bot.set_my_commands([BotCommand(name, words) for name, words in commands])

    async def run(self) -> None:
        if self.polling is not None:
            await self.polling.run()
            return
        failures = 0
        while not self._hooked:
            failures += 1
            self._hooked = await self._set_webhook(failures)
        await asyncio.Event().wait()

    async def finish(self) -> None:
        await self.intake.finish()

    def status(self) -> Mapping[str, object]:
        """For /readyz. `ready` means: updates come in."""
        if self.polling is not None:
            ways: dict[str, object] = {"by": "polling", "state": self.polling.state}
            ready = self.polling.state == "polling"
            if self.polling.away is not None:
                ways["away_hours"] = round(self.polling.away.total_seconds() / 3600, 1)
        else:
            ways, ready = {"by": "webhook", "state": "set" if self._hooked else "setting"}, self._hooked
        privacy = {"privacy_mode": not self._me.reads_all, "parked": self.intake.parked}
        return {"ready": ready, "bot": self._me.username, **ways, **privacy}

    async def _set_webhook(self, failures: int) -> bool:
        assert self._webhook is not None
        try:
            await self._bot.set_webhook(
                self._webhook.address,
                secret_token=self._webhook.secret,
                allowed_updates=WANTED,
                max_connections=CONNECTIONS,
            )
        except TelegramError as error:
            log.warning("webhook_not_set", error=type(error).__name__)
            await self._clock.sleep(_pause(error, failures))
            return False
        log.info("webhook_set", path=urlsplit(self._webhook.address).path)
        return True

    async def _moved(self, old: int, new: int) -> None:
        await self.intake.moved(old, new)
