"""Threads that begin with a card of ours: which conversation they are, kept for good, for any process to know.

And threads whose first message was deleted: what is posted into one of these, Slack takes, and shows in the channel
(b25 of the field cases).
"""

from __future__ import annotations

from collections import OrderedDict

from adapters.slack.codec import said_id
from adapters.slack.places import PLATFORM, ROOTLESS, address_of
from bot.core.events import MessageReceived
from bot.ports import Store

ROOT = f"{PLATFORM}:root:"
THREAD = f"{PLATFORM}:thread:"
DEAD = f"{PLATFORM}:dead:"
MOST = 1000


class Roots:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._roots: dict[str, str] = {}
        self._threads: dict[str, str] = {}
        self._dead: set[str] | None = None  # not looked up yet
        self._said: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def root_of(self, conversation: str) -> str | None:
        """The `ts` that a conversation's messages go under; None while there is none, and in direct messages."""
        root = address_of(conversation).root
        if root is None or not root.startswith(ROOTLESS):
            return root
        if conversation not in self._roots:
            key = ROOT + conversation
            kept = (await self._store.kept(key)).get(key)
            if kept is None:
                return None
            self._roots[conversation] = kept
        return self._roots[conversation]

    async def plant(self, conversation: str, ts: str) -> None:
        """The first card of a conversation without a thread has been posted: its thread begins here."""
        address = address_of(conversation)
        thread = f"{THREAD}{address.team}:{address.channel}:{ts}"
        await self._store.keep(thread, conversation)
        await self._store.keep(ROOT + conversation, ts)
        self._roots[conversation] = ts
        self._threads[thread] = conversation

    async def bury(self, conversation: str) -> None:
        """The message that the thread began with is gone: nothing more is posted into it."""
        if await self._store.load(conversation) is not None:
            await self._store.keep(DEAD + conversation, "")
            (await self._buried()).add(conversation)

    async def dead(self, conversation: str) -> bool:
        return conversation in await self._buried()

    async def _buried(self) -> set[str]:
        """Another process may have buried more; this one learns of it when it posts there."""
        if self._dead is None:
            self._dead = {key.removeprefix(DEAD) for key in await self._store.kept(DEAD)}
        return self._dead

    async def who_said(self, team: str, channel: str, ts: str) -> str | None:
        """The id of the person whose message it is, where it was heard."""
        said = await self._store.event(said_id(team, channel, ts))
        return said.event.person.id if said is not None and isinstance(said.event, MessageReceived) else None

    def said_in(self, channel: str, ts: str, root: str) -> None:
        """Where a message was said, for an answer that speaks for the channel as a whole."""
        self._said[channel, ts] = root
        while len(self._said) > MOST:
            self._said.popitem(last=False)

    def thread_of(self, channel: str, ts: str) -> str | None:
        return self._said.get((channel, ts))

    async def conversation_at(self, team: str, channel: str, ts: str) -> str | None:
        """The conversation whose thread begins at a message of ours."""
        thread = f"{THREAD}{team}:{channel}:{ts}"
        if thread not in self._threads:
            kept = (await self._store.kept(thread)).get(thread)
            if kept is None:
                return None
            self._threads[thread] = kept
        return self._threads[thread]
