"""Called by Alembic. The connection is handed in by `storage.migrate`; there is no alembic.ini."""

from __future__ import annotations

from alembic import context

from storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite can not alter a column: alembic.sqlalchemy.org/en/latest/batch.html
    # Alembic takes SQLite for a database that can not roll back DDL; with BEGIN written out it can. All pending
    # migrations are one transaction: an interrupted upgrade leaves the old state.
    transactional_ddl=True,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
