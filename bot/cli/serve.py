"""`askfirst serve`: the platforms that have a token, the outbox and the timers, in one process until SIGTERM.

Going down in order: first nothing new is taken in, then what is under way is finished, then the store is closed.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Protocol

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from adapters.telegram.hook import Webhook
from adapters.telegram.menus import Menu, menus
from adapters.telegram.surface import TelegramSurface, TokenRefused, connect
from bot.app import Program, load_book, load_menu_words, program, set_up_logging
from bot.clock import SystemClock
from bot.core.book import Book
from bot.fetching import Fetching
from bot.pace import Pace
from bot.ports import Fetcher, StoreUnavailable, Transport
from config.settings import BadSettings, Settings, TelegramSettings

READY = 3.0  # seconds for the database to answer /readyz
LOOK_EVERY = 5.0  # seconds between two looks at what other programs have written, such as `askfirst retry`
HTTP_GOODBYE = 10  # seconds that requests under way get at shutdown

log = structlog.get_logger(__name__)


class Surface(Protocol):
    """A platform as a part of the program."""

    platform: str
    pace: Pace

    @property
    def transport(self) -> Transport: ...

    @property
    def files(self) -> Fetcher | None: ...

    @property
    def routes(self) -> Sequence[BaseRoute]: ...

    async def run(self) -> None:
        """Take in what people do, until cancelled."""
        ...

    async def finish(self) -> None: ...

    def status(self) -> Mapping[str, object]: ...


async def run_serve(settings: Settings) -> int:
    """Serve until SIGTERM or Ctrl-C. The exit code: 0 when asked to stop."""
    set_up_logging(at_once=True)
    if settings.telegram.token is None:
        raise BadSettings("there is nothing to serve: set ASKFIRST_TELEGRAM__TOKEN to the token of a Telegram bot.")
    stop = asyncio.Event()
    with _stopped_by_signals(stop):
        book = load_book(settings)
        async with _telegram(settings, book, stop) as started:
            if started is not None:
                running, surfaces = started
                await _serve(running, surfaces, settings, stop)
    log.info("stopped")
    return 0


@contextmanager
def _stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """Installed before anything else: a signal during the start ends it too."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


