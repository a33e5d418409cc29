"""A message as items: phrases with what they can mean, numbers, times of day, dates, breaks, and other words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from bot.core.moments.dates import named, numbered
from bot.core.moments.words import TimeWords, folded, letters, spaced
from bot.core.patterns import regex

LONGEST: Final = 500  # characters; a longer message holds no wish worth finding, and stays what it is
BREAKS: Final = frozenset(".,;:!?\n()[]…。，、；：！？-–—=")

_CLOCK = regex(r"(\d{1,2})([:h：]|\.(?=\d\d(?![\d.])))(\d{2})(?![\d:])")
_PART = regex(r"(?:(\d{1,3}) {1,2})?([13])[/\u2044]([24]) ?(?=[^\W\d])")  # "1/2 hour", "1 1/2h"
_NUMBER = regex(r"\d+")
_HALF_DAY = regex(r"([ap])\.\s?m\.")


class Item(NamedTuple):
    """`kinds`: what a phrase can mean, with its value; none for other words and breaks. `start`, `end`: places."""

    start: int
    end: int
    kinds: Mapping[str, int]
    sign: str = ""  # of a break
    number: int | None = None
    clock: tuple[int, int] | None = None
    written: str = ""  # how its hour was written: "02" is no afternoon
    date: tuple[int | None, int, int] | None = None  # year, month, day
    either: bool = False  # its day and month may be meant the other way round: 12/3
    slashed: bool = False  # two numbers and a slash: alone, these may be anything

    @property
    def strange(self) -> bool:
        return not (self.kinds or self.sign or self.number is not None or self.clock or self.date)


def scan(text: str, words: TimeWords) -> list[Item]:
    """The items of a message, in order. Linear in its length for a given set of phrases."""
    return list(items_in(*folded(text), words))


def items_in(plain: str, places: Sequence[int], words: TimeWords) -> Iterator[Item]:
    """The same of a text that is folded already, one by one, for whoever may have seen enough after a few."""
    at = 0
    while at < len(plain):
        if plain[at] == " ":
            at += 1
            continue
        item, end = _item(plain, at, words)
        yield item._replace(start=places[at], end=places[end])
        at = end


_NOTHING: Final[Mapping[str, int]] = {}
_OTHER: Final = Item(0, 0, _NOTHING)


def _item(plain: str, at: int, words: TimeWords) -> tuple[Item, int]:
    char = plain[at]
    if char.isdecimal():
        return _figures(plain, at, words)
    if char in "ap" and (found := _HALF_DAY.match(plain, at)):
        return Item(0, 0, {f"{found[1]}m": 1}), found.end()
    if (phrase := words.at(plain, at)) is not None:
        end, kinds = phrase
        if "month_name" in kinds and (day := named(plain, end, kinds["month_name"], words)) is not None:
            return Item(0, 0, _NOTHING, date=day.date), day.end
        return Item(0, 0, kinds), end
    if char in BREAKS:
        return Item(0, 0, _NOTHING, sign=char), at + 1
    end = at + 1
    if spaced(char):
        while (ahead := letters(plain, end)) > end or plain[end : end + 1] in ("'", "_"):
            end = max(ahead, end + 1)
    return _OTHER, end


def _length(plain: str, part: re.Match[str], words: TimeWords) -> tuple[Item, int] | None:
    """ "1/2 hour" as a whole length of time; None where no unit follows: "1/2" alone is a date, or two questions."""
    found = words.at(plain, part.end())
    unit = found and (found[1].get("unit") or found[1].get("span"))  # "1/2 an hour"
    if not found or not unit:
        return None
    quarters = 4 * int(part[1] or 0) + int(part[2]) * 4 // int(part[3])
    return Item(0, 0, {"span": quarters * unit // 4}), found[0]


def _figures(plain: str, at: int, words: TimeWords) -> tuple[Item, int]:
    if (part := _PART.match(plain, at)) and (length := _length(plain, part, words)) is not None:
        return length
    if (day := numbered(plain, at, words)) is not None:
        return Item(0, 0, _NOTHING, date=day.date, either=day.either, slashed=day.slashed), day.end
    if found := _CLOCK.match(plain, at):
        return Item(0, 0, _NOTHING, clock=(int(found[1]), int(found[3])), written=found[1]), found.end()
    found = _NUMBER.match(plain, at)
    assert found is not None
    number = int(found[0][:7])
    return Item(0, 0, _NOTHING, number=number, written=found[0]), found.end()
