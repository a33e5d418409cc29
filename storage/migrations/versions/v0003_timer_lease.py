"""Timers are taken with a lease, so that of several workers one fires them. Frozen, as every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

Whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    # Written anew on SQLite: an added column stands behind the constraints, and the schema would read otherwise than
    # the declared one.
    sqlite = op.get_context().dialect.name == "sqlite"
    with op.batch_alter_table(
        "timer", recreate="always" if sqlite else "never", table_kwargs={"sqlite_strict": True}
    ) as timer:
        timer.add_column(sa.Column("lease_until", Whole))
    taken = sa.text("lease_until IS NOT NULL")
    op.create_index("timer_taken", "timer", ["lease_until"], sqlite_where=taken, postgresql_where=taken)
