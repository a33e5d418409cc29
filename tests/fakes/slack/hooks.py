"""Signed HTTP: what Slack posts to the app's address.

docs.slack.dev/authentication/verifying-requests-from-slack: `v0=` HMAC-SHA256 of `v0:timestamp:body`.
Events are JSON; interactivity is a form with `payload`; commands are a form. Retries carry
x-slack-retry-num and -reason.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable
from time import time
from typing import Any
from urllib.parse import urlencode

import httpx

from tests.fakes.slack.outgoing import Delivery, Outcome, answered
from tests.fakes.slack.world import World

JSON, FORM = "application/json", "application/x-www-form-urlencoded"


class Hooks:
    """`signed_at` gives the seconds that go into the signature. Bolt compares them with the real clock, so the real
    clock is the default."""

    def __init__(self, world: World, patience: float = 10.0) -> None:
        self.world, self.patience = world, patience
        self.url = ""
        self.signed_at: Callable[[], float] = time
        self.secret: str | None = None  # another than the app's: a forgery
        self.transport: httpx.AsyncBaseTransport | None = None
        self._client: httpx.AsyncClient | None = None
        self._late: set[asyncio.Future[Any]] = set()

    def answer_with(self, app: Any, url: str = "https://bot.example/slack/events") -> None:
        """Post to an ASGI application in process."""
        self.transport, self.url, self._client = httpx.ASGITransport(app, raise_app_exceptions=False), url, None

    async def aclose(self) -> None:
        for task in self._late:
            task.cancel()
        if self._client is not None:
            await self._client.aclose()
        self._client = None

    def signed(self, body: bytes, kind: str, **more: str) -> dict[str, str]:
        at = str(int(self.signed_at()))
        secret = self.secret or self.world.app.signing_secret
        sign = hmac.new(secret.encode(), b"v0:" + at.encode() + b":" + body, hashlib.sha256).hexdigest()
        headers = {"content-type": kind, "x-slack-request-timestamp": at, "x-slack-signature": f"v0={sign}"}
        return headers | {"user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)"} | more

    async def post(self, body: bytes, headers: dict[str, str]) -> httpx.Response:
        """As it is: for forgeries, stale stamps and bodies that are no JSON."""
        if self._client is None:
            self._client = httpx.AsyncClient(transport=self.transport, timeout=60, follow_redirects=False)
        return await self._client.post(self.url, content=body, headers=headers)

    async def send(self, delivery: Delivery) -> Outcome:
        body, kind = self.body(delivery)
        more = {}
        if delivery.retry:
            reason = delivery.tries[-1].reason if delivery.tries else "http_timeout"
            more = {"x-slack-retry-num": str(delivery.retry), "x-slack-retry-reason": reason}
        now = self.world.clock.now()
        task = asyncio.ensure_future(self.post(body, self.signed(body, kind, **more)))
        try:
            response = await answered(self.world, asyncio.shield(task), self.patience)
        except TimeoutError:
            self._late.add(task)  # the app goes on working
            task.add_done_callback(self._forget)
            return Outcome(False, "http_timeout", at=now)
        except (httpx.HTTPError, OSError):
            return Outcome(False, "connection_failed", at=now)
        status = response.status_code
        if not 200 <= status < 300:
            reason = "too_many_redirects" if 300 <= status < 400 else "http_error"
            return Outcome(False, reason, None, status, response.headers.get("x-slack-no-retry") == "1", now)
        return Outcome(True, "", _answer(response), status, at=now)

    def _forget(self, task: asyncio.Future[Any]) -> None:
        self._late.discard(task)
        if not task.cancelled():
            task.exception()

    @staticmethod
    def body(delivery: Delivery) -> tuple[bytes, str]:
        if delivery.kind == "events_api":
            return json.dumps(delivery.payload).encode(), JSON
        if delivery.kind == "interactive":
            return urlencode({"payload": json.dumps(delivery.payload)}).encode(), FORM
        return urlencode(delivery.payload).encode(), FORM

    async def verify_url(self) -> bool:
        """url_verification: the challenge has to come back, as JSON or as plain text."""
        challenge = f"challenge-{self.world.number()}"
        asked = {"token": self.world.app.verification, "challenge": challenge, "type": "url_verification"}
        body = json.dumps(asked).encode()
        response = await self.post(body, self.signed(body, JSON))
        given = _answer(response)
        return response.status_code == 200 and challenge in (
            given,
            given.get("challenge") if isinstance(given, dict) else "",
        )

    async def flooded(self, minute: int = 0) -> int:
        """`app_rate_limited`: more than 30,000 events in an hour."""
        limited = {"type": "app_rate_limited", "team_id": self.world.team.id, "api_app_id": self.world.app.id}
        limited |= {"token": self.world.app.verification, "minute_rate_limited": str(minute)}
        body = json.dumps(limited).encode()
        return (await self.post(body, self.signed(body, JSON))).status_code

    async def check_ssl(self) -> int:
        """`ssl_check=1`: comes unsigned, wants 200."""
        body = urlencode({"ssl_check": "1", "token": self.world.app.verification}).encode()
        return (await self.post(body, {"content-type": FORM})).status_code


def _answer(response: httpx.Response) -> Any:
    if not response.content:
        return None
    if response.headers.get("content-type", "").startswith(JSON):
        return response.json()
    return response.text
