"""The declared schema: every table, for SQLite and PostgreSQL. Migrations must arrive exactly here (tests/storage).

Declared with SQLAlchemy, used without it: at run time only `storage/sql/*.sql` speaks to the database.
Times are integer microseconds in UTC, JSON is text (see storage/values.py).
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData()

# SQLite's STRICT knows INTEGER only (sqlite.org/stricttables.html); PostgreSQL needs BIGINT for times and 52-bit ids.
Whole = BigInteger().with_variant(Integer(), "sqlite")


def _filled(column: str) -> CheckConstraint:
    return CheckConstraint(f"{column} <> ''", name=f"{column}_filled")


conversation = Table(
    "conversation",
    metadata,
    Column("id", Text, primary_key=True, nullable=False),
    Column("revision", Whole, CheckConstraint("revision > 0", name="revision_counts"), nullable=False),
    Column("state", Text, nullable=False),
    sqlite_strict=True,
)

event = Table(
    "event",
    metadata,
    Column("event_id", Text, primary_key=True, nullable=False),
    # No event without its conversation: a state that lost its row can not be written over (StaleRevision).
    Column("conversation", Text, ForeignKey("conversation.id"), nullable=False),
    Column("revision", Whole, nullable=False),
    Column("at", Whole, nullable=False),
    Column("platform_at", Whole),
    Column("kind", Text, nullable=False),
    Column("envelope", Text, nullable=False),
    Column(
        "outcome",
        Text,
        CheckConstraint("outcome IN ('accepted', 'ignored', 'refused')", name="outcome_known"),
        nullable=False,
    ),
    Column("reason", Text),
    UniqueConstraint("conversation", "revision", name="event_order"),
    sqlite_strict=True,
)

session = Table(
    "session",
    metadata,
    Column("session", Text, primary_key=True, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("workflow", Text),
    Column("state", Text, nullable=False),
    Column("requester", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("started_at", Whole, nullable=False),
    Column("ended_at", Whole),
    Column("result", Text),
    Index("session_conversation", "conversation"),
    Index("session_state", "state"),
    Index("session_newest", "started_at", "session"),
    sqlite_strict=True,
)


def _clarification_columns() -> list[Column[object]]:
    """The names are those of the export (CA-1); the constraints are CA-2's, in the database too."""
    return [
        Column("id", Text, nullable=False),
        Column("phase", Whole),
        Column("round", Whole, nullable=False),
        Column("trigger", Text, nullable=False),
        Column("topic", Text, nullable=False),
        Column("why_it_matters", Text, nullable=False),
        Column("options", Text, nullable=False),  # JSON list of {key, label, tradeoff, recommended}
        Column("recommendation_rationale", Text),
        Column("chosen", Text),
        Column("chosen_at", Whole, nullable=False),
        Column(
            "chosen_via",
            Text,
            CheckConstraint(
                "chosen_via IN ('user_response', 'accept_recommendations_bulk')",
                name="chosen_via_legal",
            ),
            nullable=False,
        ),
        Column("user_message_ref", Text, _filled("user_message_ref"), nullable=False),
        Column("user_note", Text),
        Column("chosen_text", Text),
        Column("answered_by", Text, _filled("answered_by"), nullable=False),
        Column("surface", Text, nullable=False),
        Column("protocol", Text, nullable=False),
        Column("session", Text, nullable=False),
        Column("revision", Whole, CheckConstraint("revision > 0", name="revision_counts"), nullable=False),
        Column("question", Text, nullable=False),
        Column("platform_at", Whole),
    ]


clarification = Table(
    "clarification",
    metadata,
    *_clarification_columns(),
    PrimaryKeyConstraint("session", "id"),
    sqlite_strict=True,
)

# Every revision that no longer stands: replaced, amended or taken back.
clarification_history = Table(
    "clarification_history",
    metadata,
    *_clarification_columns(),
    PrimaryKeyConstraint("session", "id", "revision"),
    sqlite_strict=True,
)

audit = Table(
    "audit",
    metadata,
    Column("id", Whole, primary_key=True, nullable=False),
    Column("chain", Text, nullable=False),  # a session, or 'system'
    Column("seq", Whole, CheckConstraint("seq > 0", name="seq_counts"), nullable=False),
    Column("at", Whole, nullable=False),
    Column("event", Text, nullable=False),
    Column("phase", Whole),
    Column("actor", Text, nullable=False),
    Column("details", Text),  # NULL once removed on request; details_hash stays
    Column("details_hash", Text, nullable=False),
    Column("prev_hash", Text, nullable=False),
    Column("hash", Text, nullable=False),
    UniqueConstraint("chain", "seq", name="audit_order"),
    sqlite_strict=True,
)

audit_head = Table(
    "audit_head",
    metadata,
    Column("chain", Text, primary_key=True, nullable=False),
    Column("seq", Whole, nullable=False),
    Column("hash", Text, nullable=False),
    sqlite_strict=True,
)

# Partial indexes: most rows are sent and stay for years, few wait.
_WAITING = text("state = 'waiting'")
_SENT = text("message IS NOT NULL")
_CARD = text("card IS NOT NULL")
_POSTED = text("kind = 'say' AND state = 'sent'")

outbox = Table(
    "outbox",
    metadata,
    Column("row", Whole, primary_key=True, autoincrement=True, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("platform", Text, nullable=False),
    Column("kind", Text, CheckConstraint("kind IN ('say', 'redraw')", name="kind_known"), nullable=False),
    Column("card", Text),
    Column("about", Text),
    Column("effect", Text, nullable=False),
    Column("created_at", Whole, nullable=False),
    Column("ready_at", Whole, nullable=False),
    Column("lease_until", Whole),
    Column("attempts", Whole, nullable=False, server_default=text("0")),
    Column(
        "state",
        Text,
        CheckConstraint("state IN ('waiting', 'sent', 'given_up', 'superseded')", name="state_known"),
        nullable=False,
        server_default=text("'waiting'"),
    ),
    Column("message", Text),
    Column("message_order", Whole),
    Column("error", Text),
    Index("outbox_waiting", "conversation", "row", sqlite_where=_WAITING, postgresql_where=_WAITING),
    Index("outbox_message", "conversation", "message", sqlite_where=_SENT, postgresql_where=_SENT),
    Index("outbox_card", "conversation", "card", sqlite_where=_CARD, postgresql_where=_CARD),
    Index("outbox_posted", "platform", sqlite_where=_POSTED, postgresql_where=_POSTED),
    sqlite_strict=True,
    sqlite_autoincrement=True,  # a row number is never given out twice, or a late `settle` could hit another row
)

# What an adapter has to know again after a restart: how far it has read, which groups have moved.
kept = Table(
    "kept",
    metadata,
    Column("key", Text, primary_key=True, nullable=False),
    Column("value", Text, nullable=False),
    sqlite_strict=True,
)

timer = Table(
    "timer",
    metadata,
    Column("conversation", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("at", Whole, nullable=False),
    PrimaryKeyConstraint("conversation", "name"),
    Index("timer_at", "at"),
    sqlite_strict=True,
)
