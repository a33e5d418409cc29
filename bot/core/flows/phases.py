"""What follows in a specification once a round has its answers: tier, scope lock, and what would come next.

Nothing here asks or advances: it says what a person's next word would do (SP-2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from bot.core import scope, scope_change, spec_view, view
from bot.core.capture import reference
from bot.core.flows.banks import look_again
from bot.core.model import MessageRef, Person
from bot.core.playbook import Entry, Playbook
from bot.core.replies.phrases import PhraseBook
from bot.core.score import Score, score
from bot.core.slots import answered as answered_in
from bot.core.slots import held, in_play, rounds_of, spec_of, stale
from bot.core.spec import CONFIRMED_IN, LAST, LOCKED_IN, SCOPE_FIELDS, Change, Lock, Run, Spec, phase, tier_words
from bot.core.spec_evidence import gate_of
from bot.core.state import Between, Dropped, Round, Session
from bot.core.turn import Turn

MOST_ROUNDS = 3  # RD-7


def left_words(session: Session) -> str:
    """What the present phase still asks, where it waits for nothing but a person's word to go on."""
    left = ", ".join(d.topic for d in deferred(session))
    idle = isinstance(session.stage, Between) and session.stage.waits == "go"
    return f"/continue asks what is left: {left}." if left and idle else ""


def scope_hint(session: Session, said: str, book: PhraseBook) -> str:
    """Words about the scope where it can not change: nothing is changed, and where it can be (SC-3)."""
    state = session.spec
    if state is None or not state.lock.locked or not scope_change.speaks_of_it(said, state, book):
        return ""
    number = CONFIRMED_IN
    return f"The scope stays as it is (/show scope). Phase {number} shows it again and can change it: /jump {number}"


class Ahead(NamedTuple):
    """What `/continue` would do now, and in words."""

    step: Literal["more", "pause", "escalate", "gate", "next", "finish", "wait"]
    words: str


def keep(turn: Turn, session: Session, spec: Spec, **more: Any) -> Session:
    return turn.put(session, spec=spec, **more)


def deferred(session: Session) -> tuple[Dropped, ...]:
    """Questions of the present phase that wait for a later round (RD-4)."""
    number = spec_of(session).phase
    return tuple(d for d in session.dropped if d.later and d.phase == number)


def unclear(turn: Turn, session: Session) -> Score:
    """What is unclear and not carried on: beside it, what the scope needs is told by its closed gate (RD-7, SC-3)."""
    found = score(session, turn.book.playbooks, turn.book.phrases, turn.book.times)
    if not spec_of(session).present.carried:
        return found
    return Score(signals=tuple(s for s in found.signals if s.field not in scope.INPUTS))


def ahead(turn: Turn, session: Session) -> Ahead:
    """The next step, from the state alone."""
    spec = spec_of(session)
    stage = session.stage
    if not isinstance(stage, Between) or stage.waits != "go":
        return Ahead("wait", "It waits for your answer above.")
    here = spec_view.name_of(spec.phase)
    run = spec.present
    found = unclear(turn, session)
    left = deferred(session)
    used = len(rounds_of(session, spec.phase))
    if run.status == "started" or (next_phase(spec) is None and found.action != "go"):  # read in whole
        if found.action == "escalate":
            return Ahead("escalate", f"Ambiguity score {found.points}: /continue shows the ways on.")
        if (left or found.action == "pause") and used >= MOST_ROUNDS:
            return Ahead("escalate", f"Three rounds are used up in {here}: /continue shows the ways on.")
        if not used:
            return Ahead("more", f"/continue asks what {here} needs.")
        if left:
            return Ahead("more", left_words(session))
        if found.action == "pause":
            listed = "; ".join(s.said for s in found.signals)
            return Ahead("pause", f"Ambiguity score {found.points}: {listed}. /continue asks about it.")
    gate = gate_of(session, spec.phase)
    if not gate.open:
        return Ahead("gate", f"The gate of {here} is closed: {gate.violations[0].message}")
    following = next_phase(spec)
    if following is None:
        return Ahead("finish", "/continue hands over the whole specification.")
    return Ahead("next", f"/continue goes on to {spec_view.name_of(following)}.")


def next_phase(spec: Spec) -> int | None:
    """The phase after the present one that is not done; then earlier ones that were jumped over."""
    done = {r.phase for r in spec.runs if r.status == "completed"} | {spec.phase}
    order = (*range(spec.phase + 1, LAST + 1), *range(1, spec.phase))
    return next((n for n in order if n not in done), None)


