"""How a person's words describe a change of the locked scope, in every language of the phrase files (SC-3).

The words are data: `scope_drop` and `scope_add` are phrases around what goes or comes, `scope_out` and `scope_in`
name the two lists, `scope_tier`, `scope_surfaces` and `scope_comparators` name what is counted. In a phrase `{what}`
stands for what goes or comes, `a|b` for one of these, a word that ends in `?` may be missing, `_` is a blank within a
word, and what is written behind `{what}` without a blank is joined to it. What is described by a verb is asked about
before it counts; a field with its value ("surfaces: 4", "out of scope: exchanges") says by itself what it changes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from bot.core.own_words import put_back, set_aside, unquoted
from bot.core.patterns import regex
from bot.core.replies.phrases import PhraseBook
from bot.core.replies.tokens import tokenize
from bot.core.reported import reported
from bot.core.scope import NUMBERS, count_in, tier_in
from bot.core.spec import FEWEST_COMPARATORS, SCOPE_FIELDS, Spec
from bot.core.words import first_of, spaceless

WHAT: Final = "{what}"
_LISTS: Final = ("out_of_scope", "in_scope")  # in the order in which they are looked for
_NAMES: Final = {  # field -> the word class that names it
    "out_of_scope": "scope_out",
    "in_scope": "scope_in",
    "complexity_tier": "scope_tier",
    "surface_count": "scope_surfaces",
    "comparator_count": "scope_comparators",
}
_VERBS: Final = {"out_of_scope": "scope_drop", "in_scope": "scope_add"}
_DOUBTS: Final = frozenset(("negate", "hedge", "conditional", "unsure", "discuss"))
_IF: Final = frozenset(("conditional",))
_OPENS: Final = frozenset(("polite", "opener", "agree", "filler", "self", "and", "correct", "carry_on"))
_NOT_PLAIN: Final = "it is not plain that you want it changed; write it as a change"
_TWO_WAYS: Final = "that could be read as in or as out; write: in scope: …, or: out of scope: …"
# It begins with one sign and goes on in its line: blanks on both sides would take a row of empty lines for ever.
_INSTEAD = regex(rf"\b(?:from|instead of|rather than|not)\s+(?:\d{{1,3}}|{'|'.join(NUMBERS)})\b", re.IGNORECASE)
_HEADING = regex(r"\b(?:scope|chang\w*|edit|new|änder\w*|neu)\b", re.IGNORECASE)


class Wanted(NamedTuple):
    """A change that a person describes: the field and its new value. `problem` says why it can not be made.

    `asks`: it was described by a verb, and is asked about before it counts.
    """

    field: str
    to: str
    problem: str = ""
    asks: bool = False


class Described(NamedTuple):
    """`because` is the reason, where the words hold one. No `wanted`: no field was recognised.

    `unread`: parts beside it that name no field; they change nothing, and are told.
    """

    wanted: tuple[Wanted, ...]
    because: str | None
    unread: tuple[str, ...] = ()


def described(words: str, spec: Spec, book: PhraseBook) -> Described:
    """Read a described change, field by field: "surfaces: 4; tier 1 because the admin page joins"."""
    text, code = set_aside(_plain(unquoted(words)).strip())
    said, because = _reasoned(text, book)
    wanted: list[Wanted] = []
    unread: list[str] = []
    for clause in re.split(r"[;\n]|(?<=\w)[.!。]\s", _INSTEAD.sub("", said)):
        around = _around(clause.strip(" ."), book)
        if around is not None:
            wanted.append(around)
            continue
        for part in filter(None, (p.strip(" .") for p in re.split(r",(?!\d)| and ", clause))):
            found = _wanted(part, book)
            if found is not None:
                wanted.append(found)
            elif wanted and wanted[-1].field in _LISTS and not wanted[-1].problem:
                wanted.append(wanted[-1]._replace(to=part))  # "add returns and exchanges"
            elif re.search(r"\w{2}", part) and _opened(part, book):
                unread.append(put_back(part, code))
    if any(_has(part, _IF, book) for part in unread):  # "if legal agrees, drop returns"
        wanted = [one._replace(to="", problem=_NOT_PLAIN) for one in wanted]
    for part in _counted_behind(because, book):  # "… because the admin page joins, and tier 1"
        found = _wanted(part, book)
        if found is not None:
            wanted.append(found)
            because = because[: because.rindex(part)].rstrip(" ,;\n").removesuffix(" and").rstrip(" ,;\n")
    if _has(because, _IF, book):  # "… because of the kiosk, if legal agrees"
        wanted = [one._replace(asks=True) for one in wanted]
    return Described(tuple(_fitting(_merged(wanted, code), spec)), put_back(because, code) or None, tuple(unread))


def reason(words: str, book: PhraseBook) -> str:
    """A reason without the word that begins it: "because it grew"."""
    begins = _begins(book.lists["because"])
    return begins.sub("", words, count=1).strip(" .,:;")


def says_why(words: str, book: PhraseBook) -> bool:
    """Whether words begin as a reason does."""
    return _begins(book.lists["because"]).match(words) is not None


def of_others(words: str, spec: Spec, book: PhraseBook) -> str | None:
    """A change that somebody else is said to have described: "Bo said: surfaces: 4". None = none (AU-3)."""
    for told in reported(_reasoned(_plain(words), book)[0], book.lists):
        heading = not told.said and _is_heading(told.who, book)  # "change: tier 1", "surfaces: 4"
        if not heading and any(not w.problem for w in described(told.words, spec, book).wanted):
            return told.words
    return None


def _is_heading(who: str, book: PhraseBook) -> bool:
    if _HEADING.search(who) or any(first_of(who, book.lists[name]) for name in _NAMES.values()):
        return True
    return _has(who, frozenset(("heading",)), book)


def speaks_of_it(words: str, spec: Spec, book: PhraseBook) -> bool:
    """Whether words that nobody asked for are about the scope: a change, or the word itself."""
    return bool(re.search(r"\bscope\b", words, re.IGNORECASE)) or any(
        not w.problem for w in described(words, spec, book).wanted
    )


class Side(NamedTuple):
    """An item that a text puts in or out, as written, and the part of the text that does."""

    field: str
    item: str
    words: str


def sides(words: str, book: PhraseBook) -> Iterator[Side]:
    """What a text says is in or out, and nothing else."""
    if not may_hold(words, _phrases_of_sides(book)):
        return
    said = _reasoned(_plain(words), book)[0]
    for part in re.split(r"[;\n]|(?<=\w)[.!。]\s|,(?!\d)| and ", said):
        found = _wanted(part.strip(" ."), book) if part.strip(" .") else None
        if found is not None and found.field in _LISTS and not found.problem:
            yield Side(found.field, found.to, part.strip())


def _phrases_of_sides(book: PhraseBook) -> tuple[str, ...]:
    names = (name.replace(" ", "_") for field in _LISTS for name in book.lists[_NAMES[field]])
    return (*book.lists["scope_drop"], *book.lists["scope_add"], *names)


_BETWEEN = regex(r"[\s,.;:!?()\"“”„«»、。，；：！？]+")


def may_hold(text: str, phrases: tuple[str, ...]) -> bool:
    """Whether one of the phrases may stand in a text: an exact and quick "no", nearly always."""
    words, parts = _needed(phrases)
    where = text.casefold()
    return not words.isdisjoint(_BETWEEN.split(where)) or (
        not where.isascii() and any(part in where for part in parts)
    )


@lru_cache(maxsize=4)
def _needed(phrases: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Of each phrase a word without which it can not stand there; of scripts without blanks what is in a row."""
    words: set[str] = set()
    parts: set[str] = set()
    for phrase in phrases:
        sure = [t.strip(":") for t in phrase.split(" ") if not t.endswith("?") and not t.startswith("{")]
        for word in max(sure, key=lambda token: min(map(len, token.split("|")))).split("|"):
            longest = max(word.casefold().replace("_", " ").split(" "), key=len)
            if any("\u3040" <= sign <= "\u9fff" for sign in longest):
                parts.add(longest)
            else:
                words.add(longest)
    return frozenset(words), tuple(parts)


