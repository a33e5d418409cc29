"""Conversations kept decoded, the least recently used of them forgotten first; both databases share it."""

from __future__ import annotations

from collections import OrderedDict

from bot.core.codec import Ended
from bot.core.state import Conversation
from storage.values import text

HOT = 1024  # conversations kept decoded: a long one takes about 100 kB


class Hot:
    """What has been read or written lately. It may be older than the database: the commit's revision finds out."""

    def __init__(self) -> None:
        self._states: OrderedDict[str, tuple[Conversation, Ended]] = OrderedDict()

    def get(self, conversation: str) -> Conversation | None:
        name = text(conversation)
        known = self._states.get(name)
        if known is None:
            return None
        self._states.move_to_end(name)
        return known[0]

    def ended(self, conversation: str) -> Ended:
        """What was written of its sessions that have ended, when the state was kept."""
        known = self._states.get(text(conversation))
        return {} if known is None else known[1]

    def keep(self, state: Conversation, ended: Ended | None = None) -> None:
        """A read that was slower than a commit does not put an older state over a newer one."""
        name = state.place.conversation
        known = self._states.get(name)
        if known is None or known[0].revision < state.revision:
            self._states[name] = state, ended or {}
        self._states.move_to_end(name)
        if len(self._states) > HOT:
            self._states.popitem(last=False)

    def forget(self, conversation: str) -> None:
        self._states.pop(conversation, None)

    def clear(self) -> None:
        self._states.clear()
