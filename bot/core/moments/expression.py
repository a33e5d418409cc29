"""From items to a time expression: "tomorrow at 9", "in 2 hours", "next monday evening". Nothing is resolved yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from bot.core.moments.scan import Item

DAY, NOON = 24 * 60, 12
Wrong = Literal["no_such_time", "two", "past", "too_far", "which_date"]

MISTAKEN: Final = {
    "no_such_time": "there is no such day or time",
    "two": "I read more than one time in it",
    "past": "that moment is over",
    "too_far": "that is more than a year away",
}
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expression:
    """What is said of a moment; None = nothing. `minutes`: from now on. `hour`, `minute`: on the wall clock."""

    minutes: int | None = None
    days: int | None = None
    weekday: int | None = None
    weeks: int | None = None
    months: int | None = None
    date: tuple[int | None, int, int] | None = None
    hour: int | None = None
    minute: int = 0
    part: int | None = None  # the hour that a part of the day stands for
    wrong: Wrong | None = None

    @property
    def named(self) -> bool:
        """Whether anything is said at all."""
        days = (self.minutes, self.days, self.weekday, self.weeks, self.months, self.date)
        return self.wrong is not None or any(one is not None for one in (*days, self.hour, self.part))

    @property
    def dated(self) -> bool:
        """Whether a day is said, or a length of time from now."""
        days = (self.minutes, self.days, self.weekday, self.weeks, self.months, self.date)
        return any(one is not None for one in days)


def either_day(said: Expression) -> tuple[str, str]:
    """The two days that 12/3 may be: "12 March", "3 December"."""
    _, month, day = said.date or (None, 1, 1)
    return f"{day} {MONTHS[month - 1]}", f"{month} {MONTHS[day - 1]}"


@dataclass(slots=True)
class _Read:
    items: Sequence[Item]
    found: Expression = Expression()
    strange: bool = False  # words that are no part of a time

    def value(self, at: int, kind: str) -> int | None:
        return self.items[at].kinds.get(kind) if 0 <= at < len(self.items) else None

    def has(self, at: int, *kinds: str) -> bool:
        return any(self.value(at, kind) is not None for kind in kinds)

    def amount(self, at: int) -> int | None:
        if not 0 <= at < len(self.items):
            return None
        item = self.items[at]
        return item.number if item.number is not None else item.kinds.get("number")

    def keep(self, field: str, value: Any) -> None:
        """A second, different day or hour makes two moments of it."""
        held = getattr(self.found, field)
        if held is not None and held != value:
            self.found = replace(self.found, wrong="two")
        elif self.found.wrong is None:
            self.found = replace(self.found, **{field: value})


def read(items: Sequence[Item]) -> tuple[Expression, bool]:
    """The expression that these items hold, and whether other words are among them."""
    told = _Read([i for i in items if not i.sign])
    at = 0
    while at < len(told.items):
        at = _length(told, at) or _hour(told, at) or _day(told, at) or _part(told, at) or _other(told, at)
    found = told.found
    days = [found.days, found.weekday, found.date, found.months, None if found.weekday else found.weeks]
    two = sum(one is not None for one in (found.minutes, *days)) > 1 or (found.minutes and found.hour is not None)
    return (replace(found, wrong="two") if two and found.wrong is None else found), told.strange


def _length(told: _Read, at: int) -> int:
    """ "in 2 hours", "2 hours later", "half an hour", "1h30" behind "in"."""
    begins = at + 1 if told.has(at, "in") else at
    behind = begins > at or told.has(at - 1, "in")
    item = told.items[begins] if begins < len(told.items) else None
    if item is None:
        return 0
    if item.clock is not None:
        if not behind:
            return 0
        _add(told, item.clock[0] * 60 + item.clock[1])  # "in 1h30"
        return begins + 1
    span = told.value(begins, "span")
    if span is not None and (behind or told.has(begins + 1, "later") or not told.has(begins, "day", "part")):
        _add(told, span)
        return begins + 1 + told.has(begins + 1, "later")
    count, unit = told.amount(begins), told.value(begins + 1, "unit")
    if count is None or unit is None:
        return 0
    follows = told.has(begins + 2, "later")
    if (
        told.has(begins + 1, "oclock")
        and not behind
        and not follows
        and told.has(at - 1, "at", "day", "weekday", "part")
    ):
        return 0  # "à 9h"
    end = begins + 2 + follows
    half = told.value(end, "plus")
    if unit >= DAY:
        told.keep("days", count * unit // DAY)
    else:
        _add(told, count * unit + (half or 0) * (unit == 60))
    return end + (half is not None and unit == 60)


def _add(told: _Read, minutes: int) -> None:
    """ "1 hour and 30 minutes" is one length of time."""
    if minutes <= 0:
        told.found = replace(told.found, wrong="no_such_time")
    else:
        told.found = replace(told.found, minutes=(told.found.minutes or 0) + minutes)


def _hour(told: _Read, at: int) -> int:
    """ "9", "9:30", "9 pm", "下午3点", "half past 9", "halb 10", "9h et demie"."""
    shift = told.value(at, "shift")
    ahead = at + 1 if shift is not None or (told.has(at, "am", "pm") and told.amount(at + 1) is not None) else at
    item = told.items[ahead] if ahead < len(told.items) else None
    if item is None:
        return 0
    half_day = next((kind for kind in ("am", "pm") if told.has(at, kind)), None) if ahead > at else None
    end = ahead + 1
    if item.clock is not None:
        hour, minute = item.clock
    else:
        number = told.amount(ahead)
        marked = told.has(end, "oclock", "am", "pm", "plus") or half_day or shift is not None
        beside = ("at", "day", "weekday", "part", "next", "week", "month")
        dated = ahead > 0 and told.items[ahead - 1].date is not None
        if (
            number is None
            or (item.number is None and told.has(ahead, "at"))
            or not (marked or told.has(ahead - 1, *beside) or dated)
        ):
            return 0
        if (told.has(ahead - 1, "matter") or _for(told, ahead - 1)) and not marked:
            return 0
        hour, minute = number, shift or 0
    more = told.amount(end)
    if (
        item.clock is None
        and shift is None
        and more is not None
        and 10 <= more < 60
        and not told.has(end + 1, "unit")
    ):
        minute, end = more, end + 1  # "9 30", "nine thirty"
    elif told.has(end, "oclock"):
        end += 1
        minutes, counted = told.amount(end), told.value(end + 1, "unit") == 1  # "9点30分", "9 Uhr 30"
        if minutes is not None and (counted or len(told.items[end].written) == 2):
            minute, end = minutes, end + 1 + counted
    if (plus := told.value(end, "plus")) is not None:
        minute, end = minute + plus, end + 1
    after = told.has(end, "am", "pm") and not (told.has(end, "at") and told.has(end + 1, "weekday", "day"))
    if half_day is None and after:  # not "um 9 am Montag"
        half_day, end = ("am" if told.has(end, "am") else "pm"), end + 1
    if hour > 24 or minute > 59 or (hour == 24 and minute):
        told.found = replace(told.found, wrong="no_such_time")
        return end
    if half_day == "pm" and hour < NOON:
        hour += NOON
    elif half_day == "am" and hour == NOON:
        hour = 0
    elif half_day is None and 1 <= hour <= 6 and not item.written.startswith("0"):
        hour += _afternoon(told)
    clock = hour * 60 + minute
    told.keep("hour", clock // 60 % 24)
    told.found = replace(told.found, minute=clock % 60)
    if clock >= DAY and told.found.days is not None:
        told.found = replace(told.found, days=told.found.days + 1)
    return end


def _for(told: _Read, at: int) -> bool:
    """Behind it a bare number is a question's: "remind me tomorrow for 3". With a unit it is a length of time."""
    return told.has(at, "at") and told.has(at, "in")


