"""The fake Bot API server: in process for a python-telegram-bot request, or on a port of the loopback interface."""

from __future__ import annotations

import asyncio
import contextlib
import email.parser
import email.policy
import inspect
import json
import socket
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from time import time
from typing import Any
from urllib.parse import parse_qsl

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from bot.ports import Clock
from tests.fakes.telegram.errors import Refusal, flood
from tests.fakes.telegram.faults import Fault, Faults
from tests.fakes.telegram.history import COUNTED, PER_CHAT, PER_GROUP, Call
from tests.fakes.telegram.methods import Methods, snake, unheard
from tests.fakes.telegram.schema import Schema, Upload
from tests.fakes.telegram.webhook import Webhook
from tests.fakes.telegram.world import BOT_ID

RESULTS = {
    "getMe": "User",
    "getWebhookInfo": "WebhookInfo",
    "sendMessage": "Message",
    "sendDocument": "Message",
    "editMessageText": "Message",
    "editMessageReplyMarkup": "Message",
    "getMyCommands": "BotCommand[]",
    "getChat": "ChatFullInfo",
    "getChatMember": "ChatMember",
    "createForumTopic": "ForumTopic",
    "getFile": "File",
}
LOST, TIMED_OUT = 598, 599  # never seen by a bot: the transports make a lost connection of them


