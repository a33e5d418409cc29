"""Words that a message tells somebody else has said: "Bo said: …", "Bo: …", "ボーさんが…と言っていました" (AU-3).

The words are in the phrase files: `says` stands between a name and what its bearer has said, `told_of` is a phrase
where it stands otherwise, `oneself` is nobody else. In such a phrase `{who}` is a name and `{words}` what was said,
each with what may be joined to it; what ends it may go on where it ends in `*`, and `_` is a blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from bot.core.patterns import regex

_WHO, _TOLD = "{who}", "{words}"
_MOST = 20_000  # characters looked at
_SIGNS = r"\u0900-\u0903\u093a-\u094f\u0962\u0963\u200c"  # belong to letters, and are none
_NAME = rf"@?[^\W\d_][\w.'’{_SIGNS}-]{{0,30}}"
_A_COLON = regex(rf"[^\W\d_][\w.'’{_SIGNS}-]{{0,30}}[:：]")


class Reported(NamedTuple):
    """`who` in lower case; `said` False: a colon alone tells that they are that person's words."""

    who: str
    words: str
    said: bool


def spoken(text: str, lists: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Words in a message that it says are somebody else's: quoted lines, and what it tells that somebody has said.

    The reply reader judges whether they accept anything.
    """
    for line in text[:_MOST].splitlines():
        if line.lstrip().startswith((">", "❯")):
            yield line.lstrip(" >❯")
        for told in reported(line, lists):
            yield told.words


def reported(text: str, lists: Mapping[str, tuple[str, ...]]) -> Iterator[Reported]:
    """What a message tells that somebody else has said. `lists`: those of `PhraseBook.lists`."""
    says, told = lists["says"], lists["told_of"]
    for line in text[:_MOST].splitlines():
        if not _may_report(line, says, told):  # nearly always
            continue
        bare, oneself = line.lstrip(" >❯"), frozenset(lists["oneself"])
        for pattern in _reporting(says):
            for hit in pattern.finditer(bare):
                named = hit["who"].casefold()
                who = _behind_a_name(says).sub("", named)
                if who not in oneself:
                    said = who != named or hit["verb"] is not None
                    yield Reported(who, hit["words"].strip(_AROUND), said)
        for phrase in told:
            other = _told(phrase).search(bare)
            if other is not None and other["who"].casefold() not in oneself:
                yield Reported(other["who"].casefold(), other["words"].strip(_AROUND), said=True)


def _may_report(line: str, says: tuple[str, ...], told: tuple[str, ...]) -> bool:
    if _A_COLON.search(line) is not None:
        return True
    words, joined = _signs(says, told)
    small = line.lower()
    if not words.isdisjoint(small.replace(",", " ").split()):
        return True
    return not small.isascii() and any(sign in small for sign in joined)


_AROUND: Final = " .…!)’'`"


def _joined(word: str) -> bool:
    """Whether no blanks stand around it: Han and kana (`words.spaceless` takes 2 ms when it is first asked)."""
    return any("\u3040" <= sign <= "\u9fff" for sign in word)


def _apart(says: Iterable[str]) -> tuple[str, str]:
    """Words of saying as alternatives: those that blanks set off, and those of scripts without blanks."""
    longest = sorted((word for word in says), key=len, reverse=True)
    return (
        "|".join(re.escape(word) for word in longest if not _joined(word)),
        "|".join(re.escape(word) for word in longest if _joined(word)) or "(?!)",
    )


@lru_cache(maxsize=2)
def _signs(says: tuple[str, ...], told: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Without one of these, or a colon behind a name, nothing is reported: a word, or what stands within one."""
    ends = [word.rstrip("*").replace("_", " ") for phrase in told for word in phrase.split(" ")[-1].split("|")]
    words = frozenset(max(word.split(" "), key=len) for word in (*says, *ends) if not _joined(word))
    return words, tuple(word for word in (*says, *ends) if _joined(word) or (word in ends and not word.isascii()))


@lru_cache(maxsize=2)
def _reporting(says: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    spaced, joined = _apart(says)
    behind = r"[\s:：,，、>]*(?:(?:that|to|please|just)\s+)*[\"“«„‘'`「『]*(?P<words>[^\n\"”»“」』]{2,200})"
    return (
        re.compile(
            rf"(?P<who>{_NAME}(?: {_NAME}){{0,2}})(?:[:：]|,?\s+(?P<verb>{spaced})(?!\w)){behind}", re.IGNORECASE
        ),
        re.compile(rf"(?P<who>@?[^\W\d_][\w.'’-]{{0,11}}?)(?P<verb>{joined}){behind}", re.IGNORECASE),
    )


@lru_cache(maxsize=2)
def _behind_a_name(says: tuple[str, ...]) -> re.Pattern[str]:
    spaced, joined = _apart(says)
    return re.compile(rf"(?:\s+(?:{spaced})|(?:{joined}))$", re.IGNORECASE)


@lru_cache(maxsize=64)
def _told(phrase: str) -> re.Pattern[str]:
    """`{who}` and `{words}`, each with what may be joined to it; what ends it may go on where it ends in `*`."""
    made = ""
    for part in phrase.split(" "):
        joined = part.removeprefix(_WHO).removeprefix(_TOLD)
        alternatives = "|".join(re.escape(w.rstrip("*").replace("_", " ")) for w in joined.split("|"))
        if part.startswith(_WHO):
            apart = rf"(?:{alternatives})[\s、，,]*" if joined else r"\s+"
            made += rf"^\W*(?P<who>[^\W\d_][^\s、，,.。はがも]{{0,20}}?){apart}"
        elif part.startswith(_TOLD):
            made += r"(?P<words>.{2,200}?)" + (f"(?:{alternatives})" if joined else "") + r"[\s、，,」』\"”]*"
        else:
            made += f"(?:{alternatives})"
    return re.compile(made, re.IGNORECASE)
