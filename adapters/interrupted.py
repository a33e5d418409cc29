"""Long messages that were interrupted between two of their parts, remembered so as not to repeat the first ones."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from bot.core.effects import Say

MOST = 256  # the newest; of an older one the first parts are said twice

Id = TypeVar("Id")  # of a message, as the platform has it


class Interrupted(Generic[Id]):
    def __init__(self) -> None:
        self._begun: OrderedDict[tuple[str, str], list[Id]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._begun)

    def sent_of(self, conversation: str, say: Say, pieces: int) -> list[Id]:
        """What an earlier try has sent of it, to be added to; a message in one piece has no between."""
        return self._begun.setdefault((conversation, say.model_dump_json()), []) if pieces > 1 else []

    def forget(self, sent: list[Id]) -> None:
        """It is through, or never will be; old ones give way."""
        self._begun = OrderedDict((key, one) for key, one in list(self._begun.items())[-MOST:] if one is not sent)
