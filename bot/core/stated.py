"""What a request already says, by the phrases of a playbook (RD-5). Never invents: when in doubt, it says nothing.

A phrase is a line of words:

    papers|studies published? since {year}      one of several words; a word that may be missing; a year
    {number} words                              digits, "5,000", "5k", or a number up to twenty in words
    only? pubmed|scopus+                        one or several of these, listed with commas or "and"
    last five years $                           only at the end of a clause
    + in apa 7? style|format                    counts inside a topic too ("a paper on sleep in APA style")

A match counts unless its sentence negates it, doubts it, asks it, or names it as the topic of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from bot.core.own_words import own_words
from bot.core.words import Word, words

_NUMBERS = frozenset(
    """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty few couple""".split()  # noqa: SIM905
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_DIGITS = re.compile(r"\d{1,7}k?")
_SENTENCE_END = re.compile(r"[!?;\n。！？；]|\.(?=\s|$)|…")
_CLAUSE_END = re.compile(r"[,:()\[\]，、：]|\s[-–—]|[–—]\s")
_NEGATORS = frozenset(
    """not no non none without never neither nor except excluding exclude avoid skip ignore drop cannot instead dont
    unnecessary nicht kein keine keinen keiner ohne statt pas sans sin não sem не без без нет không đừng
    不 别 別 非 无 無 沒 没 勿""".split()  # noqa: SIM905
)
_RESETS = frozenset("but just sondern mais sino pero mas но 而 只 aber".split())  # noqa: SIM905
_AFTER = frozenset("is are was were does do did would should need needs needed isn't aren't won't".split())  # noqa: SIM905
_AFTER_NO = frozenset("not unnecessary optional excluded forbidden wrong no nicht optional".split())  # noqa: SIM905
_DOUBT = frozenset(
    """whether maybe perhaps possibly unsure undecided uncertain either versus vs unless if depends might previously
    formerly rejected vielleicht ob peut-être quizás talvez если может 是否 也许 可能""".split()  # noqa: SIM905
)
_DOUBTS = (
    ("not", "sure"), ("should", "i"), ("should", "we"), ("should", "it"), ("last", "time"), ("used", "to"),
    ("or", "not"), ("would", "it"), ("don't", "know"), ("no", "idea"), ("other", "than"), ("rather", "than"),
    ("可", "能"), ("是", "否"), ("也", "许"), ("還", "是"), ("还", "是"),
)  # fmt: skip
_OR = frozenset("or oder ou или или hoặc 或".split())  # noqa: SIM905
_AND = frozenset("and und et y e и 和".split())  # noqa: SIM905
_POLITE = frozenset("can could would will please pls".split())  # noqa: SIM905
_ABOUT = frozenset("on about regarding concerning titled entitled called over über sobre sur".split())  # noqa: SIM905
_TEXTS = frozenset(
    """abstract article bibliography book chapter dissertation essay literature manuscript paper papers report
    research review scan study survey text thesis write writing bericht artikel artículo""".split()  # noqa: SIM905
)
_HERE = frozenset("attached enclosed following above below draft file files manuscript paper papers pdfs".split())  # noqa: SIM905
_POINTS = frozenset("my our this these those it them your attached what".split())  # noqa: SIM905
_LEADS_OUT = frozenset("using via following please limited restricted".split())  # noqa: SIM905


class Step(NamedTuple):
    """One place of a phrase: any of these runs of words (or "{year}", "{number}")."""

    choices: tuple[tuple[str, ...], ...]
    optional: bool = False
    repeated: bool = False


class Phrase(NamedTuple):
    steps: tuple[Step, ...]
    ends_clause: bool = False
    in_topic: bool = False


class Match(NamedTuple):
    """`certain` is False where the sentence negates or doubts the words."""

    start: int
    end: int
    certain: bool


class Sentence(NamedTuple):
    words: tuple[Word, ...]
    breaks: frozenset[int]  # numbers of the words that a comma or its like stands before
    topic: frozenset[int]  # numbers of the words that name what a text is about
    doubtful: bool


class Statement:
    """A request, read once, to be searched for many phrases."""

    def __init__(self, text: str) -> None:
        self.text = text
        parts = own_words(text)
        self.pasted, self.introduced = parts.pasted, parts.introduced
        self._sentences = tuple(_sentences(parts.own))

    def find(self, phrases: Sequence[str]) -> tuple[Match, ...]:
        """Every match of the phrases; of those that overlap only the longest."""
        found = [m for s in self._sentences for p in phrases for m in _matches(s, phrase(p))]
        found.sort(key=lambda m: (m.start - m.end, m.start))
        kept: list[Match] = []
        for match in found:
            if all(match.end <= other.start or other.end <= match.start for other in kept):
                kept.append(match)
        return tuple(sorted(kept))


@lru_cache(maxsize=2048)
def phrase(line: str) -> Phrase:
    """Read one phrase. Raises ValueError when nothing could ever match it, or anything would."""
    tokens = line.split()
    in_topic, ends = tokens[:1] == ["+"], tokens[-1:] == ["$"]
    steps: list[Step] = []
    for token in tokens[1 if in_topic else 0 : -1 if ends else None]:
        optional, repeated = token.endswith("?"), token.endswith("+")
        bare = token[:-1] if optional or repeated else token
        choices = tuple(
            (choice,) if choice in ("{year}", "{number}") else tuple(w.text for w in words(choice))
            for choice in bare.split("|")
        )
        if not all(choices) or any(c in "{}?+$*" for c in re.sub(r"\{(?:year|number)\}", "", bare)):
            raise ValueError(f'"{token}" can not be read as words, {{year}} or {{number}}')
        steps.append(Step(choices, optional, repeated))
    if all(step.optional for step in steps):
        raise ValueError("it would match any text; at least one word must not be optional")
    return Phrase(tuple(steps), ends, in_topic)


# -- sentences -------------------------------------------------------------------------------------------------------


def _sentences(text: str) -> Iterator[Sentence]:
    start = 0
    for end in (*(m.end() for m in _SENTENCE_END.finditer(text)), len(text)):
        found = tuple(w._replace(start=w.start + start, end=w.end + start) for w in words(text[start:end]))
        if found:
            gaps = [text[a.end : b.start] for a, b in pairwise(found)]
            breaks = frozenset(i + 1 for i, gap in enumerate(gaps) if _CLAUSE_END.search(gap))
            asks = text[start:end].rstrip().endswith(("?", "？"))
            yield Sentence(found, breaks, _topic(found, breaks), _doubtful(found, asks=asks))
        start = end


def _doubtful(found: tuple[Word, ...], *, asks: bool) -> bool:
    said = [w.text for w in found]
    pairs = set(pairwise(said))
    if any(pair in pairs for pair in _DOUBTS):
        return True
    if any(w in _DOUBT and (w, nxt) != ("if", "possible") for w, nxt in zip(said, [*said[1:], ""], strict=True)):
        return True
    return asks and not _POLITE & set(said)


def _topic(found: tuple[Word, ...], breaks: frozenset[int]) -> frozenset[int]:
    """The words after "a paper on …", up to the next comma or a word that leads out of it."""
    said = [w.text for w in found]
    inside: set[int] = set()
    for place, word in enumerate(said):
        of = word == "of" and said[max(0, place - 1) : place] in (["review"], ["scan"], ["survey"])
        if not of and (word not in _ABOUT or not _TEXTS & set(said[max(0, place - 4) : place])):
            continue
        nxt = said[place + 1] if place + 1 < len(said) else ""
        if nxt == "the" and _HERE & set(said[place + 2 : place + 3]):
            continue
        if nxt in _POINTS or _DIGITS.fullmatch(nxt):  # "on these papers", "about 5000 words"
            continue
        for here in range(place + 1, len(said)):
            if here in breaks or said[here] in _LEADS_OUT:
                break
            inside.add(here)
    return frozenset(inside)


# -- matching --------------------------------------------------------------------------------------------------------


def _matches(sentence: Sentence, sought: Phrase) -> Iterator[Match]:
    for first in range(len(sentence.words)):
        end = _longest(sentence, sought.steps, first)
        if end is None or end == first:
            continue
        at_end = end == len(sentence.words) or end in sentence.breaks
        if sought.ends_clause and not at_end:
            continue
        if not sought.in_topic and any(place in sentence.topic for place in range(first, end)):
            continue
        yield Match(sentence.words[first].start, sentence.words[end - 1].end, _certain(sentence, first, end))


def _longest(sentence: Sentence, steps: tuple[Step, ...], place: int) -> int | None:
    if not steps:
        return place
    step, rest = steps[0], steps[1:]
    ends: list[int] = []
    for choice in step.choices:
        after = _taken(sentence.words, choice, place)
        if after is None:
            continue
        ends += [end for end in (_longest(sentence, rest, after),) if end is not None]
        if step.repeated:
            nxt = (
                after + 1
                if after < len(sentence.words) and sentence.words[after].text in ("and", "und", "y")
                else after
            )
            again = _longest(sentence, steps, nxt)
            ends += [again] if again is not None else []
    if step.optional:
        ends += [end for end in (_longest(sentence, rest, place),) if end is not None]
    return max(ends, default=None)


def _taken(found: tuple[Word, ...], choice: tuple[str, ...], place: int) -> int | None:
    if choice == ("{year}",):
        return place + 1 if place < len(found) and _YEAR.fullmatch(found[place].text) else None
    if choice == ("{number}",):
        if place >= len(found) or not (found[place].text in _NUMBERS or _DIGITS.fullmatch(found[place].text)):
            return None
        nxt = found[place + 1] if place + 1 < len(found) else None  # "5,000" is cut into two
        grouped = nxt and len(nxt.text) == 3 and nxt.text.isdecimal() and nxt.start - found[place].end == 1
        return place + 2 if grouped else place + 1
    end = place + len(choice)
    return end if tuple(w.text for w in found[place:end]) == choice else None


def _certain(sentence: Sentence, first: int, end: int) -> bool:
    """Not negated, not doubted, not one of two. A negation holds on to the end of its sentence, or to a "but"."""
    if sentence.doubtful:
        return False
    said = [w.text for w in sentence.words]
    for word in reversed(said[:first]):
        if word in _RESETS:
            break
        if word in _NEGATORS or word.endswith("n't"):
            return False
    if first and said[first - 1] in _OR:
        return False
    after = [] if end in sentence.breaks else said[end : end + 2]
    if end < len(said) and said[end] in _OR:
        return False
    return not (
        after
        and (after[0] in _AFTER_NO or (after[0].endswith("n't")) or (after[0] in _AFTER and after[-1] in _AFTER_NO))
    )
