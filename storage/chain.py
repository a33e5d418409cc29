"""The audit chain: what is hashed, and how a row is linked to the one before it (AU-2).

A row's hash covers the hash of its details, not the details. Details can so be removed later, for somebody who
asks for it, and the chain still verifies. One chain per session and one for the system, so that workers that
write for different sessions do not queue behind one chain.

A chain alone can not show that its last rows were cut off. The head (`audit_head`) does, unless the same hand changes
both; whoever needs more keeps the heads that `askfirst audit verify` prints somewhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from operator import itemgetter
from typing import Any

from storage.values import canonical_in_order

SYSTEM = "system"  # the chain of rows without a session
REMOVED = "[removed]"  # the message reference of a clarification whose content was removed together with its entry's
FIRST = "0" * 64  # what the first row of a chain names as the hash before it

# The columns of a clarification in the order of CA-1, then the product's own. `clarification_hash` covers them all.
CLARIFICATION = (
    "id",
    "phase",
    "round",
    "trigger",
    "topic",
    "why_it_matters",
    "options",
    "recommendation_rationale",
    "chosen",
    "chosen_at",
    "chosen_via",
    "user_message_ref",
    "user_note",
    "chosen_text",
    "answered_by",
    "surface",
    "protocol",
    "session",
    "revision",
    "question",
    "platform_at",
)

_whole = itemgetter(*CLARIFICATION)
_entry = itemgetter("chain", "seq", "at", "event", "phase", "actor", "details_hash", "prev_hash")


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain: the number and hash of its last row."""

    seq: int
    hash: str


EMPTY = Head(0, FIRST)


def digest(written: str) -> str:
    return sha256(written.encode()).hexdigest()


def entry_hash(row: Mapping[str, Any]) -> str:
    """The hash of an audit row, from its own columns."""
    return digest(canonical_in_order(_entry(row)))


def clarification_hash(row: Mapping[str, Any]) -> str:
    """The hash of a whole clarification as stored; it goes into the details of the audit row that belongs to it."""
    return digest(canonical_in_order(_whole(row)))


def linked(row: dict[str, Any], head: Head) -> Head:
    """Give an audit row its place after `head`; returns the new head."""
    row["seq"] = head.seq + 1
    row["prev_hash"] = head.hash
    row["hash"] = entry_hash(row)
    return Head(row["seq"], row["hash"])
