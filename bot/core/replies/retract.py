"""Statements that take something back, say it with doubt before the number, or ask about another question.

retract := "forget what I said about" numbers sep? value | numbers "is wrong" sep? value
without := numbers "以外"                    an exception that comes after its number
alike   := number "and" number "一样"         both the same
hedged  := "maybe" item
aside   := "what does" number "mean"?        behind an answer to another question
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.core.replies.message import Message
from bot.core.replies.numbering import Numbers, begins_value, numbers_at, skip_fill
from bot.core.replies.statement import Place, Statement
from bot.core.replies.value import letter_stands, skip_leads

if TYPE_CHECKING:
    from bot.core.replies.grammar import Parser

_LONGEST_QUESTION: Final = 24  # tokens from the word that asks to the number asked about


def taken_back(msg: Message, i: int) -> Statement | None:
    """An earlier answer replaced in prose. Without a new value the item is asked about, never kept in silence."""
    stop = msg.at("retract", i)
    numbers = numbers_at(msg, skip_fill(msg, stop), tail=True) if stop else None
    return _replaced(msg, i, numbers.values, numbers.end) if numbers is not None else None


def told_after(msg: Message, i: int, numbers: Numbers) -> Statement | None:
    """What is said of `numbers` by words right after them, other than a value of their own."""
    found = msg.found[numbers.end] if numbers.end < msg.count else {}
    if not found or not all(n in msg.by_number for n in numbers.values):
        return None
    if stop := msg.at("retract_after", numbers.end):
        return _replaced(msg, i, numbers.values, stop)
    if (stop := msg.at("correct", numbers.end)) and len(numbers.values) == 1:
        item = _replaced(msg, i, numbers.values, stop)
        return item if item.changed else None
    if (stop := msg.at("not_after", numbers.end)) and not msg.letter(numbers.end):
        return Statement("item", i, i, stop, numbers.values, tail=stop, forced="reject", bound=True)
    if len(numbers.values) == 2 and (stop := msg.at("same", numbers.end)) and msg.is_edge(stop):
        item = Statement("item", i, i, stop, numbers.values[:1], tail=stop, forced="same", bound=True)
        item.like = numbers.values[1]
        return item
    return None


def _replaced(msg: Message, first: int, numbers: tuple[int, ...], end: int) -> Statement:
    at = msg.skip_marks(end, msg.count, ",.;:-")
    for _ in range(4):
        stop = msg.any_at(("which", "becomes", "correct", "note", "for"), at)
        if not stop or (stop == at + 1 and msg.letter(at)):
            break
        at = msg.skip_marks(stop, msg.count, ",:")
    at = skip_leads(msg, at, msg.count)
    if msg.letter(at) and letter_stands(msg, at, msg.count):
        return Statement("item", first, at, at, numbers, changed=True, bound=True)
    return Statement("item", first, first, end, numbers, tail=end, forced="withdraw", bound=True)


def asked_aside(msg: Message, i: int) -> Statement | None:
    """ "1: A, what does 2 mean?": a question behind an answer, about another question of the round."""
    begins = msg.skip_marks(i, msg.count, "¿")
    begins = msg.at("note", begins) or begins
    if not msg.any_at(("question", "explain", "copula"), begins) and begins == i:
        return None
    if not msg.asked(i) and not msg.at("explain", begins):
        return None
    end = i
    last = min(msg.count, i + 2 * _LONGEST_QUESTION)
    while end < last and not (msg.is_break(end) or msg.is_mark(end, ".!?。")):
        end += 1
    for at in range(begins, min(end, begins + _LONGEST_QUESTION)):
        token = msg.tokens[at]
        if token.kind == "num" and token.value in msg.by_number and not msg.at("unit", at + 1):
            if begins_value(msg, at + 1):
                return None
            stop = end + 1 if end < msg.count and msg.is_mark(end, "?") else end
            return Statement("item", i, i, stop, (token.value,), tail=stop, forced="aside", bound=True)
    return None


def hedged_first(parser: Parser, i: int, place: Place) -> Statement | None:
    """ "Maybe B for 1", "probably 2: C": the doubt counts for that item."""
    msg = parser.msg
    stop = msg.at("hedge", i)
    if not stop or stop >= msg.count or place == "mid":
        return None
    item = parser.after_doubt(stop, place)
    if item is None or item.kind != "item" or item.forced:
        return None
    if not msg.letter(skip_leads(msg, item.start, msg.count)):
        return None
    item.first, item.hedged = i, True
    return item
