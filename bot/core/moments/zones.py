"""Time zones by name, and quiet hours. The rules of named zones are handed in; fixed offsets need none."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final

from bot.core.moments.resolve import on_the_wall
from bot.core.patterns import regex

_FIXED: Final = regex(r"(?:utc|gmt)?\s*(?:([+\-−–])\s*(\d{1,2})(?::?(\d{2}))?)?", re.IGNORECASE)
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Zones:
    """Fixed offsets alone: `UTC`, `UTC+5:30`. A subclass knows the zones that have rules."""

    def named(self, words: str) -> str | None:
        """The name of the zone that somebody means: `utc +2` → `UTC+02:00`. None for no zone known."""
        found = _FIXED.fullmatch(words.strip())
        if not words.strip() or found is None:
            return None
        if found[1] is None:
            return "UTC"
        minutes = int(found[2]) * 60 + int(found[3] or 0)
        if minutes > 14 * 60 or int(found[3] or 0) > 59:
            return None
        return f"UTC{'+' if found[1] == '+' else '-'}{minutes // 60:02}:{minutes % 60:02}" if minutes else "UTC"

    def zone(self, name: str) -> tzinfo | None:
        """The zone of this name, as `named` gives it."""
        found = _FIXED.fullmatch(name)
        if found is None:
            return None
        minutes = int(found[2] or 0) * 60 + int(found[3] or 0)
        return timezone(timedelta(minutes=minutes if found[1] == "+" else -minutes)) if minutes else UTC


def in_words(at: datetime, zone: tzinfo, name: str, now: datetime) -> str:
    """`Tue 1 Dec, 09:00 Europe/Berlin (UTC+1)`; with the year where it is another one than now."""
    local = at.astimezone(zone)
    year = "" if local.year == now.astimezone(zone).year else f" {local.year}"
    shown = f"{_DAYS[local.weekday()]} {local.day} {_MONTHS[local.month - 1]}{year}, {local:%H:%M} {name}"
    return shown if name.startswith("UTC") else f"{shown} ({_offset(local)})"


def _offset(local: datetime) -> str:
    minutes = int((local.utcoffset() or timedelta()).total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours}" + (f":{rest:02}" if rest else "")


def span_in_words(quiet: tuple[int, int]) -> str:
    return "–".join(f"{minutes // 60:02}:{minutes % 60:02}" for minutes in quiet)


def after_quiet(at: datetime, zone: tzinfo, quiet: tuple[int, int]) -> datetime:
    """`at`, or the end of the quiet hours that it falls into."""
    begins, ends = quiet
    local = at.astimezone(zone)
    minute = local.hour * 60 + local.minute
    inside = begins <= minute < ends if begins < ends else minute >= begins or minute < ends
    if not inside or begins == ends:
        return at
    day = local.date() + timedelta(days=1 if begins > ends and minute >= begins else 0)
    end = datetime(day.year, day.month, day.day) + timedelta(minutes=ends)  # noqa: DTZ001 - a wall clock has no zone
    return max(at, on_the_wall(end, zone).at)
