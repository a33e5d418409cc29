"""One record of `askfirst parse --jsonl`: a reply and its round as plain data in, the reading as plain data out.

In: `{"id", "reply", "questions", "options", "recommended", "answered"?, "labels"?}`. `options` holds one run of
letters per question, joined by commas; the last letter of each run is Other. `recommended` holds one letter per
question, `-` where there is none. Out: `{"id", "kind", "answers", "errors", "resolved", "open", "confirm"?,
"note"?}`, or `{"id", "error"}` for a record that cannot be used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.core.replies import read_reply, resolve_held
from bot.core.replies.phrases import PhraseBook
from bot.core.replies.reading import Reading, Slot

_MOST_QUESTIONS = 200


class _BadRecord(Exception):
    """Names what is wrong with a record."""


def parse_record(record: object, book: PhraseBook) -> dict[str, Any]:
    identity = record.get("id") if isinstance(record, Mapping) else None
    try:
        slots = slots_of(record)
    except _BadRecord as problem:
        return {"id": identity, "error": str(problem)}
    assert isinstance(record, Mapping)
    reading = read_reply(record["reply"], slots, book)
    held, still_open = resolve_held(reading, slots)
    out: dict[str, Any] = {
        "id": identity,
        "kind": "unparsed" if reading.kind in ("put_off", "hand_over") else reading.kind,
        "answers": _answers(reading),
        "errors": [error.model_dump() for error in reading.errors],
        "resolved": {str(number): value for number, value in held.items()},
        "open": list(still_open),
    }
    if reading.proposals:
        out["confirm"] = [_proposal(p.kind, p.numbers, p.answers, p.label) for p in reading.proposals]
    if reading.note:
        out["note"] = reading.note
    return out


def _answers(reading: Reading) -> dict[str, dict[str, str | None]]:
    out: dict[str, dict[str, str | None]] = {}
    for number, item in reading.answers.items():
        entry: dict[str, str | None] = {"key": item.key}
        if item.note is not None:
            entry["note"] = item.note
        if item.text is not None or item.key == "other":
            entry["text"] = item.text
        if item.recommended:
            entry["via"] = "recommended"
        out[str(number)] = entry
    return out


def _proposal(kind: str, numbers: tuple[int, ...], answers: Mapping[int, Any], label: str) -> dict[str, Any]:
    out: dict[str, Any] = {"kind": kind, "label": label}
    if numbers:
        out["numbers"] = list(numbers)
    if answers:
        out["answers"] = {str(n): item.key for n, item in answers.items()}
    return out


def slots_of(record: object) -> list[Slot]:
    """The questions of a record. Raises `_BadRecord` with a sentence that names the field."""
    if not isinstance(record, Mapping):
        raise _BadRecord("a record is a JSON object with at least reply, questions and options")
    if not isinstance(record.get("reply"), str):
        raise _BadRecord("reply must be a string")
    count = record.get("questions")
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= _MOST_QUESTIONS:
        raise _BadRecord(f"questions must be a whole number from 0 to {_MOST_QUESTIONS}")
    options = record.get("options")
    runs = options.split(",") if isinstance(options, str) else []
    if not isinstance(options, str) or (count and len(runs) != count):
        raise _BadRecord(f"options must be {count} runs of letters joined by commas, such as ABCD,ABC")
    recommended = record.get("recommended") or "-" * count
    if not isinstance(recommended, str) or len(recommended) != count:
        raise _BadRecord(f"recommended must be {count} letters, - where there is none")
    answered = _by_number(record.get("answered"), "answered")
    labels = _by_number(record.get("labels"), "labels")
    slots = []
    for number, (run, letter) in enumerate(zip(runs[:count], recommended, strict=True), 1):
        letters = tuple(run.strip().upper())
        if not letters or any(not "A" <= x <= "Z" for x in letters) or len(set(letters)) != len(letters):
            raise _BadRecord(f"options of question {number} must be different letters, such as ABCD")
        wanted = None if letter == "-" else letter.upper()
        if wanted is not None and wanted not in letters:
            raise _BadRecord(f"recommended {wanted} is not an option of question {number}")
        texts = labels.get(number) or {}
        held = answered.get(number)
        if not isinstance(texts, Mapping) or not (held is None or isinstance(held, str)):
            raise _BadRecord(f"labels must map letters to texts and answered must hold strings (question {number})")
        slots.append(
            Slot(
                number=number,
                letters=letters,
                other=letters[-1],
                recommended=wanted,
                labels=tuple(str(texts.get(x, "")) for x in letters) if texts else (),
                held=held,
            )
        )
    return slots


def _by_number(field: object, name: str) -> dict[int, Any]:
    if field is None:
        return {}
    if not isinstance(field, Mapping) or not all(str(key).isdigit() for key in field):
        raise _BadRecord(f"{name} must be an object with question numbers as keys")
    return {int(key): value for key, value in field.items()}
