"""Where everything is kept. `open_store` is the way in; the promises are in tests/contracts/store_contract.py."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.ports import StoreUnavailable
from storage.records import RecordStore


async def open_store(url: str, *, create: bool = True) -> RecordStore:
    """Open "memory:" or a SQLite file.

    With `create` a missing file is made and an older one brought up to date; without, both are refused.
    """
    if url == "memory:":
        from storage.memory import MemoryStore

        return MemoryStore()
    if url.startswith(("postgresql:", "postgres:")):
        raise StoreUnavailable(
            "PostgreSQL is not built in yet: it comes with the extra askfirst[postgres]. "
            "Until then give ASKFIRST_DATABASE the path of a SQLite file."
        )
    from storage.sqlite import open_sqlite

    path = Path(url.removeprefix("sqlite:///"))
    await asyncio.to_thread(_ready, path, create)
    return await open_sqlite(path)


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
