"""The server: Web API, sockets, response addresses, files, on a port of the loopback interface."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from time import time
from typing import Any

from aiohttp import web

from bot.ports import Clock
from tests.fakes.slack.errors import Refusal, Unmodelled
from tests.fakes.slack.faults import Fault, Faults
from tests.fakes.slack.hooks import Hooks
from tests.fakes.slack.model import Channel, Json, Message, Team
from tests.fakes.slack.oauth import OAuth
from tests.fakes.slack.outgoing import Delivery, Outcome
from tests.fakes.slack.seen import seen
from tests.fakes.slack.sockets import Sockets
from tests.fakes.slack.table import METHODS
from tests.fakes.slack.text import Ping, typed
from tests.fakes.slack.world import NOWHERE, App


class WallClock:
    """Real time, for tests of the whole program."""

    def now(self) -> datetime:
        return datetime.fromtimestamp(time(), UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True, repr=False)
class Call:
    method: str
    args: Json
    at: datetime
    status: int  # 0: the app never got an answer
    answer: Json
    taken: bool  # it had its effect

    def __repr__(self) -> str:
        return f"<{self.method} {self.error or 'ok'} {self.answer.get('errors', '')}>"

    @property
    def error(self) -> str:
        return str(self.answer.get("error", ""))


class SlackServer(OAuth):
    """`enforce_pace` answers 429 by the published tiers. `patience`: real seconds to wait for the app."""

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        app: App | None = None,
        enforce_pace: bool = False,
        patience: float = 10.0,
    ) -> None:
        super().__init__(clock or WallClock(), app)
        self.enforce_pace = enforce_pace
        self.faults = Faults()
        self.sockets = Sockets(self, patience)
        self.hooks = Hooks(self, patience)
        self.outgoing.carrier = self._carry
        self.calls: list[Call] = []
        self._over = asyncio.Event()

    async def _carry(self, delivery: Delivery) -> Outcome:
        """By HTTP when the app has an address, else by a socket: an app is either."""
        return await (self.hooks if self.hooks.url else self.sockets).send(delivery)

    async def deliver(self, *only: Delivery, together: bool = False, retry: bool = False) -> list[Delivery]:
        """See Outgoing.deliver."""
        return await self.outgoing.deliver(*only, together=together, retry=retry)

    # -- what tests ask ------------------------------------------------------------------------------------------

    def verify(self) -> None:
        """Fails when the app used something that is not modelled here: methods, parameters, blocks, answers."""
        if self.complaints:
            raise Unmodelled("\n".join(self.complaints))

    def called(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    @property
    def refused(self) -> list[Call]:
        """What Slack said no to; floods and broken connections are not among them."""
        return [c for c in self.calls if c.answer.get("ok") is False and c.error != "ratelimited"]

    @property
    def broadcasts(self) -> list[Ping]:
        """@channel, @here, @everyone and user groups in anything that the app wrote: to be empty."""
        return [ping for ping in self.mentions if ping.kind != "user"]

    def what_people_see(self, channel: Channel, thread: Message | str | None = None, who: Any = None) -> list[str]:
        return seen(self, channel, thread, who)

    def last(self, channel: Channel) -> Message:
        """The newest message in a place that is no ephemeral one."""
        return [m for m in channel.messages.values() if not m.gone and m.only_to is None][-1]

    def escaped(self, text: str, team: Team) -> str:
        """The text of a command with `should_escape`: `<@U…|name>`."""
        made = typed(text, self.tokens_of(team))
        for user in self.users.values():
            made = made.replace(f"<@{user.id}>", f"<@{user.id}|{user.handle}>")
        return made

    # -- calls ---------------------------------------------------------------------------------------------------

    async def call(self, method: str, **args: Any) -> Json:
        """As the app of the first workspace would call it, without the network. Raises Refusal."""
        code, answer, headers = await self.handle(method, args, self.token, json_body=METHODS[method].json)
        if not answer.get("ok"):
            raise Refusal(answer["error"], status=code, headers=headers)
        return answer

    async def handle(
        self, method: str, args: Json, token: str, *, json_body: bool = False
    ) -> tuple[int, Json, dict[str, str]]:
        """Status (0: no answer), body, headers."""
        fault = self.faults.take(method, args)
        if fault is not None and fault.how == "hold":
            await fault.gate.wait()  # type: ignore[union-attr]
            fault = None
        status, answer, headers, taken = self._perform(method, args, token, json_body, fault)
        if fault is not None and fault.how == "slow":
            await self.clock.sleep(fault.seconds)
        if fault is not None and fault.how == "held":
            await fault.gate.wait()  # type: ignore[union-attr]
        if fault is not None and fault.how.startswith(("lost", "timeout")):
            status = 0
            headers = {"x-fault": fault.how}
        self.calls.append(Call(method, args, self.clock.now(), status, answer, taken))
        return status, answer, headers

    def _perform(
        self, method: str, args: Json, token: str, json_body: bool, fault: Fault | None
    ) -> tuple[int, Json, dict[str, str], bool]:
        how = "" if fault is None else fault.how
        if how == "broken":
            return fault.status, {"html": "<html>Slack is down</html>"}, {}, False  # type: ignore[union-attr]
        if how == "answer":
            return 200, dict(fault.reply), {}, False  # type: ignore[union-attr]
        if how.endswith("before"):
            return 0, {}, {}, False
        try:
            if how == "refuse":
                raise fault.refusal  # type: ignore[union-attr,misc]
            spec = METHODS.get(method)
            if spec is None:
                self.complain(f"method {method!r} is not modelled here")
                raise Refusal("unknown_method", req_method=method)
            app = None if spec.token == "none" else self.caller(token, method)
            if json_body and not spec.json:
                self.complain(f"{method} does not read JSON: the parameters would be lost")
                args = {}
            self.hurry(app, method, args)
            result = getattr(self, _snake(method))(app, self.read(method, spec, args, app))
        except Refusal as refusal:
            return refusal.status, refusal.body, refusal.headers, False
        scopes = {"x-oauth-scopes": ",".join(sorted(app.scopes))} if app is not None else {}
        return 200, {"ok": True} | result, scopes, True

    # -- HTTP ----------------------------------------------------------------------------------------------------

    async def _endpoint(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        args, is_json = await _arguments(request)
        sent = request.headers.get("authorization", "")
        if sent.startswith("Basic ") and method == "oauth.v2.access":
            login, _, secret = base64.b64decode(sent.removeprefix("Basic ")).decode().partition(":")
            args = {"client_id": login, "client_secret": secret} | args
        token = sent.removeprefix("Bearer ").strip() if sent.startswith("Bearer ") else str(args.pop("token", ""))
        if "token" in request.query:
            self.complain("a token in the query string: Slack refuses it")
            token = ""
        if method != "oauth.v2.access" and is_json and "charset" not in request.headers.get("content-type", ""):
            self.complain("JSON without a charset: Slack warns of it")
        status, answer, headers = await self.handle(method, args, token, json_body=is_json)
        return await self._answer(request, status, answer, headers)

    async def _answer(self, request: web.Request, status: int, answer: Json, headers: dict[str, str]) -> web.Response:
        if status == 0 and headers["x-fault"].startswith("timeout"):
            await self._over.wait()
        if status == 0:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        if "html" in answer:
            return web.Response(status=status, text=answer["html"], content_type="text/html")
        return web.json_response(answer, status=status, headers=headers)

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        """A response_url: JSON, no token."""
        try:
            given = await request.json()
        except ValueError:
            self.complain("response_url wants JSON")
            return web.json_response({"ok": False, "error": "invalid_payload"}, status=400)
        args = {key: value for key, value in given.items() if value is not None}
        fault = self.faults.take("response_url", args)
        if fault is not None and fault.how == "refuse":
            refusal = fault.refusal or Refusal("fatal_error")
            return web.json_response(refusal.body, status=refusal.status, headers=refusal.headers)
        if fault is not None:
            return await self._answer(
                request, fault.status if fault.how == "broken" else 0, {"html": ""}, {"x-fault": fault.how}
            )
        link = self.links.get(request.match_info["id"])
        answer, status = {"ok": True}, 200
        try:
            if link is None:
                raise Refusal("invalid_url", status=404)
            self.respond(link, args)
        except Refusal as refusal:
            answer, status = refusal.body, refusal.status
        self.calls.append(Call("response_url", args, self.clock.now(), status, answer, status == 200))
        return web.json_response(answer, status=status)

    @contextlib.asynccontextmanager
    async def serve(self, port: int = 0) -> AsyncIterator[str]:
        """On the loopback interface; yields the `base_url` for AsyncWebClient."""
        site_app = web.Application(client_max_size=64 << 20)
        site_app.router.add_route("*", "/api/{method}", self._endpoint)
        site_app.router.add_get("/link/", self.sockets.endpoint)
        site_app.router.add_post("/response/{id}", self._respond)
        site_app.router.add_post("/upload/v1/{file}", self.upload)
        site_app.router.add_get("/files-pri/{file}/{rest:.*}", self.download)
        runner = web.AppRunner(site_app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        self.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._over.clear()
        try:
            yield f"{self.origin}/api/"
        finally:
            self._over.set()
            self.sockets.drop()
            await self.hooks.aclose()
            await runner.cleanup()
            self.origin = NOWHERE


def _snake(method: str) -> str:
    """files.getUploadURLExternal is files_get_upload_url_external."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", method)
    return "_".join(word.lower() for word in words)


async def _arguments(request: web.Request) -> tuple[Json, bool]:
    """The query string and the body, and whether the body is JSON."""
    args: Json = dict(request.query)
    args.pop("token", None)
    kind = request.content_type
    if kind == "application/json":
        body = await request.read()
        return args | (json.loads(body) if body else {}), True
    if kind in {"application/x-www-form-urlencoded", "multipart/form-data"}:
        return args | dict(await request.post()), False
    return args, False
