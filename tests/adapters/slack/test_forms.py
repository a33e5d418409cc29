"""A form tells what was put into it, not what it was filled in with; and what does not fit one is never cut off."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters.slack.modal import MAX_BLOCKS, MAX_SECTION, round_form
from bot.core.effects import Field, FormView
from bot.core.model import Option
from tests.adapters.slack.talking import Talk

TOO_LONG = f"{'word ' * 700}END"  # a text field of a form takes 3,000 characters


async def test_what_was_answered_after_a_form_was_closed_stands(talk: Talk) -> None:
    """RD-13: the later act wins. A draft is older than the answer that was typed after it."""
    asked = await talk.begin()
    talk.ana.press("Answer in a form")
    await talk.settle()
    talk.ana.choose("B", of="q1.pick")
    talk.ana.choose("B", of="q3.pick")
    talk.ana.close()
    talk.ana.reply(asked, "1: C")
    await talk.settle()
    talk.ana.press("Answer in a form")
    await talk.settle()
    shown = talk.ana.modal.values()
    assert [shown[f"q{n}.pick"]["pick"]["selected_option"]["value"] for n in (1, 3)] == ["C", "B"]
    talk.ana.choose("A", of="q2.pick")
    talk.ana.submit()
    await talk.settle()
    assert list(talk.answers.values()) == ["C", "A", "B"]


@pytest.mark.parametrize(("first", "then"), [("B", "C"), (f"other ({TOO_LONG})", None)])
async def test_what_was_only_shown_in_a_form_is_not_said_again(talk: Talk, first: str, then: str | None) -> None:
    """RD-13: neither over an answer typed while the form was open, nor cut to the length of its field."""
    asked = await talk.begin()
    talk.ana.reply(asked, f"1: {first}")
    await talk.settle()
    talk.ana.press("Answer in a form")
    await talk.settle()
    if then is not None:
        talk.ana.reply(asked, f"1: {then}")
        await talk.settle()
    talk.ana.choose("A", of="q2.pick")
    talk.ana.submit()
    await talk.settle()
    assert talk.answers["databases"] == "A"
    assert (talk.recorded["years"].chosen, talk.recorded["years"].chosen_text) == (
        (then, None) if then else ("D", TOO_LONG)
    )


@pytest.mark.parametrize("noted", [False, True])
async def test_a_form_sent_as_it_was_opened_records_nothing(talk: Talk, noted: bool) -> None:
    """AG-4, RD-9: nothing is filled in for anybody, whatever is recommended; a note alone chooses nothing."""
    await talk.begin()
    talk.ana.press("Answer in a form")
    await talk.settle()
    assert not [
        b for b in talk.ana.modal.json()["blocks"] if set(b.get("element", {})) & {"initial_option", "initial_value"}
    ]
    if noted:
        talk.ana.type_in("  as recommended ", of="q2.note")
    sent = talk.ana.submit()
    await talk.settle()
    assert list(sent.errors) == ["q2.text" if noted else "q1.text"]
    assert talk.ana.modals
    assert not talk.recorded
    assert not [entry for entry in talk.audit if entry.event.startswith(("clarification", "bulk"))]


@pytest.mark.parametrize("reopened", [False, True])
async def test_a_note_beside_a_stale_selection_goes_with_the_answer_that_stands(talk: Talk, reopened: bool) -> None:
    """RP-7, RD-13: B was filled in, not chosen; C was typed while the form was open. With a draft it is the same."""
    asked = await talk.begin()
    talk.ana.reply(asked, "1: B")
    await talk.settle()
    talk.ana.press("Answer in a form")
    await talk.settle()
    if reopened:
        talk.ana.type_in("as the board", of="q1.note")
        talk.ana.close()
        await talk.settle()
        talk.ana.press("Answer in a form")
        await talk.settle()
    talk.ana.reply(asked, "1: C, since it is free")
    await talk.settle()
    talk.ana.type_in("as the board wants", of="q1.note")
    talk.ana.submit()
    await talk.settle()
    assert not talk.ana.modals
    said = talk.recorded["years"]
    assert (said.chosen, said.user_note) == ("C", "since it is free; as the board wants")
    assert '"form: 1: note"' in said.user_message_ref


def fields(count: int, words: str, answered: int = 0) -> tuple[Field, ...]:
    options = (Option(key="A", label="One", recommended=True), Option(key="B", label="Other", other=True))
    return tuple(
        Field(
            number=n,
            form="choice",
            topic="Years *to* cover",
            words=(words,),
            options=options,
            chosen="A" if n <= answered else None,
        )
        for n in range(1, count + 1)
    )


def picks(view: dict[str, Any]) -> list[str]:
    return [b["block_id"] for b in view["blocks"] if b.get("block_id", "").endswith(".pick")]


@pytest.mark.parametrize("words", ["short", "&" * 9000, "wörter " * 2000, "a_b*c " * 1500])
def test_a_form_that_is_too_long_has_whole_questions_and_says_what_is_left(words: str) -> None:
    """P61. Twenty-four questions of which each needs several sections."""
    form = FormView(round="r1", revision=1, title="A title", lead=("why " * 2000,), fields=fields(30, words))
    view = round_form(form, "slack:T1:C1/1.1", "1.1", {})
    shown = picks(view)
    assert shown
    assert shown == [f"q{n}.pick" for n in range(1, len(shown) + 1)]
    assert view["blocks"][-1]["block_id"] == f"q{len(shown)}.note"
    assert any(f"{30 - len(shown)} more do not fit" in str(block) for block in view["blocks"])
    assert len(view["blocks"]) <= MAX_BLOCKS
    assert len(json.dumps(view)) <= 250_000
    assert len(view["private_metadata"]) <= 3000
    sections = [block["text"]["text"] for block in view["blocks"] if block["type"] == "section"]
    assert max(map(len, sections)) <= MAX_SECTION
    assert sum(text.count(words[:5]) for text in sections) >= len(shown)


def test_a_second_form_has_what_the_first_had_no_room_for() -> None:
    form = FormView(round="r1", revision=1, title="A title", fields=fields(30, "short", answered=24))
    assert picks(round_form(form, "slack:T1:C1/1.1", None, {}))[-6:] == [f"q{n}.pick" for n in range(25, 31)]
