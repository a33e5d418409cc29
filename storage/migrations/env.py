"""Called by Alembic; there is no alembic.ini.

`storage.migrate` hands in a connection to a SQLite file. For PostgreSQL `storage.postgres_migrate` asks for the
statements instead, and runs them itself: so a migration may change tables, but not look at what is in them.
"""

from __future__ import annotations

from alembic import context

from storage.schema import metadata

if context.is_offline_mode():
    # No BEGIN and COMMIT among the statements: whoever runs them has a transaction around them.
    context.configure(dialect_name="postgresql", target_metadata=metadata, transactional_ddl=False)
else:
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
