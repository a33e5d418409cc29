"""Somebody else's words, pasted (AU-3): "FW: …", "Tom wrote: …", "System: …", minutes of a meeting.

strong := forward mark | a role ("System:") | name "wrote:"     what follows is no answer of the sender
weak   := a name and a colon before an answer                   one tap says whose words they are

A heading of the sender ("Answers:", "EDIT:", "Here we go:") is made of words that the phrases know, and is none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from bot.core.patterns import regex
from bot.core.replies.reading import Proposal, Reading
from bot.core.replies.tokens import fold

if TYPE_CHECKING:
    from bot.core.replies.message import Message

_STAMP: Final = regex(r"\s*(?:\[[^\]\n]{1,40}\]|\d{1,2}:\d{2}(?::\d{2})?)?\s*[-–]?\s*")
_SAYING: Final = regex(
    r"(?![^\n:]{0,60}\b(?:i|we|you|ich|wir|je|yo|eu|io|я|ja)\b)[^\n:\d?]{1,60}\b(?:wrote|writes|said|says|schrieb|"
    r"schreibt|sagt|sagte|écrit|dit|escribió|escribe|dijo|dice|escreveu|escreve|disse|scrive|scritto|napisał|"
    r"napisała|пишет|писал|писала|написал|написала|сказал|сказала|пише|написав|viết|yazdı)\s?:",
    re.IGNORECASE,
)
_CJK_SAYING: Final = regex(r"[^\n:：\d?]{1,20}(?:写道|说|說|さん|님)\s?[:：]")
_NAME: Final = regex(r"[^\W\d_][\w.'’-]{1,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}(?: ?\([^()\n]{1,20}\))?\s?:(?=\s|$)")
_NUMBER: Final = regex(r"\d")
_ANSWER: Final = regex(r"\s*(?:[Qq#№]\s?)?\d{1,2}\s?[:.)=-]?\s?[A-Za-z]\b")
_MOST_LINES: Final = 40  # further down nobody is introduced
_QUOTE_MARKS: Final = (">", "❯")


Paste = Literal["", "all", "below", "unsure"]


def find_paste(lines: Sequence[str], marks: tuple[str, ...], roles: tuple[str, ...]) -> tuple[int, Paste]:
    """Where plainly another's words begin, and whether all is another's, or only what is below the sender's items.

    Below words that answer nothing it is left open whose they are. Behind an item of the sender's own a role is part
    of that item's words ("User: read only").
    """
    own = spoken = False
    last: int | None = None  # the last line with a number
    for n, line in enumerate(lines):
        first = line.lstrip()[:1]
        if not first or first in _QUOTE_MARKS:
            continue
        bare = line[stamp.end() :] if not line[0].isalpha() and (stamp := _STAMP.match(line)) else line
        head = fold(bare[:24]).replace(" :", ":").replace("：", ":")
        said = (_SAYING.match(bare) or _CJK_SAYING.match(bare)) if ":" in bare or "：" in bare else None
        if said or head.startswith(marks) or (not own and head.startswith(roles)):
            below = next((k for k in lines[n + 1 :] if k.strip()), "")
            leads = said is not None and not bare[said.end() :].strip()
            if leads and (not below or below.lstrip()[:1] in _QUOTE_MARKS):
                continue  # the mail client's line above the quoted prompt
            if not spoken:
                return n, "all"
            if not own:
                return n, "unsure"
            if last is None:
                last = max((k for k, later in enumerate(lines) if _NUMBER.search(later)), default=-1)
            if last > n or _NUMBER.search(bare):
                return n, "below"
        spoken = True
        own = own or bool(_NUMBER.search(line))
    return -1, ""


def names_speaker(msg: Message, reading: Reading) -> bool:
    """Whether a line begins with what looks like a name: "Tom: 1: A"; below a number, only right before an answer.

    A name alone on its line may be a heading ("Downsides:"), unless what stands below it is taken at its word.
    """
    text = msg.clean.text
    if ":" not in text:
        return False
    start, above = 0, True
    taken = bool(reading.accepted) or any(item.key != "other" for item in reading.answers.values())
    for line in text.split("\n", _MOST_LINES)[:_MOST_LINES]:
        stamp = _STAMP.match(line) if ":" in line else None
        found = _NAME.match(line, stamp.end()) if stamp is not None else None
        if found is not None:
            rest = line[found.end() :]
            counts = (taken or rest.strip()) if above else _ANSWER.match(rest)
            if counts and _is_name(msg, start, start + found.end()):
                return True
        above = above and not _NUMBER.search(line)
        start += len(line) + 1
    return False


def _is_name(msg: Message, start: int, end: int) -> bool:
    """Whether none of the words there is known to the phrases, or begins an option's text."""
    first = bisect_left(msg.tokens, start, key=lambda t: _written(msg, t.start))
    inside = range(first, bisect_left(msg.tokens, end, lo=first, key=lambda t: _written(msg, t.start)))
    words = [i for i in inside if msg.tokens[i].kind == "word"]
    return bool(words) and not any(
        msg.tokens[i].letter or msg.found[i] or msg.tokens[i].fold in msg.labelled for i in words
    )


def _written(msg: Message, offset: int) -> int:
    return offset if msg.clean.origin is None else msg.clean.origin[offset]


def as_asked(reading: Reading) -> Reading:
    """The same reading as a proposal: it may be another's, so nothing is recorded."""
    if reading.kind not in ("answers", "accept_all", "accept_all_except", "force_quit", "cancel", "put_off"):
        return reading
    proposals: tuple[Proposal, ...] = ()
    if reading.kind == "answers" and reading.answers:
        label = ", ".join(f"{n}: {item.key}" for n, item in reading.answers.items())
        proposals = (Proposal(kind="answers", answers=reading.answers, label=label),)
    return Reading(kind="needs_confirmation", proposals=proposals, errors=reading.errors, note=reading.note)
