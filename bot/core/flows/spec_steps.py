"""Going on in a specification: the one next step, the closed gate, the ways out, and what a change has touched."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core import scope, spec_view, view
from bot.core.capture import reference
from bot.core.flows import handover, injection, intake, phases, spec_beginning
from bot.core.flows import spec as spec_flow
from bot.core.flows.phases import keep
from bot.core.gate import Violation
from bot.core.model import MessageRef, Person
from bot.core.score import Score, score
from bot.core.slots import rounds_of, spec_of
from bot.core.spec import CARRIED, Note, OpenPoint, phase
from bot.core.spec_evidence import gate_of
from bot.core.state import Between, Session
from bot.core.turn import Turn

FIRST = "I can't go on before these are answered; nothing is decided meanwhile."

# -- going on --------------------------------------------------------------------------------------------------------


def go_on(turn: Turn, session: Session, person: Person, ref: MessageRef) -> Session:
    """`/continue`: the one next step, if nothing waits for an answer (RD-6)."""
    stage = session.stage
    if stage.kind == "asking" and session.round is not None:
        bulk = turn.policy(session).bulk_accept
        turn.outcome, turn.reason = "refused", "questions are open"
        turn.tell(
            FIRST,
            view.still_open(session.round, bulk),
            session=session,
            round_=session.round,
        )
        return session
    if isinstance(stage, Between) and stage.waits != "go":
        turn.outcome, turn.reason = "refused", f"waits for an answer: {stage.waits}"
        turn.tell("That decides nothing here; one answer is still needed:", session=session)
        return again(turn, session)
    spec = spec_of(session)
    found = phases.unclear(turn, session)
    step = phases.ahead(turn, session)
    match step.step:
        case "more":
            unconfirmed = "scope_not_reconfirmed" in {v.code for v in gate_of(session, spec.phase).violations}
            if unconfirmed and spec.lock.locked:
                return spec_flow.ask_scope(turn, session)
            return spec_flow.surface(turn, session, "intake")
        case "pause":
            return spec_flow.surface(turn, session, "ambiguity", found)
        case "escalate":
            return escalate(turn, session, person, ref, found)
        case "gate" | "wait":
            return refuse(turn, session, spec.phase, person, "a person")
        case "next" | "finish":
            return _complete(turn, session, found, person, ref)


def _complete(turn: Turn, session: Session, found: Score, person: Person, ref: MessageRef) -> Session:
    """A person lets the work through the gate of its phase; minors that were passed over are noted (SC-1)."""
    spec = spec_of(session)
    run = spec.present
    if run.status == "started":
        notes = tuple(Note(phase=spec.phase, signal=s, at=turn.at) for s in found.signals)
        done = run.model_copy(update={"status": "completed", "completed_at": turn.at})
        spec = spec.with_run(done).model_copy(update={"ambiguity_notes": (*spec.ambiguity_notes, *notes)})
        session = keep(turn, session, spec)
        spec_flow.phase_audit(turn, session, "gate_approved", person, ref)
        spec_flow.phase_audit(
            turn, session, "phase_completed", person, ref,
            run=run.run, score=found.points, ambiguity_notes=[s.id for s in found.signals],
        )  # fmt: skip
        if found.signals:
            turn.tell(f"Noted, not asked: {'; '.join(s.said for s in found.signals)}.", session=session)
    following = phases.next_phase(spec)
    if following is not None:
        return spec_flow.enter(turn, session, following, person, ref)
    left = [p.id for p in spec.open_points if p.status == "open"]
    carried = f" Carried as open points: {', '.join(left)}." if left else ""
    return handover.hand_over(
        turn, session, f"The specification “{spec.name}” is whole: all seven phases are decided.{carried}"
    )


def still_open(turn: Turn, session: Session) -> list[str]:
    """What is on the table, where anything is."""
    round_ = session.round
    return [view.still_open(round_, turn.policy(session).bulk_accept)] if round_ is not None else []


def again(turn: Turn, session: Session) -> Session:
    """Show again what waits for an answer; the same questions, never new ones."""
    stage = session.stage
    if stage.kind == "asking" and session.round is not None:
        intake.show_card(turn, session, session.round, anew=True)
        return session
    if not isinstance(stage, Between):
        return session
    match stage.waits:
        case "settled" if session.round is not None:
            card = spec_view.settled_card(session, view.heading(session.round, ""))
            turn.say(card, card=session.round.card, session=session, round_=session.round)
        case "reconfirm":
            return spec_flow.ask_scope(turn, session)
        case "escalation":
            return _show_ways(turn, session, phases.unclear(turn, session))
        case "input":
            turn.tell(INPUT, session=session)
        case "name":
            return spec_beginning.ask(turn, session)
        case "rationale":
            return spec_flow.show(turn, session, "rationale", spec_view.described_change, changes=stage.changes)
        case "rerun":
            return offer_rerun(turn, session)
        case _:
            turn.tell(phases.ahead(turn, session).words, session=session)
    return session


# -- the gate --------------------------------------------------------------------------------------------------------


def refuse(turn: Turn, session: Session, number: int, person: Person | None, asker: str) -> Session:
    """The gate is closed: each violation named, audited, and the round surfaced again (CA-6)."""
    gate = gate_of(session, number)
    turn.audit(
        "clarification_gate_violation", session, person,
        violations=[v.model_dump(exclude_none=True) for v in gate.violations], asked_by=asker,
    )  # fmt: skip
    by = {"actor": asker} if person is None and asker.startswith("agent:") else {}
    turn.records[-1] = turn.records[-1].model_copy(update={"phase": number, **by})
    lines = [f"The gate of {spec_view.name_of(number)} is closed; {phase(number).waits}.", *_listed(gate.violations)]
    spec = spec_of(session)
    if spec.phase != number:
        turn.tell(*lines, f"/jump {number} goes there.", session=session)
        return session
    if session.stage.kind == "between" and session.stage.waits == "go":
        lines.append(f"/jump {number} asks again what is missing.")
        turn.tell(*lines, session=session)
        return session
    turn.tell(*lines, session=session)
    return again(turn, session)


def _listed(violations: Sequence[Violation]) -> list[str]:
    return [f"• {v.message}" for v in violations]


# -- the ways out of an escalation -----------------------------------------------------------------------------------

INPUT = (
    "Send the revised request as one message. It takes the place of the first one, which stays in the record, and "
    "this phase starts over; what is answered is not asked again. Or: no, to choose another way."
)


def escalate(turn: Turn, session: Session, person: Person, ref: MessageRef, found: Score) -> Session:
    """Asking more would not help: the phase looks mis-scoped, and a person chooses the way (RD-7)."""
    spec = spec_of(session)
    spec = spec.with_run(spec.present.model_copy(update={"escalated": True}))
    if session.round is not None:
        session = turn.put_round(session, session.round.model_copy(update={"escalated": True}))
    session = keep(turn, session, spec)
    waiting = [d.question for d in phases.deferred(session)]
    rounds = len(rounds_of(session, spec.phase))
    spec_flow.phase_audit(
        turn, session, "clarification_escalation", person, ref,
        score=found.points, signals=[s.id for s in found.signals], not_asked=waiting, rounds=rounds,
    )  # fmt: skip
    spec_flow.phase_audit(turn, session, "phase_blocked", person, ref, reason="mis-scoped")
    return _show_ways(turn, session, found)


def _show_ways(turn: Turn, session: Session, found: Score) -> Session:
    why = phases.escalation_why(session, found)
    waiting = [d.topic for d in phases.deferred(session)]
    return spec_flow.show(turn, session, "escalation", lambda s: spec_view.escalation(s, why, found, waiting))


def way_out(turn: Turn, session: Session, choice: str, person: Person, ref: MessageRef) -> Session:
    """One of the numbered ways: an earlier phase again, a revised request, or on with open points."""
    spec = spec_of(session)
    kinds = ("rerun", "revise", "carry") if spec.phase > 1 else ("revise", "carry")
    kind = kinds[int(choice) - 1]
    turn.drop_pending(session=session.id)
    close_card(turn, session, f"✔ {choice}")
    if session.round is not None:
        session = turn.put_round(session, session.round.model_copy(update={"escalated": False}))
    spec_flow.phase_audit(turn, session, "clarification_escalation", person, ref, way=kind, words=ref.quote)
    if kind == "rerun":
        session = turn.put(session, stage=Between())
        return spec_flow.start(turn, session, spec.phase - 1, person, ref)
    if kind == "revise":
        session = turn.put(session, stage=Between(waits="input"))
        turn.tell(INPUT, session=session)
        return session
    return _carry(turn, session, person, ref)


def back_to_the_ways(turn: Turn, session: Session, person: Person, ref: MessageRef) -> Session:
    """Whoever was to send a revised request would rather not: the ways are open again (RD-7)."""
    if session.round is not None:
        session = turn.put_round(session, session.round.model_copy(update={"escalated": True}))
    spec_flow.phase_audit(turn, session, "clarification_escalation", person, ref, words=ref.quote, again=True)
    return _show_ways(turn, session, phases.unclear(turn, session))


def _carry(turn: Turn, session: Session, person: Person, ref: MessageRef) -> Session:
    """Go on: what was not asked becomes named open points, with the person's words. Nothing is decided by it."""
    spec = spec_of(session)
    waiting = [(d.topic, d.question) for d in phases.deferred(session)]
    found = score(session, turn.book.playbooks, turn.book.phrases, turn.book.times).signals
    unclear = [(s.said, s.id) for s in found if s.field not in scope.INPUTS]  # the lock can not do without these
    points = []
    for place, (text, name) in enumerate((*waiting, *unclear), start=len(spec.open_points) + 1):
        point = OpenPoint(
            id=f"V-{place:03d}", phase=spec.phase, text=text, words=ref.quote,
            raised_at=turn.at, raised_by=person.id, user_message_ref=reference(ref),
        )  # fmt: skip
        points.append(point)
        spec_flow.phase_audit(
            turn, session, "verify_item_raised", person, ref, id=point.id, text=text, about=name, words=ref.quote
        )
    carried = {name for _, name in waiting}
    dropped = tuple(
        d.model_copy(update={"later": False, "reason": CARRIED})
        if d.question in carried and d.phase == spec.phase
        else d
        for d in session.dropped
    )
    run = spec.present.model_copy(update={"carried": True})
    spec = spec.with_run(run).model_copy(update={"open_points": (*spec.open_points, *points)})
    session = keep(turn, session, spec, stage=Between(), dropped=dropped)
    listed = [f"{p.id} {p.text}" for p in points]
    turn.tell(
        "Carried as open points:" if listed else "Nothing is left to carry.",
        *listed,
        "/point V-001 done: how — settles one." if listed else "",
        phases.ahead(turn, session).words,
        session=session,
    )
    return session


