"""The commands that read what was stored."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TextIO

import typer

from bot.app import load_book
from bot.core.codec import decode_envelope, encode_state
from bot.core.state import Conversation
from bot.core.step import step
from config.settings import Settings
from storage import open_store
from storage.export import Format, export
from storage.records import RecordStore
from storage.values import iso
from storage.verify import verify


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[RecordStore]:
    """The store, which must exist already."""
    store = await open_store(settings.database, create=False)
    try:
        yield store
    finally:
        await store.close()


def _unknown(session: str) -> int:
    typer.echo(f"there is no session {session} in this database; `askfirst sessions` lists them", err=True)
    return 1


async def export_to(settings: Settings, form: Format, session: str | None, out: TextIO) -> int:
    async with opened(settings) as store:
        if session is not None:
            async with store.snapshot() as snapshot:
                if await snapshot.session(session) is None:
                    return _unknown(session)
        async for piece in export(store, form, session):
            out.write(piece)
    return 0


async def list_sessions(settings: Settings, as_json: bool) -> int:
    async with opened(settings) as store, store.snapshot() as snapshot:
        rows = [
            {
                "session": row["id"],
                "workflow": row["workflow"],
                "state": row["state"],
                "place": row["conversation"],
                "started_at": iso(row["started_at"]),
            }
            async for row in snapshot.sessions()
        ]
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return 0
    for row in rows:
        typer.echo(
            f"{row['session']}  {row['state']:<10} {row['workflow'] or '—':<34} {row['place']}  {row['started_at']}"
        )
    if not rows:
        typer.echo("no sessions yet")
    return 0


async def _record(store: RecordStore, session: str) -> dict[str, Any] | None:
    async with store.snapshot() as snapshot:
        row = await snapshot.session(session)
        if row is None:
            return None
        audit = [
            {
                "timestamp": iso(entry["at"]),
                "event": entry["event"],
                "phase": entry["phase"],
                "actor": entry["actor"],
                "details": None if entry["details"] is None else json.loads(entry["details"]),
            }
            async for entry in snapshot.chain(session)
        ]
    clarifications = json.loads("".join([piece async for piece in export(store, "json", session)]))
    result = row.get("result")
    return {
        "session": row["id"],
        "workflow": row["workflow"],
        "state": row["state"],
        "place": row["conversation"],
        "requester": row["requester"],
        "request": row["request"],
        "started_at": iso(row["started_at"]),
        "ended_at": None if row["ended_at"] is None else iso(row["ended_at"]),
        "clarifications": clarifications,
        "audit": audit,
        "result": None if result is None else json.loads(result),
    }


async def show_session(settings: Settings, session: str, as_json: bool) -> int:
    async with opened(settings) as store:
        record = await _record(store, session)
    if record is None:
        return _unknown(session)
    if as_json:
        typer.echo(json.dumps(record, ensure_ascii=False))
        return 0
    head = f"{record['session']}  {record['workflow'] or 'not routed'}  {record['state']}  {record['place']}"
    typer.echo(printable(head))
    typer.echo(f"request: {printable(record['request'])}")
    for entry in record["clarifications"]:
        words = entry["chosen"] or "–"
        words += f" “{entry['chosen_text']}”" if entry["chosen_text"] else ""
        words += f" (note: {entry['user_note']})" if entry["user_note"] else ""
        typer.echo(printable(f"  {entry['topic']}: {words}   {entry['chosen_via']} · {entry['answered_by']}"))
        typer.echo(printable(f"      {entry['user_message_ref']}"))
    typer.echo("audit:")
    for row in record["audit"]:
        typer.echo(printable(f"  {row['timestamp']}  {row['event']:<26} {row['actor']}"))
    return 0


def printable(text: str) -> str:
    """One line for a terminal: control characters, which could rewrite the screen, become marks."""
    return "".join(c if c.isprintable() else " " if c in "\n\t" else "\ufffd" for c in text)


async def replay_session(settings: Settings, session: str, as_json: bool) -> int:
    """Fold every event of the session's conversation and compare with what is stored."""
    book = load_book(settings)
    async with opened(settings) as store:
        conversation = await store.conversation_of(session)
        if conversation is None:
            return _unknown(session)
        stored = await store.load(conversation)
        state: Conversation | None = None
        events = 0
        async with store.snapshot() as snapshot:
            async for row in snapshot.events(conversation):
                state = step(state, decode_envelope(row["envelope"]), book).state
                events += 1
    same = stored is not None and state is not None and encode_state(stored) == encode_state(state)
    if as_json:
        typer.echo(json.dumps({"session": session, "conversation": conversation, "events": events, "same": same}))
    else:
        word = "the same state as stored" if same else "ANOTHER state than is stored"
        typer.echo(f"{events} events of {conversation} folded: {word}")
        if not same:
            typer.echo("The rules or playbooks have changed since, or the database was changed by hand.")
    return 0 if same else 1


async def verify_audit(settings: Settings, as_json: bool) -> int:
    async with opened(settings) as store:
        findings = await verify(store)
    if as_json:
        listed = [{"chain": f.chain, "where": f.where, "message": f.message} for f in findings]
        typer.echo(json.dumps({"ok": not findings, "findings": listed}, ensure_ascii=False))
    else:
        for finding in findings:
            typer.echo(f"{finding.chain} {finding.where}: {finding.message}")
        typer.echo("the audit log is whole" if not findings else f"{len(findings)} findings")
    return 1 if findings else 0
