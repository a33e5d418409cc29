"""First sight of an item's value, and numbering that is not the round's.

core := letter | word class | "" for plain words | "empty" | "smiley"
sub  := number letter bind value       `1a: C`, the numbering of another tool
slip := letter number bind value       `a5. …`, at the head of a line
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.core.replies.labels import by_label
from bot.core.replies.message import Message
from bot.core.replies.numbering import Numbers, bind_at, numbers_at, skip_fill
from bot.core.replies.statement import Place, Statement
from bot.core.replies.value import letter_ends, skip_leads

_CORE: Final = (
    "recommended", "as_said", "delegate", "skip", "unsure", "later", "agree", "disagree", "other", "none", "both",
    "same", "question", "explain", "hedge", "negative", "accept", "put_off",
)  # fmt: skip
_CORES: Final = frozenset(_CORE)
_SAID: Final = (*_CORE, "lead", "imperative", "self", "article", "commit", "conditional")


def core_at(msg: Message, i: int, *, loose: bool) -> str:
    """What the value at `i` is at first sight: "letter", a word class, "empty", "smiley", or "" for words.

    `loose`: nothing binds the number to it, so a letter must be the whole of it.
    """
    while i < msg.count and msg.is_quote(i):
        i += 1
    if i >= msg.count or msg.is_break(i):
        return "empty"
    if msg.is_separator(i):
        if msg.is_mark(i, "?") and not loose and msg.is_edge(i + 1):
            return "unsure"
        return "" if msg.is_mark(i, "?") else "empty"
    if msg.is_mark(i, "([") and msg.letter(i + 1) and msg.is_mark(i + 2, ")]"):
        return "letter"
    at = skip_leads(msg, i, msg.count)
    letter = msg.letter(at)
    if letter:
        offered = letter.startswith("~") or ord(letter) - 64 <= msg.widest
        ends = letter_ends(msg, at, msg.count)
        word = loose and not ends and msg.tokens[at].lower and letter in "AEOYI"
        if offered and (not word or _courtesy_alone(msg, at + 1)):
            if not (
                loose
                and not ends
                and letter == "A"
                and not msg.letter(at + 1)
                and not msg.any_at(("note", "for", "and", "or", "polite", "correct"), at + 1)
            ):
                return "letter"
        elif (ends and not loose and len(msg.tokens) > at) or (ends and not msg.any_at(_CORE, at)):
            return "letter"
    for position in (at, i):
        found = msg.found[position] if position < msg.count else {}
        if _CORES.isdisjoint(found):
            continue
        for name in _CORE:
            if name in found:
                return name
    if msg.at("ordinal", at) or msg.at("last", at):
        return "ordinal" if not loose else ""
    token = msg.tokens[i]
    if (
        token.kind == "mark"
        and token.fold > "\u2190"
        and not msg.at("polite", i)
        and (i + 1 >= msg.count or msg.is_edge(i + 1))
    ):
        return "smiley"
    return ""


def _courtesy_alone(msg: Message, i: int) -> bool:
    """ "4 a please": no word that "a" could be the article of."""
    stop = i
    while further := msg.any_at(("polite", "filler"), stop):
        stop = further
    return stop > i and (msg.is_edge(stop) or msg.tokens[stop].kind != "word")


def reads_on(msg: Message, i: int) -> bool:
    """Whether a lower-case letter at `i` is a word of the sentence: plain words follow it."""
    at = skip_leads(msg, i, msg.count)
    if not msg.letter(at) or not msg.tokens[at].lower or letter_ends(msg, at, msg.count):
        return False
    return not msg.any_at(("note", "for", "and", "or", "polite", "agree", "number", "ordinal", "correct"), at + 1)


def named_option(msg: Message, i: int) -> bool:
    """ "the last option", "the second one", after "for 2"."""
    at = skip_leads(msg, i, msg.count)
    stop = msg.at("ordinal", at) or msg.at("last", at)
    return bool(stop and msg.at("option", stop))


def letters_first(msg: Message) -> list[Statement] | None:
    """`B1 A2 C3`, only if it fits every token of the message."""
    pairs: list[Statement] = []
    if not msg.lettered or not msg.numeric:
        return None
    i = 0
    while i < msg.count:
        letter = msg.tokens[i].letter
        at = i + 2 if msg.is_mark(i + 1, "-:=/") else i + 1
        if (
            letter
            and msg.is_mark(i + 1, "(")
            and msg.is_mark(i + 3, ")")
            and msg.tokens[i + 2].value in msg.by_number
        ):
            pairs.append(
                Statement("item", i, i, i + 4, (msg.tokens[i + 2].value,), value_end=i + 1, tail=i + 4, bound=True)
            )
            i += 4
            continue
        number = msg.tokens[at].value if letter and at < msg.count else -1
        if number >= 0 and (msg.glued(at) or at > i + 1):
            if letter not in msg.offered or (at > i + 1 and number not in msg.by_number):
                return None
            pairs.append(Statement("item", i, i, at + 1, (number,), value_end=i + 1, tail=at + 1, bound=True))
            i = at + 1
        elif msg.is_break(i) or msg.is_separator(i) or msg.is_quote(i) or msg.tokens[i].kind == "mention":
            i += 1
        elif (stop := msg.any_at(("polite", "and", "agree", "lead"), i)) and not msg.letter(i):
            i = stop
        else:
            signed = len(pairs) > 1 and all(msg.tokens[p.first + 1].kind == "mark" for p in pairs)
            begun = len(pairs) > 1 and (msg.is_edge(i - 1) or (len(pairs) > 2 and msg.tokens[i].spaced))
            if not signed and (not begun or any(t.kind == "num" for t in msg.tokens[i:])):
                return None
            return [*pairs, Statement("words", i, i, msg.count)]
    return pairs if len(pairs) > 1 or (pairs and len(msg.slots) == 1) else None


def open_ended(msg: Message, item: Statement, i: int) -> bool:
    """Whether "otherwise" at `i` belongs to the item: nothing chosen yet, or chosen under a condition."""
    at = skip_leads(msg, item.start, i)
    over = msg.at("rest", i) > msg.at("otherwise", i)
    named = msg.at("recommended", msg.skip_marks(msg.at("otherwise", i), msg.count, ",:"))
    if not named:  # "sonst alles Standard"
        filled = msg.skip_marks(msg.at("otherwise", i), msg.count, ",:")
        for _ in range(4):
            filled = msg.any_at(("filler", "all", "article"), filled) or filled
        named = msg.at("recommended", filled)
    over = over or bool(named and msg.skip_marks(at + 1, i, ",.;-") == i)  # "2 A, otherwise as proposed"
    plain = msg.letter(at) and over
    return not plain or msg.next(("conditional", "limit"), item.start) < i


def told_of(msg: Message, i: int) -> bool:
    """Whether something is said on the question whose ordinal ends at `i`; "for the first time" is none."""
    i = msg.any_at(("option", "item"), i) or i
    if i >= msg.count or msg.tokens[i].kind != "word":
        return True
    return not msg.at("unit", i) and bool(msg.any_at(_SAID, i))


def changed_at(msg: Message, i: int) -> Statement | None:
    """ "Change 2 to C"."""
    stop = msg.at("change", i)
    numbers = numbers_at(msg, skip_fill(msg, stop)) if stop else None
    if numbers is None or msg.at("unit", numbers.end):
        return None
    start = bind_at(msg, numbers.end)[0]
    start = msg.any_at(("becomes", "for", "to"), start) or start
    if start < msg.count and msg.tokens[start].fold == "a" and msg.letter(start + 1):
        start += 1  # Spanish and Portuguese "a": to
    return Statement("item", i, start, start, numbers.values, changed=True, bound=True)


def supplied(msg: Message, first: int) -> Statement | None:
    """ "I forgot 3, use B": counts only where a choice follows; "I missed 2 meetings" has none."""
    stop = msg.at("missed", first)
    numbers = numbers_at(msg, stop) if stop else None
    if numbers is None or not all(n in msg.by_number for n in numbers.values):
        return None
    start = msg.skip_marks(numbers.end, msg.count, ",:.-=")
    if core_at(msg, start, loose=start == numbers.end) not in ("letter", "recommended", "skip"):
        return None
    return Statement("item", first, start, start, numbers.values, bound=True)


def turned(msg: Message, out: Sequence[Statement], first: int, numbers: Numbers) -> Statement | None:
    """ "All but 2 as recommended": what follows the exceptions is said of all the others."""
    told = len(out) > 1 and out[-2].kind in ("accept", "except", "item", "rest", "same")
    if told or out[-1].kind != "except" or msg.is_mark(numbers.end, ":="):
        return None
    at = numbers.end
    for _ in range(4):
        if msg.any_at(("recommended", "accept"), at):
            end = numbers.end
            return Statement("item", first, first, end, numbers.values, tail=end, forced="reject", bound=True)
        at = msg.any_at(("all", "filler", "copula"), at) or (at + 1 if msg.is_mark(at, ",") else at)
    return None


def sub_item(msg: Message, numbers: Numbers, i: int) -> Statement | None:
    """`1a: C`, `2b. a`: the numbering of another tool; its letter collides with the options."""
    if not msg.letter(i) and not (msg.tokens[i].letter and msg.is_mark(i + 1, ".")):
        return None
    if not msg.is_mark(i + 1, ":.)=") or i + 2 >= msg.count or msg.is_break(i + 2):
        return None
    j = i + 2
    while msg.is_mark(j, ".): "):
        j += 1
    if j >= msg.count or msg.is_edge(j) or numbers_at(msg, j) is not None:
        return None
    core = core_at(msg, j, loose=False)
    if msg.is_mark(i + 1, ":=") or core == "letter" or (core == "recommended" and msg.is_mark(i + 1, ":")):
        return Statement("item", i, j, j, numbers.values, sub=msg.tokens[i].letter.lower(), bound=True)
    return None


def slip_at(msg: Message, i: int, items: int) -> Statement | None:
    """`a5. …`: a letter before the number, at the head of a line: option A for 5, or a mistyped q5."""
    if not msg.letter(i) or i + 2 >= msg.count or msg.tokens[i + 1].kind != "num" or not msg.glued(i + 1):
        return None
    if msg.at("item", i) or not msg.is_mark(i + 2, ".:)") or msg.tokens[i + 1].value not in msg.by_number:
        return None
    if not items or i + 3 >= msg.count or msg.is_edge(i + 3):
        return None
    return Statement("item", i, i, i + 3, (msg.tokens[i + 1].value,), tail=i + 3, forced="slip", bound=True)


def refers(msg: Message, out: Sequence[Statement], i: int, numbers: Numbers, place: Place) -> bool:
    """ "ticket #3", "Section 2.b": inside running text, a number in another form than the items have."""
    if numbers.noun and msg.tokens[i].fold not in "#№":
        return False
    behind = bool(out) and i > 0 and msg.any_at(("last", "other", "rest"), i - 1) == i
    if behind and not msg.at("otherwise", i - 1) and not (out[-1].kind == "item" and out[-1].start == i - 1):
        return True  # "the last two", "the other two"; not "otherwise 1b", "1: other 2: A"
    if msg.glued(i) and msg.tokens[i - 1].letter and msg.tokens[i - 1].letter not in msg.offered:
        return True  # "v2"
    if place == "mid" and msg.tokens[i].fold in "#№":
        return not any(msg.tokens[s.first].fold == msg.tokens[i].fold for s in out[-3:] if s.kind == "item")
    shortened = i > 1 and msg.is_mark(i - 1, ".") and msg.is_word(i - 2) and not msg.letter(i - 2)  # "cf. 2.a"
    if numbers.noun or not (place == "mid" or (place == "sep" and shortened)):
        return False
    dotted = msg.is_mark(numbers.end, ".") and msg.glued(numbers.end + 1) and bool(msg.letter(numbers.end + 1))
    return dotted and not any(
        s.kind == "item" and msg.is_mark(s.start - 1, ".") and msg.glued(s.start) for s in out[-3:]
    )


def label_ends(msg: Message, item: Statement | None, i: int) -> bool:
    """`1:Daily2:Weekly`: the words before `i` are the whole text of an option of the item before."""
    item = item if msg.labelled else None
    slot = msg.by_number.get(item.numbers[-1]) if item is not None else None
    value = by_label(msg, item.start, i, slot) if item is not None and slot is not None else None
    return value is not None and value.kind == "letter" and value.complete


def settled(msg: Message, item: Statement, i: int, unbound: bool) -> bool:
    """Whether the item before `i` says only yes, skip or the like: "2 yes, 1 the board", "skip 2, 1 the board"."""
    if item.kind != "item" or not (unbound or item.tail >= 0):
        return False
    begun = at = item.tail if item.tail >= 0 else item.start
    while at < i and (stop := msg.any_at(("agree", "skip", "unsure", "disagree", "polite"), at, i)):
        at = stop
    return (item.tail >= 0 or at > begun) and msg.skip_decoration(at, i) >= i
