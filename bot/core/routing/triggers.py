"""What a message asks for: trigger phrases, after everything that does not count has been set aside (RT-2).

`read(text, lexicon, …)` gives a `Reading`. Set aside are quotations, code and forwarded words (AU-3), negated words,
titles and topics, questions about a workflow, things already done, and the long part of a message that also holds
a short request.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bot.core.routing.phrases import Lexicon
from bot.core.routing.search import Match, Search, can_occur
from bot.core.routing.sheet import Sheet
from bot.core.routing.text import Span, Token, dense, paragraphs

NO_ARTEFACT = "-1"  # words that hold an artefact's name and are none: "literature review"
_WORKFLOW = frozenset({"trigger", "name"})  # phrases that name a workflow
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
    question: bool  # asks what something is
    about_workflow: bool  # and names a command or a workflow in it
    told: Span | None = None  # an abstract or a part of a paper, pasted


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
    words: list[Token] | None = None,
) -> Reading:
    """`objects`: links, names of files, pasted documents. `answering`: bare nouns count (RT-9).

    `words`: the text as `tokenise` cuts it, where that has been done.
    """
    sheet = Sheet(text, lexicon, [*objects, *(n.span for n in named)], words)
    if not named and not can_occur(lexicon, sheet.where):  # nothing of what the pack knows
        return Reading((), (), (), (), False, _asks(sheet), about_workflow=False, told=_long_told(sheet))
    opens = sheet.openings(0, len(sheet.tokens))
    kinds = frozenset({"trigger", "unserved", "name"} if answering else {"trigger", "unserved"})
    plain = [a or b or c for a, b, c in zip(sheet.foreign, sheet.topic, sheet.over, strict=True)]
    hidden = [a or b for a, b in zip(plain, sheet.negated, strict=True)]

    once: dict[tuple[bool, ...], Search] = {}  # mostly nothing is set aside, and one search serves all
    asks = any(sheet.asked)

    def found(flags: Sequence[bool], wanted: frozenset[str]) -> list[Match]:
        key = tuple(flags)
        if key not in once:
            once[key] = Search(lexicon, sheet.tokens, sheet.spans, sheet.where, flags, opens)
        matches = once[key].matches(wanted)
        if not asks:
            return list(matches)
        # A phrase that is itself a question ("what does the literature say") is a request all the same.
        return [m for m in matches if m.first in sheet.question_words or not any(sheet.asked[i] for i in m.named)]

    hits = found(hidden, kinds) + found(plain, frozenset({"negative"}))
    if any(sheet.topic):
        # A phrase that names the "on" itself reaches into the topic: "a statement on AI use".
        open_topics = [a or b or c for a, b, c in zip(sheet.foreign, sheet.over, sheet.negated, strict=True)]
        reaching = found(open_topics, frozenset({"trigger"}))
        hits += [m for m in reaching if not sheet.topic[m.first] and m.named & sheet.topic_words]
    hits = _longest(sheet, hits)
    if hits and sheet.has("joint"):
        hits = _longest(sheet, [*hits, *_shared_verb(sheet, hits, found(hidden, frozenset({"name"})))])
    elif not hits:
        nouns = found(hidden, frozenset({"name"}))
        listed = found(hidden, frozenset({"artefact"}))
        hits = (_nouns_alone(sheet, nouns) if sheet.polite else []) or _headed(sheet, nouns, listed)
    if sheet.has("has"):
        hits = [m for m in hits if not _is_there(sheet, m)]
    chosen = _in_short_parts(sheet, hits)
    wanted = [m for m in chosen if m.phrase.kind != "unserved" and m.phrase.value]
    requests = tuple(_found(sheet, m) for m in wanted)
    own_words = sheet.flags([*sheet.foreign_spans, *objects])
    asked_about = sheet.asked_about([n.span for n in named])
    counted = [
        n
        for n in named
        if not _flag_at(sheet, n.span, own_words, sheet.topic, sheet.asked, asked_about, sheet.over, sheet.negated)
    ]
    taken_back = found(plain, _WORKFLOW) if any(sheet.negated) else []
    ruled_out = {m.phrase.value for m in taken_back if any(sheet.negated[i] for i in m.named)}
    later = any(m.phrase.kind == "trigger" and _put_off(sheet, m) for m in taken_back)
    asked = [(a and not b) or c for a, b, c in zip(sheet.asked, sheet.foreign, asked_about, strict=True)]
    about_workflow = any(asked) and (
        bool(named)
        or bool(
            Search(lexicon, sheet.tokens, sheet.spans, sheet.where, [not a for a in asked], opens).matches(_WORKFLOW)
        )
    )
    question = about_workflow or (any(asked) and text.rstrip().endswith(("?", "？")))
    other_flags = zip(sheet.foreign, sheet.topic, sheet.negated, sheet.aside, sheet.told, strict=True)
    nothing_made = [any(flags) for flags in other_flags]
    artefacts = _longest(sheet, found(nothing_made, frozenset({"artefact"})))
    return Reading(
        requests=requests,
        named=tuple(Found(n.value, n.span.start, n.span.end, text[n.span.start : n.span.end]) for n in counted),
        ruled_out=tuple(sorted(ruled_out - {r.value for r in requests} - {""})),
        artefacts=tuple(_found(sheet, m) for m in artefacts if m.phrase.value != NO_ARTEFACT),
        unserved=later or any(m.phrase.kind == "unserved" or not m.phrase.value for m in chosen),
        question=question and not requests and not counted,
        about_workflow=about_workflow,
        told=_long_told(sheet),
    )


def _asks(sheet: Sheet) -> bool:
    """Does the person ask what something is?"""
    return sheet.text.rstrip().endswith(("?", "？")) and any(
        a and not b for a, b in zip(sheet.asked, sheet.foreign, strict=True)
    )


def _flag_at(sheet: Sheet, span: Span, *reasons: Sequence[bool]) -> bool:
    at = next((i for i, t in enumerate(sheet.tokens) if span.start <= t.start < span.end), None)
    return at is None or any(flags[at] for flags in reasons)


def _longest(sheet: Sheet, matches: Sequence[Match]) -> list[Match]:
    """Where matches overlap the one that names more words stands: "systematic review" over "review".

    But the verb belongs to the nearest thing: a phrase that passes over another's object gives way to it
    ("check the citations in my response letter", 論文の抄録を書いて).
    """
    kept: list[Match] = []
    used = 0  # the words named so far, as bits
    far: set[int] = set()
    if len({m.phrase.value for m in matches}) > 1:
        begins: dict[int, list[Match]] = {}
        for match in matches:
            begins.setdefault(match.first, []).append(match)
        far = {id(m) for m in matches if _passes_over(sheet, m, begins)}

    def rank(m: Match) -> tuple[bool, int, int, int, bool, str]:
        return id(m) in far, -m.bits.bit_count(), m.last - m.first, m.first, not m.phrase.value, m.phrase.value

    for match in sorted(matches, key=rank):
        if not used >> match.first & match.bits:
            kept.append(match)
            used |= match.bits << match.first
    return sorted(kept, key=lambda m: m.first)


def _nouns_alone(sheet: Sheet, nouns: Sequence[Match]) -> list[Match]:
    """ "An outline, please": the whole message names what is wanted, and not as the person's own."""
    nouns = _longest(sheet, [n for n in nouns if n.phrase.source.startswith("<")])
    named = {i for n in nouns for i in n.named}
    small = sheet.lexicon.identity("<det>")
    if len(sheet.tokens) > _FEW:
        return []
    for at in range(len(sheet.tokens)):
        if at not in named and (
            sheet.mark("mine", at)
            or sheet.mark("definite", at)
            or not (small in sheet.spans[at] or sheet.mark("joint", at) or sheet.mark("lead", at))
        ):
            return []
    return nouns