# -- one part ----------------------------------------------------------------------------------------------------


def _plain(words: str) -> str:
    return unicodedata.normalize("NFKC", words).replace("’", "'")


def _wanted(part: str, book: PhraseBook) -> Wanted | None:
    for field in _LISTS:
        hit = _named(book.lists[_NAMES[field]]).search(part)
        if hit is not None:
            if part.endswith("?") or unsettled(part[: hit.start()], book):
                return Wanted(field, "", _NOT_PLAIN)
            words = part[hit.end() :].strip(' .:="“”')
            if not words and (verbs := _by_verb(part, book)) is not None:  # "exchanges are out of scope"
                return verbs
            return Wanted(field, words, "" if words else f"say what is {SCOPE_FIELDS[field]}")
    return _by_verb(part, book) or _counted(part, book)


def _by_verb(part: str, book: PhraseBook) -> Wanted | None:
    """ "drop returns", "füge Retouren hinzu": what goes or comes."""
    found = [(field, hit) for field in _LISTS if (hit := _match(part, field, book)) is not None]
    if not found:
        return None
    counted = _counted(part, book)
    if counted is not None and (counted.to or count_in(part) is not None):
        if counted.field == "complexity_tier":
            return counted  # "drop the tier to 3"
        how = f"say how many there are then, e.g. {SCOPE_FIELDS[counted.field]}: 3"  # "remove one page"
        return Wanted(counted.field, "", how)
    field, hit = found[0]
    if len(found) > 1:
        return Wanted(field, "", _TWO_WAYS)
    what = hit.what.strip(' .:="“”')
    if part.endswith("?") or unsettled(hit.lead, book) or unsettled(what, book):
        return Wanted(field, "", _NOT_PLAIN)
    named = len(what) == 1 or bool(_opened(what, book))  # "it" names nothing
    return Wanted(field, what, "" if named else f"say what is {SCOPE_FIELDS[field]}", asks=True)