def _afternoon(told: _Read) -> int:
    """Nobody wants to be asked at 3 in the night; "3 in the morning" is another thing."""
    parts = [value for item in told.items if (value := item.kinds.get("part")) is not None]
    return 0 if any(part < NOON for part in parts) else NOON


def _day(told: _Read, at: int) -> int:
    item = told.items[at]
    if item.date is not None:
        told.keep("date", item.date)
        if item.either and told.found.wrong is None:
            told.found = replace(told.found, wrong="which_date")
        return at + 1
    part = item.kinds.get("part")
    for kind, field in (("day", "days"), ("weekday", "weekday"), ("week", "weeks"), ("month", "months")):
        if kind in item.kinds:
            told.keep(field, item.kinds[kind])
            if part is not None:
                told.keep("part", part)
            return at + 1
    return 0


def _part(told: _Read, at: int) -> int:
    part = told.value(at, "part")
    if part is None:
        return 0
    told.keep("part", part)
    return at + 1


_SMALL: Final = ("filler", "and", "at", "next", "ask", "stop", "vague", "later", "in", "matter", "am", "pm", "oclock")


def _other(told: _Read, at: int) -> int:
    """Small words count for nothing; a number behind "about" is a question's. Anything else is strange."""
    if told.amount(at) is not None and (told.has(at - 1, "matter") or _for(told, at - 1)):
        return at + 1
    if not told.has(at, *_SMALL):
        told.strange = True
    return at + 1
