"""The phrases of a pack that occur in a message."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from bot.core.routing.phrases import Element, Lexicon, Phrase
from bot.core.routing.text import CLAUSE, Token


class Match(NamedTuple):
    phrase: Phrase
    first: int
    last: int  # exclusive, in tokens
    bits: int  # the words it names, from `first` on; those that a gap passes over are not among them

    @property
    def named(self) -> frozenset[int]:
        return frozenset([i for i in range(self.first, self.last) if self.bits >> (i - self.first) & 1])


Place = tuple[int, Sequence[int]]  # where a word stands, and where the words of the wanted classes end there


Possible = dict[int, list[tuple[Phrase, list[Element]]]]


def can_occur(lexicon: Lexicon, where: Mapping[int, Sequence[int]]) -> Possible:
    """By the class of its first word each phrase that can occur, with what is behind that word.

    Without what may be missing there, and is. `where`: class id → its places.
    """
    present = set(where)
    possible: Possible = {}
    for identity in lexicon.begins(present):
        here = []
        for phrase in lexicon.beginning(identity):
            for needed in phrase.needs:
                if needed.isdisjoint(present):
                    break
            else:
                here.append((phrase, [e for e in phrase.elements[1:] if not e.ids.isdisjoint(present)]))
        if here:
            possible[identity] = here
    return possible


class Search:
    """A message with some of its words hidden: these are passed over, as if they were not there."""

    def __init__(
        self,
        lexicon: Lexicon,
        tokens: Sequence[Token],
        spans: Sequence[Mapping[int, list[int]]],
        where: Mapping[int, Sequence[int]],
        hidden: Sequence[bool],
        opens: Sequence[bool],
    ) -> None:
        """`where`: class id → its places, hidden or not. `opens`: where a request may begin."""
        self._tokens, self._spans, self._hidden, self._opens = tokens, spans, hidden, opens
        self._where = where
        if any(hidden):
            shown = {identity: [at for at in places if not hidden[at]] for identity, places in where.items()}
            self._where = {identity: places for identity, places in shown.items() if places}
        self._possible = can_occur(lexicon, self._where)
        self._places: _Places | None = None
        self._found: dict[frozenset[str], list[Match]] = {}

    def matches(self, kinds: frozenset[str]) -> list[Match]:
        """Every phrase of these kinds that occurs, by its first word."""
        found = self._found.get(kinds)
        if found is None:
            found = self._found[kinds] = self._matches(kinds)
        return found

    def _matches(self, kinds: Collection[str]) -> list[Match]:
        sought = {
            identity: wanted
            for identity, phrases in self._possible.items()
            if (wanted := [one for one in phrases if one[0].kind in kinds])
        }
        found: list[Match] = []
        if not sought:
            return found
        if self._places is None:
            self._places = _Places(self._tokens, self._spans, self._hidden, self._where)
        for at in sorted({at for identity in sought for at in self._where[identity]}):
            opens, tried = self._opens[at], set[str]()  # several classes of a word may begin the same phrase
            for identity in self._spans[at]:
                for phrase, rest in sought.get(identity, ()):
                    if (opens or not phrase.opens) and phrase.key not in tried:
                        tried.add(phrase.key)
                        hit = _match(phrase, rest, at, self._places)
                        if hit is not None:
                            found.append(hit)
        return found


class _Places:
    """Where the classes of a message stand, without the hidden words."""

    def __init__(
        self,
        tokens: Sequence[Token],
        spans: Sequence[Mapping[int, list[int]]],
        hidden: Sequence[bool],
        where: Mapping[int, Sequence[int]],
    ) -> None:
        """`where`: class id → its places."""
        self.spans = spans
        self.size = size = len(tokens)
        self.step = [size] * (size + 2)  # the first place from here on that is not hidden
        for at in range(size - 1, -1, -1):
            self.step[at] = self.step[at + 1] if hidden[at] else at
        self.order: list[int] = []  # the number of each place among those that are not hidden
        self.clause: list[int] = []  # ends of clauses before it
        self.opens: list[bool] = []  # is there one right before it?
        self.where = where
        seen = ends = 0
        for at, token in enumerate(tokens):
            opens = token.gap >= CLAUSE
            if not hidden[at]:
                seen += 1
                ends += opens
            self.order.append(seen)
            self.clause.append(ends)
            self.opens.append(opens)
        self._of: dict[frozenset[int], tuple[Sequence[int], list[Place]]] = {}

    def of(self, ids: frozenset[int]) -> tuple[Sequence[int], list[Place]]:
        """The places of any of these classes, in order, and the same with the ends of their words."""
        found = self._of.get(ids)
        if found is None:
            lists = [self.where[i] for i in ids if i in self.where]
            order = lists[0] if len(lists) == 1 else sorted({at for each in lists for at in each})
            found = self._of[ids] = order, [(at, self.ends(ids, at)) for at in order]
        return found

    def ends(self, ids: frozenset[int], at: int) -> Sequence[int]:
        """Where the words of any of these classes end that begin at this place."""
        found = [ends for identity, ends in self.spans[at].items() if identity in ids]
        return found[0] if len(found) == 1 else [end for ends in found for end in ends]

    def within(self, ids: frozenset[int], first: int, reach: int, *, far: bool) -> Sequence[Place]:
        """Those from `first` on with words between, `reach` at most; a clause ends the search, unless `far`."""
        if first >= self.size or (not far and self.opens[first]):
            return ()
        order, places = self.of(ids)
        start = end = bisect_left(order, first)
        most, clause, numbers, clauses = self.order[first] + reach, self.clause[first], self.order, self.clause
        while end < len(order) and numbers[order[end]] <= most and (far or clauses[order[end]] == clause):
            end += 1
        return places[start:end]


def _match(phrase: Phrase, rest: Sequence[Element], at: int, places: _Places) -> Match | None:
    """Follow the phrase from `at`; the set of places reached stays small, so the work per place is bounded."""
    spans, step, opens, size = places.spans, places.step, places.opens, places.size
    begins = phrase.elements[0].ids
    reached: dict[int, int] = {}  # next token → words named so far, as bits from `at` on
    for identity, ends in spans[at].items():
        if identity in begins:
            for end in ends:
                reached[end] = (1 << (end - at)) - 1
    for ids, optional, reach, far in rest:
        following = dict(reached) if optional else {}
        for place, named in reached.items():
            first = step[place]
            near: Sequence[Place]
            if reach:
                near = places.within(ids, first, reach, far=far)
            elif first >= size or (opens[first] and not far) or ids.isdisjoint(spans[first]):
                continue
            else:
                near = ((first, places.ends(ids, first)),)
            for here, stops in near:
                passed = 1 << (here - at)
                for end in stops:
                    more = named | ((1 << (end - at)) - passed)
                    if end not in following or more.bit_count() > following[end].bit_count():
                        following[end] = more
        reached = following
        if not reached:
            return None
    if phrase.closes:
        reached = {place: named for place, named in reached.items() if _closes(place, places)}
        if not reached:
            return None
    last = max(reached)
    return Match(phrase, at, last, reached[last])


def _closes(place: int, places: _Places) -> bool:
    following = places.step[place]
    return following >= places.size or following > place or places.opens[place]
