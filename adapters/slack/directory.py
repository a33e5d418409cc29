"""Who people are and what places are: asked of Slack once, and kept for a while."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError

from adapters.contract import clean
from adapters.slack.errors import code_of, named
from adapters.slack.places import Me, Profile
from adapters.slack.workspaces import Workspace
from bot.ports import Clock, RateLimited, TryLater

KEPT_FOR = timedelta(minutes=30)  # changes are told by `user_change` where that is subscribed to
MOST = 20_000
SOON_AGAIN = timedelta(seconds=20)  # until groups that could not be read are asked for once more
SOON = 1.0  # seconds for what is known already to be said anew: acts have three in all

log = structlog.get_logger(__name__)


class Directory:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._people: dict[tuple[str, str], tuple[datetime, Profile]] = {}
        self._direct: dict[tuple[str, str], bool] = {}
        self._owners: dict[tuple[str, str], str] = {}
        self._reachable: dict[tuple[str, str], bool] = {}
        self._groups: dict[str, tuple[datetime, dict[str, tuple[str, ...]]]] = {}
        self._handles: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._warned: set[str] = set()

    async def people(self, workspace: Workspace, users: Iterable[str]) -> dict[str, Profile]:
        """Profiles by user id. Raises what Slack raises when it can not be reached: guessing would let in anybody."""
        found = {user: await self.person(workspace, user) for user in users if user != workspace.me.user}
        groups = await self._groups_of(workspace) if found else {}
        return {user: replace(profile, groups=groups.get(user, ())) for user, profile in found.items()}

    async def person(self, workspace: Workspace, user: str) -> Profile:
        key = (workspace.me.team, user)
        kept = self._people.get(key)
        if kept is not None and self._clock.now() - kept[0] < KEPT_FOR:
            return kept[1]
        try:
            async with asyncio.timeout(None if kept is None else SOON):
                answer = await workspace.client.users_info(user=user)
        except SlackApiError as error:
            code = code_of(error)
            if code == "missing_scope":
                self._warn(code, "people are shown by their ids, and guests can not be told apart: grant users:read")
                profile = Profile(name=user, handle=user.casefold())
            elif code in ("user_not_found", "user_not_visible", "users_not_found"):
                profile = Profile(name=user, handle=user.casefold(), outside=True)
            elif kept is not None and isinstance(named(error), RateLimited | TryLater):
                return kept[1]  # better than nothing: a tap is told to us once, and never again
            else:
                raise
        except (aiohttp.ClientError, OSError, TimeoutError):
            if kept is None:
                raise
            return kept[1]
        else:
            profile = profile_of(answer.get("user") or {}, workspace.me)
        self.learn(workspace.me.team, user, profile)
        return profile

    def groups(self, team: str) -> Mapping[str, str]:
        """Handles of the user groups, by id, as far as they are known: they are read with people's profiles."""
        return self._handles[team]

    async def _groups_of(self, workspace: Workspace) -> Mapping[str, tuple[str, ...]]:
        """User groups by member: ids and handles, since settings may name either. None where they can not be read."""
        kept = self._groups.get(workspace.me.team)
        if kept is not None and self._clock.now() - kept[0] < KEPT_FOR:
            return kept[1]
        found: dict[str, tuple[str, ...]] = {}
        try:
            answer = await workspace.client.usergroups_list(include_users=True, include_disabled=False)
            for group in answer.get("usergroups") or ():
                names = (str(group["id"]), str(group.get("handle") or group["id"]).casefold())
                self._handles[workspace.me.team][names[0]] = clean(names[1])
                for user in group.get("users") or ():
                    found[user] = (*found.get(user, ()), *names)
        except Exception as error:  # noqa: BLE001 - without them nobody is let in who should not be
            found = kept[1] if kept is not None else {}
            if isinstance(named(error), RateLimited | TryLater):  # whoever should be let in must not wait for long
                self._groups[workspace.me.team] = (self._clock.now() - KEPT_FOR + SOON_AGAIN, found)
                return found
            self._warn(code_of(error) or type(error).__name__, "user groups can not be read: grant usergroups:read")
        self._groups[workspace.me.team] = (self._clock.now(), found)
        return found

    def learn(self, team: str, user: str, profile: Profile) -> None:
        if len(self._people) >= MOST:
            self._people.clear()
        self._people[team, user] = (self._clock.now(), profile)

    def forget(self, team: str, user: str) -> None:
        """Changed, and not told how: asked anew when it matters."""
        self._people.pop((team, user), None)

    async def direct(self, workspace: Workspace, channel: str, kind: str | None = None) -> bool:
        """Whether a place is a direct message with the bot. Asked, not read off the id: a group DM may be C (b31)."""
        key = (workspace.me.team, channel)
        if kind is not None:
            self._direct[key] = kind in ("im", "directmessage", "app_home")
        if key not in self._direct:
            self._direct[key] = bool((await self._info(workspace, channel)).get("is_im"))
        return self._direct[key]

    async def reachable(self, workspace: Workspace, channel: str) -> bool:
        """Whether we can write there. Commands and shortcuts work where the app is no member."""
        key = (workspace.me.team, channel)
        if not self._reachable.get(key):  # asked again until it is: it may be invited any moment
            found = await self._info(workspace, channel)
            inside = any(found.get(name) for name in ("is_member", "is_im", "is_mpim"))
            self._reachable[key] = inside or (bool(found.get("id")) and not found.get("is_private"))
        return self._reachable[key]

    async def owner(self, workspace: Workspace, channel: str) -> str | None:
        """The person of a direct message."""
        key = (workspace.me.team, channel)
        if key not in self._owners:
            found = await self._info(workspace, channel)
            self._owners[key] = str(found.get("user") or "")
        return self._owners[key] or None

    def own(self, team: str, channel: str, user: str) -> None:
        """A direct message was written in: it is this person's."""
        self._owners[team, channel] = user

    def of_owner(self, team: str, user: str) -> list[str]:
        """The direct messages of a person, as far as they are known."""
        return [channel for (where, channel), owner in self._owners.items() if where == team and owner == user]

    async def home(self, workspace: Workspace, user: str) -> str | None:
        """The direct message with a person; None where there can be none."""
        try:
            answer = await workspace.client.conversations_open(users=user)
        except SlackApiError:
            return None
        channel = (answer.get("channel") or {}).get("id")
        if not isinstance(channel, str):
            return None
        self._direct[workspace.me.team, channel] = True
        self._owners[workspace.me.team, channel] = user
        return channel

    async def _info(self, workspace: Workspace, channel: str) -> Mapping[str, Any]:
        try:
            answer = await workspace.client.conversations_info(channel=channel)
        except SlackApiError as error:
            if code_of(error) not in ("channel_not_found", "missing_scope", "method_not_supported_for_channel_type"):
                raise
            self._warn(code_of(error), "kinds of places are guessed by their ids")
            return {"is_im": channel.startswith("D")}
        found = answer.get("channel")
        return found if isinstance(found, Mapping) else {}

    def _warn(self, code: str, what: str) -> None:
        if code not in self._warned:
            self._warned.add(code)
            log.warning("slack_scope_missing", code=code, what=what)


