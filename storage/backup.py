"""A copy of a database that is in use, made whole and checked before it gets its name."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from bot.ports import StoreUnavailable
from storage import file, is_postgres
from storage.errors import unavailable
from storage.lane import address
from storage.migrate import check


async def backup(source: str, target: Path) -> Path:
    """Copy a database to the new SQLite file `target` while others write. No half copy is ever left."""
    part = _begun(target)
    try:
        if is_postgres(source):
            from storage.copy import copy

            await copy(source, str(part))
            await asyncio.to_thread(_one_file, part)
        else:
            await asyncio.to_thread(_copy, _known(file(source)), part)
        await asyncio.to_thread(part.rename, target)
    finally:
        _remove(part)
    return target


def _known(source: Path) -> Path:
    if check(source) is None:
        raise StoreUnavailable(f"there is no database at {source}")
    return source


def _begun(target: Path) -> Path:
    if target.exists():
        raise StoreUnavailable(f"{target} exists already; a backup never replaces a file. Choose another name.")
    if not target.parent.is_dir():
        raise StoreUnavailable(f"the folder {target.parent} does not exist. Create it, or choose another place.")
    part = target.with_name(f"{target.name}.part")
    _remove(part)
    return part


def _remove(part: Path) -> None:
    """A copy that was given up, with the files that SQLite keeps beside it."""
    for end in ("", "-wal", "-shm", "-journal"):
        part.with_name(f"{part.name}{end}").unlink(missing_ok=True)


def _one_file(part: Path) -> None:
    with closing(sqlite3.connect(part)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE").fetchall()


def _copy(source: Path, part: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(address(source), uri=True)) as origin,
            closing(sqlite3.connect(part)) as copy,
        ):
            # All pages in one step: one read transaction, so the copy is of one moment; in WAL mode it blocks nobody.
            origin.backup(copy, pages=-1)
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()  # one file, without a -wal beside it
            problems = [row[0] for row in copy.execute("PRAGMA integrity_check") if row[0] != "ok"]
            problems += [f"{row[0]} row {row[1]} has no {row[2]}" for row in copy.execute("PRAGMA foreign_key_check")]
    except sqlite3.Error as error:
        raise unavailable(error, f"{source} or its copy {part}") from error
    if problems:
        raise StoreUnavailable(
            f"the copy of {source} is damaged, so {source} probably is too: {'; '.join(problems[:3])}. "
            "No backup was made. Stop writing and go back to the last good backup."
        )
