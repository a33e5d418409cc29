"""getUpdates and webhooks: order, confirmation, what is kept for how long."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.fakes.clock import until
from tests.fakes.telegram import Person, Refusal, TelegramServer

Server = TelegramServer
ADDRESS = "https://bot.example/hook"


async def poll(server: Server, **how: Any) -> list[str]:
    updates = await server.call("getUpdates", **how)
    return [next(iter(set(u) - {"update_id"})) if "message" not in u else u["message"]["text"] for u in updates]


class Bot:
    """The bot's end of a webhook."""

    def __init__(self, server: Server) -> None:
        self.got: list[Any] = []
        self.secrets: list[str | None] = []
        self.status: list[int] = []  # answers in order; then 200
        self.headers: dict[str, str] = {}
        self.reply: Any = None
        self.gate: asyncio.Event | None = None
        server.webhook.answer_with(Starlette(routes=[Route("/hook", self.hear, methods=["POST"])]))

    async def hear(self, request: Request) -> Response:
        body = await request.json()
        if self.gate is not None:
            await self.gate.wait()
        self.secrets.append(request.headers.get("x-telegram-bot-api-secret-token"))
        status = self.status.pop(0) if self.status else 200
        self.got.append((body["update_id"] - 900_000_000, status))
        return JSONResponse(self.reply, status) if self.reply else Response("", status, self.headers)


# -- polling -----------------------------------------------------------------------------------------------------


async def test_an_offset_confirms_what_is_below_it(server: Server, ana: Person) -> None:
    for n in range(3):
        ana.say(str(n))
    assert await poll(server) == ["0", "1", "2"]
    assert await poll(server, limit=2) == ["0", "1"]
    assert await poll(server, offset=900_000_002) == ["1", "2"]
    assert await poll(server) == ["1", "2"]
    assert await poll(server, offset=900_000_004) == []
    assert await poll(server) == []


async def test_a_negative_offset_keeps_the_last(server: Server, ana: Person) -> None:
    for n in range(4):
        ana.say(str(n))
    assert await poll(server, offset=-1) == ["3"]
    assert await poll(server) == ["3"]


async def test_a_batch_has_a_hundred_at_most(server: Server, ana: Person) -> None:
    for n in range(120):
        ana.say(str(n))
    assert len(await poll(server, limit=500)) == 100


async def test_a_long_poll_wakes_up(server: Server, ana: Person) -> None:
    waiting = asyncio.create_task(poll(server, timeout=50))
    await until(lambda: server.updates.waited_for)
    ana.say("hello")
    assert await waiting == ["hello"]


