"""Publishes home tabs: when one is opened, and after something was decided in it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence

import structlog

from adapters.slack.codec import Payload, person_of
from adapters.slack.directory import Directory
from adapters.slack.errors import code_of
from adapters.slack.home import asked_by, decided_by, home_view, waiting_for
from adapters.slack.places import PLATFORM, Known, address_of, conversation_of, link_to, message_at, person_id
from adapters.slack.roots import Roots
from adapters.slack.workspaces import Workspace
from bot.core.model import Person
from bot.core.state import Conversation
from bot.ports import Store, readable

ACTED = f"{PLATFORM}:acted:"
REMEMBERED = 20  # conversations that a person has acted in, the latest first
LOOKED_THROUGH = 100  # conversations with something open, the newest

log = structlog.get_logger(__name__)


class Homes:
    def __init__(
        self,
        store: Store,
        directory: Directory,
        roots: Roots,
        fresh: Callable[[], str] = lambda: secrets.token_hex(4),
    ) -> None:
        self._store, self._directory, self._roots, self._fresh = store, directory, roots, fresh
        self._acted: dict[str, list[str]] = {}

    async def acted(self, person: str, conversation: str) -> None:
        """Remember where somebody has acted: what they asked and decided is there."""
        known = await self.acted_in(person)
        if known[:1] == [conversation]:
            return
        known = [conversation, *(one for one in known if one != conversation)][:REMEMBERED]
        self._acted[person] = known
        await self._store.keep(ACTED + person, json.dumps(known))

    async def opened(self, workspace: Workspace, body: Payload) -> None:
        """`app_home_opened` comes for both tabs."""
        event = body.get("event") or {}
        if event.get("tab") == "home" and isinstance(event.get("user"), str):
            await self.publish(workspace, event["user"])

    async def publish(self, workspace: Workspace, user: str) -> None:
        """Never raises: a home tab that is not drawn is drawn when it is opened again."""
        try:
            profile = await self._directory.person(workspace, user)
            person = person_of(user, Known(workspace.me, {user: profile}))
            states = await self._states(workspace, user, person)
            roots = {s.place.conversation: await self._roots.root_of(s.place.conversation) for s in states}

            def link(conversation: str, message: str | None) -> str | None:
                root = roots.get(conversation)
                _, ts = message_at(message) if message else (None, root)
                return ts and link_to(workspace.me.url, address_of(conversation).channel, ts, root)

            waiting = waiting_for(states, person, PLATFORM)
            view = home_view(waiting, asked_by(states, person), decided_by(states, person), link, self._fresh())
            await workspace.client.views_publish(user_id=user, view=view)
        except Exception as error:  # noqa: BLE001
            log.warning("home_not_published", error=code_of(error) or type(error).__name__)

    async def _states(self, workspace: Workspace, user: str, person: Person) -> Sequence[Conversation]:
        team = f"{PLATFORM}:{workspace.me.team}:"
        names = [
            *await self.acted_in(person_id(user)),
            *await self._store.asking(f"{PLATFORM}:{workspace.me.team}", LOOKED_THROUGH),
        ]
        names += [
            conversation_of(workspace.me.team, one) for one in self._directory.of_owner(workspace.me.team, user)
        ]
        states: list[Conversation] = []
        for name in dict.fromkeys(name for name in names if name.startswith(team)):
            state = await readable(self._store, name)
            if state is not None and (state.place.shared or _theirs(state, person)):
                states.append(state)
        return states

    async def acted_in(self, person: str) -> list[str]:
        """Conversations that somebody has acted in lately, the latest first."""
        if person not in self._acted:
            kept = (await self._store.kept(ACTED + person)).get(ACTED + person)
            self._acted[person] = [] if kept is None else list(json.loads(kept))
        return self._acted[person]


def _theirs(state: Conversation, person: Person) -> bool:
    """A direct message is nobody else's to be shown."""
    return any(session.requester.id == person.id for session in state.sessions)
