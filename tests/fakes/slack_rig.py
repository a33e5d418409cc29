"""The Slack adapter with everything around it, on the fake Slack server, in one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from starlette.applications import Starlette

from adapters.slack.bolt import bolt_app
from adapters.slack.directory import Directory
from adapters.slack.history import History
from adapters.slack.http import events_route
from adapters.slack.intake import Intake, Ways
from adapters.slack.pace import pace
from adapters.slack.roots import Roots
from adapters.slack.socket import Sockets
from adapters.slack.surface import Keys, SlackConnection, connect
from adapters.slack.transport import SlackTransport
from bot.outbox import Outbox
from bot.runner import Decide, Runner
from bot.timers import Timers
from tests.fakes.clock import ManualClock
from tests.fakes.slack import SlackServer
from tests.fakes.store import FakeStore
from tests.fakes.toy import toy


class Rig:
    """`style`: socket or http. Made with `rig()`; a second one on the same server and store is a restart."""

    def __init__(
        self,
        connection: SlackConnection,
        server: SlackServer,
        store: Any,
        clock: Any,
        *,
        style: str = "http",
        decide: Decide = toy,
        new_id: Callable[[], str] | None = None,
        paced: bool = False,
        transport: type[SlackTransport] = SlackTransport,
        ways: Ways | None = None,
        lines: int = 2,
    ) -> None:
        self.connection, self.me = connection, connection.workspace.me
        self.server, self.store, self.clock, self.style = server, store, clock, style
        more = {} if new_id is None else {"new_id": new_id}
        self.runner = Runner(store, decide, clock, **more)
        self.directory, self.roots = Directory(clock), Roots(store)
        self.transport = transport(connection.workspaces, self.directory, self.roots, clock)
        paces = {"slack": pace} if paced else None
        self.outbox = Outbox(store, self.runner, {"slack": self.transport}, clock, jitter=lambda: 1.0, paces=paces)
        self.timers = Timers(store, self.runner, clock)
        self.intake = Intake(
            connection.workspaces, self.directory, self.roots, store, self.runner, self.transport, ways or Ways()
        )
        self.history = History(self.intake, store, clock)
        self.heard: list[Any] = []
        self.wire_clock = ManualClock()  # of pings and silences; it moves only when a test says so
        self.app = bolt_app(lambda body: self.intake.take(body), server.app.signing_secret)
        self.sockets = Sockets(
            _Told(self.app, server),
            connection.workspace.client,
            server.app.app_token,
            connection.session,
            self.wire_clock,
            self._heard,
            lines=lines,
            jitter=lambda: 1.0,
        )
        self.lines = lines
        self.web = Starlette(routes=[events_route(self.app)])
        self._listening: asyncio.Task[None] | None = None

    def _heard(self, since: Any) -> None:
        self.heard.append(since)

    async def open(self) -> None:
        if self.style == "http":
            self.server.hooks.answer_with(self.web)
        else:
            self._listening = asyncio.ensure_future(self.sockets.run())
            await self.server.sockets.connected(self.lines)

    async def hear(self, *only: Any) -> None:
        """Everything that waits at Slack, and the notices that follow."""
        if self.style == "socket":
            await self.server.sockets.connected()
        await self.server.deliver(*only)
        await self.intake.finish()

    async def settle(self) -> None:
        """Hear, ring and send until there is nothing to do."""
        await self.hear()
        await self.timers.fire_due()
        await self.outbox.drain()

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        await self.sockets.finish()
        await self.intake.finish()


class _Told:
    """The app as the sockets see it. Slack waits three seconds for what is not acknowledged; the fake is told."""

    def __init__(self, app: AsyncApp, server: SlackServer) -> None:
        self._app, self._server = app, server

    async def async_dispatch(self, asked: AsyncBoltRequest) -> BoltResponse:
        answer = await self._app.async_dispatch(asked)
        if answer.status != 200:
            self._server.sockets.will_not_answer(asked.body)
        return answer


@asynccontextmanager
async def rig(
    server: SlackServer | None = None, store: Any = None, clock: Any = None, **more: Any
) -> AsyncIterator[Rig]:
    """Serves the fake where it is not served yet. At the end nothing may have been used that it does not know."""
    clock = clock or (server.clock if server else ManualClock(auto=True))
    server = server or SlackServer(clock)
    async with _served(server) as base_url:
        keys = Keys(server.token, server.app.app_token, server.app.signing_secret, base_url)
        connection = await connect(keys, clock)
        try:
            made = Rig(connection, server, store or FakeStore(), clock, **more)
            await made.open()
            try:
                yield made
            finally:
                await made.close()
        finally:
            await connection.close()
    server.verify()


@asynccontextmanager
async def _served(server: SlackServer) -> AsyncIterator[str]:
    if server.origin.startswith("http://127.0.0.1"):
        yield f"{server.origin}/api/"
        return
    async with server.serve() as base_url:
        yield base_url