async def test_a_bot_that_polls_without_pause_can_be_stopped(server: Server) -> None:
    """In process nothing would ever wait; the server gives the others their turn, as a network does."""

    async def greedy() -> None:
        async with server.bot() as bot:
            while True:
                await bot.get_updates()

    task = asyncio.create_task(greedy())
    await until(lambda: server.updates.polls > 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_long_poll_ends_with_nothing(server: Server) -> None:
    waiting = asyncio.create_task(poll(server, timeout=30))
    await until(lambda: server.updates.waited_for)
    server.clock.advance(30)  # type: ignore[attr-defined]
    assert await waiting == []


async def test_a_second_poller_ends_the_first(server: Server, ana: Person) -> None:
    first = asyncio.create_task(poll(server, timeout=50))
    await until(lambda: server.updates.waited_for)
    ana_waits = asyncio.create_task(poll(server, timeout=50))
    with pytest.raises(
        Refusal, match="409 Conflict: terminated by other getUpdates request; make sure that only one"
    ):
        await first
    ana.say("hello")
    assert await ana_waits == ["hello"]
    server.updates.rival = True
    with pytest.raises(Refusal, match="409 Conflict"):
        await poll(server)


async def test_a_webhook_ends_polling(server: Server) -> None:
    first = asyncio.create_task(poll(server, timeout=50))
    await until(lambda: server.updates.waited_for)
    await server.call("setWebhook", url=ADDRESS)
    with pytest.raises(Refusal, match="terminated by setWebhook request"):
        await first
    with pytest.raises(Refusal, match="can't use getUpdates method while webhook is active"):
        await poll(server)
    await server.call("deleteWebhook")
    assert await poll(server) == []


async def test_messages_are_kept_a_day_and_presses_150_seconds(server: Server, ana: Person) -> None:
    markup = {"inline_keyboard": [[{"text": "A", "callback_data": "a"}]]}
    await server.call("sendMessage", chat_id=ana.id, text="x", reply_markup=markup)
    ana.say("hello")
    ana.press("A")
    assert await poll(server) == ["hello", "callback_query"]
    server.clock.advance(151)  # type: ignore[attr-defined]
    assert await poll(server) == ["hello"]
    server.clock.advance(86400)  # type: ignore[attr-defined]
    assert await poll(server) == []
    assert (await server.call("getWebhookInfo"))["pending_update_count"] == 0


async def test_allowed_updates_hold_until_they_are_changed(server: Server, ana: Person) -> None:
    await poll(server, allowed_updates=["message"])
    said = ana.say("one")
    ana.edit(said, "two")
    assert await poll(server) == ["one"]
    await poll(server, allowed_updates=[])
    ana.edit(said, "three")
    assert server.updates.last.kind == "edited_message"


async def test_the_same_offset_again_is_slowed_when_asked_for(server: Server, ana: Person) -> None:
    server.updates.slow_repeats = True
    await poll(server)
    waiting = asyncio.create_task(poll(server))
    await until(lambda: server.updates.waited_for)
    server.clock.advance(3)  # type: ignore[attr-defined]
    assert await waiting == []


async def test_updates_again_malformed_and_overtaken(server: Server, ana: Person) -> None:
    first, second = ana.say("1").update, ana.say("2").update
    server.updates.overtake(first, second)
    assert await poll(server) == ["2", "1"]
    assert await poll(server, offset=second.id + 2) == []
    server.updates.again(first)
    assert await poll(server) == ["1"]
    server.updates.malformed()
    raw = await server.call("getUpdates")
    assert [u["message"].get("chat") is None for u in raw] == [False, True]


# -- webhooks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"url": "http://bot.example/hook"}, "bad webhook: An HTTPS URL must be provided for webhook"),
        (
            {"url": "https://bot.example:8080/"},
            "bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443",
        ),
        ({"url": ADDRESS, "secret_token": "a b"}, "secret token contains unallowed characters"),
        ({"url": ADDRESS, "secret_token": "x" * 257}, "secret token is too long"),
    ],
)
async def test_a_webhook_that_can_not_be(server: Server, how: dict[str, str], why: str) -> None:
    with pytest.raises(Refusal) as refused:
        await server.call("setWebhook", **how)
    assert refused.value.description == f"Bad Request: {why}"


async def test_set_webhook_once_a_second(server: Server) -> None:
    await server.call("setWebhook", url=ADDRESS)
    with pytest.raises(Refusal, match="429"):
        await server.call("setWebhook", url=ADDRESS)
    server.clock.advance(1)  # type: ignore[attr-defined]
    await server.call("setWebhook", url=ADDRESS, max_connections=3)
    assert (await server.call("getWebhookInfo"))["max_connections"] == 3


async def test_a_webhook_confirms_with_any_2xx_and_shows_the_secret(server: Server, ana: Person) -> None:
    bot = Bot(server)
    await server.call("setWebhook", url=ADDRESS, secret_token="s3cret")
    ana.say("1")
    bot.status = [204]
    await server.webhook.deliver()
    assert (bot.got, bot.secrets) == ([(1, 204)], ["s3cret"])
    assert await server.webhook.deliver() == []


