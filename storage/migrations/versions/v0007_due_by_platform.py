"""Rows that are due are found without reading those of another platform. Frozen, as every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

BEFORE = ("ready_at", "row", "conversation", "platform", "lease_until")
NOW = ("platform", "ready_at", "row", "conversation", "lease_until")


def upgrade() -> None:
    _indexed(NOW)


def downgrade() -> None:
    _indexed(BEFORE)


def _indexed(columns: tuple[str, ...]) -> None:
    first = sa.text("state = 'waiting' AND behind IS NULL")
    op.drop_index("outbox_due", "outbox")
    op.create_index("outbox_due", "outbox", list(columns), sqlite_where=first, postgresql_where=first)
