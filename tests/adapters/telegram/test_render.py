"""Messages within Telegram's limits: whole, in order, buttons last, entities where the styles are."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from telegram import MessageEntity

from adapters.limits import length, plain
from adapters.telegram.render import (
    COLUMNS,
    COMMAND,
    MAX_BUTTONS,
    MAX_ENTITIES,
    MAX_ROW,
    MAX_TEXT,
    MAX_TOKEN,
    Part,
    columns,
    render,
)
from bot.core.effects import Block, Button, File, Message, Span
from tests.fakes.telegram.errors import Refusal
from tests.fakes.telegram.text import cut

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60) | st.sampled_from(
    [
        "😀 bold",
        "é" * 50,
        "<b>&amp;",
        "_*[x](tg://user?id=1)",
        "👩‍👩‍👧‍👦" * 9,
        "a" * 5000,
        "word " * 900,
        "\n\n",
        "\u202e",
    ]
)
SPANS = st.builds(Span, text=WORDS, style=st.sampled_from(["plain", "bold", "italic", "code"]))
BLOCKS = st.builds(
    Block,
    kind=st.sampled_from(["heading", "text", "topic", "option", "answered", "hint"]),
    spans=st.lists(SPANS, min_size=1, max_size=4).map(tuple),
    question=st.none() | st.integers(1, 9),
    gap=st.booleans(),
)
TOKENS = st.text("abc:.0123456789", min_size=1, max_size=64)
BUTTONS = st.builds(Button, token=TOKENS, label=WORDS, long=st.just("") | WORDS)
ROWS = st.lists(st.lists(BUTTONS, max_size=12).map(tuple), max_size=5).map(tuple)
MESSAGES = st.builds(Message, blocks=st.lists(BLOCKS, max_size=12).map(tuple), buttons=ROWS)


def bare(text: str) -> str:
    return re.sub(r"\s", "", text)


@given(MESSAGES)
def test_every_part_is_what_telegram_takes_and_nothing_is_lost(message: Message) -> None:
    made = render(message)
    for part in made.parts:
        assert 0 < length(part.text) <= MAX_TEXT
        assert part.text.strip()
        assert len(part.entities) <= MAX_ENTITIES
        for entity in part.entities:
            assert 0 <= entity.offset < entity.offset + entity.length <= length(part.text)
    assert bare("".join(part.text for part in made.parts)) == bare(plain(message))
    assert all(part.keyboard is None for part in made.parts[:-1])
    rows = [] if not made.parts or made.parts[-1].keyboard is None else made.parts[-1].keyboard.inline_keyboard
    assert all(0 < len(row) <= MAX_ROW for row in rows)
    shown = [button for row in rows for button in row]
    meant = [button for row in message.buttons for button in row if button.label.strip()]
    if made.parts:
        assert [b.callback_data for b in shown] == [b.token for b in meant][:MAX_BUTTONS]
    assert all(0 < len(str(b.callback_data).encode()) <= MAX_TOKEN for b in shown)


@given(MESSAGES)
def test_an_entity_covers_exactly_its_span(message: Message) -> None:
    """Offsets are UTF-16 units; Python's are not (the naive slice after an emoji is wrong)."""
    made = render(message)
    if len(made.parts) != 1:
        return
    styled = [
        span.text for block in message.blocks for span in block.spans if span.style != "plain" or block.kind == "hint"
    ]
    found = [cut(made.parts[0].text, e.offset, e.length) for e in made.parts[0].entities]
    found = [words for words in found if not COMMAND.fullmatch(words)]
    styled = [words for words in styled if not COMMAND.fullmatch(words)]
    assert found == [text for text in styled if text.strip()]


def one(*spans: Span, **block: object) -> Part:
    [part] = render(Message(blocks=(Block(spans=spans, **block),))).parts
    return part


def test_styles_are_entities_and_markup_signs_are_words() -> None:
    """CH-4, P32."""
    part = one(Span(text="😀 "), Span(text="1 · <b>", style="bold"), Span(text="_x_", style="code"))
    assert part.text == "😀 1 · <b>_x_"
    assert [(e.type, e.offset, e.length) for e in part.entities] == [
        (MessageEntity.BOLD, 3, 7),
        (MessageEntity.CODE, 10, 3),
    ]


def test_too_much_formatting_keeps_the_headings() -> None:
    """The server drops what is beyond a hundred, whatever it is."""
    bold = Span(text="x", style="bold")
    blocks = [Block(kind="option", spans=(bold,)) for _ in range(150)] + [Block(kind="topic", spans=(bold,))]
    [part] = render(Message(blocks=tuple(blocks))).parts
    assert len(part.entities) == MAX_ENTITIES
    assert part.entities[-1].offset == length(part.text) - 1


