"""Messages that stand behind others need not be read to be passed over; a timer says when it was set.

Frozen, as every migration.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

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


def upgrade() -> None:
    op.add_column("outbox", sa.Column("behind", sa.BigInteger().with_variant(sa.Integer(), "sqlite")))
    op.add_column("timer", sa.Column("set_at", sa.BigInteger().with_variant(sa.Integer(), "sqlite")))
    first = sa.text("state = 'waiting' AND behind IS NULL")
    columns = ["ready_at", "row", "conversation", "platform", "lease_until"]
    op.drop_index("outbox_due", "outbox")
    op.create_index("outbox_due", "outbox", columns, sqlite_where=first, postgresql_where=first)
    behind = sa.text("behind IS NOT NULL")
    op.create_index("outbox_behind", "outbox", ["behind"], sqlite_where=behind, postgresql_where=behind)
    soon = sa.text("at - set_at BETWEEN 0 AND 600000000")
    op.create_index("timer_soon", "timer", ["set_at"], sqlite_where=soon, postgresql_where=soon)
    for statement in FREED[op.get_context().dialect.name]:
        op.execute(statement)
