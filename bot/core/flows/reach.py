"""Whether a place can be reached, what arrived there and what did not; and showing again what is still open.

Undeliverable is a state of the delivery, never of a question (CA-4, CH-7). An open round is shown again, never asked
anew (EX-6, RD-6): the same round, the same card name, so that an answer to either copy counts.
"""

from __future__ import annotations

from bot.core import view
from bot.core.capture import quote
from bot.core.effects import Redraw, Say
from bot.core.events import (
    BotAway,
    ButtonPressed,
    DeliveryFailed,
    FormSubmitted,
    MessageEdited,
    MessagePosted,
    MessageReceived,
    PlaceLost,
)
from bot.core.flows import handover, hours, menu, spec_steps
from bot.core.flows.commands import name_of, where
from bot.core.state import Between, Owed, Round, Routing, Session
from bot.core.turn import Turn

MOST_SHOWN = 3  # rounds shown again in one place; the rest are named


def heard(turn: Turn, event: MessageReceived | MessageEdited | ButtonPressed | FormSubmitted) -> None:
    """Somebody acts here: it is worth trying again, and ids up to this one are known."""
    if turn.state.unreachable is not None:
        turn.set(unreachable=None)
        _results_again(turn)
    if isinstance(event, MessageReceived):
        _known(turn, event.order)


def _known(turn: Turn, order: int | None) -> None:
    if order is not None and (turn.state.newest is None or order > turn.state.newest):
        turn.set(newest=order)


def _keep(turn: Turn, session: Session) -> Session:
    """Without `put`: nobody has acted."""
    turn.set(sessions=tuple(session if s.id == session.id else s for s in turn.state.sessions))
    return session


# -- what became of a message --------------------------------------------------------------------------------------


def posted(turn: Turn, event: MessagePosted) -> None:
    """A card has reached its place: replies to it can be bound, older messages can not answer it (RP-7)."""
    _known(turn, event.order)
    if turn.state.unreachable is not None:
        turn.set(unreachable=None)
    for session in turn.state.sessions:
        if session.undelivered is not None and (event.card == session.id or event.card.startswith(f"{session.id}.")):
            turn.audit("delivery.restored", session, card=event.card)
            session = _keep(turn, session.model_copy(update={"undelivered": None}))
        stage = session.stage
        if isinstance(stage, Routing) and event.card == session.id and stage.order is None and not event.unsure:
            session = _keep(
                turn, session.model_copy(update={"stage": stage.model_copy(update={"order": event.order})})
            )
        if isinstance(stage, Between) and stage.card == event.card and stage.order is None and not event.unsure:
            session = _keep(
                turn, session.model_copy(update={"stage": stage.model_copy(update={"order": event.order})})
            )
        for round_ in session.rounds:
            if round_.card == event.card:
                now = round_.model_copy(update={"message": event.message, "order": _first(round_, event)})
                rounds = tuple(now if r.id == round_.id else r for r in session.rounds)
                _keep(turn, session.model_copy(update={"rounds": rounds}))
                return


def _first(round_: Round, event: MessagePosted) -> int | None:
    """From which message id on people may have seen the round: a later copy changes nothing about that (P26)."""
    if round_.message is not None:
        return round_.order
    return None if event.unsure else event.order  # a copy of unknown id may be older; `after` is the bound then


def undelivered(turn: Turn, event: DeliveryFailed) -> None:
    """One message did not arrive; with `place`, nothing else would."""
    name = event.session or (event.card or "").partition(".")[0]
    session = turn.state.session(name) or turn.state.current
    if session is not None and session.stage.kind == "ended" and not (event.place and _has_result(session)):
        turn.audit("delivery.failed", session, card=event.card, reason=event.reason, words=quote(event.text))
        return
    turn.audit("delivery.failed", session, card=event.card, reason=event.reason, words=quote(event.text))
    if event.place:
        turn.set(unreachable=event.reason)
    if session is not None:
        if event.place and session.undelivered != event.reason:
            _tell_requester(turn, session, event.reason)
        elif event.card is not None and session.undelivered != event.reason:
            _tell_refused(turn, session, event.reason)
        _keep(turn, session.model_copy(update={"undelivered": event.reason}))


def _tell_refused(turn: Turn, session: Session, reason: str) -> None:
    """The text was refused, the place is there (CH-7). It is no card: should this fail too, nothing follows."""
    lines = (
        f"I could not show my message here: {reason}.",
        f"{name_of(session)}: {where(session)}. /status says more.",
    )
    turn.effects.append(Say(message=view.says(*lines), only_to=session.requester.id if turn.shared else None))


# -- the place -----------------------------------------------------------------------------------------------------


def lost(turn: Turn, event: PlaceLost) -> None:
    """Nothing more is sent there. Whoever asked learns it at once, in private where the platform can (CH-7)."""
    turn.set(unreachable=event.reason)
    for session in turn.state.sessions:
        if session.stage.kind == "ended":
            continue
        turn.audit("delivery.failed", session, reason=event.reason)
        if session.undelivered != event.reason:
            _tell_requester(turn, session, event.reason)
        _keep(turn, session.model_copy(update={"undelivered": event.reason}))


