"""`step` takes one event and says what follows: the new state, orders, records. Nothing happens in here."""

from __future__ import annotations

from typing import assert_never

from bot.core import view
from bot.core.book import Book
from bot.core.effects import Reply, Step
from bot.core.events import (
    BotAdded,
    BotAway,
    ButtonPressed,
    DeliveryFailed,
    Envelope,
    FileFetched,
    FormSubmitted,
    Forwarded,
    GateRefused,
    MessageDeleted,
    MessageEdited,
    MessagePosted,
    MessageReceived,
    PlaceLost,
    PlaceRestored,
    SignalsRaised,
    SpecImported,
    TimerDue,
)
from bot.core.flows import (
    between,
    editing,
    fetching,
    forms,
    greeting,
    handover,
    importing,
    listening,
    pressing,
    reach,
    several,
    spec_programs,
    times,
    waking,
)
from bot.core.model import Person
from bot.core.state import Conversation
from bot.core.turn import Turn

__all__ = ["Step", "step"]

ACTS = (MessageReceived, MessageEdited, ButtonPressed, FormSubmitted)  # of a person


def step(state: Conversation | None, envelope: Envelope, book: Book) -> Step:
    """What follows from one event in one conversation. Pure: the same arguments give the same step."""
    turn = Turn(before=state or Conversation(place=envelope.place), envelope=envelope, book=book)
    event = envelope.event
    if isinstance(event, ACTS):
        if turn.state.place != envelope.place:
            turn.set(place=envelope.place)  # a private chat became a group, or the like
        reach.heard(turn, event)
    match event:  # the commonest first
        case MessageReceived():
            if _admitted(turn, event.person):
                listening.message(turn, event)
        case ButtonPressed():
            if _admitted(turn, event.person):
                pressing.press(turn, event)
        case MessagePosted():
            reach.posted(turn, event)
        case TimerDue():
            _due(turn, event)
        case MessageEdited():
            if _admitted(turn, event.person):
                editing.edited(turn, event)
        case FormSubmitted():
            if _admitted(turn, event.person):
                forms.submitted(turn, event)
        case MessageDeleted():
            editing.deleted(turn, event)
        case DeliveryFailed():
            reach.undelivered(turn, event)
        case PlaceLost():
            reach.lost(turn, event)
        case PlaceRestored():
            reach.restored(turn)
        case BotAway():
            reach.away(turn, event)
        case BotAdded():
            greeting.added(turn, event)
        case FileFetched():
            fetching.fetched(turn, event)
        case GateRefused():
            spec_programs.gate_refused(turn, event)
        case SignalsRaised():
            spec_programs.signals_raised(turn, event)
        case SpecImported():
            importing.imported(turn, event)
        case Forwarded():
            if _admitted(turn, event.person):
                several.forwarded(turn, event)
        case _:
            assert_never(event)
    acted = False
    if isinstance(event, ACTS) and turn.outcome != "ignored":
        acted = True
        turn.pass_by(event.person)
    between.settle_cards(turn)
    if not turn.wants and turn.belongs is None:
        waking.schedule(turn, acted=acted)
    return turn.finish()


UNKNOWN = (
    "I don't know you yet, and I can't write to you in private. Open a chat with me and press Start; "
    "I tell you there how to be let in."
)


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
        turn.reply = Reply(text=" ".join(words))
    elif isinstance(event, FormSubmitted):
        turn.reply = Reply(text=" ".join(words), errors={min(event.fields, default=1): " ".join(words)})
    elif (
        isinstance(event, MessageReceived)
        and person.kind == "person"
        and (not turn.shared or event.addressed)
        and person.id not in turn.state.refused
    ):
        turn.set(refused=(*turn.state.refused[-199:], person.id))
        turn.say(view.says(*words), only_to=person if turn.shared else None, instead=UNKNOWN)
    return False


def _due(turn: Turn, event: TimerDue) -> None:
    kind, _, rest = event.name.partition(":")
    if kind == "grace":
        handover.grace_over(turn, rest)
    elif kind == "gather":
        listening.gathered(turn)
    elif kind == "fetch":
        fetching.late(turn, rest)
    elif event.name == waking.TIMER:
        waking.due(turn)
    elif kind == times.TOLD:
        pass  # what is said unasked gets another moment, where the settings give it one: below, as after every event
    elif kind == "forward":
        turn.set(forwards=tuple(f for f in turn.state.forwards if f.name != event.name))
    else:
        turn.ignore("unknown timer")
