"""Dates in a message: "3 December", "Dec 3rd", "3. Dezember 2027", "13/3", "2027-03-13", 12月3日."""

from __future__ import annotations

from typing import Final, NamedTuple

from bot.core.moments.words import TimeWords
from bot.core.patterns import regex

_ISO = regex(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_DOTTED = regex(r"(\d{1,2})\.\s?(\d{1,2})\.(?:\s?(\d{4})(?!\d))?(?!\d)")
_SLASHED = regex(r"(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d{2}))?(?![\d/])")
_SIGNED = regex(r"(?:(\d{4}) ?[年년] ?)?(\d{1,2}) ?[月월] ?(\d{1,2}) ?(?:[日号號일]|(?!\d))")
_DAY = regex(r"(\d{1,2})(?![\d:/])")
_YEAR = regex(r",? ?(\d{4})(?![\d:])")
_GAP = regex(r"\.? ?")
_HOURS: Final = frozenset({"am", "pm", "oclock", "unit", "plus"})  # behind a number, they make it no day
MONTHS: Final = 12


class Found(NamedTuple):
    """Year (None = the next such day), month, day; `end` in the text. `either`: day and month may be meant the other
    way round. `slashed`: two numbers and a slash may also be no date at all."""

    date: tuple[int | None, int, int]
    end: int
    either: bool = False
    slashed: bool = False


def numbered(plain: str, at: int, words: TimeWords) -> Found | None:
    """A date that begins with a number, in folded text."""
    if found := _ISO.match(plain, at):
        return Found((int(found[1]), int(found[3]), int(found[4])), found.end())
    if found := _SIGNED.match(plain, at):
        return Found((int(found[1]) if found[1] else None, int(found[2]), int(found[3])), found.end())
    if found := _DOTTED.match(plain, at):
        return Found((int(found[3]) if found[3] else None, int(found[2]), int(found[1])), found.end())
    if found := _SLASHED.match(plain, at):
        return _slashed(int(found[1]), int(found[2]), found[3], found.end(), plain, words)
    day = _DAY.match(plain, at)
    if day is None:
        return None
    month, end = _month(plain, day.end(), words)
    return None if month is None else _with_year(plain, month, int(day[1]), end)


def named(plain: str, end: int, month: int, words: TimeWords) -> Found | None:
    """A date that begins with the name of its month, which ends there: "December 3", "Dec. 3rd"."""
    gap = _GAP.match(plain, end)
    day = _DAY.match(plain, end if gap is None else gap.end())
    if day is None:
        return None
    behind = _phrase(plain, day.end(), words)
    if behind is not None and behind[1] & _HOURS and "ordinal" not in behind[1]:
        return None  # "in December 9 am"
    ordinal = behind is not None and "ordinal" in behind[1]
    return _with_year(plain, month, int(day[1]), behind[0] if behind is not None and ordinal else day.end())


def _month(plain: str, at: int, words: TimeWords) -> tuple[int | None, int]:
    """The month behind a day: "th of december"."""
    for _ in range(3):
        gap = _GAP.match(plain, at)
        at = at if gap is None else gap.end()
        found = words.at(plain, at) if at < len(plain) else None
        if found is None:
            return None, at
        if "month_name" in found[1]:
            return found[1]["month_name"], found[0]
        if "ordinal" not in found[1]:
            return None, at
        at = found[0]
    return None, at


def _with_year(plain: str, month: int, day: int, end: int) -> Found:
    year = _YEAR.match(plain, end)
    return Found((None if year is None else int(year[1]), month, day), end if year is None else year.end())


def _slashed(one: int, other: int, said: str | None, end: int, plain: str, words: TimeWords) -> Found | None:
    """Day and month, in the order that is possible. "1/2 hour" is no date."""
    behind = _phrase(plain, end, words)
    if behind is not None and "unit" in behind[1] and said is None:
        return None
    year = None if said is None else int(said) + (2000 if len(said) == 2 else 0)
    day, month = (other, one) if other > MONTHS >= one else (one, other)
    return Found((year, month, day), end, either=one <= MONTHS and other <= MONTHS and one != other, slashed=True)


def _phrase(plain: str, at: int, words: TimeWords) -> tuple[int, frozenset[str]] | None:
    """The phrase right behind, and what it can mean."""
    at += plain.startswith(" ", at)
    found = words.at(plain, at) if at < len(plain) else None
    return None if found is None else (found[0], frozenset(found[1]))
