"""`/settings zone`, `quiet`, `reminders`, and `my zone`, `my quiet`: when something unasked may be said (CH-6)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.capture import quote
from bot.core.effects import Button
from bot.core.flows import hours
from bot.core.model import Person
from bot.core.moments.rhythm import every, hours_between, quiet_hours
from bot.core.moments.zones import span_in_words
from bot.core.policies import Own, Settings
from bot.core.turn import Turn

WORDS = ("zone", "timezone", "quiet", "reminders", "reminder", "my")
TOLD = "settings"  # the timer by which threads learn of a change in the place that they belong to
MOST_OWN = 200  # people of one place with settings of their own, the latest
USAGE = (
    "/settings reminders off|daily|weekly|every 4 hours",
    "/settings quiet 22:00-08:00|off",
    "/settings zone Europe/Berlin",
)
USAGE_SHARED = "For yourself alone: /settings my zone Europe/Berlin · /settings my quiet 22:00-08:00|off"


def changed(turn: Turn, now: Settings, words: Sequence[str], person: Person) -> Settings | str:
    """The settings after the change, or what is wrong with it and what to type."""
    what, rest = words[0], " ".join(words[1:])
    if what == "my":
        return _own(turn, now, words[1:], person)
    if what in ("zone", "timezone"):
        zone = _zone(turn, rest)
        return zone[0] if isinstance(zone, tuple) else now.model_copy(update={"zone": zone})
    if what == "quiet":
        quiet = "off" if rest.casefold() in ("off", "none", "no") else quiet_hours(rest)
        return _no_quiet(rest) if quiet is None else now.model_copy(update={"quiet": quiet})
    hours_ = hours_between(rest)
    if hours_ is None:
        return (
            f"I can't read “{quote(rest)}” as a rhythm; nothing is changed. "
            "Write: /settings reminders daily — or weekly, every 4 hours, off"
        )
    return now.model_copy(update={"reminders": hours_})


def _own(turn: Turn, now: Settings, words: Sequence[str], person: Person) -> Settings | str:
    if not turn.shared:  # here the place is the person
        return changed(turn, now, [w.casefold() if n == 0 else w for n, w in enumerate(words)] or ["?"], person)
    what, rest = (words[0].casefold() if words else ""), " ".join(words[1:])
    mine = (now.own or {}).get(person.id, Own())
    if what in ("zone", "timezone"):
        zone = _zone(turn, rest)
        if isinstance(zone, tuple):
            return zone[0]
        mine = mine.model_copy(update={"zone": zone})
    elif what == "quiet":
        quiet = "off" if rest.casefold() in ("off", "none", "no") else quiet_hours(rest)
        if quiet is None:
            return _no_quiet(rest)
        mine = mine.model_copy(update={"quiet": quiet})
    else:
        return f"What is your own here is zone and quiet; nothing is changed. {USAGE_SHARED}"
    others = [(who, own) for who, own in (now.own or {}).items() if who != person.id]
    return now.model_copy(update={"own": dict([*others[1 - MOST_OWN :], (person.id, mine)])})


def _zone(turn: Turn, words: str) -> str | tuple[str]:
    """The zone's name; in a tuple what is wrong."""
    name = turn.book.zones.named(words)
    if name is not None:
        return name
    wrong = f"I know no time zone “{quote(words)}”; nothing is changed."
    return (f"{wrong} Write its name or its city: /settings zone Europe/Berlin — or the difference: UTC+2",)


def _no_quiet(words: str) -> str:
    return (
        f"I can't read “{quote(words)}” as quiet hours; nothing is changed. "
        "Write from and to: /settings quiet 22:00-08:00 — or: /settings quiet off"
    )


# -- showing -------------------------------------------------------------------------------------------------------


def shown(turn: Turn, person: Person) -> list[str]:
    """What holds here, and for this person where that is something else."""
    here = hours.zone_of(turn, None if turn.shared else person)
    quiet = hours.quiet_of(turn, None)
    zone = f"{here.name} (nobody has told it)" if here.assumed else here.name
    asleep = "none" if quiet is None else span_in_words(quiet)
    lines = [f"Reminders: {every(hours.reminders(turn))}. Quiet hours: {asleep}. Time zone: {zone}."]
    if turn.shared:
        mine, own = hours.zone_of(turn, person), hours.quiet_of(turn, person)
        if mine.name != here.name or own is not None:
            asleep = "" if own is None else f", quiet {span_in_words(own)}"
            lines.append(f"For you: {mine.name}{asleep}.")
    return lines


def usage(turn: Turn) -> tuple[str, ...]:
    return (*USAGE, USAGE_SHARED) if turn.shared else USAGE


def rows() -> tuple[tuple[Button, ...], ...]:
    """The usual choices as buttons; everything else is typed."""
    return (
        tuple(Button(token=f"g:reminders:{word}", label=f"Reminders {word}") for word in ("off", "daily", "weekly")),
        (
            Button(token="g:quiet:22:00-08:00", label="Quiet 22:00–08:00"),  # noqa: S106 - a button's, not a secret
            Button(token="g:quiet:off", label="Quiet off"),  # noqa: S106
        ),
    )
