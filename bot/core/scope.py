"""The scope of a specification: what locks it, and what a change makes of it (SC-3)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from bot.core.own_words import coded, unquoted
from bot.core.patterns import regex
from bot.core.slots import Held, held, spec_of
from bot.core.spec import FEWEST_COMPARATORS, TIERS, Lock, brief
from bot.core.state import Session

TIER, BOUNDARY, OUT = "meta.complexity_tier", "scope_lock.boundary", "scope_lock.out_of_scope"
SURFACES, COMPARATORS = "scope_lock.surface_count", "scope_lock.comparator_count"
INPUTS: Final[Mapping[str, str]] = {  # field -> what it is called; all four lock the scope
    TIER: "the tier",
    BOUNDARY: "what is in and what is out",
    SURFACES: "the number of surfaces",
    COMPARATORS: "the number of comparators",
}
_REQUEST = "what the request names"
_BOUNDARIES: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {  # value -> in scope, out of scope
    "named": ((_REQUEST,), ("everything that the request does not name",)),
    "neighbours": ((_REQUEST, "the steps right before and after it"), ("everything beyond those steps",)),
    "area": ((_REQUEST, "the whole area around it"), ()),
}
NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], start=1
    )
}
_COUNT = regex(rf"(?<![\w.])(\d{{1,3}}|{'|'.join(NUMBERS)})(?![\w]|\.\d)", re.IGNORECASE)
_OUT = regex(r"\b(?:out of scope|not in scope|out|without|not|no|excluding|except)\b[ :]*", re.IGNORECASE)
_PART = regex(r"[;\n]|(?<=\w)\.(?= )")
_IN = regex(r"^\s*(?:in scope|in)\b[ :]*", re.IGNORECASE)


class Inputs(NamedTuple):
    """What the lock is made of, and what is missing: field -> why."""

    tier: int | None
    in_scope: tuple[str, ...]
    out_of_scope: tuple[str, ...]
    surfaces: int | None
    comparators: int | None
    missing: Mapping[str, str]


_NEGATIVE = regex(r"(?<!\w)[-−–]\s*\d")


def _plain(words: str) -> str:
    """Width folded; quoted lines are somebody else's words, and code is nobody's (AU-3)."""
    return unicodedata.normalize("NFKC", coded(unquoted(words)))


def count_in(words: str) -> int | None:
    """The one number that the words hold; None where there is none, or more than one."""
    found = {int(n) if n.isdigit() else NUMBERS[n.lower()] for n in _COUNT.findall(_plain(words))}
    return found.pop() if len(found) == 1 else None


def tier_in(words: str) -> int | None:
    if _NEGATIVE.search(_plain(words)):  # "-1"; "tier-2" is none of these
        return None
    named = [t for t, name in TIERS.items() if re.search(rf"\b{name}\b", _plain(words), re.IGNORECASE)]
    number = count_in(words)
    if len(named) == 1 and number in (None, named[0]):
        return named[0]
    return number if number in TIERS and not named else None


def boundary(words: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """In and out of scope, from an option's value or a person's own words: "in: refunds; out: exchanges"."""
    known = _BOUNDARIES.get(words)
    if known is not None:
        return known
    within: list[str] = []
    outside: list[str] = []
    struck, start = coded(words), 0
    for end in (*(hit.start() for hit in _PART.finditer(struck)), len(words)):
        part, seen, start = words[start:end], struck[start:end], end + 1
        cut = _OUT.search(seen)
        inside, out = (part[: cut.start()], part[cut.end() :]) if cut else (part, "")
        within.append(_IN.sub("", inside).strip(" ,.:"))
        outside.append(out.strip(" ,.:"))
    return tuple(filter(None, within)), tuple(filter(None, outside))


def inputs(session: Session) -> Inputs:
    """What is held of the four inputs, and why the others do not count."""
    spec, fields = spec_of(session), held(session)
    missing: dict[str, str] = {}
    tier = spec.tier
    if tier is None:
        missing[TIER] = "no tier is set"
    limits = boundary(fields[BOUNDARY].value) if BOUNDARY in fields else ((), ())
    if spec.lock.locked and BOUNDARY in fields and _is_change(fields[BOUNDARY]):
        limits = spec.lock.in_scope, spec.lock.out_of_scope
    if OUT in fields and fields[OUT].value not in ("", "nothing"):
        limits = (limits[0], tuple(dict.fromkeys((*limits[1], fields[OUT].value))))
    if not any(limits):
        missing[BOUNDARY] = "nothing says what is in"
    surfaces = _count(fields, SURFACES, missing)
    if surfaces == 0:
        missing[SURFACES] = "0 surfaces leave nothing to specify"
    comparators = _count(fields, COMPARATORS, missing)
    fewest = FEWEST_COMPARATORS[spec.working_tier]
    if comparators is not None and comparators < fewest:
        missing[COMPARATORS] = f"{comparators} is fewer than the {fewest} that tier {spec.working_tier} compares"
    return Inputs(tier, *limits, surfaces, comparators, missing)


def _is_change(known: Held) -> bool:
    """Whether a deliberate change of the scope put it there, and no answer (see `slots.held`)."""
    return known.item is None and known.at is not None


def _count(fields: Mapping[str, Held], field: str, missing: dict[str, str]) -> int | None:
    if field not in fields:
        missing[field] = f"{INPUTS[field]} is not known"
        return None
    number = count_in(fields[field].value)
    if number is None:
        missing[field] = f"“{fields[field].value}” holds no one number"
    return number


def locked(session: Session, at: datetime) -> Lock | None:
    """The lock, once all four inputs are there; None before."""
    found = inputs(session)
    if found.missing or found.tier is None or found.surfaces is None or found.comparators is None:
        return None
    return Lock(
        locked_at=at,
        complexity_tier=found.tier,
        scope_summary=" ".join(_plain(brief(session.request.text)).split())[:300] or spec_of(session).name,
        in_scope=found.in_scope,
        out_of_scope=found.out_of_scope,
        surface_count=found.surfaces,
        comparator_count=found.comparators,
    )


def present(lock: Lock, field: str) -> str:
    """A field of the lock in words."""
    value = getattr(lock, field)
    return "; ".join(value) or "nothing" if isinstance(value, tuple) else str(value)


_OTHER_LIST: Final = {"in_scope": "out_of_scope", "out_of_scope": "in_scope"}

# -- a changed scope -----------------------------------------------------------------------------------------------


def conflicts(lock: Lock) -> str | None:
    """What in a changed lock does not fit together, as a sentence; None where all does."""
    fewest = FEWEST_COMPARATORS[lock.complexity_tier]
    if lock.comparator_count < fewest:
        return (
            f"Tier {lock.complexity_tier} compares at least {fewest}; there are {lock.comparator_count}. "
            f"Change both in one line, e.g. tier {lock.complexity_tier}; comparators: {fewest}."
        )
    return None


def applied(lock: Lock, wanted: Iterable[tuple[str, str]]) -> Lock:
    """The lock with the new values, each beside its field. What is added joins what is there, once, and leaves the
    other list: nothing is in and out."""
    update: dict[str, Any] = {"in_scope": lock.in_scope, "out_of_scope": lock.out_of_scope}
    for field, to in wanted:
        if field not in _OTHER_LIST:
            update[field] = int(to)
            continue
        items = dict.fromkeys(to.split("; "))
        known, named = {w.casefold() for w in update[field]}, {item.casefold() for item in items}
        other = _OTHER_LIST[field]
        update[field] = (*update[field], *(item for item in items if item.casefold() not in known))
        update[other] = tuple(w for w in update[other] if w.casefold() not in named)
    return lock.model_copy(update=update)
