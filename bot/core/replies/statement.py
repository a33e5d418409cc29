"""What the grammar cuts a message into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Place = Literal["line", "sep", "conn", "done", "mid"]


@dataclass(slots=True)
class Statement:
    """One statement. Token ranges: the value is [start, end); `first` is where the statement itself begins.

    `forced` names a value that the verb settles ("skip 2"); `reversed` tells that the value came first and the
    numbers after it, with the remark in [tail, end).
    """

    kind: Literal["item", "rest", "same", "accept", "except", "force_quit", "cancel", "correct", "words"]
    first: int
    start: int
    end: int
    numbers: tuple[int, ...] = ()
    value_end: int = -1  # of a reversed value
    tail: int = -1
    forced: str = ""
    sub: str = ""  # the letter of a sub-id ("1a")
    glued: bool = False
    bound: bool = False
    ranged: bool = False
    weak: bool = False  # a bare number with free text: counts only in company
    buried: bool = False  # found inside running text: counts only in company
    changed: bool = False
    delegated: bool = False
    negated: bool = False
    asked: bool = False
    condition: bool = False
    partial: bool = False  # an acceptance with words in it that the grammar does not know
    hedged: bool = False  # words of doubt stand before the number
    like: int = 0  # the question whose answer this one shares
    after_blank: bool = False
    on_line: bool = False
