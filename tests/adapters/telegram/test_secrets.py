"""The bot token is in every address, and in no log."""

from __future__ import annotations

import logging

import httpx
import pytest
from telegram.error import TelegramError
from telegram.request import HTTPXRequest

from adapters.telegram.bot import TelegramBot, keep_token_out_of_logs
from adapters.telegram.errors import named
from bot.faults import trace_of

TOKEN = "123456:AAsecretsecretsecret"


def page(request: httpx.Request) -> httpx.Response:
    """As some proxies answer: the address that failed, for people to read."""
    return httpx.Response(502, html=f"<p>Bad gateway: {request.url}</p>")


def lost(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError(f"can not connect to {request.url}", request=request)


def strange(request: httpx.Request) -> httpx.Response:
    raise httpx.LocalProtocolError(f"illegal address {request.url}", request=request)


@pytest.mark.parametrize("answer", [page, lost, strange])
async def test_no_failure_shows_it(
    answer: object, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """httpx at INFO, the library's own complaints, the words and the trace of what we report."""
    keep_token_out_of_logs()
    caplog.set_level(logging.DEBUG)
    ways = [HTTPXRequest(httpx_kwargs={"transport": httpx.MockTransport(answer)}) for _ in range(2)]  # type: ignore[arg-type]
    bot = TelegramBot(TOKEN, None, (ways[0], ways[1]))
    await bot.open()
    try:
        with pytest.raises(TelegramError) as caught:
            await bot.send_message(1, "words")
        told = f"{named(caught.value)} {trace_of(caught.value)}"
    finally:
        await bot.close_connections()
    out, err = capfd.readouterr()
    secret = TOKEN.partition(":")[2]
    assert secret not in told + caplog.text + out + err + repr(bot)
