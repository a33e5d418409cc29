"""Update in → commit in a SQLite file → reply out, by webhook and by polling, on one Bot API server for both.

The floor is a bare python-telegram-bot echo bot (`Application`, its updater or the webhook handler of its manual),
which stores nothing and answers each message with the same words. Ours goes through an intake: it stores what was
said, redraws its card and sends its echo. Messages come from many chats, so that no pace is measured.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Literal

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from telegram import Update
from telegram.ext import Application, MessageHandler, filters

from adapters.telegram.surface import TelegramSurface, Webhook, connect
from bench.figure import Figure, Goal
from bot.app import load_book, program
from bot.clock import SystemClock
from bot.core.book import Book
from bot.core.policies import Access
from config.settings import load_settings

TOKEN = "7000000001:AAFakeTokenForTheMeasurement-0123456789ab"
SECRET = "secret"
# An intake from the request to the last answer but one; each has one reply.
SCRIPT = ("/ars-lit-review how moss changes flat roofs", "1: A", "2: B, 3: A", "/status")
AT_ONCE = 32  # people who write at the same time
Style = Literal["webhook", "polling"]

# What the product set itself beside a bot that remembers nothing.
RATE, TAIL = Goal(0.5, "least"), Goal(2, "most")


@dataclass(frozen=True, slots=True)
class Measured:
    rate: float  # updates a second, answered
    p99: float  # milliseconds from an update to its reply
    cpu: float  # milliseconds of a processor for an update


def figures(rounds: int, chats: int) -> list[Figure]:
    book = replace(load_book(load_settings(config=None)), access=Access(allow=("*",)))
    with server() as port, _quiet():
        webhook = _in_turns(rounds, "webhook", port, chats, book)
        polling = _in_turns(rounds, "polling", port, chats, book)
    ours, floor = webhook
    return [
        Figure("telegram_webhook", ours.rate, floor.rate, "/s", RATE),
        Figure("telegram_webhook_p99", ours.p99, floor.p99, "ms", TAIL),
        Figure("telegram_polling", polling[0].rate, polling[1].rate, "/s", RATE),
        Figure("cpu_per_message", ours.cpu, floor.cpu, "ms"),
    ]


def _in_turns(rounds: int, style: Style, port: int, chats: int, book: Book) -> tuple[Measured, Measured]:
    """The medians of several rounds of both, in the other order every second time."""
    found: dict[str, list[Measured]] = {"ours": [], "floor": []}
    for number in range(rounds):
        order = ["ours", "floor"] if number % 2 == 0 else ["floor", "ours"]
        for name in order:
            bot = askfirst(style, port, book) if name == "ours" else echo(style, port)
            found[name].append(asyncio.run(_measured(bot, port, chats)))
    ours, floor = (
        Measured(*(median(getattr(m, each) for m in found[name]) for each in ("rate", "p99", "cpu")))
        for name in ("ours", "floor")
    )
    return ours, floor


@contextmanager
def _quiet() -> Iterator[None]:
    """Only warnings: what a program logs of its start is no part of the table."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    try:
        yield
    finally:
        structlog.configure(**before)


_FRESH = itertools.count(10_000_000, 100_000)  # ids of chats: every measurement has new ones


async def _measured(bot: AbstractAsyncContextManager[str | None], port: int, chats: int) -> Measured:
    first = next(_FRESH)
    async with bot as url:
        people = {"chats": list(range(first, first + chats)), "at_once": AT_ONCE, "script": SCRIPT}
        order = people | {"url": url, "secret": SECRET}
        spent = time.process_time()
        answer = await asyncio.to_thread(_ordered, port, order)
        spent = time.process_time() - spent
    if "error" in answer:
        raise RuntimeError(f"the measured bot has stopped answering: {answer['error']}")
    delays = sorted(answer["delays"])
    count = len(delays)
    return Measured(count / answer["seconds"], 1000 * delays[int(0.99 * (count - 1))], 1000 * spent / count)


def _ordered(port: int, order: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/run", json.dumps(order).encode())
    with urllib.request.urlopen(request, timeout=150) as answer:
        read: dict[str, Any] = json.load(answer)
    return read


@contextmanager
def server() -> Iterator[int]:
    command = [sys.executable, "-m", "bench.telegram_server"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1]
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()


# -- ours ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def askfirst(style: Style, port: int, book: Book) -> AsyncIterator[str | None]:
    """As `askfirst serve` puts it together, without the pace."""
    with tempfile.TemporaryDirectory() as folder:
        connection = await connect(TOKEN, f"http://127.0.0.1:{port}/bot", SystemClock())
        settings = load_settings(config=None).model_copy(update={"database": f"{folder}/askfirst.db"})
        try:
            async with program(settings, book=book) as running:
                hook = Webhook("http://127.0.0.1/telegram/webhook", SECRET) if style == "webhook" else None
                surface = TelegramSurface(connection, running.store, running.runner, running.clock, hook)
                tasks = [
                    asyncio.ensure_future(running.outbox(surface.transport).run()),
                    asyncio.ensure_future(running.timers.run()),
                    asyncio.ensure_future(surface.run()),
                ]
                try:
                    async with _listening(surface.routes) as url:
                        yield url
                finally:
                    await surface.finish()
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)
                    await running.runner.finish()
        finally:
            await connection.close()


# -- the floor -----------------------------------------------------------------------------------------------------


async def _echoed(update: Update, _: Any) -> None:
    assert update.message is not None
    await update.message.reply_text(update.message.text or "")


@asynccontextmanager
async def echo(style: Style, port: int) -> AsyncIterator[str | None]:
    """Updates are handled side by side: one after the other it would mostly wait."""
    builder = Application.builder().token(TOKEN).base_url(f"http://127.0.0.1:{port}/bot").concurrent_updates(True)
    builder = builder.connection_pool_size(64)
    application = (builder if style == "polling" else builder.updater(None)).build()
    application.add_handler(MessageHandler(filters.TEXT, _echoed))

    async def take(request: Request) -> Response:
        if request.headers.get("x-telegram-bot-api-secret-token") != SECRET:
            return Response(status_code=401)
        await application.update_queue.put(Update.de_json(await request.json(), application.bot))
        return Response()

    async with application:
        await application.start()
        if application.updater is not None:
            await application.updater.start_polling()
        try:
            async with _listening([] if style == "polling" else [Route("/hook", take, methods=["POST"])]) as url:
                yield url
        finally:
            if application.updater is not None:
                await application.updater.stop()
            await application.stop()


# -- both ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _listening(routes: Any) -> AsyncIterator[str | None]:
    """uvicorn on a free port; the address of the first route, or None where there is none."""
    found: list[BaseRoute] = list(routes)
    if not found:
        yield None
        return
    config = uvicorn.Config(Starlette(routes=found), port=0, log_config=None, access_log=False, lifespan="off")
    http = _Quiet(config)
    serving = asyncio.ensure_future(http.serve())
    while not http.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.001)
    port = http.servers[0].sockets[0].getsockname()[1]
    assert isinstance(found[0], Route)
    try:
        yield f"http://127.0.0.1:{port}{found[0].path}"
    finally:
        http.should_exit = True
        await serving


class _Quiet(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