def answered(turn: Turn, session: Session, round_: Round, lead: Sequence[str]) -> Session:
    """Every question of the round has ended: echo all of it (RD-16), and wait. Called by `intake.close`."""
    already = round_.closed_at is not None
    round_ = round_.model_copy(update={"closed_at": turn.at})
    session = turn.put_round(session, round_, stage=Between())
    last = max((i.answer for i in round_.items if i.answer is not None), key=lambda a: a.at, default=None)
    told: tuple[str, ...] = ()
    if last is not None:
        session, told = settle_scope(turn, session, Person(id=last.by, name=last.by_name), last.ref)
    session = look_again(turn, session)
    if not already:
        turn.audit(
            "round.closed",
            session,
            round_=round_,
            round=round_.nth or round_.number,
            resolved=sum(1 for i in round_.items if i.status == "resolved"),
            asked=len(round_.items),
        )
    turn.drop_pending(session=session.id)
    words = view.closing_lines(round_)
    change = f"To change one: change {round_.items[0].number} to …" if round_.items else ""
    step = ahead(turn, session)
    again = _asked_again(session) if step.step == "more" else ""
    message = view.says(*lead, *words, *told, again, change, step.words)
    turn.say(message.model_copy(update={"buttons": view.undo_row(round_)}), session=session, round_=round_)
    return session


def _asked_again(session: Session) -> str:
    """Why a question of the scope comes again among those that are left, where its answer does not do (SC-3)."""
    spec = spec_of(session)
    if spec.phase != LOCKED_IN or spec.lock.locked:
        return ""
    missing = scope.inputs(session).missing
    listed = "; ".join(f"{scope.INPUTS[field]}: {why}" for field, why in missing.items() if field in held(session))
    return f"Asked again with the rest: {listed}." if listed else ""


def settle_scope(turn: Turn, session: Session, person: Person, act: MessageRef) -> tuple[Session, tuple[str, ...]]:
    """Set the tier and lock the scope from what phase 1 holds (SC-3). The lines are for the echo."""
    spec = spec_of(session)
    if spec.phase != LOCKED_IN:
        return session, ()
    told: list[str] = []
    ref = reference(act)
    fields = held(session)
    if scope.TIER in fields and fields[scope.TIER].phase is not None:
        tier = scope.tier_in(fields[scope.TIER].value)
        if tier is not None and tier != spec.tier:
            spec = spec.model_copy(update={"tier": tier})
            session = keep(turn, session, spec)
            turn.audit("tier_set", session, person, tier=tier, user_message_ref=ref)
            told.append(f"Tier {tier_words(tier)}.")
    fresh = scope.locked(session, turn.at)
    if fresh is None:
        if spec.lock.locked:
            session, words = _unlocked(turn, session, act, person)
            told.append(words)
        return session, tuple(told)
    if not spec.lock.locked:
        fresh = fresh.model_copy(update={"changes": spec.lock.changes})
        session = keep(turn, session, spec.model_copy(update={"lock": fresh}))
        turn.audit("scope_locked", session, person, user_message_ref=ref, **lock_details(fresh))
        told.append(
            f"Scope locked: {spec_view.plural(fresh.surface_count, 'surface')}, "
            f"{spec_view.plural(fresh.comparator_count, 'comparator')}; "
            f"out: {'; '.join(fresh.out_of_scope) or 'nothing is ruled out'}."
        )
        return session, tuple(told)
    changes = differences(turn, session, fresh, act.quote, person, ref)
    if changes:
        session = change_scope(turn, session, fresh, changes, person)
        told += spec_view.change_lines(spec_of(session).lock, len(spec.lock.changes))
        if touched := doubtful(turn, session):  # SC-3: the offer to do again what the change invalidates
            told.append(f"Done under the old scope: {', '.join(f'/jump {n}' for n in touched)} does it again.")
    return session, tuple(told)


def _unlocked(turn: Turn, session: Session, act: MessageRef, person: Person) -> tuple[Session, str]:
    """An answer that the lock rests on was replaced by one that does not do: nothing is locked any more (SC-3)."""
    spec = spec_of(session)
    gone = dict.fromkeys(("locked_at", "reconfirmed_at", "reconfirmed_by", "reconfirmed_ref"))
    open_lock = spec.lock.model_copy(update=gone)
    session = keep(turn, session, spec.model_copy(update={"lock": open_lock}))
    missing = scope.inputs(session).missing
    listed = "; ".join(f"{scope.INPUTS[field]}: {why}" for field, why in missing.items())
    details: dict[str, Any] = {
        "field": "locked",
        "from": "yes",
        "to": "no",
        "at_phase": spec.phase,
        "missing": listed,
    }
    turn.audit("scope_change", session, person, rationale=act.quote, user_message_ref=reference(act), **details)
    return session, f"The scope is not locked any more. {listed[0].upper()}{listed[1:]}."


