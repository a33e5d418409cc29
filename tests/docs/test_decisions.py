"""docs/decisions.md is referred to by number, so each number stands once, in order."""

from __future__ import annotations

import re
from pathlib import Path

DECISIONS = Path(__file__).parents[2] / "docs" / "decisions.md"


def test_decisions_are_numbered_without_gap_or_repeat() -> None:
    numbers = [int(n) for n in re.findall(r"^\*\*(\d+)\.", DECISIONS.read_text(encoding="utf-8"), re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers
