"""The Telegram adapter with everything around it, on the fake Bot API server, in one process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from telegram.request import HTTPXRequest

from adapters.telegram.attendance import Attendance
from adapters.telegram.bot import TelegramBot
from adapters.telegram.cards import Cards
from adapters.telegram.codec import WANTED
from adapters.telegram.hearing import Hearing
from adapters.telegram.hook import Hook, Webhook
from adapters.telegram.intake import Intake
from adapters.telegram.pace import pace_of
from adapters.telegram.places import Moves
from adapters.telegram.polling import Polling
from adapters.telegram.transport import TelegramTransport
from adapters.telegram.webhook import webhook_route
from bot.outbox import Outbox
from bot.pace import Pacer
from bot.runner import Decide, Runner
from bot.timers import Timers
from tests.fakes.clock import ManualClock
from tests.fakes.store import FakeStore
from tests.fakes.telegram import TelegramServer
from tests.fakes.toy import toy

SECRET = "tell-nobody"
HOOK = "https://bot.example/telegram/webhook"


class Rig:
    """`style`: polling or webhook. Made with `rig()`; a second one on the same server and store is a restart."""

    def __init__(
        self,
        bot: TelegramBot,
        me: Any,
        moves: Moves,
        server: TelegramServer,
        store: Any,
        clock: Any,
        *,
        style: str = "polling",
        decide: Decide = toy,
        new_id: Callable[[], str] | None = None,
        paced: bool = False,
        transport: type[TelegramTransport] = TelegramTransport,
    ) -> None:
        self.bot, self.me, self.moves = bot, me, moves
        self.server, self.store, self.clock, self.style = server, store, clock, style
        more = {} if new_id is None else {"new_id": new_id}
        self.runner = Runner(store, decide, clock, **more)
        cards, hearing, pacer = Cards(store), Hearing(bot, me), Pacer() if paced else None
        self.transport = transport(
            bot, me, moves, clock, cards, hearing, lambda old, new: self.intake.moved(old, new), pacer
        )
        paces = {"telegram": pace_of(moves)} if paced else None
        sends = {"telegram": self.transport}
        self.outbox = Outbox(store, self.runner, sends, clock, jitter=lambda: 1.0, paces=paces, pacer=pacer)
        self.timers = Timers(store, self.runner, clock)
        self.intake = Intake(bot, me, moves, store, self.runner, clock, self.transport, cards, hearing)
        self.attendance = Attendance(me, store, self.runner, clock)
        self.runner.troubles["telegram"] = self.attendance.troubles
        self.polling = Polling(bot, self.intake, self.attendance, clock, timeout=0, jitter=lambda: 1.0)
        self.hook = Hook(bot, Webhook(HOOK, SECRET), self.attendance, clock)
        self.app = Starlette(routes=[webhook_route(self.intake, SECRET)])

    async def open(self) -> None:
        await self.intake.recall()
        if self.style == "polling":
            await self.polling.begin()
        else:
            await self.bot.set_webhook(HOOK, secret_token=SECRET, allowed_updates=WANTED)
            self.server.webhook.answer_with(self.app)

    async def hear(self) -> None:
        """Everything that waits on the server; a failure ends it, as one look or one delivery."""
        if self.style == "polling":
            while await self.polling.look():
                pass
        else:
            await self.server.webhook.deliver()
        await self.intake.finish()

    async def settle(self) -> None:
        """Hear, ring and send until there is nothing to do."""
        await self.hear()
        await self.timers.fire_due()
        await self.outbox.drain()


@asynccontextmanager
async def rig(
    server: TelegramServer | None = None, store: Any = None, clock: Any = None, **more: Any
) -> AsyncIterator[Rig]:
    clock = clock or (server.clock if server else ManualClock(auto=True))
    server = server or TelegramServer(clock, privacy=False)
    ways = [HTTPXRequest(httpx_kwargs={"transport": server.transport()}) for _ in range(2)]
    bot = TelegramBot(server.token, server.base_url, (ways[0], ways[1]))
    await bot.open()
    try:
        moves = Moves()
        made = Rig(bot, await bot.who(moves), moves, server, store or FakeStore(), clock, **more)
        await made.open()
        yield made
        await made.intake.finish()
    finally:
        await bot.close_connections()
