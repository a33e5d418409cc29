"""`askfirst audit verify`: is the audit log whole, and does every clarification agree with it (AU-2)?

What it finds: rows that were changed, removed, put in or moved; an end that was cut off; clarifications changed by
hand, without an entry, gone, or taken back without one. What no check inside one file can find: a change that
recomputes every hash behind it. Against that, keep the heads somewhere else.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from bot.ports import AuditFinding
from storage.chain import EMPTY, REMOVED, Head, clarification_hash, digest, entry_hash
from storage.records import RecordStore, Row, Snapshot
from storage.rows import WITHDRAWN

# Named in the message when the entry's own details show them to differ.
_COMPARED = ("chosen", "chosen_text", "chosen_via", "user_message_ref", "user_note", "topic", "question")


@dataclass
class _Entries:
    """What a chain says of the clarifications of its session."""

    named: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    recorded: set[tuple[str, int]] = field(default_factory=set)  # the keys of `named`, found or not
    withdrawn: dict[tuple[str, int], str] = field(default_factory=dict)  # and where the chain says so
    removed: int = 0  # rows whose details were removed on request
    removed_withdrawals: int = 0  # of these, the ones that took back a clarification


@dataclass(frozen=True, slots=True)
class Checked:
    """A chain, and what does not agree in it.

    `head` is the number and hash of its last row, to be kept where a forger does not come; None where it is gone, or
    where there is no chain but only clarifications.
    """

    chain: str
    head: Head | None
    findings: tuple[AuditFinding, ...]


async def checked(store: RecordStore) -> AsyncGenerator[Checked]:
    """Every chain, in the order of their names; one is in memory at a time."""
    async with store.snapshot() as snapshot, aclosing(snapshot.chains()) as chains:
        async for chain in chains:
            entries = _Entries()
            head = await snapshot.chain_head(chain)
            end = None if head is None else Head(head["seq"], head["hash"])
            findings = [finding async for finding in _chain(snapshot, chain, end, entries)]
            findings += [finding async for finding in _clarifications(snapshot, chain, entries)]
            yield Checked(chain, end, tuple(findings))


async def verify(store: RecordStore) -> list[AuditFinding]:
    """Everything that does not agree, chain by chain. An empty list means that all is well."""
    return [finding async for chain in checked(store) for finding in chain.findings]


async def _chain(snapshot: Snapshot, chain: str, head: Head | None, entries: _Entries) -> AsyncIterator[AuditFinding]:
    last = EMPTY
    async for row in snapshot.chain(chain):
        where = f"row {row['seq']} ({row['event']})"
        if row["seq"] != last.seq + 1:
            missing = f"row {last.seq + 1}" if row["seq"] == last.seq + 2 else f"rows {last.seq + 1}–{row['seq'] - 1}"
            yield AuditFinding(chain, where, f"{missing} before this one are missing: removed or renumbered")
        elif row["prev_hash"] != last.hash:
            yield AuditFinding(chain, where, "does not follow the row before it: one was changed, put in or moved")
        if row["hash"] != entry_hash(row):
            yield AuditFinding(chain, where, "was changed after it was written: its hash does not fit")
        if row["details"] is None:
            entries.removed += 1
            entries.removed_withdrawals += row["event"] == WITHDRAWN
        elif digest(row["details"]) != row["details_hash"]:
            yield AuditFinding(chain, where, "its details were changed after they were written")
        else:
            details = json.loads(row["details"])
            if "clarification_hash" in details:
                entries.named[details["clarification_id"], details["revision"]] = details
                entries.recorded.add((details["clarification_id"], details["revision"]))
            elif row["event"] == WITHDRAWN and "clarification_id" in details:
                entries.withdrawn[details["clarification_id"], details.get("revision", 0)] = where
        last = Head(row["seq"], row["hash"])
    if head is None:
        if last.seq:
            yield AuditFinding(chain, "head", "the record of the chain's end is gone; rows may be missing at the end")
    elif head.seq > last.seq:
        yield AuditFinding(chain, "end", f"the chain ends at row {last.seq}, but {head.seq} were written")
    elif head != last:
        yield AuditFinding(chain, "end", f"the last row is not the one that was written last (row {head.seq})")


async def _clarifications(snapshot: Snapshot, session: str, entries: _Entries) -> AsyncIterator[AuditFinding]:
    last: dict[str, int] = {}  # of each clarification that has earlier revisions
    async for row, standing in _revisions(snapshot, session):
        where = f"clarification {row['id']} revision {row['revision']}"
        if not standing:
            last[row["id"]] = row["revision"]
        else:
            last.pop(row["id"], None)
            if (row["id"], row["revision"]) in entries.withdrawn:
                yield AuditFinding(session, where, "was taken back, but is still there")
        details = entries.named.pop((row["id"], row["revision"]), None)
        if details is None:
            if not entries.removed:
                yield AuditFinding(session, where, "has no entry in the audit log: it was put in or renamed by hand")
            elif row["user_message_ref"] != REMOVED:
                yield AuditFinding(session, where, "can not be compared: the details of its entry were removed")
        elif details["clarification_hash"] != clarification_hash(row):
            differs = [name for name in _COMPARED if name in details and details[name] != row[name]]
            names = ", ".join(differs) or "a field that the entry does not repeat"
            yield AuditFinding(session, where, f"was changed after it was recorded: {names}")
    for id_, revision in last.items():
        later = any(named == id_ for named, _ in entries.named)  # told below
        if (id_, revision) not in entries.withdrawn and not later and not entries.removed_withdrawals:
            yield AuditFinding(
                session,
                f"clarification {id_} revision {revision}",
                "is gone, and no entry says that it was taken back",
            )
    for (id_, revision), entry in entries.withdrawn.items():
        if (id_, revision) not in entries.recorded and not entries.removed:
            yield AuditFinding(
                session, entry, f"takes back clarification {id_} revision {revision}, which was never recorded"
            )
    for id_, revision in entries.named:
        yield AuditFinding(
            session, f"clarification {id_} revision {revision}", "is in the audit log, but the clarification is gone"
        )


async def _revisions(snapshot: Snapshot, session: str) -> AsyncIterator[tuple[Row, bool]]:
    """Every revision, by number; True with those that stand."""
    async for row in snapshot.history(session):
        yield row, False
    async for row in snapshot.clarifications(session):
        yield row, True
