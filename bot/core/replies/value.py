"""A value: what was said on one question, and the small readings that all the others share.

leads := ("I take" | "option" | "the")*        nothing in them decides
asks  := question word … | … "?" | "explain …"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.core.replies.message import Message

_LEADS: Final = ("lead", "option", "article")
_LEADING: Final = frozenset(_LEADS)
_MEANT: Final = ("unsure", "skip", "later", "none")
_MOST_LEADS: Final = 6  # "well I think I would go with option"; more is prose


@dataclass(slots=True, frozen=True)
class Value:
    """One reading. `kind` is "letter", "other", "recommended", "skip", "same", "digit", "empty", "agree", or the
    code of an error; `letter` is an option letter (for tentative ones the letter leaned to)."""

    kind: str
    letter: str = ""
    text: str | None = None
    note: str | None = None
    number: int = 0  # of a digit, or the question referred to (0 = the one before)
    said: str = ""
    complete: bool = True  # nothing but the value was said
    kept: str | None = None  # words that are no certain answer, but taken as one's own on a yes


def skip_leads(msg: Message, i: int, end: int) -> int:
    """Past words that add nothing before a value: "I take option …"."""
    for _ in range(_MOST_LEADS):
        if i >= end or _LEADING.isdisjoint(msg.found[i]):
            break
        stop = msg.any_at(_LEADS, i, end)
        if not stop or stop < msg.any_at(_MEANT, i, end):
            break  # "no preference" is no Portuguese article
        if stop == i + 1 and msg.letter(i, end) and not msg.any_at(_LEADS, stop, end) and not msg.letter(stop, end):
            break
        i = msg.skip_marks(stop, end, ",:\"“‘'")
        if msg.is_mark(i, "…") or (msg.is_mark(i, ".") and msg.is_mark(i + 1, ".")):
            i = msg.skip_marks(i, end, ".…")  # "3 is... c"
    return i


def article_a(msg: Message, i: int) -> bool:
    """ "pula a 3", "exceto a 2", "a 1 é B e a 2 é C": the Portuguese article, not option A, before a number."""
    if not 0 <= i < msg.count - 1 or msg.tokens[i].fold != "a" or not msg.tokens[i].lower:
        return False
    after = msg.tokens[i + 1]
    if after.kind != "num" or not after.spaced:
        return False
    if i + 2 < msg.count and (msg.tokens[i + 2].fold == "é" or msg.at("negative", i + 2)):
        return True
    before = msg.tokens[i - 1] if i else None
    return before is not None and before.kind == "word" and (not before.letter or bool(msg.at("and", i - 1)))


def letter_ends(msg: Message, i: int, end: int) -> bool:
    """Whether the option letter at `i` is followed by an edge, a bracket, a dash or another item's number."""
    if i + 1 >= end or msg.is_edge(i + 1):
        return True
    following = msg.tokens[i + 1]
    return following.kind in ("mark", "num", "char")


def letter_stands(msg: Message, i: int, end: int) -> bool:
    """As `letter_ends`, or with courtesy or a remark right after the letter."""
    return letter_ends(msg, i, end) or bool(msg.any_at(("polite", "note"), i + 1, end))


def unwrap(text: str) -> str:
    if len(text) > 1 and text[0] in "(（[" and text[-1] in ")）]" and text.count(text[0]) == 1:
        return text[1:-1].strip()
    if len(text) > 1 and text[0] in "(（" and text.count("(") + text.count("（") == 1 and not text.count(")"):
        return text[1:].strip()
    return text


def note_of(msg: Message, start: int, end: int) -> str | None:
    """A remark, without brackets around it; None if it is only courtesy or an edit mark of the client."""
    if msg.skip_decoration(start, end) >= end:
        return None
    return unwrap(msg.words(start, end)) or None


def other_words(msg: Message, start: int, end: int, said: str) -> Value:
    """Other and its words. The option's own label, a placeholder or a pointer to elsewhere are no words;
    a pointer to what came with the message is (b08 of the field cases)."""
    i = start
    while i < end:
        stop = msg.any_at(("other", "placeholder", "content"), i, end)
        if stop:
            i = stop
        elif msg.is_mark(i, "([") and msg.at("placeholder", i + 1, end):
            return Value("other", said=said)  # the card's own example, whatever follows it
        elif msg.is_mark(i, "([") and msg.at("pointer", i + 1, end) and not msg.attached:
            return Value("other", said=said)
        elif msg.is_mark(i, ":-=,.;)]、>") or msg.is_break(i) or msg.is_mark(i, "->"):
            i += 1
        else:
            break
    if i >= end or msg.skip_decoration(i, end) >= end:
        return Value("other", said=said)
    if msg.at("pointer", i, end) and not msg.attached:
        return Value("other", said=said)
    return Value("other", text=unwrap(msg.words(i, end)) or None, said=said)


def asks(msg: Message, start: int, end: int) -> bool:
    """Whether the stretch reads as a question: its mark at the end, or the words that begin one."""
    first = msg.skip_decoration(start, end)
    if first >= end:
        return False
    if msg.has("suggestion") and (
        msg.at("suggestion", end - 1) or any(msg.at("suggestion", i, end) for i in range(max(start, end - 6), end))
    ):
        return False
    named = msg.at("recommended", first, end) or msg.at("recommended", start, end)
    if msg.any_at(("explain", "asks_recommended"), first, end) and (
        not named or named < msg.at("asks_recommended", first, end) or msg.is_mark(end - 1, "?")
    ):  # fmt: skip
        return True
    begins = bool(msg.at("question", first, end) or msg.at("question", start, end)) and not named
    if begins and msg.any_at(("unsure", "none", "nothing"), first, end) > msg.at("question", first, end):
        return False  # "who knows", どれも違う
    asked = msg.is_mark(end - 1, "?") or not msg.letter(msg.at("question", first, end), end)
    if begins and asked and not msg.at("delegate", first, end):  # "was A, now B" is no German question
        return True
    tail = range(max(first, end - 4), end)  # the word that asks comes last in Japanese and Korean
    if msg.has("question") and any(msg.tokens[i].kind == "char" and msg.at("question", i) == end for i in tail):
        return True
    last = end - 1
    while last > first and (msg.is_mark(last, '!")”)') or msg.is_break(last)):
        last -= 1
    if msg.is_mark(last, "?"):
        head = next((i + 1 for i in range(last - 1, max(first, last - 8), -1) if msg.is_edge(i)), first)
        return not any(msg.at("hedge", i, end) for k in (first, head) for i in range(k, min(k + 3, end)))
    if not msg.has("explain"):
        return False
    return bool(msg.at("explain", last)) or any(msg.at("explain", i) == end for i in range(max(first, end - 8), end))
