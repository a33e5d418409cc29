"""What takes back, narrows or puts off something that was said of the whole round.

An acceptance takes many answers at once, so whatever stands beside it and may restrict it holds it back: in the
same sentence anywhere ("as recommended, the colour not"), in another one at the head of a clause ("… But not the
one about exports"). A false alarm costs one tap.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.replies.message import Message
from bot.core.replies.reading import Reading
from bot.core.replies.statement import Statement
from bot.core.replies.value import asks

_HEADS = ("disagree", "discuss", "later", "put_off", "hedge")
_OTHERS = ("consult", "hand_over", "discuss", "later", "not_mine")  # "ask my boss, rest as recommended": about what?
_PASSED = ("polite", "agree", "and", "pointer", "filler")


def held_back(msg: Message, statements: Sequence[Statement]) -> bool:
    """Whether words beside an acceptance restrict, condition or contradict it."""
    said = next((s for s in statements if s.kind in ("accept", "rest", "same")), None)
    if said is None:
        return False
    ends = _sentence_end(msg, said.end)
    for statement in statements:
        if statement.kind == "words":
            after = statement.first >= said.first
            same = after and statement.first <= ends
            if _restricts(msg, statement.first, statement.end, after, same):
                return True
    if said.kind != "rest" or any(s.kind == "item" for s in statements):
        return False
    others = (i for name in _OTHERS for i in msg.places(name, 0, said.first))
    return any(s.kind == "words" and s.first <= i < s.end for i in others for s in statements)


def _restricts(msg: Message, start: int, end: int, after: bool, same: bool) -> bool:
    head = True
    i = start
    while i < end:
        if msg.is_edge(i) or msg.is_mark(i, "-()"):
            head = True
            same = same and not (msg.is_break(i) or msg.is_mark(i, ".!。"))
            i += 1
            continue
        free = msg.at("content", i, end) if head else 0
        if free and (msg.is_edge(free) or msg.any_at(("polite", "and", "recommended"), free)):
            i = free
            continue
        stop = msg.limits(i)
        if stop and (head or same) and (after or msg.any_at(("limit", "conditional"), i)):
            lone = msg.skip_decoration(stop, end) >= end and not msg.at("negate", i)
            if not lone or end >= msg.count:
                return True
        if after and ((head and msg.any_at(_HEADS, i, end)) or (same and msg.any_at(("later", "put_off"), i, end))):
            return True
        passed = msg.any_at(_PASSED, i, end)
        head = head and bool(passed)
        i = max(stop, passed, i + 1)
    return False


def _sentence_end(msg: Message, i: int) -> int:
    while i < msg.count and not (msg.is_break(i) or msg.is_mark(i, ".!。")):
        i += 1
    return i


def pauses(msg: Message, end: int) -> bool:
    """Whether a stop holds only for a while: "enough for today", "enough, I will finish later"."""
    return bool(msg.any_at(("pause", "time"), end)) or msg.next(("put_off", "later", "time"), end) < msg.count


def turned_down(msg: Message, statements: Sequence[Statement]) -> Reading | None:
    """An acceptance that is refused or put off in the same breath: "accept recommendations? no", "… tomorrow"."""
    said = next((s for s in statements if s.kind == "accept"), None)
    if said is None:
        return None
    i = said.first
    while i < msg.count and not msg.any_at(("disagree", "later", "put_off", "time"), i):
        i += 1
    clear = all(
        msg.any_at(
            ("accept", "recommended", "polite", "filler", "all", "article", "lead", "agree", "and", "to", "for"), k
        )
        or msg.tokens[k].kind != "word"
        for k in range(said.first, i)
    )
    if i >= msg.count or not clear:
        return None
    if stop := msg.at("disagree", i):
        ended = msg.skip_decoration(stop, msg.count) >= msg.count
        return Reading(kind="unparsed") if ended and i > 0 and msg.asked(said.first) else None
    stop = msg.any_at(("later", "put_off", "time"), i)
    while stop < msg.count and (further := msg.any_at(("time", "polite"), stop)):
        stop = further
    if msg.skip_decoration(stop, msg.count) < msg.count or asks(msg, 0, msg.count):
        return None
    return Reading(kind="put_off", until=msg.words(i, stop))
