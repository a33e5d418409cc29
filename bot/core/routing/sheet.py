"""A message with everything marked that does not count as a request (RT-2)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise

from bot.core.routing.languages import Mark
from bot.core.routing.phrases import Lexicon
from bot.core.routing.text import BLANK, CLAUSE, SENTENCE, Span, Token, lines, paragraphs, quoted, tokenise


class Sheet:
    """A message with one flag per word for each reason not to count it, made when it is first asked for."""

    def __init__(
        self, text: str, lexicon: Lexicon, objects: Sequence[Span], words: list[Token] | None = None
    ) -> None:
        """`words`: the text as `tokenise` cuts it, where that has been done."""
        self.text = text
        self._ends: dict[str, dict[int, int]] = {}  # mark → where it begins and ends
        self._clause_of: list[int] = []
        self._begins: list[int] = []
        self.lexicon = lexicon
        self._objects = objects
        words = tokenise(text, lexicon.variants) if words is None else words
        spans = lexicon.spans(words)
        self.tokens = _without_polite(words, spans, lexicon)
        self.polite = len(self.tokens) < len(words)
        self.spans = lexicon.spans(self.tokens) if self.polite else spans
        self.where: dict[int, list[int]] = {}  # class → the places where its words begin
        for at, here in enumerate(self.spans):
            for identity in here:
                self.where.setdefault(identity, []).append(at)
        self.topic_words: set[int] = set()  # that lead to a topic
        self.question_words: set[int] = set()
        self.told_spans: list[Span] = []

    @cached_property
    def foreign_spans(self) -> list[Span]:
        """What is quoted, or handed on."""
        return [*quoted(self.text), *self._handed_on()]

    @cached_property
    def foreign(self) -> list[bool]:
        return self.flags([*self.foreign_spans, *self._objects])

    @cached_property
    def over(self) -> list[bool]:
        """Done already, taken back, told of others or by a paper."""
        return [a or b or c for a, b, c in zip(self._over(), self.aside, self.told, strict=True)]

    def flags(self, spans: Sequence[Span]) -> list[bool]:
        if not spans:
            return [False] * len(self.tokens)
        covered = [False] * (len(self.text) + 1)
        for start, end in spans:
            covered[start:end] = [True] * (min(end, len(self.text)) - start)
        return [covered[token.start] for token in self.tokens]

    def mark(self, name: Mark, at: int) -> int:
        """The end of the mark's words at this place, or 0."""
        return self._ends_of(name).get(at, 0)

    def _ends_of(self, name: Mark) -> dict[int, int]:
        ends = self._ends.get(name)
        if ends is None:
            identity = self.lexicon.identity(f"<!{name}>")
            places = self.where.get(identity, ())
            ends = self._ends[name] = {at: max(self.spans[at][identity]) for at in places}
        return ends

    def clauses(self, gap: int = CLAUSE) -> list[Span]:
        cuts = [i for i, token in enumerate(self.tokens) if i == 0 or token.gap >= gap]
        return [Span(a, b) for a, b in pairwise([*cuts, len(self.tokens)])]

    def has(self, *names: Mark) -> bool:
        return any(self.lexicon.identity(f"<!{name}>") in self.where for name in names)

    def before_small_words(self, at: int) -> int:
        """Where a noun phrase that ends with the word at this place begins: "(an) outline"."""
        if not self._begins:  # for all places at once: a paste may hold thousands of small words in a row
            small = self.lexicon.identity("<det>")
            for here, token in enumerate(self.tokens):
                goes_on = (
                    here > 0
                    and token.gap < CLAUSE
                    and small in self.spans[here - 1]
                    and not self.mark("joint", here - 1)
                )
                self._begins.append(self._begins[-1] if goes_on else here)
        return self._begins[at]

    def all_topic(self, at: int) -> bool:
        """Is all that stands before the word at this place its topic? 关于睡眠的 (综述), 수면에 대한 (문헌 검토)."""
        begin = self.mark("topic_until", 0)
        stop = at - 1 if at > 1 and self.mark("topic_end", at - 1) else at
        if not begin and stop < at:  # 睡眠的文献综述, but not 我的文献综述
            paper = self.lexicon.identity("<paper>")
            whose = any(self.mark("mine", i) or self.mark("others", i) or paper in self.spans[i] for i in range(stop))
            return stop > 1 and not whose and not self.mark("mine", stop - 1)
        return begin < stop and all(self.topic[begin:stop])

    def follows_joint(self, at: int) -> bool:
        return any(self.mark("joint", i) == at for i in range(max(at - 3, 0), at))

    def closes(self, at: int) -> bool:
        return at >= len(self.tokens) or self.tokens[at].gap >= CLAUSE

    def in_clause_of(self, at: int, name: Mark) -> bool:
        """Does this mark stand in the clause that holds the word at this place?"""
        if not self.has(name):
            return False
        if not self._clause_of:
            self._clause_of = list(accumulate(token.gap >= CLAUSE for token in self.tokens))
        number = self._clause_of[at]
        first, last = bisect_left(self._clause_of, number), bisect_right(self._clause_of, number)
        return self._within(name, first, last)

    def _within(self, name: Mark, first: int, last: int) -> bool:
        """Does this mark stand anywhere from the word at `first` to the one before `last`?"""
        places = self.where.get(self.lexicon.identity(f"<!{name}>"), ())
        return bisect_left(places, first) < bisect_left(places, last)

    @cached_property
    def negated(self) -> list[bool]:
        flags = [False] * len(self.tokens)
        if not self.has("negation", "negation_back"):
            return flags
        passing, negations = self._ends_of("not_negation"), self._ends_of("negation")
        backwards, contrasts = self._ends_of("negation_back"), self._ends_of("contrast")
        for start, end in self.clauses():
            at, since = start, start
            while at < end:
                if self.foreign[at]:
                    at += 1
                elif at in passing:
                    at = passing[at]
                elif at in negations:
                    stop = next((i for i in range(at + 1, end) if i in contrasts), end)
                    flags[at:stop] = [True] * (stop - at)
                    at = since = stop
                elif at in backwards:
                    passed = backwards[at]
                    flags[since:passed] = [True] * (passed - since)
                    at = since = passed
                else:
                    since = at if at in contrasts else since
                    at += 1
        return flags[: len(self.tokens)]

    @cached_property
    def topic(self) -> list[bool]:
        flags = [False] * len(self.tokens)
        if not self.has("topic", "topic_back", "topic_until"):
            return flags
        topics, until = self._ends_of("topic"), self._ends_of("topic_until")
        backwards = self._ends_of("topic_back")
        for start, end in self.clauses():
            at = start
            while at < end:
                if self.foreign[at]:
                    at += 1
                elif (body := topics.get(at, 0)) and body < end and not self._own(at, body):
                    self.topic_words.update(range(at, body))
                    stop = body
                    manner = self.mark("manner", at) or self.mark("manner", body)
                    while stop < end and not self._topic_ends(stop, end, clause=bool(manner)):
                        stop += 1
                    flags[body:stop] = [True] * (stop - body)
                    at = stop
                elif (body := until.get(at, 0)) and body < end and not self.mark("mine", body):
                    ends = [i for i in range(body, min(end, body + 40)) if self.mark("topic_end", i)]
                    stop = ends[-1] if ends else end
                    flags[body:stop] = [True] * (stop - body)
                    at = max(stop, body)
                elif (body := backwards.get(at, 0)) and not self._within("mine", start, at):
                    flags[start:body] = [True] * (body - start)
                    at = body
                else:
                    at += 1
        return flags

    def _topic_ends(self, at: int, end: int, *, clause: bool) -> bool:
        """ "… and review it", "… but no question". `clause`: it has verbs of its own, "how they read and check"."""
        if at + 1 >= end:
            return False
        if self.mark("contrast", at) and self.mark("negation", at + 1):
            return True
        joint = self.mark("joint", at)
        again = not clause or joint > at + 1 or self.mark("joint", at + 1) or self.mark("mine", at + 2)
        return bool(joint and self.mark("verb", at + 1) and again)

    def _own(self, at: int, body: int) -> bool:
        """After "on": the person's own thing, or an amount ("about twenty papers"), not a topic."""
        if self.mark("mine", body) or self.tokens[body].form.isdecimal():
            return True
        return bool(self.mark("roughly", at) and self.mark("number", body))

    @cached_property
    def asked(self) -> list[bool]:
        flags = [False] * len(self.tokens)
        if not self.has("about", "about_any"):
            return flags
        for start, end in self.clauses(SENTENCE):
            opens = self.openings(start, end)
            asks = [
                i
                for i in range(start, end)
                if not self.foreign[i]
                and (
                    (opens[i - start] and self.mark("about", i) and not self._wished(i)) or self.mark("about_any", i)
                )
            ]
            if asks:
                self.question_words.update(asks)
                flags[start:end] = [True] * (end - start)
        return flags

    def _wished(self, at: int) -> bool:
        """Inside a wish: "what I need is a …" asks nothing."""
        want = self.lexicon.identity("<want>")
        return any(max(self.spans[i].get(want, (0,))) > at for i in range(max(at - 4, 0), at))

    def asked_about(self, spans: Sequence[Span]) -> list[bool]:
        """Sentences that ask something and name one of these commands: "is /x the same as …?"."""
        flags = [False] * len(self.tokens)
        for start, end in self.clauses(SENTENCE) if spans else ():
            first, last = self.tokens[start].start, self.tokens[end - 1].end
            following = self.tokens[end].start if end < len(self.tokens) else len(self.text)
            if not any(first < s.end and s.start < following for s in spans):
                continue
            marks = self.text[max([last, *(s.end for s in spans if s.start < following)]) : following].lstrip()
            opens = self.openings(start, end)
            if marks.startswith(("?", "？")) and any(
                opens[i - start] and self.mark("asks", i) for i in range(start, end)
            ):
                flags[start:end] = [True] * (end - start)
        return flags

    @cached_property
    def aside(self) -> list[bool]:
        """News, and what other people do or ask: no request, and nothing handed in."""
        flags = [False] * len(self.tokens)
        if not self.has("others", "reported", "news"):
            return flags
        reviews = self.lexicon.identity("<reviews>")
        for start, end in self.clauses():
            for at in range(start, end):
                if self.foreign[at] or flags[at]:
                    continue
                does = self.mark("their_part", body) if (body := self.mark("others", at)) and body < end else 0
                if (does and not (does < end and self.mark("their_wish", does))) or self.mark("reported", at):
                    stop = next((i for i in range(max(does, at + 1), end) if self._own_again(i, end)), end)
                    flags[at:stop] = [True] * (stop - at)
            if any(reviews in self.spans[i] for i in range(start, end)):
                continue  # "accepted with major revisions": something to work on
            cuts = [start, *(i for i in range(start + 1, end) if self.mark("joint", i)), end]
            for a, b in pairwise(cuts):
                if any(self.mark("news", i) for i in range(a, b)):
                    flags[a:b] = [True] * (b - a)
        return flags

    @cached_property
    def told(self) -> list[bool]:
        """ "We review 40 studies and do …": what a paper says of itself, up to where the person asks again."""
        flags = [False] * len(self.tokens)
        for start, end in self.clauses(SENTENCE) if self.has("tells") else ():
            at = next((i for i in range(start, end) if self._opens_clause(i, start) and self.mark("tells", i)), end)
            turns = (
                i
                for i in range(at + 1, end)
                if self._own_again(i, end) or (self.tokens[i].gap >= CLAUSE and self.mark("verb", i))
            )
            stop = next(turns, end)
            flags[at:stop] = [True] * (stop - at)
            if at < stop:
                self.told_spans.append(Span(self.tokens[at].start, self.tokens[stop - 1].end))
        return flags

    def _opens_clause(self, at: int, start: int) -> bool:
        return not self.foreign[at] and (at == start or self.tokens[at].gap >= CLAUSE)

    def _own_again(self, at: int, end: int) -> bool:
        """ "… but please review mine", "… and I need an abstract"."""
        contrast = self.mark("contrast", at)
        turn = contrast or self.mark("joint", at)
        if not turn or turn >= end:
            return False
        only = self.lexicon.identity("<only>") in self.spans[at]
        return bool(self.mark("own", turn) or (contrast and not only and self.mark("verb", turn)))

    def _over(self) -> list[bool]:
        """Already done, or taken back."""
        flags = [False] * len(self.tokens)
        if not self.has("done", "reset"):
            return flags
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
        joints, leads, tokens, foreign = self._ends_of("joint"), self._ends_of("lead"), self.tokens, self.foreign
        for at in range(start, end):
            here = at - start
            if at == start or tokens[at].gap >= CLAUSE or foreign[at - 1]:
                opens[here] = True
            after = joints.get(at, 0) or (leads.get(at, 0) if opens[here] else 0)
            if start < after <= end:
                opens[after - start] = True
        return opens

    def _handed_on(self) -> list[Span]:
        """Forwarded and cited paragraphs, and what has a heading like a document."""
        found: list[Span] = []
        heads = self._line_marks()
        if not heads and "#" not in self.text:
            return found
        parts = paragraphs(self.text)
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
        """Start of line → does it hand on somebody else's words? Empty where no line does."""
        found: dict[int, bool] = {}
        if not self.has("forwarded", "handed_on"):
            return found
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
    if not any(polite in here for here in spans):
        return tokens
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
