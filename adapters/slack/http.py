"""Signed HTTP: events, interactivity and commands at one address. Slack waits three seconds, then delivers again.

200 follows the commit. A body that is too long, or can not be read, never reaches Bolt; one with a wrong signature
never reaches the intake.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.request import read_body
from adapters.slack.bolt import odd

PATH = "/slack/events"
MAX_BODY = 2 * 1024 * 1024  # bytes; a modal of 250 KB comes with its state, and encoded as a form it triples
LONGEST_STAMP = 20  # digits

log = structlog.get_logger(__name__)


def events_route(app: AsyncApp) -> Route:
    return Route(PATH, _endpoint(app), methods=["POST"])


def _endpoint(app: AsyncApp) -> Callable[[Request], Awaitable[Response]]:
    async def receive(request: Request) -> Response:
        stamp = request.headers.get("x-slack-request-timestamp", "0")
        if not stamp.isascii() or not stamp.isdigit() or len(stamp) > LONGEST_STAMP:  # Bolt fails on other values
            return Response(status_code=401)
        body = await read_body(request, MAX_BODY)
        if body is None:
            log.warning("slack_body_too_large")
            return Response(status_code=413)
        asked = _asked(request, body.decode("utf-8", "replace"))
        if asked is None:
            log.warning("slack_body_unreadable")
            return Response(status_code=400)
        answer = await app.async_dispatch(asked)
        shown = {name: values[0] for name, values in answer.headers.items() if values and name != "set-cookie"}
        return Response(answer.body, status_code=answer.status, headers=shown)

    return receive


def _asked(request: Request, body: str) -> AsyncBoltRequest | None:
    """The request as Bolt takes it; None where Bolt would fail on it, and Slack would send it again and again."""
    headers: dict[str, list[str]] = {}
    for name, value in request.headers.items():
        headers.setdefault(name, []).append(value)
    if not body:
        return None
    try:
        asked = AsyncBoltRequest(body=body, query=str(request.url.query), headers=headers)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - whatever its reading runs into
        return None
    return None if odd(asked.body) else asked
