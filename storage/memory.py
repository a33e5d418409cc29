"""The reference store: the promises in plain Python, for tests and throw-away runs.

It keeps the same rows as the database, JSON included, so a state that can not be stored fails here too.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

from bot.core.codec import decode_effect, decode_envelope, decode_shown, decode_state
from bot.core.effects import Message
from bot.core.events import Envelope
from bot.core.state import Conversation
from bot.ports import Commit, DueTimer, DuplicateEvent, OutboxRow, Settle, StaleRevision, StoreUnavailable
from storage.chain import EMPTY, Head, linked
from storage.records import Ring, Snapshot
from storage.rows import Prepared, Row, Unstorable, in_order, looking, outbox_row, prepare, settled, turn_key, turns
from storage.values import micros, moment, text

SOON = 600_000_000  # microseconds: as in `claim_timers` of storage/sql/outbox.sql


class Tables:
    """All rows, by key. A commit changes a copy of what it touches; see `MemoryStore.commit`."""

    def __init__(self) -> None:
        self.conversation: dict[str, Row] = {}
        self.event: dict[str, Row] = {}
        self.session: dict[str, Row] = {}
        self.clarification: dict[tuple[str, str], Row] = {}
        self.clarification_history: dict[tuple[str, str, int], Row] = {}
        self.audit: list[Row] = []
        self.audit_head: dict[str, Row] = {}
        self.outbox: dict[int, Row] = {}
        self.timer: dict[tuple[str, str], Row] = {}
        self.kept: dict[str, str] = {}


class MemoryStore:
    shared = False

    def __init__(self) -> None:
        self.tables = Tables()
        self._closed = False

    # -- conversations -------------------------------------------------------------------------------------------

    async def load(self, conversation: str) -> Conversation | None:
        row = self._open().conversation.get(text(conversation))
        return None if row is None else decode_state(row["state"])

    async def seen(self, event_id: str) -> bool:
        return text(event_id) in self._open().event

    async def event(self, event_id: str) -> Envelope | None:
        row = self._open().event.get(text(event_id))
        return None if row is None else decode_envelope(row["envelope"])

    async def keep(self, key: str, value: str | None) -> None:
        kept = self._open().kept
        if value is None:
            kept.pop(text(key), None)
        else:
            kept[text(key)] = text(value)

    async def kept(self, prefix: str) -> dict[str, str]:
        return {key: value for key, value in sorted(self._open().kept.items()) if key.startswith(text(prefix))}

    async def take_turn(self, what: str, owner: str, now: datetime, until: datetime) -> bool:
        key, kept = turn_key(what), self._open().kept
        held = kept.get(key, "")
        moments = turns(now, until)
        if moments["now"] < held[:20] <= moments["jumped"] and held[21:] != text(owner):
            return False
        kept[key] = f"{moments['until']} {text(owner)}"
        return True

    async def end_turn(self, what: str, owner: str) -> None:
        if self._open().kept.get(turn_key(what), "")[21:] == text(owner):
            del self._open().kept[turn_key(what)]

    async def commit(self, commit: Commit) -> None:
        tables = self._open()
        prepared = prepare(commit)
        if prepared.event_id in tables.event:
            raise DuplicateEvent(f"event {prepared.event_id} was committed before")
        stored = tables.conversation.get(prepared.conversation)
        revision = 0 if stored is None else stored["revision"]
        if revision != prepared.expected_revision:
            raise StaleRevision(
                f"{prepared.conversation} is at revision {revision}, "
                f"the commit was made for {prepared.expected_revision}"
            )
        _refuse(tables, prepared)
        _write(tables, prepared)

    async def about(self, conversation: str, message: str) -> str | None:
        found = [
            row
            for row in self._open().outbox.values()
            if row["conversation"] == text(conversation) and row["message"] == text(message)
        ]
        found.sort(key=lambda row: (row["kind"] != "say", row["row"]))
        if not found:
            return None
        card: str | None = found[0]["card"]
        about: str | None = found[0]["about"]
        return card if about is None else about

    async def shown(self, conversation: str, message: str) -> Message | None:
        found = [
            row
            for row in self._open().outbox.values()
            if row["conversation"] == text(conversation) and row["message"] == text(message)
        ]
        return decode_shown(max(found, key=lambda row: row["row"])["effect"]) if found else None

    async def drawings(self, conversation: str, message: str) -> Sequence[Message]:
        found = [
            row
            for row in self._open().outbox.values()
            if row["conversation"] == text(conversation) and row["message"] == text(message)
        ]
        drawn = [decode_shown(row["effect"]) for row in sorted(found, key=lambda row: row["row"])]
        return [shown for shown in drawn if shown is not None]

    async def conversation_of(self, session: str) -> str | None:
        row = self._open().session.get(text(session))
        return None if row is None else row["conversation"]

    async def open_conversations(self, platform: str) -> Sequence[str]:
        rows = self._open().session.values()
        waiting = [row for row in rows if row["state"] in ("routing", "asking", "closing", "between")]
        places = {row["conversation"] for row in waiting}
        return sorted(place for place in places if place.startswith(text(f"{platform}:")))

    async def sessions_begun(self, place: str) -> int:
        return sum(_within(row["conversation"], text(place), "/") for row in self._open().session.values())

    async def asking(self, within: str, limit: int) -> Sequence[str]:
        newest: dict[str, int] = {}
        for row in self._open().session.values():
            if row["state"] in ("asking", "closing") and _within(row["conversation"], text(within), "/:"):
                place = row["conversation"]
                newest[place] = max(newest.get(place, row["started_at"]), row["started_at"])
        return sorted(newest, key=lambda place: (-newest[place], place))[:limit]

    # -- outbox --------------------------------------------------------------------------------------------------

    async def claim(
        self, now: datetime, limit: int, lease: timedelta, platforms: Sequence[str] | None = None
    ) -> Sequence[OutboxRow]:
        look = looking(now, lease, limit)
        ready = (r for r in self._heads(platforms) if r["ready_at"] <= look["now"] or r["ready_at"] > look["jumped"])
        free = [row for row in ready if _is_free(row, look)]
        first = sorted(free, key=lambda row: (row["ready_at"], row["row"]))[:limit]
        taken = sorted(first, key=lambda row: row["row"])
        for row in taken:
            if row["lease_until"] is not None:  # it was on its way already
                row["attempts"] += 1
            row["lease_until"] = micros(now + lease)
        return [outbox_row({**row, "card_message": self._card_message(row)}, decode_effect) for row in taken]

    async def extend(self, rows: Sequence[int], until: datetime) -> None:
        for number in rows:
            row = self._open().outbox.get(number)
            if row is not None and row["state"] == "waiting" and row["lease_until"] is not None:
                row["lease_until"] = micros(until)

    async def settle(self, settle: Settle) -> None:
        _settle(self._open(), settled(settle))

    async def release(self, platforms: Sequence[str]) -> None:
        for row in self._open().outbox.values():
            if row["state"] == "waiting" and row["platform"] in platforms and row["lease_until"] is not None:
                row.update(lease_until=None, attempts=row["attempts"] + 1)
        for timer in self._open().timer.values():
            timer["lease_until"] = None

    async def retry_at(self, row: int, at: datetime, error: str) -> None:
        self._end_try(row, {"ready_at": micros(at), "error": text(error)})

    async def give_up(self, row: int, error: str) -> None:
        self._end_try(row, {"state": "given_up", "error": text(error)})

    async def next_due(self, platforms: Sequence[str] | None = None) -> datetime | None:
        tables = self._open()
        moments = [max(row["ready_at"], row["lease_until"] or 0) for row in self._heads(platforms)]
        moments += [row["lease_until"] or row["at"] for row in tables.timer.values()]
        return moment(min(moments)) if moments else None

    async def waiting(self) -> int:
        return sum(row["state"] == "waiting" for row in self._open().outbox.values())

    async def posted_count(self, platform: str) -> int:
        return sum(
            row["kind"] == "say" and row["state"] == "sent" and row["platform"] == text(platform)
            for row in self._open().outbox.values()
        )

    def _heads(self, platforms: Sequence[str] | None) -> list[Row]:
        """The oldest waiting row of each conversation, where it is for one of the platforms."""
        heads: dict[str, Row] = {}
        for number in sorted(self._open().outbox):
            row = self.tables.outbox[number]
            if row["state"] == "waiting":
                heads.setdefault(row["conversation"], row)
        return [row for row in heads.values() if platforms is None or row["platform"] in platforms]

    def _card_message(self, waiting: Row) -> str | None:
        if waiting["kind"] != "redraw":
            return None
        posted = [
            row
            for row in self.tables.outbox.values()
            if row["conversation"] == waiting["conversation"]
            and row["card"] == waiting["card"]
            and row["state"] == "sent"
            and row["message"] is not None
        ]
        return max(posted, key=lambda row: row["row"])["message"] if posted else None

    def _end_try(self, number: int, changes: Row) -> None:
        row = self._open().outbox.get(number)
        if row is not None and row["state"] == "waiting":
            row.update(changes, lease_until=None, attempts=row["attempts"] + 1)

    # -- timers --------------------------------------------------------------------------------------------------

    async def due(self, now: datetime, limit: int, lease: timedelta) -> Sequence[DueTimer]:
        look, rows = looking(now, lease, limit), self._open().timer.values()
        taken = in_order(row for row in rows if _is_due(row, look) and _is_free(row, look))[:limit]
        for timer in taken:
            self.tables.timer[timer.conversation, timer.name]["lease_until"] = micros(now + lease)
        return taken

    async def timer_at(self, conversation: str, name: str) -> datetime | None:
        row = self._open().timer.get((text(conversation), text(name)))
        return None if row is None else moment(row["at"])

    async def timers(self, prefix: str = "") -> Sequence[DueTimer]:
        return in_order(row for row in self._open().timer.values() if row["name"].startswith(text(prefix)))

    # -- records -------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        yield MemorySnapshot(deepcopy(self._open()))

    def listen(self, ring: Ring) -> None:
        """Nobody else can reach it."""

    async def close(self) -> None:
        self._closed = True

    def _open(self) -> Tables:
        if self._closed:
            raise StoreUnavailable("the store in memory has been closed")
        return self.tables


class MemorySnapshot:
    """The same order and names as storage/sql/read.sql."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def sessions(self) -> AsyncIterator[Row]:
        rows = self._tables.session.values()
        return _each(sorted(rows, key=lambda row: (row["started_at"], row["session"]), reverse=True))

    async def session(self, session: str) -> Row | None:
        return self._tables.session.get(text(session))

    def events(self, conversation: str) -> AsyncIterator[Row]:
        rows = (row for row in self._tables.event.values() if row["conversation"] == text(conversation))
        return _each(sorted(rows, key=lambda row: row["revision"]))

    def clarifications(self, session: str | None = None) -> AsyncIterator[Row]:
        rows = self._tables.clarification.values()
        return _each(
            sorted(
                (row for row in rows if session is None or row["session"] == text(session)),
                key=lambda row: (row["session"], len(row["id"]), row["id"]),
            )
        )

    def history(self, session: str) -> AsyncIterator[Row]:
        rows = (row for row in self._tables.clarification_history.values() if row["session"] == text(session))
        return _each(sorted(rows, key=lambda row: (len(row["id"]), row["id"], row["revision"])))

    async def chains(self) -> AsyncGenerator[str]:
        found = {row["chain"] for row in self._tables.audit} | set(self._tables.audit_head)
        found |= {
            key[0] for table in (self._tables.clarification, self._tables.clarification_history) for key in table
        }
        for chain in sorted(found):
            yield chain

    def chain(self, chain: str) -> AsyncIterator[Row]:
        rows = (row for row in self._tables.audit if row["chain"] == text(chain))
        return _each(sorted(rows, key=lambda row: row["seq"]))

    def unsent(self) -> AsyncIterator[Row]:
        waiting = [row for row in self._tables.outbox.values() if row["state"] == "waiting"]
        return _each(sorted(waiting, key=lambda row: row["row"]))

    def failures(self, mistake: str) -> AsyncIterator[Row]:
        rows = [
            row
            for row in self._tables.event.values()
            if (row["outcome"] == "refused" and (row["reason"] or "").startswith(mistake))
            or ":again:" in row["event_id"]
        ]
        return _each(sorted(rows, key=lambda row: (row["at"], row["event_id"])))

    async def chain_head(self, chain: str) -> Row | None:
        return self._tables.audit_head.get(text(chain))


