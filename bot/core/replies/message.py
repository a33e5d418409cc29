"""One message under the grammar: its tokens, the phrases found in them, and the questions on the table.

    letter := a single option letter standing alone as a token (rule 1 of the grammar)

Both stages of the grammar and the value reader look at the message through this class, so that each fact about a
position (is this an option letter, does a phrase begin here) is decided in one place. What the signs alone tell is in
`positions`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from bot.core.replies.phrases import Match, PhraseBook
from bot.core.replies.positions import BREAKS, Positions
from bot.core.replies.reading import Slot
from bot.core.replies.written import Written

if TYPE_CHECKING:
    from bot.core.replies.numbering import NumberList

# What words said on a question mean that are a moment and nothing else: the answer, where it asks for a time; the
# answer or when to ask again; rather the latter, for what is said beside it. "" for any other words.
Moments = Literal["answer", "either", "rather_later", ""]
Dated = Callable[[str, Slot], Moments]
_NO_MATCH: Final[Match] = (0, 0)
_IN_WORDS: Final = ("number", "ordinal", "last")
# Lower-case letters that are words of their own in some language (y, e, o, и …): with a plain word after
# them they begin a sentence.
WORDLIKE: Final = frozenset("eyoiuавсik")


def _longer(found: Mapping[str, Match]) -> Mapping[str, Match]:
    """Without the phrases that are one word long."""
    return {name: match for name, match in found.items() if match[0] > 1}


def _is_hangul(sign: str) -> bool:
    return len(sign) == 1 and "\uac00" <= sign <= "\ud7a3"


class Message(Positions):
    """A tokenised message and the slots it may be about. Positions are token indices."""

    __slots__ = (
        "_ahead",
        "_asked",
        "_clauses",
        "_counted",
        "_lines",
        "_places",
        "asides",
        "asking",
        "attached",
        "book",
        "breaks",
        "by_number",
        "capital",
        "dated",
        "found",
        "fruitless",
        "labelled",
        "lettered",
        "number_list",
        "numeric",
        "offered",
        "open",
        "roman",
        "slots",
        "widest",
        "yes",
    )

    def __init__(
        self,
        said: Written,
        slots: Sequence[Slot],
        book: PhraseBook,
        *,
        dated: Dated,
        attached: bool = False,
    ) -> None:
        self.clean = said.clean
        self.attached = attached
        self.dated = dated
        self.book = book
        self.tokens = said.tokens
        self.count = len(self.tokens)
        self.slots = slots
        self.by_number: dict[int, Slot] = {}
        self.open: list[Slot] = []
        self.widest = 0
        offered: set[str] = set()
        labelled: set[str] = set()
        for slot in slots:
            self.by_number[slot.number] = slot
            if slot.held is None:
                self.open.append(slot)
            letters = slot.letters
            if len(letters) > self.widest:
                self.widest = len(letters)
            offered.update(letters)
            if slot.labels:
                labelled |= slot.folded.heads
        self.offered = frozenset(offered)
        self.labelled = frozenset(labelled)  # how the options' texts begin, for options named before their number
        self.lettered: list[int] = []  # where an option letter may stand
        self.numeric: list[int] = []  # where digits stand
        self.breaks: list[int] = []  # where a line ends
        self.capital = self.roman = False
        self.asking = "?" in said.clean.norm
        for i, token in enumerate(self.tokens):
            if token.letter:
                self.lettered.append(i)
                self.capital = self.capital or (token.letter in offered and not token.lower)
            elif token.kind == "num":
                self.numeric.append(i)
            elif token.kind in BREAKS:
                self.breaks.append(i)
            elif token.fold == "ii":
                after = self.tokens[min(i + 1, self.count - 1)]
                self.roman = self.roman or self.is_mark(i + 1, ").:") or after.letter in offered
        self.yes: dict[tuple[int, int], bool] = {}  # stretches: whether they are made of words of a yes
        self.asides: dict[tuple[int, int], str] = {}  # stretches: what `own.aside` says of them
        self.number_list: NumberList | None = None  # the one read last
        self._asked: list[bool] | None = None
        self._ahead: dict[tuple[str, ...], tuple[int, int]] = {}  # what `next` said last: from where, and where
        self._counted: list[int] | None = None  # where digits or a number in words begin
        self.fruitless = 0  # up to here no acceptance begins; keeps repeated words linear
        self._lines: list[tuple[int, int]] | None = None
        self._clauses: list[tuple[int, int]] | None = None
        # The classes that have a phrase at each position, with the length of its longest one in tokens and its value;
        # and of each class, where its phrases begin.
        self.found: list[Mapping[str, Match]] = []
        self._places: dict[str, list[int]] = {}
        for i, token in enumerate(self.tokens):
            known = book.at(self.tokens, i)
            if known and (token.letter or token.kind == "char"):
                known = self._meant(i, known)
            self.found.append(known)
            for name in known:
                if name in self._places:
                    self._places[name].append(i)
                else:
                    self._places[name] = [i]

    def _meant(self, i: int, known: Mapping[str, Match]) -> Mapping[str, Match]:
        """The phrases at a letter, which may be an option's, or at a character, which may be part of a word."""
        letter = self.tokens[i].letter
        if letter:
            if letter in self.offered and not self._reads_as_article(i) and not self._joins(i):
                known = _longer(known)
            elif self.glued(i) and self.tokens[i - 1].kind == "num" and i + 1 < self.count and (
                self.tokens[i + 1].kind == "num" and self.tokens[i - 1].value in self.by_number
            ):  # fmt: skip
                known = _longer(known)  # "1b 2e 3a": no "and"
        if "agree" in known and known["agree"][0] == 1 and self._syllable(i):
            known = {name: match for name, match in known.items() if name != "agree"}
        return known

    def _syllable(self, i: int) -> bool:
        """A Korean "yes" of one syllable that is only the beginning of a word."""
        if i + 1 >= self.count or not _is_hangul(self.tokens[i].fold):
            return False
        after = self.tokens[i + 1]
        goes_on = not after.spaced and _is_hangul(after.fold) and after.fold != self.tokens[i].fold
        return goes_on and self.book.at(self.tokens, i + 1).keys().isdisjoint(("agree", "polite"))

    def _reads_as_article(self, i: int) -> bool:
        """ "seguir com a B": a lower-case letter right before a capital one is the article."""
        if not self.tokens[i].lower or i + 1 >= self.count:
            return False
        after = self.tokens[i + 1]
        return bool(after.letter) and not after.lower and after.spaced

    def _joins(self, i: int) -> bool:
        """Russian "а", "в": a lower-case letter that begins a clause and reads on is a word, no option."""
        token = self.tokens[i]
        if token.fold <= "\x7f" or not token.lower or i + 1 >= self.count or not self.tokens[i + 1].spaced:
            return False
        begins = i == 0 or self.is_break(i - 1) or self.is_mark(i - 1, ",;")
        after = self.tokens[i + 1]
        return begins and (after.kind == "num" or (after.kind == "word" and not after.letter))

    def at(self, name: str, i: int, end: int | None = None) -> int:
        """Where the phrase of class `name` at `i` ends; 0 if there is none (or it passes `end`)."""
        if i >= self.count:
            return 0
        match = self.found[i].get(name)
        if match is None:
            return 0
        stop = i + match[0]
        return stop if end is None or stop <= end else 0

    def any_at(self, names: tuple[str, ...], i: int, end: int | None = None) -> int:
        """The longest of several classes at `i`."""
        if i >= self.count or not (found := self.found[i]):
            return 0
        length = 0
        for name in names:
            if name in found and (here := found[name][0]) > length and (end is None or i + here <= end):
                length = here
        return i + length if length else 0

    def has(self, name: str) -> bool:
        """Whether the message holds a phrase of the class at all."""
        return name in self._places

    def places(self, name: str, start: int = 0, end: int | None = None) -> Sequence[int]:
        """The positions in [start, end) where a phrase of class `name` begins, in order; it may end further on.

        For looking through a long stretch, where asking at every position would take many times as long.
        """
        known = self._places.get(name)
        if known is None:
            return ()
        return known[bisect_left(known, start) : None if end is None else bisect_left(known, end)]

    def next(self, names: tuple[str, ...], start: int = 0) -> int:
        """The first position from `start` on where a phrase of one of the classes begins; `count` if none does."""
        before = self._ahead.get(names)
        if before is not None and before[0] <= start <= before[1]:
            return before[1]
        first = self.count
        for name in names:
            known = self._places.get(name)
            if known and known[-1] >= start:
                first = min(first, known[bisect_left(known, start)])
        self._ahead[names] = (start, first)
        return first

    def number_after(self, i: int) -> int:
        """The first position from `i` on where digits or a number in words begin; `count` if none do."""
        if self._counted is None:
            self._counted = sorted({*self.numeric, *(k for name in _IN_WORDS for k in self._places.get(name, ()))})
        at = bisect_left(self._counted, i)
        return self._counted[at] if at < len(self._counted) else self.count

    def letters_in(self, start: int, end: int) -> Sequence[int]:
        """The positions in [start, end) where an option letter may stand."""
        return self.lettered[bisect_left(self.lettered, start) : bisect_left(self.lettered, end)]

    def break_in(self, start: int, end: int) -> int:
        """The first line break in [start, end); `end` if there is none."""
        k = bisect_left(self.breaks, start)
        return min(self.breaks[k], end) if k < len(self.breaks) else end

    def numbers_in(self, start: int, end: int) -> Sequence[int]:
        """The positions in [start, end) where digits stand."""
        return self.numeric[bisect_left(self.numeric, start) : bisect_left(self.numeric, end)]

    def limits(self, i: int) -> int:
        """Where words that narrow or condition an acceptance end; 0 if none begin at `i` ("after all" does not)."""
        stop = self.any_at(("limit", "conditional", "negative", "negate"), i)
        return stop if stop and stop >= self.any_at(("filler", "polite", "agree", "recommended"), i) else 0

    def doubts(self, i: int, end: int) -> bool:
        """Whether a choice that ends at `i` is doubted: "B?", "B?!", "B?? not sure", "B, right?"."""
        if not self.asking:
            return False
        marks = i
        while marks < end and self.is_mark(marks, "?!"):
            marks += 1
        if any(self.tokens[k].fold == "?" for k in range(i, marks)):
            return True
        stop = self.skip_marks(i, end, ",-.( ")
        if self.is_mark(stop, "?") and self.is_mark(stop + 1, ")"):
            return True
        stop = self.at("tag", stop, end)
        return bool(stop) and self.is_mark(stop, "?")

    def agrees(self, i: int, end: int | None = None) -> int:
        """Where agreement ends; 0 if there is none or it only begins a greeting ("good morning")."""
        stop = self.at("agree", i, end)
        return stop if stop >= self.at("polite", i, end) else 0

    def acts(self, i: int) -> bool:
        """Whether the words right before `i` make the person the one who acts: "I decide", "we will decide"."""
        return any(self.at("self", k) == i for k in range(max(0, i - 3), i))

    def value_at(self, name: str, i: int) -> int:
        return self.found[i].get(name, _NO_MATCH)[1] if i < self.count else 0

    def asked(self, i: int) -> bool:
        """Whether the sentence that position `i` stands in ends in a question mark."""
        if not self.asking:
            return False
        if self._asked is None:
            ends = [False] * (self.count + 1)
            for k in range(self.count - 1, -1, -1):
                token = self.tokens[k]
                if token.kind in BREAKS or (token.kind == "mark" and token.fold in ".!。"):
                    ends[k] = False
                else:
                    ends[k] = (token.kind == "mark" and token.fold == "?") or ends[k + 1]
            self._asked = ends
        return self._asked[min(i, self.count)]

    @property
    def lines(self) -> list[tuple[int, int]]:
        """Token ranges of the lines that say something."""
        if self._lines is None:
            self._lines = self._parts(self.breaks)
        return self._lines

    @property
    def clauses(self) -> list[tuple[int, int]]:
        """Token ranges between separators and line breaks."""
        if self._clauses is None:
            self._clauses = self._parts(
                [i for i, t in enumerate(self.tokens) if self.is_edge(i) or (t.spaced and self.is_mark(i, "-"))]
            )
        return self._clauses

    def _parts(self, edges: Sequence[int]) -> list[tuple[int, int]]:
        out: list[tuple[int, int]] = []
        start = 0
        for i in (*edges, self.count):
            if i > start:
                out.append((start, i))
            start = i + 1
        return out

    # -- signs and letters -----------------------------------------------------------------------------------

    def is_picture(self, i: int) -> bool:
        """An emoji or sign that may be an autocorrected answer (":D"), not one of thanks."""
        return self.tokens[i].kind == "mark" and self.tokens[i].fold > "\u2190" and not self.at("polite", i)

    def skip_decoration(self, i: int, end: int) -> int:
        """Past courtesy, emoji, mentions and separators."""
        while i < end:
            token = self.tokens[i]
            stop = self.at("polite", i, end)
            if stop:
                i = stop
            elif token.kind in ("line", "para", "mention") or (token.kind == "mark" and not token.fold.isalnum()):
                i += 1
            else:
                break
        return i

    def letter(self, i: int, end: int | None = None) -> str:
        """The option letter at `i`, or "": only as a whole token, not in `a.m.`, `C#`, `C++`, `e-mail`."""
        limit = self.count if end is None else end
        if i >= limit:
            return ""
        token = self.tokens[i]
        if not token.letter or (token.fold > "\x7f" and self._joins(i)):
            return ""
        if i + 1 < limit and not self.tokens[i + 1].spaced:
            if self.tokens[i + 1].kind == "num" and not self._list_goes_on(i):
                return ""
            sign = self.tokens[i + 1]
            further = self.tokens[i + 2] if i + 2 < limit else None
            tight = further is not None and not further.spaced and further.kind == "word"
            if sign.kind == "mark" and sign.fold == "." and tight:
                return ""
            if sign.kind == "mark" and sign.fold in "#@_&" and (tight or sign.fold == "#"):
                return "" if sign.fold != "&" else token.letter
            if sign.kind == "mark" and sign.fold == "+" and self.is_mark(i + 2, "+"):
                return ""
            if sign.fold == "-" and tight and token.lower and token.letter in "EXTUI":
                return ""
        return token.letter

    def _list_goes_on(self, i: int) -> bool:
        """`1A2B`, `1.b2.c`: the number glued to the letter begins the next item. Not in "B2B", "A4", "B12"."""
        tokens = self.tokens
        if tokens[i + 1].value not in self.by_number or i + 2 >= self.count:
            return False
        if self.is_mark(i + 2, ".:)=->"):
            return True
        if i and tokens[i - 1].kind == "num" and tokens[i + 1].value == tokens[i - 1].value + 1:
            return True
        begun = self.glued(i) and (tokens[i - 1].kind == "num" or (i > 1 and tokens[i - 2].kind == "num"))
        return begun or (self.glued(i + 2) and tokens[i - 1].kind == "num" if i else False)
