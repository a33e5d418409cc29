"""A round, from the first question to the last answer: opening, recording, echoing, closing.

Nothing here decides what a person meant: a reading comes in (from a typed reply, a tap, a form or an edit) and is
recorded item by item. Every path that writes an answer goes through `record`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bot.core import view
from bot.core.capture import audit_of, clarification, clarification_id
from bot.core.circle import Circle
from bot.core.effects import Audit, Clarification
from bot.core.flows import disputing, handover, phases
from bot.core.flows.disputing import same
from bot.core.flows.words import yes_or_no
from bot.core.model import Answer, MessageRef, Person, Question, Via
from bot.core.replies.reading import ItemReading, Reading
from bot.core.state import Asking, Closing, Item, Round, Session
from bot.core.turn import Turn

TRIES_BEFORE_EXAMPLE = 2  # RD-10


# -- opening -------------------------------------------------------------------------------------------------------


def open_round(
    turn: Turn,
    session: Session,
    questions: Sequence[Question],
    title: str,
    purpose: str,
    *,
    note: str | None = None,
    full: bool = False,
    **of_phase: Any,
) -> Session:
    """Put a round on the table and pause (RD-6). `full`: it reached its ceiling, which is told (RD-4).

    `of_phase`: further fields of the `Round`, where it belongs to a phase.
    """
    number = len(session.rounds) + 1
    name = f"{session.id}.{number}"
    items = tuple(Item(number=n, question=q) for n, q in enumerate(questions, start=1))
    round_ = Round(
        id=name,
        number=number,
        title=title,
        purpose=purpose,
        items=items,
        card=name,
        after=turn.state.newest,
        opened_at=turn.at,
        **of_phase,
    )
    session = session.model_copy(update={"stage": Asking(), "rounds": (*session.rounds, round_)})
    session = turn.put(session)
    surfaced(turn, session, round_, full=full)
    card = view.round_card(
        session, round_, bulk=turn.policy(session).bulk_accept, route_note=note, numbered=turn.numbered(session)
    )
    turn.say(card, card=round_.card, session=session, round_=round_)
    return session


def surfaced(turn: Turn, session: Session, round_: Round, *, full: bool = False) -> None:
    """The entry of a round that is put on the table, whatever asked for it (AU-1)."""
    questions = [item.question for item in round_.items]
    more: dict[str, Any] = {}
    if round_.phase is not None:
        more["topics"] = {q.id: q.topic for q in questions}
        more["signals"] = [signal.id for signal in round_.signals]
        more["settled"] = [s.question for s in session.settled if s.phase == round_.phase]
    turn.audit(
        "intake_round",
        session,
        round_=round_,
        round=round_.nth or round_.number,
        trigger=round_.trigger,
        questions=[q.id for q in questions],
        grounding={q.id: f"{q.grounding.kind}: {q.grounding.reference}" for q in questions if q.grounding},
        revision=round_.revision,
        ceiling_reached=full,
        deferred=[d.question for d in session.dropped if d.later and d.phase == round_.phase],
        **more,
    )


def show_card(turn: Turn, session: Session, round_: Round, *, anew: bool = False) -> None:
    """Redraw the card in place, or post it anew (after a restart, on /resume, when the old one is gone)."""
    message = view.round_card(session, round_, bulk=turn.policy(session).bulk_accept, numbered=turn.numbered(session))
    if anew:
        turn.say(message, card=round_.card, session=session, round_=round_)
    else:
        turn.redraw(round_.card, message, session, round_)


def on_the_table(session: Session, round_: Round) -> bool:
    """Whether answers to this round still count at once: it is the session's last one, and not handed on (RD-13)."""
    last = session.round is not None and session.round.id == round_.id
    waits = session.stage.waits if session.stage.kind == "between" else None
    return last and (session.stage.kind in ("asking", "closing") or waits == "go")


SECOND = timedelta(seconds=1)  # platforms give the time of a message in whole ones


def before_the_round(turn: Turn, round_: Round, order: int | None) -> bool:
    """Whether a loose message was there before the round was seen (RP-7)."""
    return older(turn, order, round_.after, round_.order, round_.opened_at)


