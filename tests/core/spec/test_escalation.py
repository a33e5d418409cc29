"""The way back out of an escalation, and what stays on record of it (RD-7, CA-5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.core.events import RaisedSignal, SignalsRaised
from bot.core.spec_record import spec_state
from tests.core.spec.talk import DISCOVERED, SpecTalk
from tests.core.spec.test_gate import both
from tests.core.spec.test_import import audited, imported


def raises(talk: SpecTalk, *said: str) -> None:
    signals = tuple(RaisedSignal(kind="diverging", said=words, evidence="line 3") for words in said)
    talk.happens(SignalsRaised(session=talk.session.id, raised_by="agent:writer", signals=signals))


def test_a_signal_is_the_agents_own_on_record_and_the_same_one_changes_nothing() -> None:
    """SC-2 AU-2"""
    talk = SpecTalk()
    talk.ana(*DISCOVERED)
    raises(talk, "two readings")
    raises(talk, "two readings")
    assert talk.last is not None
    assert talk.last.outcome == "ignored"
    assert [(e.actor, e.phase) for e in talk.audited("round.signal_raised")] == [("agent:writer", 1)]
    assert not [r for r in talk.clarified() if r.chosen_via not in ("user_response", "accept_recommendations_bulk")]


def test_an_earlier_phase_again_is_a_way_out_and_the_escalation_stays_counted() -> None:
    """RD-7 RD-11 CA-5 It asks only what is new, and the phase that was escalated begins anew afterwards."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED, "/continue", "A, A")
    raises(talk, "two readings of refund", "two readings of shop")
    made = talk.ana("/continue")
    assert made.outcome == "accepted"
    assert "This phase looks mis-scoped" in talk.heard
    assert "1) Do discovery again" in talk.heard
    talk.ana("1 the readings begin there")
    assert (talk.spec.phase, talk.spec.present.run) == (1, 2)
    assert "Loopback" in talk.heard
    [chosen] = [e for e in talk.audited("clarification_escalation") if e.details.get("way")]
    assert (chosen.details["way"], chosen.details["words"]) == ("rerun", "1 the readings begin there")
    talk.ana("y", "/jump 2")
    gate = spec_state(talk.session, "x")["gates"]["phase_2"]
    assert gate["run"] == 2
    assert gate["intake_clarifications"]["escalated"] is True


ESCALATED = [{"code": "escalated"}]
CHOSEN = {"event": "clarification_escalation", "phase": 1, "actor": "x:ana", "details": {"way": "carry"}}


@pytest.mark.parametrize(
    ("violations", "log", "codes"),
    [
        (ESCALATED, None, ["escalated"]),
        ([], [], ["escalated"]),  # the file's own log knows better
        (["escalated", None], [], ["escalated"]),
        ([], [CHOSEN], []),
        ([], None, []),
    ],
)
def test_an_escalation_waits_in_the_imported_specification_as_well(
    violations: list[Any], log: list[Any] | None, codes: list[str]
) -> None:
    """RD-7 CA-6 An export and an import are no way out of it."""
    talk = SpecTalk()
    talk.ana(*DISCOVERED)
    raises(talk, "one", "two")
    talk.ana("/continue")
    made = json.loads(json.dumps(spec_state(talk.session, "x")))
    assert [v["code"] for v in made["gates"]["phase_1"]["violations"]] == ["escalated"]
    made["gates"]["phase_1"]["violations"] = violations
    if log is not None:
        made = audited(made, talk)
        made["audit_log"] += log
    again = imported(made)
    assert both(again, 1) == codes
    assert (again.session.stage.waits == "escalation") is bool(codes)  # type: ignore[union-attr]
    if codes:
        again.ana("/continue")
        assert both(again, 1) == codes
