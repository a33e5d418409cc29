"""Of many rows that wait, those that are due are found without reading the others. Frozen, as every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    waiting = sa.text("state = 'waiting'")
    columns = ["ready_at", "row", "conversation", "platform", "lease_until"]
    op.create_index("outbox_due", "outbox", columns, sqlite_where=waiting, postgresql_where=waiting)
    had = sa.text("state = 'waiting' AND lease_until IS NOT NULL")
    op.create_index("outbox_taken", "outbox", ["lease_until"], sqlite_where=had, postgresql_where=had)
