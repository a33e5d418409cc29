"""Statements with the value before the numbers.

reverse := value "for" numbers | value "for the rest" | ("skip" | "not sure about" | "reject" | "cancel") numbers
"""

from __future__ import annotations

from typing import Final

from bot.core.replies.labels import by_label
from bot.core.replies.message import Message
from bot.core.replies.numbering import begins_value, numbers_at, skip_fill
from bot.core.replies.statement import Statement
from bot.core.replies.value import skip_leads

_SOME: Final = ("rest", "first_few", "last_few")  # questions that are named without a number
_TAKES: Final = (
    "withdraw", "reject", "skip", "unsure", "explain", "later", "leave", "agree", "negate", "negative", "discuss",
    "both",
)  # fmt: skip
# What a statement may begin with; most words are none of these, and are passed by.
_TAKES_NUMBERS: Final = frozenset(_TAKES)
_BEGINS_VALUE: Final = frozenset(
    ("lead", "option", "article", "recommended", "delegate", "ordinal", "last", "accept", "other")
)


def value_first(msg: Message, i: int, inside: bool = False) -> Statement | None:
    """ "B for 1", "skip 2 and 3", "not sure about 3", "second option for 3", "defaults for the rest"."""
    if not msg.roman and msg.number_after(i) >= msg.count and msg.next(_SOME, i) >= msg.count:
        return None
    found = msg.found[i]
    for name in () if _TAKES_NUMBERS.isdisjoint(found) else _TAKES:
        if name not in found or (inside and name in ("agree", "negate")):
            continue
        named = i + found[name][0]
        if named < msg.at("cancel", i):
            continue
        if name in ("agree", "both") and not msg.at("for", named):
            continue
        if name == "discuss" and (named >= msg.count or not (msg.tokens[named].value >= 0 or msg.at("item", named))):
            continue
        j = skip_fill(msg, named)
        at = skip_leads(msg, named, msg.count)
        if name == "negative" and not msg.letter(at):
            continue
        if name == "negate" and msg.is_mark(named, ":") and _told(msg, j):
            continue  # "No: 1 should be C"
        if name in ("negate", "negative") and msg.letter(at) and (joint := msg.at("for", at + 1)):
            return numbered_tail(msg, i, i, at + 1, joint, "negative")
        statement = numbered_tail(msg, i, i, named, j, name)
        if statement is not None:
            return statement
    if "take_up" in found and (put := _taken_up(msg, i)) is not None:
        return put
    if "alternative" in found and (known := _either(msg, i)) is not None:
        return known
    if _BEGINS_VALUE.isdisjoint(found) and not msg.letter(i) and msg.tokens[i].fold not in msg.labelled:
        return None
    at = skip_leads(msg, i, msg.count)
    if msg.letter(at) and not msg.at("accept", at):
        stop = at + 1
        if msg.is_mark(stop, "(") and (inner := msg.at("recommended", stop + 1)) and msg.is_mark(inner, ")"):
            stop = inner + 1
    else:
        stop = msg.any_at(("recommended", "delegate", "ordinal", "last", "accept"), at) or _ranked(msg, i, at)
        at = i if stop == at + 1 and msg.tokens[at].kind == "num" else at
        if not stop and (stop := msg.at("other", at)) and not msg.at("for", stop):
            return None
        if not stop:
            return _label_first(msg, i, at)
        stop = msg.at("option", stop) or stop
        for _ in range(8):
            more = msg.any_at(("recommended", "filler", "option"), stop)
            if not more or msg.at("for", stop):
                break
            stop = more
    stop = stop if msg.at("for", stop) else msg.at("verdict", stop) or stop
    if msg.is_mark(stop, "(") and msg.at("for", stop + 1):
        stop += 1  # "B (for 1)"
    unknown = msg.letter(at) and msg.letter(at) not in msg.offered  # Portuguese "o resto"
    joint = msg.at("for", stop) or (stop if msg.at("rest", stop) and not unknown else 0)
    if not joint:
        if not msg.at("accept", at) and not (msg.at("delegate", at) and _left_alone(msg, stop)):
            return None
        joint = stop
    return numbered_tail(msg, i, at, stop, joint, "" if not msg.at("accept", at) else "recommended")


def _another(msg: Message, i: int) -> bool:
    """ "B for 1 A for 2": behind the letter comes its own number."""
    joint = msg.at("for", i)
    numbers = numbers_at(msg, joint, alone=True) if joint else None
    return numbers is not None and numbers.values[0] in msg.by_number


