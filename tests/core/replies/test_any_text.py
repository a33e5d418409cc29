"""Whatever is sent: no exception, nothing outside the round, and no more than linear time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.replies import NASTY, few, many
from bot.core.replies import read_reply, resolve_held
from bot.core.replies.reading import Slot
from tests.core.replies.shapes import BOOK, four

ROUNDS = [
    four(),
    [Slot(number=1, letters=("A", "B", "C"), other="C", labels=("Yes", "No", "Other"))],
    [Slot(number=1, form="open"), Slot(number=2, form="validate"), four()[2]],
    [Slot(number=1, form="open")],
    [Slot(number=1, form="validate", held="text"), four()[1].model_copy(update={"held": "B"})],
    [Slot(number=n, letters=tuple("ABCDE"), other="E", recommended="A") for n in range(1, 13)],
    [],
]
_WORDS = (
    "1 2 3 4 5 12 A B C D E a b : . ) ( - – = -> , ; / | 、 。 ? ! ~ * ` > y e + & 👍 😀 1️⃣ ① А Б В Γ ב ٣ "
    "all except rest accept recommended defaults skip yes no ok not for and to if change q1 Q câu 第 题 1번 "
    "問 全部 推荐 other same first second one be two see <@U1> @bob &amp; <http://a.b|c> C:\\x 10,000 3.1a "
    "ii) cancel enough stop maybe discuss both none a.m. 1-3 everything tomorrow \u200b"
)
PIECES = [
    *_WORDS.split(),
    *(
        "\n",
        "\n\n",
        "\x00",
        "\ud800",
        "ask me",
        "the rest",
        "for all",
        "see above",
        "(your description)",
        "> 1. x?\n",
    ),
]

texts = st.one_of(
    st.text(st.characters(), max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=25).flatmap(
        lambda parts: st.sampled_from((" ", "", ", ", "\n")).map(lambda joint: joint.join(parts))
    ),
)


@given(texts, st.sampled_from(ROUNDS), st.booleans())
@settings(max_examples=600)
def test_any_text_gives_a_reading_within_the_round(text: str, slots: list[Slot], decoded: bool) -> None:
    reading = read_reply(text, slots, BOOK, decoded=decoded)
    by_number = {slot.number: slot for slot in slots}
    for number, item in reading.answers.items():
        slot = by_number[number]
        allowed = slot.letters if slot.form == "choice" else ("answer", "confirm", "correct")
        assert item.key in (*allowed, "other", "skip")
    for number in reading.accepted:
        assert by_number[number].recommended is not None
        assert by_number[number].held is None
        assert number not in reading.answers
    if reading.kind in ("unparsed", "needs_confirmation", "question_back", "cancel", "put_off", "hand_over"):
        assert not reading.answers
        assert not reading.accepted
    held, still_open = resolve_held(reading, slots)
    assert set(held) == set(by_number)
    assert set(still_open) <= {n for n, value in held.items() if value is None}
    assert read_reply(text, slots, BOOK, decoded=decoded) == reading


PIECES_REPEATED = [
    *NASTY.values(),
    *(
        "1a",
        "(",
        "1",
        "x",
        "a ",
        ",",
        "👍",
        "1: B, ",
        "accept ",
        "~",
        "*",
        "_",
        "`",
        "<",
        "&",
        "1-",
        "B for ",
        "skip ",
    ),
    *("yes ", "第1题", "if ", "1,", "a@", "\n", "not A ", "C:\\", "😀1", "Ａ１", "1 and ", "> 1. a\n", "? ", "A+"),
    *("recommended except ", "I think B ", "1. yes ", "(A", "A(", "same as ", '"', "“", "ask me ", "maybe "),
    *("lets go with ", "cancel ", "B, ", "draft it ", "@a ", "1. see above\n", "rest "),
]


MOST_LINES = 480  # of Python for one character: with them 4,096 stay well below the 50 ms of the benchmark
HEADS = ["1-10: ", "1\n", "accept all, ", "except ", "Tom: "]


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python `work` runs, each round of a loop again: the same on any machine."""
    count = 0

    def trace(_frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def work_on(piece: str, head: str, length: int, slots: list[Slot]) -> int:
    return lines_run(lambda: read_reply((head + piece * length)[:length], slots, BOOK))


@pytest.mark.parametrize("slots", [few(), many()], ids=["three", "ten"])
@pytest.mark.parametrize("piece", PIECES_REPEATED)
def test_work_grows_with_the_length_and_not_faster(piece: str, slots: list[Slot]) -> None:
    """RP: four times the text is at most four times the work, and never much for one character."""
    short, long = work_on(piece, "", 256, slots), work_on(piece, "", 1024, slots)
    assert long < 4.2 * short + 2_000
    assert long < 1024 * MOST_LINES


SLOWEST = list(NASTY.values())[-10:]


@pytest.mark.parametrize("piece", SLOWEST)
def test_the_slowest_messages_known_stay_linear_up_to_the_longest_message(piece: str) -> None:
    """RP: the ten slowest repeats that a search found, 4,096 characters beside 1,024."""
    short, long = work_on(piece, "", 1024, many()), work_on(piece, "", 4096, many())
    assert long < 4.2 * short
    assert long < 4096 * MOST_LINES


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("piece", SLOWEST)
def test_no_beginning_makes_them_worse(piece: str, head: str) -> None:
    """RP: behind an item, a range of items, an acceptance, a name …"""
    short, long = work_on(piece, head, 320, many()), work_on(piece, head, 960, many())
    assert long < 3.6 * short + 4_000  # nine times the work if it grew with the square
    assert long < 960 * MOST_LINES + 20_000


@pytest.mark.parametrize("text", ["1 n/a, 2\n1a: B, 1b: C", "3a. a\n3b. a\n3c, take exit 3 B then 2 A"])
def test_several_sub_answers_beside_an_answer(text: str) -> None:
    """RP-6: two numbers of another tool that contradict the item: nothing is taken, and nothing raised."""
    reading = read_reply(text, four(), BOOK)
    assert not reading.answers
    assert {error.code for error in reading.errors} >= {"unclear"}


def test_a_hundred_thousand_characters() -> None:
    assert read_reply("1: B, 2: A. " * 8_400, four(), BOOK).kind == "unparsed"
    assert read_reply("\x00\ud800" * 50_000, four(), BOOK).kind == "unparsed"
