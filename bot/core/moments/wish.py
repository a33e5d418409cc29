"""Finds in a message what it wishes about asking: "ask me tomorrow at 9", "1: B, remind me in 2 hours of the rest".

A wish is never an answer: what asks to be asked is taken out of the message before the reply reader sees the rest.
Only clauses that begin with a phrase of asking count here; a bare "tomorrow" is the reply reader's to judge.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from bot.core.moments.expression import Expression, read
from bot.core.moments.scan import LONGEST, Item, items_in, scan
from bot.core.moments.words import TimeWords, folded

PUT_OFF: Final = "later"  # stands in the message for a wish about one question, which the reply reader then puts off
JOINS: Final = frozenset(",，、-–—")


@dataclass(frozen=True, slots=True)
class Wish:
    """`words`: the wish as said; `rest`: the message without it. `said` holds no time where none can be read."""

    words: str
    said: Expression
    rest: str = ""
    stops: bool = False  # no more reminders


@dataclass(slots=True)
class _Clause:
    items: list[Item]
    sign: str  # of the break behind it
    after: str  # the sign of the break before it
    begins: int  # in the text, with the word that joins it to the clause before


def find(text: str, words: TimeWords) -> Wish | None:
    """The wish in a message, or None. The last one counts where there are several."""
    if len(text) > LONGEST:
        return None
    plain, places = folded(text)
    if not words.may_ask(plain):
        return None
    clauses = _clauses(list(items_in(plain, places, words)))
    for number in reversed(range(len(clauses))):
        wish = _wish(text, clauses, number)
        if wish is not None:
            return wish
    return None


def moment_in(text: str, words: TimeWords, questions: Collection[int] = ()) -> Expression:
    """The time in words that are known to put something off: "not now, tomorrow at 9", "later". Empty where none.

    `questions`: a bare number of these is a question's, "1: B, 3 tomorrow", unless "at" or a day stands before it.
    """
    items = scan(text[:LONGEST], words)
    if questions:
        items = [item for at, item in enumerate(items) if not _of_a_question(items, at, questions)]
    said, _ = read(items)
    if said.wrong == "two":  # "not today, tomorrow": the last word of it
        each = [read(clause.items)[0] for clause in _clauses(items)]
        said = next((one for one in reversed(each) if one.dated and one.wrong is None), said)
    begins = next((n for n, item in enumerate(items) if "condition" in item.kinds), None)
    return Expression() if begins is not None and read(items[:begins])[0] == Expression() else said


def may_be_moment(text: str, words: TimeWords) -> bool:
    """Whether this text, or a beginning of it, may be a moment and nothing else: an exact and quick "no"."""
    return words.may_date(folded(text[:LONGEST])[0])


def only_moment(text: str, words: TimeWords) -> Expression | None:
    """The time where a message is nothing else: "in 2 hours", "next monday". None for any other message."""
    if len(text) > LONGEST or "?" in text:
        return None
    plain, places = folded(text)
    if not words.may_date(plain):
        return None
    items: list[Item] = []
    for item in items_in(plain, places, words):
        if item.strange:  # nearly always at the first word
            return None
        items.append(item)
    told = [item for item in items if not item.sign and "filler" not in item.kinds]
    if len(told) == 1 and told[0].slashed:
        return None  # "1/2", "A 3/4!" may be two questions
    said, strange = read(items)
    return said if said.named and said.dated and not strange else None


def bare_moment(text: str, words: TimeWords) -> bool | None:
    """Whether a message that is a moment says nothing of asking or answering: "next week", "friday, please", not "not
    now, tomorrow", "I'll answer tomorrow". None where it is no moment."""
    if only_moment(text, words) is None:
        return None
    items = scan(text, words)
    for before, item in zip((None, *items), items, strict=False):
        length = before is not None and "later" in item.kinds and before.kinds.keys() & {"unit", "span"}
        if item.kinds.keys() & {"answering", "vague", "ask", "stop"} and not length:
            return False
    return True


def only_asks(text: str, words: TimeWords) -> bool:
    """Whether a message asks to be asked, and says nothing else: "remind me", "can you ask me again?"."""
    if len(text) > LONGEST or not words.may_ask(folded(text)[0]):
        return False
    kinds = [item.kinds.keys() for item in scan(text, words) if not item.sign]
    return all(k & {"ask", "filler"} for k in kinds) and any("ask" in k for k in kinds)


def _of_a_question(items: Sequence[Item], at: int, questions: Collection[int]) -> bool:
    after = items[at + 1] if at + 1 < len(items) else None
    marked = after is not None and after.kinds.keys() & {"am", "pm", "oclock", "unit", "plus"}
    if items[at].number not in questions or marked:
        return False
    if after is not None and after.start == items[at].end and after.end - after.start == 1 and not after.sign:
        return True  # "3b"
    before = items[at - 1] if at else None
    timed = before is not None and before.kinds.keys() & {"at", "in", "day", "weekday", "part", "week", "month"}
    return before is None or not timed or before.end - before.start == 1  # "1a 2 later": in Spanish "a" is "at"


