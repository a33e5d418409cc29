"""Statements about all questions, or all that are left.

    rest    := ("rest" | "others") value | value "for the rest"
    same    := "all" letter | letter ("for all" | "everywhere")
    accept  := words that name the recommendations | the verb "accept" | "you decide"

An acceptance is made of known words only; a word that the grammar does not know makes it partial, and then it is
asked about.
"""

from __future__ import annotations

from typing import Final

from bot.core.replies.message import WORDLIKE, Message
from bot.core.replies.numbering import numbers_at
from bot.core.replies.statement import Statement
from bot.core.replies.value import letter_ends, skip_leads

_COVER: Final = (
    "accept", "recommended", "delegate", "agree", "filler", "all", "rest", "lead", "polite", "item", "article",
    "option", "for", "everywhere", "number", "unsure", "carry_on",
)  # fmt: skip

_TAKING: Final = ("accept", "recommended", "delegate")  # without one of these nothing is accepted
_EVERY: Final = ("all", "everywhere", "both")
# What a statement may begin with; most words are none of these, and are passed by.
_BEGINS_REST: Final = frozenset(("filler", "article", "lead", "for", "rest"))
_BEGINS_SAME: Final = frozenset(("lead", "option", "article", "ordinal"))


def rest_at(msg: Message, i: int) -> Statement | None:
    if _BEGINS_REST.isdisjoint(msg.found[i]) or msg.next(("rest",), i) > i + 4 * msg.book.longest:
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
        if not more or msg.any_at(("recommended", "as_said", "delegate", "skip"), k) or msg.letter(k) in offered:
            break
        k = msg.skip_marks(more, msg.count, ",")
    at = skip_leads(msg, k, msg.count)
    if msg.letter(at) and (letter_ends(msg, at, msg.count) or msg.any_at(("polite", "note"), at + 1)):
        return Statement("rest", i, k, at + 1)
    for position in (k, at):
        end = msg.any_at(("recommended", "delegate", "skip", "agree", "accept"), position) or _as_said(msg, position)
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


def _as_said(msg: Message, i: int) -> int:
    """Where "as you said" ends, unless it reads on: "as you said last week"."""
    stop = msg.at("as_said", i)
    ends = (
        stop and not msg.is_mark(stop, "?") and (msg.is_edge(stop) or msg.any_at(("polite", "except", "note"), stop))
    )
    return stop if ends else 0


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
    if _BEGINS_SAME.isdisjoint(msg.found[i]) and not msg.letter(i):
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
        found = msg.found[j]
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
    bare = stop > msg.at("cancel", i)  # "clear", "delete": what, is not said
    for _ in range(12):
        more = msg.any_at(("filler", "polite", "all", "article", "agree"), stop)
        if not more:
            break
        stop = more
    if stop < msg.count and not msg.is_edge(stop) and not msg.is_mark(stop, '-"”)'):
        return None
    return None if msg.asked(stop) else Statement("cancel", i, i, stop, forced="withdraw" if bare else "")