def profile_of(user: Mapping[str, Any], me: Me) -> Profile:
    """A person as Slack describes them: https://docs.slack.dev/reference/objects/user-object."""
    shown = user.get("profile") if isinstance(user.get("profile"), Mapping) else {}
    assert isinstance(shown, Mapping)
    handle = clean(str(user.get("name") or user.get("id") or ""))
    name = next(
        (str(n) for n in (shown.get("display_name"), shown.get("real_name"), user.get("real_name")) if n), handle
    )
    return Profile(
        name=clean(name),
        handle=handle,
        bot=bool(user.get("is_bot")),
        outside=_outside(user, me),
        gone=bool(user.get("deleted")),
        zone=clean(str(user["tz"])) if user.get("tz") else None,
    )


def _outside(user: Mapping[str, Any], me: Me) -> bool:
    """Guests, and people of another organisation in a shared channel (RD-12)."""
    if user.get("is_restricted") or user.get("is_ultra_restricted") or user.get("is_stranger"):
        return True
    team, org = user.get("team_id"), user.get("enterprise_user")
    if isinstance(org, Mapping):
        same = me.enterprise is not None and org.get("enterprise_id") == me.enterprise
        return not same and me.team not in (org.get("teams") or ()) and team != me.team
    return bool(team) and team != me.team and (me.enterprise is None or team != me.enterprise)
