"""`step` takes one event and says what follows: the new state, orders, records. Nothing happens in here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.core.effects import Effect, Record, Reply
from bot.core.state import Conversation


@dataclass(frozen=True, slots=True)
class Step:
    """What follows from one event. `reason` goes with the outcomes "ignored" and "refused"."""

    state: Conversation
    effects: tuple[Effect, ...] = ()
    records: tuple[Record, ...] = ()
    reply: Reply | None = None
    outcome: Literal["accepted", "ignored", "refused"] = "accepted"
    reason: str | None = None