def _long_told(sheet: Sheet) -> Span | None:
    """Several sentences that a paper says of itself. Fewer may be somebody who tells what they do."""
    told = sheet.told_spans if any(sheet.told) else []
    if len(told) < _TOLD_SENTENCES or told[-1].end - told[0].start < SHORT:
        return None
    return Span(told[0].start, told[-1].end)


def _headed(sheet: Sheet, nouns: Sequence[Match], listed: Sequence[Match]) -> list[Match]:
    """ "Literature review, last 5 years", 수면에 대한 문헌 검토: a deliverable with limits, or after its topic."""
    size = len(sheet.tokens)
    for noun in _longest(sheet, [n for n in nouns if n.phrase.source.startswith("<")]):
        start = sheet.before_small_words(noun.first)
        if size > _FEW or any(sheet.mark("mine", i) for i in range(start, noun.first)):
            continue
        if noun.last == size and sheet.all_topic(noun.first):
            return [noun]
        rest = range(noun.last, size)
        if start or not rest or not sheet.closes(noun.last):
            continue
        between = sheet.text[sheet.tokens[noun.last - 1].end : sheet.tokens[noun.last].start]
        limited = any(sheet.mark("limit", i) or sheet.tokens[i].form.isdecimal() for i in rest)
        # "Abstract, draft, 3 papers" is a list of what there is; "literature review, 20 papers" is none.
        things = [m for m in _longest(sheet, listed) if m.phrase.value != NO_ARTEFACT]
        itself = any(m.first <= noun.first < m.last for m in things)
        others = any(m.first >= noun.last and (itself or m.phrase.value != "2") for m in things)
        if limited and not others and not any(c in between for c in ":：\n.?!"):
            return [noun]
    return []


