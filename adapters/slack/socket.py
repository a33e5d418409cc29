"""Socket Mode: two connections, so that one can be renewed while the other hears; a payload comes over one of them.

The sdk's client handles every frame on its own, in any order, and closes a socket before it opens the next. Here a
frame is acknowledged after its commit, a socket that Slack is about to close is replaced first, and one from which
nothing comes any more is given up (P58).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import aiohttp
import structlog
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.bolt import odd
from adapters.slack.errors import code_of
from bot.faults import report
from bot.ports import Clock

LINES = 2  # Slack allows ten
PING = 10.0  # seconds; as the sdk
SILENCE = timedelta(seconds=40)  # without any frame, not even a pong: the socket is dead
LONGEST_PAUSE = 30.0
GOODBYE = 5.0  # seconds that payloads under way get at the end
MAX_FRAME = 4 * 1024 * 1024
SHORT = timedelta(
    seconds=5
)  # a socket that ends sooner is a failure: else one that is refused would be asked for at once
LAST_WORDS = 1.0  # seconds for acknowledgements under way, before a socket is closed of which the successor is there
GONE = aiohttp.ClientWSTimeout(
    ws_close=1.0
)  # seconds that a closed socket waits for the other side, which may be dead
RENEWED = ("warning", "refresh_requested")  # other reasons, as link_disabled or too_many_websockets, bring no new one

log = structlog.get_logger(__name__)

# Told when payloads may come again; the moment up to which everything was heard, None when there was no gap.
Heard = Callable[[datetime | None], None]


class Sockets:
    """`state` is connecting, connected, or what went wrong."""

    def __init__(
        self,
        app: AsyncApp,
        client: AsyncWebClient,
        app_token: str,
        session: aiohttp.ClientSession,
        clock: Clock,
        on_heard: Heard,
        *,
        lines: int = LINES,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._app, self._client, self._token, self._session = app, client, app_token, session
        self._clock, self._on_heard, self._lines, self._jitter = clock, on_heard, lines, jitter
        self._open = 0
        self._under_way: set[asyncio.Task[None]] = set()
        self.heard_at: datetime | None = None
        self._lost_at: datetime | None = None  # the last frame before nobody listened
        self.state = "connecting"

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(self._lines):
                group.create_task(self._line(number), name=f"slack-socket-{number}")

    async def finish(self) -> None:
        """Let payloads under way be committed, within bounds."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=GOODBYE)

    @property
    def connected(self) -> int:
        return self._open

    # -- one connection after the other ------------------------------------------------------------------------------

    async def _line(self, number: int) -> None:
        """Connected until cancelled. A failure ends a connection, never the line."""
        failures = 0
        following: _Link | None = None
        while True:
            link, following, why = following, None, ""
            try:
                link = link or await self._connect()
                following = await self._listen(link)
                if following is None and (link.told or self._clock.now() - link.opened_at < SHORT):
                    why = link.told or "ended at once"
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                why = type(error).__name__
            except Exception as error:  # noqa: BLE001
                why = code_of(error) or type(error).__name__
                if not code_of(error):
                    report("slack_socket_failed", error)
            finally:
                if link is not None:
                    await self._closed(link)
            failures = failures + 1 if why else 0
            if why:
                await self._rest(number, why, failures)

    async def _rest(self, number: int, why: str, failures: int) -> None:
        if not self._open:
            self.state = why
        log.warning("slack_socket_lost", line=number, why=why)
        await self._clock.sleep(min(LONGEST_PAUSE, 2.0 ** min(failures, 6) / 2) * (0.5 + self._jitter() / 2))

    async def _connect(self) -> _Link:
        answer = await self._client.apps_connections_open(app_token=self._token)
        socket = await self._session.ws_connect(
            str(answer["url"]), autoping=False, max_msg_size=MAX_FRAME, timeout=GONE
        )
        return _Link(socket, self._clock.now())

    async def _listen(self, link: _Link) -> _Link | None:
        """Until the socket ends. The next one, where Slack has told in time that it would."""
        watching = asyncio.ensure_future(self._watch(link))
        renewing: asyncio.Task[_Link] | None = None
        try:
            async for frame in link.socket:
                link.heard_at = self.heard_at = self._clock.now()
                if frame.type is aiohttp.WSMsgType.PING:
                    await link.socket.pong(frame.data)
                elif frame.type is aiohttp.WSMsgType.TEXT:
                    reason = self._frame(link, frame.data)
                    if reason in RENEWED and renewing is None and self._clock.now() - link.opened_at >= SHORT:
                        renewing = asyncio.ensure_future(self._renewed(link))
                    elif reason is not None and renewing is None:
                        link.told = reason
                        await link.socket.close()
            if renewing is not None:
                next_link = await renewing
                renewing = None
                return next_link
            return None
        finally:
            watching.cancel()
            if renewing is not None:
                renewing.cancel()
            await asyncio.gather(watching, *([renewing] if renewing else []), return_exceptions=True)

    async def _renewed(self, old: _Link) -> _Link:
        """The next connection first; then the old one is closed, which ends its listening.

        What was taken over the old one is acknowledged over it: mistakes of a form come back no other way.
        """
        link = await self._connect()
        if old.under_way:
            await asyncio.wait(old.under_way, timeout=LAST_WORDS)
        await old.socket.close()
        return link

    async def _watch(self, link: _Link) -> None:
        while True:
            await self._clock.sleep(PING)
            if self._clock.now() - link.heard_at > SILENCE:
                log.warning("slack_socket_silent")
                await link.socket.close()
                return
            with contextlib.suppress(ConnectionError, aiohttp.ClientError):
                await link.socket.ping()

    async def _closed(self, link: _Link) -> None:
        if link.hello:
            link.hello = False
            self._open -= 1
            self._lost_at = self._lost_at if self._open else self.heard_at
        if not link.socket.closed:
            await link.socket.close()
        if not self._open:
            self.state = "connecting"

    # -- frames ------------------------------------------------------------------------------------------------------

    def _frame(self, link: _Link, text: str) -> str | None:
        """Why Slack is about to close the socket, where it says so."""
        try:
            frame = json.loads(text)
        except ValueError:
            return None
        if not isinstance(frame, dict):
            return None
        match frame.get("type"):
            case "hello":
                self._hello(link)
            case "disconnect":
                log.info("slack_socket_renewed", reason=frame.get("reason"))
                return str(frame.get("reason") or RENEWED[0])
            case _ if frame.get("envelope_id"):
                task = asyncio.create_task(self._take(link, frame))
                for under_way in (self._under_way, link.under_way):
                    under_way.add(task)
                    task.add_done_callback(under_way.discard)
        return None

    def _hello(self, link: _Link) -> None:
        first = not self._open
        if not link.hello:
            link.hello = True
            self._open += 1
        if first:
            self.state = "connected"
            log.info("slack_socket_connected")
            self._on_heard(self._lost_at)

    async def _take(self, link: _Link, frame: dict[str, Any]) -> None:
        """Acknowledged only when committed; else Slack delivers it again, over whichever socket is there."""
        asked = _asked(frame.get("payload"))
        if asked is None:
            log.warning("slack_payload_unreadable")  # and acknowledged: it would be the same the next time
            await self._acknowledge(link, {"envelope_id": frame["envelope_id"]})
            return
        answer = await self._app.async_dispatch(asked)
        if answer.status != 200:
            return
        ack: dict[str, Any] = {"envelope_id": frame["envelope_id"]}
        if answer.body and frame.get("accepts_response_payload"):
            ack["payload"] = json.loads(answer.body)
        await self._acknowledge(link, ack)

    async def _acknowledge(self, link: _Link, ack: dict[str, Any]) -> None:
        with contextlib.suppress(ConnectionError, aiohttp.ClientError):
            await link.socket.send_str(json.dumps(ack))


def _asked(payload: Any) -> AsyncBoltRequest | None:
    """The payload as Bolt takes it; None where Bolt would fail on it."""
    try:
        asked = AsyncBoltRequest(mode="socket_mode", body=payload if isinstance(payload, dict) else {})
    except Exception:  # noqa: BLE001 - whatever its reading runs into
        return None
    return None if odd(asked.body) else asked


class _Link:
    def __init__(self, socket: aiohttp.ClientWebSocketResponse, now: datetime) -> None:
        self.socket, self.opened_at, self.heard_at, self.hello = socket, now, now, False
        self.told = ""  # why Slack ends it, where no other one follows
        self.under_way: set[asyncio.Task[None]] = set()