def _is_due(row: Row, look: Row) -> bool:
    soon: bool = 0 <= row["at"] - row["set_at"] <= SOON
    return bool(row["at"] <= look["now"] or (soon and row["set_at"] > look["jumped"]))


def _is_free(row: Row, look: Row) -> bool:
    lease = row["lease_until"] or 0
    return bool(lease <= look["now"] or lease > look["jumped"])


def _within(conversation: str, place: str, ends: str) -> bool:
    return conversation == place or any(conversation.startswith(place + end) for end in ends)


async def _each(rows: Iterable[Row]) -> AsyncIterator[Row]:
    for row in rows:
        yield dict(row)


def _refuse(tables: Tables, commit: Prepared) -> None:
    """The one thing that can still fail; nothing is written yet."""
    for row in commit.rows["keep_withdrawn"]:
        known = tables.clarification.get((row["session"], row["id"]))
        if known is None or known["revision"] != row["revision"]:
            raise Unstorable(f"there is no clarification {row['id']} at revision {row['revision']} to take back")
    for row in commit.rows["put_clarification"]:
        known = tables.clarification.get((row["session"], row["id"]))
        last = max(
            [0 if known is None else known["revision"]]
            + [key[2] for key in tables.clarification_history if key[:2] == (row["session"], row["id"])]
        )
        if row["revision"] != last + 1:
            raise Unstorable(f"clarification {row['id']} is at revision {last}")