def older(turn: Turn, order: int | None, after: int | None, posted: int | None, opened_at: datetime | None) -> bool:
    """Whether a message was there before a card was seen.

    Message ids are compared, not clocks; but a card that is still to be posted has none. Then what was said before
    it was even made, as in an absence of ours, is no answer to it.
    """
    if order is None:
        return False
    if after is not None and order <= after:
        return True
    if posted is None:
        said = turn.envelope.platform_at
        return said is not None and opened_at is not None and said + SECOND <= opened_at
    return order < posted


# -- who may answer ------------------------------------------------------------------------------------------------


def may_answer(turn: Turn, session: Session, person: Person) -> str | None:
    """None when this person may answer here; else the reason, for them (RD-12)."""
    if person.id == session.requester.id and person.kind == "person" and not person.outside:
        return None  # as in every `Circle`
    settings = turn.settings
    circle = Circle(
        shared=turn.shared,
        requester=session.requester,
        named=session.participants,
        taken_part=turn.before.taken_part,
        answerers=settings.answerers,
        listed=settings.listed,
        outsiders=settings.outsiders,
    )
    return refused(turn, circle, person)


def refused(turn: Turn, circle: Circle, person: Person) -> str | None:
    """`may_answer` for any round, this conversation's or another one's."""
    policy = turn.book.answerers_for(turn.surface, circle.answerers)
    refusal = circle.refusal(person, turn.surface, policy)
    if refusal is None or person.kind != "person" or (person.outside and not circle.outsiders):
        return refusal
    who = view.isolate(circle.requester.name, circle.requester.id)
    me = view.isolate(person.handle or person.name, person.id)
    how = "by replying to the card:"
    if person.handle is None and person.id.partition(":")[2].isdecimal():  # a name that anybody can bear is no key
        how = "by replying to the card and choosing your name in the list that @ opens:"
    return f"{refusal}These questions are {who}'s to answer. {who} can let you, {how} @{me} please"


# -- recording -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Recorded:
    """What became of a reading, for the echo."""

    lines: list[str] = field(default_factory=list)
    resolved: list[int] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    conflicts: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)


def answer_from(
    question: Question, reading: ItemReading, via: Via, person: Person, ref: MessageRef, turn: Turn
) -> Answer:
    """The answer that an item reading stands for. `reading.key` is a letter, "other", or a word of RP-11."""
    chosen: str | None = reading.key
    text = reading.text
    if reading.key == "other":
        chosen = question.other.key if question.other else None
    elif reading.key in ("answer", "correct", "confirm"):
        chosen = None
        text = None if reading.key == "confirm" else text
    elif not (question.other and question.other.key == reading.key):
        text = None
    return Answer(
        chosen=chosen,
        text=text,
        note=reading.note,
        via=via,
        by=person.id,
        by_name=person.name,
        ref=ref,
        at=turn.at,
        said_at=turn.envelope.platform_at,
    )


def wordless(question: Question, reading: ItemReading) -> bool:
    """Other, or an open answer, without its words: nothing was decided (RP-2)."""
    option = question.option(reading.key)
    needs = reading.key in ("other", "answer", "correct") or (option is not None and option.other)
    return needs and not (reading.text or "").strip()


def fingerprint(answer: Answer) -> str:
    """What an answer says, to be compared with what the same message says later."""
    return "|".join(part or "" for part in (answer.chosen, answer.text, answer.note))


def remark(
    turn: Turn, session: Session, round_: Round, item: Item, answer: Answer, event: str
) -> tuple[Session, Round]:
    """Write an answer whose reference alone has changed: it keeps the time of its decision, nobody acted on it."""
    session, round_ = resolve(turn, session, round_, item, answer, event)
    entry, recorded = turn.records.pop(), turn.records.pop()
    assert isinstance(entry, Audit)
    assert isinstance(recorded, Clarification)
    turn.records.append(recorded.model_copy(update={"decided_at": answer.at}))
    turn.records.append(entry.model_copy(update={"actor": "system"}))
    return session, round_


