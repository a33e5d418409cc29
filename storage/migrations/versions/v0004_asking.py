"""What is asked for often is found without reading every open session or every timer. Frozen, as every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    asking = sa.text("state IN ('asking', 'closing')")
    for name, columns in (
        ("session_asking", ["conversation", "started_at"]),
        ("session_asking_newest", ["started_at", "conversation"]),
    ):
        op.create_index(name, "session", columns, sqlite_where=asking, postgresql_where=asking)
    unended = sa.text("ended_at IS NULL")
    op.create_index("session_open", "session", ["conversation"], sqlite_where=unended, postgresql_where=unended)
    op.drop_index("session_state", "session")  # planners prefer it to the ones that end sooner
    op.create_index("timer_name", "timer", ["name"])
    # Counted from the index alone, or SQLite rather reads all messages.
    posted = sa.text("kind = 'say' AND state = 'sent'")
    op.drop_index("outbox_posted", "outbox")
    op.create_index(
        "outbox_posted", "outbox", ["platform", "kind", "state"], sqlite_where=posted, postgresql_where=posted
    )
