"""From a reading to the answers that it stands for, each with its clarification and its entry in the audit log.

Every path that writes an answer (a typed reply, a tap, a form, a confirmed reading, an edit) goes through `record`,
or through `resolve` for one answer that is decided already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.core import view
from bot.core.capture import audit_of, clarification, clarification_id, found_at, reference
from bot.core.effects import Audit, Clarification
from bot.core.flows import disputing
from bot.core.flows.disputing import same
from bot.core.flows.words import yes_or_no
from bot.core.model import Answer, MessageRef, Person, Question, Via
from bot.core.replies.reading import ItemReading
from bot.core.state import Asking, Item, Round, Session
from bot.core.turn import Turn


@dataclass(slots=True)
class Recorded:
    """What became of a reading, for the echo."""

    lines: list[str] = field(default_factory=list)
    resolved: list[int] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # what was said and changes nothing
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
    return f"{answer.chosen or ''}|{answer.text or ''}|{answer.note or ''}"


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
            "rivals": tuple([rival for rival in item.rivals if not same(rival, answer)]),
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
            user_message_ref=reference(ref),
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
        stays = f"{item.number} stays {view.answer_words(item.question, held)}, which was said after “{words}”."
        done.kept.append(f"{stays} To change it: change {item.number} to …")
        done.lines.append(done.kept[-1])
    elif held is None:
        session, round_ = resolve(turn, session, round_, item, answer, "clarification_resolved")
        done.resolved.append(item.number)
        done.lines.append(f"{item.number} {item.question.topic} → {words}")
    elif same(held, answer):
        if any(rival.by == answer.by for rival in item.rivals):  # they agree now
            session, round_, item = disputing.agreed(turn, session, round_, item, answer)
        who = "" if held.by == answer.by else f", by {view.isolate(held.by_name, held.by)}"
        done.kept.append(f"{item.number} is {words} already{who}.")
        done.lines.append(done.kept[-1])
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
        held = view.answer_words(item.question, item.answer) if item.answer is not None else "answered"
        done.kept.append(f"{item.number} stays {held}. To change it: change {item.number} to …")
        done.lines.append(done.kept[-1])
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
    turn.audit("answer.skipped", session, person, round_, question=item.question.id, user_message_ref=found_at(ref))
    done.lines.append(f"{item.number} is left open on purpose.")
    return session, round_
