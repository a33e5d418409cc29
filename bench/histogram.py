"""How long things took, counted in buckets that are two percent wide: any share can be asked for afterwards.

An average hides the few that somebody waited for, and a list of a million would weigh more than what is measured.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

WIDTH = math.log(1.02)
SMALLEST = 1e-7  # seconds: shorter than any clock of ours can tell


class Histogram:
    def __init__(self, seconds: Iterable[float] = ()) -> None:
        self._counted: Counter[int] = Counter()
        for one in seconds:
            self.record(one)

    def record(self, seconds: float) -> None:
        self._counted[max(0, math.ceil(math.log(max(seconds, SMALLEST) / SMALLEST) / WIDTH))] += 1

    def at(self, percent: float) -> float:
        """The shortest time, in seconds, that so many did not exceed; the end of its bucket, so never too short."""
        left = math.ceil(self._counted.total() * percent / 100)
        for bucket in sorted(self._counted):
            left -= self._counted[bucket]
            if left <= 0:
                return SMALLEST * math.exp(bucket * WIDTH)
        raise ValueError("nothing has been recorded")
