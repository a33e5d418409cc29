"""One measured figure: ours beside a floor, taken in turns in the same run.

Machines differ and are shared; a ratio to a floor that was measured a moment before on the same machine says more
than a number of its own. A round measures both, in the other order every second time; the figure is made of medians.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Goal:
    """What `ours / floor` should be. `at` says on which side of it is good."""

    ratio: float
    at: Literal["least", "most"]

    def met(self, ratio: float) -> bool:
        return ratio >= self.ratio if self.at == "least" else ratio <= self.ratio

    def __str__(self) -> str:
        return f"{'≥' if self.at == 'least' else '≤'} {self.ratio:g}"


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    ours: float
    floor: float
    unit: str
    goal: Goal | None = None  # none: worth knowing, and nothing was promised
    note: str = ""  # for people: at what size

    @property
    def ratio(self) -> float:
        return self.ours / self.floor

    def as_json(self) -> dict[str, Any]:
        """As in bench/results.json. `goal` is the ratio to reach: at least for rates ("/s"), at most for times.

        `goal` and `met` are null where nothing was promised.
        """
        return {
            "name": self.name,
            "ours": _digits(self.ours),
            "floor": _digits(self.floor),
            "unit": self.unit,
            "ratio": _digits(self.ratio),
            "goal": None if self.goal is None else self.goal.ratio,
            "met": None if self.goal is None else self.goal.met(self.ratio),
        }


def interleaved(rounds: int, ours: Callable[[], float], floor: Callable[[], float]) -> tuple[float, float]:
    """The medians of several rounds of both."""
    found: dict[str, list[float]] = {"ours": [], "floor": []}
    for number in range(rounds):
        order = [("ours", ours), ("floor", floor)]
        for name, measure in order if number % 2 == 0 else order[::-1]:
            found[name].append(measure())
    return median(found["ours"]), median(found["floor"])


def table(figures: list[Figure]) -> str:
    """For people."""
    head = f"{'figure':<20} {'ours':>10} {'floor':>10} {'unit':<5} {'ratio':>8}  {'goal':<8} met"
    rows = [
        f"{f.name:<20} {_digits(f.ours):>10} {_digits(f.floor):>10} {f.unit:<5} {_digits(f.ratio):>8}  "
        f"{f.goal or '–'!s:<8} {_met(f)}{f'  ({f.note})' if f.note else ''}"
        for f in figures
    ]
    return "\n".join([head, *rows])


def _met(figure: Figure) -> str:
    if figure.goal is None:
        return "–"
    return "yes" if figure.goal.met(figure.ratio) else "NO"


def _digits(value: float) -> float:
    """Three digits: more would be noise."""
    return float(f"{value:.3g}")
