"""Open and validate questions: RP-11."""

from __future__ import annotations

import pytest

from bot.core.replies import read_reply, resolve_held
from bot.core.replies.reading import Slot
from tests.core.replies.shapes import BOOK

OPEN = [Slot(number=1, form="open")]
STATEMENT = [Slot(number=1, form="validate")]
MIXED = [
    Slot(number=1, form="open"),
    Slot(number=2, form="validate"),
    Slot(number=3, letters=("A", "B", "C"), other="C", recommended="A"),
]


@pytest.mark.parametrize(
    "text", ["Weekly, on Mondays: 2 copies", "B", "yes", "we ship from “Hall 3” – mostly", "all recommended shops"]
)
def test_the_whole_message_answers_the_only_open_question(text: str) -> None:
    reading = read_reply(text, OPEN, BOOK)
    assert reading.kind == "answers"
    assert (reading.answers[1].key, reading.answers[1].text) == ("answer", text)
    assert resolve_held(reading, OPEN) == ({1: "text"}, ())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("what do you mean?", "question_back"),
        ("cancel", "cancel"),
        ("enough, draft with what you have", "force_quit"),
        ("ask me tomorrow", "put_off"),
        ("@maria please", "hand_over"),
    ],
)
def test_unless_it_is_something_else(text: str, kind: str) -> None:
    reading = read_reply(text, OPEN, BOOK)
    assert (reading.kind, reading.answers) == (kind, {})


@pytest.mark.parametrize("text", ["yes", "correct", "Yes!", "oui", "да", "はい", "네", "1: yes", "好的"])
def test_yes_confirms_a_statement_at_once(text: str) -> None:
    assert read_reply(text, STATEMENT, BOOK).answers[1].key == "confirm"


@pytest.mark.parametrize("text", ["no, it is weekly", "yes but only admins", "it's monthly", "nein, monatlich"])
def test_other_words_correct_it(text: str) -> None:
    reading = read_reply(text, STATEMENT, BOOK)
    assert (reading.answers[1].key, reading.answers[1].text) == ("correct", text)


def test_with_several_only_numbered_parts_are_answers() -> None:
    reading = read_reply("1: 5 days, maybe 6\n2: yes\n3: B", MIXED, BOOK)
    assert {n: (i.key, i.text) for n, i in reading.answers.items()} == {
        1: ("answer", "5 days, maybe 6"), 2: ("confirm", None), 3: ("B", None),
    }  # fmt: skip
    assert read_reply("weekly", MIXED, BOOK).kind == "unparsed"


def test_bulk_accept_leaves_them_open() -> None:
    reading = read_reply("accept recommendations", MIXED, BOOK)
    assert resolve_held(reading, MIXED) == ({1: None, 2: None, 3: "A"}, (1, 2))


def test_skip_and_doubt() -> None:
    assert read_reply("skip 1, 3: B", MIXED, BOOK).answers[1].key == "skip"
    reading = read_reply("1: not sure, 3: B", MIXED, BOOK)
    assert [(e.item, e.code) for e in reading.errors] == [("1", "unsure")]


@pytest.mark.parametrize(
    "text",
    [
        "skip 2, 1: the board",
        "skip 2; 1: the board",
        "skip 2, 1 the board",
        "2: skip, 1: the board",
        "1: the board, skip 2",
        "skip 2\n1: the board",
        "1 the board, 2 skip",
    ],
)
def test_no_answer_is_lost_beside_a_skip(text: str) -> None:
    reading = read_reply(text, MIXED[:2], BOOK)
    assert {n: (i.key, i.text) for n, i in reading.answers.items()} == {1: ("answer", "the board"), 2: ("skip", None)}


@pytest.mark.parametrize(
    "text",
    [
        "2: yes, 1: the board",
        "2 yes, 1 the board",
        "2 is fine, 1: the board",
        "yes for 2, 1: the board",
        "2. correct\n1. the board",
    ],
)
def test_a_statement_confirmed_first(text: str) -> None:
    reading = read_reply(text, MIXED[:2], BOOK)
    assert {n: (i.key, i.text) for n, i in reading.answers.items()} == {
        1: ("answer", "the board"),
        2: ("confirm", None),
    }
