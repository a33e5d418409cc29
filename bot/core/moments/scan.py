"""A message as items: phrases with what they can mean, numbers, times of day, dates, breaks, and other words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from bot.core.moments.words import TimeWords, folded, spaced
from bot.core.patterns import regex

LONGEST: Final = 500  # characters; a longer message holds no wish worth finding, and stays what it is
BREAKS: Final = frozenset(".,;:!?\n()[]…。，、；：！？-–—=")

_CLOCK = regex(r"(\d{1,2})([:h：]|\.(?=\d\d(?![\d.])))(\d{2})(?![\d:])")
_ISO = regex(r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_DOTTED = regex(r"(\d{1,2})\.\s?(\d{1,2})\.(?:\s?(\d{4})(?!\d))?(?!\d)")
_NUMBER = regex(r"\d+")
_HALF_DAY = regex(r"([ap])\.\s?m\.")


@dataclass(frozen=True, slots=True)
class Item:
    """`kinds`: what a phrase can mean, with its value; none for other words and breaks. `start`, `end`: places."""

    start: int
    end: int
    kinds: Mapping[str, int]
    sign: str = ""  # of a break
    number: int | None = None
    clock: tuple[int, int] | None = None
    written: str = ""  # how its hour was written: "02" is no afternoon
    date: tuple[int | None, int, int] | None = None  # year, month, day

    @property
    def strange(self) -> bool:
        return not (self.kinds or self.sign or self.number is not None or self.clock or self.date)


def scan(text: str, words: TimeWords) -> list[Item]:
    """The items of a message, in order. Linear in its length for a given set of phrases."""
    return list(items_in(text, words))


def items_in(text: str, words: TimeWords) -> Iterator[Item]:
    """The same one by one, for whoever may have seen enough after a few."""
    plain, places = folded(text)
    at = 0
    while at < len(plain):
        char = plain[at]
        if char == " ":
            at += 1
            continue
        item, end = _item(plain, at, words)
        start = places[at]
        yield _placed(item, start, places[end])
        at = end


def _placed(item: Item, start: int, end: int) -> Item:
    return Item(start, end, item.kinds, item.sign, item.number, item.clock, item.written, item.date)


def _item(plain: str, at: int, words: TimeWords) -> tuple[Item, int]:
    char = plain[at]
    if char.isdigit():
        return _figures(plain, at)
    if char in "ap" and (found := _HALF_DAY.match(plain, at)):
        return Item(0, 0, {f"{found[1]}m": 1}), found.end()
    if (phrase := words.at(plain, at)) is not None:
        return Item(0, 0, phrase[1]), phrase[0]
    if char in BREAKS:
        return Item(0, 0, {}, sign=char), at + 1
    end = at + 1
    if spaced(char):
        while end < len(plain) and (spaced(plain[end]) or plain[end] in "'_"):
            end += 1
    return Item(0, 0, {}), end


def _figures(plain: str, at: int) -> tuple[Item, int]:
    if found := _ISO.match(plain, at):
        return Item(0, 0, {}, date=(int(found[1]), int(found[2]), int(found[3]))), found.end()
    if found := _DOTTED.match(plain, at):
        year = int(found[3]) if found[3] else None
        return Item(0, 0, {}, date=(year, int(found[2]), int(found[1]))), found.end()
    if found := _CLOCK.match(plain, at):
        return Item(0, 0, {}, clock=(int(found[1]), int(found[3])), written=found[1]), found.end()
    found = _NUMBER.match(plain, at)
    assert found is not None
    number = int(found[0][:7])
    return Item(0, 0, {}, number=number, written=found[0]), found.end()
