"""What a text says for sure: numbers, lengths of time, dates, owners, and what is in or out of scope (SC-2).

Two texts of one specification can then be held against each other. What is denied, doubted, asked, bounded ("at least
3") or tied to a condition says nothing for sure, and what is not understood says nothing at all: a contradiction that
nobody meant costs a question. The words are data of the phrase files: `owner`, `launch`, `deadline`, `bound`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from bot.core import scope_change
from bot.core.moments.scan import scan
from bot.core.moments.words import TimeWords
from bot.core.own_words import coded, unquoted
from bot.core.patterns import regex
from bot.core.replies.phrases import PhraseBook
from bot.core.replies.tokens import Token, tokenize
from bot.core.words import first_of

Kind = Literal["number", "length", "date", "owner", "scope"]
_MOST: Final = 2000  # characters of a text that are looked at
_CLAUSE = regex(r"[;\n!。；！]|(?<!\d)\.(?=\s|$)|,(?=\s|$)|(?<=[^\d\s])[,，、](?!\d)")
_GROUPED = regex(r"\d{1,3}(?:[,.]\d{3})+")
_SHARE = regex(r"(\d+(?:[.,]\d+)?)\s?%")
_EMPTY: Final = frozenset(  # words that carry nothing by which two clauses are about one thing
    (
        "filler",
        "article",
        "for",
        "and",
        "or",
        "to",
        "lead",
        "copula",
        "polite",
        "agree",
        "opener",
        "self",
        "all",
        "limit",
    )
)
_DAY_MINUTES: Final = 24 * 60
_WHO: Final = "{who}"
_TIMES: Final = frozenset(("month_name", "weekday", "at", "in", "later", "next", "ordinal"))
DATES: Final = ("launch", "deadline")


class Statement(NamedTuple):
    """`key` is what it is about and `value` what it says of it; `about` are the other words of its clause."""

    kind: Kind
    key: str
    value: tuple[object, ...]
    about: frozenset[str]
    words: str


def statements(text: str, book: PhraseBook, times: TimeWords) -> Iterator[Statement]:
    """Everything that a person's own words say for sure, clause by clause."""
    own = unicodedata.normalize("NFKC", coded(unquoted(text)))[:_MOST]
    days = (*book.lists["launch"], *book.lists["deadline"])
    dated, owned = first_of(own, days) is not None, scope_change.may_hold(own, book.lists["owner"])
    if dated or owned or any(sign.isdecimal() for sign in own):
        for clause in filter(None, (c.strip() for c in _CLAUSE.split(own))):
            yield from _of_clause(clause, book, times, dated=dated, owned=owned)
    for side in scope_change.sides(own, book):
        key = " ".join(sorted(content(side.item, book)))
        if key:
            yield Statement("scope", key, (side.field,), frozenset(), side.words)


def _of_clause(clause: str, book: PhraseBook, times: TimeWords, *, dated: bool, owned: bool) -> Iterator[Statement]:
    """`dated`, `owned`: the text speaks of a launch or deadline, or of somebody who answers for something."""
    numbered = any(sign.isdecimal() for sign in clause)
    if not (numbered or dated or owned) or clause.endswith(("?", "？")) or scope_change.unsettled(clause, book):
        return
    owner = _owner(clause, book) if owned else None
    if owner is not None:
        yield owner
    if dated:
        yield from _dates(clause, book, times)
    if numbered and first_of(clause, book.lists["bound"]) is None:
        yield from _numbers(clause, book, times)


def differ(one: Statement, other: Statement) -> bool:
    """Whether both can not hold: about the same, and not the same said of it."""
    if one.kind != other.kind or not _same_key(one.key, other.key) or not _both_known(one.value, other.value):
        return False
    if one.kind == "scope":
        return True
    bare = not (one.about or other.about) if one.kind == "owner" else not (one.about and other.about)
    return (bare and one.kind != "length") or any(alike(a, b) for a in one.about for b in other.about)


