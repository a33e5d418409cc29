"""The webhook: Telegram posts one update at a time and posts it again until it gets a 2xx.

200 follows the commit. A request without the secret is refused before its body is read: nothing of it is stored, so
that it can not stand in for the real update later (b44).
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.request import read_body
from adapters.telegram.intake import Intake
from bot.faults import report

PATH = "/telegram/webhook"
HEADER = "x-telegram-bot-api-secret-token"  # core.telegram.org/bots/api#setwebhook
MAX_BODY = 1024 * 1024  # bytes; the longest message with all its entities has a tenth of it
PATIENCE = 20.0  # seconds for the store; a delivery that hangs keeps everything of its chat waiting
AGAIN = {"Retry-After": "2"}

log = structlog.get_logger(__name__)


def webhook_route(intake: Intake, secret: str) -> Route:
    """One route; `secret` is what Telegram was told to send along."""
    if not secret:
        raise ValueError("a webhook without a secret would take anybody's updates")
    return Route(PATH, _endpoint(intake, secret.encode()), methods=["POST"])


def _endpoint(intake: Intake, secret: bytes) -> Callable[[Request], Awaitable[Response]]:
    async def receive(request: Request) -> Response:
        given = request.headers.getlist(HEADER)
        if len(given) != 1 or not hmac.compare_digest(given[0].encode(), secret):
            log.warning("webhook_refused", secrets=len(given))
            return Response(status_code=401)
        body = await read_body(request, MAX_BODY)
        if body is None:
            log.warning("webhook_body_too_large")
            return Response(status_code=413)
        try:
            async with asyncio.timeout(PATIENCE):
                await intake.take(_json(body))
        except TimeoutError:  # what was begun is written to its end; the next delivery finds it done
            log.warning("webhook_slow", seconds=PATIENCE)
            return Response(status_code=503, headers=AGAIN)
        except Exception as error:  # noqa: BLE001 - not confirmed: Telegram posts it again
            report("webhook_failed", error)
            return Response(status_code=503, headers=AGAIN)
        return Response(status_code=200)

    return receive


def _json(body: bytes) -> Any:
    """What can not be read is parked as it is: the secret was right, so the sender may be Telegram."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode(errors="replace")
