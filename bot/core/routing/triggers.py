"""What a message asks for: trigger phrases, after everything that does not count has been set aside (RT-2).

`read(text, lexicon, …)` gives a `Reading`. Set aside are quotations, code and forwarded words (AU-3), negated words,
titles and topics, questions about a workflow, things already done, and the long part of a message that also holds
a short request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from bot.core.model import Model
from bot.core.routing.phrases import Lexicon, Match
from bot.core.routing.text import (
    BLANK,
    CLAUSE,
    SENTENCE,
    Span,
    Token,
    lines,
    paragraphs,
    quoted,
    tokenise,
)

Mark = Literal[
    "lead",  # may stand before a request: "please", "can you", "I want to"
    "polite",  # dropped, with commas around it
    "joint",  # "and", "then"
    "verb",  # a request that follows "and" ends a topic before it
    "negation",  # takes back what follows in its clause
    "negation_back",  # takes back what stands before it in its clause
    "not_negation",  # "no more than", "not only"
    "contrast",  # ends a negated part: "but", "only"
    "topic",  # what follows is a topic or title
    "topic_back",  # what stands before is a topic (について, 에 대한)
    "mine",  # after "on": no topic but the person's own thing ("on my draft")
    "about",  # a sentence that begins so asks what something is
    "about_any",  # the same, anywhere in the sentence
    "done",  # "already": the clause tells what has happened
    "reset",  # "no wait": what stands before is taken back
    "forwarded",  # a line that begins so hands on somebody else's words
    "handed_on",  # a line that ends so does, with a colon: "my supervisor wrote:"
    "menu_question",  # "what is the difference", as the answer to a menu
    "about_it",  # after a command: "what does it do"
    "else",  # "none of these", as the answer to a menu
]


class Language(Model):
    """One file of a pack's `triggers/` folder. Adding a language is adding a file (RT-12)."""

    language: str
    gaps: tuple[int, int] = (4, 8)  # words that `..` and `...` may pass over
    fold: tuple[str, ...] = ()  # "論论": the first character is read as the second
    words: dict[str, tuple[str, ...]] = {}
    marks: dict[Mark, tuple[str, ...]] = {}
    triggers: dict[str, tuple[str, ...]] = {}
    negative: dict[str, tuple[str, ...]] = {}  # triggers that hold a negation: "an idea but no question"
    names: dict[str, tuple[str, ...]] = {}  # bare nouns; they count only as the answer to a menu (RT-9)
    artefacts: dict[int, tuple[str, ...]] = {}
    unserved: tuple[str, ...] = ()  # requests that no workflow serves (RT-3)


LONG, SHORT = 280, 220  # characters; a paragraph over LONG beside a request under SHORT is what it is about


def compile_languages(languages: Sequence[Language]) -> Lexicon:
    """Raises ValueError that names language and phrase, if one is badly formed."""
    variants = {pair[0]: pair[1] for language in languages for pair in language.fold}
    lexicon = Lexicon(variants)
    for language in languages:
        marks = {f"!{mark}": entries for mark, entries in language.marks.items()}
        for name, entries in {**language.words, **marks}.items():
            for entry in entries:
                try:
                    lexicon.add_class(name, language.language, (entry,))
                except ValueError as wrong:
                    raise ValueError(f"{language.language}: {wrong}") from None
    for language in languages:
        tables = (
            ("trigger", language.triggers),
            ("negative", language.negative),
            ("name", language.names),
            ("artefact", {str(k): v for k, v in language.artefacts.items()}),
            ("unserved", {"": language.unserved}),
        )
        for kind, table in tables:
            for value, phrases in table.items():
                for phrase in phrases:
                    try:
                        lexicon.add_phrase(kind, value, phrase, language.language, language.gaps)
                    except ValueError as wrong:
                        raise ValueError(f"{language.language}: {phrase!r}: {wrong}") from None
    lexicon.finish()
    return lexicon


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


