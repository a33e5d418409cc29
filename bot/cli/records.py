"""The commands that read what was stored."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TextIO

import typer

from bot.core.state import Conversation
from config.settings import Settings
from storage import named, open_store, readers
from storage.export import Format, export
from storage.marks import marked
from storage.records import RecordStore
from storage.verify import checked, verify


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
    told = 0
    async with opened(settings) as store:
        async for row in readers.sessions(store):
            if as_json:
                typer.echo(("[" if told == 0 else ", ") + json.dumps(row, ensure_ascii=False), nl=False)
            else:
                head = f"{row['session']}  {row['state']:<10} {row['workflow'] or '—':<34}"
                typer.echo(marked(f"{head} {row['place']}  {row['started_at']}"))
            told += 1
    if as_json:
        typer.echo("]" if told else "[]")
    elif not told:
        typer.echo("no sessions yet")
    return 0


async def show_session(settings: Settings, session: str, as_json: bool) -> int:
    async with opened(settings) as store:
        record = await readers.session_record(store, session)
    if record is None:
        return _unknown(session)
    if as_json:
        typer.echo(json.dumps(record, ensure_ascii=False))
        return 0
    head = f"{record['session']}  {record['workflow'] or 'not routed'}  {record['state']}  {record['place']}"
    lines = [head, f"request: {record['request']}"]
    for entry in record["clarifications"]:
        words = entry["chosen"] or "–"
        words += f" “{entry['chosen_text']}”" if entry["chosen_text"] else ""
        words += f" (note: {entry['user_note']})" if entry["user_note"] else ""
        lines.append(f"  {entry['topic']}: {words}   {entry['chosen_via']} · {entry['answered_by']}")
        lines.append(f"      {entry['user_message_ref']}")
    lines.append("audit:")
    lines += [f"  {row['timestamp']}  {row['event']:<26} {row['actor']}" for row in record["audit"]]
    for line in lines:
        typer.echo(marked(line))
    return 0


async def replay_session(settings: Settings, session: str, as_json: bool) -> int:
    """Fold every event of the session's conversation and compare with what is stored."""
    from bot.app import load_book  # all rules and packs: half of the start-up, and no other command here needs them
    from bot.core.step import step
    from bot.runner import OUR_MISTAKE, passed_over

    book = load_book(settings.model_copy(update={"pack": None}))  # the one named then is in each event's envelope
    async with opened(settings) as store:
        conversation = await store.conversation_of(session)
        if conversation is None:
            return _unknown(session)
        stored = await store.load(conversation)
        state: Conversation | None = None
        events = 0
        async for event in readers.events(store, conversation):
            failed = event.outcome == "refused" and (event.reason or "").startswith(OUR_MISTAKE)
            follows = passed_over(state, event.envelope, OUR_MISTAKE) if failed else step(state, event.envelope, book)
            state = follows.state
            events += 1
    same = stored is not None and stored == state
    if as_json:
        typer.echo(json.dumps({"session": session, "conversation": conversation, "events": events, "same": same}))
    else:
        word = "the same state as stored" if same else "ANOTHER state than is stored"
        typer.echo(f"{events} events of {conversation} folded: {word}")
        if not same:
            typer.echo("The rules or playbooks have changed since, or the database was changed by hand.")
    return 0 if same else 1


async def copy_database(source: str, target: str, as_json: bool) -> int:
    from storage.copy import copy

    copied = await copy(source, target)
    store = await open_store(target, create=False)
    try:
        findings = await verify(store)
    finally:
        await store.close()
    if as_json:
        typer.echo(json.dumps({"rows": copied.rows, "verified": not findings}))
    else:
        for table, rows in copied.rows.items():
            typer.echo(f"{table:<24} {rows:>10}")
        audit = (
            f"{len(findings)} findings in the audit log, as in the source" if findings else "the audit log is whole"
        )
        typer.echo(f"{named(target)}: every row as it was; {audit}")
    return 1 if findings else 0


async def prune_database(database: str, days: int, archive: str | None, dry: bool, as_json: bool) -> int:
    from contextlib import nullcontext
    from dataclasses import asdict
    from datetime import timedelta

    from bot.clock import SystemClock
    from storage.prune import opened_archive, prune

    now = SystemClock().now()
    with nullcontext() if dry or archive is None else opened_archive(archive) as written:
        done = await prune(database, now - timedelta(days=days), now, written, dry=dry)
    if as_json:
        typer.echo(json.dumps({**asdict(done), "dry_run": dry}))
    elif dry:
        typer.echo(f"{done.places} places would go")
    else:
        typer.echo(
            f"{done.places} places removed, with {done.sessions} sessions, {done.clarifications} clarifications, "
            f"{done.events} events and {done.messages} messages; they are in {archive}"
        )
    return 0


async def verify_audit(settings: Settings, as_json: bool) -> int:
    """Written as it is found: a database may have a million chains."""
    findings, chains = 0, 0
    listed: list[str] = []
    async with opened(settings) as store, aclosing(checked(store)) as found:
        if as_json:
            sys.stdout.write('{"heads": {')
        async for one in found:
            findings += len(one.findings)
            if as_json:
                listed += [_json({"chain": f.chain, "where": f.where, "message": f.message}) for f in one.findings]
            for finding in () if as_json else one.findings:
                typer.echo(f"{finding.chain} {finding.where}: {finding.message}")
            if one.head is not None:
                head = _json({"seq": one.head.seq, "hash": one.head.hash})
                if as_json:
                    sys.stdout.write(f"{', ' if chains else ''}{_json(one.chain)}: {head}")
                chains += 1
    if as_json:
        typer.echo(f'}}, "findings": [{", ".join(listed)}], "ok": {_json(not findings)}}}')
    else:
        chains_seen = "1 chain" if chains == 1 else f"{chains} chains"
        found_wrong = "1 finding" if findings == 1 else f"{findings} findings"
        typer.echo(found_wrong if findings else f"the audit log is whole: {chains_seen}")
    return 1 if findings else 0


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
