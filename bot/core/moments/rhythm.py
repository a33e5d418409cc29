"""Quiet hours and the rhythm of reminders, as people and operators write them."""

from __future__ import annotations

import re
from typing import Final

from bot.core.patterns import regex

_SPAN: Final = regex(
    r"(?:from\s|von\s)?\s*(\d{1,2})(?:[:.h](\d{2}))?\s*(am|pm|h|uhr)?\s*(?:-|–|—|to|until|bis)"
    r"\s*(\d{1,2})(?:[:.h](\d{2}))?\s*(am|pm|h|uhr)?",
    re.IGNORECASE,
)
_EVERY: Final = regex(r"(?:every\s+)?(\d{1,3})\s*(h|hour|hours|d|day|days)", re.IGNORECASE)
_NAMED: Final = {
    "off": 0,
    "none": 0,
    "no": 0,
    "daily": 24,
    "every day": 24,
    "day": 24,
    "weekly": 168,
    "every week": 168,
}
LONGEST: Final = 31 * 24  # hours


def quiet_hours(words: str) -> tuple[int, int] | None:
    """`22:00-08:00`, `22-8`, `10pm to 7am`, `22h-8h` as minutes of the day; None for anything else, an empty span."""
    found = _SPAN.fullmatch(words.strip())
    if found is None:
        return None
    begins, ends = _minutes(found[1], found[2], found[3]), _minutes(found[4], found[5], found[6])
    return None if begins is None or ends is None or begins == ends else (begins, ends)


def _minutes(hour: str, minute: str | None, half: str | None) -> int | None:
    hours, minutes = int(hour), int(minute or 0)
    if half is not None and half.lower().endswith("m"):
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if half.lower() == "pm" else 0)
    total = hours * 60 + minutes
    return total % 1440 if minutes < 60 and total <= 1440 else None


def hours_between(words: str) -> int | None:
    """`off`, `daily`, `weekly`, `every 4 hours`, `4h` as hours, 0 = none; None for anything else."""
    said = " ".join(words.casefold().split())
    if said in _NAMED:
        return _NAMED[said]
    found = _EVERY.fullmatch(said)
    if found is None:
        return None
    hours = int(found[1]) * (24 if found[2].startswith("d") else 1)
    return hours if 1 <= hours <= LONGEST else None


def every(hours: int) -> str:
    """In words: `daily`."""
    named = {0: "off", 24: "daily", 168: "weekly"}
    return named.get(hours, f"every {hours // 24} days" if hours % 24 == 0 else f"every {hours} h")
