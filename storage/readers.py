"""What the command line reads: the sessions, one session whole, and the events of a place for a replay."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.core.codec import decode_envelope
from bot.core.events import Envelope
from storage.export import exported
from storage.records import RecordStore, Row, Snapshot
from storage.values import iso, moment


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as it was applied."""

    envelope: Envelope
    revision: int
    at: datetime
    outcome: str
    reason: str | None


async def sessions(store: RecordStore) -> AsyncIterator[dict[str, Any]]:
    """Every session, newest first. `place` is the conversation ("platform:place")."""
    async with store.snapshot() as snapshot:
        async for row in snapshot.sessions():
            yield {
                "session": row["session"],
                "workflow": row["workflow"],
                "state": row["state"],
                "place": row["conversation"],
                "started_at": iso(row["started_at"]),
            }


async def events(store: RecordStore, conversation: str) -> AsyncIterator[StoredEvent]:
    """The events of a conversation in the order in which they were applied; folding them gives its state."""
    async with store.snapshot() as snapshot:
        async for row in snapshot.events(conversation):
            yield StoredEvent(
                envelope=decode_envelope(row["envelope"]),
                revision=row["revision"],
                at=moment(row["at"]),
                outcome=row["outcome"],
                reason=row["reason"],
            )


async def session_record(store: RecordStore, session: str) -> dict[str, Any] | None:
    """All that is kept of a session, ready for JSON; None where there is no such session.

    `events` are those of its conversation from its start to its end.
    """
    async with store.snapshot() as snapshot:
        row = await snapshot.session(session)
        if row is None:
            return None
        return {
            "session": row["session"],
            "workflow": row["workflow"],
            "state": row["state"],
            "place": row["conversation"],
            "requester": row["requester"],
            "request": row["request"],
            "started_at": iso(row["started_at"]),
            "ended_at": None if row["ended_at"] is None else iso(row["ended_at"]),
            "result": None if row["result"] is None else json.loads(row["result"]),
            "clarifications": [exported(found) async for found in snapshot.clarifications(session)],
            "earlier": [exported(found) async for found in snapshot.history(session)],
            "audit": [_entry(found) async for found in snapshot.chain(session)],
            "events": [found async for found in _events(snapshot, row)],
        }


async def _events(snapshot: Snapshot, session: Row) -> AsyncIterator[dict[str, Any]]:
    async for row in snapshot.events(session["conversation"]):
        started = row["at"] >= session["started_at"]
        ended = session["ended_at"] is not None and row["at"] > session["ended_at"]
        if started and not ended:
            yield {
                "event_id": row["event_id"],
                "revision": row["revision"],
                "at": iso(row["at"]),
                "platform_at": None if row["platform_at"] is None else iso(row["platform_at"]),
                "kind": row["kind"],
                "outcome": row["outcome"],
                "reason": row["reason"],
                "envelope": json.loads(row["envelope"]),
            }


def _entry(row: Row) -> dict[str, Any]:
    return {
        "seq": row["seq"],
        "timestamp": iso(row["at"]),
        "event": row["event"],
        "phase": row["phase"],
        "actor": row["actor"],
        "details": None if row["details"] is None else json.loads(row["details"]),
        "hash": row["hash"],
    }
