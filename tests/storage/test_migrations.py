"""The way to a current database: from nothing, from older ones, never from a newer one."""

# ruff: noqa: ASYNC240 - tests may block
from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from bot.ports import NewerDatabase, StoreUnavailable
from storage import migrate, open_store
from storage.schema import metadata


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "askfirst.db"


def schema_of(path: Path) -> dict[str, str]:
    """Every table and index as SQLite holds it, spacing aside: with STRICT, CHECK and conditions."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    # A table that was written anew under another name stands in quotes.
    texts = {name: re.sub(r'^CREATE TABLE "(\w+)"', r"CREATE TABLE \1", " ".join(sql.split())) for name, sql in rows}
    texts = {name: re.sub(r" ?([,)]) ?", r"\1 ", text) for name, text in texts.items()}  # a column was added
    return {name: text for name, text in texts.items() if name not in ("alembic_version", "sqlite_sequence")}


def test_the_migrations_arrive_at_the_declared_schema(path: Path, tmp_path: Path) -> None:
    migrate.upgrade(path)
    declared = tmp_path / "declared.db"
    engine = create_engine(f"sqlite:///{declared}")
    metadata.create_all(engine)
    engine.dispose()
    assert schema_of(path) == schema_of(declared)


def test_every_table_is_strict(path: Path) -> None:
    migrate.upgrade(path)
    with closing(sqlite3.connect(path)) as connection:
        strict = {row[1]: row[5] for row in connection.execute("PRAGMA table_list") if row[0] == "main"}
    assert {name for name in metadata.tables if not strict[name]} == set()


def test_the_program_knows_the_last_migration(path: Path) -> None:
    migrate.upgrade(path)
    with migrate.connected(path) as connection:
        script = ScriptDirectory.from_config(migrate.alembic_config(connection))
    assert script.get_current_head() == migrate.VERSION
    versions = sorted(revision.revision for revision in script.walk_revisions())
    assert versions == [f"{n + 1:04d}" for n in range(len(versions))]  # `check` compares them as text


def test_an_empty_file_gets_everything_and_a_current_one_is_left_alone(path: Path) -> None:
    assert migrate.check(path) is None
    assert not path.exists()
    path.touch()
    assert migrate.upgrade(path) == migrate.VERSION == migrate.check(path)
    before = path.read_bytes()
    assert migrate.upgrade(path) == migrate.VERSION
    assert path.read_bytes() == before


def test_a_current_database_is_opened_without_alembic(path: Path) -> None:
    """It takes half a second to import."""
    migrate.upgrade(path)
    program = (
        "import asyncio, sys, storage\n"
        "async def main():\n"
        "    await (await storage.open_store(sys.argv[1])).close()\n"
        "asyncio.run(main())\n"
        "assert not {'alembic', 'sqlalchemy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program, str(path)], check=True, timeout=60)


async def test_a_newer_database_is_refused_untouched(path: Path) -> None:
    migrate.upgrade(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '0999'")
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(NewerDatabase, match=rf"version 0999.*up to {migrate.VERSION}.*Upgrade") as caught:
            await open_store(str(path), create=create)
        assert str(path) in str(caught.value)
    with pytest.raises(NewerDatabase):
        migrate.upgrade(path)
    assert path.read_bytes() == before


async def test_an_older_database_is_brought_up_or_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrate.upgrade(path)
    now = migrate.VERSION
    monkeypatch.setattr(migrate, "VERSION", "0998")
    with pytest.raises(StoreUnavailable, match=rf"version {now}.*needs 0998.*askfirst db upgrade"):
        await open_store(str(path), create=False)


def test_a_database_of_another_program_is_refused_untouched(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable, match="not one of askfirst"):
        migrate.upgrade(path)
    assert path.read_bytes() == before


class Interrupted:
    """A connection on which changes are refused from the one of this number on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
        self.changed: list[str] = []
        plain = migrate._connect

        def connect(path: Path, *, create: bool) -> sqlite3.Connection:
            connection = plain(path, create=create)
            if create:
                connection.set_authorizer(lambda action, *named: self._look(action, at, named))
            return connection

        monkeypatch.setattr(migrate, "_connect", connect)

    def _look(self, action: int, at: int, named: tuple[str | None, ...]) -> int:
        if action in CHANGES:
            self.changed.append(str(named[0]))
        return sqlite3.SQLITE_DENY if len(self.changed) >= at else sqlite3.SQLITE_OK


CHANGES = (
    *(sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_CREATE_TRIGGER),
    *(sqlite3.SQLITE_ALTER_TABLE, sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_DROP_INDEX),
)


def test_an_interrupted_migration_leaves_the_old_state(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new file, from its one text: refused from the fifth change on, so others have been made before."""
    changes = Interrupted(monkeypatch, 5)
    with pytest.raises(StoreUnavailable):
        migrate.upgrade(path)
    assert len(changes.changed) >= 5
    monkeypatch.undo()
    assert schema_of(path) == {}
    assert migrate.upgrade(path) == migrate.VERSION


@pytest.mark.parametrize("at", [2, 6, 14])
def test_an_interrupted_upgrade_leaves_the_old_state(path: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """From the first version, in one of the first, in the middle, and in the last migration."""
    at_version(path, "0001")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO timer VALUES ('terminal:room', 't', 5)")
    before = schema_of(path)
    changes = Interrupted(monkeypatch, at)
    with pytest.raises(StoreUnavailable):
        migrate.upgrade(path)
    assert len(changes.changed) >= at
    monkeypatch.undo()
    assert (schema_of(path), migrate.check(path)) == (before, "0001")
    assert migrate.upgrade(path) == migrate.VERSION
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT conversation, name, at FROM timer").fetchall() == [
            ("terminal:room", "t", 5)
        ]


def test_the_index_by_platform_can_be_taken_back(path: Path, tmp_path: Path) -> None:
    before = tmp_path / "before.db"
    at_version(before, "0006")
    migrate.upgrade(path)
    with migrate._ONE, migrate.connected(path) as connection:
        command.downgrade(migrate.alembic_config(connection), "0006")
    assert (schema_of(path), migrate.check(path)) == (schema_of(before), "0006")
    assert migrate.upgrade(path) == migrate.VERSION


def at_version(path: Path, version: str) -> None:
    with migrate._ONE, migrate.connected(path) as connection:
        command.upgrade(migrate.alembic_config(connection), version)


def test_two_programs_may_upgrade_at_once(path: Path) -> None:
    program = "import sys, pathlib; from storage.migrate import upgrade; upgrade(pathlib.Path(sys.argv[1]))"
    upgrades = [subprocess.Popen([sys.executable, "-W", "error", "-c", program, str(path)]) for _ in range(3)]
    assert [process.wait(60) for process in upgrades] == [0, 0, 0]
    assert migrate.check(path) == migrate.VERSION


def test_alembic_sees_no_difference(path: Path) -> None:
    migrate.upgrade(path)
    with migrate.connected(path) as connection:
        command.check(migrate.alembic_config(connection))