def _tell_requester(turn: Turn, session: Session, reason: str) -> None:
    if not turn.shared:
        return
    what = "The result is kept" if session.stage.kind == "ended" else "Nothing is lost"
    lines = (
        f"I can't bring my messages to the group any more: {reason}.",
        f"{name_of(session)}: {where(session)}. {what}; when I can write there again, I show it again.",
    )
    turn.effects.append(Say(message=view.says(*lines), only_to=session.requester.id))


def restored(turn: Turn) -> None:
    """What is open is offered again, once (b35, b41). The mark is lifted when it has arrived (CA-4)."""
    turn.set(unreachable=None)
    if not _show_when_heard(turn, "I can write here again.", "restored"):
        turn.ignore("nothing is open here")


def _has_result(session: Session) -> bool:
    return session.stage.kind == "ended" and session.stage.how == "completed"


def _lost_results(turn: Turn) -> list[Session]:
    return [s for s in turn.state.sessions if _has_result(s) and s.undelivered is not None]


def _results_again(turn: Turn) -> bool:
    """A result that was given up because nothing arrived here is handed over again, once (CH-7, RT-15)."""
    lost = _lost_results(turn)
    for session in lost:
        handover.again(turn, session, "This did not arrive when it was ready.")
        _keep(turn, session.model_copy(update={"undelivered": None}))
        turn.audit("delivery.restored", session)
    return bool(lost)


def away(turn: Turn, event: BotAway) -> None:
    """Some messages are lost: said where something is open, and what is open is shown again (P29, RD-6)."""
    gap = f"I was away from {_moment(event.since)} to {_moment(event.until)} UTC."
    lead = f"{gap} What was sent before {_moment(event.lost_before)} did not reach me; please send it again."
    if _show_when_heard(turn, lead, "away"):
        turn.audit("delivery.gap", since=event.since.isoformat(), until=event.until.isoformat())
    else:
        turn.ignore("nothing is open here")


def _moment(at: object) -> str:
    return f"{at:%d %B %H:%M}"


def _show_when_heard(turn: Turn, lead: str, why: str) -> bool:
    """At once, or when the quiet hours are over (CH-6); whether there is anything to show."""
    waiting = [*_waiting(turn), *(_lost_results(turn) if why == "restored" else ())]
    people = tuple({s.requester.id: s.requester for s in waiting}.values())
    if waiting and hours.heard_from(turn, turn.at, people) > turn.at:
        before = turn.state.owed
        turn.set(owed=Owed(lead=lead if before is None else f"{before.lead} {lead}", why=why))
        return True
    return _all_again(turn, lead, why)


def _all_again(turn: Turn, lead: str, why: str) -> bool:
    shown = _show_again(turn, lead, why)
    return (_results_again(turn) if why == "restored" else False) or shown


def show_owed(turn: Turn) -> None:
    """The quiet hours are over."""
    owed = turn.state.owed
    turn.set(owed=None)
    if owed is not None and not _all_again(turn, owed.lead, owed.why):
        turn.ignore("nothing is open here any more")


def _waiting(turn: Turn) -> list[Session]:
    return [s for s in turn.state.sessions if s.stage.kind in ("asking", "routing", "between")]


def _show_again(turn: Turn, lead: str, why: str) -> bool:
    """Every open round as one compact card, the active one first; whether there was anything to show."""
    waiting = _waiting(turn)
    waiting.sort(key=lambda s: (s.id != turn.state.active, -s.number))
    for number, session in enumerate(waiting[:MOST_SHOWN]):
        _again(turn, session, (lead,) if number == 0 else (), why)
    if rest := waiting[MOST_SHOWN:]:
        turn.tell(*(f"Also waiting: {name_of(s)}: {where(s)}. /resume {s.number}" for s in rest))
    return bool(waiting)


def _again(turn: Turn, session: Session, lead: tuple[str, ...], why: str) -> None:
    round_ = session.round
    bulk = turn.policy(session).bulk_accept
    if session.stage.kind == "between":
        if lead:
            turn.tell(*lead)
        shown = spec_steps.again(turn, session)
        _keep(turn, shown.model_copy(update={"touched_at": session.touched_at}))
        return
    if session.stage.kind == "routing" or round_ is None:
        if lead:
            turn.tell(*lead)
        menu.again(turn, session, anew=True)
        return
    if round_.message is None:  # nobody has seen it yet: whole
        card = view.with_lead(view.round_card(session, round_, bulk=bulk), lead)
    else:
        farewell = view.moved_on(view.round_card(session, round_, bulk=bulk))
        turn.effects.append(
            Redraw(card=round_.card, message=farewell, session=session.id, round=round_.id, farewell=True)
        )
        card = view.compact_card(round_, bulk=bulk, lead=lead)
    turn.say(card, card=round_.card, session=session, round_=round_)
    turn.audit("round.reposted", session, round_=round_, round=round_.number, reason=why)
