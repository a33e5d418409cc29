"""Free words that may be an answer as well as a reason why there is none: asked about, with the words kept.

    order := (cancel | withdraw | stop)+                         "cancel", "delete it, please"
    put   := clauses of putting off, of not knowing, of moments  "next week, I'm on holiday", "we'll see"
    waits := awaits … occasion … | occasion … (ended | time)     "after the board meeting", "the board meets today"
    when  := awaits …, and more than a question                  "when the order is shipped"
    unfit := nothing … fits | fits … nothing                     "rien ne va", "no me vale ninguna"

What is waited for are occasions of the people who might answer; what happens in the product ("after each order") is
an own answer. Whether a sentence with an occasion in it answers the question, nobody can tell from the sentence: one
yes takes it as it stands.
"""

from __future__ import annotations

from typing import Final

from bot.core.replies.message import Message

_LONGEST: Final = 10  # tokens; a longer sentence says what is to be
_LONGEST_DENSE: Final = 16  # of scripts with a token a character
_SPOKEN_OUT: Final = 4  # tokens; fewer may be a question whose mark was left out, "cuando empieza"
_NONE: Final = ("nothing", "none")
_ORDERS: Final = ("cancel", "withdraw", "stop")
_SMALL: Final = ("polite", "filler", "opener", "article")
_PUTS: Final = ("later", "put_off", "unsure", "waiting")
_MOMENTS: Final = (
    "time", "for", "limit", "awaits", "adverb", "self", "speaker", "modal", "and", "note", "occasion", "pause",
)  # fmt: skip
_BEFORE: Final = ("article", "opener", "subject", "for", "filler", "adverb")
_BEHIND: Final = (
    "adverb", "article", "filler", "for", "polite", "self", "speaker", "pointer", "time", "copula", "subject", "and",
)  # fmt: skip


def may_wait(msg: Message, start: int, end: int) -> bool:
    """Whether the words [start, end) only name an occasion of people, and when it is or that it comes first."""
    while end > start and msg.is_mark(end - 1, ".!,…)"):
        end -= 1
    dense = start < end and msg.tokens[start].kind == "char"
    if not msg.has("occasion") or not 1 < end - start <= (_LONGEST_DENSE if dense else _LONGEST):
        return False
    if any(msg.is_edge(i) or msg.is_mark(i, ":()") for i in range(start, end)):
        return False
    if any(not msg.at("adverb", i) for i in msg.places("scene", start, end)):
        return False
    if any(msg.tokens[i].kind == "num" for i in range(start, end)):
        return False
    occasions = msg.places("occasion", start, end)
    if not occasions:
        return False
    first = start
    while first < end and not msg.at("awaits", first) and (stop := msg.any_at(_BEFORE, first, end)):
        first = stop
    if msg.at("awaits", first, end):
        return True
    told = [i for i in msg.places("time", start, end) if msg.at("time", i, end)]
    if dense or msg.tokens[end - 1].kind == "char":
        over = any(msg.at("ended", i) == end for i in range(occasions[0] + 1, end))
        return over or bool(told)
    return bool(told) and not msg.any_at(("imperative", "to_bot"), first)


def orders(msg: Message, start: int, end: int) -> bool:
    """Whether nothing but an order to the bot is said: "cancel", "delete it". As the words of an answer it is asked
    about."""
    return _covered(msg, start, end, _ORDERS, (*_SMALL, "all"))


def undoes(msg: Message, start: int, end: int) -> bool:
    """Whether nothing but "undo" is said, which is about an answer given before."""
    return msg.has("undo") and _covered(msg, start, end, ("undo",), ("polite", "filler"))


def bare_order(msg: Message, start: int, end: int) -> bool:
    """Whether only the verb is said, which beside options is no own answer: "cancel". "Remove it", "drop it" are."""
    return msg.any_at(("cancel", "stop"), start, end) == start + 1 and _covered(msg, start, end, _ORDERS, ("polite",))


def puts_off(msg: Message, start: int, end: int) -> bool:
    """Whether nothing is said but that it waits, until when, or that nobody knows: "next week, I'm on holiday"."""
    if end - start > _LONGEST_DENSE or any(not msg.at("adverb", i) for i in msg.places("scene", start, end)):
        return False  # "every Friday after lunch"
    return _covered(msg, start, end, _PUTS, (*_SMALL, *_MOMENTS))


def _covered(msg: Message, i: int, end: int, named: tuple[str, ...], beside: tuple[str, ...]) -> bool:
    """Whether every word belongs to one of these classes, and one of them to the first."""
    found = False
    while i < end:
        stop = msg.any_at((*named, *beside), i, end)
        if not stop and not (msg.tokens[i].kind == "mark" or msg.is_break(i)):
            return False
        found = found or (bool(stop) and msg.any_at(named, i, end) == stop)
        i = stop or i + 1
    return found


def tells_when(msg: Message, start: int, end: int) -> bool:
    """ "When the order is shipped": no question, though it begins like one. In "when is it shipped" the verb comes
    first."""
    stop = msg.at("awaits", start, end)
    if not stop or stop >= end or msg.is_mark(end - 1, "?") or msg.any_at(("copula", "question"), stop):
        return False
    return end - start >= _SPOKEN_OUT or bool(msg.any_at(("subject", "self", "speaker"), stop, end))


def unfit(msg: Message, start: int, end: int) -> bool:
    """Whether nothing but "none of it fits" is said: about the options, whatever the words."""
    dense = start < end and msg.tokens[start].kind == "char"
    if end - start > (_LONGEST_DENSE if dense else _LONGEST) or not (
        msg.has("fits") and (msg.has("nothing") or msg.has("none"))
    ):
        return False
    i = msg.any_at(_NONE, start, end)
    wanted: tuple[str, ...] = ("fits",)
    if not i:  # "no me vale ninguna", 맞는 게 없네요
        i = msg.at("negate", start, end) or start
        while i < end and not msg.at("fits", i, end) and (stop := msg.any_at(("self", "speaker", "filler"), i, end)):
            i = stop
        i = msg.at("fits", i, end)
        wanted = _NONE
    while i and i < end:
        if stop := msg.any_at(wanted, i, end):
            return _known(msg, stop, end)
        i = msg.any_at((*_BEHIND, "option", "item", "negate"), i, end)
    return False


def _known(msg: Message, i: int, end: int) -> bool:
    """Whether only words that name nothing follow: "for us", "really"."""
    while i < end:
        i = msg.any_at(_BEHIND, i, end) or (i + 1 if msg.is_mark(i, ".!,") else end + 1)
    return i == end
