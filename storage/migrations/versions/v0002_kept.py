"""What adapters keep for themselves between restarts. Frozen, as every migration."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

Words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "kept",
        sa.Column("key", Words, primary_key=True, nullable=False),
        sa.Column("value", Words, nullable=False),
        sqlite_strict=True,
    )
