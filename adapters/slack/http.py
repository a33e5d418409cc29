"""Signed HTTP: events, interactivity and commands at one address. Slack waits three seconds, then delivers again.

200 follows the commit. A body that is too long, or can not be read, never reaches Bolt; one with a wrong signature
never reaches the intake.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl

import structlog
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

PATH = "/slack/events"
MAX_BODY = 2 * 1024 * 1024  # bytes; a modal of 250 KB comes with its state, and encoded as a form it triples

log = structlog.get_logger(__name__)


def events_route(app: AsyncApp) -> Route:
    return Route(PATH, _endpoint(app), methods=["POST"])


def _endpoint(app: AsyncApp) -> Callable[[Request], Awaitable[Response]]:
    async def receive(request: Request) -> Response:
        if not request.headers.get("x-slack-request-timestamp", "").isdigit():  # Bolt fails on other values
            return Response(status_code=401)
        body = await _body(request)
        if body is None:
            log.warning("slack_body_too_large")
            return Response(status_code=413)
        if not _readable(body):
            log.warning("slack_body_unreadable")
            return Response(status_code=400)
        headers = {name: request.headers.getlist(name) for name in request.headers}
        asked = AsyncBoltRequest(body=body, query=str(request.url.query), headers=headers)  # type: ignore[arg-type]
        answer = await app.async_dispatch(asked)
        shown = {name: values[0] for name, values in answer.headers.items() if values and name != "set-cookie"}
        return Response(answer.body, status_code=answer.status, headers=shown)

    return receive


async def _body(request: Request) -> str | None:
    """None when it is longer than any payload; reading stops there."""
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > MAX_BODY:
        return None
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                return None
    except ClientDisconnect:
        return ""
    return body.decode("utf-8", "replace")


def _readable(body: str) -> bool:
    """Whether Bolt can parse it: an object as JSON, or a form that may hold one."""
    try:
        if body.startswith("{"):
            return isinstance(json.loads(body), dict)
        payload = dict(parse_qsl(body, keep_blank_values=True)).get("payload")
        return bool(body) and (payload is None or isinstance(json.loads(payload), dict))
    except (ValueError, RecursionError):
        return False
