"""An exported specification comes back: as a paused session, its answers marked as imported (AU-1).

The store stamps its own times; what the file claims stands beside them. A file that names an illegal way of choosing,
a time that can not be, or a scope that its own answers contradict, is refused whole, and nothing of it is written.
A file without an audit log proves no answer: see `flows.unproven`.
"""

from __future__ import annotations

from typing import Any

from bot.core import spec_view, view
from bot.core.capture import audit_of, clarification, iso
from bot.core.events import SpecImported, import_reference
from bot.core.flows import phases, spec, unproven
from bot.core.flows.banks import bank, look_again
from bot.core.flows.imported_scope import contradictions, lock_of
from bot.core.model import Answer, MessageRef, Person, Question
from bot.core.slots import rounds_of, spec_of
from bot.core.spec import LAST, Note, OpenPoint, PointAct, Run, Spec, brief, phase
from bot.core.spec_file import Document, Mistake, Told, read
from bot.core.state import Between, Dropped, Item, Request, Round, Session, Settled
from bot.core.turn import Turn

Group = tuple[int, int, int]  # the round over all phases, the phase, the round in it


def imported(turn: Turn, event: SpecImported) -> None:
    """Read the document in, or refuse it with every reason."""
    found = read(event.document, turn.at)
    if not isinstance(found, Document):
        _refused(turn, event, found)
        return
    session = _session(turn, found, event.digest)
    wrong = [*_elsewhere(turn, found), *contradictions(session)]
    if wrong:
        _refused(turn, event, wrong)
        return
    if not found.proven:
        session = unproven.known_only(turn, session)
    turn.set(counted=session.number)
    session = turn.put(session)
    session = _recorded(turn, session, found, event.digest)
    session = _still_to_ask(turn, session)
    count = spec_view.plural(len(found.clarifications), "answer")
    here = spec_view.name_of(spec_of(session).phase)
    marked = f"{count}, marked as imported; the times are as the file claims them."
    turn.tell(
        f"Read in: the specification “{found.name}” (#{session.number}), {here}.",
        *((marked,) if found.proven else unproven.words(found)),
        f"/resume {session.number} goes on with it.",
        session=session,
    )


def _elsewhere(turn: Turn, found: Document) -> list[Mistake]:
    """Answers to questions that another phase asks: evidence of one phase never serves another's gate (CA-6)."""
    asked = {n: {e.question.id for e in bank(turn, n).entries} for n in range(1, LAST + 1)}
    wrong = []
    for number, told in enumerate(found.clarifications):
        own = [n for n, questions in asked.items() if told.question in questions]
        if own and told.phase not in own:
            said = f"phase {told.phase} does not ask “{told.topic}”, phase {own[0]} does; export it anew"
            wrong.append(
                Mistake(
                    path=f"context.clarifications[{number}].phase", code="no_phase", message=view.shortened(said, 200)
                )
            )
    return wrong


def _refused(turn: Turn, event: SpecImported, mistakes: list[Mistake]) -> None:
    turn.outcome, turn.reason = "refused", "\n".join(m.line() for m in mistakes[:20])
    turn.audit("import.refused", None, None, digest=event.digest, mistakes=[m.model_dump() for m in mistakes])


# -- the session that the file tells of ------------------------------------------------------------------------------


def _groups(found: Document) -> dict[Group, list[Told]]:
    """The answers by the round that they were given in, in the order of the rounds."""
    groups: dict[Group, list[Told]] = {}
    for told in found.clarifications:
        whole = told.run_round if told.run_round is not None else 0
        groups.setdefault((whole, told.phase, told.round), []).append(told)
    return dict(sorted(groups.items()))


