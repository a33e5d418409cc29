"""Conversations kept decoded, the least recently used of them forgotten first; both databases share it."""

from __future__ import annotations

from collections import OrderedDict

from bot.core.codec import NOTHING, Parts
from bot.core.state import Conversation
from storage.values import text

HOT = 1024  # conversations kept decoded: a long one takes about 100 kB
WRITTEN = 256  # of which the JSON is kept as well: again as much


class Hot:
    """What has been read or written lately. It may be older than the database: the commit's revision finds out."""

    def __init__(self) -> None:
        self._states: OrderedDict[str, Conversation] = OrderedDict()
        self._parts: OrderedDict[str, Parts] = OrderedDict()

    def get(self, conversation: str) -> Conversation | None:
        known = self._states.get(text(conversation))
        if known is not None:
            self._states.move_to_end(known.place.conversation)
        return known

    def parts(self, conversation: str) -> Parts:
        """What its state was made of when it was last written."""
        return self._parts.get(text(conversation), NOTHING)

    def keep(self, state: Conversation, parts: Parts = NOTHING) -> None:
        """A read that was slower than a commit does not put an older state over a newer one."""
        name = state.place.conversation
        known = self._states.get(name)
        if known is None or known.revision < state.revision:
            self._states[name] = state
        self._states.move_to_end(name)
        self._parts.pop(name, None)
        if parts:
            self._parts[name] = parts
            if len(self._parts) > WRITTEN:
                self._parts.popitem(last=False)
        if len(self._states) > HOT:
            self._states.popitem(last=False)

    def forget(self, conversation: str) -> None:
        self._states.pop(conversation, None)
        self._parts.pop(conversation, None)

    def clear(self) -> None:
        self._states.clear()
        self._parts.clear()