def resolve(
    turn: Turn, session: Session, round_: Round, item: Item, answer: Answer, event: str
) -> tuple[Session, Round]:
    """Write an answer and its records. `event` is the audit event: new, replaced or amended."""
    if item.number in round_.undo:  # a later word on it stands by itself
        round_ = round_.model_copy(update={"undo": tuple(n for n in round_.undo if n != item.number)})
    counted = session.counted
    name = item.clarification
    if name is None:
        counted += 1
        name = clarification_id(turn.at, counted)
    item = item.model_copy(
        update={
            "status": "resolved",
            "answer": answer,
            "rivals": tuple(rival for rival in item.rivals if not same(rival, answer)),
            "clarification": name,
            "said": {**dict([*item.said.items()][-9:]), answer.ref.id: fingerprint(answer)},
            "revision": item.revision + 1,
            "tries": 0,
        }
    )
    if (earlier := unrecord(turn, session, name)) is not None:
        item = item.model_copy(update={"revision": item.revision - 1})
        event = earlier.event
    items = tuple([item if i.number == item.number else i for i in round_.items])
    round_ = round_.model_copy(update={"items": items})
    session = turn.put_round(_owed_no_more(session, item.number, answer.by), round_, counted=counted)
    record = clarification(session, round_, item, turn.surface, platform_at=turn.envelope.platform_at)
    turn.records.append(record)
    entry = audit_of(record, event)
    person = getattr(turn.envelope.event, "person", None)
    if person is not None and person.through is not None and person.id == answer.by:  # b13
        entry = entry.model_copy(update={"details": {**entry.details, "through": person.through}})
    turn.records.append(entry)
    return session, round_


def _owed_no_more(session: Session, number: int, person: str) -> Session:
    """Whoever pressed Other and then answers that question otherwise owes no words any more (RP-5)."""
    stage = session.stage
    if not isinstance(stage, Asking) or stage.describing.get(person) != number:
        return session
    left = {who: owed for who, owed in stage.describing.items() if who != person}
    return session.model_copy(update={"stage": Asking(describing=left)})


def unrecord(turn: Turn, session: Session, name: str) -> Audit | None:
    """Two messages of one step (RT-11) may answer one question: the later word stands, as the one revision of both.

    Takes back what this step has recorded of a clarification; returns its entry, or None.
    """
    for record in turn.records:
        if isinstance(record, Clarification) and (record.session, record.id) == (session.id, name):
            turn.records.remove(record)
            break
    else:
        return None
    for entry in turn.records:
        if isinstance(entry, Audit) and entry.session == session.id and entry.details.get("clarification_id") == name:
            turn.records.remove(entry)
            return entry
    return None


def record(
    turn: Turn,
    session: Session,
    round_: Round,
    explicit: Mapping[int, ItemReading],
    accepted: Sequence[int],
    person: Person,
    ref: MessageRef,
) -> tuple[Session, Round, Recorded]:
    """Record the explicit items, then the bulk-accepted ones (CA-3). Explicit words override (RP-4)."""
    done = Recorded()
    for number, reading in sorted(explicit.items()):
        item = round_.item(number)
        if item is None:
            continue
        if wordless(item.question, reading):
            continue  # words were promised and did not come; the reader's error says so (RP-2)
        if reading.key == "correct" and yes_or_no(reading.text or "", turn.book.phrases) == "no":
            done.lines.append(f"{number} {item.question.topic}: what is right instead?")
            done.failed.append(number)
            continue
        if reading.key == "skip":
            session, round_ = _skip(turn, session, round_, item, person, ref, done)
            continue
        answer = answer_from(item.question, reading, "user_response", person, ref, turn)
        session, round_ = _take(turn, session, round_, item, answer, done)
    bulk: list[int] = []
    for number in accepted:
        item = round_.item(number)
        if item is None or number in explicit or item.question.recommended is None:
            continue
        before = item.answer if item.status == "resolved" else None
        if before is not None and ref.id not in (before.ref.id, before.ref.confirms):
            continue  # RP-4; an edit takes its own words back
        answer = answer_from(
            item.question,
            ItemReading(key=item.question.recommended.key),
            "accept_recommendations_bulk",
            person,
            ref,
            turn,
        )
        session, round_ = _take(turn, session, round_, item, answer, done)
        bulk.append(number)
    if bulk:
        round_ = round_.model_copy(update={"bulk_used": True})
        session = turn.put_round(session, round_)
        turn.audit(
            "bulk_accept_recommended",
            session,
            person,
            round_,
            count=len(bulk),
            items=bulk,
            revision=round_.revision,
            user_message_ref=f'{ref.id}: "{ref.quote}"',
        )
    return session, round_, done


