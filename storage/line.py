"""When to line up messages that stand behind others of their place (`line_up` in storage/sql/outbox.sql).

A place rarely has more than two messages that wait; to look at each claim would cost more than it saves. So it is
done now and then, and at each claim while there is a crowd.
"""

from __future__ import annotations

from collections.abc import Sequence

EVERY = 16  # claims
FRONT = 1000  # rows looked at: some ten milliseconds, where all of them are lined up


class Line:
    def __init__(self) -> None:
        self._claims = 0
        self._first = 0

    def look(self) -> bool:
        """Whether this claim is one of those."""
        self._claims -= 1
        if self._claims >= 0:
            return False
        self._claims = EVERY - 1
        return True

    def found(self, rows: int) -> None:
        """So many were lined up."""
        if rows:
            self._claims = 0

    def in_turn(self, platforms: Sequence[str]) -> Sequence[str]:
        """Each is the first one in its turn: where one has a crowd, the others are not left without room."""
        self._first = (self._first + 1) % max(1, len(platforms))
        return [*platforms[self._first :], *platforms[: self._first]]