class WallClock:
    """Real time, for tests of the whole program."""

    def now(self) -> datetime:
        return datetime.fromtimestamp(time(), UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class TelegramServer(Methods):
    """One bot's server.

    `strict_utf16` counts the 4096 in UTF-16 units; `enforce_pace` answers 429 by the FAQ's limits; `local` takes
    webhook addresses with http and any port, as a local Bot API server does.
    """

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        token: str = f"{BOT_ID}:AAFakeTokenForTests-0123456789abcdefghi",
        username: str = "askfirst_bot",
        privacy: bool = True,
        strict_utf16: bool = False,
        enforce_pace: bool = False,
        local: bool = False,
        schema: Schema | None = None,
    ) -> None:
        super().__init__(clock or WallClock(), username=username, privacy=privacy)
        self.token, self.strict_utf16, self.enforce_pace, self.local = token, strict_utf16, enforce_pace, local
        self.me = self.me | {"id": int(token.partition(":")[0])}
        self.schema = schema or Schema.load()
        self.faults = Faults(self.clock)
        self.webhook = Webhook(self.updates, self.clock)
        self.query_window = timedelta(seconds=15)
        self.commands, self.typing = {}, []
        methods = ["GET", "POST"]
        self.app = Starlette(
            routes=[
                Route("/bot{token}/{method}", self._endpoint, methods=methods),
                Route("/file/bot{token}/{path:path}", self._download, methods=["GET"]),
            ],
            exception_handlers={404: _not_found},
        )

    # -- one call ------------------------------------------------------------------------------------------------

    async def call(self, method: str, **params: Any) -> Any:
        """As a bot would call it, without the network. Raises `Refusal`."""
        code, answer = await self.handle(self.token, method, params)
        if code != 200:
            raise Refusal(code, answer.get("description", ""), answer.get("parameters"))
        return answer["result"]

    def verify(self) -> None:
        """Every update and every answer is of the type that is published. Needs `ASKFIRST_SPEC_DIR` to say much."""
        for update in self.updates.log:
            if update.raw is None:
                self.schema.verify("Update", update.json())
        for call in self.history.calls:
            if call.taken and call.method in RESULTS:
                self.schema.verify(RESULTS[call.method], call.answer["result"])

    async def handle(self, token: str, method: str, params: dict[str, Any]) -> tuple[int, Any]:
        await asyncio.sleep(0)  # a network never answers in the same breath
        if token != self.token:
            known = ":" in token
            refusal = Refusal(401, "Unauthorized") if known else Refusal(404, "Not Found")
            return refusal.code, refusal.body
        name = self.schema.lower.get(method.lower())
        if name is None:
            return 404, Refusal(404, "Not Found: method not found").body
        fault = self.faults.take(name, params)
        if fault is not None and fault.how == "hold":
            await fault.gate.wait()  # type: ignore[union-attr]
            fault = None
        code, answer, taken = await self._perform(name, params, fault)
        if fault is not None and fault.how == "held":
            await fault.gate.wait()  # type: ignore[union-attr]
        if fault is not None and fault.how.startswith(("lost", "timeout")):
            code = LOST if fault.how.startswith("lost") else TIMED_OUT
        status = 0 if code in {LOST, TIMED_OUT} else code
        self.history.calls.append(Call(name, _numbered(params), self.clock.now(), status, answer, taken))
        return code, answer

    async def _perform(self, name: str, params: dict[str, Any], fault: Fault | None) -> tuple[int, Any, bool]:
        how = "" if fault is None else fault.how
        if how == "garbage":
            return 502, {"html": "<html><h1>502 Bad Gateway</h1></html>"}, False
        if how.endswith("before"):
            return 0, {}, False
        try:
            if how == "refuse":
                raise fault.refusal  # type: ignore[union-attr,misc]
            values = self.schema.call(name, params)
            self._hurry(name, values)
            method = getattr(self, snake(name), None)
            if method is None:
                raise unheard(name)
            values = self._files(values, params)
            result = method(values)
            if inspect.isawaitable(result):
                result = await result
        except Refusal as refusal:
            return refusal.code, refusal.body, False
        return 200, {"ok": True, "result": result}, True

    def _files(self, values: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        """`attach://name` names another part of the body."""
        return {
            key: params.get(value.removeprefix("attach://"), value)
            if isinstance(value, str) and value.startswith("attach://")
            else value
            for key, value in values.items()
        }

    def _hurry(self, name: str, values: dict[str, Any]) -> None:
        if not self.enforce_pace or name not in COUNTED:
            return
        chat, now = values.get("chat_id"), self.clock.now()
        mine = [c.at for c in self.history.calls if c.taken and c.method in COUNTED and c.chat == chat]
        limits = [PER_CHAT, PER_GROUP] if isinstance(chat, int) and chat < 0 else [PER_CHAT]
        for most, seconds in limits:
            if len(mine) >= most and (spent := (now - mine[-most]).total_seconds()) < seconds:
                raise flood(max(1, round(seconds - spent)))

    # -- HTTP ----------------------------------------------------------------------------------------------------

    async def _endpoint(self, request: Request) -> Response:
        params = dict(request.query_params) | await _body(request)
        code, answer = await self.handle(request.path_params["token"], request.path_params["method"], params)
        if code in {LOST, TIMED_OUT}:
            return _NoAnswer(code)
        if "html" in answer:
            return Response(answer["html"], code, media_type="text/html")
        headers = {"Retry-After": str(answer["parameters"]["retry_after"])} if code == 429 else {}
        body = json.dumps(answer)  # ASCII: half characters travel as escapes
        return Response(body, code, headers, media_type="application/json")

    async def _download(self, request: Request) -> Response:
        content = self.history.files.get(request.path_params["path"].removeprefix("documents/"))
        if content is None or request.path_params["token"] != self.token:
            return JSONResponse(Refusal(404, "Not Found").body, 404)
        return Response(content, media_type="application/octet-stream")

    # -- ways in -------------------------------------------------------------------------------------------------

    base_url = "http://telegram.test/bot"

    def transport(self) -> httpx.AsyncBaseTransport:
        """For httpx in process, as in `HTTPXRequest(httpx_kwargs={"transport": server.transport()})`."""
        return _InProcess(self.app)

    def bot(self, **more: Any) -> Any:
        """A python-telegram-bot `Bot` that talks to this server in process."""
        from telegram import Bot
        from telegram.request import HTTPXRequest

        requests = [HTTPXRequest(httpx_kwargs={"transport": self.transport()}) for _ in range(2)]
        return Bot(
            self.token,
            base_url=self.base_url,
            base_file_url="http://telegram.test/file/bot",
            get_updates_request=requests[0],
            request=requests[1],
            **more,
        )

    @contextlib.asynccontextmanager
    async def serve(self, port: int = 0) -> AsyncIterator[str]:
        """On the loopback interface; yields the `base_url` to give to a bot."""
        with socket.socket() as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(("127.0.0.1", port))
            runner = _Uvicorn(
                uvicorn.Config(
                    _raw(self.app), log_config=None, lifespan="off", proxy_headers=False, ws="none", access_log=False
                )
            )
            task = asyncio.create_task(runner.serve(sockets=[listening]))
            await runner.ready.wait()
            try:
                yield f"http://127.0.0.1:{listening.getsockname()[1]}/bot"
            finally:
                runner.should_exit = runner.force_exit = True
                self.updates.interrupt("the test is over")
                await task
                await self.webhook.close()


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    def capture_signals(self) -> contextlib.AbstractContextManager[None]:  # type: ignore[override]
        return contextlib.nullcontext()  # signals are the test runner's

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


def _raw(app: Any) -> Callable[[Scope, Receive, Send], Any]:
    """The server's own `send` stays within reach, since it knows the connection that is to be dropped."""

    async def passed_on(scope: Scope, receive: Receive, send: Send) -> None:
        scope["fake.transport"] = getattr(getattr(send, "__self__", None), "transport", None)
        await app(scope, receive, send)

    return passed_on


class _NoAnswer(Response):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        transport = scope.get("fake.transport")
        if transport is None:
            await super().__call__(scope, receive, send)  # in process: the transport below reads the code
            return
        if self.status_code == LOST:
            transport.abort()
        while (await receive())["type"] != "http.disconnect":
            pass

    def __init__(self, code: int) -> None:
        super().__init__(status_code=code)


class _InProcess(httpx.AsyncBaseTransport):
    def __init__(self, app: Any) -> None:
        self._inner = httpx.ASGITransport(app)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        await asyncio.sleep(0)  # other tasks have their turn between the deed and the answer
        if response.status_code == LOST:
            raise httpx.ReadError("connection reset by peer", request=request)
        if response.status_code == TIMED_OUT:
            raise httpx.ReadTimeout("no answer came", request=request)
        return response


async def _not_found(request: Request, error: Exception) -> Response:
    return JSONResponse(Refusal(404, "Not Found").body, 404)


async def _body(request: Request) -> dict[str, Any]:
    raw, kind = await request.body(), request.headers.get("content-type", "")
    if kind.startswith("application/json"):
        given = json.loads(raw) if raw else {}
        return given if isinstance(given, dict) else {}
    if kind.startswith("multipart/form-data"):
        return _multipart(raw, kind)
    return dict(parse_qsl(raw.decode("utf-8", "replace"), keep_blank_values=True))


def _multipart(raw: bytes, kind: str) -> dict[str, Any]:
    head = f"Content-Type: {kind}\r\n\r\n".encode()
    whole = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + raw)
    parts: dict[str, Any] = {}
    for part in whole.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True) or b""
        file = part.get_filename()
        parts[str(name)] = content.decode() if file is None else Upload(file, content, part.get_content_type())
    return parts


def _numbered(params: dict[str, Any]) -> dict[str, Any]:
    """What is JSON in a call, as values, so that tests can read it."""
    read: dict[str, Any] = {}
    for key, value in params.items():
        read[key] = value
        if isinstance(value, str) and key not in {"text", "caption", "callback_query_id", "url", "name"}:
            with contextlib.suppress(ValueError):
                read[key] = json.loads(value)
    return read
