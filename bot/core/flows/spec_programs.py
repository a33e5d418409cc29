"""What programs tell of a specification: a gate found closed, something unclear. They decide nothing."""

from __future__ import annotations

from bot.core import view
from bot.core.events import GateRefused, SignalsRaised
from bot.core.flows import phases, spec_steps
from bot.core.score import BadSignal, of_agent, score
from bot.core.slots import spec_of
from bot.core.spec import LAST
from bot.core.spec_evidence import gate_of
from bot.core.spec_view import score_lines
from bot.core.state import Session
from bot.core.turn import Turn


def _found(turn: Turn, name: str) -> Session | None:
    session = turn.state.session(name)
    if session is None or session.spec is None or session.stage.kind == "ended":
        turn.ignore("there is no such open specification")
        return None
    return session


def gate_refused(turn: Turn, event: GateRefused) -> None:
    """Audited, and the round is put before people again (CA-6). An open gate is passed over: it opened meanwhile."""
    session = _found(turn, event.session)
    if session is None:
        return
    if not 1 <= event.phase <= LAST or gate_of(session, event.phase).open:
        turn.ignore("the gate is open, or there is no such phase")
        return
    spec_steps.refuse(turn, session, event.phase, None, event.asked_by)


def signals_raised(turn: Turn, event: SignalsRaised) -> None:
    """Kept with their evidence; the next step asks about them, if they add up (SC-1, SC-2)."""
    session = _found(turn, event.session)
    if session is None:
        return
    if not event.raised_by.startswith(("agent:", "model:")):
        turn.outcome, turn.reason = "refused", "raised_by is agent:<name> or model:<name>"
        return
    try:
        signals = tuple(of_agent(s.model_dump(), event.raised_by) for s in event.signals)
    except BadSignal as error:
        turn.outcome, turn.reason = "refused", str(error)
        return
    state = spec_of(session)
    known = {s.id for s in state.signals}
    fresh = tuple(s for s in signals if s.id not in known)
    if not fresh:
        turn.ignore("these signals are known already")
        return
    session = phases.keep(turn, session, state.model_copy(update={"signals": (*state.signals, *fresh)}))
    for signal in fresh:
        turn.audit(
            "round.signal_raised", session, None,
            signal=signal.id, kind=signal.kind, said=signal.said, evidence=signal.evidence, raised_by=event.raised_by,
        )  # fmt: skip
        turn.records[-1] = turn.records[-1].model_copy(
            update={"actor": event.raised_by, "phase": spec_of(session).phase}
        )  # AU-2
    found = score(session, turn.book.playbooks, turn.book.phrases, turn.book.times)
    who = view.shortened(event.raised_by.partition(":")[2], 40)
    turn.tell(
        f"{who} says that something is unclear.",
        *score_lines(found),
        phases.ahead(turn, session).words if session.stage.kind == "between" else "",
        session=session,
    )
