"""The web server of `askfirst serve`: where platforms post to, and `/healthz` and `/readyz` for whoever watches."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from bot.app import Program
from bot.cli.platforms import Surface
from bot.ports import StoreUnavailable
from bot.turns import Turn
from config.settings import BadSettings, Settings

READY = 3.0  # seconds for the database to answer /readyz
GOODBYE = 10  # seconds that requests under way get at shutdown
UNREACHED = {"ready": False, "state": "not reached yet"}

log = structlog.get_logger(__name__)

Missing = Callable[[], Sequence[str]]


class Http:
    """uvicorn without its signal handlers: it raises the signal again at the end, before we are through."""

    def __init__(self, routes: Sequence[BaseRoute], settings: Settings) -> None:
        """Raises `BadSettings` where the address can not be had."""
        where = (settings.http.host, settings.http.port)
        try:
            self._bound = socket.create_server(where, backlog=2048)
        except OSError as error:
            raise BadSettings(
                f"can not listen on {where[0]}:{where[1]} ({error.strerror}). "
                "Choose another ASKFIRST_HTTP__HOST or ASKFIRST_HTTP__PORT."
            ) from None
        log.info("listening", host=where[0], port=self._bound.getsockname()[1])
        app = Starlette(routes=routes)
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=GOODBYE
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


def wants_http(settings: Settings) -> bool:
    """Whether a part needs it, or the operator has said where."""
    slack = settings.slack
    posts = (slack.bot_token is not None or slack.client_id is not None) and slack.app_token is None
    return posts or settings.telegram.webhook_url is not None or "http" in settings.model_fields_set


def health_routes(
    running: Program,
    surfaces: Sequence[Surface],
    turns: Mapping[str, Turn] = MappingProxyType({}),
    missing: Missing = tuple,
) -> list[Route]:
    """`/healthz`: the process answers. `/readyz`: the database does too, and every platform is heard.

    A worker that waits for its turn at a platform is ready: it sends, and takes over when the other one is gone.
    """

    async def ready(_: Request) -> JSONResponse:
        state = {surface.platform: _status(surface, turns.get(surface.platform)) for surface in surfaces}
        state |= dict.fromkeys(missing(), UNREACHED)
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

    return [Route("/healthz", _healthy), Route("/readyz", ready)]


def waiting_routes(missing: Missing) -> list[Route]:
    """The same while no platform has answered yet: the process is alive, and serves nobody."""

    async def ready(_: Request) -> JSONResponse:
        return JSONResponse({"ok": False, **dict.fromkeys(missing(), UNREACHED)}, status_code=503)

    return [Route("/healthz", _healthy), Route("/readyz", ready)]


async def _healthy(_: Request) -> JSONResponse:
    return JSONResponse({"ok": True})


def _status(surface: Surface, turn: Turn | None) -> dict[str, object]:
    if turn is None or turn.ours:
        return dict(surface.status())
    return {**surface.status(), "ready": True, "state": "another worker has the turn"}
