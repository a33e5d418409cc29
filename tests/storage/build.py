"""Short constructors for the storage tests, with sensible defaults."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.core.capture import audit_of
from bot.core.effects import Audit, Block, Clarification, Message, Redraw, Say, SessionRow, Span, Withdrawal
from bot.core.events import Envelope, Event, MessageReceived, TimerDue
from bot.core.model import MessageRef, Option, Person, Place
from bot.core.state import Conversation
from bot.ports import Commit, OutboxRow, Store

START = datetime(2026, 12, 1, 10, 0, 0, 123456, tzinfo=UTC)
LEASE = timedelta(seconds=30)
ROOM = "terminal:room"


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def place(conversation: str = ROOM) -> Place:
    return Place(conversation=conversation, platform=conversation.split(":", 1)[0])


def state(revision: int, conversation: str = ROOM, *, mark: str = "") -> Conversation:
    """A state that can be told from others by `mark`."""
    return Conversation(place=place(conversation), revision=revision, refused=(mark,) if mark else ())


def said(event_id: str, conversation: str = ROOM, *, text: str = "1: B", at: datetime = START) -> Envelope:
    event = MessageReceived(
        person=Person(id="terminal:ana", name="Ana"), text=text, ref=MessageRef(id=event_id, quote=text)
    )
    return Envelope(event_id=event_id, place=place(conversation), at=at, event=event)


def timer_due(name: str, event_id: str, conversation: str = ROOM, *, at: datetime = START) -> Envelope:
    return Envelope(event_id=event_id, place=place(conversation), at=at, event=TimerDue(name=name))


def commit(
    event_id: str,
    expected: int = 0,
    conversation: str = ROOM,
    *,
    at: datetime = START,
    event: Event | None = None,
    mark: str = "",
    **more: Any,
) -> Commit:
    envelope = said(event_id, conversation, at=at)
    if event is not None:
        envelope = envelope.model_copy(update={"event": event})
    more.setdefault("outcome", "accepted")
    return Commit(
        envelope=envelope,
        expected_revision=expected,
        state=state(expected + 1, conversation, mark=mark),
        **more,
    )


def words(text: str) -> Message:
    return Message(blocks=(Block(spans=(Span(text=text),)),))


def say(text: str, card: str | None = None, about: str | None = None) -> Say:
    return Say(message=words(text), card=card, about=about)


def redraw(text: str, card: str) -> Redraw:
    return Redraw(message=words(text), card=card)


def clarification(
    id_: str = "clar-2026-12-01-001", session: str = "s1", revision: int = 1, **more: Any
) -> Clarification:
    options = (
        Option(key="A", label="SQLite file", tradeoff="simple"),
        Option(key="B", label="Postgres server", tradeoff="many writers", recommended=True),
        Option(key="C", label="Other — let me describe it", other=True),
    )
    fields: dict[str, Any] = {
        "protocol": "playbook",
        "phase": None,
        "round": 1,
        "trigger": "intake",
        "question": "engine",
        "topic": "Storage engine",
        "why_it_matters": "Decides the backup plan.",
        "options": options,
        "recommendation_rationale": "Best guess: several services write.",
        "chosen": "B",
        "chosen_text": None,
        "chosen_via": "user_response",
        "user_message_ref": 'm7: "1: B"',
        "user_note": None,
        "answered_by": "terminal:ana",
        "surface": "terminal",
        **more,
    }
    return Clarification(id=id_, session=session, revision=revision, **fields)


def recorded(*records: Clarification) -> dict[str, Any]:
    """Clarifications with their audit entries, as the core gives them."""
    events = {1: "clarification_resolved"}
    entries = tuple(audit_of(record, events.get(record.revision, "answer.replaced")) for record in records)
    return {"clarifications": records, "audit": entries}


def taken_back(id_: str = "clar-2026-12-01-001", session: str = "s1", revision: int = 1) -> dict[str, Any]:
    """A withdrawal with its audit entry, as the core gives them."""
    details = {"clarification_id": id_, "revision": revision, "question": "engine"}
    audit = Audit(event="answer.withdrawn", session=session, actor="human:terminal:ana", details=details)
    return {"withdrawn": (Withdrawal(id=id_, session=session, revision=revision),), "audit": (audit,)}


def entry(event: str = "intake_round", session: str | None = "s1", **details: Any) -> Audit:
    return Audit(event=event, session=session, actor="orchestrator", details=details)


def session_row(session: str = "s1", state_: str = "asking", started_at: datetime = START, **more: Any) -> SessionRow:
    return SessionRow(
        session=session,
        workflow="write",
        state=state_,
        requester="terminal:ana",
        request="write something",
        started_at=started_at,
        **more,
    )


async def claim(store: Store, at: datetime = START, limit: int = 100) -> Sequence[OutboxRow]:
    return await store.claim(at, limit, LEASE)


def texts(rows: Sequence[OutboxRow]) -> list[str]:
    return [row.effect.message.blocks[0].spans[0].text for row in rows]
