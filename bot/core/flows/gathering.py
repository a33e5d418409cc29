"""Joining what arrives in parts: an album, one update a file; a long paste, split by the platform (RT-11)."""

from __future__ import annotations

from datetime import timedelta

from bot.core.capture import quote
from bot.core.events import MessageReceived
from bot.core.model import Person
from bot.core.state import Gathering
from bot.core.turn import Turn

PAUSE = timedelta(seconds=1.5)  # parts come within about a second of each other


def waiting_of(turn: Turn, person: Person) -> bool:
    waiting = turn.state.gathering
    return waiting is not None and waiting.event.person.id == person.id


def belongs(turn: Turn, event: MessageReceived) -> bool:
    """Whether this message is a part, the first or a further one, of an act that may not be whole yet."""
    if event.album is not None:
        old = turn.state.gathering
        return old is None or (old.event.person.id == event.person.id and old.event.album == event.album)
    if event.partial:
        return turn.state.gathering is None or _pasting(turn, event)
    return _pasting(turn, event)


def _pasting(turn: Turn, event: MessageReceived) -> bool:
    """Behind a part as long as the platform allows, whatever the same person sends at once is its continuation."""
    old = turn.state.gathering
    if old is None or old.event.person.id != event.person.id or old.event.album is not None:
        return False
    return event.forwarded == old.event.forwarded  # one's own words and somebody else's stay apart (AU-3)


def gather(turn: Turn, event: MessageReceived) -> None:
    """Keep the part and wait a moment for the next one."""
    old = turn.state.gathering
    if old is None:
        waiting = Gathering(event=event, about=turn.about)
    else:
        first = old.event
        between = "\n" if first.album is not None and first.text and event.text else ""
        whole = first.model_copy(
            update={
                "text": first.text + between + event.text,
                "materials": (*first.materials, *event.materials),
                "addressed": first.addressed or event.addressed,
                "declared": first.declared or event.declared,
                "partial": event.partial,
            }
        )
        waiting = old.model_copy(update={"event": whole, "about": old.about or turn.about})
    turn.set(gathering=waiting)
    turn.timer("gather:parts", turn.at + PAUSE)


def joined(turn: Turn) -> MessageReceived | None:
    """The parts as one message; nothing is gathered any more."""
    waiting = turn.state.gathering
    if waiting is None:
        return None
    turn.set(gathering=None)
    turn.clear_timer("gather:parts")
    turn.about = waiting.about
    ref = waiting.event.ref.model_copy(update={"quote": quote(waiting.event.text) or waiting.event.ref.quote})
    return waiting.event.model_copy(update={"ref": ref, "album": None, "partial": False})
