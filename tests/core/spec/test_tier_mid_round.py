"""`/tier` while a round is open: what the tier does not ask is withdrawn unanswered, what is answered stays."""

from __future__ import annotations

import dataclasses

import pytest

from bot.core.spec_record import spec_state
from bot.core.state import Between
from tests.core.spec import talk as talking
from tests.core.spec.talk import SpecTalk, book
from tests.core.spec.test_gate import both
from tests.core.spec.test_import import imported, with_log

FEWER = "Withdrawn, as tier"


def statuses(talk: SpecTalk) -> dict[str, str]:
    assert talk.session.round is not None
    return {item.question.id: item.status for item in talk.session.round.items}


def second_round(*texts: str) -> SpecTalk:
    """Tier 1: the scope is locked, and discovery's second round is open."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "1: A, rest default", "/continue")
    assert list(statuses(talk)) == ["platforms", "impact", "rules", "exists"]
    if texts:
        talk.ana(*texts)
    return talk


def test_what_a_lower_tier_does_not_ask_is_withdrawn_and_what_is_answered_stays() -> None:
    """RD-4 CA-4 No clarification, an entry with the person and the message, and a gate that does not wait for it."""
    talk = second_round("2: C")
    talk.ana("/tier 3 because it is too much")
    assert statuses(talk) == {
        "platforms": "withdrawn",
        "impact": "resolved",
        "rules": "withdrawn",
        "exists": "withdrawn",
    }
    assert f"{FEWER} 3 does not ask them: 1 Screens that it must serve; 3 Rules" in talk.heard
    [entry] = talk.audited("round.withdrawn")
    assert entry.details["questions"] == ["platforms", "rules", "exists"]
    assert entry.actor.startswith("human:")
    assert "too much" in entry.details["user_message_ref"]
    assert {c.question for c in talk.clarified()} & {"platforms", "rules", "exists"} == set()
    assert "2 Worst thing a mistake does: C" in talk.heard  # the closing echo
    assert both(talk, 1) == []
    talk.ana("/continue")
    assert talk.spec.phase == 2


def test_a_round_of_which_nothing_is_left_is_over() -> None:
    """RD-4 CA-4 Nobody answered any of it; the phase's first round is its evidence."""
    talk = second_round()
    talk.ana("/tier 3 because it is too much")
    assert set(statuses(talk).values()) == {"withdrawn"}
    assert both(talk, 1) == []
    assert "/continue goes on to phase 2" in talk.heard
    assert talk.ana("accept recommendations").outcome
    assert len(talk.clarified()) == 6


def test_before_the_scope_is_locked_the_recommendation_follows_the_tier() -> None:
    """RD-2 RD-15 Three solutions are recommended for a standard one, two for an addition."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds")
    assert talk.session.round is not None
    seen = f"r:{talk.session.round.id}:{talk.session.round.revision}"
    talk.ana("ok", "/tier 3")
    assert statuses(talk) | {"tier": "resolved", "success": "withdrawn"} == statuses(talk)
    assert "Recommended otherwise at this tier: 4." in talk.heard
    talk.ana("yes")  # to what was offered before: it is asked again
    assert talk.presses("ana", seen).outcome == "refused"
    assert not [c for c in talk.clarified() if c.question == "comparators"]
    talk.ana("accept recommendations")
    assert (talk.spec.lock.complexity_tier, talk.spec.lock.comparator_count) == (3, 2)
    assert both(talk, 1) == []


@pytest.mark.parametrize("after", ["/tier 2", "/tier 1"])
def test_a_tier_that_goes_up_again_asks_later_what_was_withdrawn(after: str) -> None:
    """RD-4 Nothing is lost by it."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "/tier 3", after, "accept recommendations")
    assert "/continue asks what is left: What success is measured by" in talk.heard
    talk.ana("/continue")
    assert next(iter(statuses(talk))) == "success"


def test_an_answer_to_a_withdrawn_question_still_counts() -> None:
    """RD-10 Whoever answers it has answered it."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "/tier 3", "6: C")
    assert statuses(talk)["success"] == "resolved"
    talk.ana("accept recommendations")
    assert both(talk, 1) == []
    assert len(talk.clarified()) == 6


def test_a_phase_of_which_nothing_is_left_to_ask_still_needs_its_y(monkeypatch: pytest.MonkeyPatch) -> None:
    """CA-6 RD-5 A round that was withdrawn whole proves nothing."""
    whole = book(short=False)
    [bank] = [p for p in whole.playbooks.values() if p.workflow == "spec/phase-2"]
    full = tuple(e.model_copy(update={"tiers": (1, 2)}) for e in bank.entries)
    changed = dataclasses.replace(
        whole, playbooks={**whole.playbooks, "spec/phase-2": bank.model_copy(update={"entries": full})}
    )
    monkeypatch.setattr(talking, "book", lambda *, short: changed)
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "accept recommendations", "/continue", "/tier 3 because it is small")
    stage = talk.session.stage
    assert isinstance(stage, Between)
    assert stage.waits == "settled"
    assert both(talk, 2) == ["not_confirmed"]
    talk.ana("y")
    assert both(talk, 2) == []


def test_somebody_elses_answer_about_the_tier_is_not_overruled() -> None:
    """RD-12 The requester settles it; until then the tier stays, and so does the round."""
    talk = SpecTalk(short=False, shared=True)
    talk.ana("/spec Refunds", "/settings answers anyone")
    talk.ana("1: B")
    talk.says("ben", "/tier 3")
    assert talk.spec.tier is None
    assert statuses(talk)["success"] == "open"
    assert not talk.audited("tier_set")
    assert talk.audited("answer.conflict")


def test_a_higher_tier_waits_for_the_answers_of_a_locked_scope() -> None:
    """SC-3"""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "accept recommendations", "/continue")
    assert talk.ana("/tier 1 because it is new ground").outcome == "refused"
    assert not talk.spec.lock.changes


def test_what_is_answered_after_the_tier_rests_on_it() -> None:
    """SC-3 RD-11 Done again, the phase asks only what was answered before the change."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", "accept recommendations", "/continue", "/tier 3 because it is small")
    assert statuses(talk) == {"compared": "open", "evidence": "withdrawn", "depth": "open", "patterns": "withdrawn"}
    talk.ana("accept recommendations", "/continue", "/jump 2")
    stage = talk.session.stage
    assert isinstance(stage, Between)
    assert stage.waits == "settled"


def test_what_was_withdrawn_is_not_asked_after_an_import() -> None:
    """AU-1 CA-6 And its phase is done."""
    talk = second_round("2: C", "/tier 3 because it is too much", "/continue")
    back = imported(with_log(talk))
    assert back.last is not None
    assert back.last.outcome == "accepted"
    assert back.spec.run(1).status == "completed"  # type: ignore[union-attr]
    assert not [d for d in back.session.dropped if d.later and d.phase == 1]
    assert both(back, 1) == []


def test_the_result_of_a_round_says_that_nothing_is_missing() -> None:
    """CA-5"""
    talk = second_round("2: C", "/tier 3 because it is too much")
    first, second = spec_state(talk.session, "x")["gates"]["phase_1"]["rounds"]
    assert (first["ready_to_proceed"], second["ready_to_proceed"]) == (True, True)
    assert second["withdrawn"] == ["platforms", "rules", "exists"]
    assert second["questions"] == ["impact"]
