"""What can not be carried out is refused with the reason and the way on, and changes nothing (RP-8)."""

from __future__ import annotations

import pytest

from bot.core.effects import Clarification
from bot.core.events import RaisedSignal, SignalsRaised
from tests.core.spec.talk import DISCOVERED, SpecTalk

BETWEEN = ("/spec Refunds", "accept recommendations")


@pytest.mark.parametrize("text", ["/tier 0", "/tier 4", "/tier 99", "/tier -1", "/tier ３０", "/tier 2.5"])
@pytest.mark.parametrize("before", [("/spec Refunds",), BETWEEN])
def test_a_tier_that_does_not_exist(before: tuple[str, ...], text: str) -> None:
    """RD-4 With the tiers there are."""
    talk = SpecTalk()
    talk.ana(*before)
    old = talk.spec
    made = talk.ana(text)
    assert made.outcome == "refused"
    assert "There is no tier" in talk.heard
    assert "/tier 1 full, /tier 2 standard, /tier 3 incremental" in talk.heard
    assert talk.spec == old


@pytest.mark.parametrize(
    "text", ["/jump 0", "/jump 8", "/jump 77", "/jump -1", "/jump launch", "/jump 1.5", "/jump", "/jump ٣"]
)
@pytest.mark.parametrize("before", [("/spec Refunds",), BETWEEN])
def test_a_phase_that_does_not_exist(before: tuple[str, ...], text: str) -> None:
    """SP-2 With the phases there are; "jump" alone asks which."""
    talk = SpecTalk()
    talk.ana(*before)
    old = talk.spec
    made = talk.ana(text)
    assert made.outcome == "refused"
    assert "1 discovery, 2 research, 3 PRD, 4 ideation, 5 flows, 6 prototype, 7 spec" in talk.heard
    assert talk.spec == old


@pytest.mark.parametrize(
    "text", ["/continue", "/tier 3", "/jump 4", "/show", "/gate", "/point", "/accept-recommendations"]
)
def test_without_a_specification_the_commands_say_how_to_begin_one(text: str) -> None:
    """SP-2 Nothing opens by itself."""
    talk = SpecTalk()
    talk.ana(text)
    assert "/spec and a name begins one" in talk.heard
    assert talk.state is None or not talk.state.sessions


@pytest.mark.parametrize("text", ["@askfirst show me the papers", "@askfirst continue with my draft"])
def test_everyday_words_after_a_mention_are_no_command(text: str) -> None:
    """CH-3 Where no specification is open."""
    talk = SpecTalk(shared=True)
    talk.ana(text)
    assert "/spec and a name begins one" not in talk.heard


def test_what_an_intake_of_another_kind_makes_of_them() -> None:
    """RP-4 RD-6 They mean the open round; a "continue" decides nothing."""
    talk = SpecTalk()
    talk.ana("/bug", "/continue")
    assert not [r for r in talk.records if isinstance(r, Clarification)]
    assert "No specification is open" not in talk.heard
    talk.ana("/accept-recommendations")
    assert {r.chosen_via for r in talk.records if isinstance(r, Clarification)} <= {"accept_recommendations_bulk"}


def test_quoted_lines_answer_no_question_of_our_own() -> None:
    """AU-3 RP-3 "> yes" is what somebody else has said; in one's own words it counts."""
    talk = SpecTalk()
    talk.ana("/spec Refunds: let shop staff give refunds", "yeah ok")
    assert "Shall I take it as" in talk.heard
    talk.ana("> yes")
    assert not talk.clarified()
    talk.ana("yeah ok", "> Shall I take it as: accept recommendations?\nyes")
    assert talk.clarified()


def test_an_acceptance_in_a_code_block_is_told_and_decides_nothing() -> None:
    """AU-3 What the bot says of it and what it does are the same."""
    talk = SpecTalk()
    talk.ana("/spec Refunds: let shop staff give refunds", "```\naccept recommendations\n```")
    assert "decides nothing" in talk.heard
    assert not talk.clarified()
    talk.ana("accept recommendations")
    assert talk.clarified()


