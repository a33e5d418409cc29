"""A change of a closed round of a specification, said among others (RD-13)."""

from __future__ import annotations

import pytest

from tests.core.spec.talk import SpecTalk


def test_a_change_said_to_nobody_is_made() -> None:
    """RD-13: "change 3 to A" means the last closed round here; ordinary talk stays alone (CH-2)."""
    talk = SpecTalk(shared=True)
    talk.ana("/spec Refunds", "accept recommendations")
    assert talk.spec.lock.surface_count == 2
    assert talk.ana("3 of us go to lunch").outcome == "ignored"
    talk.ana("change 3 to A")
    assert talk.spec.lock.surface_count == 1
    assert talk.says("bo", "change 3 to B").outcome == "refused"
    assert talk.spec.lock.surface_count == 1


SCOPE = ("/spec Refunds", "accept recommendations", "/continue", "accept recommendations", "/continue")


@pytest.mark.parametrize(
    "before", [(), ("surfaces: 4",), ("drop vouchers because legal",), ("surfaces: 1 because small",)]
)
def test_a_change_is_one_whatever_else_waits(before: tuple[str, ...]) -> None:
    """RD-13 It answers neither the scope, nor why it changes, nor which phase is done again."""
    talk = SpecTalk()
    talk.ana(*SCOPE, *before)
    stage = talk.session.stage
    talk.ana("change 1 to B")
    assert "1 · What to compare it with: was A" in talk.heard
    talk.ana("yes")
    assert [(c.question, c.chosen) for c in talk.clarified()][-1] == ("compared", "B")
    assert talk.session.stage == stage  # what waited waits


def test_a_reply_to_the_card_of_the_last_round_changes_it() -> None:
    """RD-13 RP-7"""
    talk = SpecTalk()
    talk.ana(*SCOPE)
    assert talk.session.round is not None
    talk.says("ana", "change 2 to B", about=talk.session.round.id)
    talk.ana("yes")
    assert talk.clarified()[-1].chosen == "B"


def test_words_behind_a_number_are_offered_as_a_change() -> None:
    """RD-13 RD-10 They were passed over as if nothing had been said."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "accept recommendations", "actually 5: the ppl at the counter")
    assert "5 · Who it is made for: was A" in talk.heard
    talk.ana("yes")
    assert talk.clarified()[-1].chosen_text == "the ppl at the counter"


def test_a_change_reaches_behind_a_round_that_asked_nothing() -> None:
    """RD-13 RD-5 Phase 2 done again has only settled points; the last answers are those before."""
    talk = SpecTalk()
    talk.ana(*SCOPE, "/jump 2", "y", "change 1 to B")
    assert "1 · What to compare it with: was A" in talk.heard
