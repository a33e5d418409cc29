"""How a specification gets its name, and what is asked where nothing says what it is about (SP-2, RD-5)."""

from __future__ import annotations

import pytest

from bot.core.events import MessageReceived
from bot.core.model import Material, MessageRef
from bot.core.state import Between
from tests.core import builders
from tests.core.spec.talk import SpecTalk


def waits(talk: SpecTalk) -> str:
    return talk.session.stage.waits if isinstance(talk.session.stage, Between) else talk.session.stage.kind


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (("/spec Refunds",), "Refunds"),
        (("/spec Refunds in the app: let shop staff give refunds",), "Refunds in the app"),
        (("/spec on-call rota",), "on-call rota"),
        (("write a PRD for refunds in the shop",), "refunds in the shop"),
        (("please write a product spec: refunds",), "refunds"),
        (("we need a feature spec about dark mode, soon",), "dark mode"),
        (("Lastenheft schreiben für die neue Kasse",), "die neue Kasse"),
        (("we have a refund problem in our shops", "a product spec"), "we have a refund problem in our shops"),
    ],
)
def test_what_it_is_about_is_its_name(said: tuple[str, ...], name: str) -> None:
    """SP-2 RT-5 Nothing is asked that the request says."""
    talk = SpecTalk()
    talk.ana(*said)
    assert (talk.spec.name, waits(talk)) == (name, "asking")


@pytest.mark.parametrize("said", [("/spec",), ("I need a spec",), ("hi", "a product spec"), ("hi there", "a spec")])
def test_where_nothing_says_what_it_is_about_that_is_asked_first(said: tuple[str, ...]) -> None:
    """RD-5 SP-2 One open question; the answer is the request."""
    talk = SpecTalk()
    talk.ana(*said)
    assert waits(talk) == "name"
    assert not talk.audited("spec_created")
    talk.ana("SSO for staff: no more password resets")
    assert (talk.spec.name, waits(talk)) == ("SSO for staff", "asking")
    assert talk.session.request.text == "SSO for staff: no more password resets"
    assert [e.details["name"] for e in talk.audited("spec_created")] == ["SSO for staff"]
    assert [e.details["run"] for e in talk.audited("phase_started")] == [1]


@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "y",
        "thanks",
        "accept recommendations",
        "1: A",
        "go on",
        "why?",
        "?",
        "x",
        "/continue",
        "> Refunds",
        "/spec",
    ],
)
def test_words_that_are_no_name_are_not_taken_for_one(text: str) -> None:
    """RD-6"""
    talk = SpecTalk()
    talk.ana("/spec", text)
    assert (talk.spec.name, waits(talk)) == ("unnamed", "name")


def test_putting_it_off_keeps_it_and_cancelling_ends_it() -> None:
    """CH-6"""
    talk = SpecTalk()
    talk.ana("/spec", "later")
    assert waits(talk) == "name"
    talk.ana("never mind")
    assert talk.session.stage.kind == "ended"


def test_a_file_that_is_sent_instead_of_words_gives_its_name() -> None:
    """SP-2"""
    talk = SpecTalk()
    talk.ana("/spec")
    file = Material(kind="file", name="refund_rules-2026.pdf")
    event = MessageReceived(
        person=builders.person("ana"), text="", ref=MessageRef(id="u9", quote=""), materials=(file,)
    )
    talk.happens(event)
    assert (talk.spec.name, waits(talk)) == ("refund rules 2026", "asking")


def test_a_specification_that_is_over_can_still_be_shown() -> None:
    """SP-2 What was decided is looked up most after the end."""
    talk = SpecTalk()
    talk.ana("/spec Refunds", "accept recommendations", "/abandon we bought one", "/show")
    assert "Spec “Refunds”" in talk.heard
    talk.ana("/show 1")
    assert "How much specification this needs: B, Standard (recommended)" in talk.heard
    assert talk.ana("/continue").outcome == "refused"


@pytest.mark.parametrize(
    "words",
    [
        "Receipts based on Refunds", "Receipts based on Refunds: print one for each", "Receipts based on “Refunds”",
        "Receipts based on #1", "Receipts based on 1 - print one",
    ],
)  # fmt: skip
def test_what_it_is_about_may_follow_the_parents_name(words: str) -> None:
    """RD-5 What the parent decided is not asked again, and its tier is the one for additions (RD-2)."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "accept recommendations", f"/spec {words}", "yes")
    assert talk.spec.parent is not None
    assert talk.spec.name == "Receipts"
    question = talk.session.round.items[0].question  # type: ignore[union-attr]
    assert question.recommended.key == "C"
    assert question.rationale.startswith("It has a parent, “Refunds”")
    assert "Not asked, because it is settled" in talk.heard


def test_an_unknown_parent_is_told_with_those_that_there_are() -> None:
    """RD-5"""
    talk = SpecTalk()
    talk.ana("/spec Refunds", "accept recommendations", "/spec Receipts based on Refund: print one", "yes")
    assert talk.spec.parent is None
    assert "There are: “Refunds” (#1)." in talk.heard
