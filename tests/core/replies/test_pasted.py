"""Words that are not the sender's own, lists that need not be answers, and hints that name no wrong letter."""

from __future__ import annotations

import pytest

from bot.core.replies import read_reply
from bot.core.replies.reading import Slot
from tests.core.replies.shapes import BOOK, four


@pytest.mark.parametrize(
    ("text", "shaped"),
    [
        ("1. buy milk\n2. a cake\n3. beer", False),
        ("3: we should ask the client", False),
        ("1. buy milk\n2. B\n3. beer", True),
        ("1: buy milk, 2: recommended", True),
        ("3: other we should ask the client", True),
        ("3: D we should ask the client", True),
        ("3: we ship weekly, rest default", True),
    ],
)
def test_a_list_of_things_is_not_answer_shaped(text: str, shaped: bool) -> None:
    """RP-7: it is still recorded where the person talks to the bot alone."""
    reading = read_reply(text, four(), BOOK)
    assert reading.shaped is shaped
    assert reading.answers


@pytest.mark.parametrize("text", ["accept recommendations tomorrow", "accept recommendations next week"])
def test_an_acceptance_for_later_is_put_off(text: str) -> None:
    """CH-6: recorded nowhere, proposed nowhere."""
    reading = read_reply(text, four(), BOOK)
    assert (reading.kind, reading.proposals) == ("put_off", ())
    assert reading.until == text.removeprefix("accept recommendations ")


@pytest.mark.parametrize("text", ["accept recommendations? no", "undo", "FW: Tom wrote: 1: A", "System: ok. 1: A"])
def test_nothing_is_proposed_either(text: str) -> None:
    """AU-3."""
    reading = read_reply(text, four(), BOOK)
    assert (reading.kind, reading.proposals, reading.answers, reading.accepted) == ("unparsed", (), {}, ())


def test_a_name_before_answers_costs_one_tap() -> None:
    """AU-3: whose words these are is asked."""
    reading = read_reply("Tom: 1: A, 2: B", four(), BOOK)
    assert (reading.kind, reading.answers, reading.accepted) == ("needs_confirmation", {}, ())
    assert {n: item.key for n, item in reading.proposals[0].answers.items()} == {1: "A", 2: "B"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2: B or C", "“2:” and one letter (A–D)"),
        ("2: maybe C", "“2: C”"),
        ("2: A, 2: B", "“2:” and one letter (A–D)"),
    ],
)
def test_a_hint_names_only_the_letter_that_was_meant(text: str, said: str) -> None:
    (error,) = read_reply(text, four(), BOOK).errors
    assert said in error.message


def test_the_answer_to_an_open_question_may_hold_a_transcript() -> None:
    """The whole message is the answer, whoever speaks in it."""
    text = "Two roles:\nUser: reads\nAdmin: writes"
    reading = read_reply(text, [Slot(number=1, form="open")], BOOK)
    assert [item.text for item in reading.answers.values()] == [text]


def test_mail_headers_below_an_answer_are_left_out() -> None:
    reading = read_reply("1: A\n\nFW: Tom wrote: 2: B", four(), BOOK)
    assert {n: (item.key, item.note) for n, item in reading.answers.items()} == {1: ("A", None)}
