"""The commands of a specification: its gate, its export, its import."""

from __future__ import annotations

import hashlib
import json
import secrets
from pathlib import Path
from typing import Any, TextIO

import typer

from bot.cli.records import opened
from bot.core import gate, spec_record
from bot.core.events import Envelope, GateRefused, SpecImported, import_reference
from bot.core.model import Place
from bot.core.spec_file import proven
from bot.ports import Store
from config.settings import Settings
from storage import readers

LARGEST = 20_000_000  # bytes of a file to be read in


def _unknown(session: str) -> int:
    typer.echo(f"there is no session {session} in this database; `askfirst sessions` lists them", err=True)
    return 1


async def check_gate(settings: Settings, session: str, phase: int, asked_by: str, as_json: bool) -> int:
    """Print the gate; while it is closed it is audited and its round is shown again in chat (CA-6)."""
    try:
        number = gate.phase_number(phase)
    except gate.NoSuchPhase as error:
        typer.echo(str(error), err=True)
        return 2
    async with opened(settings) as store:
        record = await readers.session_record(store, session)
        conversation = await store.conversation_of(session)
        state = None if conversation is None else await store.load(conversation)
    if record is None or conversation is None or state is None:
        return _unknown(session)
    if record["workflow"] != "spec/new":
        typer.echo(f"session {session} is no specification ({record['workflow'] or 'not routed'})", err=True)
        return 1
    found = gate.check(session, gate.of_record(record, number))
    if as_json:
        typer.echo(json.dumps(found.as_json(), ensure_ascii=False))
    elif found.open:
        typer.echo(f"the gate of phase {number} is open")
    else:
        typer.echo(f"the gate of phase {number} is closed:")
        for violation in found.violations:
            typer.echo(f"  {violation.code}: {violation.message}")
    if not found.open:
        event = GateRefused(session=session, phase=number, asked_by=f"agent:{asked_by}" if asked_by else "system")
        await _tell(settings, state.place, f"gate:{secrets.token_hex(8)}", event)
    return 0 if found.open else 1


async def _tell(settings: Settings, place: Place, event_id: str, event: GateRefused | SpecImported) -> Any:
    """Hand one event to the core, through the store; `serve` sends what follows from it."""
    from bot.app import program  # all rules and packs: an open gate needs none of them

    async with program(settings) as running:
        envelope = Envelope(event_id=event_id, place=place, at=running.clock.now(), event=event)
        return await running.runner.handle(envelope)


async def export_spec(settings: Settings, session: str, out: TextIO, *, markdown: bool) -> int:
    """One specification whole, with its audit log; as JSON it can be read in again."""
    async with opened(settings) as store:
        record = await readers.session_record(store, session)
        state = await _state(store, session)
    if record is None:
        return _unknown(session)
    document = state or (record["result"] or {}).get("spec_state")
    if document is None:
        typer.echo(f"session {session} is no specification ({record['workflow'] or 'not routed'})", err=True)
        return 1
    document["audit_log"] = [
        {k: v for k, v in entry.items() if k not in ("seq", "hash")} for entry in record["audit"]
    ]
    if markdown:
        out.write(spec_record.markdown(document))
    else:
        out.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    return 0


async def _state(store: Store, session: str) -> dict[str, Any] | None:
    """From the conversation, where it still holds the session whole."""
    conversation = await store.conversation_of(session)
    found = None if conversation is None else await store.load(conversation)
    held = found.session(session) if found is not None else None
    if found is None or held is None or held.spec is None:
        return None
    return spec_record.spec_state(held, found.place.platform)


def read_whole(file: Path) -> bytes | None:
    """The file, or None where it is too large to be an export."""
    return None if file.stat().st_size > LARGEST else file.read_bytes()


async def _imported(settings: Settings, place: str, digest: str) -> str:
    """The session that this file was read in as, there; "" where it was not."""
    async with opened(settings) as store:
        conversation = await store.load(place)
    sessions = conversation.sessions if conversation else ()
    name = import_reference(digest)
    return next((s.id for s in reversed(sessions) if s.spec is not None and s.request.ref.id == name), "")


def _mistake(line: str) -> dict[str, str]:
    """`spec_file.Mistake.line`, taken apart again."""
    path, code, message = line.split(": ", 2) if line.count(": ") > 1 else ("", "refused", line)
    return {"path": path, "code": code, "message": message}


async def import_spec(settings: Settings, file: Path, raw: bytes | None, place: str, as_json: bool) -> int:
    """Read a file in; exit 1 with every mistake when it can not be believed."""
    platform, colon, where = place.partition(":")
    if not colon or not platform or not where:
        typer.echo(f"{place!r} names no conversation; write platform:place, e.g. terminal:terminal", err=True)
        return 2
    if raw is None:
        typer.echo(f"{file}: larger than {LARGEST // 1_000_000} MB; that is no exported specification", err=True)
        return 1
    try:
        document = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        typer.echo(f"{file}: this is no JSON: {error}", err=True)
        return 1
    if not isinstance(document, dict):
        typer.echo(f"{file}: this is no specification: an object with meta, scope_lock, gates and context", err=True)
        return 1
    digest = hashlib.sha256(raw).hexdigest()
    event = SpecImported(document=document, digest=digest)
    target = Place(conversation=place, platform=platform)
    event_id = f"import:{digest[:32]}:{place}"
    handled = await _tell(settings, target, event_id, event)
    session = await _imported(settings, place, digest)
    if handled.outcome == "duplicate" and not session:  # it was refused then; it is judged again, as it would be now
        handled = await _tell(settings, target, f"{event_id}:{secrets.token_hex(4)}", event)
        session = await _imported(settings, place, digest)
    if handled.outcome == "refused":
        found = [_mistake(line) for line in (handled.reason or "").split("\n")]
        if as_json:
            typer.echo(json.dumps({"outcome": "refused", "mistakes": found}, ensure_ascii=False))
        for wrong in found if not as_json else ():
            typer.echo(f"{file}: {wrong['path']}: {wrong['message']} [{wrong['code']}]", err=True)
        return 1
    bare = [] if proven(document) else [row["id"] for row in document["context"]["clarifications"]]
    if as_json:
        told = {"unproven": bare} if bare else {}
        typer.echo(json.dumps({"outcome": handled.outcome, "session": session, **told}, ensure_ascii=False))
    elif handled.outcome == "duplicate":
        typer.echo(f"{file}: was read in there before; nothing is changed")
    else:
        typer.echo(f"{file}: read in as session {session}; it waits in {place}, /resume goes on with it")
        if bare:
            typer.echo(f"{file}: it has no audit log, so nothing proves that a person gave these answers:")
            typer.echo(
                f"{', '.join(bare)}. They are known, not decided; each phase asks for a y to what it takes of them."
            )
    return 0