def _session(turn: Turn, found: Document, digest: str) -> Session:
    """With its rounds, its answers and its scope; nothing is kept or recorded yet."""
    number = turn.next_number()
    person = Person(id=found.requester, name=found.requester_name or found.requester.partition(":")[2])
    ref = MessageRef(id=import_reference(digest), quote=found.name)
    groups = _groups(found)
    state = Spec(
        name=found.name,
        tier=found.tier,
        phase=found.phase,
        lock=lock_of(found, [group[0] for group in groups], turn.at),
        runs=tuple(run for n in range(1, LAST + 1) if (run := _run(turn, found, groups, n)) is not None),
        inherited=found.inherited,
        signals=found.signals,
        ambiguity_notes=tuple(Note(phase=n, signal=signal, at=turn.at) for n, signal in found.notes),
        open_points=_points(turn, found),
        incidents=found.incidents,
        earlier_requests=found.earlier_requests,
    )
    session = Session(
        id=turn.fresh_id(),
        number=number,
        requester=person,
        request=Request(text=brief(found.request), original=found.request, ref=ref),
        pack=turn.pack.name,
        policy="spec",
        workflow=spec.WORKFLOW,
        stage=Between(waits="escalation" if found.escalated else "go"),
        spec=state,
        settled=tuple(_settled(row) for row in found.settled),
        dropped=tuple(_left(turn, n, q) for n, questions in found.unanswered.items() for q in questions),
        counted=len(found.clarifications),
        started_at=turn.at,
        touched_at=turn.at,
    )
    rounds = (_round(turn, session, n, group, told) for n, (group, told) in enumerate(groups.items(), start=1))
    return session.model_copy(update={"rounds": tuple(rounds)})


def _run(turn: Turn, found: Document, groups: dict[Group, list[Told]], number: int) -> Run | None:
    mine = [(place, group[0]) for place, group in enumerate(groups, start=1) if group[1] == number]
    if not mine and number not in found.done and number != found.phase:
        return None
    told = found.runs.get(number)
    since = next((n for n, whole in mine if told and told.since is not None and whole >= told.since), 1)
    done = number in found.done
    return Run(
        phase=number,
        run=told.run if told else 1,
        since=since,
        status="completed" if done else "started",
        started_at=turn.at,
        completed_at=turn.at if done else None,
        escalated=found.escalated and number == found.phase,
        carried=told.carried if told else False,
    )


def _points(turn: Turn, found: Document) -> tuple[OpenPoint, ...]:
    return tuple(
        OpenPoint(
            **p.model_dump(exclude={"acts"}),
            raised_at=turn.at,
            acts=tuple(PointAct(**a.model_dump(), at=turn.at) for a in p.acts),
        )
        for p in found.open_points
    )


def _settled(row: dict[str, str]) -> Settled:
    named = {k: row.get(k) for k in ("question", "topic", "value", "source", "field", "holds")}
    return Settled.model_validate({**{k: v for k, v in named.items() if v is not None}, "phase": int(row["phase"])})


def _left(turn: Turn, number: int, question: str) -> Dropped:
    """A question that was open at the export: it is asked again."""
    entries = bank(turn, number).entries
    topic = next((e.question.topic for e in entries if e.question.id == question), question)
    reason = "It was asked and not answered before the export."
    return Dropped(question=question, topic=topic, reason=reason, later=True, phase=number)


def _still_to_ask(turn: Turn, session: Session) -> Session:
    """What the present phase has not asked yet waits for its next round here as well (RD-4)."""
    if not rounds_of(session, spec_of(session).phase):
        return session
    left = [d for d in session.dropped if d.later]
    session = look_again(turn, session)
    known = {d.question for d in session.dropped}
    return turn.put(
        session.model_copy(update={"dropped": (*session.dropped, *(d for d in left if d.question not in known))})
    )


def _round(turn: Turn, session: Session, number: int, group: Group, told: list[Told]) -> Round:
    _, of_phase, nth = group
    name = f"{session.id}.{number}"
    return Round(
        id=name, number=number, nth=nth, phase=of_phase, of=phases.MOST_ROUNDS, trigger=told[0].trigger,
        title=phase(of_phase).name, purpose="", items=tuple(_item(t, n, turn) for n, t in enumerate(told, start=1)),
        card=name, opened_at=turn.at, closed_at=turn.at,
        bulk_used=any(t.chosen_via == "accept_recommendations_bulk" for t in told),
    )  # fmt: skip


