"""An exported specification comes back: as a paused session, its answers marked as imported (AU-1).

The store stamps its own times; what the file claims stands beside them. A file that names an illegal way of choosing,
or a time that can not be, is refused whole, and nothing of it is written.
"""

from __future__ import annotations

from bot.core import spec_view, view
from bot.core.capture import audit_of, clarification, iso
from bot.core.events import SpecImported
from bot.core.flows import phases, spec
from bot.core.flows.banks import bank
from bot.core.model import Answer, MessageRef, Person, Question
from bot.core.slots import spec_of
from bot.core.spec import LAST, Lock, OpenPoint, PointAct, Run, Spec, brief, phase
from bot.core.spec_reading import Document, Told, read
from bot.core.state import Between, Dropped, Item, Request, Round, Session, Settled
from bot.core.turn import Turn


def imported(turn: Turn, event: SpecImported) -> None:
    """Read the document in, or refuse it with every reason."""
    found = read(event.document, turn.at)
    if not isinstance(found, Document):
        turn.outcome, turn.reason = "refused", "\n".join(f"{m.path}: {m.message}" for m in found[:20])
        listed = [{"path": m.path, "message": m.message} for m in found]
        turn.audit("import.refused", None, None, digest=event.digest, mistakes=listed)
        return
    session = _session(turn, found, event.digest)
    session = _recorded(turn, session, found, event.digest)
    count = spec_view.plural(len(found.clarifications), "answer")
    turn.tell(
        f"Read in: the specification “{found.name}” (#{session.number}), {spec_view.name_of(found.phase)}.",
        f"{count}, marked as imported; the times are as the file claims them.",
        f"/resume {session.number} goes on with it.",
        session=session,
    )


def _session(turn: Turn, found: Document, digest: str) -> Session:
    number = turn.next_number()
    person = Person(id=found.requester, name=found.requester_name or found.requester.partition(":")[2])
    ref = MessageRef(id=f"import:{digest[:16]}", quote=found.name)
    runs = tuple(
        Run(
            phase=n,
            status="completed" if n in found.done else "started",
            started_at=turn.at,
            completed_at=turn.at if n in found.done else None,
        )
        for n in range(1, LAST + 1)
        if n in found.done or n == found.phase or any(t.phase == n for t in found.clarifications)
    )
    lock = Lock()
    if found.lock is not None:
        told = found.lock.model_dump(exclude={"reconfirmed", "claimed"})
        lock = Lock.model_validate(
            {**told, "locked_at": turn.at, "reconfirmed_at": turn.at if found.lock.reconfirmed else None}
        )
    points = tuple(
        OpenPoint(
            **p.model_dump(exclude={"acts"}), raised_at=turn.at,
            acts=tuple(PointAct(**a.model_dump(), at=turn.at) for a in p.acts),
        )
        for p in found.open_points
    )  # fmt: skip
    state = Spec(name=found.name, tier=found.tier, phase=found.phase, runs=runs, lock=lock, open_points=points)
    session = Session(
        id=turn.fresh_id(),
        number=number,
        requester=person,
        request=Request(text=brief(found.request), original=found.request, ref=ref),
        pack=turn.pack.name,
        policy="spec",
        workflow=spec.WORKFLOW,
        stage=Between(),
        spec=state,
        settled=tuple(_settled(row) for row in found.settled),
        dropped=tuple(
            Dropped(
                question=q,
                topic=_topic(turn, n, q),
                reason="It was asked and not answered before the export.",
                later=True,
                phase=n,
            )
            for n, questions in found.unanswered.items()
            for q in questions
        ),
        started_at=turn.at,
        touched_at=turn.at,
    )
    turn.set(counted=number)
    return turn.put(session)


def _settled(row: dict[str, str]) -> Settled:
    named = {k: row.get(k) for k in ("question", "topic", "value", "source", "field", "holds")}
    return Settled.model_validate({**{k: v for k, v in named.items() if v is not None}, "phase": int(row["phase"])})


def _topic(turn: Turn, number: int, question: str) -> str:
    return next((e.question.topic for e in bank(turn, number).entries if e.question.id == question), question)


def _recorded(turn: Turn, session: Session, found: Document, digest: str) -> Session:
    """The rounds with their answers, and the entries that tie each to what the file says of it."""
    claims = found.lock.claimed if found.lock is not None else {}
    turn.audit(
        "import.accepted", session, None,
        digest=digest, was=found.was, clarifications=len(found.clarifications), claimed=claims,
    )  # fmt: skip
    if found.tier is not None:
        turn.audit("tier_set", session, None, tier=found.tier, imported=True)
    numbers = sorted({t.phase for t in found.clarifications} | set(found.done) | {found.phase})
    for number in numbers:
        _entry(turn, session, "phase_started", number, run=1)
        for nth in sorted({t.round for t in found.clarifications if t.phase == number}):
            told = [t for t in found.clarifications if (t.phase, t.round) == (number, nth)]
            session = _round(turn, session, number, nth, told)
        if number in found.unanswered:  # what was asked and not answered is asked in a run of its own (CA-6)
            session = _again(turn, session, number)
        if number == 1 and found.lock is not None:
            _entry(turn, session, "scope_locked", number, **phases.lock_details(_lock(session)))
        if number == 3 and found.lock is not None and found.lock.reconfirmed:
            _entry(turn, session, "scope_locked", number, reconfirmed=True)
        if number in found.done:
            _entry(turn, session, "phase_completed", number, run=1)
    return session


def _again(turn: Turn, session: Session, number: int) -> Session:
    state = spec_of(session)
    run = state.run(number)
    assert run is not None
    _entry(turn, session, "phase_rerun", number, run=run.run + 1)
    fresh = run.model_copy(update={"run": run.run + 1, "since": len(session.rounds) + 1})
    return phases.keep(turn, session, state.with_run(fresh))


def _lock(session: Session) -> Lock:
    assert session.spec is not None
    return session.spec.lock


def _entry(turn: Turn, session: Session, event: str, number: int, **details: object) -> None:
    turn.audit(event, session, None, None, **{"imported": True, **details})
    turn.records[-1] = turn.records[-1].model_copy(update={"phase": number})


def _round(turn: Turn, session: Session, number: int, nth: int, told: list[Told]) -> Session:
    count = len(session.rounds) + 1
    items = tuple(_item(t, n, turn) for n, t in enumerate(told, start=1))
    name = f"{session.id}.{count}"
    round_ = Round(
        id=name, number=count, nth=nth, phase=number, of=phases.MOST_ROUNDS,
        trigger=told[0].trigger if told else "intake", title=phase(number).name, purpose="", items=items, card=name,
        opened_at=turn.at, closed_at=turn.at,
        bulk_used=any(t.chosen_via == "accept_recommendations_bulk" for t in told),
    )  # fmt: skip
    session = turn.put(
        session.model_copy(update={"rounds": (*session.rounds, round_), "counted": session.counted + len(items)})
    )
    _entry(
        turn, session, "intake_round", number,
        round=nth, trigger=round_.trigger, questions=[i.question.id for i in items],
    )  # fmt: skip
    for item, said in zip(items, told, strict=True):
        record = clarification(session, round_, item, turn.surface).model_copy(update={"platform_at": said.chosen_at})
        turn.records.append(record)
        entry = audit_of(record, "clarification_resolved", {"imported": True, "claimed_at": iso(said.chosen_at)})
        turn.records.append(entry.model_copy(update={"actor": "system"}))
    _entry(
        turn, session, "round.closed", number, round=nth, confirmed=not items, resolved=len(items), asked=len(items)
    )
    return session


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
