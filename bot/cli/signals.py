"""What is unclear in a specification, for programs: the score as it stands, and signals that an agent raises (SC-2).

JSON lines in, one JSON object out. Everything or nothing: a line that can not be taken in refuses them all.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Any, Final

import typer

from bot.app import Program, program
from bot.cli.records import opened
from bot.core import spec
from bot.core.events import Envelope, RaisedSignal, SignalsRaised
from bot.core.score import BadSignal, of_agent, score
from bot.core.slots import spec_of
from bot.core.state import Conversation, Session
from config.settings import Settings

MOST: Final = 50  # signals at once
LARGEST: Final = 1_000_000  # bytes of all of them


class Refused(Exception):
    """`code` is stable; the message says what to do; `line` of the input, where one is meant."""

    def __init__(self, code: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.code, self.line = code, line

    def as_json(self) -> dict[str, Any]:
        where = {} if self.line is None else {"line": self.line}
        return {"error": {**where, "code": self.code, "message": str(self)}}


async def signals(settings: Settings, session: str, raised_by: str, raw: bytes | None) -> int:
    """Raise what `raw` holds, if anything, and print the score. Exit 1, and nothing changed, when refused."""
    try:
        raised = None if raw is None else parsed(raw, raised_by)
        answer = await _told(settings, session, raised_by, raised)
    except Refused as refused:
        typer.echo(json.dumps(refused.as_json(), ensure_ascii=False))
        return 1
    typer.echo(json.dumps(answer, ensure_ascii=False))
    return 0


def parsed(raw: bytes, raised_by: str) -> tuple[RaisedSignal, ...]:
    if not raised_by.strip() or not raised_by.isprintable() or len(raised_by) > 60:
        raise Refused("no_name", "--as NAME says who raises them: one line of at most 60 characters")
    if len(raw) > LARGEST:
        raise Refused("too_large", f"more than {LARGEST} bytes; say each thing once, in a sentence")
    found = []
    for number, line in enumerate(raw.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            signal = of_agent(json.loads(line), f"agent:{raised_by}")
        except BadSignal as error:
            raise Refused("bad_signal", str(error), number) from None
        except (ValueError, RecursionError) as error:
            raise Refused("bad_json", f"a line is one JSON object: {error}", number) from None
        found.append(RaisedSignal(kind=signal.kind, said=signal.said, evidence=signal.evidence, field=signal.field))
    if not found:
        raise Refused("no_signals", 'nothing was said; a line is {"kind": …, "said": …, "evidence": …}')
    if len(found) > MOST:
        raise Refused("too_many", f"{len(found)} signals; at most {MOST} at once")
    return tuple(found)


async def _told(
    settings: Settings, name: str, raised_by: str, raised: Sequence[RaisedSignal] | None
) -> dict[str, Any]:
    async with opened(settings) as store:
        conversation = await store.conversation_of(name)
        state = None if conversation is None else await store.load(conversation)
    _open(state, name)
    assert state is not None
    async with program(settings) as running:
        outcome = None
        if raised:
            event = SignalsRaised(session=name, raised_by=f"agent:{raised_by}", signals=tuple(raised))
            envelope = Envelope(
                event_id=f"signals:{secrets.token_hex(8)}", place=state.place, at=running.clock.now(), event=event
            )
            handled = await running.runner.handle(envelope)
            if handled.outcome == "refused":
                raise Refused("refused", handled.reason or "the specification could not take them in")
            outcome = "accepted" if handled.outcome == "accepted" else "known"
            state = await running.store.load(state.place.conversation)
        return {**_score(running, _open(state, name)), **({} if outcome is None else {"outcome": outcome})}


def _open(state: Conversation | None, name: str) -> Session:
    session = state.session(name) if state is not None else None
    if session is None:
        raise Refused("unknown_session", f"there is no session {name}; `askfirst sessions` lists them")
    if session.spec is None:
        raise Refused("not_a_specification", f"session {name} is {session.workflow or 'not routed'}")
    if session.stage.kind == "ended":
        raise Refused("ended", f"the specification {name} is over; its record stays")
    return session


def _score(running: Program, session: Session) -> dict[str, Any]:
    found = score(session, running.book.playbooks, running.book.phrases, running.book.times)
    number = spec_of(session).phase
    return {
        "session": session.id,
        "phase": number,
        "phase_name": spec.phase(number).name,
        "points": found.points,
        "action": found.action,
        "signals": [{**s.model_dump(exclude={"fill", "question"}), "points": s.points} for s in found.signals],
    }
