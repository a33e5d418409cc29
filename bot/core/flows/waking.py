"""What is said unasked, at its time (CH-6): a reminder, what somebody wished for, what quiet hours have held back.

One timer a conversation, `wake`, rings for all of it, so that whatever has become due, however long nobody was there
to say it, is one message. It is set anew after each step, from the state: what is answered, paused, cancelled or
unreachable has no moment any more, and so nothing rings for it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.core import view
from bot.core.effects import Block, Button, Message, Say, Span
from bot.core.flows import hours, putting_off, reach
from bot.core.flows.commands import where
from bot.core.model import Person
from bot.core.state import PutOff, Reminded, Session
from bot.core.turn import Turn

TIMER = "wake"
MOST = 3  # reminders of one round; whoever has not answered by then has decided something
SHOW, NO_MORE = "Show the questions", "No more reminders"


def schedule(turn: Turn, *, acted: bool) -> None:
    """Set the timer to the next moment at which something unasked may be to be said, or clear it.

    `acted`: a person has just done something here, and does not have to be reminded at once; nor has anybody
    to whom this step shows the questions anyway.
    """
    if any(p.assumed for s in turn.state.sessions for p in s.put_off or ()):
        putting_off.zone_told(turn)  # where it was told for the whole place, in another thread
    session = turn.state.current
    if session is not None and any(isinstance(e, Say) and e.card and e.session == session.id for e in turn.effects):
        if session.put_off is not None:
            session = _keep(turn, session.model_copy(update={"put_off": _later(turn, session)}))
        acted = True
    if acted and session is not None and _reminder_at(turn, session) is not None:
        _told(turn, session, turn.at)
    at = _next(turn)
    if at == turn.state.wake:
        return
    turn.set(wake=at)
    if at is None:
        turn.clear_timer(TIMER)
    else:
        turn.timer(TIMER, at)


def due(turn: Turn) -> None:
    """The timer has rung: one message for whatever is due, or nothing where it has become otherwise since."""
    turn.set(wake=None)
    session = turn.state.current
    if turn.state.unreachable is not None:
        turn.ignore("nothing can be brought here")
        return
    held = hours.heard_from(turn, turn.at, _people(session)) > turn.at
    if held:
        turn.ignore("quiet hours")
        return
    if turn.state.owed is not None:
        reach.show_owed(turn)
        if session is not None:
            _nudged(turn, session, reminder=False)
        return
    for other in turn.state.sessions:
        if other.put_off and (session is None or other.id != session.id):
            _drop(turn, other)
    if session is None or not _waits(session):
        turn.ignore("nothing waits here")
        return
    wished = tuple(p for p in session.put_off or () if p.at is not None and p.at <= turn.at)
    at = _reminder_at(turn, session)
    reminder = not wished and at is not None and at <= turn.at
    if not wished and not reminder:
        turn.ignore("not due yet")
        return
    _say(turn, session, wished)
    _nudged(turn, session, reminder=reminder)


# -- when ----------------------------------------------------------------------------------------------------------


def _next(turn: Turn) -> datetime | None:
    if turn.state.unreachable is not None:
        return None
    session = turn.state.current
    moments = [turn.at] if turn.state.owed is not None else []
    if session is not None and (session.put_off or hours.reminders(turn)) and _waits(session):
        moments += [p.at for p in session.put_off or () if p.at is not None]
        reminder = _reminder_at(turn, session)
        moments += [] if reminder is None else [reminder]
    if not moments:
        return None
    return hours.heard_from(turn, max(turn.at, min(moments)), _people(session))


def _waits(session: Session) -> bool:
    if session.stage.kind == "asking":
        return session.round is not None and bool(session.round.open_items)
    return session.stage.kind in ("routing", "between")


def _reminder_at(turn: Turn, session: Session) -> datetime | None:
    """When an open round is reminded of next: not before somebody's own wish, and never of anything else."""
    every, round_ = hours.reminders(turn), session.round
    if not every or session.stage.kind != "asking" or round_ is None or not round_.open_items:
        return None
    since, before = session.touched_at, session.reminded
    if before is not None and before.muted:
        return None
    if before is not None and before.round == round_.id:
        if before.count >= MOST:
            return None
        since = max(since, before.last)
    at = since + timedelta(hours=every)
    return max([at, *(p.at for p in session.put_off or () if p.at is not None)])


