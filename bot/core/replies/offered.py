"""A few words that may be meant for a question: offered as its own answer, never taken without a yes.

    words := number words | words "for" number | words (with one question open)

The first two stand for the question with that number; "2 people will come" counts people as well, which only the
person can tell.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from bot.core.replies import wording
from bot.core.replies.labels import by_label, only_label
from bot.core.replies.message import Message
from bot.core.replies.own import aside
from bot.core.replies.reading import ItemReading, Proposal, Reading, Slot

_FEW_WORDS: Final = 5
_MOST: Final = 8  # tokens behind a number; more is a sentence that counts something
_COUNTS: Final = (
    "unit", "item", "suffix", "for", "and", "or", "to", "copula", "question", "self", "speaker", "consult", "later",
    "alternative", "both", "none",
)  # fmt: skip


def own_words(msg: Message) -> Reading | None:
    """Free text with one question open."""
    if len(msg.open) != 1 or msg.open[0].form != "choice" or msg.open[0].other is None:
        return None
    spoken = sum(token.kind in ("word", "char", "opaque") for token in msg.tokens)
    if spoken < 3 or msg.any_at(("done", "polite", "discuss"), msg.skip_decoration(0, msg.count)):
        return None
    if aside(msg, msg.skip_decoration(0, msg.count), msg.count):
        return None  # offering "I'd have to check" as the answer helps nobody
    return _offer({msg.open[0].number: ItemReading(key="other", text=msg.words(0, msg.count))}, "Other")


def words_for(msg: Message) -> Reading | None:
    """ "Weekly for 1": a few words for one question by its number."""
    end = _without_end(msg)
    number = msg.tokens[end - 1].value
    slot = msg.by_number.get(number)
    start = msg.skip_decoration(0, end)
    joint = next((i for i in range(max(start + 1, end - 3), end - 1) if msg.at("said_for", i) == end - 1), 0)
    if not joint or slot is None or slot.form != "choice" or slot.other is None or joint - start > _FEW_WORDS:
        return None
    if any(msg.is_edge(i) or msg.tokens[i].kind == "num" for i in range(start, joint)) or aside(msg, start, joint):
        return None
    if msg.any_at(("done", "discuss", "self", "speaker", "note", "negate"), start):
        return None  # "I am waiting for 1"
    return _offer({number: ItemReading(key="other", text=msg.words(start, joint))}, "Other")


def numbered_words(msg: Message) -> Reading | None:
    """ "2 only pubmed", "1 the board 2 pubmed + ieee": numbers of open questions, each with a few words, and no sign
    that binds them."""
    end = _without_end(msg)
    at = msg.skip_decoration(0, end)
    begins = [i for i in msg.numbers_in(at, end) if msg.tokens[i].value in msg.by_number and not msg.glued(i)]
    if not begins or begins[0] != at or "?" in msg.clean.norm or len(msg.lines) > len(begins):
        return None
    answers: dict[int, ItemReading] = {}
    for i, stop in zip(begins, (*begins[1:], end), strict=True):
        slot = msg.by_number[msg.tokens[i].value]
        item = _said(msg, i + 1, stop, slot)
        if item is None or slot.held is not None or slot.number <= max(answers, default=0):
            return None
        answers[slot.number] = item
    return _offer(answers, "My answer")


def behind_comma(msg: Message, taken: Container[int]) -> tuple[Proposal, ...]:
    """ "1: B, 2 pubmed + ieee": kept as a note, and offered for the question with that number, where it asks for
    words or has an option of that text."""
    answers: dict[int, ItemReading] = {}
    for i in msg.numeric:
        slot = msg.by_number.get(msg.tokens[i].value)
        if slot is None or slot.held is not None or slot.number in taken or not msg.is_mark(i - 1, ",;"):
            continue
        stop = next((k for k in range(i, min(msg.count, i + _MOST + 2)) if msg.is_edge(k)), msg.count)
        item = _said(msg, i + 1, stop, slot)
        if item is not None and item.key != "other":
            answers[slot.number] = item
    return (Proposal(kind="answers", answers=answers, label="My answer"),) if answers else ()


def _said(msg: Message, start: int, end: int, slot: Slot) -> ItemReading | None:
    """The words behind a number as an answer; None where they count something, or are about answering."""
    while end > start and msg.is_mark(end - 1, ",;"):
        end -= 1
    first = msg.tokens[start] if start < end else None
    if first is None or end - start > _MOST or first.kind not in ("word", "char") or not first.spaced:
        return None
    if (
        (slot.form == "choice" and slot.other is None)
        or msg.letters_in(start, end)
        or msg.any_at(_COUNTS, start, end)
    ):
        return None
    if any(msg.is_mark(i, ".!:;") or msg.is_break(i) for i in range(start, end)) or aside(msg, start, end):
        return None
    if any(msg.tokens[i].value == slot.number + 1 for i in msg.numbers_in(start, end)):
        return None  # of a longer round
    if any(msg.at("theirs", i) == end for i in msg.places("theirs", start, end)):
        return None  # "2 Karin decides"
    label = by_label(msg, start, end, slot) or only_label(msg, start, end, slot)
    if label is not None and label.letter in slot.letters and label.kind in ("letter", "tentative"):
        return ItemReading(key=label.letter, note=label.note)
    return ItemReading(key=wording.OWN[slot.form], text=msg.words(start, end))


def _without_end(msg: Message) -> int:
    """Where the words end: a full stop and thanks are none."""
    end = msg.count
    while end > 1 and (msg.is_mark(end - 1, ".!") or (end > 2 and msg.at("polite", end - 1) == end)):
        end -= 1
    return end


def _offer(answers: dict[int, ItemReading], label: str) -> Reading:
    return Reading(kind="needs_confirmation", proposals=(Proposal(kind="answers", answers=answers, label=label),))