def _same_key(one: str, other: str) -> bool:
    mine, theirs = one.split(), other.split()
    return len(mine) == len(theirs) and all(any(alike(a, b) for b in theirs) for a in mine)


def _both_known(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether the values differ in something that both say: of "3 December" and "December 2026" nothing does."""
    if one and isinstance(one[0], frozenset):  # names: "Ana" may be "Ana Lopez"
        a, b = one[0], other[0]
        assert isinstance(b, frozenset)
        return not (a <= b or b <= a)
    return any(a is not None and b is not None and a != b for a, b in zip(one, other, strict=True))


def alike(one: str, other: str) -> bool:
    """Whether two words are forms of one: refund, refunds; Bildschirm, Bildschirme; экран, экрана."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < 4 or len(long) - len(short) > 2:
        return False
    shared = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return shared >= len(short) - 1 and shared >= len(long) - 2


def content(words: str, book: PhraseBook) -> frozenset[str]:
    """The words of a text that carry something, folded."""
    return frozenset(token.fold for token in _bearing(tokenize(words), book))


def _bearing(tokens: Sequence[Token], book: PhraseBook) -> Iterator[Token]:
    at = 0
    while at < len(tokens):
        found = book.at(tokens, at)
        length = max((found[name][0] for name in _EMPTY & found.keys()), default=0)
        if length:
            at += length
            continue
        if tokens[at].kind in ("word", "char", "mention") and (len(tokens[at].fold) > 2 or tokens[at].kind == "char"):
            yield tokens[at]
        at += 1


# -- numbers and lengths of time ---------------------------------------------------------------------------------


def _numbers(clause: str, book: PhraseBook, times: TimeWords) -> Iterator[Statement]:
    """ "40 refunds a day", "within 30 days", "25 %", each with the words around it."""
    if any(item.date is not None or item.clock is not None for item in scan(clause, times)):
        return
    tokens = tokenize(clause)
    found = [(at, value) for at, token in enumerate(tokens) if (value := _value(token)) is not None]
    if len(found) != 1:
        return  # a range, a list, a date: which number says what is not plain
    at, value = found[0]
    behind = _noun(tokens, at + 1, book)
    share = _SHARE.fullmatch(clause[tokens[at].start : tokens[at].end].strip()) is not None
    if not behind and not share:
        return
    noun = "%" if share else "".join(t.fold for t in behind)
    unit = None if share else _unit(noun, times)
    rest = [t for t in _bearing(tokens, book) if t not in behind and _value(t) is None]
    per = {minutes for t in rest if (minutes := _unit(t.fold, times)) is not None}
    about = frozenset(t.fold for t in rest if _unit(t.fold, times) is None)
    if unit is not None:
        yield Statement("length", "time", (value * unit,), about, clause)
    else:
        key = noun if not per else f"{noun} /{min(per)}"
        yield Statement("number", key, (value,), about, clause)


def _value(token: Token) -> int | float | None:
    if token.kind == "num":
        return token.value
    if token.kind != "opaque":
        return None
    if _GROUPED.fullmatch(token.fold):
        return int(re.sub(r"\D", "", token.fold))
    share = _SHARE.fullmatch(token.fold)
    return None if share is None else float(share[1].replace(",", "."))


def _noun(tokens: Sequence[Token], at: int, book: PhraseBook) -> list[Token]:
    """What a number counts: the next word that carries something, or the signs of a script without blanks."""
    while at < len(tokens) and tokens[at].kind == "word" and {"filler", "article"} & book.at(tokens, at).keys():
        at += 1
    if at >= len(tokens):
        return []
    if tokens[at].kind == "char":
        signs: list[Token] = []
        while at < len(tokens) and tokens[at].kind == "char" and len(signs) < 4:
            signs.append(tokens[at])
            at += 1
        return signs
    return [tokens[at]] if tokens[at].kind == "word" and len(tokens[at].fold) > 1 else []


def _unit(word: str, times: TimeWords) -> int | None:
    """A length of time in minutes, by its name; a single letter is none here."""
    found = times.at(word, 0) if len(word) > 1 or not word.isascii() else None
    if found is None or found[0] != len(word):
        return None
    kinds = found[1]
    return kinds.get("unit") or (_DAY_MINUTES if kinds.get("span") == _DAY_MINUTES else None)


# -- dates and owners --------------------------------------------------------------------------------------------


def _dates(clause: str, book: PhraseBook, times: TimeWords) -> Iterator[Statement]:
    """A day or a month beside the launch or the deadline."""
    items = scan(clause, times)
    days = [i.date for i in items if i.date is not None and not (i.slashed and i.either)]
    months = {i.kinds["month_name"] for i in items if "month_name" in i.kinds and i.date is None}
    weekdays = {i.kinds["weekday"] for i in items if "weekday" in i.kinds}
    when: tuple[object, ...] | None = None
    if len(days) == 1:
        year, month, day = days[0]
        when = (year, month, day, None)
    elif not days and len(months) == 1:
        when = (None, months.pop(), None, None)
    elif not days and not months and len(weekdays) == 1:
        when = (None, None, None, weekdays.pop())
    if when is None:
        return
    said = {t.fold for t in _bearing(tokenize(clause), book) if not _TIMES & _kinds(t.fold, times)}
    for key in DATES:
        named = first_of(clause, book.lists[key])
        if named is not None:
            about = frozenset(w for w in said if not any(alike(w, n) for n in content(named, book)))
            yield Statement("date", key, when, about, clause)


def _kinds(word: str, times: TimeWords) -> frozenset[str]:
    found = times.at(word, 0)
    return frozenset(found[1]) if found is not None and found[0] == len(word) else frozenset()


def _owner(clause: str, book: PhraseBook) -> Statement | None:
    """ "owner: Ana", "Ana is responsible for refunds": who, and of what."""
    where = clause.casefold()
    for phrase in book.lists["owner"]:
        if not _may_stand_in(where, phrase):
            continue
        hit = _phrase(phrase).search(clause)
        if hit is None:
            continue
        who, what = _name(hit["who"], book, last=phrase.startswith(_WHO))
        tokens = tokenize(who)
        name = frozenset(
            token.fold
            for at, token in enumerate(tokens)
            if token.kind in ("word", "char", "mention") and "article" not in book.at(tokens, at)
        )
        if name:
            return Statement("owner", "owner", (name,), content(f"{what} {hit['what']}", book), clause)
    return None


def _name(words: str, book: PhraseBook, *, last: bool) -> tuple[str, str]:
    """The name, and what stands behind "for": "Ana for the refunds". `last`: the name ends the words."""
    tokens = tokenize(words)
    cut = next((t.start for n, t in enumerate(tokens) if n and "for" in book.at(tokens, n)), len(words))
    if last:
        return (words[tokens[-3].start :] if len(tokens) > 3 else words), ""
    return words[:cut], words[cut:]


def _may_stand_in(where: str, phrase: str) -> bool:
    needed = (part.strip(":") for part in phrase.split(" ") if part != _WHO and not part.endswith("?"))
    return all(any(word.casefold().replace("_", " ") in where for word in part.split("|")) for part in needed if part)


@lru_cache(maxsize=256)
def _phrase(phrase: str) -> re.Pattern[str]:
    parts = phrase.split(" ")
    made = ""
    for part in parts:
        if part == _WHO:
            made += r"(?P<who>[^\W\d_][^:：]{0,60}?)"
            continue
        optional, colon = part.endswith("?"), part.endswith(":")
        words = scope_change.any_of(part.strip("?:").split("|")) if part.strip("?:") else ""
        piece = (f"(?:{words})" if words else "") + (r"\s*[:：=]\s*" if colon else r"[^\w:：]{0,3}")
        made += f"(?:{piece})?" if optional else piece
    begins = r"^\W*" if parts[0] == _WHO else ""
    ends = r"(?P<what>.*)$" if parts[-1] != _WHO else r"(?P<what>)\W*$"
    return re.compile(begins + made + ends, re.IGNORECASE)
