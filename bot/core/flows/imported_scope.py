"""Whether the scope that a file calls locked follows from its own answers and changes (SC-3, AU-1)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from bot.core import scope
from bot.core.slots import held, spec_of
from bot.core.spec import SCOPE_FIELDS, Change, Lock
from bot.core.spec_file import Document, Mistake
from bot.core.state import Session

_WAY_ON: Final = "export it anew, or set scope_lock.locked to false: it is asked again"
_LISTS: Final = ("in_scope", "out_of_scope")


def lock_of(found: Document, rounds: Sequence[int], at: datetime) -> Lock:
    """The lock to keep. `rounds`: the file's numbers of the rounds that were read in, in their order."""
    told = found.lock
    if told is None:
        return Lock()
    changes = tuple(
        Change(
            **c.model_dump(exclude={"after_round", "at"}),
            at=at,
            claimed_at=c.at,
            rounds=len(rounds) if c.after_round is None else sum(1 for n in rounds if n <= c.after_round),
        )
        for c in told.changes
    )
    kept = told.model_dump(include={*SCOPE_FIELDS, "scope_summary"})
    proof = told.model_dump(include={"reconfirmed_by", "reconfirmed_ref"})
    again = at if told.reconfirmed_ref is not None else None
    return Lock(**kept, **proof, locked_at=at, reconfirmed_at=again, changes=changes)


def contradictions(session: Session) -> list[Mistake]:
    """Of a session that was read in, its lock in place: what its answers do not say, or say otherwise."""
    state = spec_of(session)
    lock = state.lock
    if not lock.locked:
        return []
    known = held(session).get(scope.TIER)
    tier = scope.tier_in(known.value) if known is not None else lock.complexity_tier  # /tier leaves no answer
    made = scope.inputs(session.model_copy(update={"spec": state.model_copy(update={"tier": tier})}))
    if made.missing:
        return [
            Mistake(path="scope_lock", code="scope_incomplete", message=f"{scope.INPUTS[field]}: {why}; {_WAY_ON}")
            for field, why in made.missing.items()
        ]
    said: dict[str, Any] = {
        "complexity_tier": made.tier,
        "surface_count": made.surfaces,
        "comparator_count": made.comparators,
        **_limits(session),
    }
    return [
        Mistake(
            path=f"scope_lock.{field}",
            code="scope_contradicts",
            message=f"it says {scope.present(lock, field)}, the answers say {_words(value)}; {_WAY_ON}",
        )
        for field, value in said.items()
        if getattr(lock, field) != value
    ]


def _limits(session: Session) -> dict[str, tuple[str, ...]]:
    """What is in and out by the answers alone, and by the last change that came after them."""
    state = spec_of(session)
    plain = session.model_copy(update={"spec": state.model_copy(update={"lock": Lock()})})
    made, answer = scope.inputs(plain), held(plain).get(scope.BOUNDARY)
    limits = {"in_scope": made.in_scope, "out_of_scope": made.out_of_scope}
    for change in state.lock.changes:
        at = change.claimed_at or change.at
        if change.field in _LISTS and (answer is None or answer.at is None or at > answer.at):
            limits[change.field] = () if change.to == "nothing" else tuple(change.to.split("; "))
    return limits


def _words(value: int | tuple[str, ...]) -> str:
    return ("; ".join(value) or "nothing") if isinstance(value, tuple) else str(value)