@asynccontextmanager
async def _telegram(
    settings: Settings, book: Book, stop: asyncio.Event
) -> AsyncIterator[tuple[Program, Sequence[Surface]] | None]:
    """The program with Telegram in it; None when it was asked to stop before Telegram had answered."""
    given = settings.telegram
    assert given.token is not None
    connecting = asyncio.ensure_future(connect(given.token.get_secret_value(), given.base_url, SystemClock()))
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait((connecting, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not connecting.done():
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        yield None
        return
    try:
        connection = connecting.result()
    except TokenRefused as error:
        raise BadSettings(str(error)) from None
    try:
        book = replace(book, bot_names={**book.bot_names, TelegramSurface.platform: connection.me.username})
        async with program(settings, book=book) as running:
            surface = TelegramSurface(
                connection, running.store, running.runner, running.clock, _webhook(given), running.pacer
            )
            await surface.prepare(_menus(settings, book))
            yield running, (surface,)
    finally:
        await connection.close()


def _webhook(given: TelegramSettings) -> Webhook | None:
    if given.webhook_url is None or given.secret is None:
        return None
    return Webhook(given.webhook_url, given.secret.get_secret_value())


def _menus(settings: Settings, book: Book) -> list[Menu]:
    """The general commands in every language, and those of the workflows that places begin with."""
    workflows = book.pack_for(TelegramSurface.platform, None).workflows
    return menus(load_menu_words(settings), [(w.commands[0], w.title) for w in workflows if w.commands])


# -- running -------------------------------------------------------------------------------------------------------


async def _serve(running: Program, surfaces: Sequence[Surface], settings: Settings, stop: asyncio.Event) -> None:
    outbox = running.outbox(*(s.transport for s in surfaces), paces={s.platform: s.pace for s in surfaces})
    await running.store.release([s.platform for s in surfaces])  # one process a SQLite file: it is all ours
    server = _server(running, surfaces, settings)
    try:
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(outbox.run(), name="outbox")
            ringing = group.create_task(running.timers.run(), name="timers")
            fetching = group.create_task(_fetching(running, surfaces), name="files")
            looking = group.create_task(_look_around(running), name="other programs")
            taking = [group.create_task(s.run(), name=s.platform) for s in surfaces]
            serving = None if server is None else group.create_task(server.run(), name="http")
            log.info("serving", platforms=[s.platform for s in surfaces])
            await stop.wait()
            log.info("stopping")
            if server is not None and serving is not None:
                server.stop()
                await asyncio.wait((serving,))
            await _end(*taking)
            for surface in surfaces:
                await surface.finish()
            await _end(ringing, fetching, looking)
            await _end(sending)  # finishes the sends under way
    finally:
        await running.runner.finish()


async def _fetching(running: Program, surfaces: Sequence[Surface]) -> None:
    """Only where a playbook asks for files."""
    if any(playbook.fetch for playbook in running.book.playbooks.values()):
        fetchers = {surface.platform: surface.files for surface in surfaces if surface.files is not None}
        await Fetching(running.store, running.runner, fetchers, running.clock).run()


async def _look_around(running: Program) -> None:
    """Another program that writes to this database can not ring our bell."""
    while True:
        await running.clock.sleep(LOOK_EVERY)
        running.runner.bell.ring()


async def _end(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class _Http:
    """uvicorn without its signal handlers: it raises the signal again at the end, before we are through."""

    def __init__(self, app: Starlette, bound: socket.socket) -> None:
        self._bound = bound
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=HTTP_GOODBYE
        )
        self._server = _Quiet(config)

    async def run(self) -> None:
        await self._server.serve(sockets=[self._bound])

    def stop(self) -> None:
        self._server.should_exit = True


class _Quiet(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _server(running: Program, surfaces: Sequence[Surface], settings: Settings) -> _Http | None:
    """Only where a part needs it, or the operator has said where."""
    routes = [route for surface in surfaces for route in surface.routes]
    if not routes and "http" not in settings.model_fields_set:
        return None
    app = Starlette(routes=[*health_routes(running, surfaces), *routes])
    try:
        bound = socket.create_server((settings.http.host, settings.http.port), backlog=2048)
    except OSError as error:
        where = f"{settings.http.host}:{settings.http.port}"
        raise BadSettings(
            f"can not listen on {where} ({error.strerror}). "
            "Choose another ASKFIRST_HTTP__HOST or ASKFIRST_HTTP__PORT."
        ) from None
    log.info("listening", host=settings.http.host, port=bound.getsockname()[1])
    return _Http(app, bound)


def health_routes(running: Program, surfaces: Sequence[Surface]) -> list[Route]:
    """`/healthz`: the process answers. `/readyz`: the database does too, and every platform is heard."""

    async def healthy(_: Request) -> JSONResponse:
        return JSONResponse({"ok": True})

    async def ready(_: Request) -> JSONResponse:
        state = {surface.platform: dict(surface.status()) for surface in surfaces}
        try:
            async with asyncio.timeout(READY):
                waiting: object = await running.store.waiting()
                if running.runner.store_failing:  # reading is not enough: can it be written to again?
                    await running.store.keep("ready:probe", running.clock.now().isoformat())
                    running.runner.store_failing = False
        except (StoreUnavailable, TimeoutError):
            waiting = None
        well = waiting is not None and all(one.get("ready") for one in state.values())
        answer = {"ok": well, "database": waiting is not None, "waiting": waiting, **state}
        return JSONResponse(answer, status_code=200 if well else 503)

    return [Route("/healthz", healthy), Route("/readyz", ready)]
