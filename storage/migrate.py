"""Bringing a database file to the version that this program knows, and refusing one that it does not.

Reading the version costs one query. Alembic, which takes half a second to import, is loaded only to bring an older
database up; a new one is made from `newest.sql`, which is what all migrations together arrive at.
"""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from bot.ports import NewerDatabase, StoreUnavailable
from storage.errors import unavailable

VERSION = "0007"  # the last file in migrations/versions; a test compares them
BUSY = 5.0  # seconds to wait for another program
NEWEST = Path(__file__).parent / "migrations" / "newest.sql"  # `make schema` writes it; a test compares
_ONE = threading.Lock()  # Alembic keeps the migration that runs in a global: alembic.context


def check(path: Path) -> str | None:
    """The version of the database in a file; None where there is no file or nothing in it.

    Raises `NewerDatabase`, or `StoreUnavailable` for a file that is not a database of ours. Changes nothing.
    """
    try:
        if path.is_dir():
            raise StoreUnavailable(f"{path} is a folder. Name a file in it, such as {path / 'askfirst.db'}.")
        if not path.exists():
            return None
    except (OSError, ValueError) as error:  # too long a name, a folder that may not be entered, a NUL
        said = getattr(error, "strerror", None) or error
        raise StoreUnavailable(
            f"the database {str(path)[:200]} can not be used: {said}. "
            "Choose another file with ASKFIRST_DATABASE or --db."
        ) from None
    try:
        with closing(_connect(path, create=False)) as connection:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables:
                return None
            found = None
            if "alembic_version" in tables and "conversation" in tables:
                found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error as error:
        raise unavailable(error, str(path)) from error
    if found is None:
        raise StoreUnavailable(
            f"{path} is a SQLite database, but not one of askfirst. It was left untouched; "
            "choose another file with ASKFIRST_DATABASE or --db."
        )
    version = str(found[0])
    if version > VERSION:
        raise NewerDatabase(
            f"the database {path} has version {version}; this program knows up to {VERSION}. "
            "It was left untouched. Upgrade askfirst, or go back to a backup made before the upgrade."
        )
    return version


def upgrade(path: Path) -> str:
    """Create the database, or bring it up to this program's version; gives back that version.

    One transaction: when it is interrupted, the file is as it was.
    """
    found = check(path)
    if found == VERSION:
        return VERSION
    if not path.parent.is_dir():
        raise StoreUnavailable(
            f"the folder {path.parent} does not exist, so the database {path} can not be made. "
            "Create the folder, or choose another file with ASKFIRST_DATABASE or --db."
        )
    if found is None:
        _make(path)
        return VERSION
    migrate(path)
    return VERSION


def _make(path: Path) -> None:
    """All tables at once, where there are none."""
    try:
        with closing(_connect(path, create=True)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:  # nobody was faster
                    for statement in NEWEST.read_text(encoding="utf-8").split(";\n\n"):
                        connection.execute(statement)
                    connection.execute("INSERT INTO alembic_version VALUES (?)", (VERSION,))
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
    except sqlite3.Error as error:
        raise unavailable(error, str(path)) from error


def newest(path: Path) -> str:
    """The text of `newest.sql`, from a database that the migrations have made."""
    with closing(_connect(path, create=False)) as connection:
        rows = connection.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
        )
        return ";\n\n".join("\n".join(line.rstrip() for line in row[0].strip().splitlines()) for row in rows) + ";\n"


def migrate(path: Path) -> None:
    """Run the migrations that are missing."""
    from alembic import command
    from sqlalchemy.exc import DBAPIError

    try:
        with _ONE, connected(path) as connection:
            command.upgrade(alembic_config(connection), "head")
    except DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise unavailable(error.orig, str(path)) from error
        raise
    except sqlite3.Error as error:
        raise unavailable(error, str(path)) from error


def alembic_config(connection: Any) -> Any:
    """Alembic's settings, without a file."""
    from alembic.config import Config

    config = Config(stdout=sys.stderr)  # its default is the stream of the time when it was imported
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


@contextmanager
def connected(path: Path) -> Iterator[Any]:
    """An SQLAlchemy connection whose transactions are real ones.

    sqlite3 commits before DDL and begins late; both are switched off, and BEGIN IMMEDIATE is written out:
    docs.sqlalchemy.org/en/20/dialects/sqlite.html#pysqlite-serializable
    """
    from sqlalchemy import create_engine, event, pool

    engine = create_engine("sqlite://", creator=lambda: _connect(path, create=True), poolclass=pool.NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _connect(path: Path, *, create: bool) -> sqlite3.Connection:
    mode = "rwc" if create else "rw"
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=BUSY)