def _take(
    turn: Turn, session: Session, round_: Round, item: Item, answer: Answer, done: Recorded
) -> tuple[Session, Round]:
    """One explicit answer: new, the same again, a change of mind, or a conflict with another person's."""
    if item.rivals and answer.by == session.requester.id:  # the requester's word settles it
        session, round_, item = disputing.settled(turn, session, round_, item, answer)
    words = view.answer_words(item.question, answer)
    held = item.answer if item.status == "resolved" else None
    if held is not None and (turn.envelope.again or _overtaken(held, answer)) and not same(held, answer):
        # Handled late, because of a mistake of ours, or overtaken on its way by what the same person has said since:
        # that stands (RD-13, the later act wins).
        done.lines.append(f"{item.number} stays {view.answer_words(item.question, held)}: it was said later.")
    elif held is None:
        session, round_ = resolve(turn, session, round_, item, answer, "clarification_resolved")
        done.resolved.append(item.number)
        done.lines.append(f"{item.number} {item.question.topic} → {words}")
    elif same(held, answer):
        if any(rival.by == answer.by for rival in item.rivals):  # they agree now
            session, round_, item = disputing.agreed(turn, session, round_, item, answer)
        who = "" if held.by == answer.by else f", by {view.isolate(held.by_name, held.by)}"
        done.lines.append(f"{item.number} is {words} already{who}.")
    elif held.by == answer.by or answer.by == session.requester.id:
        was = view.answer_words(item.question, held)
        session, round_ = resolve(turn, session, round_, item, answer, "answer.replaced")
        done.replaced.append(f"{item.number} {item.question.topic} was {was}, is now {words}.")
        done.lines.append(done.replaced[-1])
    else:
        session, round_ = disputing.conflict(turn, session, round_, item, answer)
        done.conflicts.append(item.number)
    return session, round_


def _overtaken(held: Answer, answer: Answer) -> bool:
    """Whether the same person's answer that is held was said after this one, which only arrives after it."""
    times = (held.said_at, answer.said_at)
    return held.by == answer.by and times[0] is not None and times[1] is not None and times[1] < times[0]


def _skip(
    turn: Turn, session: Session, round_: Round, item: Item, person: Person, ref: MessageRef, done: Recorded
) -> tuple[Session, Round]:
    """ "skip 2": only where the policy knows it and the question is optional (RD-10)."""
    if item.status == "resolved":
        done.lines.append(f"{item.number} has an answer already; it stays.")
        return session, round_
    if turn.policy(session).skip == "never" or not item.question.optional:
        done.lines.append(f"{item.number} can't be skipped here and stays open. {item.question.why}")
        done.failed.append(item.number)
        return session, round_
    items = tuple(
        i.model_copy(update={"status": "skipped", "words": ref.quote}) if i.number == item.number else i
        for i in round_.items
    )
    round_ = round_.model_copy(update={"items": items})
    session = turn.put_round(session, round_)
    turn.audit("answer.skipped", session, person, round_, question=item.question.id, user_message_ref=ref.id)
    done.lines.append(f"{item.number} is left open on purpose.")
    return session, round_


# -- echoing -------------------------------------------------------------------------------------------------------


def count_tries(turn: Turn, session: Session, round_: Round, numbers: Sequence[int]) -> tuple[Session, Round]:
    """Count failed tries on open items, so that the second one brings a worked example (RD-10)."""
    if not numbers:
        return session, round_
    items = tuple(
        i.model_copy(update={"tries": i.tries + 1}) if i.number in numbers and i.status == "open" else i
        for i in round_.items
    )
    round_ = round_.model_copy(update={"items": items})
    return turn.put_round(session, round_), round_