class Sheet:
    """A message with one flag per word for each reason not to count it."""

    def __init__(self, text: str, lexicon: Lexicon, objects: Sequence[Span]) -> None:
        self.text = text
        self.lexicon = lexicon
        self.tokens = _without_polite(tokenise(text, lexicon.variants), lexicon)
        self.spans = lexicon.spans(self.tokens)
        self.foreign_spans = [*quoted(text), *self._handed_on()]
        self.foreign = self.flags([*self.foreign_spans, *objects])
        self.negated = self._negated()
        self.topic = self._topics()
        self.asked = self._asked()
        self.over = self._over()

    def flags(self, spans: Sequence[Span]) -> list[bool]:
        covered = [False] * (len(self.text) + 1)
        for start, end in spans:
            covered[start:end] = [True] * (min(end, len(self.text)) - start)
        return [covered[token.start] for token in self.tokens]

    def mark(self, name: Mark, at: int) -> int:
        """The end of the mark's words at this place, or 0."""
        return max(self.spans[at].get(self.lexicon.identity(f"<!{name}>"), (0,)))

    def clauses(self, gap: int = CLAUSE) -> list[Span]:
        cuts = [i for i, token in enumerate(self.tokens) if i == 0 or token.gap >= gap]
        return [Span(a, b) for a, b in zip(cuts, [*cuts[1:], len(self.tokens)], strict=True)]

    def _negated(self) -> list[bool]:
        flags = [False] * len(self.tokens)
        for start, end in self.clauses():
            at, since = start, start
            while at < end:
                if self.foreign[at]:
                    at += 1
                    continue
                if passed := self.mark("not_negation", at):
                    at = passed
                elif self.mark("negation", at):
                    stop = next((i for i in range(at + 1, end) if self.mark("contrast", i)), end)
                    flags[at:stop] = [True] * (stop - at)
                    at = since = stop
                elif passed := self.mark("negation_back", at):
                    flags[since:passed] = [True] * (passed - since)
                    at = since = passed
                else:
                    since = at if self.mark("contrast", at) else since
                    at += 1
        return flags[: len(self.tokens)]

    def _topics(self) -> list[bool]:
        flags = [False] * len(self.tokens)
        for start, end in self.clauses():
            at = start
            while at < end:
                if self.foreign[at]:
                    at += 1
                elif (body := self.mark("topic", at)) and body < end and not self.mark("mine", body):
                    stop = body
                    while stop < end and not (
                        self.mark("joint", stop) and stop + 1 < end and self.mark("verb", stop + 1)
                    ):
                        stop += 1
                    flags[body:stop] = [True] * (stop - body)
                    at = stop
                elif (body := self.mark("topic_back", at)) and not any(
                    self.mark("mine", i) for i in range(start, at)
                ):
                    flags[start:body] = [True] * (body - start)
                    at = body
                else:
                    at += 1
        return flags

    def _asked(self) -> list[bool]:
        flags = [False] * len(self.tokens)
        for start, end in self.clauses(SENTENCE):
            opens = self.openings(start, end)
            if any(
                (opens[i - start] and self.mark("about", i)) or self.mark("about_any", i)
                for i in range(start, end)
                if not self.foreign[i]
            ):
                flags[start:end] = [True] * (end - start)
        return flags

    def _over(self) -> list[bool]:
        """Already done, or taken back."""
        flags = [False] * len(self.tokens)
        for start, end in self.clauses():
            cuts = [start, *(i for i in range(start + 1, end) if self.mark("joint", i)), end]
            for a, b in zip(cuts, cuts[1:], strict=False):
                if any(self.mark("done", i) for i in range(a, b)):
                    flags[a:b] = [True] * (b - a)
        for at in range(len(self.tokens) - 1, -1, -1):
            if self.mark("reset", at) and not self.foreign[at]:
                flags[:at] = [True] * at
                break
        return flags

    def openings(self, start: int, end: int) -> list[bool]:
        """Where a request may begin: at the start of a clause, after words that lead up to it, after "and"."""
        opens = [False] * (end - start + 1)
        for at in range(start, end):
            here = at - start
            if at == start or self.tokens[at].gap >= CLAUSE or self.foreign[at - 1]:
                opens[here] = True
            after = self.mark("joint", at) or (self.mark("lead", at) if opens[here] else 0)
            if start < after <= end:
                opens[after - start] = True
        return opens

    def _handed_on(self) -> list[Span]:
        """Forwarded and cited paragraphs, and what has a heading like a document."""
        found: list[Span] = []
        parts = paragraphs(self.text)
        heads = self._line_marks()
        for number, part in enumerate(parts):
            for line in lines(self.text, part):
                raw = self.text[line.start : line.end].strip()
                if raw.startswith("#") and raw.lstrip("#").startswith(" "):
                    found.append(Span(line.start, part.end))
                elif heads.get(line.start):
                    # The rest of this paragraph; or the next one, when the line stands alone.
                    alone = line.end >= part.end and number + 1 < len(parts) and raw.endswith((":", "-", "："))
                    if "---" in raw:
                        found.append(Span(line.start, len(self.text)))
                    else:
                        found.append(Span(line.start, parts[number + 1].end if alone else part.end))
        return found

    def _line_marks(self) -> dict[int, bool]:
        """Start of line → does it hand on somebody else's words?"""
        found: dict[int, bool] = {}
        at = 0
        for line in lines(self.text, Span(0, len(self.text))):
            inside = []
            while at < len(self.tokens) and self.tokens[at].start < line.end:
                inside.append(at)
                at += 1
            ends = self.text[line.start : line.end].rstrip().endswith((":", "："))
            found[line.start] = bool(inside) and (
                bool(self.mark("forwarded", inside[0])) or (ends and any(self.mark("handed_on", i) for i in inside))
            )
        return found


