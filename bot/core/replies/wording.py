"""What a value means for its question, and the sentence for the person where it means nothing.

Each sentence says what was wrong and the one thing to do about it (house rule 6). The echo shows the question's
topic beside it, so the sentences stay short and do not repeat the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from bot.core.replies.reading import Code, ItemError, ItemReading, Proposal, Slot
from bot.core.replies.value import Value

# Kinds of a value that have no error code of their own name.
_CODES = {
    "other": "other_without_text",
    "recommended": "needs_answer",
    "digit": "unclear",
    "letter": "out_of_range",
    "same": "reference",
    "skip": "unclear",
    "order": "unclear",
    "moment": "unclear",
    "refused": "unclear",
}
OWN = {"choice": "other", "open": "answer", "validate": "correct"}  # the key of a person's own words, by form
CANCEL = Proposal(kind="cancel", label="Cancel the request")
_LONGEST_QUOTE = 40  # characters; longer words of the person are cut in an error sentence


def item(slot: Slot, value: Value) -> ItemReading | None:
    """What a value records for a question; None if it is no answer."""
    if value.kind == "letter":
        if value.letter not in slot.letters:
            return None
        if value.letter == slot.other:
            return ItemReading(key="other", text=value.text or value.note)
        return ItemReading(key=value.letter, note=value.note)
    if value.kind == "recommended":
        if slot.recommended is None:
            return None
        return ItemReading(key=slot.recommended, note=value.note, recommended=True)
    if value.kind == "skip":
        return ItemReading(key="skip")
    if value.kind == "other":
        if slot.form == "choice" and slot.other is None:
            return None
        return ItemReading(key="other", text=value.text)
    if value.kind in ("answer", "confirm", "correct"):
        return ItemReading(key=value.kind, text=value.text)
    return None


def kept(values: Iterable[tuple[Slot, Value]]) -> tuple[Proposal, ...]:
    """What a yes would take, of words that are no certain answer."""
    told = [(slot, value) for slot, value in values if value.kept and (slot.form != "choice" or slot.other)]
    answers = {slot.number: ItemReading(key=OWN[slot.form], text=value.kept) for slot, value in told}
    offered = (Proposal(kind="answers", answers=answers, label=_label(told)),) if answers else ()
    if offered and any(value.kind == "order" for _, value in told):
        return (*offered, CANCEL)
    moments = [value.said for _, value in told if value.kind == "moment"]
    return (*offered, *map(ask_again, moments[-1:]))


def ask_again(words: str) -> Proposal:
    """What a moment may mean as well, where it may be an answer."""
    return Proposal(kind="put_off", until=words, label="Ask me again then")


def _label(told: Sequence[tuple[Slot, Value]]) -> str:
    """For the button: an order offers cancelling beside it, so both have to say what they do."""
    orders = any(value.kind == "order" for _, value in told)
    if orders or any(slot.form != "choice" for slot, _ in told):
        return "My answer"
    return "Other"


def error(slot: Slot | None, label: str, value: Value, *, last: int = 0) -> ItemError:
    """The error that a value makes. `label` is the item as shown; `last` the highest number of the round."""
    if value.kind == "unknown_question":
        known = f"the questions are 1 to {last}" if last > 1 else "there is only question 1"
        return ItemError(item=label, code="unknown_question", message=f"There is no question {label}; {known}.")
    kind = value.kind
    if kind == "letter" and slot is not None and value.letter == slot.other:
        kind = "other"
    code = cast(Code, _CODES.get(kind, kind))
    return ItemError(item=label, code=code, message=_sentence(slot, label, value, code))


def _sentence(slot: Slot | None, label: str, value: Value, code: Code) -> str:
    letters = _letters(slot)
    said = value.said if len(value.said) <= _LONGEST_QUOTE else value.said[: _LONGEST_QUOTE - 1] + "…"
    named = len(value.letter) == 1 and slot is not None and value.letter in slot.letters
    how = f"“{label}: {value.letter}”" if named and code != "conflict" else _how(slot, label)
    recommended = f"; “{label}: recommended” takes {slot.recommended}" if slot and slot.recommended else ""
    sentences: dict[Code, str] = {
        "out_of_range": f"There is no {value.letter or said} here; the options are {letters}.",
        "conflict": f"Two different answers for {label}; send the one that counts: write {how}.",
        "multiple": f"Only one option fits {label}; choose one, or write it as “{label}: other (…)”.",
        "other_without_text": f"Other needs your own words; write “{label}: other (your description)”.",
        "unsure": f"Nothing recorded for {label} yet; choose one of {letters}{recommended}.",
        "deferred": f"{label} stays open; answer it when you can: write {how}.",
        "question": f"{label} stays open until your question is answered; then choose one of {letters}.",
        "unclear": f"“{said}” could not be placed; write {how} if that is what you mean.",
        "ambiguous_agreement": f"“{said}” names no option; choose one of {letters}{recommended}.",
        "tentative": f"“{said}” sounds undecided; write {how} to settle it.",
        "needs_answer": f"{label} still needs an answer; choose one of {letters}.",
        "negative_only": f"“{said}” says what it is not; choose one of {letters}.",
        "reference": f"“{said}” points to an answer that does not fit here; write {how}.",
        "conditional": f"“{said}” depends on something; write {how} once it is settled.",
    }
    return sentences[code]


def _how(slot: Slot | None, label: str) -> str:
    """What to write where no one letter was named; never a letter that the person did not mean."""
    if slot is None:
        return "the number and one letter"
    if not slot.letters:
        return f"“{label}:” and your own words"
    return f"“{label}:” and one letter ({_letters(slot)})"


def _letters(slot: Slot | None) -> str:
    """ "A–D", or "your own words" for a question without options."""
    if slot is None or not slot.letters:
        return "your own words"
    first, last = slot.letters[0], slot.letters[-1]
    return f"{first}–{last}" if len(slot.letters) > 2 else " or ".join(slot.letters)
