"""Statements about several questions, or with the value before the numbers.

    rest    := ("rest" | "others") value | value "for the rest"
    same    := "all" letter | letter ("for all" | "everywhere")
    accept  := words that name the recommendations | the verb "accept" | "you decide"
    reverse := value "for" numbers | ("skip" | "not sure about" | "reject" | "cancel") numbers

An acceptance is made of known words only; a word that the grammar does not know makes it partial, and then it is
asked about.
"""

from __future__ import annotations

from typing import Final

from bot.core.replies.labels import by_label
from bot.core.replies.message import WORDLIKE, Message
from bot.core.replies.numbering import begins_value, numbers_at, skip_fill
from bot.core.replies.statement import Statement
from bot.core.replies.value import letter_ends, skip_leads

_COVER: Final = (
    "accept", "recommended", "delegate", "agree", "filler", "all", "rest", "lead", "polite", "item", "article",
    "option", "for", "everywhere", "number", "unsure", "carry_on",
)  # fmt: skip

_TAKING: Final = ("accept", "recommended", "delegate")  # without one of these nothing is accepted
_SOME: Final = ("rest", "first_few", "last_few")  # questions that are named without a number
_EVERY: Final = ("all", "everywhere", "both")
_TAKES: Final = (
    "withdraw", "reject", "skip", "unsure", "explain", "later", "leave", "agree", "negate", "negative", "discuss",
    "both",
)  # fmt: skip
# What a statement may begin with; most words are none of these, and are passed by.
_TAKES_NUMBERS: Final = frozenset(_TAKES)
_LEADS: Final = frozenset(("lead", "option", "article"))
_BEGINS_VALUE: Final = _LEADS | {"recommended", "delegate", "ordinal", "last", "accept", "other"}
_BEGINS_REST: Final = frozenset(("filler", "article", "lead", "for", "rest"))
_BEGINS_SAME: Final = _LEADS | {"ordinal"}


def value_first(msg: Message, i: int, inside: bool = False) -> Statement | None:
    """ "B for 1", "skip 2 and 3", "not sure about 3", "second option for 3", "defaults for the rest"."""
    if not msg.roman and msg.number_after(i) >= msg.count and msg.next(_SOME, i) >= msg.count:
        return None
    found = msg.found(i)
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
    if numbers is not None and forced in ("unsure", "agree") and begins_value(msg, numbers.end):
        return None  # "hmm 1 A"
    ended = numbers is not None and (msg.is_edge(numbers.end) or bool(msg.at("polite", numbers.end)))
    if numbers is None or (numbers.word and not numbers.noun and forced and not ended):
        return None
    if not any(n in msg.by_number for n in numbers.values) and not numbers.noun and forced:
        return None
    if msg.at("unit", numbers.end) or (
        numbers.end < msg.count and msg.letter(numbers.end) in msg.offered - {""} and forced == ""
    ):
        return None
    return Statement(
        "item", first, value, numbers.end, numbers.values, value_end=value_end, tail=numbers.end,
        forced=forced, bound=True, ranged=numbers.ranged,
    )  # fmt: skip


def rest_at(msg: Message, i: int) -> Statement | None:
    if _BEGINS_REST.isdisjoint(msg.found(i)) or msg.next(("rest",), i) > i + 4 * msg.book.longest:
        return None
    j = i
    for _ in range(4):
        stop = msg.any_at(("filler", "article", "lead", "for"), j)
        if not stop or msg.at("rest", j) or (msg.letter(j) and msg.letter(j) in msg.offered):
            break
        j = stop
    stop = msg.at("rest", j)
    if not stop:
        return None
    k = msg.skip_marks(stop, msg.count, ":-=,")
    offered = msg.offered | frozenset(f"~{letter}" for letter in msg.offered)
    for _ in range(4):
        more = msg.any_at(("filler", "item", "suffix", "unsure", "content"), k)
        if not more or msg.any_at(("recommended", "delegate", "skip"), k) or msg.letter(k) in offered:
            break
        k = msg.skip_marks(more, msg.count, ",")
    at = skip_leads(msg, k, msg.count)
    if msg.letter(at) and (letter_ends(msg, at, msg.count) or msg.any_at(("polite", "note"), at + 1)):
        return Statement("rest", i, k, at + 1)
    for position in (k, at):
        end = msg.any_at(("recommended", "delegate", "skip", "agree", "accept"), position)
        if end and end == msg.at("agree", position):  # "Rest passt so wie vorgeschlagen"
            named = end
            while (
                named < msg.count
                and not msg.at("recommended", named)
                and (more := msg.any_at(("filler", "agree"), named))
            ):
                named = more
            if msg.at("recommended", named):
                position, end = named, msg.at("recommended", named)
        if end:
            return Statement("rest", i, position, end)
    return None


def same_at(msg: Message, i: int) -> Statement | None:
    """ "all A", "B for all", "B everywhere"."""
    if msg.next(_EVERY, i) >= msg.count:
        return None
    stop = msg.any_at(("all", "everywhere"), i) or (msg.at("both", i) if len(msg.open) == 2 else 0)
    if stop:
        j = stop
        for _ in range(4):
            j = msg.skip_marks(j, msg.count, ":-=")
            more = msg.any_at(("filler", "item", "lead", "article", "all", "for"), j)
            if not more or msg.letter(j):
                break
            j = more
        at = skip_leads(msg, j, msg.count)
        ends = msg.letter(at) and letter_ends(msg, at, msg.count)
        wordlike = msg.letter(at) and msg.tokens[at].fold in WORDLIKE
        if msg.letter(at) and (
            ends or (not wordlike and msg.any_at(("except", "polite", "note", "recommended", "correct"), at + 1))
        ):
            return Statement("same", i, at, at + 1)
        return None
    if _BEGINS_SAME.isdisjoint(msg.found(i)) and not msg.letter(i):
        return None
    at = skip_leads(msg, i, msg.count)
    stop = at + 1 if msg.letter(at) else msg.at("option", msg.at("ordinal", at)) or msg.at("ordinal", at)
    if not stop or at >= msg.count:
        return None
    end = msg.at("everywhere", stop)
    if not end and (joint := msg.at("for", stop)):
        end = msg.any_at(("all", "everywhere"), joint)
    return Statement("same", i, at, end, value_end=stop, tail=end) if end else None


