"""People who have left, and channels that are archived, deleted or open again: what waits there is told (CH-7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.contract import UNSTAMPED
from adapters.slack.directory import Directory, profile_of
from adapters.slack.places import PLATFORM, address_of, conversation_of, person_id
from adapters.slack.workspaces import Workspace
from bot.core.events import Envelope, PlaceLost, PlaceRestored
from bot.core.state import Conversation
from bot.ports import Store, readable
from bot.runner import Runner

LOST = {
    "channel_archive": "the channel was archived",
    "group_archive": "the channel was archived",
    "channel_deleted": "the channel was deleted",
}
RESTORED = ("channel_unarchive", "group_unarchive", "member_joined_channel")
LEFT = "the person's account was deactivated"

Body = Mapping[str, Any]


class Reach:
    def __init__(self, store: Store, runner: Runner, directory: Directory) -> None:
        self._store, self._runner, self._directory = store, runner, directory

    async def channel_changed(self, workspace: Workspace, body: Body) -> None:
        event = _event(body)
        kind, channel = str(event.get("type")), event.get("channel")
        if not isinstance(channel, str) or (
            kind == "member_joined_channel" and event.get("user") != workspace.me.user
        ):
            return
        team = workspace.me.team
        for state in await self._open(team):
            address = address_of(state.place.conversation)
            if address.channel != channel:
                continue
            if kind in LOST:
                await self._tell(state, PlaceLost(reason=LOST[kind]), event)
            elif state.unreachable is not None or any(s.undelivered is not None for s in state.sessions):
                await self._tell(state, PlaceRestored(), event)

    async def user_changed(self, workspace: Workspace, body: Body) -> None:
        """Somebody has left: what they were asked in their own DM is undeliverable from now on (b40)."""
        event, team = _event(body), workspace.me.team
        user = event.get("user")
        if not isinstance(user, Mapping) or not isinstance(user.get("id"), str):
            return
        identity = str(user["id"])
        if "profile" in user or "name" in user:
            self._directory.learn(team, identity, profile_of(user, workspace.me))
        else:
            self._directory.forget(team, identity)
        if not (await self._directory.person(workspace, identity)).gone:
            return
        known = {conversation_of(team, channel) for channel in self._directory.of_owner(team, identity)}
        for state in await self._open(team):
            theirs = not state.place.shared and any(s.requester.id == person_id(identity) for s in state.sessions)
            if theirs or state.place.conversation in known:
                await self._tell(state, PlaceLost(reason=LEFT), event)

    async def _open(self, team: str) -> list[Conversation]:
        """Conversations of a workspace in which something is open."""
        prefix = f"{PLATFORM}:{team}:"
        names = [one for one in await self._store.open_conversations(PLATFORM) if one.startswith(prefix)]
        return [state for name in names if (state := await readable(self._store, name)) is not None]

    async def _tell(self, state: Conversation, what: PlaceLost | PlaceRestored, event: Body) -> None:
        where = state.place.conversation
        name = f"{where}:{event.get('type')}:{event.get('event_ts')}"
        await self._runner.handle(Envelope(event_id=name, place=state.place, at=UNSTAMPED, event=what))


def _event(body: Body) -> Body:
    found = body.get("event")
    return found if isinstance(found, Mapping) else {}
