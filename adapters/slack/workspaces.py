"""The workspaces that the app is installed in: a client and an identity for each. One HTTP session for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.places import Me

BASE_URL = "https://slack.com/api/"
TIMEOUT = 15  # seconds; a send has sixty, and two tries


@dataclass(frozen=True, slots=True)
class Workspace:
    client: AsyncWebClient
    me: Me


class Workspaces(Protocol):
    async def of(self, team: str | None, enterprise: str | None = None) -> Workspace | None:
        """The workspace of a payload or a conversation; None where the app is not installed.

        `enterprise` is the organisation that a payload names, "" for none. A conversation of ours names none.
        """
        ...


class OneWorkspace:
    """Installed by a token: the token's workspace, which auth.test names, and no other. A token of an organisation
    is good for each of its workspaces, and for those of no other: they have the same signing secret and sockets."""

    def __init__(self, workspace: Workspace, *, org_wide: bool = False) -> None:
        self._workspace = workspace
        self._org_wide = org_wide

    async def of(self, team: str | None, enterprise: str | None = None) -> Workspace | None:
        me = self._workspace.me
        if not self._org_wide:
            return self._workspace if team in (None, me.team) else None
        if team is None or enterprise not in (None, me.enterprise):
            return None
        return replace(self._workspace, me=replace(me, team=team))


def http_session(factory: Callable[[], aiohttp.BaseConnector] | None = None) -> aiohttp.ClientSession:
    """One for all calls: without it the client makes a connection for each."""
    connector = factory() if factory is not None else aiohttp.TCPConnector(limit=64)
    return aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=TIMEOUT))


def web_client(token: str | None, base_url: str | None, session: aiohttp.ClientSession) -> AsyncWebClient:
    url = base_url or BASE_URL
    return AsyncWebClient(
        token=token, base_url=url if url.endswith("/") else f"{url}/", session=session, timeout=TIMEOUT
    )
