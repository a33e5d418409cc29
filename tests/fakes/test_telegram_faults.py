"""Misbehaviour on request, through python-telegram-bot as a bot meets it, in process and over a socket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from telegram import Bot
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TimedOut,
)
from telegram.request import HTTPXRequest

from tests.fakes.telegram import Person, Refusal, TelegramServer

Server = TelegramServer


@pytest.fixture(params=["in process", "on a port"])
async def bot(request: pytest.FixtureRequest, server: Server) -> AsyncIterator[Any]:
    async with contextlib.AsyncExitStack() as stack:
        if request.param == "in process":
            made = server.bot()
        else:
            url = await stack.enter_async_context(server.serve())
            made = Bot(server.token, base_url=url, request=HTTPXRequest(read_timeout=0.2))
        yield await stack.enter_async_context(made)


async def test_python_telegram_bot_talks_to_it(server: Server, ana: Person, bot: Any) -> None:
    ana.say("hello")
    assert [u.message.text for u in await bot.get_updates()] == ["hello"]
    sent = await bot.send_message(ana.id, "hi")
    await bot.send_document(ana.id, b"# a", filename="ä b.md", caption="take", reply_to_message_id=sent.message_id)
    last = ana.chat.last
    assert (last.file, last.content["document"]["file_name"], last.reply_to.id) == (b"# a", "ä b.md", sent.message_id)


async def test_a_limit_names_the_seconds(
    server: Server, ana: Person, bot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PTB_TIMEDELTA", "true")
    server.faults.limit(7, chat=ana.id)
    with pytest.raises(RetryAfter) as limited:
        await bot.send_message(ana.id, "hi")
    assert limited.value.retry_after.total_seconds() == 7
    await bot.send_message(ana.id, "hi")
    assert [(c.code, c.taken) for c in server.history.of("sendMessage")] == [(429, False), (200, True)]


@pytest.mark.parametrize(("taken", "copies"), [(False, 0), (True, 1)])
async def test_a_lost_connection_says_nothing_of_the_deed(
    server: Server, ana: Person, bot: Any, taken: bool, copies: int
) -> None:
    server.faults.lose(taken=taken)
    with pytest.raises(NetworkError) as lost:
        await bot.send_message(ana.id, "hi")
    assert not isinstance(lost.value, TimedOut)
    assert len(ana.chat.posts) == copies
    server.faults.lose(taken=taken, timeout=True, method="sendMessage")
    with pytest.raises(TimedOut):
        await bot.send_message(ana.id, "hi")
    assert len(ana.chat.posts) == 2 * copies
    assert [(c.code, c.taken) for c in server.history.of("sendMessage")] == [(0, taken)] * 2


@pytest.mark.parametrize(
    ("code", "error"),
    [(500, NetworkError), (502, NetworkError), (403, Forbidden), (400, BadRequest), (401, InvalidToken)],
)
async def test_refusals(server: Server, ana: Person, bot: Any, code: int, error: type[Exception]) -> None:
    server.faults.fail(code, method="sendMessage", times=2)
    for _ in range(2):
        with pytest.raises(error):
            await bot.send_message(ana.id, "hi")
    await bot.send_message(ana.id, "hi")
    server.faults.garbage()
    with pytest.raises(NetworkError):
        await bot.get_me()


async def test_trouble_for_ever_spares_polling_unless_it_is_named(server: Server, ana: Person) -> None:
    server.faults.fail(500, times=-1)
    for _ in range(3):
        with pytest.raises(Refusal, match="500 Internal Server Error"):
            await server.call("sendMessage", chat_id=ana.id, text="x")
        assert await server.call("getUpdates") == []
    server.faults.clear()
    await server.call("sendMessage", chat_id=ana.id, text="x")


async def test_a_lost_batch_comes_again(server: Server, ana: Person, bot: Any) -> None:
    ana.say("hello")
    server.faults.lose(method="getUpdates", taken=True)
    with pytest.raises(NetworkError):
        await bot.get_updates()
    assert len(await bot.get_updates()) == 1


async def test_409_and_migration(server: Server, ana: Person, bot: Any) -> None:
    server.updates.rival = True
    with pytest.raises(Conflict):
        await bot.get_updates()
    group = server.group("Crew", ana)
    new = server.migrate(group)
    with pytest.raises(ChatMigrated) as moved:
        await bot.send_message(group.id, "hi")
    assert moved.value.new_chat_id == new.id


async def test_a_slow_answer(server: Server, ana: Person, bot: Any) -> None:
    before = server.faults.hold(method="sendMessage")
    sending = asyncio.create_task(bot.send_message(ana.id, "hi", read_timeout=9))
    await before.reached()
    assert ana.chat.posts == []
    before.open()
    await sending
    after = server.faults.hold(method="sendMessage", taken=True)
    sending = asyncio.create_task(bot.send_message(ana.id, "ho", read_timeout=9))
    await after.reached()
    assert ana.chat.texts == ["hi", "ho"]
    assert not sending.done()
    after.open()
    await sending


async def test_a_batch_with_a_malformed_update(server: Server, ana: Person, bot: Any) -> None:
    ana.say("1")
    server.updates.malformed()
    with pytest.raises((AttributeError, TypeError, KeyError)):
        await bot.get_updates()


async def test_a_wrong_token(server: Server) -> None:
    assert await server.handle("1:WRONG", "getMe", {}) == (
        401,
        {"ok": False, "error_code": 401, "description": "Unauthorized"},
    )
    assert (await server.handle("nonsense", "getMe", {}))[0] == 404


async def test_a_flood_lasts_as_long_as_it_says(server: Server, ana: Person, ben: Person) -> None:
    ben.say("hi")
    server.faults.flood(200, chat=ana.id)
    server.clock.advance(150.5)  # type: ignore[attr-defined]
    with pytest.raises(Refusal, match="retry after 50"):
        await server.call("sendMessage", chat_id=ana.id, text="x")
    await server.call("sendMessage", chat_id=ben.id, text="x")
    server.clock.advance(50)  # type: ignore[attr-defined]
    await server.call("sendMessage", chat_id=ana.id, text="x")
    server.faults.fail(500)
    server.faults.clear()
    await server.call("getMe")


async def test_the_pace_is_seen(server: Server, ana: Person) -> None:
    """FAQ: one message a second in a chat, 20 a minute in a group; edits count too."""
    group = server.group("Crew", ana)
    made = await server.call("sendMessage", chat_id=ana.id, text="0")
    server.clock.advance(1)  # type: ignore[attr-defined]
    await server.call("editMessageText", chat_id=ana.id, message_id=made["message_id"], text="1")
    assert server.history.pace() == []
    await server.call("sendMessage", chat_id=ana.id, text="2")
    assert server.history.pace() == [f"chat {ana.id}: 2 within 1 s at 2026-03-02T09:00:01+00:00"]
    for n in range(21):
        server.clock.advance(2)  # type: ignore[attr-defined]
        await server.call("sendMessage", chat_id=group.id, text=str(n))
    assert [line.partition(" within")[0] for line in server.history.pace()[1:]] == [f"group {group.id}: 21"]


async def test_the_pace_can_be_enforced(server: Server, ana: Person) -> None:
    server.enforce_pace = True
    group = server.group("Crew", ana)
    await server.call("sendMessage", chat_id=ana.id, text="0")
    with pytest.raises(Refusal, match="retry after 1"):
        await server.call("sendMessage", chat_id=ana.id, text="1")
    for n in range(20):
        server.clock.advance(1)  # type: ignore[attr-defined]
        await server.call("sendMessage", chat_id=group.id, text=str(n))
    server.clock.advance(1)  # type: ignore[attr-defined]
    with pytest.raises(Refusal, match="retry after 40"):
        await server.call("sendMessage", chat_id=group.id, text="x")
    assert server.history.pace() == []