def accept_at(msg: Message, i: int, inside: bool) -> Statement | None:
    """Words that name the recommendations, use the verb, or leave the choice to the bot."""
    if i < msg.fruitless or msg.next(_TAKING, i) >= msg.count or msg.at("asks_recommended", i):
        return None
    if (greeted := msg.at("polite", i)) and msg.is_mark(greeted, ",") and msg.agrees(i) < greeted:
        return None
    j = i
    named = taken = delegated = negated = whole = narrowed = doubted = False
    end = 0
    while j < msg.count:
        found = msg.found(j)
        if "content" in found:
            j += found["content"][0]
            continue
        if "all" in found and (taken or named) and msg.at("except", j + found["all"][0]):
            j = end = j + found["all"][0]
            break
        if "except" in found or msg.is_break(j) or (end and msg.limits(j) and "negate" not in found):
            break
        if end and ("later" in found or "put_off" in found) and not msg.any_at(_COVER, j):
            break
        if (named or taken or delegated) and "for" in found and (scoped := _scoped(msg, i, j)) is not None:
            return scoped
        if msg.is_separator(j) or msg.is_mark(j, "-"):
            if not end and msg.is_mark(j, ",") and not (named or taken or delegated):
                if not msg.any_at(("agree", "unsure", "polite", "correct"), i):
                    break
                j += 1
                continue
            break
        if msg.is_quote(j) or msg.is_mark(j, "()[]:+"):
            j += 1
            continue
        few = "number" in found and not whole and "option" not in found and found["number"][1] != len(msg.slots)
        narrowed = narrowed or (not end and "limit" in found) or (not end and (few or "ordinal" in found))
        if "delegate" in found and msg.acts(j):
            break
        if "hedge" in found and not end and not msg.any_at(_COVER, j):
            narrowed, j = True, j + found["hedge"][0]
            continue
        if "negate" in found and not (named or delegated):
            negated = True
            j += found["negate"][0]
            continue
        if msg.at("and", j) and end and not msg.any_at(("agree", "accept", "recommended"), msg.at("and", j)):
            break
        stop = msg.any_at(_COVER, j) or msg.at("and", j)
        if not stop and msg.tokens[j].fold == "a" and msg.tokens[j].lower:
            stop = j + 1
        if not stop and msg.tokens[j].kind == "num" and (named or taken or whole):
            stop = j + 1
        if not stop:
            break
        longest = {name for name, (length, _) in found.items() if j + length == stop}
        doubted = (doubted or "unsure" in longest) and not msg.is_separator(stop if stop < msg.count else j)
        named = named or "recommended" in longest
        delegated = delegated or "delegate" in longest
        taken = taken or "accept" in longest
        whole = whole or "all" in longest
        j = stop
        if named or taken or delegated:
            end = j
    if not (named or taken or delegated):
        msg.fruitless = j
        return None
    left = delegated and msg.next(("rest",), i) < end  # "2: C, I leave the rest to you"
    if inside and not left and not (taken and (named or whole)):
        return None
    j = max(j, end)
    statement = Statement("accept", i, i, j)
    statement.negated = negated or (doubted and not delegated and msg.acts(_verb(msg, i, end)))
    statement.delegated = delegated and not (named or taken)
    statement.condition = narrowed or bool(msg.at("conditional", j))
    statement.asked = msg.asked(j)
    if j < msg.count and not (msg.is_edge(j) or msg.any_at(("except", "conditional", "note", "and"), j)):
        known = msg.tokens[j].kind == "mark" or msg.tokens[j].kind == "mention"
        statement.partial = not known and not delegated
    return statement


def _verb(msg: Message, i: int, end: int) -> int:
    """Where the first word of taking stands: "I'm not sure I'd accept …"."""
    return next((k for k in range(i, end) if msg.any_at(("accept", "recommended"), k)), i)


def _scoped(msg: Message, first: int, i: int) -> Statement | None:
    """ "I accept your recommendation on 2 only": an acceptance for these questions and no others."""
    numbers = numbers_at(msg, i)
    if numbers is None or numbers.word or not all(n in msg.by_number for n in numbers.values):
        return None
    refused = any(msg.at("negate", k) for k in range(first, i))
    end = numbers.end
    while stop := msg.any_at(("limit", "polite"), end):
        end = stop
    if not msg.is_edge(end) and not msg.any_at(("and", "note", "except"), end):
        return None
    return Statement(
        "item",
        first,
        i,
        end,
        numbers.values,
        tail=end,
        forced="reject" if refused else "recommended",
        bound=True,
        ranged=numbers.ranged,
    )


def cancel_at(msg: Message, i: int) -> Statement | None:
    stop = msg.any_at(("cancel", "withdraw"), i)
    if not stop:
        return None
    for _ in range(12):
        more = msg.any_at(("filler", "polite", "all", "article", "agree"), stop)
        if not more:
            break
        stop = more
    if stop < msg.count and not msg.is_edge(stop) and not msg.is_mark(stop, '-"”)'):
        return None
    return None if msg.asked(stop) else Statement("cancel", i, i, stop)