def _write(tables: Tables, commit: Prepared) -> None:
    """The statements of storage/sql/commit.sql, in the same order. Nothing in here can fail."""
    wanted: dict[str, list[Any]] = {**commit.rows}
    for row in wanted.get("add_conversation", []) + wanted.get("advance_conversation", []):
        kept = {"id": row["conversation"], "revision": row["revision"], "state": row["state"]}
        tables.conversation[row["conversation"]] = kept
    for row in wanted["add_event"]:
        tables.event[row["event_id"]] = row
    for row in wanted["keep_withdrawn"]:
        taken = tables.clarification.pop((row["session"], row["id"]))
        tables.clarification_history[taken["session"], taken["id"], taken["revision"]] = taken
    for row in wanted["keep_clarification"]:
        earlier = tables.clarification.get((row["session"], row["id"]))
        if earlier is not None:
            tables.clarification_history[earlier["session"], earlier["id"], earlier["revision"]] = earlier
    for row in wanted["put_clarification"]:
        tables.clarification[row["session"], row["id"]] = row
    for row in wanted["put_session"]:
        tables.session[row["session"]] = row
    for row in wanted["add_audit"]:
        known = tables.audit_head.get(row["chain"])
        head = linked(row, EMPTY if known is None else Head(known["seq"], known["hash"]))
        tables.audit_head[row["chain"]] = {"chain": row["chain"], "seq": head.seq, "hash": head.hash}
        tables.audit.append({"id": len(tables.audit) + 1, **row})
    for row in wanted.get("settle", []):
        _settle(tables, row)
    for order in wanted["supersede"]:
        for row in tables.outbox.values():
            same = row["conversation"] == order["conversation"] and row["card"] == order["card"]
            unclaimed = row["state"] == "waiting" and (row["lease_until"] or 0) <= order["at"]
            if same and unclaimed and row["kind"] == "redraw":
                row["state"] = "superseded"
    for row in wanted["add_outbox"]:
        _add_outbox(tables, row)
    for row in wanted.get("end_timer", []):
        timer = tables.timer.get((row["conversation"], row["name"]))
        if timer is not None and timer["at"] <= row["at"]:
            del tables.timer[row["conversation"], row["name"]]
    for row in wanted["clear_timer"]:
        tables.timer.pop((row["conversation"], row["name"]), None)
    for row in wanted["set_timer"]:
        tables.timer[row["conversation"], row["name"]] = {**row, "lease_until": None}


def _add_outbox(tables: Tables, row: Row) -> None:
    number = len(tables.outbox) + 1
    tables.outbox[number] = {
        "row": number,
        **{key: value for key, value in row.items() if key != "at"},
        "created_at": row["at"],
        "ready_at": row["at"],
        "lease_until": None,
        "attempts": 0,
        "state": "waiting",
        "message": None,
        "message_order": None,
        "error": None,
    }


def _settle(tables: Tables, row: Row) -> None:
    known = tables.outbox.get(row["row"])
    if known is not None and known["state"] != "sent":
        known.update(state="sent", message=row["message"], message_order=row["message_order"], lease_until=None)