def _without_polite(tokens: list[Token], lexicon: Lexicon) -> list[Token]:
    spans = lexicon.spans(tokens)
    polite = lexicon.identity("<!polite>")
    kept: list[Token] = []
    at, gap = 0, 0
    while at < len(tokens):
        token = tokens[at]
        ends = spans[at].get(polite)
        if ends:
            gap, at = max(gap, token.gap), max(ends)
            continue
        if gap == CLAUSE == token.gap:
            token = token._replace(gap=BLANK)  # "check, please, my citations": one clause
        elif gap:
            token = token._replace(gap=max(gap, token.gap))
        kept.append(token)
        gap = 0
        at += 1
    return kept


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
    plain = [a or b or c or d for a, b, c, d in zip(sheet.foreign, sheet.topic, sheet.asked, sheet.over, strict=True)]
    hidden = [a or b for a, b in zip(plain, sheet.negated, strict=True)]

    def found(flags: Sequence[bool], wanted: frozenset[str]) -> list[Match]:
        return lexicon.matches(sheet.tokens, sheet.spans, flags, opens, wanted)

    hits = found(hidden, kinds) + found(plain, frozenset({"negative"}))
    chosen = _in_short_parts(sheet, _longest(hits))
    wanted = [m for m in chosen if m.phrase.kind != "unserved" and m.phrase.value]
    requests = tuple(_found(sheet, m) for m in wanted)
    own_words = sheet.flags([*sheet.foreign_spans, *objects])
    counted = [
        n
        for n in named
        if not _flag_at(sheet, n.span, own_words, sheet.topic, sheet.asked, sheet.over, sheet.negated)
    ]
    taken_back = _longest(found(plain, kinds))
    ruled_out = {m.phrase.value for m in taken_back if any(sheet.negated[m.first : m.last])}
    asked = [a and not b for a, b in zip(sheet.asked, sheet.foreign, strict=True)]
    question = any(asked) and (
        bool(named) or bool(found([not a for a in asked], frozenset({"trigger", "name"}))) or text.rstrip().endswith(("?", "？"))
    )
    nothing_made = [a or b or c for a, b, c in zip(sheet.foreign, sheet.topic, sheet.negated, strict=True)]
    artefacts = _longest(found(nothing_made, frozenset({"artefact"})))
    return Reading(
        requests=requests,
        named=tuple(Found(n.value, n.span.start, n.span.end, text[n.span.start : n.span.end]) for n in counted),
        ruled_out=tuple(sorted(ruled_out - {r.value for r in requests} - {""})),
        artefacts=tuple(_found(sheet, m) for m in artefacts),
        unserved=any(m.phrase.kind == "unserved" or not m.phrase.value for m in chosen),
        question=question and not requests and not counted,
    )


def _flag_at(sheet: Sheet, span: Span, *reasons: Sequence[bool]) -> bool:
    at = next((i for i, t in enumerate(sheet.tokens) if span.start <= t.start < span.end), None)
    return at is None or any(flags[at] for flags in reasons)


def _longest(matches: Sequence[Match]) -> list[Match]:
    """Where matches overlap the one that names more words stands: "systematic review" over "review"."""
    kept: list[Match] = []
    used: dict[int, bool] = {}
    for match in sorted(matches, key=lambda m: (-m.weight, m.last - m.first, m.first, m.phrase.value)):
        if not any(i in used for i in range(match.first, match.last)):
            kept.append(match)
            used.update(dict.fromkeys(range(match.first, match.last), True))
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


__all__ = ["Found", "Language", "Mark", "Reading", "compile_languages", "read"]
