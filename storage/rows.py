"""From a commit to rows: what every store writes, decided once.

`prepare` runs in the caller, before the commit is queued: a value that can not be stored fails alone. What depends
on what is already stored (the place in the audit chain) is added by the store when it writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from pydantic_core import PydanticSerializationError

from bot.core.audit import EVENTS
from bot.core.codec import (
    NOTHING,
    Parts,
    Written,
    decode_state,
    encode_effect,
    encode_envelope,
    json_of,
    write_state,
)
from bot.core.effects import Audit, Clarification, Redraw, Say, SessionRow, Withdrawal
from bot.core.events import TimerDue
from bot.core.model import Model
from bot.core.passed_on import as_data
from bot.core.state import Conversation
from bot.ports import Commit, DueTimer, OutboxRow, Settle
from storage import chain
from storage.values import canonical, canonical_in_order, cleaned, micros, moment, text, turn

Row = dict[str, Any]
_M = TypeVar("_M", bound=Model)

# The statements of storage/sql/commit.sql, in the order in which they run.
STATEMENTS = (
    "add_conversation",
    "advance_conversation",
    "add_event",
    "keep_withdrawn",
    "drop_withdrawn",
    "keep_clarification",
    "put_clarification",
    "put_session",
    "add_audit",
    "put_head",
    "settle",
    "supersede",
    "add_outbox",
    "end_timer",
    "clear_timer",
    "set_timer",
)


# The entry of a clarification that was taken back: it names one that has been written before.
WITHDRAWN = "answer.withdrawn"


class Unstorable(ValueError):
    """The commit breaks a rule of the store, such as the closed vocabulary of the audit log. A mistake of ours."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A commit as rows, by statement. `state` is what `load` will return; `parts` as in `Written`."""

    event_id: str
    conversation: str
    expected_revision: int
    state: Conversation
    rows: dict[str, list[Row]]
    parts: Parts


def encoded(value: _M, encode: Callable[[_M], str]) -> str:
    """The JSON of a value; one that holds NUL or half a surrogate pair is cleaned first."""
    try:
        written = encode(value)
    except PydanticSerializationError:
        return encode(type(value).model_validate(cleaned(value.model_dump())))
    if "\\u0000" in written:
        return encode(type(value).model_validate(cleaned(value.model_dump())))
    return written


def prepare(commit: Commit, known: Parts = NOTHING) -> Prepared:
    """`known` are the parts of the state before, where they are at hand: then less is written out."""
    envelope, state = commit.envelope, commit.state
    conversation = state.place.conversation
    if envelope.place.conversation != conversation:
        raise Unstorable(f"the event happened in {envelope.place.conversation}, the state is of {conversation}")
    if state.revision != commit.expected_revision + 1:
        raise Unstorable(f"a state at revision {state.revision} can not follow revision {commit.expected_revision}")
    at = micros(envelope.at)
    plain = _plain_state(state, known)
    stored = json_of(cleaned(as_data(state))) if plain is None else plain.text
    clarifications = [_clarification(record, at) for record in commit.clarifications]
    withdrawn = [_withdrawal(record) for record in commit.withdrawn]
    _each_once(clarifications)
    _each_once(withdrawn)
    advance = "add_conversation" if commit.expected_revision == 0 else "advance_conversation"
    event: Row = {
        "event_id": text(envelope.event_id),
        "conversation": text(conversation),
        "revision": state.revision,
        "at": at,
        "platform_at": None if envelope.platform_at is None else micros(envelope.platform_at),
        "kind": envelope.event.kind,
        "envelope": encoded(envelope, encode_envelope),
        "outcome": commit.outcome,
        "reason": _optional(commit.reason),
    }
    place = event["conversation"]
    rows: dict[str, list[Row]] = {
        advance: [
            {
                "conversation": place,
                "expected": commit.expected_revision,
                "revision": state.revision,
                "state": stored,
            }
        ],
        "add_event": [event],
        "keep_withdrawn": withdrawn,
        "drop_withdrawn": withdrawn,
        "keep_clarification": [row for row in clarifications if row["revision"] > 1],
        "put_clarification": clarifications,
        "put_session": [_session(record, place) for record in commit.sessions],
        "add_audit": [audit_row(record, at, clarifications) for record in commit.audit],
    }
    if commit.settle is not None:
        rows["settle"] = [settled(commit.settle)]
    _outbox(rows, commit.out, place, text(envelope.place.platform), at)
    _timers(rows, commit, place, at)
    return Prepared(
        event_id=event["event_id"],
        conversation=place,
        expected_revision=commit.expected_revision,
        # A state that had to be cleaned comes back as it was stored, not as it was handed in.
        state=state if plain is not None else decode_state(stored),
        rows=rows,
        parts=NOTHING if plain is None else plain.parts,
    )


