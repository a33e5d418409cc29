"""Options named by their text.

    label := the whole text of an option, then an edge, a bracket or a remark

A label beats a letter ("A plain file"); a near miss ("sqllite") is only proposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.core.replies.message import Message
from bot.core.replies.reading import Slot
from bot.core.replies.value import Value, note_of

_SHORTEST: Final = 5  # letters; in a shorter word one slip makes another word
_LONGEST: Final = 62  # letters typed; the text of an option that they may be may have two fewer
_LONG_WORD: Final = 9  # letters of a text from which on two slips are forgiven
_MOST_SLIPS: Final = 2


def by_label(msg: Message, start: int, end: int, slot: Slot) -> Value | None:
    """The text of an option, whole or with a remark after it; a near miss is only proposed."""
    if not slot.labels or start >= end:
        return None
    known = slot.folded
    best: tuple[int, str] | None = None
    if msg.tokens[start].fold in known.heard:
        texts = [(a, wanted) for a, wanted in zip(slot.letters, known.texts, strict=False) if a != slot.other]
        longest = max((len(wanted) for _, wanted in texts), default=0)
        words = tuple(t.fold for t in msg.tokens[start : min(end, start + longest)])
        for letter, wanted in texts:
            for offset in (0, 1) if len(wanted) > 2 and len(wanted[0]) < 4 else (0,):
                tail = wanted[offset:]
                if tail and words[: len(tail)] == tail and (best is None or len(tail) > best[0]):
                    best = (len(tail), letter)
    if best is not None:
        after = start + best[0]
        if msg.doubts(after, end):
            return Value("tentative", letter=best[1], said=msg.words(start, end))
        if _another(msg, after, end, known.texts):
            return Value("multiple", said=msg.words(start, end))
        if after >= end or msg.is_edge(after) or msg.is_mark(after, "-(") or msg.any_at(
            ("note", "polite", "recommended"), after, end
        ):  # fmt: skip
            return _with_label_note(msg, best[1], after, end, msg.words(start, end))
        return None
    if msg.letter(start, end) and end - start > 1:
        return None
    typed = _short(msg, start, end, min(_LONGEST, known.widest + _MOST_SLIPS))
    if len(typed) < _SHORTEST:
        return None
    for letter, text in zip(slot.letters, known.joined, strict=False):
        if letter != slot.other and _near(typed, text):
            return Value("tentative", letter=letter, said=msg.words(start, end))
    return None


def label_end(msg: Message, i: int, slot: Slot) -> int:
    """Where the longest text of an option ends that stands at `i`; 0 if none does."""
    texts = slot.folded.texts
    said = tuple(token.fold for token in msg.tokens[i : i + max(map(len, texts), default=0)])
    length = max((len(text) for text in texts if text and said[: len(text)] == text), default=0)
    return i + length if length else 0


def only_label(msg: Message, start: int, end: int, slot: Slot) -> Value | None:
    """ "Only PubMed": the whole text of an option, and no more of it than that."""
    stop = msg.at("solely", start, end) if slot.labels else 0
    label = by_label(msg, stop, end, slot) if stop else None
    return label if label is not None and label.kind == "letter" and label.complete else None


def _another(msg: Message, i: int, end: int, texts: Sequence[Sequence[str]]) -> bool:
    """Whether the text of another option is joined, and nothing else: "email and website"."""
    joint = msg.any_at(("and", "or"), i, end) or (i + 1 if msg.is_mark(i, ",/&+") else 0)
    rest = tuple(t.fold for t in msg.tokens[joint:end]) if joint else ()
    return bool(rest) and any(rest == tuple(wanted) for wanted in texts)


def _short(msg: Message, start: int, end: int, most: int) -> str:
    """The words of a stretch as one, or "" where they are too many to be a slip of any text. `most`: letters."""
    if end - start > _LONGEST:
        return ""
    typed = ""
    for token in msg.tokens[start:end]:
        typed += token.fold
        if len(typed) > most:
            return ""
    return typed


def _with_label_note(msg: Message, letter: str, after: int, end: int, said: str) -> Value:
    if msg.is_mark(after, "?") and after + 1 >= end:
        return Value("tentative", letter=letter, said=said)
    while after < end and (msg.is_mark(after, ",.:;-!、。") or msg.is_break(after)):
        after += 1
    note = note_of(msg, after, end) if after < end else None
    return Value("letter", letter, note=note, said=said, complete=note is None)


def _near(typed: str, wanted: str) -> bool:
    """At most one slip (two in long words) between two short strings."""
    allowed = 1 if len(wanted) < _LONG_WORD else _MOST_SLIPS
    if typed == wanted or abs(len(typed) - len(wanted)) > allowed or len(wanted) > _LONGEST - _MOST_SLIPS:
        return False
    length = len(wanted) // (allowed + 1)  # as many slips leave one of one more parts as it is
    if not any(wanted[k * length : (k + 1) * length] in typed for k in range(allowed + 1)):
        return False
    row = list(range(len(wanted) + 1))
    for i, char in enumerate(typed, 1):
        previous, row[0] = row[0], i
        for j, other in enumerate(wanted, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (char != other))
    return row[-1] <= allowed
