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
    # Written anew on SQLite: a column that is added stands behind the constraints, and the schema would read otherwise
    # than the declared one.
    anew = op.get_context().dialect.name == "sqlite"
    how = {"recreate": "always", "table_kwargs": {"sqlite_strict": True}} if anew else {}
    with op.batch_alter_table("timer", **how) as timer:
        timer.add_column(sa.Column("lease_until", Whole))