def _plain_state(state: Conversation, known: Parts) -> Written | None:
    """The state as JSON, or None when something in it must be cleaned first."""
    try:
        written = write_state(state, known)
    except (PydanticSerializationError, UnicodeEncodeError):
        return None
    for part in written.new:
        if "\\u0000" in part:
            return None
    return written


# A row that this version can not read is left to one that can, and holds up those of no other place.
UNREADABLE = timedelta(seconds=5)  # until somebody may try it again
NOT_READABLE = "this version can not read it"


def outbox_row(row: Row, decode: Callable[[str], Say | Redraw]) -> OutboxRow:
    return OutboxRow(
        row=row["row"],
        conversation=row["conversation"],
        platform=row["platform"],
        effect=decode(row["effect"]),
        created_at=moment(row["created_at"]),
        attempts=row["attempts"],
        card_message=row["card_message"],
    )


def listed(platforms: Sequence[str] | None) -> str | None:
    """Names of platforms as `claim` and `next_due` want them: a space around each."""
    return None if platforms is None else "".join(f" {text(name)} " for name in platforms)


# A moment so far ahead of a lease taken now is of a clock that was wrong: hosts differ by seconds, not by hours.
WRONG = timedelta(hours=1)


def turns(now: datetime, until: datetime) -> Row:
    """The moments that a turn is taken with."""
    return {"now": turn(now), "until": turn(until), "jumped": turn(until + WRONG)}


def looking(now: datetime, lease: timedelta, limit: int) -> Row:
    """The moments that a claim compares with."""
    return {
        "now": micros(now),
        "until": micros(now + lease),
        "jumped": micros(now + lease + WRONG),
        "limit": limit,
    }


def in_order(timers: Iterable[Row]) -> list[DueTimer]:
    found = [DueTimer(row["conversation"], row["name"], moment(row["at"])) for row in timers]
    return sorted(found, key=lambda timer: (timer.at, timer.conversation, timer.name))


def within(place: str) -> Row:
    """A place, and where the names of its threads ("place/…") begin and end: text is compared by bytes."""
    return {"place": text(place), "threads": text(f"{place}/"), "beyond": text(f"{place}0")}


LAST = "\U0010ffff"  # no character comes after it


def beginning(prefix: str) -> Row:
    """Between which texts all are that begin so: text is compared by bytes, and UTF-8 sorts like code points."""
    return {"first": text(prefix), "beyond": text(prefix) + LAST}


FEW = 1000  # open rounds of a platform that are gathered; of more, the newest are walked through


def asking_count(platform: str) -> Row:
    return {**beginning(f"{platform}:"), "most": FEW + 1}


def asking(within: str, limit: int, counted: int) -> tuple[str, Row]:
    """The statement that looks for open rounds, and its values: in a place ("platform:place"), or on a platform.

    `counted`: those of the platform, as `asking_count` says; any number for a place.
    """
    if ":" in within:
        return "asking", {"place": text(within), "beyond": text(f"{within};"), "limit": limit}  # ";" follows ":"
    return "asking_few" if counted <= FEW else "asking_on", {**beginning(f"{within}:"), "limit": limit}


def turn_key(what: str) -> str:
    """Where it is kept whose turn something is."""
    return f"turn:{text(what)}"


def settled(settle: Settle) -> Row:
    return {"row": settle.row, "message": _optional(settle.message), "message_order": settle.order}


# -- one table each ----------------------------------------------------------------------------------------------


def _optional(value: str | None) -> str | None:
    return None if value is None else text(value)


