"""Slack as a part of the program: connected, heard by socket or by HTTP, sent to."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from starlette.routing import Route

from adapters.slack.absence import Absence
from adapters.slack.bolt import bolt_app
from adapters.slack.codec import Payload
from adapters.slack.directory import Directory
from adapters.slack.errors import code_of, named
from adapters.slack.files import SlackFiles
from adapters.slack.history import History
from adapters.slack.http import PATH, events_route
from adapters.slack.installs import Installations, OAuthKeys
from adapters.slack.intake import Also, Intake, Ways
from adapters.slack.oauth import oauth_routes
from adapters.slack.pace import pace
from adapters.slack.places import PLATFORM, Me
from adapters.slack.roots import Roots
from adapters.slack.socket import Sockets
from adapters.slack.transport import SlackTransport
from adapters.slack.workspaces import OneWorkspace, Workspace, Workspaces, http_session, web_client
from bot.pace import Pace
from bot.ports import Clock, Fetcher, RateLimited, Store
from bot.runner import Runner

LONGEST_PAUSE = 30.0
REFUSED = (
    "invalid_auth",
    "not_authed",
    "account_inactive",
    "token_revoked",
    "token_expired",
    "not_allowed_token_type",
)

log = structlog.get_logger(__name__)


class TokenRefused(Exception):
    """Slack does not know a token. The message says what to do, and not the token."""


@dataclass(frozen=True, slots=True)
class Keys:
    """With an app token payloads come over the socket, else they are posted to us and signed."""

    bot_token: str | None
    app_token: str | None = None
    signing_secret: str | None = None
    base_url: str | None = None
    oauth: OAuthKeys | None = None  # instead of a bot token: workspaces install the app themselves


class SlackConnection:
    """An app that has answered who it is. Nothing else of the program is needed for that."""

    def __init__(
        self, keys: Keys, session: aiohttp.ClientSession, workspace: Workspace | None, *, org_wide: bool = False
    ) -> None:
        self.keys, self.session, self.workspace = keys, session, workspace
        self.workspaces = None if workspace is None else OneWorkspace(workspace, org_wide=org_wide)

    @property
    def bot_name(self) -> str:
        return Me("", "").name if self.workspace is None else self.workspace.me.name

    async def close(self) -> None:
        await self.session.close()


async def connect(keys: Keys, clock: Clock) -> SlackConnection:
    """Ask until Slack answers; only a refused token ends it."""
    session = http_session()
    if keys.oauth is not None:
        return SlackConnection(keys, session, None)
    client = web_client(keys.bot_token, keys.base_url, session)
    failures = 0
    try:
        while True:
            try:
                who = await client.auth_test()
            except Exception as error:  # noqa: BLE001
                if code_of(error) in REFUSED:
                    raise TokenRefused(
                        "Slack refuses the bot token. Copy it anew from your app's page, OAuth & Permissions, "
                        "into ASKFIRST_SLACK__BOT_TOKEN."
                    ) from None
                failures += 1
                failure = named(error)
                log.warning("slack_unreachable", error=code_of(error) or type(error).__name__)
                wait = failure.retry_after.total_seconds() if isinstance(failure, RateLimited) else 0.0
                await clock.sleep(wait or min(LONGEST_PAUSE, 2.0 ** min(failures, 6) / 2))
                continue
            app = await _app_id(client, str(who.get("bot_id") or ""))
            org_wide = bool(who.get("is_enterprise_install"))
            me = Me(
                team=str(who.get("team_id") or who.get("enterprise_id") or ""),
                user=str(who.get("user_id") or ""),
                bot=str(who.get("bot_id") or ""),
                app=app,
                name=str(who.get("user") or "askfirst"),
                enterprise=who.get("enterprise_id") or (who.get("team_id") if org_wide else None),
                url=str(who.get("url") or ""),
            )
            return SlackConnection(keys, session, Workspace(client, me), org_wide=org_wide)
    except BaseException:
        await session.close()
        raise


async def _app_id(client: object, bot: str) -> str:
    """Own messages are known by user and bot id; the app's id is one sign more, where it can be had."""
    with contextlib.suppress(SlackApiError, aiohttp.ClientError, OSError, TimeoutError):
        answer = await client.bots_info(bot=bot)  # type: ignore[attr-defined]
        return str((answer.get("bot") or {}).get("app_id") or "")
    return ""


