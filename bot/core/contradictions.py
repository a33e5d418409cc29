"""Decisions of one specification that can not hold together, each with both places (SC-2, critical 4).

Looked at are the phases that are done and the present one, the locked scope, what a parent decided and, from phase 2
on, the request. Three ways to differ: a chosen option that its playbook sets against another decision (`against`); a
number of surfaces that is not the locked one; and what the words say for sure (`bot.core.statements`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from bot.core.moments.words import TimeWords
from bot.core.own_words import own_words
from bot.core.patterns import regex
from bot.core.playbook import Entry
from bot.core.replies.phrases import PhraseBook
from bot.core.scope import INPUTS, SURFACES, count_in
from bot.core.slots import Given, Held, answered, held, spec_of
from bot.core.spec import Lock, brief, phase
from bot.core.state import Item, Session
from bot.core.statements import Statement, alike, content, differ, statements

KIND: Final = "contradiction"
_SURFACE_COUNT = regex(r"\b(\d{1,2}|\w+) (?:surfaces?|screens?|pages?)\b", re.IGNORECASE)
_MOST_WORDS = 80  # characters of a place's words that are shown


class Contradiction(NamedTuple):
    """`name` is the same for the same one; `one` is the later place and `other` the earlier, as they are shown."""

    name: str
    topic: str
    one: str
    other: str
    source: str  # of the earlier one
    evidence: str

    def fill(self) -> dict[str, Any]:
        return {"one": self.one, "other": self.other, "source": self.source}


class _Place(NamedTuple):
    """Where something is said: `name` is stable, `source` is for people. `at` None: before anything was answered."""

    name: str
    topic: str
    source: str
    words: str
    at: datetime | None = None


def contradictions(
    session: Session, banks: Mapping[int, Sequence[Entry]], book: PhraseBook, times: TimeWords
) -> Iterator[Contradiction]:
    """At most one of a thing: the latest word on it against the first that differs."""
    given = {number: answered(session, number) for number in _approved(session)}
    yield from _by_option(session, given, banks)
    yield from _by_surfaces(session, given)
    yield from _by_words(session, given, book, times)


def _approved(session: Session) -> tuple[int, ...]:
    """Phases whose decisions stand: those that are done, and the present one."""
    spec = spec_of(session)
    return tuple(run.phase for run in spec.runs if run.status == "completed" or run.phase == spec.phase)


def _by_option(
    session: Session, given: Mapping[int, Mapping[str, Given]], banks: Mapping[int, Sequence[Entry]]
) -> Iterator[Contradiction]:
    fields = held(session)
    for number, mine in given.items():
        for entry in banks.get(number, ()):
            item = mine[entry.question.id].item if entry.question.id in mine else None
            if item is None or item.answer is None or item.answer.chosen is None:
                continue
            for rule in entry.against.get(item.answer.chosen, ()):
                field, _, value = rule.partition("=")
                other = fields.get(field)
                if other is not None and other.value == value and other.item is not item:
                    yield _against(item.question.topic, fields[entry.question.field], other, rule)


def _by_surfaces(session: Session, given: Mapping[int, Mapping[str, Given]]) -> Iterator[Contradiction]:
    lock = spec_of(session).lock
    if not lock.locked:
        return
    changed = _changed(lock, "surface_count")
    for mine in given.values():
        for question, (item, _) in mine.items():
            words = _said(item)
            hit = _SURFACE_COUNT.search(words) if words else None
            number = count_in(hit[1]) if hit else None
            if number in (None, lock.surface_count) or item.question.field == SURFACES or _before(item, changed):
                continue
            scope = Held(str(lock.surface_count), f"{lock.surface_count} surfaces", "the locked scope")
            present = Held(str(number), f"“{words}”", item.clarification or "")
            yield _against(item.question.topic, present, scope, f"{question}.surfaces")


def _against(topic: str, one: Held, other: Held, rule: str) -> Contradiction:
    return Contradiction(rule, topic, one.words, other.words, other.source, f"{one.source} against {other.source}")


# -- what the words say ------------------------------------------------------------------------------------------


def _by_words(
    session: Session, given: Mapping[int, Mapping[str, Given]], book: PhraseBook, times: TimeWords
) -> Iterator[Contradiction]:
    places = tuple(_places(session, given))
    said = [(place, one) for place in places for one in _stated(place, book, times)]
    said += _limits(session, book) if places else ()
    said.sort(key=lambda pair: (pair[0].at is not None, pair[0].at or spec_of(session).runs[0].started_at))
    told: list[Statement] = []
    found: list[Contradiction] = []
    for late in range(len(said) - 1, 0, -1):
        place, statement = said[late]
        if place.name == f"lock.{statement.value[0]}" and _changed(spec_of(session).lock, str(statement.value[0])):
            continue  # a deliberate change has the last word (SC-3)
        if any(one.kind == statement.kind and one.key == statement.key for one in told):
            continue
        for earlier, first in said[:late]:
            if earlier.name != place.name and differ(statement, first):
                told += [statement, first]
                found.append(_of_words(place, statement, earlier, first))
                break
    yield from reversed(found)


def _of_words(one: _Place, late: Statement, other: _Place, early: Statement) -> Contradiction:
    return Contradiction(
        name=f"{late.kind}:{late.key}:{one.name}+{other.name}",
        topic=one.topic,
        one=f"“{_short(late.words)}”",
        other=f"“{_short(early.words)}”",
        source=other.source,
        evidence=f"{one.source} against {other.source}",
    )


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _MOST_WORDS else f"{line[: _MOST_WORDS - 1]}…"


def _places(session: Session, given: Mapping[int, Mapping[str, Given]]) -> Iterator[_Place]:
    """Words of the person's own, in answers, in the request, and in what a parent decided."""
    spec = spec_of(session)
    for decision in spec.inherited:
        yield _Place(f"parent.{decision.field}", decision.field, decision.source, decision.value)
    if any(run.phase == 1 and run.status == "completed" for run in spec.runs):
        yield _Place("request", "Your request", "your request", own_words(brief(session.request.text)).own)
    for number, mine in given.items():
        for question, (item, _) in mine.items():
            words = "" if item.question.field in INPUTS or question.startswith(f"{KIND}:") else _said(item)
            if words and item.answer is not None:
                name = f"phase {number}, {phase(number).name}, {item.clarification or ''}".rstrip(", ")
                at = item.answer.claimed_at or item.answer.at
                yield _Place(f"{number}.{question}", item.question.topic, name, words, at)


