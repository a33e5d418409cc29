"""Many workspaces: each installs the app for itself, and its token is kept in our database, encrypted.

The key is the operator's (`ASKFIRST_SLACK__TOKEN_KEY`): whoever has only the database has no token. Tokens that end
are renewed two hours before (docs.slack.dev/authentication/using-token-rotation); a refresh token works once, so one
task renews, and what it got is stored before it is used.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import aiohttp
import structlog
from cryptography.fernet import Fernet, InvalidToken
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.errors import code_of
from adapters.slack.places import PLATFORM, Me
from adapters.slack.workspaces import Workspace, web_client
from bot.ports import Clock, Store

INSTALL = f"{PLATFORM}:install:"
RENEWED_BEFORE = timedelta(hours=2)
LOOKED_AGAIN = timedelta(minutes=1)  # other processes may have installed or renewed meanwhile

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class OAuthKeys:
    """From the app's Basic Information. `url`: where browsers reach us (https). `token_key`: a Fernet key."""

    client_id: str
    client_secret: str
    token_key: str
    url: str


@dataclass(slots=True)
class _Installed:
    workspace: Workspace
    expires: datetime | None
    refresh: str | None
    since: datetime


class Installations:
    """The workspaces that have installed the app, by team, or by enterprise where a whole organisation has."""

    def __init__(
        self, keys: OAuthKeys, store: Store, clock: Clock, session: aiohttp.ClientSession, base_url: str | None
    ) -> None:
        self._keys, self._store, self._clock = keys, store, clock
        self._session, self._base_url = session, base_url
        self._cipher = Fernet(keys.token_key)
        self._known: dict[str, _Installed | None] = {}
        self._asked: dict[str, datetime] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def of(self, team: str | None, enterprise: str | None = None) -> Workspace | None:
        """The team's own installation, else its organisation's."""
        for name in (team, enterprise):
            found = await self._valid(name) if name else None
            if found is not None:
                me = found.me if team is None else _in_team(found.me, team)
                return Workspace(found.client, me)
        return None

    async def exchange(self, code: str, redirect: str) -> Workspace:
        """A code of the browser for a token. Raises what Slack says."""
        answer = await self._access(code=code, redirect_uri=redirect)
        return await self._keep(answer)

    async def forget(self, team: str, enterprise: str | None, at: datetime | None) -> None:
        """Uninstalled, or the token was revoked: nothing is sent there any more. `at`: when, as Slack says; who has
        installed it again since then stays."""
        for name in (team, enterprise):
            if name is None:
                continue
            async with self._locks[name]:
                found = await self._look_up(name)
                if found is None:
                    continue
                if at is not None and at < found.since:
                    log.info("slack_installed_again", team=name)
                    return
                self._known[name] = None
                await self._store.keep(INSTALL + name, None)
            log.info("slack_uninstalled", team=name)
            return

    # -- keeping ---------------------------------------------------------------------------------------------------

    async def _valid(self, name: str) -> Workspace | None:
        async with self._locks[name]:
            found = await self._look_up(name)
            if found is None:
                return None
            if found.expires is not None and found.expires - self._clock.now() < RENEWED_BEFORE:
                return await self._renewed(name, found)
            return found.workspace

    async def _look_up(self, name: str) -> _Installed | None:
        now = self._clock.now()
        if name in self._known and now - self._asked[name] < LOOKED_AGAIN:
            return self._known[name]
        key = INSTALL + name
        kept = (await self._store.kept(key)).get(key)
        self._asked[name] = now
        self._known[name] = None if kept is None else self._read(kept, now)
        return self._known[name]

    def _read(self, kept: str, now: datetime) -> _Installed | None:
        known = uncovered(kept, self._cipher)
        if known is None:
            log.warning("slack_token_unreadable", what="ASKFIRST_SLACK__TOKEN_KEY is not the one it was stored with")
            return None
        me = Me(**known["me"])
        expires = None if known["expires"] is None else datetime.fromisoformat(known["expires"])
        workspace = Workspace(web_client(known["token"], self._base_url, self._session), me)
        since = datetime.fromisoformat(known["since"]) if "since" in known else now - timedelta(days=1)
        return _Installed(workspace, expires, known["refresh"], since)

    async def _renewed(self, name: str, found: _Installed) -> Workspace | None:
        """A renewal that fails leaves the token as long as it lasts."""
        try:
            answer = await self._access(grant_type="refresh_token", refresh_token=found.refresh)
        except Exception as error:  # noqa: BLE001
            log.warning("slack_token_not_renewed", team=name, error=code_of(error) or type(error).__name__)
            fresh = found.expires is not None and found.expires > self._clock.now()
            return found.workspace if fresh else None
        return await self._keep(answer, found.workspace.me)

    async def _access(self, **given: Any) -> Mapping[str, Any]:
        client = web_client(None, self._base_url, self._session)
        secret = {"client_id": self._keys.client_id, "client_secret": self._keys.client_secret}
        answer = await client.api_call("oauth.v2.access", data={**secret, **given})
        data = answer.data
        assert isinstance(data, dict)
        return data

    async def _keep(self, answer: Mapping[str, Any], me: Me | None = None) -> Workspace:
        token, now = str(answer["access_token"]), self._clock.now()
        client = web_client(token, self._base_url, self._session)
        me = me or await _who(client, answer)
        lasts = answer.get("expires_in")
        expires = None if not lasts else now + timedelta(seconds=int(lasts))
        kept = {
            "token": token,
            "refresh": answer.get("refresh_token"),
            "expires": None if expires is None else expires.isoformat(),
            "since": now.isoformat(),
            "me": {name: getattr(me, name) for name in Me.__slots__},
        }
        name = me.team
        await self._store.keep(INSTALL + name, self._cipher.encrypt(json.dumps(kept).encode()).decode())
        found = _Installed(Workspace(client, me), expires, answer.get("refresh_token"), now)
        self._known[name], self._asked[name] = found, now
        return found.workspace


def uncovered(kept: str, cipher: Fernet) -> dict[str, Any] | None:
    """What is kept of an installation; None where another key has covered it."""
    try:
        return dict(json.loads(cipher.decrypt(kept.encode())))
    except (InvalidToken, ValueError):
        return None


async def _who(client: AsyncWebClient, answer: Mapping[str, Any]) -> Me:
    who = await client.auth_test()
    team, enterprise = answer.get("team") or {}, answer.get("enterprise") or {}
    org_wide = bool(answer.get("is_enterprise_install"))
    return Me(
        team=str((enterprise if org_wide else team).get("id") or who.get("team_id")),
        user=str(answer.get("bot_user_id") or who.get("user_id") or ""),
        bot=str(who.get("bot_id") or ""),
        app=str(answer.get("app_id") or ""),
        enterprise=enterprise.get("id"),
        url=str(who.get("url") or ""),
    )


def _in_team(me: Me, team: str) -> Me:
    """An organisation's installation speaks in each of its workspaces under that workspace's name."""
    return me if me.team == team else Me(team, me.user, me.bot, me.app, me.name, me.enterprise, me.url)