def _around(clause: str, book: PhraseBook) -> Wanted | None:
    """A clause that is one change whole, with its commas: "füge Retouren, Umtausch und Gutscheine hinzu"."""
    found = [(f, hit) for f in _LISTS if (hit := _match(clause, f, book, around=True)) is not None]
    if len(found) != 1 or clause.endswith("?"):
        return None
    field, hit = found[0]
    if "," not in hit.what or unsettled(hit.lead, book) or unsettled(hit.what, book):
        return None
    return Wanted(field, "; ".join(p.strip() for p in hit.what.split(",")), asks=True)


class _Hit(NamedTuple):
    """`closed`: words follow what goes or comes, so that its end is known."""

    lead: str
    what: str
    closed: bool


def _match(part: str, field: str, book: PhraseBook, *, around: bool = False) -> _Hit | None:
    """The phrase of a verb that takes most of the part: with words behind what goes or comes, where one has them.

    `around`: only phrases that enclose what goes or comes, with nothing else before them.
    """
    phrases = [p for p in book.lists[_VERBS[field]] if _may_stand_in(part.casefold(), p.split(" "))]
    bare = _without_thanks(part, book) if phrases else part
    for words in dict.fromkeys((bare, part)):  # "add a": the last word may be a courtesy in some language
        hits = [hit for phrase in phrases if (hit := _hit(words, phrase, book, around)) is not None]
        if hits:
            return max(hits, key=lambda hit: (hit.closed, -len(hit.what)))
    return None


def _hit(words: str, phrase: str, book: PhraseBook, around: bool) -> _Hit | None:
    found = _phrase(phrase).search(words)
    if found is None:
        return None
    tokens = phrase.split(" ")
    first = tokens[0].startswith(WHAT)
    lead, what = ("", _opened(found["what"], book)) if first else (words[: found.start()], found["what"])
    if not first and spaceless(found[0][:1]) and _opened(lead, book):
        return None  # no blank tells where its first word begins
    closed = first or not tokens[-1].startswith(WHAT)
    if not what.strip() or (around and (first or not closed or _opened(lead, book))):
        return None
    return _Hit(lead, what, closed)


