"""The scope of a specification: what locks it, and how a person's words change it (SC-3)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from bot.core.claims import reported
from bot.core.own_words import coded, put_back, set_aside, unquoted
from bot.core.patterns import regex
from bot.core.slots import Held, held, spec_of
from bot.core.spec import FEWEST_COMPARATORS, SCOPE_FIELDS, TIERS, Lock, Spec, brief
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
_NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], start=1
    )
}
_COUNT = regex(rf"(?<![\w.])(\d{{1,3}}|{'|'.join(_NUMBERS)})(?![\w]|\.\d)", re.IGNORECASE)
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
    found = {int(n) if n.isdigit() else _NUMBERS[n.lower()] for n in _COUNT.findall(_plain(words))}
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


# -- a described change ------------------------------------------------------------------------------------------


class Wanted(NamedTuple):
    """A change that a person describes: the field and its new value. `problem` says why it can not be made."""

    field: str
    to: str
    problem: str = ""


class Described(NamedTuple):
    """`because` is the reason, where the words hold one. No `wanted`: no field was recognised.

    `unread`: parts beside it that name no field; they change nothing, and are told.
    """

    wanted: tuple[Wanted, ...]
    because: str | None
    unread: tuple[str, ...] = ()


_BECAUSE_WORDS: Final = r"(?:because|since|as|'?cause|cuz|coz|bc|weil|porque|parce que)"
_BECAUSE = regex(rf"[,;:]?\s*\b{_BECAUSE_WORDS}\b[ :]*", re.IGNORECASE)
_BEGINS = regex(rf"\W*{_BECAUSE_WORDS}\b[\s:,]*", re.IGNORECASE)


def reason(words: str) -> str:
    """A reason without the word that begins it: "because it grew"."""
    return _BEGINS.sub("", words, count=1).strip(" .,:;")


_NAMES: Final = (
    (
        "out_of_scope",
        regex(
            r"\b(?:out of scope|(?:not|no longer|isn'?t|aren'?t) in scope|leave out|take out|exclude|without|drop"
            r"|remove)\b[ :=]*",
            re.IGNORECASE,
        ),
    ),
    ("in_scope", regex(r"\b(?:in scope|include|add|also cover|bring in)\b[ :=]*", re.IGNORECASE)),
    ("complexity_tier", regex(r"\btier\b", re.IGNORECASE)),
    ("surface_count", regex(r"\b(?:surfaces?|screens?|pages?|views?)\b", re.IGNORECASE)),
    ("comparator_count", regex(r"\b(?:comparators?|competitors?|approaches|products)\b", re.IGNORECASE)),
)
_COUNTED_WORDS: Final = (
    r"(?:tier|surfaces?|screens?|pages?|views?|comparators?|competitors?|approaches|products)[ :=]+(?:to |is |are )?"
    rf"(?:\d{{1,3}}|{'|'.join(_NUMBERS)})"
)
_LISTS: Final = ("in_scope", "out_of_scope")
# It begins with one sign and goes on in its line: blanks on both sides would take a row of empty lines for ever.
_TAIL = regex(rf"[;\n,][^\S\n]*(?:and )?({_COUNTED_WORDS})[\s.]*$", re.IGNORECASE)
_AGREES = regex(r"\W*(?:y|yes|yep|yeah|ok|okay|no|nope|please|sure|thanks|and|also|but)\W*", re.IGNORECASE)
_INSTEAD = regex(rf"\b(?:from|instead of|rather than|not)\s+(?:\d{{1,3}}|{'|'.join(_NUMBERS)})\b", re.IGNORECASE)
# Words beside a field that keep it from being a change: "maybe 4 surfaces", "do not add returns", "we had 3 screens".
_UNSETTLED = regex(
    r"\b(?:not|no|never|don'?t|doesn'?t|won'?t|can'?t|shouldn'?t|wouldn'?t|maybe|perhaps|probably|possibly|might"
    r"|could|would|should (?:we|i|it|there)|if|unless|whether|had|was|were|used to|too (?:many|few|much)|wonder"
    r"|unsure|consider|depends|until|last year)\b",
    re.IGNORECASE,
)


_HEADING = regex(
    r"\b(?:scope|chang\w*|update|edit|correction|new|yes|no|ok|please|also|answer|änder\w*|neu)\b", re.IGNORECASE
)


def described(words: str, spec: Spec) -> Described:
    """Read a described change, field by field: "surfaces: 4; tier 1 because the admin page joins"."""
    text, code = set_aside(unicodedata.normalize("NFKC", unquoted(words)).strip())
    cut = _BECAUSE.search(text)
    said, because = (text[: cut.start()], text[cut.end() :].strip(" .")) if cut and cut.start() else (text, "")
    parts = re.split(r"[;\n]|,(?!\d)| and ", _INSTEAD.sub("", said))
    tail = _TAIL.search(because)  # "… because the admin page joins, and tier 1"
    while tail is not None:
        parts.append(tail[1])
        because = because[: tail.start()].rstrip()
        tail = _TAIL.search(because)
    wanted: list[Wanted] = []
    unread: list[str] = []
    for part in filter(None, (p.strip(" .") for p in parts)):
        found = _wanted(part)
        if found is not None:
            wanted.append(found)
        elif wanted and wanted[-1].field in _LISTS and not wanted[-1].problem:
            wanted.append(Wanted(wanted[-1].field, part))  # "add returns and exchanges"
        elif re.search(r"\w{2}", part) and not _AGREES.fullmatch(part):
            unread.append(put_back(part, code))
    return Described(tuple(_fitting(_merged(wanted, code), spec)), put_back(because, code) or None, tuple(unread))


def _fitting(wanted: Iterable[Wanted], spec: Spec) -> Iterator[Wanted]:
    """Comparators are held against the tier of the same message, where it changes (SC-3)."""
    kept = tuple(wanted)
    tier = next((int(w.to) for w in kept if w.field == "complexity_tier" and w.to), spec.lock.complexity_tier)
    for one in kept:
        few = one.field == "comparator_count" and one.to and int(one.to) < FEWEST_COMPARATORS[tier]
        yield one._replace(problem=f"tier {tier} compares at least {FEWEST_COMPARATORS[tier]}") if few else one


def _merged(wanted: Iterable[Wanted], code: tuple[str, ...]) -> Iterator[Wanted]:
    """One change a field: of a number the last word, of a list all of them."""
    by_field: dict[str, list[Wanted]] = {}
    for one in wanted:
        by_field.setdefault(one.field, []).append(one._replace(to=put_back(one.to, code)))
    for field, ones in by_field.items():
        problem = next((one.problem for one in ones if one.problem), "")
        to = "; ".join(one.to for one in ones if one.to) if field in _LISTS else ones[-1].to
        yield Wanted(field, to, problem)


def of_others(words: str, spec: Spec) -> str | None:
    """A change that somebody else is said to have described: "Bo said: surfaces: 4". None = none (AU-3)."""
    cut = _BECAUSE.search(words)
    for told in reported(words[: cut.start()] if cut and cut.start() else words):
        heading = not told.said and (
            _HEADING.search(told.who) or any(named.search(told.who) for _, named in _NAMES)
        )  # "change: tier 1", "surfaces: 4"
        if not heading and any(not w.problem for w in described(told.words, spec).wanted):
            return told.words
    return None


def speaks_of_it(words: str, spec: Spec) -> bool:
    """Whether words that nobody asked for are about the scope: a change, or the word itself."""
    return bool(re.search(r"\bscope\b", words, re.IGNORECASE)) or any(
        not w.problem for w in described(words, spec).wanted
    )


def _wanted(part: str) -> Wanted | None:
    for field, named in _NAMES:
        hit = named.search(part)
        if hit is None:
            continue
        if field in _LISTS and (counted := _counted(part)) is not None and "scope" not in hit[0].lower():
            return counted
        lead = part[: hit.start()] if field in _LISTS else part
        if _UNSETTLED.search(lead) or part.endswith(("?", "？")):
            said = "it is not plain that you want it changed; write it as a change"
            return Wanted(field, "", said)
        if field in _LISTS:
            words = part[hit.end() :].strip(' .:="“”')
            return Wanted(field, words, "" if words else f"say what is {SCOPE_FIELDS[field]}")
        return _number(field, part)
    return None


def _counted(part: str) -> Wanted | None:
    """ "drop the tier to 3" is about the tier; of "remove one page" nobody knows how many are left."""
    field = next((f for f, named in _NAMES if f not in _LISTS and named.search(part)), None)
    if field is None or (tier_in(part) if field == "complexity_tier" else count_in(part)) is None:
        return None
    if field == "complexity_tier":
        return _number(field, part)
    return Wanted(field, "", f"say how many there are then, e.g. {SCOPE_FIELDS[field]}: 3")


def _number(field: str, part: str) -> Wanted:
    number = count_in(part) if field != "complexity_tier" else tier_in(part)
    if field == "complexity_tier" and number is None:
        return Wanted(field, "", "the tier is 1 (full), 2 (standard) or 3 (incremental)")
    if number is None:
        return Wanted(field, "", f"say how many, e.g. {SCOPE_FIELDS[field]}: 3")
    if field == "surface_count" and number < 1:
        return Wanted(field, "", "there must be at least one surface")
    return Wanted(field, str(number))


def conflicts(lock: Lock) -> str | None:
    """What in a changed lock does not fit together, as a sentence; None where all does."""
    fewest = FEWEST_COMPARATORS[lock.complexity_tier]
    if lock.comparator_count < fewest:
        return (
            f"Tier {lock.complexity_tier} compares at least {fewest}; there are {lock.comparator_count}. "
            f"Change both in one line, e.g. tier {lock.complexity_tier}; comparators: {fewest}."
        )
    return None


def applied(lock: Lock, wanted: tuple[Wanted, ...]) -> Lock:
    """The lock with the new values. Words added to the scope join what is there."""
    update: dict[str, object] = {}
    for change in wanted:
        items = change.to.split("; ")
        if change.field == "in_scope":
            update["in_scope"] = (*lock.in_scope, *items)
        elif change.field == "out_of_scope":
            gone = {item.casefold() for item in items}
            update["out_of_scope"] = (*lock.out_of_scope, *items)
            update.setdefault("in_scope", tuple(w for w in lock.in_scope if w.casefold() not in gone))
        else:
            update[change.field] = int(change.to)
    return lock.model_copy(update=update)
