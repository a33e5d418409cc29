"""What a message asks for: trigger phrases, after everything that does not count has been set aside (RT-2).

`read(text, lexicon, …)` gives a `Reading`. Set aside are quotations, code and forwarded words (AU-3), negated words,
titles and topics, questions about a workflow, things already done, and the long part of a message that also holds
a short request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bot.core.routing.phrases import Lexicon, Match
from bot.core.routing.sheet import Sheet
from bot.core.routing.text import Span, paragraphs

NO_ARTEFACT = "-1"  # words that hold an artefact's name and are none: "literature review"
LONG, SHORT = 280, 220  # characters; a paragraph over LONG beside a request under SHORT is what it is about


class Found(NamedTuple):
    value: str  # a workflow id, or a phase
    start: int
    end: int
    words: str  # as typed


class Reading(NamedTuple):
    requests: tuple[Found, ...]  # in the order of the message
    named: tuple[Found, ...]  # commands, ids and agents that count
    ruled_out: tuple[str, ...]
    artefacts: tuple[Found, ...]
    unserved: bool
    question: bool  # asks what something is, and names a workflow in it


class Named(NamedTuple):
    """A command, id or agent written out in a message."""

    value: str
    span: Span


def read(
    text: str,
    lexicon: Lexicon,
    objects: Sequence[Span] = (),
    named: Sequence[Named] = (),
    *,
    answering: bool = False,
) -> Reading:
    """`objects`: links, names of files, pasted documents. `answering`: bare nouns count (RT-9)."""
    sheet = Sheet(text, lexicon, [*objects, *(n.span for n in named)])
    opens = sheet.openings(0, len(sheet.tokens))
    kinds = frozenset({"trigger", "unserved", "name"} if answering else {"trigger", "unserved"})
    plain = [a or b or c for a, b, c in zip(sheet.foreign, sheet.topic, sheet.over, strict=True)]
    hidden = [a or b for a, b in zip(plain, sheet.negated, strict=True)]

    once: dict[tuple[bool, ...], list[Match]] = {}  # mostly nothing is set aside, and one search serves all

    def found(flags: Sequence[bool], wanted: frozenset[str]) -> list[Match]:
        key = tuple(flags)
        if key not in once:
            once[key] = lexicon.matches(sheet.tokens, sheet.spans, flags, opens)
        # A phrase that is itself a question ("what does the literature say") is a request all the same.
        return [
            m
            for m in once[key]
            if m.phrase.kind in wanted
            and (m.first in sheet.question_words or not any(sheet.asked[i] for i in m.named))
        ]

    hits = found(hidden, kinds) + found(plain, frozenset({"negative"}))
    if any(sheet.topic):
        # A phrase that names the "on" itself reaches into the topic: "a statement on AI use".
        open_topics = [a or b or c for a, b, c in zip(sheet.foreign, sheet.over, sheet.negated, strict=True)]
        reaching = found(open_topics, frozenset({"trigger"}))
        hits += [m for m in reaching if not sheet.topic[m.first] and m.named & sheet.topic_words]
    chosen = _in_short_parts(sheet, _longest(hits))
    wanted = [m for m in chosen if m.phrase.kind != "unserved" and m.phrase.value]
    requests = tuple(_found(sheet, m) for m in wanted)
    own_words = sheet.flags([*sheet.foreign_spans, *objects])
    counted = [
        n
        for n in named
        if not _flag_at(sheet, n.span, own_words, sheet.topic, sheet.asked, sheet.over, sheet.negated)
    ]
    taken_back = found(plain, frozenset({"trigger", "name"})) if any(sheet.negated) else []
    ruled_out = {m.phrase.value for m in taken_back if any(sheet.negated[i] for i in m.named)}
    asked = [a and not b for a, b in zip(sheet.asked, sheet.foreign, strict=True)]
    question = any(asked) and (
        bool(named)
        or any(
            m.phrase.kind in ("trigger", "name")
            for m in lexicon.matches(sheet.tokens, sheet.spans, [not a for a in asked], opens)
        )
        or text.rstrip().endswith(("?", "？"))
    )
    nothing_made = [a or b or c for a, b, c in zip(sheet.foreign, sheet.topic, sheet.negated, strict=True)]
    artefacts = _longest(found(nothing_made, frozenset({"artefact"})))
    return Reading(
        requests=requests,
        named=tuple(Found(n.value, n.span.start, n.span.end, text[n.span.start : n.span.end]) for n in counted),
        ruled_out=tuple(sorted(ruled_out - {r.value for r in requests} - {""})),
        artefacts=tuple(_found(sheet, m) for m in artefacts if m.phrase.value != NO_ARTEFACT),
        unserved=any(m.phrase.kind == "unserved" or not m.phrase.value for m in chosen),
        question=question and not requests and not counted,
    )


def _flag_at(sheet: Sheet, span: Span, *reasons: Sequence[bool]) -> bool:
    at = next((i for i, t in enumerate(sheet.tokens) if span.start <= t.start < span.end), None)
    return at is None or any(flags[at] for flags in reasons)


def _longest(matches: Sequence[Match]) -> list[Match]:
    """Where matches overlap the one that names more words stands: "systematic review" over "review"."""
    kept: list[Match] = []
    used: set[int] = set()
    for match in sorted(matches, key=lambda m: (-len(m.named), m.last - m.first, m.first, m.phrase.value)):
        if used.isdisjoint(match.named):
            kept.append(match)
            used |= match.named
    return sorted(kept, key=lambda m: m.first)


def _in_short_parts(sheet: Sheet, matches: list[Match]) -> list[Match]:
    """A short request beside a long paste: the paste is what it is about.

    The same for what follows a request that ends in a colon. A long dictation without any short part counts whole.
    """
    if not matches:
        return matches
    parts = paragraphs(sheet.text)
    size = {part: part.end - part.start for part in parts}

    def part_of(match: Match) -> Span:
        start = sheet.tokens[match.first].start
        return next((p for p in parts if p.start <= start < p.end), Span(0, 0))

    short = [m for m in matches if size.get(part_of(m), 0) <= SHORT]
    if short and any(s > LONG for s in size.values()):
        matches = short
    for match in matches:
        tail = sheet.text[sheet.tokens[match.last - 1].end :]
        head = next((i for i, c in enumerate(tail[:60]) if c in ":："), -1)
        if head >= 0 and not any(c in ".!?;,。，！？\n" for c in tail[:head]) and len(tail) - head > 40:
            stop = sheet.tokens[match.last - 1].end + head
            return [m for m in matches if sheet.tokens[m.first].start < stop]
    return matches


def _found(sheet: Sheet, match: Match) -> Found:
    start, end = sheet.tokens[match.first].start, sheet.tokens[match.last - 1].end
    return Found(match.phrase.value, start, end, sheet.text[start:end])
