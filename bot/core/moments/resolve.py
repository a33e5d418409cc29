"""From a time expression to a moment, in a zone: on the wall clock there first, then in UTC (DST is the zone's)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from bot.core.moments.expression import NOON, Expression, Wrong

MORNING: Final = 9  # the hour of a day that is named without one
FARTHEST: Final = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Moment:
    """`local`: on the wall clock, without a zone; None for a length of time from now.

    `moved`: that hour does not exist on its day, and `at` is the one that the clocks go on to. `twice`: it comes
    twice, and the first one is taken.
    """

    at: datetime
    local: datetime | None = None
    moved: bool = False
    twice: bool = False


def resolve(said: Expression, now: datetime, zone: tzinfo) -> Moment | Wrong | None:
    """The moment that is meant, after `now` (UTC); what is wrong with it; None where none is named."""
    if said.wrong is not None:
        return said.wrong
    if not said.named or (said.days == 0 and said.hour is None and said.part is None):
        return None  # "today" is no moment
    try:
        if said.minutes is not None:
            moment = Moment(now + timedelta(minutes=said.minutes))
        else:
            local = _wall(said, now.astimezone(zone).replace(tzinfo=None))
            moment = on_the_wall(local, zone)
    except (OverflowError, ValueError):
        return "no_such_time" if said.date is not None else "too_far"
    if moment.at <= now:
        return "past"
    return "too_far" if moment.at - now > FARTHEST else moment


def on_the_wall(local: datetime, zone: tzinfo) -> Moment:
    """When a wall clock in that zone shows `local`."""
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    at = first.astimezone(UTC)
    differ = first.utcoffset() != second.utcoffset()
    moved = at.astimezone(zone).replace(tzinfo=None, fold=0) != local
    return Moment(at, local, moved=moved, twice=differ and not moved)


def _wall(said: Expression, now: datetime) -> datetime:
    hour, minute = _clock(said)
    day = _date(said, now)
    if day is None:
        today = datetime.combine(now.date(), time(hour, minute))
        return today if today > now else today + timedelta(days=1)
    found = datetime.combine(day, time(hour, minute))
    if said.weekday is not None and said.weeks is None and found <= now:
        found += timedelta(days=7)
    return found


def _clock(said: Expression) -> tuple[int, int]:
    part = said.part
    if said.hour is None:
        return (MORNING if part is None else part), 0
    hour = said.hour
    if part is not None and part >= NOON and 5 <= hour < NOON:
        hour += NOON  # "tomorrow evening at 9"
    elif part is not None and part == 0 and hour == NOON:
        hour = 0
    return hour, said.minute


def _date(said: Expression, now: datetime) -> date | None:
    today = now.date()
    if said.date is not None:
        year, month, day = said.date
        found = date(year or today.year, month, day)
        return found.replace(year=today.year + 1) if year is None and found < today else found
    if said.weekday is not None:
        days = said.weekday - today.isoweekday()
        if said.weeks is not None:
            return today + timedelta(days=days + 7 * said.weeks)
        days %= 7
        hourless = said.hour is None and said.part is None
        return today + timedelta(days=7 if days == 0 and hourless else days)
    if said.days is not None:
        return today + timedelta(days=said.days)
    if said.weeks is not None:
        return today + timedelta(days=1 - today.isoweekday() + 7 * said.weeks)
    if said.months is not None:
        month = today.month - 1 + said.months
        return date(today.year + month // 12, month % 12 + 1, 1)
    return None
