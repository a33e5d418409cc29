"""`step` takes one event and says what follows: the new state, orders, records. Nothing happens in here."""

from __future__ import annotations

from typing import assert_never

from bot.core import view
from bot.core.book import Book
from bot.core.capture import quote
from bot.core.effects import Reply, Step
from bot.core.events import (
    ButtonPressed,
    DeliveryFailed,
    Envelope,
    FormSubmitted,
    Forwarded,
    MessageDeleted,
    MessageEdited,
    MessagePosted,
    MessageReceived,
    TimerDue,
)
from bot.core.flows import editing, forms, handover, listening, pressing, several
from bot.core.model import Person
from bot.core.state import Conversation
from bot.core.turn import Turn

__all__ = ["Step", "step"]

ACTS = (MessageReceived, MessageEdited, ButtonPressed, FormSubmitted)  # of a person


def step(state: Conversation | None, envelope: Envelope, book: Book) -> Step:
    """What follows from one event in one conversation. Pure: the same arguments give the same step."""
    turn = Turn(before=state or Conversation(place=envelope.place), envelope=envelope, book=book)
    event = envelope.event
    if isinstance(event, ACTS) and turn.state.place != envelope.place:
        turn.set(place=envelope.place)  # a private chat became a group, or the like
    match event:
        case MessageReceived():
            if _admitted(turn, event.person):
                listening.message(turn, event)
        case MessageEdited():
            if _admitted(turn, event.person):
                editing.edited(turn, event)
        case ButtonPressed():
            if _admitted(turn, event.person):
                pressing.press(turn, event)
        case FormSubmitted():
            if _admitted(turn, event.person):
                forms.submitted(turn, event)
        case MessageDeleted():
            editing.deleted(turn, event)
        case MessagePosted():
            _posted(turn, event)
        case DeliveryFailed():
            _undelivered(turn, event)
        case TimerDue():
            _due(turn, event)
        case Forwarded():
            if _admitted(turn, event.person):
                several.forwarded(turn, event)
        case _:
            assert_never(event)
    if isinstance(event, ACTS) and turn.outcome != "ignored":
        turn.pass_by(event.person)
    return turn.finish()


def _admitted(turn: Turn, person: Person) -> bool:
    """Access is closed by default; the same check guards every way in (CH-5)."""
    if turn.book.access.admits(person.id, turn.envelope.place.conversation, turn.surface):
        return True
    turn.audit("access.refused", None, person, conversation=turn.envelope.place.conversation)
    turn.outcome, turn.reason = "refused", "not let in"
    event = turn.envelope.event
    words = (
        f"I don't know you yet. Ask the operator to let you in; your id is {person.id}.",
        f"""They run: ASKFIRST_ACCESS__ALLOW='["{person.id}"]' askfirst serve""",
    )
    if isinstance(event, ButtonPressed):
        turn.reply = Reply(text=words[0])
    elif isinstance(event, FormSubmitted):
        turn.reply = Reply(text=words[0], errors={min(event.fields, default=1): words[0]})
    elif (
        isinstance(event, MessageReceived)
        and person.kind == "person"
        and (not turn.shared or event.addressed)
        and person.id not in turn.state.refused
    ):
        turn.set(refused=(*turn.state.refused[-199:], person.id))
        turn.say(view.says(*words), only_to=person if turn.shared else None)
    return False


def _posted(turn: Turn, event: MessagePosted) -> None:
    """A card has reached its place: replies to it can be bound, older messages can not answer it (RP-7)."""
    for session in turn.state.sessions:
        if session.undelivered is not None and (event.card == session.id or event.card.startswith(f"{session.id}.")):
            turn.audit("delivery.restored", session, card=event.card)
            session = session.model_copy(update={"undelivered": None})  # no `put`: no activity of a person
            turn.set(sessions=tuple(session if s.id == session.id else s for s in turn.state.sessions))
        for round_ in session.rounds:
            if round_.card == event.card:
                posted = round_.model_copy(update={"message": event.message, "order": event.order})
                rounds = tuple(posted if r.id == round_.id else r for r in session.rounds)
                kept = session.model_copy(update={"rounds": rounds})  # no `put`: posting is no activity of a person
                turn.set(sessions=tuple(kept if s.id == session.id else s for s in turn.state.sessions))
                return


def _undelivered(turn: Turn, event: DeliveryFailed) -> None:
    """Undeliverable is a state of the delivery, never of a question (CA-4, CH-7)."""
    name = (event.card or "").partition(".")[0]
    session = turn.state.session(name) or turn.state.current
    turn.audit("delivery.failed", session, card=event.card, reason=event.reason, words=quote(event.text))
    if session is not None:
        failed = session.model_copy(update={"undelivered": event.reason})  # no `put`: nobody has acted
        turn.set(sessions=tuple(failed if s.id == session.id else s for s in turn.state.sessions))


def _due(turn: Turn, event: TimerDue) -> None:
    kind, _, rest = event.name.partition(":")
    if kind == "grace":
        handover.grace_over(turn, rest)
    elif kind == "gather":
        listening.gathered(turn)
    elif kind == "forward":
        turn.set(forwards=tuple(f for f in turn.state.forwards if f.name != event.name))
    else:
        turn.ignore("unknown timer")
