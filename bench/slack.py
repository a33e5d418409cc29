"""A signed event in, its commit, and the reply out to Slack's Web API, as `askfirst serve` does it.

The floor is a bare Bolt app that echoes, as Bolt's documentation has people write one: `AsyncApp` with a token and a
signing secret, a listener that calls `say`, and Bolt's own handler for Starlette. It verifies, authorises, calls
chat.postMessage and keeps nothing. Its client is left as it is, and then makes a session, and so a
connection, for every call (slack_sdk.web.async_client). We keep one open, and that is part of what is measured; not
at its worth, though: the stub is reached over plain loopback, where a connection costs a tenth of a millisecond, and
not the TLS handshake that Slack wants. (Against an echo with a session of its own the ratio is about 0.55.)

Both are posted to without a network, and post to the same stub over one. Neither pays for what the other has
loaded: it is out of the collector's sight. Ours collects as seldom as the command does, the echo as Python does by
itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import hashlib
import hmac
import itertools
import json
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from aiohttp import web
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.slack.http import PATH, events_route
from adapters.slack.surface import Keys, SlackSurface, connect
from bench.figure import Figure, Goal
from bot.app import load_book
from bot.cli import COLLECTED
from bot.clock import SystemClock
from bot.core.policies import Access
from bot.core.step import step
from bot.outbox import Outbox
from bot.runner import Runner
from config.settings import load_settings
from storage import open_store

SECRET = "of the bench"
TEAM, BOT = "T0BENCH01", "U0BOT0001"
THROUGHPUT, LATENCY = Goal(0.7, "least"), Goal(2.0, "most")
USUAL = gc.get_threshold()
PEOPLE = 64  # at once, each in a direct message of their own

Post = Callable[[bytes], Awaitable[None]]


class Stub:
    """As much of the Web API as an echo needs. Tells when the reply to somebody has come."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.waiting: dict[str, asyncio.Future[None]] = {}

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_route("*", "/api/{method}", self._answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        sent = await request.json() if request.content_type == "application/json" else await request.post()
        given = {**request.query, **sent}
        made: dict[str, Any] = {"ok": True}
        if method == "auth.test":
            made |= {"team_id": TEAM, "user_id": BOT, "bot_id": "B0BOT0001", "user": "askfirst", "url": "http://x"}
        elif method == "users.info":
            made["user"] = {"id": given["user"], "team_id": TEAM, "name": str(given["user"]).lower(), "profile": {}}
        elif method == "conversations.info":
            made["channel"] = {"id": given["channel"], "is_im": True, "user": f"U{str(given['channel'])[1:]}"}
        elif method == "chat.postMessage":
            made["ts"] = f"1700000000.{next(self._numbers):06d}"
            done = self.waiting.pop(str(given["channel"]), None)
            if done is not None and not done.done():
                done.set_result(None)
        return web.json_response(made)


def signed(body: bytes) -> dict[str, str]:
    at = str(int(time.time()))
    sign = hmac.new(SECRET.encode(), b"v0:" + at.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {
        "content-type": "application/json",
        "x-slack-request-timestamp": at,
        "x-slack-signature": f"v0={sign}",
    }


def event(person: int, number: int) -> bytes:
    channel = f"D{person:06d}"
    message = {"type": "message", "channel": channel, "channel_type": "im", "user": f"U{person:06d}"}
    message |= {"text": "!status", "ts": f"{1690000000 + number}.{person:06d}"}
    body = {"type": "event_callback", "team_id": TEAM, "event_id": f"Ev{person}-{number}", "event": message}
    return json.dumps(body).encode()


async def posted(app: Any, body: bytes) -> None:
    """One POST to an ASGI app, without a network: what is measured is the program."""
    headers = [(name.encode(), value.encode()) for name, value in signed(body).items()]
    scope = {"type": "http", "method": "POST", "path": PATH, "raw_path": PATH.encode(), "query_string": b""}
    scope |= {"headers": headers, "http_version": "1.1", "scheme": "http", "client": None, "server": ("x", 80)}
    given = [{"type": "http.request", "body": body, "more_body": False}]
    status: list[int] = []

    async def receive() -> dict[str, Any]:
        return given.pop() if given else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])

    await app(scope, receive, send)
    if status != [200]:
        raise AssertionError(f"an event was answered with {status}")


