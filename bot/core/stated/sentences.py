"""The sentences of a request: their words, where they break, and what their text is about."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from bot.core.patterns import regex
from bot.core.stated.phrases import DIGITS, NUMBERS, YEAR
from bot.core.stated.topics import led_to, topic_of
from bot.core.words import Word, words

_SENTENCE_END = regex(r"[!?;\n。！？；]|\.(?=\s|$)|…")
_CLAUSE_END = regex(r"[,:()\[\]，、：]|\s[-–—]|[–—]\s")
_COMMA = regex(r"[,()\[\]，、]")
_DOUBT = frozenset(
    """actually wait correction whether maybe perhaps possibly unsure undecided uncertain
    either versus vs unless if depends might previously
    formerly rejected vielleicht ob peut-être quizás talvez если может 是否 也许 可能""".split()  # noqa: SIM905
)
_DOUBTS = frozenset((
    ("not", "sure"), ("should", "i"), ("should", "we"), ("should", "it"), ("last", "time"), ("used", "to"),
    ("or", "not"), ("i", "mean"), ("i", "meant"), ("scratch", "that"),
    ("would", "it"), ("don't", "know"), ("no", "idea"), ("other", "than"), ("rather", "than"),
    ("可", "能"), ("是", "否"), ("也", "许"), ("還", "是"), ("还", "是"),
))  # fmt: skip
_POLITE = frozenset("can could would will please pls".split())  # noqa: SIM905


class Sentence(NamedTuple):
    words: tuple[Word, ...]
    breaks: frozenset[int]  # numbers of the words that a comma, a colon or their like stands before
    commas: frozenset[int]  # those of them that no phrase reaches across, except a list
    topic: frozenset[int]  # numbers of the words that name what a text is about
    asked: bool
    doubtful: bool
    said: frozenset[str]  # the words, and "{year}", "{number}" where there is one: for a quick no


def sentences(text: str) -> Iterator[Sentence]:
    start = 0
    for end in (*(m.end() for m in _SENTENCE_END.finditer(text)), len(text)):
        found = words(text[start:end])
        if start:
            found = tuple([Word(w.text, w.start + start, w.end + start) for w in found])
        if found:
            between = [(i, text[a.end : b.start]) for i, (a, b) in enumerate(pairwise(found), 1)]
            gaps = [(i, gap) for i, gap in between if gap != " "]
            breaks = frozenset([i for i, gap in gaps if _CLAUSE_END.search(gap)])
            commas = frozenset([i for i, gap in gaps if _COMMA.search(gap)])
            said = frozenset([w.text for w in found])
            topic = topic_of(found, breaks)
            led = frozenset[int]()
            if not topic:
                colon = next((i for i, gap in gaps if ":" in gap or "：" in gap), None)
                topic = led = led_to(found, breaks, colon) if colon else topic
            asked = text[start:end].rstrip().endswith(("?", "？")) and not _POLITE & said and not led
            yield Sentence(found, breaks, commas, topic, asked, _doubtful(found), said.union(_figures(said)))
        start = end


def _figures(said: frozenset[str]) -> Iterator[str]:
    """Which of "{year}" and "{number}" some of these words can be."""
    digits = [word for word in said if DIGITS.fullmatch(word)]
    if digits or not NUMBERS.isdisjoint(said):
        yield "{number}"
    if any(YEAR.fullmatch(word) for word in digits):
        yield "{year}"


def _doubtful(found: tuple[Word, ...]) -> bool:
    said = [w.text for w in found]
    if not _DOUBTS.isdisjoint(pairwise(said)):
        return True
    if _DOUBT.isdisjoint(said):
        return False
    return any(w in _DOUBT and (w, nxt) != ("if", "possible") for w, nxt in zip(said, [*said[1:], ""], strict=True))
