"""Proof is an id and a short quote, however long the message is and whichever way its words came (CA-2, RD-13)."""

from __future__ import annotations

import pytest

from bot.core.capture import QUOTE
from bot.core.effects import Clarification, Step
from tests.core.builders import Talk

LONG = "since the board wants it so, " * 20


def refs(made: Step) -> list[str]:
    return [record.user_message_ref for record in made.records if isinstance(record, Clarification)]


@pytest.fixture
def talk() -> Talk:
    made = Talk()
    made.says("ana", "lit-review this")
    made.says("ana", f"1: B, {LONG}")
    return made


def test_the_proof_of_an_edit_is_as_short_as_that_of_a_message(talk: Talk) -> None:
    """CA-2."""
    [ref] = refs(talk.edits("ana", "u2", f"1: C, {LONG}"))
    assert ref.startswith('u2: "1: C, since the board')
    assert len(ref) <= QUOTE + len('u2: ""')


def test_a_change_behind_the_cut_is_a_change(talk: Talk) -> None:
    """RD-13: the two quotes are the same."""
    made = talk.edits("ana", "u2", f"1: B, {LONG}\n2: A")
    assert [record.question for record in made.records if isinstance(record, Clarification)] == ["databases"]


@pytest.mark.parametrize("text", ["2: A\n> what did you say?", "  2: A ", "2:\nA"])
def test_an_edit_around_the_persons_own_words_reads_the_same(talk: Talk, text: str) -> None:
    """RD-13, AU-3: lines that quote somebody are no part of the proof."""
    talk.says("ana", "2: A")
    made = talk.edits("ana", "u3", text)
    assert (made.outcome, made.records) == ("ignored", ())


def test_lines_that_quote_somebody_are_no_part_of_the_proof(talk: Talk) -> None:
    """AU-3."""
    assert refs(talk.edits("ana", "u2", "1: C\n> I would not")) == ['u2: "1: C"']


def test_forwarded_words_that_are_taken_as_ones_own(talk: Talk) -> None:
    """AU-3, CA-2: what was confirmed is quoted as short as the yes."""
    talk.says("ana", f"2: A\n{LONG}", forwarded="Bo")
    talk.rings("gather:parts")
    [ref] = refs(talk.says("ana", "yes"))
    assert ref.startswith('u5: "yes", confirming u3: "2: A since')
    assert len(ref) <= QUOTE + len('u5: "yes", confirming u3: ""')


def test_words_that_somebody_points_at() -> None:
    """RT-13, CA-2."""
    made = Talk().says("ana", f"lit-review this {LONG}", summons=True, addressed=True)
    [session] = made.state.sessions
    assert len(session.request.ref.quote) <= QUOTE
    assert session.request.text.endswith(LONG)
