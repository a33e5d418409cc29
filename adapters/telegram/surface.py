"""Telegram as a part of the running program: transport, ingress, routes and what to say about their health."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence

import structlog
from starlette.routing import Route
from telegram.error import InvalidToken, TelegramError

from adapters.telegram.attendance import Attendance
from adapters.telegram.bot import TelegramBot, keep_token_out_of_logs
from adapters.telegram.cards import Cards
from adapters.telegram.files import TelegramFiles
from adapters.telegram.hearing import Hearing
from adapters.telegram.hook import Hook, Webhook, pause_after
from adapters.telegram.http import why
from adapters.telegram.intake import Intake
from adapters.telegram.menus import Menu, set_menus
from adapters.telegram.pace import pace_of
from adapters.telegram.places import PLATFORM, Me, Moves
from adapters.telegram.polling import Polling
from adapters.telegram.transport import TelegramTransport
from adapters.telegram.webhook import webhook_route
from bot.pace import Pace, Pacer
from bot.ports import Clock, Store
from bot.runner import Runner

ME = f"{PLATFORM}:me:"  # and its id: who the bot is, for commands that run without asking Telegram

log = structlog.get_logger(__name__)


class TokenRefused(Exception):
    """Telegram does not know the token. The message says what to do, and not the token."""


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
                log.warning("telegram_unreachable", error=why(error))
                await clock.sleep(pause_after(error, failures))
    except BaseException:
        await bot.close_connections()
        raise


class TelegramSurface:
    """Built once the store is open. `run` takes updates until it is cancelled; `finish` ends what is under way."""

    platform = PLATFORM

    def __init__(
        self,
        connection: TelegramConnection,
        store: Store,
        runner: Runner,
        clock: Clock,
        webhook: Webhook | None,
        pacer: Pacer | None = None,
    ) -> None:
        bot, me, moves = connection.bot, connection.me, connection.moves
        self._bot, self._me, self._clock, self._webhook = bot, me, clock, webhook
        cards, hearing = Cards(store), Hearing(bot, me)
        self.transport = TelegramTransport(bot, me, moves, clock, cards, hearing, self._moved, pacer)
        self.intake = Intake(bot, me, moves, store, runner, clock, self.transport, cards, hearing)
        self.attendance = Attendance(me, store, runner, clock)
        self.polling = None if webhook else Polling(bot, self.intake, self.attendance, clock)
        self.hook = Hook(bot, webhook, self.attendance, clock) if webhook else None
        self._store = store
        self._menus: Sequence[Menu] = ()
        runner.troubles[PLATFORM] = self.attendance.troubles
        self.alone = webhook is None  # a second poller gets 409
        self.pace: Pace = pace_of(moves)
        self.files = TelegramFiles(bot)

    @property
    def routes(self) -> Sequence[Route]:
        return [webhook_route(self.intake, self._webhook.secret)] if self._webhook else []

    async def prepare(self, wanted: Sequence[Menu]) -> None:
        """What was learned before. The menus are set beside the work: people are heard without them."""
        await self.intake.recall()
        await self._store.keep(f"{ME}{self._me.id}", json.dumps({"id": self._me.id, "username": self._me.username}))
        self._menus = wanted

    async def run(self) -> None:
        setting = asyncio.ensure_future(set_menus(self._bot, self._me.id, self._store, self._clock, self._menus))
        try:
            await (self.polling or self.hook).run()  # type: ignore[union-attr]
        finally:
            setting.cancel()
            await asyncio.gather(setting, return_exceptions=True)

    async def finish(self) -> None:
        await self.intake.finish()

    def status(self) -> Mapping[str, object]:
        """For /readyz. `ready` means: updates come in."""
        if self.polling is not None:
            ways: dict[str, object] = {"by": "polling", "state": self.polling.state}
            ready = self.polling.state == "polling"
        else:
            assert self.hook is not None
            ways, ready = {"by": "webhook", "state": self.hook.state}, self.hook.state == "set"
        if self.attendance.away is not None:
            ways["away_hours"] = round(self.attendance.away.total_seconds() / 3600, 1)
        privacy = {"privacy_mode": not self._me.reads_all, "parked": self.intake.parked}
        return {"ready": ready, "bot": self._me.username, **ways, **privacy}

    async def _moved(self, old: int, new: int) -> None:
        await self.intake.moved(old, new)
