"""Statements that settle a question by another answer, or leave it to another person.

again  := "same for" numbers ("as for" number)?        the answer said last, or the one named
others := "ask" name "about" numbers                   waits for somebody else's word (CH-6)
"""

from __future__ import annotations

from typing import Final

from bot.core.replies.message import Message
from bot.core.replies.numbering import Numbers, numbers_at
from bot.core.replies.statement import Statement

_LONGEST_NAME: Final = 4  # words: "the head of finance"; more is a sentence of its own
_ENDS: Final = ("polite", "and", "note")
_WHEN: Final = ("later", "time", "filler", "adverb")


def same_again(msg: Message, i: int, before: int) -> Statement | None:
    """ "1: B, same for 3": the answer said last, on the question `before`; "same for 3 as for 1" names it."""
    stop = msg.any_at(("same", "too"), i)
    numbers = _numbers(msg, msg.at("for", stop)) if stop else None
    if numbers is None:
        return None
    like, end = before, numbers.end
    if (alike := msg.at("same", end)) and alike < msg.count and msg.tokens[alike].value in msg.by_number:
        like, end = msg.tokens[alike].value, alike + 1
    if not _ends(msg, end):
        return None
    return Statement("item", i, i, end, numbers.values, tail=end, forced="same", bound=True, like=like)


def asks_others(msg: Message, i: int) -> Statement | None:
    """ "Ask my supervisor about 3", "I need to check with Tom on 2 first"."""
    stop = msg.any_at(("consult", "later"), msg.at("note", i) or i)
    if not stop:
        return None
    for joint in range(stop + 1, min(stop + _LONGEST_NAME, msg.count - 1) + 1):
        if msg.is_edge(joint - 1) or msg.tokens[joint - 1].kind == "num":
            return None
        if (numbers := _numbers(msg, msg.at("for", joint))) is None:
            continue
        end = numbers.end
        while when := msg.any_at(_WHEN, end):
            end = when
        if not _ends(msg, end):
            return None
        return Statement("item", i, i, end, numbers.values, tail=end, forced="later", bound=True)
    return None


def _numbers(msg: Message, i: int) -> Numbers | None:
    """Questions of the round, named by number and not counted: no "3 months"."""
    numbers = numbers_at(msg, i, tail=True) if i else None
    known = numbers is not None and all(n in msg.by_number for n in numbers.values)
    return numbers if numbers is not None and known and not msg.at("unit", numbers.end) else None


def _ends(msg: Message, i: int) -> bool:
    """Whether the statement is over, and was no question."""
    return (msg.is_edge(i) and not msg.is_mark(i, "?")) or bool(msg.any_at(_ENDS, i))
