"""Cards that stand in several messages: which ones, and what each of them shows.

A round longer than a message is posted in parts. The last part carries the buttons and gives the card its name; the
others have to be found again when the card is redrawn, by any worker and after a restart, so they are kept in the
store. They are written before the card counts as sent: in between, a crash posts it again.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from adapters.telegram.places import PLATFORM

CARD = f"{PLATFORM}:card:"
PART = f"{PLATFORM}:part:"
REMEMBERED = 4096  # cards; a card of one message is remembered too, so that nobody has to look for its parts


class Keeping(Protocol):
    """Of the store, what is needed here."""

    async def keep(self, key: str, value: str | None) -> None: ...

    async def kept(self, prefix: str) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class Piece:
    """One message of a card. `upto`: the last question in it; `sum`: a fingerprint of what it shows."""

    message: str
    upto: int
    sum: str


class Cards:
    def __init__(self, store: Keeping) -> None:
        self._store = store
        self._known: OrderedDict[tuple[str, str], tuple[Piece, ...]] = OrderedDict()

    async def pieces(self, conversation: str, last: str) -> tuple[Piece, ...]:
        """The messages of a card from its first to its last; empty where it is one message."""
        found = self._known.get((conversation, last))
        if found is None:
            key = f"{CARD}{conversation}:{last}"
            value = (await self._store.kept(key)).get(key)
            found = () if value is None else tuple(Piece(*one) for one in json.loads(value))
            self._remember(conversation, last, found)
        return found

    async def put(self, conversation: str, pieces: Sequence[Piece]) -> None:
        """A card is drawn. Of one that is a single message again, nothing is kept."""
        last = pieces[-1].message
        before = self._known.get((conversation, last), ())
        now = tuple(pieces) if len(pieces) > 1 else ()
        if before == now:
            self._remember(conversation, last, now)
            return
        value = json.dumps([[p.message, p.upto, p.sum] for p in now]) if now else None
        await self._store.keep(f"{CARD}{conversation}:{last}", value)
        for piece in {p.message for p in before} ^ {p.message for p in now}:
            key = f"{PART}{conversation}:{piece}"
            await self._store.keep(key, last if any(p.message == piece for p in now) else None)
        self._remember(conversation, last, now)

    async def last_of(self, conversation: str, part: str) -> str | None:
        """The card that a message is an earlier part of: people reply to the part that they are reading."""
        key = f"{PART}{conversation}:{part}"
        return (await self._store.kept(key)).get(key)

    def _remember(self, conversation: str, last: str, pieces: tuple[Piece, ...]) -> None:
        self._known[conversation, last] = pieces
        self._known.move_to_end((conversation, last))
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
