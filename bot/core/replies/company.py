"""Which items count: an item counts only in company where its form alone proves little (RP-1).

Dropped are a bare "2 …" with words, a letter found inside running text, numbers that belong to the noun before them,
what stands in a signature, and anything behind long prose. What a condition or a report of the past comes before is
kept, and asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.core.replies.message import Message
from bot.core.replies.remarks import AFTER_A
from bot.core.replies.statement import Statement
from bot.core.replies.value import skip_leads

_LED_IN = ("polite", "lead", "agree", "filler", "option", "article", "for", "note", "item", "correct")
_LONG_PROSE = 40  # words of running text before the first item that make the message no answer (RP-1)


def in_company(msg: Message, statements: Sequence[Statement]) -> list[Statement]:
    """Drop items that count only beside others: a bare "2 …" in words, a letter found in running text, and
    whatever stands in or behind long prose."""
    items = [s for s in statements if s.kind == "item"]
    excepting = any(s.kind == "except" for s in statements)
    dropped: list[Statement] = []
    if len(items) > 1 and all(_titled(msg, item) for item in items):
        dropped = items  # "Phase 1: A quick fix. Phase 2: B team takes over"
    elif items and items[0].buried and not _led_in(msg, items[0].first):
        alone = not any(_chooses(msg, item) for item in items[1:])
        opened = msg.is_mark(items[0].first - 1, ":")  # "from the train: 1 B, 2 A"
        if alone or _counted(msg, items) or any(_is_said(msg, item) for item in items):
            dropped = items
        elif all(_after_noun(msg, i) for i in items):
            dropped = items  # "flight BA 1B seat 2A"
        elif not opened and not any(i.bound or i.glued for i in items) and not {s.number for s in msg.open} <= {
            n for item in items for n in item.numbers
        }:  # fmt: skip
            dropped = items  # "my kids are in 3 B and 1 A"
        elif not opened and not any(_chooses(msg, s) and _alike(s, items[0]) for s in items[1:]):
            dropped = items[:1]
    elif len(items) > 1 and msg.at("article", items[0].first) and all(_in_passing(msg, item) for item in items):
        dropped = items  # "take the 2A bus to 3C street"
    elif len(items) == 1:
        item = items[0]
        if item.weak or _in_passing(msg, item) or (not excepting and _says_nothing(msg, item)):
            dropped = items
    below = [item for n, item in enumerate(items) if n and _signed(msg, items[n - 1].first, item)]
    dropped = [*dropped, *below]
    first = items[0].first if items else 0
    spoken = sum(t.kind in ("word", "char") for t in msg.tokens[:first]) if first > _LONG_PROSE else 0
    if spoken > _LONG_PROSE and (spoken > 4 * _LONG_PROSE or not items[0].on_line):
        start = _list_below(msg, items)
        if start is None:
            return []
        dropped = items[: items.index(start)]
    if not dropped:
        return list(statements)
    gone = {id(s) for s in dropped}
    return [replace(s, kind="words") if id(s) in gone else s for s in statements]


def conditioned(msg: Message, statements: Sequence[Statement]) -> list[Statement]:
    """ "If 2 is B then 1 is A": neither is said; what the condition is for ends with the first item behind it."""
    places = frozenset(msg.places("conditional"))
    told = msg.has("past")
    if not places and not told:
        return list(statements)
    out: list[Statement] = []
    last = -1  # the condition that is used up
    for statement in statements:
        if statement.kind == "item" and not statement.forced:
            start = statement.first
            while start > 0 and not (msg.is_break(start - 1) or msg.is_mark(start - 1, ".!;。")):
                start -= 1
            at = msg.skip_decoration(start, statement.first)
            while at < statement.first and (stop := msg.any_at(("agree", "and", "note"), at)) and at not in places:
                at = stop
            yes = msg.at("agree", at)  # Spanish "si, si, 1c"
            agreed = yes and (msg.is_edge(yes) or msg.at("agree", yes))
            if at in places and at < statement.first and at != last and not agreed:
                spoken = statement.first
                while spoken > at and not msg.is_mark(spoken - 1, ","):
                    spoken -= 1
                then = any(msg.any_at(("lead", "and"), k) == statement.first for k in range(at, statement.first))
                last = at if spoken > at or then else last
                statement = replace(statement, forced="conditional")
            elif told and msg.places("past", start, _first_item(statements, start)):
                statement = replace(statement, hedged=True)  # "last time we chose 1: A"
        out.append(statement)
    return out


def _alike(one: Statement, other: Statement) -> bool:
    return (one.bound, one.glued) == (other.bound, other.glued)


def _first_item(statements: Sequence[Statement], start: int) -> int:
    """Where the first item from `start` on begins."""
    return next((s.first for s in statements if s.kind == "item" and s.first >= start), start)


def _counted(msg: Message, items: Sequence[Statement]) -> bool:
    """ "Take exit 3 B": the number belongs to the noun right before it, which is none of the grammar's words."""
    at = items[0].first - 1
    noun = at >= 0 and msg.tokens[at].kind == "word" and not msg.any_at((*_LED_IN, "and", "disagree", "skip"), at)
    return noun and not any(item.bound or item.glued for item in items)


