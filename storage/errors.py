"""From a database error to a sentence that says what was wrong and what to do (`StoreUnavailable`)."""

from __future__ import annotations

import sqlite3

from bot.ports import StoreUnavailable

# By the start of SQLite's own name for the error: sqlite.org/rescode.html
_MEANINGS = (
    ("SQLITE_BUSY", "another program is writing to it. Nothing was written. Stop that program or try again later."),
    ("SQLITE_LOCKED", "it is locked by another part of this program. Nothing was written. Try again."),
    (
        "SQLITE_READONLY",
        "it can not be written. Give this user write permission on the file and on its folder.",
    ),
    (
        "SQLITE_CANTOPEN",
        "it can not be opened. See that its folder exists and that this user may read and write in it.",
    ),
    (
        "SQLITE_NOTADB",
        "it is not a SQLite database. Choose another file with ASKFIRST_DATABASE or --db; this one was not touched.",
    ),
    (
        "SQLITE_CORRUPT",
        "it is damaged. Stop writing to it, keep a copy with its -wal file, and go back to the last backup.",
    ),
    ("SQLITE_FULL", "the disk is full. Nothing was written. Make room, then try again."),
    (
        "SQLITE_IOERR",
        "the disk reports an error. Nothing was written. See the system log, and that the file is on a local disk.",
    ),
    ("SQLITE_PERM", "this user may not use it. Give it permission on the file and its folder."),
)


def unavailable(error: sqlite3.Error, path: str) -> StoreUnavailable:
    name = getattr(error, "sqlite_errorname", None) or ""
    for start, meaning in _MEANINGS:
        if name.startswith(start):
            return StoreUnavailable(f"the database {path}: {meaning}")
    return StoreUnavailable(f"the database {path} can not be used now: {error}. Nothing was written.")