# -- clauses -------------------------------------------------------------------------------------------------------


def _clauses(items: Sequence[Item]) -> list[_Clause]:
    """Divided at breaks and at words that join; hyphens inside words are none."""
    found: list[_Clause] = []
    present, before, joined = list[Item](), "", -1
    for item in items:
        joins = "and" in item.kinds and len(item.kinds) == 1
        if not item.sign and not joins:
            present.append(item)
            continue
        if present:
            begins = present[0].start if joined < 0 else joined
            found.append(_Clause(present, item.sign or ",", before, begins))
            present = []
        before, joined = item.sign or ",", item.start if joins else -1
    if present:
        found.append(_Clause(present, "", before, present[0].start if joined < 0 else joined))
    return found


def _asks(clause: _Clause) -> int | None:
    """Where in a clause somebody asks to be asked: behind small words, or behind a time, or behind a number."""
    for at, item in enumerate(clause.items):
        if item.kinds.keys() & {"ask", "stop"}:
            return at
        if item.strange:
            return None
    return None


def _wish(text: str, clauses: Sequence[_Clause], number: int) -> Wish | None:
    clause = clauses[number]
    at = _asks(clause)
    if at is None or (clause.after and clause.after in "(["):  # "1: other (ask me first)"
        return None
    if "stop" in clause.items[at].kinds:
        return _cut(text, clauses, number, number, Expression(), stops=True)
    behind = clause.items[at + 1 :]
    if any("explains" in item.kinds for item in behind[:2]):
        return None
    said, strange = read(clause.items)
    begins = next((n for n, item in enumerate(behind) if "condition" in item.kinds), None)
    if begins is not None and not read([*clause.items[:at], *behind[:begins]])[0].named:
        return _cut(text, clauses, number, number, Expression())  # "ask me when the board has met"
    first = last = number
    if not said.named and not strange:
        for near in (number + 1, number - 1):
            if 0 <= near < len(clauses) and (clause.sign if near > number else clause.after) in JOINS:
                beside, other = read(clauses[near].items)
                if beside.named and not other and _asks(clauses[near]) is None:
                    said, first, last = beside, min(near, number), max(near, number)
                    break
    elif number + 1 < len(clauses) and clause.sign in JOINS and _asks(clauses[number + 1]) is None:
        beside, other = read(clauses[number + 1].items)
        if beside.named and not other:  # "ask me tomorrow, at 9"; "in 2 hours and on friday" are two
            (said, _), last = read([*clause.items, *clauses[number + 1].items]), number + 1
    if last + 2 == len(clauses) and clauses[last].sign in JOINS and _is_number(clauses[last + 1]):
        last += 1  # "between 9 and 10"; with more behind it, it is the number of a question
    vague = any("vague" in item.kinds for item in clause.items)
    if not said.named and not (_aims(behind) if strange else vague):
        return None
    return _cut(text, clauses, first, last, said)


def _cut(
    text: str, clauses: Sequence[_Clause], first: int, last: int, said: Expression, *, stops: bool = False
) -> Wish:
    """The message without these clauses. A wish about one question leaves "later" behind its number."""
    items = clauses[first].items
    numbers = 1 if items[0].number is not None and len(items) > 1 and "ask" in items[1].kinds else 0
    start, end = items[numbers].start, clauses[last].items[-1].end
    labelled = numbers or (first > 0 and clauses[first].after in ":)." and _is_number(clauses[first - 1]))
    words = text[start:end]
    if labelled:
        return Wish(words, said, f"{text[:start]}{PUT_OFF}{text[end:]}", stops)
    before, after = text[: clauses[first].begins].rstrip(), text[end:].lstrip(" \n,;.!?…-–—，、。！？")
    if last + 1 < len(clauses):
        begins = clauses[last + 1].items[0].start
        after = text[begins:] if clauses[last + 1].begins != begins else after  # without the word that joined them
    if not after:
        before = before.rstrip(" ,;-–—，、")
    return Wish(words, said, f"{before} {after}".strip(" \n,;"), stops)


def _aims(behind: Sequence[Item]) -> bool:
    """Whether words that can not be read stand for a moment: "ask me after easter", not "ask me about the budget"."""
    first = next((item for item in behind if item.kinds.keys() - {"filler"} or item.strange), None)
    return first is not None and bool(first.kinds.keys() & {"at", "in", "next"}) and "matter" not in first.kinds


def _is_number(clause: _Clause) -> bool:
    return clause.items[-1].number is not None and len(clause.items) <= 2 and _asks(clause) is None
