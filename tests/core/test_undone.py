""" "Undo", typed: the newest answer of one's own is taken back, and leaves the records (RD-13, CH-1)."""

from __future__ import annotations

import pytest

from bot.core.effects import Audit, Say, Withdrawal
from bot.core.state import Round, Session
from tests.core.builders import Talk


def session(talk: Talk) -> Session:
    assert talk.state is not None
    return talk.state.sessions[-1]


def on_the_table(talk: Talk) -> Round:
    return session(talk).rounds[-1]


def asked() -> Talk:
    talk = Talk()
    talk.says("ana", "/ars-lit-review sleep and memory")
    return talk


@pytest.mark.parametrize("word", ["undo", "Undo that!", "take it back please", "rückgängig", "恢复原状", "deshazlo"])
def test_one_answer_is_taken_back_at_once(word: str) -> None:
    """It is open again, its clarification is withdrawn, and the history says who did it."""
    talk = asked()
    (given,) = (r for r in talk.says("ana", "1: B").records if r.kind == "clarification")
    made = talk.says("ana", word)
    assert [r for r in made.records if isinstance(r, Withdrawal)] == [
        Withdrawal(id=given.id, session=given.session, revision=1)
    ]
    (entry,) = (r for r in made.records if isinstance(r, Audit))
    assert (entry.event, entry.details["clarification_id"]) == ("answer.withdrawn", given.id)
    assert all(item.answer is None for item in on_the_table(talk).items)
    (again,) = (r for r in talk.says("ana", "1: C").records if r.kind == "clarification")
    assert (again.id, again.revision, again.chosen) == (given.id, 2, "C")


def test_the_last_answer_of_all_is_taken_back_within_the_grace() -> None:
    """RD-16: the round is open again, and nothing is handed on when the grace is over."""
    talk = asked()
    numbers = [item.number for item in on_the_table(talk).items]
    for number in numbers:
        talk.says("ana", f"{number}: B")
    assert session(talk).stage.kind == "closing"
    talk.says("ana", "undo")
    assert session(talk).stage.kind == "asking"
    talk.rings(f"grace:{session(talk).id}")
    assert session(talk).stage.kind == "asking"
    assert [i.number for i in on_the_table(talk).open_items] == numbers[-1:]


def test_what_is_asked_names_the_questions() -> None:
    """RP-8: more than one answer came with the last message."""
    talk = asked()
    talk.says("ana", "1: B, 2: A")
    made = talk.says("ana", "undo")
    assert not any(isinstance(r, Withdrawal) for r in made.records)
    assert talk.state is not None
    (pending,) = talk.state.pending
    assert "take back 1 and 2" in " ".join(pending.words)
    assert len([r for r in talk.says("ana", "yes").records if isinstance(r, Withdrawal)]) == 2


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("2: A, you decide the rest", True),
        ("2: A, rest is up to you", True),
        ("2: A, I leave the rest to you", True),
        ("2: A, rest as recommended", False),
        ("2: A, rest as recommended, you decide", False),
    ],
)
def test_what_is_left_to_the_bot_beside_an_answer_has_an_undo_too(text: str, left: bool) -> None:
    """RP-3; what was chosen by name stays when it is pressed."""
    talk = asked()
    made = talk.says("ana", text)
    [said] = [effect for effect in made.effects if isinstance(effect, Say)]
    undo = [button for row in said.message.buttons for button in row if button.label == "Undo"]
    assert bool(undo) is left
    if left:
        talk.presses("ana", undo[0].token)
        open_ = [item.number for item in on_the_table(talk).items if item.answer is None]
        assert open_ == [1, 3]
