"""Question numbers, lists of them, and what binds them to a value.

    numbers := number ((sep | "and") number | ("-" | "to") number)*
    number  := (1) | article? noun? (digits | word | roman) suffix?
    bind    := : . ) ] - = -> |, with quotes around, or a particle

A list that ends a statement stops before a number that has a value of its own: in "skip 1, 3: B" only 1 is
skipped.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final, NamedTuple

from bot.core.replies.message import Message
from bot.core.replies.value import article_a, letter_ends, letter_stands, skip_leads

ROMAN: Final = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
_AFTER_LAST: Final = (("item",), ("item", "option"))  # "the last question"; only after a value "the last one"
_AFTER_LIST: Final = (
    "and", "or", "polite", "note", "limit", "to", "later", "time", "for", "item", "suffix", "except", "rest",
    "copula",
)  # fmt: skip
BEGINS_NUMBER: Final = frozenset(("item", "for", "article", "number", "ordinal", "last", "first_few", "last_few"))
_FEW: Final = frozenset(("for", "first_few", "last_few"))
_SUFFIXES: Final = frozenset(("suffix", "item"))
_RUNNING: Final = BEGINS_NUMBER | {"except", "negate", "retract"}
_MOST_NUMBERS: Final = 64  # no round has more; a longer list is not one


@dataclass(slots=True)
class Numbers:
    values: tuple[int, ...]
    end: int
    noun: bool = False
    bracket: bool = False
    word: bool = False
    ranged: bool = False


class NumberList(NamedTuple):
    """A list just read, digits only. Its rest is the list that begins at any later number of it, as far as it goes,
    so that thousands of numbers in a row are each read once and not once for every number before them."""

    tail: bool
    inside: bool
    starts: list[int]
    values: list[int]
    end: int

    def holds(self, i: int, tail: bool, inside: bool) -> bool:
        at = bisect_left(self.starts, i)
        return at < len(self.starts) and self.starts[at] == i and (tail, inside) == (self.tail, self.inside)

    def behind(self, i: int) -> tuple[list[int], list[int], int]:
        at = bisect_left(self.starts, i)
        return self.starts[at:], self.values[at:], self.end


def numbers_at(
    msg: Message, i: int, *, tail: bool = False, alone: bool = False, inside: bool = False
) -> Numbers | None:
    """A list of numbers. `tail`: they end a statement ("skip 1, 3: B"), so one with a value of its own is not
    among them. `alone`: only the first. `inside`: in running text, where a comma ends the list."""
    if i >= msg.count:
        return None
    if not _FEW.isdisjoint(msg.found[i]) and (counted := _few_at(msg, i)) is not None:
        return counted
    if msg.tokens[i].kind == "num" and msg.is_mark(i + 1, ":)=") and not msg.found[i + 1]:
        return Numbers((msg.tokens[i].value,), i + 1)
    first = number_at(msg, i, tail)
    if first is None:
        return None
    value, end, noun, bracket, word = first
    values = [value]
    starts = [i]
    ranged = False
    if (
        not alone
        and not noun
        and not word
        and (known := msg.number_list) is not None
        and known.holds(i, tail, inside)
    ):
        starts, values, end = known.behind(i)
    if word and value == 1 and msg.value_at("ordinal", end - 1) == 1 and (few := _first_few(msg, end)):
        end = few[1]
        values, ranged = list(range(1, few[0] + 1)), True
    while end < msg.count and len(values) < _MOST_NUMBERS and not alone:
        sign = msg.tokens[end].fold if msg.tokens[end].kind == "mark" else ""
        said = msg.found[end]
        joint = (msg.any_at(("and", "or") if tail else ("and",), end) if said else 0) or (
            end + 1 if sign and sign in ("&+" if inside and not noun else ",&+、/") else 0
        )
        if tail and not joint and not (noun or word) and _next_bare(msg, end, values[-1]):
            joint = end
        if not (joint or said or sign):
            break
        span = 0 if joint else (msg.at("to", end) or (end + 1 if sign and sign in "-~" else 0))
        if (
            span == end + 1
            and (msg.glued(end) or (i > 1 and msg.glued(i - 1) and msg.tokens[i - 1].letter))
            and not msg.glued(span)
            and msg.glued(span + 1)
            and msg.letter(span + 1)
        ):
            break  # "1b 2- 3a", "1b 2 - 3a": nothing on 2
        if sign == "." and msg.is_mark(end + 1, "."):
            span = end + 2
        if not joint and not span:
            break
        if joint and msg.at("and", joint):
            joint = msg.at("and", joint)
        following = number_at(msg, joint or span)
        if following is None or (span and (following[0] <= values[-1] or following[0] - values[-1] > _MOST_NUMBERS)):
            break
        if following[4] and not word:
            break  # "1 — the second option"
        if joint and following[0] < values[-1] and begins_value(msg, following[1]):
            break  # "no 3, 1 B"
        if tail and joint and (begins_value(msg, following[1]) or _words_follow(msg, following[1])):
            break
        if span:
            values.extend(range(values[-1] + 1, following[0] + 1))
            ranged = True
        else:
            values.append(following[0])
            starts.append(joint)
        end = following[1]
        noun = noun or following[2]
    if len(starts) > 1 and not (noun or word or ranged):
        msg.number_list = NumberList(tail, inside, starts, values, end)
    return Numbers(tuple(values), end, noun, bracket, word, ranged)


def _few_at(msg: Message, i: int) -> Numbers | None:
    """ "The last two", "前三题"."""
    found = msg.found[i] if i < msg.count else None
    if found and "for" in found and "article" not in found:
        i += found["for"][0]
        found = msg.found[i] if i < msg.count else None
    if not found:
        return None
    name = "first_few" if "first_few" in found else "last_few"
    if name not in found:
        return None
    length, many = found[name]
    if many > len(msg.slots):
        return None
    stop = i + length
    shown = [slot.number for slot in msg.slots]
    values = shown[:many] if name == "first_few" else shown[-many:]
    return Numbers(tuple(values), msg.at("item", stop) or stop, noun=True, word=True, ranged=True)


def _next_bare(msg: Message, i: int, before: int) -> bool:
    """ "Recommended for 1 2": the next number of the round, a blank before it and an end after it."""
    if i >= msg.count or msg.tokens[i].kind != "num" or not msg.tokens[i].spaced:
        return False
    listed = msg.is_edge(i + 1) or bool(msg.at("and", i + 1)) or msg.tokens[i + 1].kind == "num"
    return before < msg.tokens[i].value and msg.tokens[i].value in msg.by_number and listed


def _first_few(msg: Message, i: int) -> tuple[int, int] | None:
    """ "The first two": how many, and where it ends."""
    stop = msg.at("number", i) if i < msg.count else 0
    many = msg.value_at("number", i)
    if i < msg.count and msg.tokens[i].kind == "num":
        stop, many = i + 1, msg.tokens[i].value
    return (many, msg.at("item", stop) or stop) if stop and 1 < many <= len(msg.slots) else None


def _words_follow(msg: Message, i: int) -> bool:
    """Whether plain words follow a number: it has a value of its own ("skip 2, 1 the board")."""
    if i >= msg.count or msg.tokens[i].kind != "word" or msg.letter(i):
        return False
    stop = msg.any_at(("article",), i) or i
    return not msg.any_at(_AFTER_LIST, i) or (stop > i and not msg.any_at(_AFTER_LIST, stop) and msg.is_word(stop))


def begins_value(msg: Message, i: int) -> bool:
    if i >= msg.count or msg.is_break(i):
        return False
    if msg.is_mark(i, ":=") or (msg.tokens[i].kind == "mark" and msg.tokens[i].fold == "->"):
        return True
    at = skip_leads(msg, i, msg.count)
    if at > i and msg.letter(at) and letter_stands(msg, at, msg.count):
        return True
    return bool(msg.letter(i)) or (msg.is_mark(i, ".)-") and bool(msg.letter(msg.skip_marks(i, msg.count, ".)-"))))


def goes_on(msg: Message, i: int) -> bool:
    """Whether a word in running text begins no statement: neither a number nor what may stand there without one."""
    return not msg.roman and msg.tokens[i].fold != "a" and _RUNNING.isdisjoint(msg.found[i])


def number_at(msg: Message, i: int, tail: bool = False) -> tuple[int, int, bool, bool, bool] | None:
    """A question number at `i`: value, end, and whether it has a noun, a bracket, or is a word."""
    if i >= msg.count:
        return None
    kind = msg.tokens[i].kind
    if kind == "num":
        return msg.tokens[i].value, _past_suffix(msg, i + 1, word=False), False, False, False
    if kind == "mark" and msg.is_mark(i, "([") and i + 2 < msg.count and msg.tokens[i + 1].kind == "num" and (
        msg.is_mark(i + 2, ")]")
    ):  # fmt: skip
        return msg.tokens[i + 1].value, i + 3, False, True, False
    if not msg.roman and msg.tokens[i].fold != "a" and BEGINS_NUMBER.isdisjoint(msg.found[i]):
        return None
    numbered = i + 1 < msg.count and msg.tokens[i + 1].kind == "num"
    if not numbered and not msg.roman and (
        (ahead := msg.number_after(i)) >= msg.count or ahead > i + 7 * msg.book.longest
    ):  # fmt: skip
        return None
    j = i
    noun = False
    for _ in range(6):  # "the answer for 3", "my answer on question 2"
        stop = msg.any_at(("item", "for", "article"), j)
        named = msg.at("item", j) if stop else 0
        if not stop or (msg.letter(j) and not named):
            break
        if named == stop:
            noun = True
            stop = msg.skip_marks(stop, min(stop + 1, msg.count), ".")
        j = stop
    if article_a(msg, j):
        j += 1
    if j >= msg.count:
        return None
    token = msg.tokens[j]
    word = False
    if token.kind == "num":
        value, j = token.value, j + 1
    elif token.fold in ROMAN and msg.roman and (msg.is_mark(j + 1, ").:") or _option_next(msg, j + 1)):
        return ROMAN[token.fold], j + 1, noun, True, False
    elif token.kind in ("word", "char"):
        stop = msg.at("number", j)
        value = msg.value_at("number", j)
        if not stop:
            stop, value = msg.at("ordinal", j), msg.value_at("ordinal", j)
        last = msg.at("last", j) or j
        if not stop and msg.slots and (
            msg.any_at(_AFTER_LAST[tail], last)
            or (msg.is_edge(last) if tail else msg.at("which", last) or _chosen(msg, last))
        ) and last > j:  # fmt: skip
            stop, value, noun = last, msg.slots[-1].number, noun or j > i
        if not stop:
            return None
        word, j = True, stop
    else:
        return None
    return value, _past_suffix(msg, j, word=word), noun, False, word


def _chosen(msg: Message, i: int) -> bool:
    """ "The last one B": an option follows, so "the last one" is a question."""
    at = msg.at("option", i) or i
    return bool(msg.letter(at)) and msg.letter(at) in msg.offered and letter_ends(msg, at, msg.count)


def _past_suffix(msg: Message, j: int, *, word: bool) -> int:
    """Past what may follow a number: "2nd", "第2题", "2번". `word`: the number was one."""
    for _ in range(3):
        if j >= msg.count or _SUFFIXES.isdisjoint(msg.found[j]):
            break
        stop = msg.any_at(("suffix", "item"), j)
        kind = msg.tokens[j].kind
        if kind == "mark" or (kind == "word" and not msg.glued(j) and not word):
            break
        named = msg.at("item", j) == stop
        if named and not (word or msg.glued(j)):
            break
        if kind == "word" and stop < msg.any_at(("recommended", "delegate"), j):
            break
        if kind == "char" and _asks_somebody(msg, j):
            break
        if named and stop < msg.count and msg.tokens[stop].kind == "num":
            break
        j = stop
    return j


def _asks_somebody(msg: Message, j: int) -> bool:
    """ "第3题问老板": 问 is a noun for a question elsewhere, and here the verb."""
    stop = msg.at("consult", j)
    return (
        0 < stop < msg.count and msg.tokens[stop].kind == "char" and not msg.any_at(("item", "suffix", "lead"), stop)
    )


def _option_next(msg: Message, i: int) -> bool:
    return i < msg.count and msg.tokens[i].letter in msg.offered and msg.tokens[i].letter not in ("", "I")


def bind_at(msg: Message, i: int) -> tuple[int, str]:
    """Past what binds a number to its value; the first sign of it, or ""."""
    bind = ""
    j = i
    while j < msg.count and msg.tokens[j].kind == "mark" and j < i + 5:
        sign = msg.tokens[j].fold
        if sign in "\"”’'»」』" or ((sign in "“‘«「『([" and bind and not msg.letter(j + 2)) and sign not in "(["):
            pass
        elif sign in (":", ".", ")", "]", "-", "=", "->", "|"):
            bind = bind or sign
        elif sign in (",", ";") and not bind and msg.glued(j):
            return j + 1, sign
        elif sign in "/~_" and not bind and msg.glued(j) and msg.glued(j + 1) and _letter_next(msg, j + 1):
            return j + 1, ":"
        elif sign > "\u2190" and not bind and msg.tokens[j].spaced and _letter_next(msg, j + 1):
            return j + 1, ":"  # "1 ✅ B"
        else:
            break
        j += 1
    if bind:
        return j, bind
    stop = msg.at("suffix", j)
    if (
        not stop or _asks_somebody(msg, j) or stop < msg.any_at(("recommended", "delegate"), j)
    ):  # Spanish "3 la que recomiendas"
        return i, ""
    return stop, ":"


def _letter_next(msg: Message, i: int) -> bool:
    """`1/A 2/B`: a letter of the round behind the sign, and no more of a word."""
    return msg.letter(i) in msg.offered and letter_stands(msg, i, msg.count)


def skip_fill(msg: Message, i: int) -> int:
    """Past function words between a verb and its numbers: "skip for now question 2", "not sure about 3"."""
    for _ in range(4):
        stop = msg.any_at(("filler", "for", "article", "lead", "polite"), i)
        if not stop or msg.any_at(("item", "rest", "number", "ordinal"), i) or msg.letter(i):
            break
        i = stop
    return msg.skip_marks(i, msg.count, ":") if i < msg.count else i
