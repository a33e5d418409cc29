"""Bringing a PostgreSQL database to the version that this program knows, and refusing one that it does not.

The same migrations as for SQLite. Alembic writes down their statements; they run here, in one transaction, while
nobody else migrates: when that is interrupted, the database is as it was.
"""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bot.ports import NewerDatabase, StoreUnavailable
from storage.migrate import VERSION, alembic_config
from storage.postgres_errors import DATABASE, unavailable
from storage.postgres_link import PATIENTLY, connect, end
from storage.postgres_url import Target

ALONE = 0x61736B31  # the advisory lock of a migration; any number that nobody else uses ("ask1")

TABLES = """
    SELECT relname FROM pg_catalog.pg_class
    WHERE relname IN ('conversation', 'alembic_version') AND pg_catalog.pg_table_is_visible(oid)
"""


async def check(target: Target) -> str | None:
    """The version of a database; None where there are no tables of ours. As `storage.migrate.check`."""
    async with _opened(target) as connection:
        return await _version(connection, target)


async def upgrade(target: Target) -> str:
    """Create the tables, or bring them up to this program's version; gives back that version."""
    if await check(target) == VERSION:
        return VERSION
    async with _opened(target, patient=True) as connection:
        await connection.execute(f"BEGIN; SET LOCAL lock_timeout = 0; {PATIENTLY}")
        await connection.execute(f"SELECT pg_advisory_xact_lock({ALONE})")
        found = await _version(connection, target)  # somebody else may have been faster
        if found != VERSION:
            await connection.execute(statements(found))
        await connection.execute("COMMIT")
    return VERSION


def statements(since: str | None = None, until: str = VERSION) -> str:
    """The SQL that leads from a version (None: from nothing) to another."""
    from alembic import command

    config = alembic_config(None)
    config.output_buffer = io.StringIO()
    command.upgrade(config, f"{since or 'base'}:{until}", sql=True)
    return str(config.output_buffer.getvalue())


async def _version(connection: Any, target: Target) -> str | None:
    # Not `to_regclass`: it may remember from before the lock that there was no such table.
    found_tables = {row["relname"] for row in await connection.fetch(TABLES)}
    ours, versioned = "conversation" in found_tables, "alembic_version" in found_tables
    if not ours and not versioned:
        return None
    found = await connection.fetchval("SELECT version_num FROM alembic_version") if ours and versioned else None
    if found is None:
        raise StoreUnavailable(
            f"{target.name} holds tables of another program under names that askfirst needs. It was left untouched; "
            "give askfirst a database of its own."
        )
    version = str(found)
    if version > VERSION:
        raise NewerDatabase(
            f"the database {target.name} has version {version}; this program knows up to {VERSION}. "
            "It was left untouched. Upgrade askfirst, or go back to a backup made before the upgrade."
        )
    return version


@asynccontextmanager
async def _opened(target: Target, *, patient: bool = False) -> AsyncIterator[Any]:
    try:
        connection = await connect(target, patient=patient)
    except DATABASE as error:
        raise unavailable(error, target.name) from error
    try:
        yield connection
    except DATABASE as error:
        raise unavailable(error, target.name) from error
    finally:
        await end(connection)
