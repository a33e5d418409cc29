"""`askfirst serve`: the platforms that have a token, the outbox and the timers, in one process until SIGTERM.

Going down in order: first nothing new is taken in, then what is under way is finished, then the store is closed.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from bot.app import Program, load_book, program, set_up_logging
from bot.cli.connecting import Connecting
from bot.cli.platforms import Surface, wanted
from bot.fetching import Fetching
from bot.outbox import Patience
from bot.ports import StoreUnavailable
from bot.runner import fresh_id
from bot.turns import TURN, Turn
from config.settings import BadSettings, Settings

READY = 3.0  # seconds for the database to answer /readyz
LOOK_EVERY = 5.0  # seconds between two looks at what other programs have written, such as `askfirst retry`
HTTP_GOODBYE = 10  # seconds that requests under way get at shutdown

log = structlog.get_logger(__name__)


async def run_serve(settings: Settings) -> int:
    """Serve until SIGTERM or Ctrl-C. The exit code: 0 when asked to stop."""
    set_up_logging(at_once=True)
    platforms = wanted(settings)
    stop = asyncio.Event()
    with _stopped_by_signals(stop):
        book = load_book(settings)
        async with Connecting(platforms) as connecting:
            while (connected := await connecting.some(stop)) and not stop.is_set():
                names = {one.platform: one.bot_name for one in connected}
                named = replace(book, bot_names={**book.bot_names, **names})
                async with program(settings, book=named) as running, connecting.more(stop) as pause:
                    surfaces = [await one.build(running) for one in connected]
                    gc.freeze()  # what is there by now stays; the collector walks only what comes
                    await _serve(running, surfaces, settings, pause)
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


# -- running -------------------------------------------------------------------------------------------------------


async def _serve(running: Program, surfaces: Sequence[Surface], settings: Settings, stop: asyncio.Event) -> None:
    lease = timedelta(seconds=settings.lease_seconds)
    outbox = running.outbox(
        *(s.transport for s in surfaces),
        paces={s.platform: s.pace for s in surfaces},
        patience=Patience(lease=lease, send=lease.total_seconds() / 2),
    )
    if not running.store.shared:  # one process a SQLite file: what was claimed, a process that is no more has claimed
        await running.store.release([s.platform for s in surfaces])
    turns = {s.platform: _turn(running, s, min(TURN, lease)) for s in surfaces if s.alone and running.store.shared}
    server = _server(running, surfaces, turns, settings)
    try:
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(outbox.run(), name="outbox")
            ringing = group.create_task(running.timers.run(), name="timers")
            fetching = group.create_task(_fetching(running, surfaces), name="files")
            looking = group.create_task(_look_around(running), name="other programs")
            taking = [group.create_task(turns.get(s.platform, s).run(), name=s.platform) for s in surfaces]
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


def _turn(running: Program, surface: Surface, length: timedelta) -> Turn:
    return Turn(surface.platform, fresh_id(), surface.run, running.store, running.clock, length)


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


def _server(
    running: Program, surfaces: Sequence[Surface], turns: Mapping[str, Turn], settings: Settings
) -> _Http | None:
    """Only where a part needs it, or the operator has said where."""
    routes = [route for surface in surfaces for route in surface.routes]
    if not routes and "http" not in settings.model_fields_set:
        return None
    app = Starlette(routes=[*health_routes(running, surfaces, turns), *routes])
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


def health_routes(
    running: Program, surfaces: Sequence[Surface], turns: Mapping[str, Turn] = MappingProxyType({})
) -> list[Route]:
    """`/healthz`: the process answers. `/readyz`: the database does too, and every platform is heard.

    A worker that waits for its turn at a platform is ready: it sends, and takes over when the other one is gone.
    """

    async def healthy(_: Request) -> JSONResponse:
        return JSONResponse({"ok": True})

    async def ready(_: Request) -> JSONResponse:
        state = {surface.platform: _status(surface, turns.get(surface.platform)) for surface in surfaces}
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


def _status(surface: Surface, turn: Turn | None) -> dict[str, object]:
    if turn is None or turn.ours:
        return dict(surface.status())
    return {**surface.status(), "ready": True, "state": "another worker has the turn"}