def _people(session: Session | None) -> tuple[Person, ...]:
    """Whose quiet hours count: the requester's, and those of whoever wished to be asked again."""
    if session is None:
        return ()
    people = (session.requester, *(p.by for p in session.put_off or ()))
    return tuple({person.id: person for person in people}.values())


# -- what ----------------------------------------------------------------------------------------------------------


def _say(turn: Turn, session: Session, wished: tuple[PutOff, ...]) -> None:
    """What is open, in one message; not the whole card again."""
    round_ = session.round
    blocks = [_asked_by(turn, wish) for wish in wished]
    if not blocks:
        name = _addressed(turn, session.requester)
        title = "" if round_ is None else f"{round_.title} (#{session.number})"
        blocks.append(view.text(*name, f"A reminder, {_count(session) + 1} of {MOST}: {title} waits for answers."))
    if round_ is not None and session.stage.kind == "asking":
        blocks.append(view.text(view.still_open(round_, turn.policy(session).bulk_accept)))
    else:
        blocks.append(view.text(f"Still open: #{session.number}, {where(session)}. /resume shows it."))
    message = Message(blocks=tuple(blocks), buttons=(buttons(session),))
    turn.say(message, session=session, round_=round_ if session.stage.kind == "asking" else None)


def buttons(session: Session) -> tuple[Button, ...]:
    return (
        Button(token=f"w:{session.id}:show", label=SHOW),
        Button(token=f"w:{session.id}:stop", label=NO_MORE),
    )


def _asked_by(turn: Turn, wish: PutOff) -> Block:
    words = wish.words if len(wish.words) <= 60 else f"{wish.words[:59]}…"
    return view.text(*_addressed(turn, wish.by), f"You wanted to be asked again: “{words}”.")


def _addressed(turn: Turn, person: Person) -> tuple[str | Span, ...]:
    """Whom it is for, among others."""
    if not turn.shared:
        return ()
    return (Span(text=view.isolate(person.name, person.id), person=person.id), ": ")


def _count(session: Session) -> int:
    """The reminders of the present round so far."""
    before, round_ = session.reminded, session.round
    return before.count if before is not None and round_ is not None and before.round == round_.id else 0


def _told(turn: Turn, session: Session, at: datetime, *, reminder: bool = False) -> Session:
    """From `at` on the next reminder is counted. Nobody has acted on the session, so it is not touched."""
    name = "" if session.round is None else session.round.id
    before = session.reminded or Reminded(round=name, last=at)
    told = before.model_copy(update={"round": name, "count": _count(session) + reminder, "last": at})
    return _keep(turn, session.model_copy(update={"reminded": told}))


def _keep(turn: Turn, session: Session) -> Session:
    turn.set(sessions=tuple(session if s.id == session.id else s for s in turn.state.sessions))
    return session


def _later(turn: Turn, session: Session) -> tuple[PutOff, ...] | None:
    """The wishes that are not due yet."""
    return tuple(p for p in session.put_off or () if p.at is None or p.at > turn.at) or None


def _nudged(turn: Turn, session: Session, *, reminder: bool) -> None:
    """What was due has been said."""
    now = turn.state.session(session.id) or session
    said = tuple(p for p in now.put_off or () if p.at is not None and p.at <= turn.at)
    now = _told(turn, now.model_copy(update={"put_off": _later(turn, now)}), turn.at, reminder=reminder)
    turn.audit(
        "reminder.sent",
        now,
        round_=now.round,
        number=_count(now) if reminder else None,
        wished=[{"by": p.by.id, "words": p.words, "message": p.ref} for p in said],
    )


def _drop(turn: Turn, session: Session) -> None:
    """A wish about an intake that has been set aside, or is over, is not said."""
    said = tuple(p for p in session.put_off or () if p.at is not None and p.at <= turn.at)
    if not said:
        return
    kept = _keep(turn, session.model_copy(update={"put_off": _later(turn, session)}))
    turn.audit("reminder.dropped", kept, reason=session.stage.kind, wished=[p.words for p in said])