def _said(item: Item) -> str:
    """An answer's own words."""
    if item.answer is None or not (item.answer.text or item.answer.note):
        return ""
    return own_words("\n".join(filter(None, (item.answer.text, item.answer.note)))).own.strip()


def _stated(place: _Place, book: PhraseBook, times: TimeWords) -> Iterator[Statement]:
    """What a place says for sure. A bare count of something is about what was asked."""
    surfaces = book.lists["scope_surfaces"]
    for one in statements(place.words, book, times):
        if one.kind == "number" and any(alike(one.key.split(" ")[0], surface) for surface in surfaces):
            continue  # the locked scope says how many there are
        counts = one.kind == "number" and "/" not in one.key
        yield one._replace(about=content(place.topic, book)) if counts and not one.about else one


def _limits(session: Session, book: PhraseBook) -> Iterator[tuple[_Place, Statement]]:
    """The two lists of the locked scope, item by item: said when it was locked, or deliberately changed."""
    lock = spec_of(session).lock
    for field in ("in_scope", "out_of_scope") if lock.locked else ():
        at = _changed(lock, field) or lock.locked_at
        name = field.replace("_", " ")
        for item in getattr(lock, field):
            for part in re.split(r",(?!\d)|;", item):
                key = " ".join(sorted(content(part, book)))
                if key:
                    place = _Place(f"lock.{field}", "The locked scope", f"the locked scope, {name}", part.strip(), at)
                    yield place, Statement("scope", key, (field,), frozenset(), f"{name}: {part.strip()}")


def _changed(lock: Lock, field: str) -> datetime | None:
    """When a field of the scope was last changed deliberately: what was said before has been decided anew."""
    return max((c.claimed_at or c.at for c in lock.changes if c.field == field), default=None)


def _before(item: Item, at: datetime | None) -> bool:
    return at is not None and item.answer is not None and (item.answer.claimed_at or item.answer.at) <= at
