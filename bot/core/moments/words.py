"""What the reader of wishes knows of languages: kinds of words, as data. All languages are read together."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

# One file of `config/times/` a language may have these keys. The value of a phrase is a number unless it says so.
LISTS: Final[Mapping[str, str]] = {
    "ask": "asks to be asked again, before or after a time: ask me, remind me",
    "stop": "wants to hear no more reminders: no reminders",
    "vague": "some time that is no moment: later, soon",
    "condition": "begins a moment that nobody can look up: when, once, as soon as",
    "explains": "after `ask`, makes it a question about something: remind me what",
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
    "plus": "after an hour, minutes added to it: et demie: 30",
    "number": "a number word: two: 2",
}
APOSTROPHES: Final = str.maketrans("’ʼ`´＇", "'''''")


def folded(text: str) -> tuple[str, list[int]]:
    """The text as phrases are compared, and for each of its characters (and its end) the place in `text`.

    Case, accents, apostrophes and the number of blanks do not matter; digits of any script are 0–9.
    """
    found: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text.translate(APOSTROPHES)):
        if char.isascii():
            parts = char.lower()
        else:
            parts = "".join(
                str(unicodedata.decimal(c)) if unicodedata.decimal(c, None) is not None else c
                for c in unicodedata.normalize("NFKD", char.casefold())
                if not unicodedata.combining(c)
            )
            if "\u1100" <= parts[:1] <= "\u11ff":
                parts = char  # Hangul stays in syllables
        if parts in (" ", "\t", "\xa0"):
            if found and found[-1] in " \n":
                continue
            parts = " "
        found += parts
        places += [at] * len(parts)
    return "".join(found), [*places, len(text)]


def spaced(char: str) -> bool:
    """A letter of a script that puts blanks between words."""
    return char.isalpha() and not ("\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\ud7af")


class TimeWords:
    """Phrases by their first character, the longest first, with what each can mean: `{"day": 1}`."""

    def __init__(self, languages: Iterable[Mapping[str, Iterable[str] | Mapping[str, int]]] = ()) -> None:
        known: dict[str, dict[str, int]] = {}
        for language in languages:
            for kind, phrases in language.items():
                values = phrases if isinstance(phrases, Mapping) else dict.fromkeys(phrases, 1)
                for phrase, value in values.items():
                    known.setdefault(folded(phrase)[0].strip(), {})[kind] = value
        self._by_first: dict[str, list[tuple[str, Mapping[str, int]]]] = {}
        for phrase in sorted(known, key=len, reverse=True):
            self._by_first.setdefault(phrase[0], []).append((phrase, known[phrase]))
        asking = [phrase for phrase, kinds in known.items() if "ask" in kinds or "stop" in kinds]
        self._first_words = frozenset(phrase.split(" ", 1)[0] for phrase in asking if spaced(phrase[0]))
        self._glued = tuple(phrase for phrase in asking if not spaced(phrase[0]))

    def may_ask(self, text: str) -> bool:
        """Whether it is worth a closer look: a phrase that asks to be asked may begin in this folded text."""
        if not self._first_words.isdisjoint("".join(c if c.isalnum() or c == "'" else " " for c in text).split()):
            return True
        return not text.isascii() and any(phrase in text for phrase in self._glued)

    def at(self, text: str, place: int) -> tuple[int, Mapping[str, int]] | None:
        """The longest phrase at this place: its end and what it can mean."""
        for phrase, kinds in self._by_first.get(text[place], ()):
            end = place + len(phrase)
            if text.startswith(phrase, place) and not (
                end < len(text) and spaced(phrase[-1]) and (spaced(text[end]) or text[end].isdigit())
            ):
                return end, kinds
        return None
