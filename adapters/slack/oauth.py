"""Installing the app into a workspace: to Slack with a state, back with a code (docs.slack.dev/authentication).

The state is bound to the browser by a cookie and works once, for ten minutes: nobody can be made to finish an
installation that somebody else began.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from html import escape
from urllib.parse import urlencode

import structlog
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from adapters.slack.errors import code_of
from adapters.slack.installs import Installations, OAuthKeys
from adapters.slack.manifest import OAUTH, SCOPES
from adapters.slack.places import PLATFORM
from bot.ports import Clock, Store

INSTALL = "/slack/install"
AUTHORIZE = "https://slack.com/oauth/v2/authorize"
STATE = f"{PLATFORM}:state:"
LASTS = timedelta(minutes=10)
COOKIE = "askfirst_slack_state"

log = structlog.get_logger(__name__)


def oauth_routes(
    keys: OAuthKeys, installs: Installations, store: Store, clock: Clock, *, reactions: bool = False
) -> Sequence[Route]:
    redirect = keys.url.rstrip("/") + OAUTH
    scopes = [*SCOPES, *(["reactions:read"] if reactions else [])]

    async def begin(_: Request) -> Response:
        state = secrets.token_urlsafe(32)
        await _sweep(store, clock.now())
        await store.keep(STATE + state, (clock.now() + LASTS).isoformat())
        asked = {"client_id": keys.client_id, "scope": ",".join(scopes), "state": state, "redirect_uri": redirect}
        answer = RedirectResponse(f"{AUTHORIZE}?{urlencode(asked)}", status_code=302)
        seconds = int(LASTS.total_seconds())
        answer.set_cookie(COOKIE, state, max_age=seconds, httponly=True, secure=True, samesite="lax", path=OAUTH)
        return answer

    async def finish(request: Request) -> Response:
        given, bound = request.query_params.get("state", ""), request.cookies.get(COOKIE, "")
        if (
            not given
            or not hmac.compare_digest(given.encode(), bound.encode())
            or not await _used(store, given, clock)
        ):
            return _page("This link is not valid any more.", f"Begin again: {INSTALL}", 400)
        code = request.query_params.get("code")
        if not code:
            return _page("Nothing was installed.", "Slack says that it was not agreed to.", 400)
        try:
            workspace = await installs.exchange(code, redirect)
        except Exception as error:  # noqa: BLE001 - said to the person; neither code nor secret is in it
            log.warning("slack_not_installed", error=code_of(error) or type(error).__name__)
            return _page("Slack did not install it.", f"Begin again: {INSTALL}", 502)
        log.info("slack_installed", team=workspace.me.team)
        page = _page("Askfirst is installed.", "Invite it to a channel, and mention it with what you need.", 200)
        page.delete_cookie(COOKIE, path=OAUTH)
        return page

    return [Route(INSTALL, _guarded(begin), methods=["GET"]), Route(OAUTH, _guarded(finish), methods=["GET"])]


def _guarded(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Nothing of these pages is kept or told to other sites: the code is in the address."""

    async def guarded(request: Request) -> Response:
        answer = await endpoint(request)
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["Referrer-Policy"] = "no-referrer"
        return answer

    return guarded


async def _used(store: Store, state: str, clock: Clock) -> bool:
    """Whether a state of ours has come back in time; it does not work a second time."""
    key = STATE + state
    kept = (await store.kept(key)).get(key)
    if kept is None:
        return False
    await store.keep(key, None)
    return clock.now() <= datetime.fromisoformat(kept)


async def _sweep(store: Store, now: datetime) -> None:
    for key, until in (await store.kept(STATE)).items():
        if datetime.fromisoformat(until) < now:
            await store.keep(key, None)


def _page(title: str, words: str, status: int) -> HTMLResponse:
    body = f"<!doctype html><meta charset=utf-8><title>{escape(title)}</title><h1>{escape(title)}</h1>"
    return HTMLResponse(f"{body}<p>{escape(words)}</p>", status_code=status)