def test_a_question_is_not_torn_apart() -> None:
    """RD-8."""
    lines = [Block(spans=(Span(text=f"{q}{n} " + "é" * 380),), question=q) for q in range(5) for n in range(5)]
    parts = render(Message(blocks=tuple(lines), buttons=((Button(token="t", label="A"),),))).parts
    for part in parts:
        heads = [line[0] for line in part.text.split("\n")]
        assert all(heads.count(head) == 5 for head in heads)
    assert [part.keyboard is not None for part in parts] == [False] * (len(parts) - 1) + [True]


def test_a_long_row_is_broken_evenly() -> None:
    row = tuple(Button(token=f"t:{n}", label=str(n)) for n in range(9))
    keyboard = render(Message(blocks=(Block(spans=(Span(text="x"),)),), buttons=(row,))).parts[0].keyboard
    assert keyboard is not None
    assert [len(line) for line in keyboard.inline_keyboard] == [4, 5]


def test_a_token_that_does_not_fit_is_left_out_and_the_text_is_complete_without_it() -> None:
    """P24, CH-1: 64 bytes, not characters."""
    row = (Button(token="é" * 33, label="no"), Button(token="é" * 32, label="yes"))
    keyboard = render(Message(blocks=(Block(spans=(Span(text="x"),)),), buttons=(row,))).parts[0].keyboard
    assert keyboard is not None
    assert [b.text for line in keyboard.inline_keyboard for b in line] == ["yes"]


def test_in_privacy_mode_a_card_says_how_it_can_be_answered() -> None:
    """P36: a plain message never arrives there; a reply does."""
    card = Message(blocks=(Block(spans=(Span(text="x"),)),), buttons=((Button(token="t", label="A"),),))
    assert "reply to this message" in render(card, by_reply=True).parts[0].text
    assert "reply to this message" not in render(card.model_copy(update={"buttons": ()}), by_reply=True).parts[0].text


def test_a_message_of_files_alone_has_no_text() -> None:
    made = render(Message(blocks=(), files=(File(name="a.md", media="text/markdown", content="x"),)))
    assert (made.parts, len(made.files)) == ((), 1)


def test_the_fakes_refusals_are_worded_as_telegrams() -> None:
    assert "Bad Request" in str(Refusal(400, "Bad Request: message is too long").body)


# -- labels on a phone ---------------------------------------------------------------------------------------------


def labels(*longer: str) -> list[list[str]]:
    row = tuple(
        Button(token=f"t:{n}", label=letter, long=f"{letter} · {words}" if words else "")
        for n, (letter, words) in enumerate(zip("ABCDEFGH", longer, strict=False))
    )
    keyboard = render(Message(blocks=(Block(spans=(Span(text="x"),)),), buttons=(row,))).parts[0].keyboard
    assert keyboard is not None
    return [[button.text for button in line] for line in keyboard.inline_keyboard]


def test_labels_say_their_option_where_a_phone_has_room() -> None:
    assert labels("Yes", "No") == [["A · Yes", "B · No"]]
    assert labels("Last 5 years", "Last 10 years ✅", "") == [["A · Last 5 years"], ["B · Last 10 years ✅"], ["C"]]


def test_letters_stand_alone_where_one_label_would_be_cut() -> None:
    """Not some with words and some without: that looks like a choice of its own."""
    assert labels("Yes", "A broad and a specialist one, and free ones ✅") == [["A", "B"]]
    assert labels("你" * 16, "好") == [["A · " + "你" * 16], ["B · 好"]]  # two columns each
    assert labels("你" * 17, "好") == [["A", "B"]]


@given(st.lists(WORDS, min_size=1, max_size=8))
def test_no_label_with_words_is_wider_than_its_place(longer: list[str]) -> None:
    for line in labels(*longer):
        if any(" · " in text for text in line):
            assert len(line) <= 2
            assert all(columns(text) <= COLUMNS[len(line)] or len(text) == 1 for text in line)


def test_a_hyphenated_command_is_no_half_link() -> None:
    """RT-11: Telegram's tokens end at the hyphen, and a tap on `/ars` would send just that."""
    part = one(Span(text="😀 try /ars-lit-review, /help or a/b-c"))
    assert [(e.type, e.offset, e.length) for e in part.entities] == [(MessageEntity.CODE, 7, 15)]


def test_hints_stand_back() -> None:
    assert [e.type for e in one(Span(text="Answer in one line"), kind="hint").entities] == [MessageEntity.ITALIC]
