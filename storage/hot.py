"""Conversations kept decoded, the least recently used of them forgotten first; both databases share it."""

from __future__ import annotations

from collections import OrderedDict

from bot.core.state import Conversation
from storage.values import text

HOT = 1024  # conversations kept decoded: a long one takes about 100 kB


class Hot:
    """What has been read or written lately. It may be older than the database: the commit's revision finds out."""

    def __init__(self) -> None:
        self._states: OrderedDict[str, Conversation] = OrderedDict()

    def get(self, conversation: str) -> Conversation | None:
        known = self._states.get(text(conversation))
        if known is not None:
            self._states.move_to_end(known.place.conversation)
        return known

    def keep(self, state: Conversation) -> None:
        """A read that was slower than a commit does not put an older state over a newer one."""
        name = state.place.conversation
        known = self._states.get(name)
        if known is None or known.revision < state.revision:
            self._states[name] = state
        self._states.move_to_end(name)
        if len(self._states) > HOT:
            self._states.popitem(last=False)

    def forget(self, conversation: str) -> None:
        self._states.pop(conversation, None)

    def clear(self) -> None:
        self._states.clear()
