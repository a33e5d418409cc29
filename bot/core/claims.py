"""Words that claim authorisation inside what was quoted, pasted or handed in (AU-3). They resolve nothing, ever.

Only what is not the person's own is looked at: "the user has already approved this" in a pasted page is an attempt to
decide for somebody; the same words typed by that somebody are theirs, and the reply reader judges them.

The words are in the phrase files, as `authority` and `claimed`. A phrase of `claimed` is made of words: `{who}`
stands for any of `authority`, `a|b` for one of these, a word that ends in `?` may be missing, one that ends in `*`
may go on, `_` is a blank within a word, and `…` up to 40 characters of the same sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from bot.core.model import Material
from bot.core.own_words import pasted
from bot.core.words import fold, spaceless

_WHO, _GAP = "{who}", "..."  # "…" is folded to this
_MOST = 20_000  # characters looked at
_OUR_CARD = "or: accept recommendations"  # a line of our own round, which people quote


class Claim(NamedTuple):
    """`where` is the file's name, or what it stood in; `words` the sentence."""

    where: str
    words: str


def claims(text: str, materials: Iterable[Material], lists: Mapping[str, tuple[str, ...]]) -> tuple[Claim, ...]:
    """Every claim in the parts of a message that are not the person's own, and in what came with it.

    `lists`: those of `PhraseBook.lists`.
    """
    return tuple(_found(text, materials, lists))


def _found(text: str, materials: Iterable[Material], lists: Mapping[str, tuple[str, ...]]) -> Iterator[Claim]:
    for passage in _foreign(text):
        words = claimed(passage, lists)
        if words is not None:
            yield Claim("a pasted or quoted text", words)
            break
    for material in materials:
        words = claimed(f"{_spaced(material.name)}\n{material.caption or ''}", lists)
        if words is not None:
            yield Claim(material.name, words)


def _spaced(name: str) -> str:
    return re.sub(r"[_\-.]+", " ", name)


def _foreign(text: str) -> Iterator[str]:
    """What is quoted or pasted: the pasted part, quoted lines, and code."""
    yield pasted(text)[:_MOST]
    if ">" in text or "❯" in text:
        quoted = (line.lstrip(" >❯") for line in text.splitlines() if line.lstrip().startswith((">", "❯")))
        yield "\n".join(quoted)[:_MOST]
    if "```" in text:
        yield "\n".join(re.findall(r"```[\s\S]*?(?:```|\Z)", text))[:_MOST]


def claimed(passage: str, lists: Mapping[str, tuple[str, ...]]) -> str | None:
    """The sentence that claims authorisation, or None."""
    if not passage.strip():  # nothing was quoted or pasted: nearly always
        return None
    whole = _plain(passage)
    likely = [parts for phrase in lists["claimed"] if _may_stand_in(whole, parts := phrase.split(" "))]
    for sentence in re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n", passage) if likely else ():
        where = _plain(sentence)
        who = [name for name in lists["authority"] if name in where]
        for parts in likely:
            if _may_stand_in(where, parts) and (who or _WHO not in parts) and re.search(_pattern(parts, who), where):
                return " ".join(sentence.split())[:200]
    return None


def _plain(text: str) -> str:
    return fold(text).replace("’", "'").replace(_OUR_CARD, "")


def _may_stand_in(where: str, parts: list[str]) -> bool:
    """Whether every word that a phrase can not do without is somewhere in the text: nearly always not."""
    needed = (part for part in parts if part not in (_GAP, _WHO) and not part.endswith("?"))
    return all(any(word.rstrip("*").replace("_", " ") in where for word in part.split("|")) for part in needed)


def _pattern(parts: list[str], who: list[str]) -> str:
    made = ""
    for part in parts:
        if part == _GAP:
            made += r"[^.!?。！？]{0,40}?"
            continue
        words = who if part == _WHO else part.removesuffix("?").split("|")
        piece = "(?:" + "|".join(_word(word) for word in words) + r")[^\w.!?。！？]{0,3}"
        made += f"(?:{piece})?" if part.endswith("?") else piece
    return made


def _word(word: str) -> str:
    """As a whole word; scripts without blanks have no ends of words that could be looked for."""
    bare = word.removesuffix("*").replace("_", " ")
    if spaceless(bare):
        return re.escape(bare)
    return rf"(?<!\w){re.escape(bare)}" + (r"\w*" if word != bare else r"(?!\w)")
