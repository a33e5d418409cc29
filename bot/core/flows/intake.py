"""A round, from the first question to the last answer: opening, who may answer, echoing, closing.

Nothing here decides what a person meant: a reading comes in (from a typed reply, a tap, a form or an edit), is
recorded item by item (`flows/recording`), and what became of it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from bot.core import view
from bot.core.circle import Circle
from bot.core.flows import handover, phases
from bot.core.flows.recording import Recorded
from bot.core.model import Person, Question
from bot.core.replies.reading import ItemError, Reading
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
    session = turn.put(session, stage=Asking(), rounds=(*session.rounds, round_))
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
    run = session.spec.run(round_.phase) if session.spec is not None and round_.phase is not None else None
    if waits == "go" and run is not None and run.status == "completed":
        return False
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


def turns_away(turn: Turn, session: Session, person: Person, round_: Round | None = None) -> bool:
    """Whether this person may not answer here; they are told why, and it is on record (RD-12)."""
    refusal = may_answer(turn, session, person)
    if refusal is None:
        return False
    turn.audit("access.answer_refused", session, person, round_, reason=refusal)
    turn.refuse(person, "may not answer here", refusal, session=session)
    return True


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
    problems = [_problem(round_, e) for e in errors]
    if reading and reading.note:
        problems.append(f"Kept as a note: “{reading.note}”")
    if not round_.open_items and not any(i.rivals for i in round_.items):
        return close(turn, session, round_, lead=[*lead, *done.replaced, *done.kept, *problems])
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
        wait = "waits" if len(waiting) == 1 else "wait"
        lines.append(f"All are answered; {', '.join(map(str, waiting))} {wait} for {who}: keep or switch.")
    turn.say(view.says(*lines, buttons=buttons), session=session, round_=round_)
    return session


_LEAVES_OPEN = ("deferred", "unsure", "question", "needs_answer")  # said of what has no answer yet


def _problem(round_: Round, error: ItemError) -> str:
    """What an item lacks. Of one that is answered, words that decide nothing say only that its answer stays."""
    item = round_.item(int(error.item)) if error.item.isdigit() else None
    if item is None or item.answer is None or error.code not in _LEAVES_OPEN:
        named = error.item == "?" or error.message.startswith(f"{error.item} ")  # "2: 2 stays open"
        return error.message if named else f"{error.item}: {error.message}"
    answer = view.answer_words(item.question, item.answer)
    return f"{item.number} stays as it is ({answer}). To change it: change {item.number} to …"


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
