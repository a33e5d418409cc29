"""Leaving an intake for another one, and coming back: nothing is lost either way (RT-7, RT-10)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core import view
from bot.core.flows.opening import first_message
from bot.core.model import Material, MessageRef, Person
from bot.core.state import LeaveSession, Session
from bot.core.turn import Turn


def pause(turn: Turn, session: Session, person: Person) -> None:
    """Keep a session for later; nothing in it changes."""
    turn.set(active=None)
    turn.audit("session.paused", session, person)


def offer_to_leave(
    turn: Turn,
    session: Session,
    person: Person,
    text: str,
    materials: Sequence[Material],
    ref: MessageRef,
    lead: Sequence[str],
    declared: str | None = None,
) -> None:
    """Ask once whether this message should start something new; nothing is lost either way (RT-7, RT-10)."""
    turn.ask(
        LeaveSession(session=session.id, text=text, materials=tuple(materials), declared=declared),
        person,
        ref,
        tuple(lead),
        (("y", "Start new with this"), ("n", "Stay here")),
        session,
    )


def leave(turn: Turn, ask: LeaveSession, choice: str, person: Person, ref: MessageRef) -> None:
    session = turn.state.session(ask.session)
    if choice != "y":
        lines = ["Staying here; nothing is changed. To start that later: /new and the same words."]
        if session is not None:
            session = turn.put(session)  # a word from the person: the long silence is over (RT-10)
        if session is not None and session.round is not None and session.round.open_items:
            lines.append(view.still_open(session.round, turn.policy(session).bulk_accept))
        turn.tell(*lines, session=session)
        return
    if session is not None and session.id == turn.state.active:
        pause(turn, session, person)
        turn.tell(f"Kept for later: #{session.number}. /resume {session.number} goes on with it.", session=session)
    first_message(turn, person, ask.text, ask.materials, ref, ask.declared)