def _item(told: Told, number: int, turn: Turn) -> Item:
    """The question as the file tells it, with what the bank knows of its options' values."""
    known = next((e.question for e in bank(turn, told.phase).entries if e.question.id == told.question), None)
    values = {o.label: o.value for o in known.options} if known is not None else {}
    question = Question(
        id=told.question,
        form="choice" if told.options else "open",
        topic=told.topic,
        why=told.why_it_matters,
        options=tuple(o.model_copy(update={"value": values.get(o.label)}) for o in told.options),
        rationale=told.recommendation_rationale,
        stakes=told.stakes,
        field=told.field,
        artefact=told.artefact,
    )
    quote = view.shortened(told.user_message_ref, 200)
    answer = Answer(
        chosen=told.chosen,
        text=told.chosen_text,
        note=told.user_note,
        via=told.chosen_via,
        by=told.answered_by,
        by_name=told.answered_by.partition(":")[2],
        ref=MessageRef(id="imported", quote=quote, verbatim=told.user_message_ref),
        at=turn.at,
        claimed_at=told.chosen_at,
    )
    return Item(number=number, question=question, status="resolved", answer=answer, clarification=told.id, revision=1)


# -- its records -----------------------------------------------------------------------------------------------------


def _recorded(turn: Turn, session: Session, found: Document, digest: str) -> Session:
    """The clarifications, and the entries that tie each to what the file says of it."""
    claims = found.lock.claimed if found.lock is not None else {}
    told: dict[str, Any] = {} if found.proven else {"unproven": unproven.rows(found)}
    turn.audit(
        "import.accepted", session, None,
        digest=digest, was=found.was, clarifications=len(found.clarifications) if found.proven else 0,
        claimed=claims, **told,
    )  # fmt: skip
    if found.tier is not None:
        turn.audit("tier_set", session, None, tier=found.tier, imported=True)
    for run in spec_of(session).runs:
        number = run.phase
        mine = [r for r in session.rounds if r.phase == number]
        _entry(turn, session, "phase_started", number, run=1)
        for round_ in mine:
            if round_.number == run.since and run.run > 1:
                _entry(turn, session, "phase_rerun", number, run=run.run)
            _of_round(turn, session, round_)
        if (
            found.proven and number in found.unanswered
        ):  # what was asked and not answered is asked in a run of its own (CA-6)
            session = _again(turn, session, number)
        _of_scope(turn, session, number)
        if run.status == "completed":
            _entry(turn, session, "phase_completed", number, run=run.run)
    if found.proven and found.escalated:
        _entry(turn, session, "clarification_escalation", found.phase)
    return session


def _of_round(turn: Turn, session: Session, round_: Round) -> None:
    number = round_.phase or 1
    questions = [i.question.id for i in round_.items]
    _entry(turn, session, "intake_round", number, round=round_.nth, trigger=round_.trigger, questions=questions)
    for item in round_.items:
        claimed = item.answer.claimed_at if item.answer else None
        record = clarification(session, round_, item, turn.surface).model_copy(update={"platform_at": claimed})
        turn.records.append(record)
        claims = {"imported": True, "claimed_at": iso(claimed) if claimed else None}
        entry = audit_of(record, "clarification_resolved", claims)
        turn.records.append(entry.model_copy(update={"actor": "system"}))
    count = len(round_.items)
    _entry(turn, session, "round.closed", number, round=round_.nth, confirmed=False, resolved=count, asked=count)


def _of_scope(turn: Turn, session: Session, number: int) -> None:
    lock = spec_of(session).lock
    if lock.locked and number == 1:
        _entry(turn, session, "scope_locked", number, **phases.lock_details(lock))
    for change in lock.changes:
        if change.at_phase == number:
            details = change.model_dump(mode="json", exclude={"at", "by", "was", "rounds"})
            _entry(turn, session, "scope_change", number, **details, **{"from": change.was})
    if lock.reconfirmed_at is not None and number == 3:
        proof = {"by": lock.reconfirmed_by, "user_message_ref": lock.reconfirmed_ref}
        _entry(turn, session, "scope_locked", number, reconfirmed=True, **proof)


def _again(turn: Turn, session: Session, number: int) -> Session:
    state = spec_of(session)
    run = state.run(number)
    assert run is not None
    _entry(turn, session, "phase_rerun", number, run=run.run + 1)
    fresh = run.model_copy(update={"run": run.run + 1, "since": len(session.rounds) + 1})
    return phases.keep(turn, session, state.with_run(fresh))


def _entry(turn: Turn, session: Session, event: str, number: int, **details: object) -> None:
    turn.audit(event, session, None, None, **{"imported": True, **details})
    turn.records[-1] = turn.records[-1].model_copy(update={"phase": number})
