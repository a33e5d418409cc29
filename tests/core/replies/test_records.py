"""One record of `askfirst parse --jsonl`."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core.replies.records import parse_record
from tests.core.replies.shapes import BOOK

GOOD: dict[str, Any] = {"id": "x", "reply": "1: B", "questions": 2, "options": "ABC,AB", "recommended": "A-"}


def test_the_output_is_plain_data() -> None:
    assert parse_record(GOOD | {"extra": 1}, BOOK) == {
        "id": "x",
        "kind": "answers",
        "answers": {"1": {"key": "B"}},
        "errors": [],
        "resolved": {"1": "B", "2": None},
        "open": [2],
    }


def test_errors_are_objects_and_an_other_without_words_has_a_null_text() -> None:
    out = parse_record(GOOD | {"reply": "1: C, 2: recommended"}, BOOK)
    assert out["answers"] == {"1": {"key": "other", "text": None}}
    assert {(e["item"], e["code"]) for e in out["errors"]} == {("1", "other_without_text"), ("2", "needs_answer")}
    assert all(set(e) == {"item", "code", "message"} for e in out["errors"])


def test_extensions_of_the_reader_read_as_unparsed() -> None:
    assert parse_record(GOOD | {"reply": "ask me tomorrow"}, BOOK)["kind"] == "unparsed"
    assert parse_record(GOOD | {"reply": "@maria please"}, BOOK)["kind"] == "unparsed"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"reply": None}, "reply"),
        ({"questions": "2"}, "questions"),
        ({"questions": -1}, "questions"),
        ({"options": "ABC"}, "options"),
        ({"options": "ABC,A1"}, "question 2"),
        ({"options": "ABC,AA"}, "question 2"),
        ({"recommended": "A"}, "recommended"),
        ({"recommended": "AZ"}, "recommended Z"),
        ({"answered": {"one": "A"}}, "answered"),
        ({"labels": []}, "labels"),
    ],
)
def test_a_bad_record_names_its_field(change: dict[str, Any], word: str) -> None:
    out = parse_record(GOOD | change, BOOK)
    assert set(out) == {"id", "error"}
    assert word in out["error"]


@pytest.mark.parametrize("record", [None, [], 3, "x"])
def test_no_object_no_record(record: object) -> None:
    assert parse_record(record, BOOK)["id"] is None
