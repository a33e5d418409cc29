"""Exceptions from what is said of the round: "rest default except 4", "but not 4", "but leave 4 open".

except := except-word | "not" numbers     after an acceptance, a rest or an all-same
open   := "leave" numbers ("open" | "for later")

An exception that leads to no question is never dropped: it holds back what it was an exception from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from bot.core.replies.message import Message
from bot.core.replies.numbering import numbers_at, skip_fill
from bot.core.replies.reading import ItemReading, Proposal
from bot.core.replies.statement import Statement

_GENERAL = ("accept", "rest", "same")


def excepting(out: Sequence[Statement]) -> bool:
    """Whether the numbers that come next are exceptions."""
    return bool(out) and (
        out[-1].kind == "except" or (out[-1].kind == "words" and len(out) > 1 and out[-2].kind == "except")
    )


def except_at(msg: Message, i: int, said: Statement | None) -> Statement | None:
    """Words of exception right behind something said of the round, wherever they stand in its line.

    `said`: the statement before, plain words left out.
    """
    if said is None or said.kind not in _GENERAL:
        return None
    stop = msg.at("except", i)
    if not stop and (turned := msg.at("negate", i)) and not msg.letter(turned):
        numbers = numbers_at(msg, turned, tail=True)
        if numbers is not None and any(n in msg.by_number for n in numbers.values) and msg.is_edge(numbers.end):
            stop = turned
    return Statement("except", i, i, stop) if stop else None


def left_open(msg: Message, i: int) -> Statement | None:
    """ "Leave 4 open", "leave 2 for later"."""
    stop = msg.at("keep_open", i)
    numbers = numbers_at(msg, skip_fill(msg, stop)) if stop else None
    if numbers is None or not any(n in msg.by_number for n in numbers.values):
        return None
    forced, end = "reject", msg.at("open", numbers.end)
    if not end:
        forced, end = "later", msg.at("later", msg.at("for", numbers.end) or numbers.end)
    if not end:
        return None
    return Statement("item", i, i, end, numbers.values, tail=end, forced=forced, bound=True, ranged=numbers.ranged)


def unmet(statements: Sequence[Statement]) -> bool:
    """Whether an exception leads to no question: "except the colour"."""
    for n, statement in enumerate(statements):
        if statement.kind == "except" and not any(s.kind in ("item", *_GENERAL) for s in statements[n + 1 :]):
            return True
    return False


def but_named(
    msg: Message, named: Set[int], statements: Sequence[Statement], answers: Mapping[int, ItemReading]
) -> tuple[Proposal, ...]:
    """ "Leave 3 to Tom, rest default": what the rest would be is offered; the question spoken of stays open.

    `named`: the questions that plain words speak of.
    """
    taking = msg.places("recommended")
    if not named.isdisjoint(answers) or any(
        s.first <= i < s.end for s in statements if s.kind == "words" for i in taking
    ):
        return ()
    left = tuple(s.number for s in msg.open if s.recommended and s.number not in named and s.number not in answers)
    return (Proposal(kind="accept_all", answers=dict(answers), numbers=left, label="The others"),) if left else ()


def restricted(msg: Message, start: int, end: int) -> bool:
    """Whether words behind a "rest as recommended" narrow it in a way that was not understood."""
    i = start
    while i < end:
        if free := msg.at("content", i, end):
            i = free
            continue
        token = msg.tokens[i]
        if token.kind == "num" and token.value in msg.by_number and not msg.at("unit", i + 1):
            return True
        if msg.at("except", i, end) or msg.limits(i):
            return True
        i += 1
    return False