_AS_IT_IS = tuple(sorted(Clarification.model_fields.keys() - {"kind", "options", "platform_at", "decided_at"}))


def _clarification(record: Clarification, at: int) -> Row:
    options = [
        {
            "key": option.key,
            "label": option.label,
            "recommended": option.recommended,
            "tradeoff": option.tradeoff,
        }
        for option in record.options
    ]
    values = vars(record)
    row: Row = {name: text(value) if isinstance(value := values[name], str) else value for name in _AS_IT_IS}
    row["options"] = canonical_in_order(options)
    row["chosen_at"] = at if record.decided_at is None else micros(record.decided_at)
    row["platform_at"] = None if record.platform_at is None else micros(record.platform_at)
    if row["chosen_via"] not in ("user_response", "accept_recommendations_bulk"):
        raise Unstorable(f"{row['chosen_via']!r} is no way of choosing (CA-2)")
    if not row["user_message_ref"].strip() or not row["answered_by"].strip():
        raise Unstorable(f"clarification {row['id']} names no message of a person (CA-2)")
    return row


def _withdrawal(record: Withdrawal) -> Row:
    return {"session": text(record.session), "id": text(record.id), "revision": record.revision}


def _each_once(named: list[Row]) -> None:
    if len(named) < 2:
        return
    for (session, id_), times in Counter((row["session"], row["id"]) for row in named).items():
        if times > 1:
            raise Unstorable(f"one event names clarification {id_} of session {session} {times} times")


def audit_row(record: Audit, at: int, clarifications: Sequence[Row] = ()) -> Row:
    """The row without its place in the chain. The entry of a clarification gets the hash of the whole of it."""
    if record.event not in EVENTS:
        raise Unstorable(f"{record.event!r} is not in the audit vocabulary (bot/core/audit.py)")
    details = dict(record.details)
    named = details.get("clarification_id")
    if named is not None and record.event != WITHDRAWN:
        for row in clarifications:
            if row["session"] == record.session and row["id"] == named:
                details["revision"] = row["revision"]
                details["clarification_hash"] = chain.clarification_hash(row)
    written = canonical(details)
    return {
        "chain": chain.SYSTEM if record.session is None else text(record.session),
        "at": at,
        "event": record.event,
        "phase": record.phase,
        "actor": text(record.actor),
        "details": written,
        "details_hash": chain.digest(written),
    }


def _session(record: SessionRow, conversation: str) -> Row:
    return {
        "session": text(record.session),
        "conversation": conversation,
        "workflow": _optional(record.workflow),
        "state": text(record.state),
        "requester": text(record.requester),
        "request": text(record.request),
        "started_at": micros(record.started_at),
        "ended_at": None if record.ended_at is None else micros(record.ended_at),
        "result": None if record.result is None else canonical(record.result),
    }


def _outbox(rows: dict[str, list[Row]], out: tuple[Say | Redraw, ...], place: str, platform: str, at: int) -> None:
    """Of several redraws of a card in one commit, only the last is ever written."""
    last = {effect.card: index for index, effect in enumerate(out) if isinstance(effect, Redraw)}
    added: list[Row] = []
    superseded: list[Row] = []
    for index, effect in enumerate(out):
        if isinstance(effect, Redraw):
            if last[effect.card] != index:
                continue
            superseded.append({"conversation": place, "card": text(effect.card), "at": at})
        added.append(
            {
                "conversation": place,
                "platform": platform,
                "kind": effect.kind,
                "card": _optional(effect.card),
                "about": _optional(effect.about) if isinstance(effect, Say) else None,
                "effect": encoded(effect, encode_effect),
                "at": at,
            }
        )
    rows["supersede"] = superseded
    rows["add_outbox"] = added


def _timers(rows: dict[str, list[Row]], commit: Commit, place: str, at: int) -> None:
    event = commit.envelope.event
    if isinstance(event, TimerDue):
        rows["end_timer"] = [{"conversation": place, "name": text(event.name), "at": at}]
    rows["clear_timer"] = [{"conversation": place, "name": text(name)} for name in commit.timers_cleared]
    rows["set_timer"] = [
        {"conversation": place, "name": text(name), "at": micros(moment_), "set_at": at}
        for name, moment_ in commit.timers_set
    ]