def _told(msg: Message, i: int) -> bool:
    """Whether something is said on the numbers at `i`."""
    numbers = numbers_at(msg, i)
    return numbers is not None and not msg.is_edge(numbers.end)


def _taken_up(msg: Message, i: int) -> Statement | None:
    """ "I'll do 2 and 3 later", "come back to 3 tomorrow"."""
    stop = msg.at("take_up", i)
    numbers = numbers_at(msg, stop, tail=True) if stop else None
    if numbers is None or not any(n in msg.by_number for n in numbers.values):
        return None
    end = msg.any_at(("time", "later", "put_off", "pause"), numbers.end)
    if not end:
        return None
    return Statement("item", i, i, end, numbers.values, value_end=stop, tail=end, forced="later", bound=True)


def _either(msg: Message, i: int) -> Statement | None:
    """ "Either A or B for 1"."""
    stop = msg.at("alternative", i)
    at = skip_leads(msg, stop, msg.count) if stop else 0
    joint = msg.at("or", at + 1) if stop and msg.letter(at) else 0
    last = skip_leads(msg, joint, msg.count) if joint else 0
    tail = msg.at("for", last + 1) if joint and msg.letter(last) else 0
    return numbered_tail(msg, i, i, last + 1, tail, "either") if tail else None


def _ranked(msg: Message, i: int, at: int) -> int:
    """ "Option 2 for 1": past the option's number."""
    if at >= msg.count or msg.tokens[at].kind != "num" or not msg.at("for", at + 1):
        return 0
    return at + 1 if any(msg.at("option", k) == at for k in range(i, at)) else 0


def _left_alone(msg: Message, i: int) -> bool:
    """ "You pick 2": a number of the round without a value of its own."""
    numbers = numbers_at(msg, i, tail=True)
    return (
        numbers is not None and all(n in msg.by_number for n in numbers.values) and not begins_value(msg, numbers.end)
    )


def _label_first(msg: Message, i: int, at: int) -> Statement | None:
    """ "Weekly for 2": the text of an option of that very question."""
    if not msg.labelled or at >= msg.count or msg.tokens[at].fold not in msg.labelled:
        return None
    joint = next((k for k in range(at + 1, min(at + 9, msg.count)) if msg.at("for", k)), 0)
    statement = numbered_tail(msg, i, at, joint, msg.at("for", joint), "") if joint else None
    if statement is None or statement.kind != "item":
        return None
    slots = [msg.by_number[n] for n in statement.numbers if n in msg.by_number]
    values = [by_label(msg, at, joint, slot) for slot in slots]
    if not slots or not all(v is not None and v.kind == "letter" and v.complete for v in values):
        return None
    return statement


def numbered_tail(msg: Message, first: int, value: int, value_end: int, j: int, forced: str) -> Statement | None:
    k = j
    for _ in range(8):
        more = msg.any_at(("article", "filler"), k)
        if not more or msg.any_at(("rest", "all"), k):
            break
        k = more
    stop = msg.at("rest", k)
    if stop:
        return Statement("rest", first, value, stop, value_end=value_end, tail=stop, forced=forced)
    numbers = numbers_at(msg, j, tail=True)
    if (
        numbers is not None
        and forced == "recommended"
        and (begins_value(msg, numbers.end) or msg.at("and", value_end))
    ):
        return None  # "accept recommendations and 2: C"
    doubted = forced in ("unsure", "agree") or (forced == "later" and msg.at("correct", first))
    if numbers is not None and doubted and begins_value(msg, numbers.end):
        return None  # "hmm 1 A", "wait 3 A"
    ended = numbers is not None and (msg.is_edge(numbers.end) or bool(msg.at("polite", numbers.end)))
    if numbers is None or (numbers.word and not numbers.noun and forced and not ended):
        return None
    if not any(n in msg.by_number for n in numbers.values) and not numbers.noun and forced:
        return None
    if msg.at("unit", numbers.end) or (
        numbers.end < msg.count and msg.letter(numbers.end) in msg.offered - {""} and forced == ""
        and not _another(msg, numbers.end + 1)
    ):  # fmt: skip
        return None
    return Statement(
        "item", first, value, numbers.end, numbers.values, value_end=value_end, tail=numbers.end,
        forced=forced, bound=True, ranged=numbers.ranged,
    )  # fmt: skip
