"""The end of a session: one document, shown and delivered (RT-15)."""

from __future__ import annotations

from typing import Literal

from bot.core import document_view, spec_record, view
from bot.core.effects import Button
from bot.core.model import Person
from bot.core.state import Asking, Closing, Ended, Routing, Session
from bot.core.turn import Turn


def destination(session: Session) -> str:
    """The workflow in words: `academic-paper / lit-review`."""
    return (session.workflow or "whoever asked").replace("/", " / ")


def title(turn: Turn, session: Session) -> str:
    if session.spec is not None:
        return f"Spec: {session.spec.name}"
    playbook = turn.book.playbooks.get(session.workflow or "")
    if playbook is not None:
        return playbook.title
    workflow = (
        turn.book.packs[session.pack].workflow(session.workflow or "") if session.pack in turn.book.packs else None
    )
    return workflow.title if workflow is not None else destination(session)


def hand_over(turn: Turn, session: Session, lead: str = "", buttons: tuple[tuple[Button, ...], ...] = ()) -> Session:
    """End the session as completed and give its document to the person."""
    session = turn.put(session, stage=Ended(how="completed", at=turn.at))
    made = turn.document(session)
    words = lead or f"Handed to {destination(session)}."
    if session.spec is None:
        message = document_view.with_document(made, title(turn, session), words, buttons)
    else:
        message = spec_record.message(session, turn.surface, words).model_copy(update={"buttons": buttons})
    turn.say(message, session=session)
    turn.audit("session.completed", session, workflow=session.workflow, clarifications=len(made["clarifications"]))
    turn.clear_timer(f"grace:{session.id}")
    turn.drop_pending(session=session.id, disputes=False)
    if turn.state.active == session.id:
        turn.set(active=None)
    return session


def end(turn: Turn, session: Session, how: Literal["cancelled", "replaced"], person: Person, reason: str) -> Session:
    """End a session without a result; its open questions end with it, its answers are kept (CA-4)."""
    round_, stage = session.round, session.stage
    session = turn.put(session, stage=Ended(how=how, at=turn.at))
    if round_ is not None and isinstance(stage, Asking):
        items = tuple(i.model_copy(update={"status": "cancelled"}) if i.status == "open" else i for i in round_.items)
        round_ = round_.model_copy(update={"items": items, "closed_at": turn.at})
        session = turn.put_round(session, round_)
    if round_ is not None and isinstance(stage, Asking | Closing):
        turn.redraw(round_.card, view.round_card(session, round_, bulk=False), session, round_)
    elif isinstance(stage, Routing):
        turn.redraw(session.id, view.says("Cancelled; no workflow was chosen."), session)
    turn.audit(f"session.{how}", session, person, reason=reason)
    turn.clear_timer(f"grace:{session.id}")
    turn.drop_pending(session=session.id)
    if turn.state.active == session.id:
        turn.set(active=None)
    return session


def again(turn: Turn, session: Session, lead: str) -> None:
    """The result once more, as it was handed over."""
    words = f"{lead} Handed to {destination(session)}."
    if session.spec is None:
        message = document_view.with_document(turn.document(session), title(turn, session), words)
    else:
        message = spec_record.message(session, turn.surface, words)
    turn.say(message, session=session)


def show_record(turn: Turn, session: Session) -> None:
    """The record so far, as documents, on request."""
    if session.spec is not None:
        turn.say(spec_record.message(session, turn.surface, "The record so far."), session=session)
        return
    made = turn.document(session)
    turn.say(document_view.with_document(made, title(turn, session), "The record so far."), session=session)


def grace_over(turn: Turn, session_id: str) -> None:
    """The grace is over: hand the result on."""
    session = turn.state.session(session_id)
    if session is None or session.stage.kind != "closing":
        turn.ignore("the session is not closing any more")
        return
    hand_over(turn, session)
