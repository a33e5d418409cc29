"""What somebody has put into a form and not sent: kept, so that opening it again finds it there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from adapters.slack.filled import Kept, bases_of, fields_of, is_filled, round_of
from adapters.slack.places import PLATFORM, person_id
from bot.core.events import FormField
from bot.ports import Store

DRAFT = f"{PLATFORM}:draft:"
LONGEST = 40_000  # characters; a form of 24 questions full to the brim is longer, and is not kept


class Drafts:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def keep(self, user: str, view: Mapping[str, Any]) -> None:
        """Nothing in a form's state is nothing new: a closed form may tell no state at all."""
        round_, fields, bases = round_of(view), fields_of(view).fields, bases_of(view)
        if round_ is None or not is_filled(view):
            return
        said = {n: [bases.get(n, ""), field.model_dump(exclude_none=True)] for n, field in fields.items()}
        words = json.dumps(said) if said else None
        if words is None or len(words) <= LONGEST:
            await self._store.keep(_key(person_id(user), round_), words)

    async def of(self, person: str, round_: str) -> dict[int, Kept]:
        key = _key(person, round_)
        kept = (await self._store.kept(key)).get(key)
        said = {} if kept is None else json.loads(kept)
        return {int(n): Kept(FormField(**field), base) for n, (base, field) in said.items()}

    async def forget(self, person: str, round_: str) -> None:
        await self._store.keep(_key(person, round_), None)


def _key(person: str, round_: str) -> str:
    return f"{DRAFT}{person}:{round_}"
