"""Whose zone and whose quiet hours count for what is said unasked (CH-6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from bot.core.model import Person
from bot.core.moments.zones import after_quiet
from bot.core.policies import Own, Quiet
from bot.core.turn import Turn


@dataclass(frozen=True, slots=True)
class Zone:
    """`assumed`: nobody has told it; it is the program's default."""

    name: str
    rules: tzinfo
    assumed: bool = False


def own_of(turn: Turn, person: Person) -> Own:
    return (turn.settings.own or {}).get(person.id, Own())


def zone_of(turn: Turn, person: Person | None) -> Zone:
    """A person's zone, or the place's. What people have set wins over what the platform knows."""
    known = None if person is None else person.zone
    if person is not None and turn.shared:
        names = (own_of(turn, person).zone, known, turn.settings.zone)
    else:
        names = (turn.settings.zone, known, None)
    for name in names:
        rules = turn.book.zones.zone(name) if name else None
        if name is not None and rules is not None:
            return Zone(name, rules)
    return Zone(turn.book.zone, turn.book.zones.zone(turn.book.zone) or UTC, assumed=True)


def quiet_of(turn: Turn, person: Person | None) -> Quiet | None:
    """The quiet hours of a person in a shared place, or those of the place."""
    if person is not None and turn.shared:
        own = own_of(turn, person).quiet
        return None if own == "off" else own
    here = turn.settings.quiet
    return turn.book.quiet if here is None else None if here == "off" else here


def reminders(turn: Turn) -> int:
    """Hours between reminders here; 0 = none."""
    here = turn.settings.reminders
    return turn.book.reminders if here is None else here


def heard_from(turn: Turn, at: datetime, people: Iterable[Person]) -> datetime:
    """The first moment from `at` on that is quiet neither for the place nor for any of these people."""
    people = tuple(people)
    place = people[0] if people and not turn.shared else None
    spans = [(zone_of(turn, place), quiet_of(turn, None))]
    if turn.shared:
        spans += [(zone_of(turn, person), quiet_of(turn, person)) for person in people]
    for _ in range(len(spans) + 1):  # the end of one person's quiet hours may lie in another's
        before = at
        for zone, quiet in spans:
            at = at if quiet is None else after_quiet(at, zone.rules, quiet)
        if at == before:
            break
    return at
