"""A message with everything marked that does not count as a request (RT-2)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from bot.core.routing.languages import Mark
from bot.core.routing.phrases import Lexicon
from bot.core.routing.text import BLANK, CLAUSE, SENTENCE, Span, Token, lines, paragraphs, quoted, tokenise


class Sheet:
    """A message with one flag per word for each reason not to count it."""

    def __init__(self, text: str, lexicon: Lexicon, objects: Sequence[Span]) -> None:
        self.text = text
        self._identities: dict[str, int] = {}
        self.lexicon = lexicon
        words = tokenise(text, lexicon.variants)
        spans = lexicon.spans(words)
        self.tokens = _without_polite(words, spans, lexicon)
        self.spans = spans if len(self.tokens) == len(words) else lexicon.spans(self.tokens)
        self.present = {identity for here in self.spans for identity in here}
        self.foreign_spans = [*quoted(text), *self._handed_on()]
        self.foreign = self.flags([*self.foreign_spans, *objects])
        self.negated = self._negated()
        self.topic_words: set[int] = set()
        self.topic = self._topics()
        self.question_words: set[int] = set()
        self.asked = self._asked()
        self.over = self._over()

    def flags(self, spans: Sequence[Span]) -> list[bool]:
        covered = [False] * (len(self.text) + 1)
        for start, end in spans:
            covered[start:end] = [True] * (min(end, len(self.text)) - start)
        return [covered[token.start] for token in self.tokens]

    def mark(self, name: Mark, at: int) -> int:
        """The end of the mark's words at this place, or 0."""
        identity = self._identities.get(name)
        if identity is None:
            identity = self._identities[name] = self.lexicon.identity(f"<!{name}>")
        if identity not in self.present:
            return 0
        ends = self.spans[at].get(identity)
        return max(ends) if ends else 0

    def clauses(self, gap: int = CLAUSE) -> list[Span]:
        cuts = [i for i, token in enumerate(self.tokens) if i == 0 or token.gap >= gap]
        return [Span(a, b) for a, b in pairwise([*cuts, len(self.tokens)])]

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
                elif (body := self.mark("topic", at)) and body < end and not self._own(body):
                    self.topic_words.update(range(at, body))
                    stop = body
                    while stop < end and not (
                        self.mark("joint", stop) and stop + 1 < end and self.mark("verb", stop + 1)
                    ):
                        stop += 1
                    flags[body:stop] = [True] * (stop - body)
                    at = stop
                elif (body := self.mark("topic_until", at)) and body < end and not self.mark("mine", body):
                    ends = [i for i in range(body, min(end, body + 40)) if self.mark("topic_end", i)]
                    stop = ends[-1] if ends else end
                    flags[body:stop] = [True] * (stop - body)
                    at = max(stop, body)
                elif (body := self.mark("topic_back", at)) and not any(
                    self.mark("mine", i) for i in range(start, at)
                ):
                    flags[start:body] = [True] * (body - start)
                    at = body
                else:
                    at += 1
        return flags

    def _own(self, at: int) -> bool:
        """After "on": the person's own thing, or an amount ("about 20 papers"), not a topic."""
        return bool(self.mark("mine", at)) or self.tokens[at].form.isdecimal()

    def _asked(self) -> list[bool]:
        flags = [False] * len(self.tokens)
        for start, end in self.clauses(SENTENCE):
            opens = self.openings(start, end)
            asks = [
                i
                for i in range(start, end)
                if not self.foreign[i] and ((opens[i - start] and self.mark("about", i)) or self.mark("about_any", i))
            ]
            if asks:
                self.question_words.update(asks)
                flags[start:end] = [True] * (end - start)
        return flags

    def _over(self) -> list[bool]:
        """Already done, or taken back."""
        flags = [False] * len(self.tokens)
        for start, end in self.clauses():
            cuts = [start, *(i for i in range(start + 1, end) if self.mark("joint", i)), end]
            for a, b in pairwise(cuts):
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
                    break
                if heads.get(line.start):
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


def _without_polite(tokens: list[Token], spans: Sequence[dict[int, list[int]]], lexicon: Lexicon) -> list[Token]:
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