@pytest.mark.parametrize("words", ["2?", "1 or 2", "1-2", "2 or 1?", "1, 2", "2 oder 1", "2. Dezember"])
def test_wavering_chooses_no_way_out(words: str) -> None:
    """RD-7 A way on is chosen by one number; its reason may follow."""
    talk = escalated()
    made = talk.ana(words)
    assert made.outcome == "refused"
    assert not talk.spec.open_points
    talk.ana("2: legal will tell us")
    assert talk.spec.open_points


@pytest.mark.parametrize("words", ["accept recommendations", "1: B", "later", "go on", "thanks"])
def test_words_about_answering_are_no_revised_request(words: str) -> None:
    """RD-7 The request that somebody wrote is not lost to them."""
    talk = escalated()
    before = talk.session.request.text
    talk.ana("1", words)
    assert talk.session.request.text == before
    assert not talk.spec.earlier_requests
    talk.ana("let managers give refunds of up to 50 euros")
    assert talk.session.request.text == "let managers give refunds of up to 50 euros"


def escalated() -> SpecTalk:
    talk = SpecTalk()
    talk.ana(*DISCOVERED)
    signals = tuple(RaisedSignal(kind="diverging", said=words, evidence="line 3") for words in ("one", "two"))
    talk.happens(SignalsRaised(session=talk.session.id, raised_by="agent:writer", signals=signals))
    talk.ana("/continue")
    return talk


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("1 and 3 are wrong", ["tier", "surfaces"]), ("1, 3", ["tier", "surfaces"]), ("3", ["surfaces"]),
        ("2-4", ["boundary", "surfaces", "comparators"]), ("1 und 5", ["tier", "role"]), ("#2", ["boundary"]),
        ("no. 3 is not right", ["surfaces"]), ("1: A", ["tier"]), ("Who it is made for is wrong", ["role"]),
    ],
)  # fmt: skip
def test_every_settled_point_that_is_called_wrong_is_asked(words: str, asked: list[str]) -> None:
    """RD-5 A correction that somebody gave is not lost because another one stood before it."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED, "/continue", "A, A", "/jump 1", words)
    assert [i.question.id for i in talk.session.round.items] == asked  # type: ignore[union-attr]
    assert ("“A” is no answer yet" in talk.heard) is (words == "1: A")


@pytest.mark.parametrize("words", ["7", "1 and 9", "0", "three", "2.5", "wrong"])
def test_a_settled_point_that_is_not_there_changes_nothing(words: str) -> None:
    """RD-5"""
    talk = SpecTalk()
    talk.ana(*DISCOVERED, "/continue", "A, A", "/jump 1", words)
    assert talk.session.stage.waits == "settled"  # type: ignore[union-attr]
    assert "Write y, or the number of what is not right (1–5)." in talk.heard


def back_in_research() -> SpecTalk:
    """Discovery was done again after research was answered: its round is the last one, and it is handed on."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED, "/continue", "A, A", "/jump 1", "5", "1: B", "/continue")
    assert "Back in phase 2" in talk.heard
    assert talk.session.round.phase == 1  # type: ignore[union-attr]
    return talk


def test_an_answer_of_a_phase_that_is_done_changes_only_with_a_yes() -> None:
    """RD-13 Also where its round happens to be the last one."""
    talk = back_in_research()
    talk.ana("1: A")
    assert "would be" in talk.heard
    assert talk.session.round.items[0].answer.chosen == "B"  # type: ignore[union-attr]
    talk.ana("yes")
    assert talk.session.round.items[0].answer.chosen == "A"  # type: ignore[union-attr]
    assert talk.audited("answer.amended")


def test_a_question_about_a_settled_point_corrects_nothing() -> None:
    """RD-5 RP-9"""
    talk = SpecTalk()
    talk.ana(*DISCOVERED, "/continue", "A, A", "/jump 1", "2?")
    assert talk.session.stage.waits == "settled"  # type: ignore[union-attr]
    assert talk.heard.startswith("2 · Where this feature ends: ")


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("what do you mean by surfaces?", "3 · Surfaces that it touches"),
        ("what is incremental?", "1 · How much specification this needs"),
        ("why does 5 matter?", "5 · Who it is made for"),
    ],
)
def test_a_question_back_is_answered_about_what_it_speaks_of(words: str, first: str) -> None:
    """RP-9 Also about a question that is answered already, and not about all of them."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "1: B, 2: A, 3: B", words)
    assert talk.heard.startswith(first)
    assert talk.heard.count(" is recommended: ") == 1
