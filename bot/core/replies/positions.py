"""The places of a message, by its tokens alone: where lines break, what is glued, which words stand between.

A separator is one of , ; / | 、 。 ! ? and a full stop, unless it is glued between letters.
"""

from __future__ import annotations

from typing import Final

from bot.core.replies.clean import Clean
from bot.core.replies.tokens import Token

SEPARATORS: Final = frozenset(",;/|、。.!?…·")
BREAKS: Final = frozenset(("line", "para"))
_QUOTES: Final = frozenset("\"“”„«»‘’'`「」『』{}<>")


class Positions:
    """A tokenised message. Positions are token indices."""

    __slots__ = ("clean", "count", "tokens")

    clean: Clean
    count: int
    tokens: list[Token]

    def is_break(self, i: int) -> bool:
        return self.tokens[i].kind in BREAKS

    def is_separator(self, i: int) -> bool:
        token = self.tokens[i]
        return token.kind == "mark" and token.fold in SEPARATORS

    def is_edge(self, i: int) -> bool:
        """Nothing more is said at `i`: end of message, line break or separator."""
        if i >= self.count:
            return True
        token = self.tokens[i]
        return token.fold in SEPARATORS if token.kind == "mark" else token.kind in BREAKS

    def is_quote(self, i: int) -> bool:
        token = self.tokens[i]
        return token.kind == "mark" and token.fold in _QUOTES

    def is_mark(self, i: int, marks: str) -> bool:
        return i < self.count and self.tokens[i].kind == "mark" and self.tokens[i].fold in marks

    def is_word(self, i: int) -> bool:
        return i < self.count and self.tokens[i].kind in ("word", "char", "opaque", "num")

    def line_start(self, i: int) -> int:
        """The first token of the line that `i` stands in."""
        while i > 0 and not self.is_break(i - 1):
            i -= 1
        return i

    def glued(self, i: int) -> bool:
        """Token `i` follows the one before it without a blank."""
        return 0 < i < self.count and not self.tokens[i].spaced and not self.is_break(i - 1)

    def skip_marks(self, i: int, end: int, marks: str = "-:=,.;()[]\"“”„«»‘’'「」『』{}>") -> int:
        while i < end and self.tokens[i].kind == "mark" and (self.tokens[i].fold in marks):
            i += 1
        return i

    def words(self, start: int, end: int) -> str:
        """The written words of a stretch of tokens, without the separators around them."""
        while start < end and (self.is_break(start) or self.is_mark(start, ",;:/|、。-=")):
            start += 1
        while end > start and (self.is_break(end - 1) or self.is_mark(end - 1, ",;/|、-")):
            end -= 1
        if start >= end:
            return ""
        if sum(map(self.is_quote, range(start, end))) % 2:  # half a pair: its other half is beside it, or was cut off
            start, end = self._paired(start, end)
        return self.clean.cut(self.tokens[start].start, self.tokens[end - 1].end).strip()

    def _paired(self, start: int, end: int) -> tuple[int, int]:
        """A stretch with half a pair of quotation marks: with all of it, or without where it stands around."""
        if start and self.is_quote(start - 1):
            start -= 1
        elif end < self.count and self.is_quote(end):
            end += 1
        whole = self.is_quote(start) and self.is_quote(end - 1) and end - start > 2
        if whole and not any(map(self.is_quote, range(start + 1, end - 1))):
            return start + 1, end - 1
        return start, end