async def test_a_failure_stops_its_own_queue_only(server: Server, ana: Person, ben: Person) -> None:
    bot = Bot(server)
    await server.call("setWebhook", url=ADDRESS)
    for person in (ana, ben, ana, ben):
        person.say("x")
    bot.status = [500]
    await server.webhook.deliver()
    assert bot.got == [(1, 500), (2, 200), (4, 200)]
    await server.webhook.deliver()  # the first time again at once
    assert bot.got[3:] == [(1, 200), (3, 200)]
    info = await server.call("getWebhookInfo")
    assert info["last_error_message"] == "Wrong response from the webhook: 500"


async def test_the_waits_between_tries_double(server: Server, ana: Person) -> None:
    bot = Bot(server)
    await server.call("setWebhook", url=ADDRESS)
    update = ana.say("x").update
    waits = []
    for _ in range(9):
        bot.status = [500]
        await server.webhook.deliver()
        waits.append((update.next_try - server.clock.now()).total_seconds())
        assert await server.webhook.deliver() == [] if waits[-1] else True
        server.clock.advance(waits[-1])  # type: ignore[attr-defined]
    assert waits[1:7] == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0] or 60 <= waits[6] <= 120
    assert all(60 <= wait <= 120 for wait in waits[7:])
    bot.status, bot.headers = [429], {"Retry-After": "7"}
    await server.webhook.deliver()
    assert (update.next_try - server.clock.now()).total_seconds() == 7


async def test_410_for_23_hours_closes_the_webhook(server: Server, ana: Person) -> None:
    bot = Bot(server)
    await server.call("setWebhook", url=ADDRESS)
    ana.say("x")
    for _ in range(13):
        bot.status = [410]
        await server.webhook.deliver()
        server.clock.advance(7200)  # type: ignore[attr-defined]
        ana.say("y")
    assert (await server.call("getWebhookInfo"))["url"] == ""


async def test_a_press_and_a_message_overtake_each_other(server: Server, ana: Person) -> None:
    bot = Bot(server)
    await server.call("setWebhook", url=ADDRESS)
    markup = {"inline_keyboard": [[{"text": "A", "callback_data": "a"}]]}
    await server.call("sendMessage", chat_id=ana.id, text="x", reply_markup=markup)
    said, press = ana.say("1: B"), ana.press("A")
    await server.webhook.deliver(ana, ana.chat)
    assert bot.got == [(2, 200), (1, 200)]
    attempts = await server.webhook.deliver(said, press)  # once more, though they were confirmed
    assert [a.confirmed for a in attempts] == [True, True]


async def test_a_dead_bot_and_an_answer_with_a_method(server: Server, ana: Person) -> None:
    await server.call("setWebhook", url=ADDRESS)
    update = ana.say("x").update

    async def dead(*_: Any) -> None:
        raise OSError("no")

    server.webhook.answer_with(dead)
    assert [a.confirmed for a in await server.webhook.deliver()] == [False]
    bot = Bot(server)
    bot.reply = {"method": "sendMessage"}
    await server.webhook.deliver(update)
    assert server.webhook.answers == [{"method": "sendMessage"}]
    await server.webhook.close()


async def test_delivery_for_ever_keeps_its_limit_and_its_order(server: Server) -> None:
    bot = Bot(server)
    bot.gate = asyncio.Event()
    await server.call("setWebhook", url=ADDRESS, max_connections=3)
    people = [server.person(str(n)) for n in range(5)]
    running = asyncio.create_task(server.webhook.run())
    for person in people * 2:
        person.say("x")
    await until(lambda: server.webhook.at_once == 3)
    bot.gate.set()
    await until(lambda: len(bot.got) == 10)
    assert server.webhook.most_at_once == 3
    order = [number for number, _ in bot.got]
    assert all(order.index(n) < order.index(n + 5) for n in range(1, 6))
    bot.status = [500, 500]
    people[0].say("y")
    await until(lambda: len(bot.got) == 12 and server.clock.sleeping)  # type: ignore[attr-defined]
    server.clock.advance(2)  # type: ignore[attr-defined]
    await until(lambda: bot.got[-1] == (11, 200))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert json.dumps(server.updates.last.json())
