"""Where everything is kept. `open_store` is the way in; the promises are in tests/contracts/store_contract.py."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.ports import StoreUnavailable
from storage.records import RecordStore


async def open_store(url: str, *, create: bool = True) -> RecordStore:
    """Open "memory:", `postgresql://…` or a SQLite file.

    With `create` a missing file or missing tables are made and older ones brought up to date; without, both are
    refused. A PostgreSQL database itself must exist.
    """
    if url == "memory:":
        from storage.memory import MemoryStore

        return MemoryStore()
    if is_postgres(url):
        from storage.postgres import open_postgres
        from storage.postgres_url import target

        await (upgrade(url) if create else ready(url))
        return await open_postgres(target(url))
    from storage.sqlite import open_sqlite

    path = file(url)
    await asyncio.to_thread(_ready, path, create)
    return await open_sqlite(path)


async def upgrade(url: str) -> str:
    """Create the tables, or bring them up to this program's version; gives back that version."""
    if is_postgres(url):
        from storage import postgres_migrate
        from storage.postgres_url import target

        return await postgres_migrate.upgrade(target(url))
    from storage import migrate

    return await asyncio.to_thread(migrate.upgrade, file(url))


def named(url: str) -> str:
    """The database as it may be shown: without a password."""
    if is_postgres(url):
        from storage.postgres_url import target

        return target(url).name
    return str(file(url))


def file(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def is_postgres(url: str) -> bool:
    return url.startswith(("postgresql:", "postgres:"))


def _ready(path: Path, create: bool) -> None:
    from storage import migrate

    if create:
        migrate.upgrade(path)
        return
    version = migrate.check(path)
    if version is None:
        raise StoreUnavailable(
            f"there is no database at {path}. Name the right file with ASKFIRST_DATABASE or --db; "
            "`askfirst chat` makes a new one."
        )
    if version != migrate.VERSION:
        raise StoreUnavailable(
            f"the database {path} has version {version}; this program needs {migrate.VERSION}. "
            "Run `askfirst db upgrade`."
        )


async def ready(url: str) -> None:
    """Refuse a database that is not there, or has another version than this program."""
    if not is_postgres(url):
        await asyncio.to_thread(_ready, file(url), create=False)
        return
    from storage import migrate, postgres_migrate
    from storage.postgres_url import target

    where = target(url)
    version = await postgres_migrate.check(where)
    if version is None:
        raise StoreUnavailable(
            f"there are no tables of askfirst in {where.name}. Name the right database with ASKFIRST_DATABASE or "
            "--db, or run `askfirst db upgrade` to make them."
        )
    if version != migrate.VERSION:
        raise StoreUnavailable(
            f"the database {where.name} has version {version}; this program needs {migrate.VERSION}. "
            "Run `askfirst db upgrade`."
        )
