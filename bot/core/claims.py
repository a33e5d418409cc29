"""Words that claim authorisation inside what was quoted, pasted or handed in (AU-3). They resolve nothing, ever.

Only what is not the person's own is looked at: "the user has already approved this" in a pasted page is an attempt to
decide for somebody; the same words typed by that somebody are theirs, and the reply reader judges them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from bot.core.model import Material
from bot.core.own_words import own_words
from bot.core.patterns import regex
from bot.core.words import fold

_WHO = (
    r"(?:the )?(?:user|users|customer|client|owner|requester|product owner|pm|manager|lead|team|human|author"
    r"|stakeholders?)"
)
_CLAIMS: Final = tuple(
    regex(pattern)
    for pattern in (
        (
            rf"\b{_WHO} (?:has|have|had)?\s?(?:already )?"
            r"(?:approved|confirmed|accepted|authori[sz]ed|signed off|agreed)\b"
        ),
        r"\b(?:already|pre) ?-?(?:approved|authori[sz]ed|confirmed)\b",
        r"\b(?:approval|authori[sz]ation|consent) (?:was|is|has been) (?:already )?(?:given|granted)\b",
        (
            r"\b(?:do not|don't|no need to|never) ask "
            r"(?:the user|the person|them|me|us|again|questions|any|for|anything|further)\b"
        ),
        r"\b(?:skip|bypass) (?:the |all |any )?(?:questions|intake|clarifications?|confirmation|gates?|round)\b",
        r"(?<!or: )\b(?:accept|take|apply|use) (?:all )?(?:the )?(?:recommendations|recommended options|defaults)\b",
        (
            r"\b(?:ignore|disregard) (?:all |any )?(?:the )?(?:previous|prior|above|earlier) "
            r"(?:instructions|rules|questions)\b"
        ),
        (
            r"\b(?:treat|consider|mark) (?:this|it|everything|all questions|them) as "
            r"(?:approved|answered|confirmed|resolved)\b"
        ),
    )
)
_MOST = 20_000  # characters looked at

_NAME = r"@?[^\W\d_][\w.'’-]{0,30}"
_SAYS = (
    r"said|says|say|wrote|writes|texted|texts|answered|replied|told (?:me|us)|tells (?:me|us)"
    r"|sagte?|schreibt|schrieb|meinte?|a dit|dit|écrit|dice|dijo|escribe|escribió|diz|disse|escreveu"
    r"|сказал[аи]?|говорит|написал[аи]?|пишет"
)
# "Bo said: …", "> Bo: …" within a line: what follows are Bo's words.
_REPORTED: Final = regex(
    rf"(?P<who>{_NAME}(?: {_NAME}){{0,2}})(?::|,?\s+(?:{_SAYS})\b)[\s:,>]*(?:(?:that|to|please|just)\s+)*"
    r"[\"“«„‘'`]*(?P<words>[^\n\"”»“]{2,200})",
    re.IGNORECASE,
)
# Without it nothing in a line is reported: a name, which holds a letter, and a colon; or a word of saying.
_MAY_REPORT: Final = regex(rf"[^\W\d_][\w.'’-]{{0,30}}:|\s(?:{_SAYS})\b", re.IGNORECASE)
_ONESELF = frozenset(("i", "me", "we", "us", "answer", "my answer", "reply", "my reply", "other", "or"))


class Claim(NamedTuple):
    """`where` is the file's name, or what it stood in; `words` the sentence."""

    where: str
    words: str


def claims(text: str, materials: Iterable[Material] = ()) -> tuple[Claim, ...]:
    """Every claim in the parts of a message that are not the person's own, and in what came with it."""
    return tuple(_found(text, materials))


def _found(text: str, materials: Iterable[Material]) -> Iterator[Claim]:
    for passage in _foreign(text):
        words = claimed(passage)
        if words is not None:
            yield Claim("a pasted or quoted text", words)
            break
    for material in materials:
        words = claimed(f"{_spaced(material.name)}\n{material.caption or ''}")
        if words is not None:
            yield Claim(material.name, words)


def _spaced(name: str) -> str:
    return re.sub(r"[_\-.]+", " ", name)


def _foreign(text: str) -> Iterator[str]:
    """What is quoted or pasted: the pasted part, quoted lines, and code."""
    yield own_words(text).pasted[:_MOST]
    if ">" in text or "❯" in text:
        quoted = (line.lstrip(" >❯") for line in text.splitlines() if line.lstrip().startswith((">", "❯")))
        yield "\n".join(quoted)[:_MOST]
    if "```" in text:
        yield "\n".join(re.findall(r"```[\s\S]*?(?:```|\Z)", text))[:_MOST]


def spoken(text: str) -> Iterator[str]:
    """Words in a message that it says are somebody else's: quoted lines, and what it tells that somebody has said.

    The reply reader judges whether they accept anything.
    """
    for line in text[:_MOST].splitlines():
        bare = line.lstrip(" >❯")
        if line.lstrip().startswith((">", "❯")):
            yield bare
        if not _MAY_REPORT.search(bare):
            continue
        for hit in _REPORTED.finditer(bare):
            who = re.sub(rf"\s+(?:{_SAYS})$", "", hit["who"].casefold())
            if who not in _ONESELF:
                yield hit["words"].strip(" .…!)’'`")


def claimed(passage: str) -> str | None:
    """The sentence that claims authorisation, or None."""
    if not passage.strip():  # nothing was quoted or pasted: nearly always
        return None
    for sentence in re.split(r"(?<=[.!?。！？])\s+|\n", passage):
        if any(pattern.search(fold(sentence)) for pattern in _CLAIMS):
            return " ".join(sentence.split())[:200]
    return None