def _without_thanks(part: str, book: PhraseBook) -> str:
    """The part without the politeness at its end: "… bitte", "…ください"."""
    tokens = tokenize(part)
    for at in range(len(tokens)):
        end = at
        while end < len(tokens):
            length = book.at(tokens, end).get("polite", (0, 0))[0] or int(tokens[end].kind == "mark")
            if not length:
                break
            end += length
        if end == len(tokens) and at:
            return part[: tokens[at].start].rstrip(" ,")
    return part


def _opened(words: str, book: PhraseBook) -> str:
    """Words without those that only lead up to what is meant: "ok, lass uns die Retouren"."""
    tokens = tokenize(words)
    at = 0
    while at < len(tokens):
        found = book.at(tokens, at)
        length = max((found[name][0] for name in _OPENS & found.keys()), default=int(tokens[at].kind == "mark"))
        if not length:
            return words[tokens[at].start :]
        at += length
    return ""


def unsettled(words: str, book: PhraseBook) -> bool:
    """Words that keep what is beside them from being a change: "maybe", "do not", "if"."""
    if not words.strip():
        return False
    if first_of(words, book.lists["unsettled"]) is not None:
        return True
    return _has(words, _DOUBTS, book)


def _has(words: str, classes: frozenset[str], book: PhraseBook) -> bool:
    tokens = tokenize(words)
    return any(not classes.isdisjoint(book.at(tokens, at)) for at in range(len(tokens)))


# -- numbers -----------------------------------------------------------------------------------------------------


def _counted(part: str, book: PhraseBook) -> Wanted | None:
    for field, name in _NAMES.items():
        if field in _LISTS or _named(book.lists[name]).search(part) is None:
            continue
        if unsettled(part, book) or part.endswith("?"):
            return Wanted(field, "", _NOT_PLAIN)
        return _number(field, part)
    return None


def _number(field: str, part: str) -> Wanted:
    number = count_in(part) if field != "complexity_tier" else tier_in(part)
    if field == "complexity_tier" and number is None:
        return Wanted(field, "", "the tier is 1 (full), 2 (standard) or 3 (incremental)")
    if number is None:
        return Wanted(field, "", f"say how many, e.g. {SCOPE_FIELDS[field]}: 3")
    if field == "surface_count" and number < 1:
        return Wanted(field, "", "there must be at least one surface")
    return Wanted(field, str(number))


def _counted_behind(because: str, book: PhraseBook) -> Iterator[str]:
    """Fields with their numbers at the end of a reason, the last one first."""
    while hit := _tail(_nouns(book)).search(because):
        yield hit[1]
        because = because[: hit.start()].rstrip()


def _fitting(wanted: Iterable[Wanted], spec: Spec) -> Iterator[Wanted]:
    """Comparators are held against the tier of the same message, where it changes (SC-3)."""
    kept = tuple(wanted)
    tier = next((int(w.to) for w in kept if w.field == "complexity_tier" and w.to), spec.lock.complexity_tier)
    for one in kept:
        few = one.field == "comparator_count" and one.to and int(one.to) < FEWEST_COMPARATORS[tier]
        yield one._replace(problem=f"tier {tier} compares at least {FEWEST_COMPARATORS[tier]}") if few else one


def _merged(wanted: Iterable[Wanted], code: tuple[str, ...]) -> Iterator[Wanted]:
    """One change a field: of a number the last word, of a list all of them."""
    by_field: dict[str, list[Wanted]] = {}
    for one in wanted:
        by_field.setdefault(one.field, []).append(one._replace(to=put_back(one.to, code)))
    for field, ones in by_field.items():
        problem = next((one.problem for one in ones if one.problem), "")
        to = "; ".join(one.to for one in ones if one.to) if field in _LISTS else ones[-1].to
        yield Wanted(field, to, problem, any(one.asks for one in ones))


# -- the reason --------------------------------------------------------------------------------------------------


