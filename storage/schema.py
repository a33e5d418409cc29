"""The declared schema: every table, for SQLite and PostgreSQL. Migrations must arrive exactly here (tests/storage).

Declared with SQLAlchemy, used without it: at run time only `storage/sql/*.sql` speaks to the database.
Times are integer microseconds in UTC, JSON is text (see storage/values.py).
"""

from __future__ import annotations

from sqlalchemy import (
    DDL,
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
from sqlalchemy.event import listen

metadata = MetaData()

# SQLite's STRICT knows INTEGER only (sqlite.org/stricttables.html); PostgreSQL needs BIGINT for times and 52-bit ids.
Whole = BigInteger().with_variant(Integer(), "sqlite")

# PostgreSQL sorts text by the system's locale, which changes with its libraries and spoils indexes; "C" sorts by
# bytes, as SQLite does: postgresql.org/docs/15/collation.html
Words = Text().with_variant(Text(collation="C"), "postgresql")


def _filled(column: str) -> CheckConstraint:
    return CheckConstraint(f"{column} <> ''", name=f"{column}_filled")


conversation = Table(
    "conversation",
    metadata,
    Column("id", Words, primary_key=True, nullable=False),
    Column("revision", Whole, CheckConstraint("revision > 0", name="revision_counts"), nullable=False),
    Column("state", Words, nullable=False),
    sqlite_strict=True,
)

event = Table(
    "event",
    metadata,
    Column("event_id", Words, primary_key=True, nullable=False),
    # No event without its conversation: a state that lost its row can not be written over (StaleRevision).
    Column("conversation", Words, ForeignKey("conversation.id"), nullable=False),
    Column("revision", Whole, nullable=False),
    Column("at", Whole, nullable=False),
    Column("platform_at", Whole),
    Column("kind", Words, nullable=False),
    Column("envelope", Words, nullable=False),
    Column(
        "outcome",
        Words,
        CheckConstraint("outcome IN ('accepted', 'ignored', 'refused')", name="outcome_known"),
        nullable=False,
    ),
    Column("reason", Words),
    UniqueConstraint("conversation", "revision", name="event_order"),
    sqlite_strict=True,
)

# Partial indexes: of the sessions of years, few are open.
_OPEN = text("ended_at IS NULL")
_ASKING = text("state IN ('asking', 'closing')")

session = Table(
    "session",
    metadata,
    Column("session", Words, primary_key=True, nullable=False),
    Column("conversation", Words, nullable=False),
    Column("workflow", Words),
    Column("state", Words, nullable=False),
    Column("requester", Words, nullable=False),
    Column("request", Words, nullable=False),
    Column("started_at", Whole, nullable=False),
    Column("ended_at", Whole),
    Column("result", Words),
    Index("session_conversation", "conversation"),
    Index("session_open", "conversation", sqlite_where=_OPEN, postgresql_where=_OPEN),
    Index("session_newest", "started_at", "session"),
    # In one place and its threads; and the newest of a platform, which may have a hundred thousand.
    Index("session_asking", "conversation", "started_at", sqlite_where=_ASKING, postgresql_where=_ASKING),
    Index("session_asking_newest", "started_at", "conversation", sqlite_where=_ASKING, postgresql_where=_ASKING),
    sqlite_strict=True,
)


def _clarification_columns() -> list[Column[object]]:
    """The names are those of the export (CA-1); the constraints are CA-2's, in the database too."""
    return [
        Column("id", Words, nullable=False),
        Column("phase", Whole),
        Column("round", Whole, nullable=False),
        Column("trigger", Words, nullable=False),
        Column("topic", Words, nullable=False),
        Column("why_it_matters", Words, nullable=False),
        Column("options", Words, nullable=False),  # JSON list of {key, label, tradeoff, recommended}
        Column("recommendation_rationale", Words),
        Column("chosen", Words),
        Column("chosen_at", Whole, nullable=False),
        Column(
            "chosen_via",
            Words,
            CheckConstraint(
                "chosen_via IN ('user_response', 'accept_recommendations_bulk')",
                name="chosen_via_legal",
            ),
            nullable=False,
        ),
        Column("user_message_ref", Words, _filled("user_message_ref"), nullable=False),
        Column("user_note", Words),
        Column("chosen_text", Words),
        Column("answered_by", Words, _filled("answered_by"), nullable=False),
        Column("surface", Words, nullable=False),
        Column("protocol", Words, nullable=False),
        Column("session", Words, nullable=False),
        Column("revision", Whole, CheckConstraint("revision > 0", name="revision_counts"), nullable=False),
        Column("question", Words, nullable=False),
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
    Column("chain", Words, nullable=False),  # a session, or 'system'
    Column("seq", Whole, CheckConstraint("seq > 0", name="seq_counts"), nullable=False),
    Column("at", Whole, nullable=False),
    Column("event", Words, nullable=False),
    Column("phase", Whole),
    Column("actor", Words, nullable=False),
    Column("details", Words),  # NULL once removed on request; details_hash stays
    Column("details_hash", Words, nullable=False),
    Column("prev_hash", Words, nullable=False),
    Column("hash", Words, nullable=False),
    UniqueConstraint("chain", "seq", name="audit_order"),
    sqlite_strict=True,
)

audit_head = Table(
    "audit_head",
    metadata,
    Column("chain", Words, primary_key=True, nullable=False),
    Column("seq", Whole, nullable=False),
    Column("hash", Words, nullable=False),
    sqlite_strict=True,
)

# Partial indexes: most rows are sent and stay for years, few wait.
_WAITING = text("state = 'waiting'")
_FREE = text("state = 'waiting' AND behind IS NULL")
_BEHIND = text("behind IS NOT NULL")
_HAD = text("state = 'waiting' AND lease_until IS NOT NULL")
_SENT = text("message IS NOT NULL")
_CARD = text("card IS NOT NULL")
_TAKEN = text("lease_until IS NOT NULL")
_SOON = text("at - set_at BETWEEN 0 AND 600000000")
_POSTED = text("kind = 'say' AND state = 'sent'")

outbox = Table(
    "outbox",
    metadata,
    Column("row", Whole, primary_key=True, autoincrement=True, nullable=False),
    Column("conversation", Words, nullable=False),
    Column("platform", Words, nullable=False),
    Column("kind", Words, CheckConstraint("kind IN ('say', 'redraw')", name="kind_known"), nullable=False),
    Column("card", Words),
    Column("about", Words),
    Column("effect", Words, nullable=False),
    Column("created_at", Whole, nullable=False),
    Column("ready_at", Whole, nullable=False),
    Column("lease_until", Whole),
    Column("attempts", Whole, nullable=False, server_default=text("0")),
    Column(
        "state",
        Words,
        CheckConstraint("state IN ('waiting', 'sent', 'given_up', 'superseded')", name="state_known"),
        nullable=False,
        server_default=text("'waiting'"),
    ),
    Column("message", Words),
    Column("message_order", Whole),
    Column("error", Words),
    Column("behind", Whole),  # the row of its place that was the last before it when it was passed over, and waits
    Index("outbox_waiting", "conversation", "row", sqlite_where=_WAITING, postgresql_where=_WAITING),
    # With all that is asked of a row before it is taken: rows behind others are passed over without being read. By
    # platform: a process reads none of those that another one serves.
    Index(
        "outbox_due",
        *("platform", "ready_at", "row", "conversation", "lease_until"),
        sqlite_where=_FREE,
        postgresql_where=_FREE,
    ),
    Index("outbox_behind", "behind", sqlite_where=_BEHIND, postgresql_where=_BEHIND),
    Index("outbox_taken", "lease_until", sqlite_where=_HAD, postgresql_where=_HAD),
    Index("outbox_message", "conversation", "message", sqlite_where=_SENT, postgresql_where=_SENT),
    Index("outbox_card", "conversation", "card", sqlite_where=_CARD, postgresql_where=_CARD),
    Index("outbox_posted", "platform", "kind", "state", sqlite_where=_POSTED, postgresql_where=_POSTED),
    sqlite_strict=True,
    sqlite_autoincrement=True,  # a row number is never given out twice, or a late `settle` could hit another row
)

# What an adapter has to know again after a restart: how far it has read, which groups have moved.
kept = Table(
    "kept",
    metadata,
    Column("key", Words, primary_key=True, nullable=False),
    Column("value", Words, nullable=False),
    sqlite_strict=True,
)

timer = Table(
    "timer",
    metadata,
    Column("conversation", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("at", Whole, nullable=False),
    Column("lease_until", Whole),  # whoever took it to fire it has until then
    Column("set_at", Whole),  # by the clock of then, which may have been put right since
    PrimaryKeyConstraint("conversation", "name"),
    Index("timer_at", "at"),
    Index("timer_name", "name"),
    Index("timer_taken", "lease_until", sqlite_where=_TAKEN, postgresql_where=_TAKEN),
    # What was to come within ten minutes of being set.
    Index("timer_soon", "set_at", sqlite_where=_SOON, postgresql_where=_SOON),
    sqlite_strict=True,
)

# The row behind one that waits no more is looked at again. By the database itself: whoever settles or removes the row
# need not know, older versions and people with an SQL prompt among them; and in PostgreSQL a trigger sees what was
# written while its statement waited, so that no row is left behind one that is gone.
FREED = {
    "sqlite": (
        (
            "CREATE TRIGGER outbox_left AFTER UPDATE OF state ON outbox WHEN OLD.state = 'waiting'\n"
            "BEGIN UPDATE outbox SET behind = NULL WHERE behind = OLD.row; END"
        ),
        (
            "CREATE TRIGGER outbox_removed AFTER DELETE ON outbox WHEN OLD.state = 'waiting'\n"
            "BEGIN UPDATE outbox SET behind = NULL WHERE behind = OLD.row; END"
        ),
    ),
    "postgresql": (
        (
            "CREATE FUNCTION outbox_left() RETURNS trigger LANGUAGE plpgsql AS $$\n"
            "BEGIN UPDATE outbox SET behind = NULL WHERE behind = OLD.row; RETURN NULL; END $$"
        ),
        (
            "CREATE TRIGGER outbox_left AFTER UPDATE OF state OR DELETE ON outbox\n"
            "FOR EACH ROW WHEN (OLD.state = 'waiting') EXECUTE FUNCTION outbox_left()"
        ),
    ),
}
for _dialect, _statements in FREED.items():
    for _statement in _statements:
        listen(outbox, "after_create", DDL(_statement).execute_if(dialect=_dialect))  # type: ignore[no-untyped-call]
