"""A message that names whole rounds by their numbers: "#12, #14 except #14 2: C", "accept all mine" (RP-4, RP-7).

    several := [acceptance] (named | "mine") { (","|"and"|";") named } [ except named { … } ]
    named   := "#" number [":"] [ what is said of that round ]
    within  := what is said of one round, with "in #" number in it

What is said of a round is left as text: it is read with that round's questions. Between and before the numbers only
words of acceptance and small words may stand; anything else is prose, and prose is no message of this kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.core.model import Model
from bot.core.replies.phrases import PhraseBook
from bot.core.replies.tokens import Token
from bot.core.replies.written import Written, written

LONGEST: Final = 600  # characters; a longer message is prose
_AROUND: Final = frozenset(
    ("accept", "recommended", "all", "mine", "polite", "filler", "for", "lead", "and", "agree", "except", "content")
)
_LETTERS: Final = frozenset("ABCDEFGH")
_SMALL: Final = frozenset(("and", "polite"))
_WITHIN: Final = ("for", "filler")
ACCEPT: Final = "accept recommendations"  # what "accept #12" says of round 12; read like any reply


class Named(Model):
    """One round by its number. `words` is read with its questions; `left_out`: it is excepted as a whole."""

    number: int
    words: str = ""
    accepted: bool = False
    left_out: bool = False


class Several(Model):
    """`mine`: every round of the person's is accepted, but for what `named` says. `bare`: nothing but numbers.

    `agrees`: words that agree without naming what to, which is asked back (RP-3).
    """

    mine: bool = False
    accepts: bool = False
    agrees: bool = False
    named: tuple[Named, ...] = ()

    @property
    def bare(self) -> bool:
        return not self.accepts and not self.agrees and not any(n.words for n in self.named)

    def of(self, number: int) -> Named | None:
        return next((n for n in self.named if n.number == number), None)


def read_several(text: str | Written, book: PhraseBook, *, decoded: bool = False) -> Several | None:
    """The rounds that a message names; None when it is no message of this kind."""
    if len(text.raw if isinstance(text, Written) else text) > LONGEST:
        return None
    message = text if isinstance(text, Written) else written(text, book, decoded=decoded)
    if message.clean.paste == "all":
        return None
    norm, tokens = message.clean.norm, message.tokens
    marks = _marks(tokens) if "#" in norm else []
    head = tokens[: marks[0]] if marks else tokens
    classes = _classes(head, book)
    if classes is None:
        return None
    said = frozenset().union(*classes)
    accepts = bool(said & {"accept", "recommended"})
    mine = "mine" in said
    if not (accepts and mine) and not marks:
        return None
    found: dict[int, Named] = {}
    excepted = bool(classes) and "except" in classes[-1]
    numbers = [(i + 1, at) for i in marks for at in _numbers(tokens, i + 1, book)]
    for place, (_, at) in enumerate(numbers):
        end = _end(numbers, place, marks, len(tokens))
        words, ends_in_except = _words(norm, tokens, at + 1, end, book)
        if accepts and words and _classes(tokens[at + 1 : end], book) is not None:
            words = ""  # what is left of the acceptance: "接受 #12 的推荐"
        number = tokens[at].value
        old = found.get(number, Named(number=number))
        found[number] = _joined(old, words, excepted=excepted, accepts=accepts or (bool(said) and not words))
        excepted = excepted or ends_in_except
    return Several(mine=mine, accepts=accepts, agrees="agree" in said, named=tuple(found.values()))


def read_within(text: str | Written, book: PhraseBook, *, decoded: bool = False) -> Named | None:
    """ "Change 1 to B in #12": the one round that is named inside what is said of it; None when there is none."""
    if len(text.raw if isinstance(text, Written) else text) > LONGEST:
        return None
    message = text if isinstance(text, Written) else written(text, book, decoded=decoded)
    norm, tokens = message.clean.norm, message.tokens
    marks = _marks(tokens) if "#" in norm else []
    if len(marks) != 1 or message.clean.paste == "all":
        return None
    at = marks[0]
    joint = next((k for k in range(max(0, at - 3), at) if _joins(tokens, k, at, book)), None)
    if joint is None:
        return None
    words = f"{norm[: tokens[joint].start].rstrip()} {norm[tokens[at + 1].end :].lstrip(' ,:')}".strip()
    return Named(number=tokens[at + 1].value, words=words)


def _joins(tokens: Sequence[Token], i: int, end: int, book: PhraseBook) -> bool:
    """Whether a small word before the "#" begins at `i`: "in", "of"."""
    return any(name in _WITHIN and i + length == end for name, (length, _) in book.at(tokens, i).items())


def _marks(tokens: Sequence[Token]) -> list[int]:
    """Where rounds are named; not inside brackets: "2: other (see #14)" names nothing."""
    found: list[int] = []
    depth = 0
    for i, token in enumerate(tokens[:-1]):
        depth = max(0, depth + (token.fold in ("(", "（", "[")) - (token.fold in (")", "）", "]")))
        if not depth and _names(tokens, i):
            found.append(i)
    return found


def _numbers(tokens: Sequence[Token], at: int, book: PhraseBook) -> list[int]:
    """The number behind a "#", and those joined to it: "#12, 14 and 15". Not "#12, 2: C", which says something."""
    found = [at]
    while True:
        i = found[-1] + 1
        joined = i
        while joined < len(tokens) and tokens[joined].fold in (",", "&", "+", "/"):
            joined += 1
        if joined < len(tokens) and (word := book.at(tokens, joined).get("and")) is not None:
            joined += word[0]
        after = joined + 1
        if joined == i or joined >= len(tokens) or tokens[joined].kind != "num":
            return found
        if after < len(tokens) and not _goes_on(tokens, after, book):
            return found
        found.append(joined)


def _goes_on(tokens: Sequence[Token], i: int, book: PhraseBook) -> bool:
    """Whether what stands here only joins, ends or excepts: a number before it names a round."""
    if tokens[i].fold in (",", "&", "+", "/", ".", "!", ";", "#", "\n"):
        return True
    return tokens[i].letter[-1:] not in _LETTERS and bool({"and", "except", "polite"} & book.at(tokens, i).keys())


def _end(numbers: Sequence[tuple[int, int]], place: int, marks: Sequence[int], count: int) -> int:
    """Where what is said of a number ends: at the next number of its row, or at the next "#"."""
    first, at = numbers[place]
    if place + 1 < len(numbers) and numbers[place + 1][0] == first:
        return at + 1  # nothing is said between numbers that are joined
    return next((mark for mark in marks if mark > at), count)


def _names(tokens: Sequence[Token], i: int) -> bool:
    """`#12` or `# 12`, not glued to what is before it."""
    number = tokens[i + 1]
    glued = i > 0 and not tokens[i].spaced and tokens[i - 1].kind in ("word", "num", "char", "opaque")
    return tokens[i].fold == "#" and number.kind == "num" and not glued


def _classes(tokens: Sequence[Token], book: PhraseBook) -> list[frozenset[str]] | None:
    """The classes along what stands before the first number; None when something else stands there too."""
    found: list[frozenset[str]] = []
    at = 0
    while at < len(tokens):
        here = book.at(tokens, at)
        known = {name: length for name, (length, _) in here.items() if name in _AROUND}
        if known:
            longest = max(known.values())
            found.append(frozenset(name for name, length in known.items() if length == longest))
            at += longest
        elif tokens[at].kind in ("mark", "line", "para") and tokens[at].fold not in ("?", "？"):
            at += 1
        else:
            return None
    return found


def _words(norm: str, tokens: Sequence[Token], start: int, end: int, book: PhraseBook) -> tuple[str, bool]:
    """What is said behind a number, without the small words around it; and whether it ends in "except"."""
    excepts = False
    while start < end and tokens[start].fold in (":", "-", ",", "."):
        start += 1
    while end > start:
        last = tokens[end - 1]
        if last.fold in (",", ";", ".", "&", "+", "(", ":") or last.kind in ("line", "para"):
            end -= 1
            continue
        if last.letter[-1:] in _LETTERS:  # "#2 A": a letter first, whatever else it is in some language
            break
        cut = next(
            (
                (at, "except" in here)
                for at in range(max(start, end - 5), end)
                if (here := {n for n, (length, _) in book.at(tokens, at).items() if at + length == end})
                and ("except" in here or here & _SMALL)
            ),
            None,
        )
        if cut is None:
            break
        end, excepts = cut[0], excepts or cut[1]
    if start >= end:
        return "", excepts
    return norm[tokens[start].start : tokens[end - 1].end].strip(), excepts


def _joined(old: Named, words: str, *, excepted: bool, accepts: bool) -> Named:
    """What the message says of a round so far, and what it says now."""
    if excepted and not words:
        return old.model_copy(update={"left_out": True})
    if not words:
        return old.model_copy(update={"accepted": True})
    if excepted or old.accepted:  # "#14 except #14 2: C", "#14, #14 2: C"
        return old.model_copy(update={"words": ", ".join(filter(None, (old.words, words)))})
    if accepts and not any(c.isalpha() for c in words):  # "accept recommendations for #12 2, 3": only these
        return old.model_copy(update={"words": f"{ACCEPT} for {words}"})
    if accepts:  # "accept recommendations for #12 2: C"
        return old.model_copy(update={"accepted": True, "words": words})
    return old.model_copy(update={"words": ", ".join(filter(None, (old.words, words)))})


def said_of(named: Named | None, *, accepted: bool) -> str:
    """What the message says of one round, as one reply to it. `accepted`: it is accepted beside what is named."""
    words = named.words if named is not None else ""
    if not accepted:
        return words
    return f"{ACCEPT} except {words}" if words else ACCEPT
