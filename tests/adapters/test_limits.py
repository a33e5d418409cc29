"""Splitting: nothing is lost, nothing is torn, every part fits (RD-8, CH-4)."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from adapters.limits import block_text, length, plain, split
from bot.core.effects import Block, Button, File, Message, Span

TEXT = st.text(alphabet=st.sampled_from("ab 😀é\n中👍🏽\u200d\u0301"), min_size=1, max_size=60)
SPANS = st.lists(st.builds(Span, text=TEXT, style=st.sampled_from(["plain", "bold"])), min_size=1, max_size=3)
BLOCKS = st.builds(
    Block,
    kind=st.sampled_from(["heading", "text", "topic", "option"]),
    spans=SPANS.map(tuple),
    question=st.sampled_from([None, 1, 1, 2]),
    gap=st.booleans(),
)
MESSAGES = st.builds(
    Message,
    blocks=st.lists(BLOCKS, min_size=1, max_size=8).map(tuple),
    buttons=st.just(((Button(token="t", label="A"),),)),
    files=st.just((File(name="f", media="text/plain", content="x"),)),
)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def block(text: str, **keys) -> Block:
    return Block(spans=(Span(text=text),), **keys)


@given(MESSAGES, st.integers(8, 200), st.sampled_from(["utf16", "characters"]))
def test_every_part_fits_and_nothing_is_lost(message: Message, limit: int, unit) -> None:
    parts = split(message, limit, unit)
    assert all(length(plain(part), unit) <= limit for part in parts)
    assert squeezed("".join(plain(part) for part in parts)) == squeezed(plain(message))
    assert all(part.buttons == () and part.files == () for part in parts[:-1])
    assert (parts[-1].buttons, parts[-1].files) == (message.buttons, message.files)
    assert len(parts) == 1 or all(plain(part).strip() for part in parts[:-1])


@given(MESSAGES, st.integers(8, 200))
def test_a_block_that_fits_is_never_split(message: Message, limit: int) -> None:
    """RD-8: never inside an option."""
    kept = [block_text(b) for part in split(message, limit) for b in part.blocks]
    fitting = [t for b in message.blocks if (t := block_text(b)).strip() and length(t) <= limit]
    assert all(text in kept for text in fitting)


@given(MESSAGES)
def test_a_message_that_fits_is_left_alone(message: Message) -> None:
    assert split(message, 100_000) == (message,)


def test_splits_between_questions() -> None:
    """RD-8: the parts begin with a question, not in one."""
    blocks = [block("heading", kind="heading"), block("why")]
    for number in range(1, 4):
        blocks += [block(f"{number} topic", kind="topic", question=number, gap=True)]
        blocks += [block(f"{key}  option of {number}", kind="option", question=number) for key in "ABC"]
    parts = split(Message(blocks=tuple(blocks)), 130)
    assert [plain(part).split("\n")[0] for part in parts] == ["heading", "3 topic"]


def test_a_heading_is_not_left_behind() -> None:
    message = Message(blocks=(block("x" * 30), block("head", kind="heading"), block("y" * 30)))
    assert [plain(part) for part in split(message, 40)] == ["x" * 30, "head\n" + "y" * 30]


def test_counts_as_the_platform_does() -> None:
    assert (length("a😀"), length("a😀", "characters")) == (3, 2)


def test_does_not_tear_a_character_apart() -> None:
    parts = split(Message(blocks=(block("👍🏽" * 10),)), 9)
    assert [plain(part) for part in parts] == ["👍🏽" * 2] * 5


def test_prefers_line_ends_then_blanks() -> None:
    assert [plain(p) for p in split(Message(blocks=(block("one two\nthree four"),)), 12)] == ["one two", "three four"]
    assert [plain(p) for p in split(Message(blocks=(block("one two three four"),)), 12)] == ["one two", "three four"]


def test_styles_survive_a_split() -> None:
    message = Message(blocks=(Block(spans=(Span(text="plain "), Span(text="bold bold", style="bold"))),))
    assert [[(s.text, s.style) for s in p.blocks[0].spans] for p in split(message, 10)] == [
        [("plain ", "plain"), ("bold", "bold")],
        [("bold", "bold")],
    ]


def test_gaps_are_empty_lines_between_blocks_only() -> None:
    assert plain(Message(blocks=(block("a", gap=True), block("b"), block("c", gap=True)))) == "a\nb\n\nc"
