"""What is sent fits Slack's limits, splits between questions, and says what was meant (CH-4, RD-8)."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.render import (
    MAX_BLOCKS,
    MAX_SECTION,
    MAX_TOTAL,
    MAX_UPDATE,
    brief,
    conversation_in,
    render,
    weight,
)
from bot.core.effects import Block, Button, Message, Span

WHERE = "slack:T0AAAAAA1:C0TRIAGE1/1796119260.000100"


def card(questions: int, words: str = "why it matters", options: int = 5) -> Message:
    blocks = [Block(kind="heading", spans=(Span(text="Literature review"),))]
    for number in range(1, questions + 1):
        blocks.append(Block(kind="topic", spans=(Span(text=f"{number} · Topic", style="bold"),), question=number))
        blocks.append(Block(spans=(Span(text=words),), question=number))
        blocks += [
            Block(kind="option", spans=(Span(text=f"{key}  {words}"),), question=number)
            for key in "ABCDEFGH"[:options]
        ]
    row = (Button(token="a:s.1:1:A", label="A"), Button(token="r:s.1:1", label="Accept all"))
    return Message(blocks=tuple(blocks), buttons=(row,), form="f:s.1:1")


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["text"]] if isinstance(value.get("text"), str) else []
        return own + [t for key, inner in value.items() if key != "text" or not own for t in texts(inner)]
    return [t for inner in value for t in texts(inner)] if isinstance(value, list | tuple) else []


def test_a_round_is_a_header_a_section_a_question_and_one_row_more() -> None:
    [part] = render(card(3), WHERE, "f1").parts
    kinds = [block["type"] for block in part.blocks]
    assert kinds == ["header", "section", "section", "section", "actions", "actions"]
    assert [e["text"]["text"] for b in part.blocks if b["type"] == "actions" for e in b["elements"]] == [
        "A",
        "Accept all",
        "Answer in a form",
    ]
    assert part.text.startswith("Literature review\n1 · Topic\nwhy it matters\nA  why")


def test_block_ids_are_new_at_each_drawing_and_tell_the_conversation() -> None:
    first, second = (render(card(1), WHERE, fresh).parts[0].blocks for fresh in ("f1", "f2"))
    ids = [block["block_id"] for block in (*first, *second)]
    assert len(set(ids)) == len(ids)
    assert {conversation_in(one) for one in ids} == {WHERE}
    assert conversation_in("of somebody else") is None


@settings(deadline=None)  # an example takes a millisecond, and longer where others have the machine
@given(
    st.integers(1, 30),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=900),
    st.integers(2, 8),
)
def test_everything_fits(questions: int, words: str, options: int) -> None:
    """P61: limits are met by splitting, and no option is ever cut."""
    message = card(questions, words or "x", options)
    parts = render(message, WHERE, "f").parts
    for part in parts:
        assert len(part.blocks) <= MAX_BLOCKS
        assert weight(part.blocks) <= MAX_TOTAL
        for block in part.blocks:
            if block["type"] == "section":
                assert len(block["text"]["text"]) <= MAX_SECTION
            assert len(block["block_id"]) <= 255
    assert len(brief(message)) <= MAX_UPDATE
    assert [b["type"] for p in parts[:-1] for b in p.blocks].count("actions") == 0
    letters = [line for part in parts for line in part.text.split("\n") if line[:3] in [f"{k}  " for k in "ABCDEFGH"]]
    assert len(letters) >= questions * options or "\n" in words or not words.strip()


def test_words_of_people_format_nothing() -> None:
    """CH-4. mrkdwn has no escape for its marks, so such words go as rich text."""
    message = Message(blocks=(Block(spans=(Span(text="1 → other: “use *all* of _it_ :tada: <!channel>”"),)),))
    [part] = render(message, WHERE, "f").parts
    [block] = part.blocks
    assert block["type"] == "rich_text"
    assert block["elements"][0]["elements"][0]["text"] == "1 → other: “use *all* of _it_ :tada: <!channel>”"
    assert "&lt;!channel&gt;" in part.text


def test_only_who_is_to_be_notified_is_a_mention() -> None:
    """CH-6."""
    spans = (Span(text="@ben", person="slack:U0BEN0001"), Span(text=": yours; not <@U0ANA0001>"))
    [part] = render(Message(blocks=(Block(spans=spans),)), WHERE, "f").parts
    assert part.text == "<@U0BEN0001>: yours; not &lt;@U0ANA0001&gt;"
    assert texts(part.blocks) == ["<@U0BEN0001>: yours; not &lt;@U0ANA0001&gt;"]


def test_a_label_that_is_too_long_is_cut_and_its_token_is_not() -> None:
    button = Button(token="t" * 64, label="x" * 100)
    [part] = render(Message(blocks=(Block(spans=(Span(text="hi"),)),), buttons=((button,),)), WHERE, "f").parts
    element = part.blocks[-1]["elements"][0]
    assert (len(element["text"]["text"]), element["value"]) == (75, "t" * 64)