def taken_back(turn: Turn, session: Session, act: MessageRef, person: Person) -> Session:
    """Answers were withdrawn: neither the tier nor the lock outlives the answer that it was made from (SC-3)."""
    spec = spec_of(session)
    if spec.tier is not None and not spec.lock.changes and scope.TIER not in held(session):
        session = keep(turn, session, spec.model_copy(update={"tier": None}))
        turn.audit("tier_set", session, person, tier=None, user_message_ref=reference(act))
    if spec_of(session).lock.locked and scope.inputs(session).missing:
        session, words = _unlocked(turn, session, act, person)
        turn.tell(words, session=session)
    return session


def lock_details(lock: Lock) -> dict[str, Any]:
    return lock.model_dump(
        mode="json",
        include={
            "complexity_tier",
            "scope_summary",
            "in_scope",
            "out_of_scope",
            "surface_count",
            "comparator_count",
        },
    )


def differences(
    turn: Turn, session: Session, new: Lock, rationale: str, person: Person, ref: str
) -> tuple[Change, ...]:
    """Field by field, what differs between the lock and another one."""
    spec, rounds = spec_of(session), len(session.rounds)
    old = spec.lock
    return tuple(
        Change(
            at_phase=spec.phase,
            field=field,
            was=scope.present(old, field),
            to=scope.present(new, field),
            rationale=rationale,
            at=turn.at,
            by=person.id,
            user_message_ref=ref,
            rounds=rounds,
        )
        for field in SCOPE_FIELDS
        if getattr(old, field) != getattr(new, field)
    )


def change_scope(turn: Turn, session: Session, new: Lock, changes: tuple[Change, ...], person: Person) -> Session:
    """Record deliberate changes of the locked scope, one entry a field (SC-3)."""
    spec = spec_of(session)
    scope_now = {field: getattr(new, field) for field in SCOPE_FIELDS}
    lock = spec.lock.model_copy(update={**scope_now, "changes": (*spec.lock.changes, *changes)})
    session = keep(turn, session, spec.model_copy(update={"lock": lock, "tier": lock.complexity_tier}))
    for change in changes:
        details: dict[str, Any] = change.model_dump(mode="json", exclude={"at", "by", "was", "rounds"})
        details["from"] = change.was
        turn.audit("scope_change", session, person, **details)
        if change.field == "complexity_tier":
            turn.audit("tier_set", session, person, tier=int(change.to), user_message_ref=change.user_message_ref)
    return look_again(turn, session) if rounds_of(session, spec.phase) else session


def doubtful(turn: Turn, session: Session) -> tuple[int, ...]:
    """Phases that are done and rest on a changed part of the scope, or ask more at the changed tier (SC-3)."""
    spec = spec_of(session)
    found = []
    for run in spec.runs:
        playbook = turn.book.playbooks.get(phase(run.phase).bank)
        if run.status != "completed" or run.phase == spec.phase or playbook is None:
            continue
        given = answered_in(session, run.phase)
        rests = any(e.question.id in given and stale(e, given[e.question.id], spec) for e in playbook.entries)
        if rests or any(e.question.id not in given for e in _new_in_play(spec, run, playbook)):
            found.append(run.phase)
    return tuple(found)


def _new_in_play(spec: Spec, run: Run, playbook: Playbook) -> list[Entry]:
    """What the present tier asks in a phase that was done at another one."""
    later = [
        c for c in spec.lock.changes if c.field == "complexity_tier" and run.completed_at and c.at > run.completed_at
    ]
    before = in_play(playbook, int(later[0].was)) if later else in_play(playbook, spec.working_tier)
    return [e for e in in_play(playbook, spec.working_tier) if e not in before]


def escalation_why(session: Session, found: Score) -> str:
    """One sentence: why more questions do not help here (RD-7)."""
    spec = spec_of(session)
    waits = phase(spec.phase).waits
    if found.action == "escalate":
        return f"Too much is unclear to settle it by asking here; {waits}."
    return f"Its three rounds are used up and something is still open; a fourth is not asked, and {waits}."
