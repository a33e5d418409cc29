"""Whatever is sent: no exception, nothing outside the round, and no more than linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
@settings(max_examples=600, deadline=None)
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


NASTY = [
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


@pytest.mark.parametrize("piece", NASTY)
def test_time_grows_with_the_length_and_not_faster(piece: str) -> None:
    """Four times the text may take four times the time; the bound is generous because machines are shared."""

    def took(length: int) -> float:
        text = (piece * length)[:length]
        best = 9.0
        for _ in range(3):
            start = time.process_time()
            read_reply(text, ROUNDS[5], BOOK)
            best = min(best, time.process_time() - start)
        return best

    took(512)
    short, long = took(2048), took(8192)
    assert long < max(10 * short, 0.05)
    assert took(4096) < 0.4  # seconds; 0.05 on an idle machine, see the benchmark


def test_a_hundred_thousand_characters() -> None:
    assert read_reply("1: B, 2: A. " * 8_400, four(), BOOK).kind == "unparsed"
    assert read_reply("\x00\ud800" * 50_000, four(), BOOK).kind == "unparsed"