def _is_there(sheet: Sheet, match: Match) -> bool:
    """ "Here is an outline of my draft": a phrase that is a noun only, and it is handed in, not asked for."""
    start = sheet.before_small_words(match.first)
    heads = match.phrase.opens or match.phrase.kind == "name"
    return (
        heads
        and not sheet.closes(start)
        and any(sheet.mark("has", i) == start for i in range(max(start - 4, 0), start))
    )


_TOLD_SENTENCES = 2
_FEW = 20  # words of a message that is a noun and politeness
_ON_SOMETHING = ("review", "check", "verify", "revise", "convert", "work_in", "walk", "answer", "guide")


def _shared_verb(sheet: Sheet, hits: Sequence[Match], nouns: Sequence[Match]) -> list[Match]:
    """ "Write an abstract and an outline": the verb serves both. Not so "review my paper and the abstract"."""
    acts = {sheet.lexicon.identity(f"<{name}>") for name in _ON_SOMETHING}
    makes = [
        m for m in hits if m.phrase.kind == "trigger" and m.phrase.value and acts.isdisjoint(sheet.spans[m.first])
    ]
    values: dict[int, set[str]] = {}  # last word of a request → what it asks for
    for made in makes:
        values.setdefault(made.last, set()).add(made.phrase.value)
    found = []
    for noun in nouns:
        start = sheet.before_small_words(noun.first)
        near = any(values.get(last, set()) - {noun.phrase.value} for last in range(max(noun.last - 8, 0), start + 1))
        if near and sheet.follows_joint(start) and sheet.closes(noun.last):
            found.append(noun)
    return found


def _passes_over(sheet: Sheet, match: Match, begins: Mapping[int, Sequence[Match]]) -> bool:
    """Does the phrase share its verb with another one whose object is nearer? `begins`: matches by first word."""
    if match.last - match.first == match.bits.bit_count() or any(e.far for e in match.phrase.elements):
        return False
    verb_last = dense(sheet.tokens[match.first].form[0])
    inside = (1 << (match.last - match.first)) - 2
    for at in range(match.first, match.last):
        for other in begins.get(at, ()):
            if other.phrase.value == match.phrase.value or len(other.phrase.elements) < 2:
                continue
            theirs = other.bits << (other.first - match.first)
            shared = match.bits & theirs
            between = theirs & ~shared & inside if shared else 0
            if between and (_last(between) < _first(shared) if verb_last else _last(shared) < _first(between)):
                return True
    return False


def _first(bits: int) -> int:
    return (bits & -bits).bit_length()


def _last(bits: int) -> int:
    return bits.bit_length()


def _put_off(sheet: Sheet, match: Match) -> bool:
    """ "Don't write the abstract yet": nothing else may start instead."""
    return any(sheet.negated[i] for i in match.named) and sheet.in_clause_of(match.first, "yet")


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
        at = bisect_right(parts, start, key=lambda p: p.start) - 1
        return parts[at] if at >= 0 and start < parts[at].end else Span(0, 0)

    short = [m for m in matches if size.get(part_of(m), 0) <= SHORT]
    if short and any(s > LONG for s in size.values()):
        matches = short
    for match in matches if sheet.has("below", "above") else ():
        pointed = _pointed_at(sheet, match, parts)
        if pointed:
            return [m for m in matches if part_of(m) not in pointed]
    for match in matches if any(c in sheet.text for c in ":：") else ():
        end = sheet.tokens[match.last - 1].end
        tail = sheet.text[end : end + 60]
        head = next((i for i, c in enumerate(tail) if c in ":："), -1)
        if head >= 0 and not any(c in ".!?;,。，！？\n" for c in tail[:head]) and len(sheet.text) - end - head > 40:
            stop = end + head
            heads = match.phrase.opens and match.phrase.closes
            return [m for m in matches if sheet.tokens[m.first].start < stop or (heads and _is_head(sheet, m))]
    return matches


def _pointed_at(sheet: Sheet, match: Match, parts: Sequence[Span]) -> list[Span]:
    """The other paragraphs, where a request says "below" or "above": they are what it is about."""
    below, above = (sheet.in_clause_of(match.first, mark) for mark in ("below", "above"))
    if not (below or above):
        return []
    here = next((i for i, p in enumerate(parts) if p.start <= sheet.tokens[match.first].start < p.end), 0)
    return [*(parts[here + 1 :] if below else ()), *(parts[:here] if above else ())]


def _is_head(sheet: Sheet, match: Match) -> bool:
    """A line begins with it, and a colon follows: "bug: …", and below it "feature request: …"."""
    line_begins = not sheet.text[: sheet.tokens[match.first].start].rpartition("\n")[2].strip(" \t-*•")
    after = sheet.text[sheet.tokens[match.last - 1].end :].lstrip(" \t*")
    return match.phrase.opens and match.phrase.closes and line_begins and after.startswith((":", "："))


def _found(sheet: Sheet, match: Match) -> Found:
    start, end = sheet.tokens[match.first].start, sheet.tokens[match.last - 1].end
    return Found(match.phrase.value, start, end, sheet.text[start:end])
