"""Bolt in front of the intake: it checks signatures and answers Slack's own checks; then one middleware commits.

Listeners would run after Bolt has acknowledged, and what fails in them would be lost; so there are none. An event for
which the app does nothing is a success: unmatched ones would get 404, and Slack would send them again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import aiohttp
import structlog
from slack_bolt import BoltResponse
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.errors import SlackApiError

from adapters.slack.errors import code_of
from bot.faults import report
from bot.ports import StoreUnavailable

Take = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]

SWITCHES = ("SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET", "SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET")
NO_SECRET = "socket"  # over the socket nothing is signed; Bolt wants some text here  # noqa: S105
log = structlog.get_logger(__name__)

AGAIN: dict[str, str | Sequence[str]] = {"Retry-After": ["2"]}


def bolt_app(take: Take, signing_secret: str | None) -> AsyncApp:
    """`take` commits and says what to acknowledge with. Without a secret only the socket can be served."""
    for name in ("slack_bolt", "slack_sdk"):
        logging.getLogger(name).setLevel(logging.ERROR)  # at INFO and DEBUG they tell payloads
    with _without_switches():
        app = AsyncApp(
            signing_secret=signing_secret or NO_SECRET,
            authorize=_authorize,
            ignoring_self_events_enabled=False,  # the codec knows better, and says why
            ignoring_self_assistant_message_events_enabled=False,
            attaching_function_token_enabled=False,
            request_verification_enabled=True,
        )
    app.use(_Commit(take))
    return app


async def _authorize(enterprise_id: str | None, team_id: str | None, user_id: str | None) -> AuthorizeResult:
    """Never None, never an error: Bolt would answer 200, and the event would be lost. The intake knows the tokens."""
    return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, user_id=user_id, bot_token="xoxb-")  # noqa: S106


class _Commit(AsyncMiddleware):
    """Commits, then acknowledges. What was not committed is not acknowledged: Slack delivers it again."""

    def __init__(self, take: Take) -> None:
        self._take = take

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,  # noqa: ARG002 - Bolt's signature
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002, ARG002
    ) -> BoltResponse:
        try:
            answer = await self._take(req.body)
        except (SlackApiError, aiohttp.ClientError, TimeoutError, StoreUnavailable) as error:
            log.warning("slack_payload_put_off", error=code_of(error) or type(error).__name__)
            return BoltResponse(status=503, body="", headers=AGAIN)
        except Exception as error:  # noqa: BLE001
            report("slack_payload_failed", error, kind=req.body.get("type"))
            return BoltResponse(status=503, body="", headers=AGAIN)
        return BoltResponse(status=200, body=answer or "")


def odd(body: object) -> bool:
    """Whether a body is none that Bolt and the intake can read: Bolt fails on an event that is no object."""
    if not isinstance(body, dict):
        return True
    event = body.get("event")
    return body.get("type") == "event_callback" and event is not None and not isinstance(event, dict)


@contextmanager
def _without_switches() -> Iterator[None]:
    """Variables by which Bolt would switch to another way of working, behind our back."""
    kept = {name: os.environ.pop(name) for name in SWITCHES if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)
