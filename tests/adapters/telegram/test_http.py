"""The connections to the Bot API, over real sockets: what is lost, late or no answer at all, and never the token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from telegram import InputFile
from telegram.error import BadRequest, InvalidToken, NetworkError, RetryAfter, TelegramError, TimedOut

from adapters.telegram.bot import TelegramBot, keep_token_out_of_logs
from adapters.telegram.http import Connections, why
from adapters.telegram.places import Moves
from tests.fakes.telegram import Person, TelegramServer, WallClock


@dataclass
class Line:
    server: TelegramServer
    bot: TelegramBot
    ana: Person
    base: str

    async def say(self, text: str = "hi", **more: Any) -> int:
        return await self.bot.post_text("sendMessage", chat_id=self.ana.id, text=text, **more)


@pytest.fixture
async def line() -> AsyncIterator[Line]:
    keep_token_out_of_logs()
    server = TelegramServer(WallClock())
    async with server.serve() as base:
        bot = TelegramBot(server.token, base, (Connections(1, 0.5), Connections(4, 0.5)))
        await bot.open()
        yield Line(server, bot, server.person("Ana", started=True), base)
        await bot.close_connections()


async def test_a_host_that_is_not_found_is_told_in_words_without_the_address(line: Line) -> None:
    """Names under .invalid are never found: RFC 2606."""
    lost = TelegramBot(line.server.token, "http://bot-api.invalid/bot", (Connections(1, 5), Connections(4, 5)))
    await lost.open()
    try:
        with pytest.raises(NetworkError) as refused:
            await lost.who(Moves())
    finally:
        await lost.close_connections()
    assert why(refused.value) == "the name of the host is not found: see the name service"
    assert why(NetworkError(f"Bad Gateway: /bot{line.server.token}/getMe")) == "NetworkError"


async def test_calls_go_through_with_everything_in_them(line: Line) -> None:
    number = await line.say("😀 ü <b>", link_preview_options={"is_disabled": True})
    assert line.ana.chat.messages[number].text == "😀 ü <b>"
    file = InputFile("ü".encode(), filename="année 1.md")
    await line.bot.send_document(chat_id=line.ana.id, document=file, caption="x")
    sent = line.ana.chat.last
    assert (sent.file, sent.content["document"]["file_name"]) == ("ü".encode(), "année 1.md")
    line.ana.say("hello")
    [update] = await line.bot.raw_updates(None, 1, 100)
    assert update["message"]["text"] == "hello"


@pytest.mark.parametrize(
    ("trouble", "name"),
    [
        (lambda faults: faults.lose(taken=False), NetworkError),
        (lambda faults: faults.lose(taken=True), NetworkError),
        (lambda faults: faults.lose(taken=True, timeout=True), TimedOut),
        (lambda faults: faults.garbage(), NetworkError),
        (lambda faults: faults.fail(500), NetworkError),
        (lambda faults: faults.fail(400, "Bad Request: chat not found"), BadRequest),
        (lambda faults: faults.limit(3), RetryAfter),
    ],
)
async def test_trouble_has_the_librarys_names_and_no_token(
    line: Line, trouble: Any, name: type[TelegramError], caplog: pytest.LogCaptureFixture
) -> None:
    trouble(line.server.faults)
    with pytest.raises(name) as caught:
        await line.say()
    seen = f"{caught.value!r} {caught.value.__cause__!r} {caplog.text}"
    assert line.server.token.partition(":")[2] not in seen
    assert "Traceback" not in caplog.text
    assert await line.say("again")


async def test_nobody_there(line: Line) -> None:
    for base in ("http://127.0.0.1:1/bot", "http://nowhere.invalid/bot", "http://[/bot"):
        bot = TelegramBot(line.server.token, base, (Connections(1, 0.5), Connections(1, 0.5)))
        await bot.open()
        with pytest.raises(NetworkError) as caught:
            await bot.get_me()
        assert line.server.token.partition(":")[2] not in f"{caught.value!r} {caught.value.__cause__!r}"
        await bot.close_connections()
        with pytest.raises(NetworkError):
            await bot.get_me()


async def test_a_wrong_token_is_told_from_trouble(line: Line) -> None:
    bot = TelegramBot("1:wrong", line.base)
    await bot.open()
    with pytest.raises(InvalidToken):
        await bot.get_me()
    await bot.close_connections()


async def test_more_calls_than_connections_wait_for_each_other(line: Line) -> None:
    numbers = await asyncio.gather(*(line.say(f"{n}") for n in range(40)))
    assert len(set(numbers)) == 40
