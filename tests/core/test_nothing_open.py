"""What can only be an answer, said when nothing is open: told briefly, and no menu (RD-13, CH-2, RT-14)."""

from __future__ import annotations

import pytest

from bot.core.effects import Say
from tests.core.builders import Talk


def over(*, shared: bool = False) -> Talk:
    talk = Talk(shared=shared)
    talk.says("ana", "/ars-lit-review sleep and memory", addressed=True)
    talk.says("ana", "accept recommendations", addressed=True)
    assert talk.state is not None
    talk.rings(f"grace:{talk.state.sessions[-1].id}")
    assert talk.state.sessions[-1].stage.kind == "ended"
    return talk


def heard(talk: Talk, text: str, *, addressed: bool) -> list[str]:
    made = talk.says("ana", text, addressed=addressed)
    assert talk.state is not None
    assert len(talk.state.sessions) == 1, "a menu was opened"
    said = [effect for effect in made.effects if isinstance(effect, Say)]
    return ["".join(s.text for block in one.message.blocks for s in block.spans) for one in said]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "B",
        "b",
        "a",
        "(b)",
        "option b",
        "C please",
        "d",
        "2",
        "A and B",
        "b, c",
        "no",
        "no thanks",
        "nein",
        "no idea",
        "weiß nicht",
    ],
)
def test_an_answer_to_nothing_is_told_that_nothing_is_open(text: str, shared: bool) -> None:
    (told,) = heard(over(shared=shared), text, addressed=shared)
    assert "nothing is open here" in told
    assert "change 1 to" in told


@pytest.mark.parametrize("text", ["later", "ok later", "ok, later", "not now", "ask me tomorrow"])
def test_who_wants_to_be_asked_later_learns_that_nothing_is_open(text: str) -> None:
    (told,) = heard(over(), text, addressed=False)
    assert "othing is open here" in told


@pytest.mark.parametrize("text", ["B", "no", "2", "ok later", "no idea", "ok", "thanks a lot"])
def test_in_a_group_it_is_passed_over_unless_it_is_said_to_the_bot(text: str) -> None:
    """CH-2"""
    assert heard(over(shared=True), text, addressed=False) == []


@pytest.mark.parametrize("text", ["ok", "thanks a lot", "yes", "👍"])
def test_thanks_get_no_answer(text: str) -> None:
    """RT-14"""
    assert heard(over(), text, addressed=False) == []


@pytest.mark.parametrize(
    "text",
    ["review my paper", "I need slides", "a literature review on sleep", "sleep and memory", "Plan B for my thesis"],
)
def test_a_request_is_heard_as_one(text: str) -> None:
    talk = over()
    talk.says("ana", text)
    assert talk.state is not None
    assert len(talk.state.sessions) == 2


def test_a_letter_is_the_first_message_of_somebody_new() -> None:
    """RT-4: nothing was here before that it could be about."""
    talk = Talk()
    talk.says("ana", "B")
    assert talk.state is not None
    assert talk.state.sessions[-1].stage.kind == "routing"


@pytest.mark.parametrize(
    "text",
    [
        "accept recommendations",
        "all as recommended except 3: C",
        "1: B, rest default",
        "1b 2c",
        "alles wie empfohlen",
        "全部按推荐",
    ],
)
def test_an_answer_where_nothing_was_ever_asked_opens_no_menu(text: str) -> None:
    talk = Talk()
    made = talk.says("ana", text)
    assert talk.state is not None
    assert talk.state.sessions == ()
    [said] = [effect for effect in made.effects if isinstance(effect, Say)]
    assert "Nothing is open here" in "".join(s.text for block in said.message.blocks for s in block.spans)


@pytest.mark.parametrize(
    "text",
    ["accept payments by card", "2 screens for refunds", "B2B saved filters", "option B for the checkout page"],
)
def test_a_request_that_begins_like_an_answer_is_one(text: str) -> None:
    talk = Talk()
    talk.says("ana", text)
    assert talk.state is not None
    assert len(talk.state.sessions) == 1