def _signed(msg: Message, before: int, item: Statement) -> bool:
    """ "Dept. 3 B" below the answers: words that the grammar does not know stand before it on its line."""
    if not item.after_blank or item.bound or item.on_line or item.tail >= 0:
        return False
    if not any(msg.tokens[k].kind == "para" for k in range(before, item.first)):
        return False
    line = range(msg.line_start(item.first), item.first)
    return any(msg.tokens[k].kind == "word" and not msg.found[k] for k in line)


def _after_noun(msg: Message, item: Statement) -> bool:
    """Whether a word that the grammar does not know stands right before the number."""
    at = item.first - 1
    return at >= 0 and msg.tokens[at].kind == "word" and not msg.found[at] and not item.bound


def _titled(msg: Message, item: Statement) -> bool:
    """Whether an unknown noun stands before the number, and the letter behind it is read on by plain words."""
    at = item.first - 1
    noun = at >= 0 and msg.tokens[at].kind == "word" and not msg.found[at]
    letter = msg.letter(item.start)
    after = item.start + 1
    return bool(noun and letter) and after < msg.count and msg.tokens[after].kind == "word" and not (
        msg.any_at(AFTER_A, after) or msg.letter(after)
    )  # fmt: skip


def _is_said(msg: Message, item: Statement) -> bool:
    """ "Rooms 1A and 2B are booked": something is said of it, it chooses nothing."""
    at = skip_leads(msg, item.start, msg.count)
    return bool(msg.letter(at) and msg.at("copula", at + 1)) and not msg.at("verdict", at + 1)


def _in_passing(msg: Message, item: Statement) -> bool:
    """ "The 2a branch is broken", "I have 2 B vitamins": unbound, with words before it and read on after it."""
    at = skip_leads(msg, item.start, msg.count)
    if item.bound or item.tail >= 0 or not msg.letter(at) or at + 1 >= msg.count or item.first == 0 == item.start - 1:
        return False
    ahead = msg.at("article", item.first) or msg.skip_decoration(0, item.first) < item.first
    return bool(ahead) and msg.tokens[at + 1].kind == "word" and not msg.any_at(AFTER_A, at + 1)


def _chooses(msg: Message, item: Statement) -> bool:
    return bool(msg.letter(skip_leads(msg, item.start, msg.count))) and not item.weak


def _list_below(msg: Message, items: Sequence[Statement]) -> Statement | None:
    """The first item of a list that stands below long prose: each on a line of its own, down to the end."""
    below: Statement | None = None
    for item in reversed(items):
        if not (item.on_line and item.bound):
            break
        below = item
    if below is None or (
        below is items[-1] and not (msg.tokens[below.first - 1].kind == "para" and _chooses(msg, below))
    ):
        return None
    return below


def _says_nothing(msg: Message, item: Statement) -> bool:
    if item.value_end >= 0 or item.forced or msg.skip_decoration(item.start, item.end) < item.end:
        return False
    return not any(msg.is_picture(i) for i in range(item.start, item.end))


def _led_in(msg: Message, first: int) -> bool:
    """Whether only courtesy and words of choosing stand before a single item found in running text."""
    i = 0
    while i < first:
        stop = msg.any_at(_LED_IN, i)
        if not stop and msg.tokens[i].kind in ("mark", "line", "mention"):
            stop = i + 1
        if not stop:
            return False
        i = stop
    return True