def revised(turn: Turn, session: Session, text: str, person: Person, ref: MessageRef) -> Session:
    """The revised request takes the place of the first one; the phase starts over with what is still open."""
    spec = spec_of(session)
    request = session.request.model_copy(update={"text": text.strip()})
    spec = spec.model_copy(update={"earlier_requests": (*spec.earlier_requests, session.request.text)})
    session = keep(turn, session, spec, request=request)
    session = injection.note(turn, session, person, text, ())
    return spec_flow.start(turn, session, spec.phase, person, ref)


# -- after a change of the scope -------------------------------------------------------------------------------------


def offer_rerun(turn: Turn, session: Session) -> Session:
    """Offer to do again what the change has made doubtful (SC-3)."""
    doubtful = phases.doubtful(turn, session)
    if not doubtful:
        return spec_flow.ask_scope(turn, session)
    named = ", ".join(f"{phase(n).name} (/jump {n})" for n in doubtful)
    return spec_flow.show(
        turn, session, "rerun",
        lambda s: spec_view.lines(
            "What the change touches",
            f"Done under the old scope: {named}. Doing one again asks only what rests on what has changed.",
            "Press one, or write: go on",
            rows=spec_view.buttons(s),
        ),
        doubtful=doubtful,
    )  # fmt: skip


def close_card(turn: Turn, session: Session, words: str) -> None:
    """The card that waited loses its buttons and says what was decided."""
    stage = session.stage
    if isinstance(stage, Between) and stage.card is not None:
        turn.redraw(stage.card, view.says(words), session)
