"""Where a phrase stands in a sentence, and what the sentence makes of it: said, denied, or doubted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from bot.core.stated.negation import negates
from bot.core.stated.phrases import DIGITS, NUMBERS, YEAR, Phrase, Step
from bot.core.stated.sentences import Sentence
from bot.core.words import Word

_LONGEST_LIST = 20
_RESETS = frozenset("but just sondern mais sino pero mas но 而 只 aber".split())  # noqa: SIM905
_AFTER = frozenset("is are was were does do did would should need needs needed isn't aren't won't".split())  # noqa: SIM905
_AFTER_NO = frozenset("not unnecessary optional excluded forbidden wrong no nicht optional".split())  # noqa: SIM905
OR = frozenset("or oder ou или или hoặc 或".split())  # noqa: SIM905
_AND = frozenset("and und et y e и 和".split())  # noqa: SIM905


Reading = Literal["said", "denied", "doubted"]


class Match(NamedTuple):
    """Words that were found, and what their sentence makes of them."""

    start: int
    end: int
    reading: Reading


def matches(sentence: Sentence, sought: Phrase) -> Iterator[Match]:
    said = sentence.said
    for need in sought.needs:  # nearly all phrases end here
        if need.isdisjoint(said):
            return
    if not sought.unless.isdisjoint(said):
        return
    for first, word in enumerate(sentence.words):
        if sought.starts and word.text not in sought.starts:
            continue
        end = _longest(sentence, sought.steps, first, joined=True)
        if end is None or end == first:
            continue
        at_end = end == len(sentence.words) or end in sentence.breaks
        if sought.ends_clause and not at_end:
            continue
        begins = (
            first == 0 or first in sentence.commas or (first - 1 in sentence.topic and first not in sentence.topic)
        )
        if sought.begins_clause and not begins:
            continue
        if not sought.in_topic and any(place in sentence.topic for place in range(first, end)):
            continue
        yield Match(sentence.words[first].start, sentence.words[end - 1].end, _reading(sentence, first, end))


def _longest(sentence: Sentence, steps: tuple[Step, ...], place: int, *, joined: bool = False) -> int | None:
    """Where the longest reading of the steps ends. `joined`: a comma before this place does not matter."""
    if not steps:
        return place
    step, rest = steps[0], steps[1:]
    ends: list[int | None] = [_longest(sentence, rest, place, joined=joined)] if step.optional else []
    for choice in step.choices if joined or place not in sentence.commas else ():
        after = _taken(sentence.words, choice, place)
        if after is None:
            continue
        reached = _listed(sentence.words, step, after) if step.repeated else [after]
        ends += [_longest(sentence, rest, end) for end in reached]
    return max((end for end in ends if end is not None), default=None)


def _listed(found: tuple[Word, ...], step: Step, after: int) -> list[int]:
    """Where the list may end that goes on here: "pubmed", "pubmed, scopus", "pubmed, scopus and ieee"."""
    ends = [after]
    while len(ends) < _LONGEST_LIST:
        place = ends[-1]
        place += place < len(found) and found[place].text in _AND
        nxt = next(
            (end for end in (_taken(found, choice, place) for choice in step.choices) if end is not None), None
        )
        if nxt is None:
            break
        ends.append(nxt)
    return ends


def _taken(found: tuple[Word, ...], choice: tuple[str, ...], place: int) -> int | None:
    if choice == ("{year}",):
        return place + 1 if place < len(found) and YEAR.fullmatch(found[place].text) else None
    if choice == ("{number}",):
        if place >= len(found) or not (found[place].text in NUMBERS or DIGITS.fullmatch(found[place].text)):
            return None
        nxt = found[place + 1] if place + 1 < len(found) else None  # "5,000" is cut into two
        grouped = nxt and len(nxt.text) == 3 and nxt.text.isdecimal() and nxt.start - found[place].end == 1
        return place + 2 if grouped else place + 1
    end = place + len(choice)
    if end > len(found):
        return None
    for at, word in enumerate(choice, place):
        if found[at].text != word:
            return None
    return end


def _turns(sentence: Sentence, comma: int, first: int, end: int) -> bool:
    """Whether a negation before this comma is over ("not A, a B is enough") and does not go on ("no A, B or C")."""
    later = [word.text for word in sentence.words[comma:]]
    if any(word in OR or word in _AND or word == "nor" for word in later):
        return False
    close = min((b for b in sentence.breaks if b >= end), default=len(sentence.words))
    return close - comma > end - first or end - first >= 3


def _reading(sentence: Sentence, first: int, end: int) -> Reading:
    """Denied, doubted, one of two, or said. A negation holds on to the end of its sentence, or to a "but"."""
    said = [w.text for w in sentence.words]
    if (
        sentence.asked
        or sentence.doubtful
        or (first and said[first - 1] in OR)
        or (said[end : end + 1] and said[end] in OR)
    ):
        return "doubted"
    for place in range(first - 1, -1, -1):
        word = said[place]
        if negates(word):
            return "denied"
        turns = word in _RESETS and not (place and negates(said[place - 1]))  # "not just"
        if turns or (place + 1 in sentence.breaks and _turns(sentence, place + 1, first, end)):
            break
    after = [] if end in sentence.breaks else said[end : end + 2]
    if not after:
        return "said"
    ruled_out = after[0] in _AFTER_NO or after[0].endswith("n't") or (after[0] in _AFTER and after[-1] in _AFTER_NO)
    return "denied" if ruled_out else "said"
