"""The first tables. Frozen: it says what version 0001 was, and does not follow storage/schema.py."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "conversation",
        sa.Column("id", Words, primary_key=True, nullable=False),
        sa.Column("revision", Whole, sa.CheckConstraint("revision > 0", name="revision_counts"), nullable=False),
        sa.Column("state", Words, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "event",
        sa.Column("event_id", Words, primary_key=True, nullable=False),
        sa.Column("conversation", Words, sa.ForeignKey("conversation.id"), nullable=False),
        sa.Column("revision", Whole, nullable=False),
        sa.Column("at", Whole, nullable=False),
        sa.Column("platform_at", Whole),
        sa.Column("kind", Words, nullable=False),
        sa.Column("envelope", Words, nullable=False),
        sa.Column(
            "outcome",
            Words,
            sa.CheckConstraint("outcome IN ('accepted', 'ignored', 'refused')", name="outcome_known"),
            nullable=False,
        ),
        sa.Column("reason", Words),
        sa.UniqueConstraint("conversation", "revision", name="event_order"),
        sqlite_strict=True,
    )
    op.create_table(
        "session",
        sa.Column("session", Words, primary_key=True, nullable=False),
        sa.Column("conversation", Words, nullable=False),
        sa.Column("workflow", Words),
        sa.Column("state", Words, nullable=False),
        sa.Column("requester", Words, nullable=False),
        sa.Column("request", Words, nullable=False),
        sa.Column("started_at", Whole, nullable=False),
        sa.Column("ended_at", Whole),
        sa.Column("result", Words),
        sqlite_strict=True,
    )
    op.create_index("session_conversation", "session", ["conversation"])
    op.create_index("session_state", "session", ["state"])
    op.create_index("session_newest", "session", ["started_at", "session"])
    op.create_table(
        "clarification",
        *_clarification_columns(),
        sa.PrimaryKeyConstraint("session", "id"),
        sqlite_strict=True,
    )
    op.create_table(
        "clarification_history",
        *_clarification_columns(),
        sa.PrimaryKeyConstraint("session", "id", "revision"),
        sqlite_strict=True,
    )
    op.create_table(
        "audit",
        sa.Column("id", Whole, primary_key=True, nullable=False),
        sa.Column("chain", Words, nullable=False),
        sa.Column("seq", Whole, sa.CheckConstraint("seq > 0", name="seq_counts"), nullable=False),
        sa.Column("at", Whole, nullable=False),
        sa.Column("event", Words, nullable=False),
        sa.Column("phase", Whole),
        sa.Column("actor", Words, nullable=False),
        sa.Column("details", Words),
        sa.Column("details_hash", Words, nullable=False),
        sa.Column("prev_hash", Words, nullable=False),
        sa.Column("hash", Words, nullable=False),
        sa.UniqueConstraint("chain", "seq", name="audit_order"),
        sqlite_strict=True,
    )
    op.create_table(
        "audit_head",
        sa.Column("chain", Words, primary_key=True, nullable=False),
        sa.Column("seq", Whole, nullable=False),
        sa.Column("hash", Words, nullable=False),
        sqlite_strict=True,
    )
    _outbox()
    op.create_table(
        "timer",
        sa.Column("conversation", Words, nullable=False),
        sa.Column("name", Words, nullable=False),
        sa.Column("at", Whole, nullable=False),
        sa.PrimaryKeyConstraint("conversation", "name"),
        sqlite_strict=True,
    )
    op.create_index("timer_at", "timer", ["at"])


def _clarification_columns() -> list[sa.Column[object]]:
    return [
        sa.Column("id", Words, nullable=False),
        sa.Column("phase", Whole),
        sa.Column("round", Whole, nullable=False),
        sa.Column("trigger", Words, nullable=False),
        sa.Column("topic", Words, nullable=False),
        sa.Column("why_it_matters", Words, nullable=False),
        sa.Column("options", Words, nullable=False),
        sa.Column("recommendation_rationale", Words),
        sa.Column("chosen", Words),
        sa.Column("chosen_at", Whole, nullable=False),
        sa.Column(
            "chosen_via",
            Words,
            sa.CheckConstraint(
                "chosen_via IN ('user_response', 'accept_recommendations_bulk')", name="chosen_via_legal"
            ),
            nullable=False,
        ),
        sa.Column(
            "user_message_ref",
            Words,
            sa.CheckConstraint("user_message_ref <> ''", name="user_message_ref_filled"),
            nullable=False,
        ),
        sa.Column("user_note", Words),
        sa.Column("chosen_text", Words),
        sa.Column(
            "answered_by",
            Words,
            sa.CheckConstraint("answered_by <> ''", name="answered_by_filled"),
            nullable=False,
        ),
        sa.Column("surface", Words, nullable=False),
        sa.Column("protocol", Words, nullable=False),
        sa.Column("session", Words, nullable=False),
        sa.Column("revision", Whole, sa.CheckConstraint("revision > 0", name="revision_counts"), nullable=False),
        sa.Column("question", Words, nullable=False),
        sa.Column("platform_at", Whole),
    ]


def _outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("row", Whole, primary_key=True, autoincrement=True, nullable=False),
        sa.Column("conversation", Words, nullable=False),
        sa.Column("platform", Words, nullable=False),
        sa.Column("kind", Words, sa.CheckConstraint("kind IN ('say', 'redraw')", name="kind_known"), nullable=False),
        sa.Column("card", Words),
        sa.Column("about", Words),
        sa.Column("effect", Words, nullable=False),
        sa.Column("created_at", Whole, nullable=False),
        sa.Column("ready_at", Whole, nullable=False),
        sa.Column("lease_until", Whole),
        sa.Column("attempts", Whole, nullable=False, server_default=sa.text("0")),
        sa.Column(
            "state",
            Words,
            sa.CheckConstraint("state IN ('waiting', 'sent', 'given_up', 'superseded')", name="state_known"),
            nullable=False,
            server_default=sa.text("'waiting'"),
        ),
        sa.Column("message", Words),
        sa.Column("message_order", Whole),
        sa.Column("error", Words),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    for name, columns, condition in (
        ("outbox_waiting", ["conversation", "row"], "state = 'waiting'"),
        ("outbox_message", ["conversation", "message"], "message IS NOT NULL"),
        ("outbox_card", ["conversation", "card"], "card IS NOT NULL"),
        ("outbox_posted", ["platform"], "kind = 'say' AND state = 'sent'"),
    ):
        where = sa.text(condition)
        op.create_index(name, "outbox", columns, sqlite_where=where, postgresql_where=where)