async def crowd(stub: Stub, app: Any, first: int, events: int) -> tuple[float, float]:
    """Each person says something, waits for the reply, and goes on: replies a second, and the p99 in ms."""
    took: list[float] = []

    async def talks(person: int) -> None:
        for number in range(first, first + events):
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            stub.waiting[f"D{person:06d}"] = done
            began = time.perf_counter()
            await posted(app, event(person, number))
            await done
            took.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(talks(person) for person in range(PEOPLE)))
    return len(took) / (time.perf_counter() - began), quantiles(took, n=100)[98] * 1000


@contextlib.asynccontextmanager
async def ours(url: str, folder: Path) -> AsyncIterator[Any]:
    clock = SystemClock()
    book = replace(load_book(load_settings(config=None)), access=Access(allow=("*",)))
    store = await open_store(str(folder / "bench.db"))
    connection = await connect(Keys("xoxb-bench", None, SECRET, url), clock)
    try:
        runner = Runner(store, functools.partial(step, book=book), clock)
        surface = SlackSurface(connection, store, runner, clock)
        outbox = Outbox(store, runner, {"slack": surface.transport}, clock)
        sending = asyncio.ensure_future(outbox.run())
        yield Starlette(routes=[events_route(surface.app)])
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        await surface.finish()
        await runner.finish()
    finally:
        await connection.close()
        await store.close()


@contextlib.asynccontextmanager
async def bare(url: str, folder: Path) -> AsyncIterator[Any]:  # noqa: ARG001 - as `ours`
    """As https://docs.slack.dev/tools/bolt-python/concepts/async has it; the client is given for its address only."""
    app = AsyncApp(signing_secret=SECRET, client=AsyncWebClient("xoxb-bench", base_url=url))

    @app.event("message")
    async def echo(event: dict[str, Any], say: Any) -> None:
        await say(event["text"])

    handler = AsyncSlackRequestHandler(app)

    async def events(request: Request) -> Response:
        return await handler.handle(request)

    yield Starlette(routes=[Route(PATH, events, methods=["POST"])])


Side = Callable[[str, Path], contextlib.AbstractAsyncContextManager[Any]]


async def _measured(rounds: int, events: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Medians of (rate, p99) of both sides, taken in turns. The first, shorter talk of each warms up."""
    stub, numbers = Stub(), itertools.count(1)
    found: dict[str, list[tuple[float, float]]] = {"ours": [], "bare": []}
    sides: list[tuple[str, Side]] = [("ours", ours), ("bare", bare)]
    with tempfile.TemporaryDirectory() as folder:
        async with stub.serve() as url, contextlib.AsyncExitStack() as stack:
            apps = {name: await stack.enter_async_context(side(url, Path(folder))) for name, side in sides}
            for name, _ in sides:
                await crowd(stub, apps[name], 10_000 * next(numbers), 2)
            with _collector_aside():
                for number in range(rounds):
                    for name, _ in sides if number % 2 == 0 else sides[::-1]:
                        gc.set_threshold(*(COLLECTED if name == "ours" else USUAL))
                        found[name].append(await crowd(stub, apps[name], 10_000 * next(numbers), events))
    return _medians(found["ours"]), _medians(found["bare"])


@contextlib.contextmanager
def _collector_aside() -> Iterator[None]:
    """Everything that both sides have loaded is out of its sight, as `askfirst serve` does with its own."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.set_threshold(*USUAL)
        gc.unfreeze()


def _medians(found: list[tuple[float, float]]) -> tuple[float, float]:
    return median(rate for rate, _ in found), median(p99 for _, p99 in found)


def figures(rounds: int, share: float = 1.0) -> list[Figure]:
    mine, floor = asyncio.run(_measured(rounds, max(2, int(30 * share))))
    return [
        Figure("slack_http", mine[0], floor[0], "/s", THROUGHPUT),
        Figure("slack_http_p99", mine[1], floor[1], "ms", LATENCY),
    ]
