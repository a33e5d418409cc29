"""What the reader of wishes knows of languages: kinds of words, as data. All languages are read together."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from bot.core.patterns import regex

# One file of `config/times/` a language may have these keys. The value of a phrase is a number unless it says so.
LISTS: Final[Mapping[str, str]] = {
    "ask": "asks to be asked again, before or after a time: ask me, remind me",
    "stop": "wants to hear no more reminders: no reminders",
    "vague": "some time that is no moment: later, soon",
    "condition": "begins a moment that nobody can look up: when, once, as soon as",
    "explains": "after `ask`, makes it a question about something: remind me what",
    "answering": "of these fillers, what shows that the time is one to be asked at: I'll answer, no idea, the rest",
    "filler": "adds nothing: please, again, the rest",
    "and": "joins parts of a sentence: and, but",
    "matter": "before what is to be asked, a number too: about",
    "at": "before a time of day or a day: at, on",
    "in": "before a length of time: in",
    "later": "after a length of time: later, from now",
    "next": "before or after a weekday, the coming one: next",
    "am": "before noon, beside an hour: am",
    "pm": "after noon, beside an hour: pm",
    "oclock": "after an hour: o'clock, h",
    "ordinal": "between the day of a month and its name: th, of",
}
VALUES: Final[Mapping[str, str]] = {
    "day": "a day, counted from today: tomorrow: 1",
    "weekday": "a day of the week, from Monday = 1",
    "week": "a week, counted from this one: next week: 1",
    "month": "a month, counted from this one: next month: 1",
    "month_name": "a month by its name, beside a day of it: december: 12",
    "part": "a part of the day, with the hour that is meant without another: morning: 9",
    "unit": "a length of time in minutes, after a number: hours: 60",
    "span": "a whole length of time in minutes: half an hour: 30",
    "shift": "before an hour, minutes added to it: half past: 30",
    "asks_when": "in the words of a question, that a time answers it: deadline: 1; 0 = at their beginning: when: 0",
    "plus": "after an hour, minutes added to it: et demie: 30",
    "number": "a number word: two: 2",
}
APOSTROPHES: Final = str.maketrans("’ʼ`´＇", "'''''")


_LOOSE = regex(r"\t|[ \n] ")  # a blank that is another one, or none, in the folded text
_PLAIN = regex("[a-z]+")
_WORDS = regex(r"[\w']+")


def folded(text: str) -> tuple[str, Sequence[int]]:
    """The text as phrases are compared, and for each of its characters (and its end) the place in `text`.

    Case, accents, apostrophes and the number of blanks do not matter; digits of any script are 0–9.
    """
    if text.isascii() and not _LOOSE.search(text):
        return text.replace("`", "'").lower(), range(len(text) + 1)
    found: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text.translate(APOSTROPHES)):
        parts = char.lower() if char.isascii() else _parts(char)
        if parts in (" ", "\t", "\xa0"):
            if found and found[-1] in " \n":
                continue
            parts = " "
        found += parts
        places += [at] * len(parts)
    return "".join(found), [*places, len(text)]


@lru_cache(maxsize=4096)  # more than the letters that people write in
def _parts(char: str) -> str:
    parts = "".join(
        str(unicodedata.decimal(c)) if unicodedata.decimal(c, None) is not None else c
        for c in unicodedata.normalize("NFKD", char.casefold())
        if not unicodedata.combining(c)
    )
    if "\u2044" in parts:  # "1½ hours": no 11
        return f" {parts}"
    return char if "\u1100" <= parts[:1] <= "\u11ff" else parts  # Hangul stays in syllables


def spaced(char: str) -> bool:
    """A letter of a script that puts blanks between words."""
    return char.isalpha() and not ("\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\ud7af")


def letters(text: str, place: int) -> int:
    """Where the word of such a script ends that begins at this place; the place itself where none begins."""
    found = _PLAIN.match(text, place)
    end = place if found is None else found.end()
    while end < len(text) and spaced(text[end]):
        end += 1
    return end


class _Phrases:
    """Phrases of some kinds, for an exact and quick "none of them is in this text"."""

    def __init__(self, known: Mapping[str, Mapping[str, int]], kinds: frozenset[str]) -> None:
        self._all = tuple(phrase for phrase, means in known.items() if not kinds.isdisjoint(means))
        self._by_start: dict[str, list[str]] = {}  # those that a text of ASCII can hold
        for phrase in filter(str.isascii, self._all):
            self._by_start.setdefault(phrase[: letters(phrase, 0)], []).append(phrase)

    def may_stand_in(self, plain: str) -> bool:
        """Whether the letters of one of them stand in this folded text, whatever is around them."""
        if not plain.isascii():
            return any(phrase in plain for phrase in self._all)
        begun = self._by_start.keys() & {*_PLAIN.findall(plain), ""}
        return any(phrase in plain for start in begun for phrase in self._by_start[start])


def _stands(phrase: str, plain: str, *, anywhere: bool) -> bool:
    """Whether a phrase stands in a folded text as whole words; at its beginning only, unless `anywhere`."""
    place = plain.find(phrase) if anywhere else -1 + plain.startswith(phrase)
    while place >= 0:
        end = place + len(phrase)
        begun = place > 0 and spaced(phrase[0]) and spaced(plain[place - 1])
        if not begun and not (end < len(plain) and spaced(phrase[-1]) and spaced(plain[end])):
            return True
        place = plain.find(phrase, place + 1) if anywhere else -1
    return False


_ASKING: Final = frozenset(("ask", "stop"))
_DATING: Final = frozenset(("day", "weekday", "week", "month", "month_name", "unit", "span"))
_FIGURES = regex(r"\d(?:[-/]\d|\.\s?\d|[:h：]\d\d| ?[月월])")  # of a date or a time of day


class TimeWords:
    """Phrases by the word that they begin with, the longest first, with what each can mean: `{"day": 1}`.

    A phrase in a script without blanks, or one that begins with a sign, is found by its first character.
    """

    def __init__(self, languages: Iterable[Mapping[str, Iterable[str] | Mapping[str, int]]] = ()) -> None:
        known: dict[str, dict[str, int]] = {}
        self._when: dict[str, int] = {}
        for language in languages:
            for kind, phrases in language.items():
                values = phrases if isinstance(phrases, Mapping) else dict.fromkeys(phrases, 1)
                if kind == "asks_when":
                    self._when |= {folded(phrase)[0].strip(): value for phrase, value in values.items()}
                    continue
                for phrase, value in values.items():
                    known.setdefault(folded(phrase)[0].strip(), {})[kind] = value
        self._by_start: dict[str, list[tuple[str, Mapping[str, int]]]] = {}
        for phrase in sorted(known, key=len, reverse=True):
            start = phrase[: letters(phrase, 0)] or phrase[0]
            self._by_start.setdefault(start, []).append((phrase, known[phrase]))
        self._asking = _Phrases(known, _ASKING)
        self._dating = _Phrases(known, _DATING)
        asking = [phrase for phrase, kinds in known.items() if not _ASKING.isdisjoint(kinds)]
        self._first_words = frozenset(phrase.split(" ", 1)[0] for phrase in asking if spaced(phrase[0]))
        self._glued = tuple(phrase for phrase in asking if not spaced(phrase[0]))

    def may_ask(self, plain: str) -> bool:
        """Whether it is worth a closer look: a phrase that asks to be asked may be in this folded text."""
        begun = not self._first_words.isdisjoint(_WORDS.findall(plain.replace("_", " ")))
        if not begun and (plain.isascii() or not any(phrase in plain for phrase in self._glued)):
            return False
        return self._asking.may_stand_in(plain)

    def may_date(self, plain: str) -> bool:
        """Whether this folded text may name a day, or a length of time."""
        return _FIGURES.search(plain) is not None or self._dating.may_stand_in(plain)

    def asks_when(self, question: str) -> bool:
        """Whether the words of a question ask for a time: "When it is due", "Launch date"."""
        plain = folded(question)[0].strip()
        return any(_stands(phrase, plain, anywhere=bool(value)) for phrase, value in self._when.items())

    def at(self, text: str, place: int) -> tuple[int, Mapping[str, int]] | None:
        """The longest phrase at this place: its end and what it can mean."""
        for phrase, kinds in self._by_start.get(text[place : letters(text, place)] or text[place], ()):
            end = place + len(phrase)
            if text.startswith(phrase, place) and not (
                end < len(text) and spaced(phrase[-1]) and (spaced(text[end]) or text[end].isdigit())
            ):
                return end, kinds
        return None