def worked_example(round_: Round) -> str | None:
    """For the first open item that failed twice, a reply that would work, spelled out."""
    for item in round_.open_items:
        if item.tries >= TRIES_BEFORE_EXAMPLE:
            if item.question.form != "choice":
                return f"For example: {item.number}: and then your own words."
            first = item.question.options[0]
            words = f"For example, to choose “{first.label}”, send just this: {item.number}: {first.key}"
            return (
                words + f" — or in your own words: {item.number}: other (your words)"
                if item.question.other
                else words
            )
    return None


def changed(turn: Turn, round_: Round) -> bool:
    """Whether this step has changed anything that the round's card shows."""
    session = turn.before.session(round_.id.partition(".")[0])
    before = next((r for r in session.rounds if r.id == round_.id), None) if session else None
    if before is None or len(before.items) != len(round_.items):
        return True
    for was, now in zip(before.items, round_.items, strict=True):
        if was is not now and (was.status != now.status or was.answer != now.answer):
            return True
    return False


def echo(
    turn: Turn,
    session: Session,
    round_: Round,
    done: Recorded,
    reading: Reading | None,
    *,
    tapped: bool = False,
    lead: Sequence[str] = (),
) -> Session:
    """Answer a reply: what was recorded, what was not and why, what is still open. Closes a round that is over.

    `lead` goes before all of it. A tap that needs no words is answered by its notice and by the card alone.
    """
    errors = list(reading.errors) if reading else []
    failed = [*done.failed, *(int(e.item) for e in errors if e.item.isdigit())]
    session, round_ = count_tries(turn, session, round_, failed)
    if reading and reading.note:
        round_ = round_.model_copy(update={"notes": (*round_.notes, reading.note)})
        session = turn.put_round(session, round_)
    if changed(turn, round_):
        show_card(turn, session, round_)
    elif tapped and not done.conflicts:
        return session
    problems = [f"{e.item}: {e.message}" if e.item != "?" else e.message for e in errors]
    if reading and reading.note:
        problems.append(f"Kept as a note: “{reading.note}”")
    if not round_.open_items and not any(i.rivals for i in round_.items):
        return close(turn, session, round_, lead=[*lead, *done.replaced, *problems])
    if (tapped or (done.conflicts and not done.lines)) and not problems:
        return session
    quiet = "echoes" in turn.settings.off and not (problems or lead or done.conflicts or round_.undo)
    if quiet and changed(turn, round_) and round_.open_items:
        return session
    lines = [*lead, *done.lines, *problems]
    buttons = view.undo_row(round_) if set(round_.undo) & set(done.resolved) else ()
    if round_.open_items:
        lines.append(view.still_open(round_, turn.policy(session).bulk_accept))
        example = worked_example(round_) if problems else None
        if example:
            lines.append(example)
    elif waiting := [i.number for i in round_.items if i.rivals]:
        who = view.isolate(session.requester.name, session.requester.id)
        lines.append(f"All are answered; {', '.join(map(str, waiting))} waits for {who}: keep or switch.")
    turn.say(view.says(*lines, buttons=buttons), session=session, round_=round_)
    return session


# -- closing -------------------------------------------------------------------------------------------------------


def close(turn: Turn, session: Session, round_: Round, lead: Sequence[str] = ()) -> Session:
    """Every question has ended: echo all of it, and hand over after the grace (RD-16). A specification waits."""
    if session.spec is not None:
        return phases.answered(turn, session, round_, lead)
    until = turn.at + turn.book.grace
    already = round_.closed_at is not None
    round_ = round_.model_copy(update={"closed_at": turn.at})
    session = turn.put_round(session, round_, stage=Closing(until=until))
    seconds = int(turn.book.grace.total_seconds())
    message = view.closing(round_, handover.destination(session), seconds, lead)
    turn.say(message, session=session, round_=round_)
    turn.timer(f"grace:{session.id}", until)
    turn.drop_pending(session=session.id)
    if not already:
        turn.audit(
            "round.closed",
            session,
            round_=round_,
            round=round_.number,
            resolved=sum(1 for i in round_.items if i.status == "resolved"),
            asked=len(round_.items),
        )
    return session
