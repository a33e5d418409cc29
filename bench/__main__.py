"""`make bench`: every figure beside its floor, as a table and in bench/results.json. Takes some three minutes.

Growth is measured at a small share of its full size, which the table names; `make soak` builds the full one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bench import growth, idle, latency, orm, postgres, replies, slack, start, steps, telegram
from bench.figure import Figure, table

RESULTS = Path(__file__).with_name("results.json")


def measure(
    rounds: int = 5,
    *,
    people: int = 64,
    intakes: int = 3,
    share: float = 1.0,
    grown: float = growth.SMALL,
    rest: float = idle.SECONDS,
) -> list[Figure]:
    """Small values for the last five make a run that only shows that everything still works."""
    return [
        *replies.figures(rounds, share),
        *steps.figures(rounds, people, intakes),
        *latency.figures(rounds, people, intakes),
        *orm.figures(min(rounds, 3), people, intakes),
        *postgres.figures(rounds, people, intakes),
        *idle.figures(rest),
        *slack.figures(rounds, share),
        *start.figures(rounds),
        *growth.figures(min(rounds, 3), share=grown),
        *telegram.figures(min(rounds, 3), 2 * people),
    ]


def main(results: Path = RESULTS) -> int:
    figures = measure()
    results.write_text(json.dumps([figure.as_json() for figure in figures], indent=1) + "\n", encoding="utf-8")
    print(table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