def _reasoned(text: str, book: PhraseBook) -> tuple[str, str]:
    """What is wanted, and why: the first word of a reason behind it, or a reason that ends before it."""
    cut = _cut(book.lists["because"]).search(text)
    if cut is not None and cut.start():
        return text[: cut.start()], text[cut.end() :].strip(" .")
    after = _cut_after(book.lists["because_after"]).match(text)
    return (after["rest"], after["why"].strip(" ,.、")) if after is not None else (text, "")


@lru_cache(maxsize=4)
def _cut(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"[,;:、，]?\s*(?:{any_of(words)})[ :、，]*", re.IGNORECASE)


@lru_cache(maxsize=4)
def _begins(words: Sequence[str]) -> re.Pattern[str]:
    plain = [word for word in words if not word.startswith(", ")]
    return re.compile(rf"\W*(?:{any_of(plain)})[\s:,、，]*", re.IGNORECASE)


@lru_cache(maxsize=4)
def _cut_after(words: Sequence[str]) -> re.Pattern[str]:
    ends = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(
        rf"(?P<why>[^,;\n]{{3,120}}?)(?:{ends})(?:[,、，]\s*|\s+|(?<=[ぁ-ん]))(?P<rest>\S[\s\S]*)", re.IGNORECASE
    )


# -- patterns of the data ----------------------------------------------------------------------------------------


def any_of(words: Iterable[str]) -> str:
    return "|".join(_word(word) for word in sorted(words, key=len, reverse=True))


def _word(word: str) -> str:
    """As a whole word; scripts without blanks have no ends of words that could be looked for."""
    comma, bare = (r",\s*", word[2:]) if word.startswith(", ") else ("", word)
    bare = bare.replace("_", " ")
    if spaceless(bare):
        return comma + re.escape(bare)
    before = r"(?<!\w)" if bare[0].isalnum() else ""
    return comma + before + re.escape(bare) + (r"(?!\w)" if bare[-1].isalnum() else "")


@lru_cache(maxsize=16)
def _named(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?:{any_of(words)})[ :=]*", re.IGNORECASE)


def _nouns(book: PhraseBook) -> tuple[str, ...]:
    return tuple(word for field, name in _NAMES.items() if field not in _LISTS for word in book.lists[name])


@lru_cache(maxsize=4)
def _tail(nouns: Sequence[str]) -> re.Pattern[str]:
    counted = rf"(?:{any_of(nouns)})[ :=]+(?:to |is |are )?(?:\d{{1,3}}|{'|'.join(NUMBERS)})"
    return re.compile(rf"[;\n,][^\S\n]*(?:and )?({counted})[\s.]*$", re.IGNORECASE)


def _may_stand_in(where: str, tokens: Sequence[str]) -> bool:
    """Whether every word that a phrase can not do without is somewhere in the text: nearly always not."""
    needed = (token.removeprefix(WHAT) for token in tokens if not token.endswith("?"))
    return all(any(w.casefold().replace("_", " ") in where for w in part.split("|")) for part in needed if part)


@lru_cache(maxsize=512)
def _phrase(phrase: str) -> re.Pattern[str]:
    made, tokens = "", phrase.split(" ")
    for at, token in enumerate(tokens):
        optional = token.endswith("?")
        bare = token.removesuffix("?")
        if bare.startswith(WHAT):
            made += r"(?P<what>\S.*?)"
            joined = bare.removeprefix(WHAT)
            piece = "(?:" + "|".join(re.escape(word) for word in joined.split("|")) + ")" if joined else ""
            made += f"{piece}?" if optional and piece else piece
            gap = r"[^\w.!?。]{0,3}" if at + 1 < len(tokens) else ""
            made += gap
            continue
        piece = "(?:" + any_of(bare.split("|")) + r")[^\w.!?。]{0,3}"
        made += f"(?:{piece})?" if optional else piece
    begins = "^" if tokens[0].startswith(WHAT) else ""
    return re.compile(rf"{begins}{made}\W*$", re.IGNORECASE)
