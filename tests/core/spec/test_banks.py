"""The bundled banks at every tier: good questions, within the ceilings, whatever was decided before (SP-1, RD-4)."""

from __future__ import annotations

import itertools

import pytest

from bot.core.lints import lint_round
from bot.core.policies import SPEC
from bot.core.scope import INPUTS
from bot.core.slots import Held, adjusted, in_play
from bot.core.spec import PHASES, SCOPE_FIELDS, TIERS
from tests.core.spec.talk import SpecTalk, book

BANKS = book(short=False).playbooks


@pytest.mark.parametrize(("phase", "tier"), list(itertools.product(PHASES, TIERS)))
def test_every_bank_asks_well_at_every_tier(phase: object, tier: int) -> None:
    """RD-2 RD-3 SP-1 Nothing refused, nothing warned; tier 3 shortens, and never to nothing."""
    bank = BANKS[phase.bank]  # type: ignore[attr-defined]
    entries = [e for e in in_play(bank, tier) if tier != 3 or e.question.id != "tier"]  # known by then
    questions = [adjusted(entry, {}, tier).question for entry in entries]
    policy = SPEC.model_copy(update={"tier": tier})
    found = [f for f in lint_round(questions, policy) if f.code != "over_ceiling"]
    assert not found
    assert questions
    assert tier == 1 or len(questions) <= (policy.ceiling or 0)
    assert len(in_play(bank, 3)) <= len(in_play(bank, 2)) <= len(in_play(bank, 1))
    assert any(q.stakes == "critical" for q in questions)


def test_phase_1_asks_for_all_that_locks_the_scope_at_every_tier() -> None:
    """SC-3"""
    for tier in TIERS:
        fields = {e.question.field for e in in_play(BANKS["spec/phase-1"], tier) if e.question.stakes == "critical"}
        assert set(INPUTS) <= fields


def test_fields_and_options_named_by_other_questions_exist() -> None:
    """A rule that names a field or a value that nothing sets would never hold."""
    fields = {e.question.field for p in PHASES for e in BANKS[p.bank].entries}
    values = {(e.question.field, o.value) for p in PHASES for e in BANKS[p.bank].entries for o in e.question.options}
    for entry in (e for p in PHASES for e in BANKS[p.bank].entries):
        assert entry.inherits is None or entry.inherits in fields
        assert all(f.removeprefix("scope_lock.") in SCOPE_FIELDS for f in entry.depends)
        for rule in itertools.chain.from_iterable(entry.against.values()):
            field, _, value = rule.partition("=")
            assert (field, value) in values, rule


def test_a_default_is_inherited_from_what_was_decided() -> None:
    """SP-1 The recommendation of phase 5 follows the screens of phase 1, and says so."""
    entry = next(e for e in BANKS["spec/phase-5"].entries if e.question.id == "screens")
    told = Held("mobile", "B, Small screens first", "clar-2026-03-02-007", 1)
    question = adjusted(entry, {"meta.platforms": told}, 1).question
    assert question.recommended is not None
    assert question.recommended.value == "mobile"
    assert question.grounding is not None
    assert question.grounding.reference == "clar-2026-03-02-007"
    assert "Small screens first" in (question.rationale or "")


def test_a_default_is_derived_from_the_tier() -> None:
    """SP-1"""
    entry = next(e for e in BANKS["spec/phase-7"].entries if e.question.id == "length")
    keys = {tier: adjusted(entry, {}, tier).question.recommended for tier in TIERS}
    assert {tier: o.key for tier, o in keys.items() if o is not None} == {1: "B", 2: "A", 3: "A"}


@pytest.mark.parametrize(("tier", "most"), [(1, 10), (2, 6), (3, 4)])
def test_no_round_is_larger_than_the_ceiling_of_its_tier(tier: int, most: int) -> None:
    """RD-4 A whole specification at each tier with the bundled banks; what does not fit is asked later."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds", f"/tier {tier}")
    sizes: list[int] = []
    for _ in range(60):
        session = talk.session
        if session.stage.kind == "ended":
            break
        if session.stage.kind == "asking":
            assert session.round is not None
            sizes.append(len(session.round.items))
            talk.ana("accept recommendations")
        elif session.stage.kind == "between" and session.stage.waits == "go":
            talk.ana("/continue")
        else:
            talk.ana("y")
    assert talk.session.stage.kind == "ended"
    assert max(sizes[1:]) <= most
    assert len({r.phase for r in talk.session.rounds}) == 7


def test_what_is_not_asked_is_kept_with_its_reason() -> None:
    """RD-4 RD-5"""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds")
    reasons = {d.question: d.reason for d in talk.session.dropped}
    assert "tier 2 (standard)" in reasons["platforms"]
    assert all(reasons.values())


def test_ranking_puts_the_critical_ones_first_and_lists_the_rest() -> None:
    """RD-4 At the ceiling of tier 3 the critical ones of phase 1 are asked, the rest is deferred."""
    talk = SpecTalk(short=False)
    talk.ana("/spec Refunds: incremental")
    assert talk.session.round is not None
    asked = [i.question.id for i in talk.session.round.items]
    later = [d.question for d in talk.session.dropped if d.later]
    assert set(asked) | set(later) >= {"boundary", "surfaces", "comparators", "role"}
    stakes = [i.question.stakes for i in talk.session.round.items]
    assert not later or all(s == "critical" for s in stakes)
