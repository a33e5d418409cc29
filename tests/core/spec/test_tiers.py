"""Tiers: how many questions a round holds, what a tier brings into play, what a change touches (RD-4, SC-3)."""

from __future__ import annotations

import dataclasses

import pytest

from bot.core.playbook import Entry
from bot.core.spec import CARRIED, TIERS
from bot.core.state import Between
from tests.core.spec import talk as talking
from tests.core.spec.talk import SpecTalk, book
from tests.core.spec.test_escalation import raises

CEILINGS = {1: 10, 2: 6, 3: 4}
TOO_MUCH = "is the request too wide?"


def asked(talk: SpecTalk) -> list[str]:
    assert talk.session.round is not None
    return [item.question.id for item in talk.session.round.items]


def test_a_round_that_is_just_full_does_not_call_the_request_too_wide() -> None:
    """RD-4 Discovery has exactly as many questions as tier 2 asks at once; nothing is left over."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds")
    assert len(asked(talk)) == CEILINGS[2]
    assert TOO_MUCH not in talk.heard
    assert not [d for d in talk.session.dropped if d.later]


@pytest.mark.parametrize("tier", TIERS)
def test_what_is_above_the_ceiling_waits_by_name_minor_ones_first(tier: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """RD-4 RD-8 More earned a slot than fit: that is said, and each one left over is named, and asked later."""
    whole = book(short=False)
    [bank] = [p for p in whole.playbooks.values() if p.workflow == "spec/phase-1"]
    [model] = [e for e in bank.entries if e.question.id == "boundary"]
    minor = model.question.model_copy(update={"stakes": "minor"})
    many = tuple(
        Entry(question=minor.model_copy(update={"id": f"more_{n}", "topic": f"More number {n}", "field": f"x.{n}"}))
        for n in range(12)
    )
    wider = bank.model_copy(update={"entries": (*many, *bank.entries)})
    changed = dataclasses.replace(whole, playbooks={**whole.playbooks, "spec/phase-1": wider})
    monkeypatch.setattr(talking, "book", lambda *, short: changed)
    talk = SpecTalk(short=False)
    talk.ana("/spec", f"/tier {tier}", "Refunds")
    assert len(asked(talk)) == CEILINGS[tier]
    assert TOO_MUCH in talk.heard
    left = [d for d in talk.session.dropped if d.later]
    assert left
    assert all(d.topic in talk.heard for d in left)
    critical = {e.question.id for e in bank.entries if e.question.stakes == "critical"}
    assert not critical & {d.question for d in left}
    talk.ana("accept recommendations", "/continue")
    assert asked(talk)[0] == left[0].question


def test_a_tier_that_is_chosen_within_the_round_brings_its_questions_into_play() -> None:
    """RD-4 Tier 1 asks four more in discovery: they wait for the next round, and the phase does not go on."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "1: A, rest default")
    assert "/continue asks what is left: Screens that it must serve" in talk.heard
    talk.ana("/continue")
    assert asked(talk) == ["platforms", "impact", "rules", "exists"]
    assert "Round 2 of 3" in talk.heard
    talk.ana("accept recommendations", "/continue")
    assert talk.spec.phase == 2


def test_a_tier_that_asks_less_drops_what_waited_for_later() -> None:
    """RD-4 RD-5"""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "1: A, rest default", "/tier 3 because the parent has it")
    assert not [d for d in talk.session.dropped if d.later]
    talk.ana("/continue")
    assert talk.spec.phase == 2


def test_a_tier_that_is_set_before_the_first_round_is_not_asked_about() -> None:
    """RD-5 State already holds it; an answer given later stands above it, and a later command above that."""
    talk = SpecTalk(short=False)
    talk.ana("/spec", "tier 3", "Refunds")
    assert "tier" not in asked(talk)
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "4: A, rest default", "/continue", "/tier 3")
    assert talk.spec.tier == 3
    talk.ana("accept recommendations")
    assert talk.spec.lock.complexity_tier == 3


def test_a_higher_tier_offers_to_do_again_what_asks_more_now() -> None:
    """SC-3 Research was done at tier 2; at tier 1 it asks two more. Discovery holds them, too."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "accept recommendations", "/continue", "accept recommendations", "/continue")
    talk.ana("tier 1 because the board wants it all")
    stage = talk.session.stage
    assert isinstance(stage, Between)
    assert stage.waits == "rerun"
    assert stage.doubtful == (1, 2)
    talk.ana("research")
    assert asked(talk)[-2:] == ["unknowns", "voices"]


def carried_on(*texts: str) -> SpecTalk:
    """Discovery was escalated with signals of an agent, and a person has carried it on."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", *texts)
    raises(talk, "two readings of refund", "two readings of shop")
    talk.ana("/continue", "2: we know after the pilot")
    assert talk.spec.present.carried
    return talk


def test_a_higher_tier_still_asks_what_it_brings_into_play_after_points_were_carried_on() -> None:
    """RD-4 RD-7 SP-1 What was carried on stays carried; what nobody has put aside is neither lost nor skipped."""
    talk = carried_on("accept recommendations")
    talk.ana("/tier 1 because it is new ground")
    assert "/continue asks what is left: Screens that it must serve" in talk.heard
    talk.ana("/continue")
    assert asked(talk) == ["platforms", "impact", "rules", "exists"]
    assert talk.session.round.nth == 2  # type: ignore[union-attr]
    talk.ana("accept recommendations", "/continue")
    assert talk.spec.phase == 2


def test_a_question_that_was_carried_on_is_not_asked_by_another_tier() -> None:
    """RD-7 It is an open point, and the reason why it is not asked stays."""
    talk = carried_on("1: A, rest default")
    waited = {d.topic for d in talk.session.dropped if d.reason == CARRIED}
    assert waited
    assert waited <= {p.text for p in talk.spec.open_points}
    talk.ana("/tier 2 because it is smaller", "/tier 1 because it is not")
    assert not [d for d in talk.session.dropped if d.later]
    assert waited == {d.topic for d in talk.session.dropped if d.reason == CARRIED}
    talk.ana("/continue")
    assert talk.spec.phase == 2


def test_what_becomes_unclear_after_points_were_carried_on_is_asked_about() -> None:
    """SC-1 RD-7"""
    talk = carried_on("accept recommendations")
    raises(talk, "two readings of staff")
    talk.ana("/continue")
    assert "Ambiguity pause" in talk.heard
    assert "two readings of staff" in talk.heard


def test_a_scope_that_lacks_something_is_told_by_the_gate_after_points_were_carried_on() -> None:
    """SC-3 RD-7 No second escalation over the same thing."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "3: other (some), rest default")
    raises(talk, "two readings of refund")
    talk.ana("/continue", "2: later", "yes")
    talk.ana("/continue")
    assert "The gate of phase 1, discovery is closed" in talk.heard
    assert "the number of surfaces" in talk.heard
