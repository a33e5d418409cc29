"""The evidence of a phase that a session in memory holds. The records commit with the state, so they agree (CA-6)."""

from __future__ import annotations

from bot.core import scope
from bot.core.capture import reference
from bot.core.gate import Asked, Evidence, Gate, Surfaced, check
from bot.core.slots import rounds_of, spec_of
from bot.core.state import Between, Item, Round, Session


def of_session(session: Session, number: int) -> Evidence:
    spec = spec_of(session)
    run = spec.run(number)
    rounds = rounds_of(session, number) if run is not None else ()
    confirmed_at = spec.lock.reconfirmed_at
    waits = session.stage.waits if isinstance(session.stage, Between) else None
    return Evidence(
        phase=number,
        rounds=tuple(
            Surfaced(
                round=r.nth or r.number,
                asked=tuple(_asked(item) for item in r.items if item.status != "withdrawn"),
                confirmed=not r.items and r.closed_at is not None,
            )
            for r in rounds
            if not withdrawn(r)
        ),
        bulk=any(r.bulk_used for r in rounds),
        scope_locked=spec.lock.locked,
        missing=tuple(f"{scope.INPUTS[field]}: {why}" for field, why in scope.inputs(session).missing.items()),
        reconfirmed=run is not None and confirmed_at is not None and confirmed_at >= run.started_at,
        escalated=waits in ("escalation", "input") and number == spec.phase,
    )


def withdrawn(round_: Round) -> bool:
    """Whether all that it asked was withdrawn: it proves nothing, and holds nothing back (CA-4)."""
    return bool(round_.items) and all(item.status == "withdrawn" for item in round_.items)


def _asked(item: Item) -> Asked:
    answer = item.answer if item.status == "resolved" else None
    return Asked(
        question=item.question.id,
        topic=item.question.topic,
        clarification=item.clarification if answer else None,
        chosen_via=answer.via if answer else None,
        user_message_ref=reference(answer.ref) if answer else None,
        audited=answer is not None,
    )


def gate_of(session: Session, number: int) -> Gate:
    """The gate of a phase, from the session's state."""
    return check(session.id, of_session(session, number))
