"""How fast a place and a platform take messages. Each adapter says its platform's rates; the outbox keeps to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

WRONG = timedelta(hours=1)  # nobody waits so long for a turn


@dataclass(frozen=True, slots=True)
class Rate:
    """`messages` in each `per`; up to `burst` of them at once after a pause."""

    messages: int
    per: timedelta
    burst: int = 1

    @property
    def interval(self) -> timedelta:
        return self.per / self.messages


# What one message to a conversation counts against: (name of the budget, its rate), for example the chat and the
# whole bot. Several conversations (the topics of a group) may share a budget.
Pace = Callable[[str], Sequence[tuple[str, Rate]]]


class Pacer:
    """The generic cell rate algorithm: one moment a budget, no counters to reset (ITU-T I.371, annex A)."""

    def __init__(self) -> None:
        self._free_at: dict[str, datetime] = {}

    def wait(self, budgets: Sequence[tuple[str, Rate]], now: datetime) -> timedelta:
        """How long until every budget has room."""
        waits = [self._free(name, rate, now) - now - rate.interval * (rate.burst - 1) for name, rate in budgets]
        return max([timedelta(0), *waits])

    def _free(self, name: str, rate: Rate, now: datetime) -> datetime:
        """A moment far beyond a whole burst was noted under a clock that has been set back since."""
        free = self._free_at.get(name, now)
        return free if free - now <= rate.interval * rate.burst + WRONG else now

    def take(self, budgets: Sequence[tuple[str, Rate]], now: datetime) -> None:
        """Use one message of every budget, at the moment of sending and not before.

        Whoever reserved it while waiting for a slower budget would send beside somebody else's turn in the faster
        one, or hold up all the others.
        """
        for name, rate in budgets:
            self._free_at[name] = max(self._free(name, rate, now), now) + rate.interval
        if len(self._free_at) > 10_000:  # places come and go; a moment in the past says nothing
            self._free_at = {name: free for name, free in self._free_at.items() if free > now}