class SlackSurface:
    """Built once the store is open. `run` takes payloads until it is cancelled; `finish` ends what is under way."""

    platform = PLATFORM
    alone = False  # Slack hands each event to one of the sockets that are open

    def __init__(
        self, connection: SlackConnection, store: Store, runner: Runner, clock: Clock, ways: Ways | None = None
    ) -> None:
        keys, session = connection.keys, connection.session
        self._name = connection.bot_name
        directory, roots, ways = Directory(clock), Roots(store), ways or Ways()
        self._install: Sequence[Route] = []
        workspaces: Workspaces
        gone: Also = _left
        if connection.workspaces is not None:
            workspaces = connection.workspaces
        else:
            assert keys.oauth is not None
            installs = Installations(keys.oauth, store, clock, session, keys.base_url)
            self._install = oauth_routes(keys.oauth, installs, store, clock, reactions=bool(ways.reactions))
            workspaces, gone = installs, functools.partial(_uninstalled, installs)
        self.transport = SlackTransport(workspaces, directory, roots, clock)
        self.files: Fetcher | None = SlackFiles(workspaces, session)
        also = {"app_uninstalled": gone, "tokens_revoked": gone}
        self.intake = Intake(workspaces, directory, roots, store, runner, self.transport, ways, also)
        team = "" if connection.workspace is None else connection.workspace.me.team
        self.absence = Absence(team, History(self.intake, store, clock), store, clock, self._hears)
        self.app = bolt_app(self.intake.take, keys.signing_secret)
        self.sockets = (
            None
            if keys.app_token is None
            else Sockets(
                self.app,
                web_client(None, keys.base_url, session),
                keys.app_token,
                session,
                clock,
                self.absence.over,
            )
        )
        self.pace: Pace = pace

    @property
    def routes(self) -> Sequence[Route]:
        return [*self._install, *([] if self.sockets is not None else [events_route(self.app)])]

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.absence.run(), name="slack-absence")
            if self.sockets is None:
                self.absence.over(None)
            else:
                group.create_task(self.sockets.run(), name="slack-sockets")

    async def finish(self) -> None:
        if self.sockets is not None:
            await self.sockets.finish()
        await self.intake.finish()

    def status(self) -> Mapping[str, object]:
        """For /readyz. `ready` means: payloads come in."""
        more = {"bot": self._name, "parked": self.intake.parked}
        if self.sockets is None:
            return {"ready": True, "by": "http", "path": PATH, **more}
        ready = self.sockets.connected > 0
        return {
            "ready": ready,
            "by": "socket",
            "state": self.sockets.state,
            "sockets": self.sockets.connected,
            **more,
        }

    def _hears(self) -> bool:
        return self.sockets is None or self.sockets.connected > 0


async def _left(workspace: Workspace, body: Payload) -> None:
    """The only workspace has let go of us; what is sent from now on is undeliverable, and said so."""
    event = body.get("event") or {}
    log.warning("slack_token_gone", team=workspace.me.team, event=event.get("type"))


async def _uninstalled(installs: Installations, workspace: Workspace, body: Payload) -> None:
    """`app_uninstalled`, or the bot's token revoked; a person's own token is none of ours."""
    event = body.get("event") or {}
    tokens = event.get("tokens")
    if event.get("type") == "app_uninstalled" or (isinstance(tokens, Mapping) and tokens.get("bot")):
        told = body.get("event_time")
        at = datetime.fromtimestamp(told + 1, UTC) if isinstance(told, int) else None  # whole seconds
        await installs.forget(workspace.me.team, workspace.me.enterprise, at)
