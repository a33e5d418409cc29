"""What goes wrong with files: each time a sentence that says what was wrong and what to do, and nothing lost."""

# ruff: noqa: ASYNC240 - tests may block
from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.ports import StoreUnavailable
from storage import open_store
from storage.errors import unavailable
from storage.lane import address
from storage.migrate import upgrade
from storage.sqlite import SqliteStore, open_sqlite
from tests.storage.build import ROOM, commit, entry, state


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "askfirst.db"
    upgrade(path)
    return path


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = await open_sqlite(path, busy=0.05)
    yield store
    await store.close()


@pytest.mark.parametrize("create", [True, False])
async def test_a_missing_folder(tmp_path: Path, create: bool) -> None:
    expected = "folder .* does not exist.*Create the folder" if create else "there is no database at"
    with pytest.raises(StoreUnavailable, match=expected):
        await open_store(str(tmp_path / "missing" / "a.db"), create=create)
    assert list(tmp_path.iterdir()) == []


async def test_a_missing_file_is_made_only_when_asked_for(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="there is no database at"):
        await open_store(str(tmp_path / "a.db"), create=False)
    assert list(tmp_path.iterdir()) == []
    await (await open_store(str(tmp_path / "a.db"))).close()
    await (await open_store(f"sqlite:///{tmp_path / 'a.db'}", create=False)).close()


async def test_a_folder_instead_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"is a folder\. Name a file in it"):
        await open_store(str(tmp_path))


async def test_a_file_that_is_no_database_is_left_untouched(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Ana, " * 500)
    with pytest.raises(StoreUnavailable, match=r"not a SQLite database.*was not touched"):
        await open_store(str(path))
    assert path.read_text() == "Dear Ana, " * 500


async def test_another_program_that_holds_the_write_lock(store: SqliteStore, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match=r"another program is writing.*Nothing was written.*try again"):
            await store.commit(commit("e1"))
        assert await store.seen("e1") is False  # readers go on
        other.execute("ROLLBACK")
    await store.commit(commit("e1"))
    assert await store.load(ROOM) == state(1)


async def test_a_damaged_file_is_noticed_when_it_is_opened(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\x7f" * (len(whole) - 100))
    with pytest.raises(StoreUnavailable, match=r"is damaged.*last backup"):
        await open_store(str(path))


async def test_damage_in_the_rows_is_noticed_when_they_are_read(path: Path) -> None:
    store = await open_sqlite(path)
    for n in range(50):
        await store.commit(commit(f"e{n}", n, audit=(entry(),)))
    await store.close()
    with closing(sqlite3.connect(path)) as connection:
        pages = {row[0] for row in connection.execute("SELECT pageno FROM dbstat WHERE name LIKE '%conversation%'")}
    whole = bytearray(path.read_bytes())
    for page in pages:
        whole[(page - 1) * 4096 : page * 4096] = b"\x7f" * 4096
    path.write_bytes(whole)
    store = await open_sqlite(path)
    try:
        with pytest.raises(StoreUnavailable, match=r"is damaged.*last backup"):
            await store.load(ROOM)
        with pytest.raises(StoreUnavailable, match=r"is damaged.*last backup"):
            await store.commit(commit("new", 50))
    finally:
        await store.close()


async def test_a_full_disk_fails_the_commit_whole_and_the_store_goes_on(store: SqliteStore) -> None:
    """SQLite's own limit on pages gives the same error as a full disk."""
    await store.commit(commit("e1"))

    def limit(connection: sqlite3.Connection, pages: int) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    pages = (await store._writer.ask(lambda connection: connection.execute("PRAGMA page_count").fetchone()))[
        "page_count"
    ]
    await store._writer.ask(lambda connection: limit(connection, pages))
    big = commit("big", 1, mark="x" * 400_000)
    with pytest.raises(StoreUnavailable, match=r"the disk is full.*Nothing was written.*Make room"):
        await store.commit(big)
    assert await store.seen("big") is False
    assert await store.load(ROOM) == state(1)
    await store._writer.ask(lambda connection: limit(connection, 1_000_000))
    await store.commit(big)
    assert await store.seen("big") is True


def test_a_read_only_file_is_explained(path: Path) -> None:
    with (
        closing(sqlite3.connect(address(path).replace("mode=rw", "mode=ro"), uri=True)) as connection,
        pytest.raises(sqlite3.OperationalError) as caught,
    ):
        connection.execute("DELETE FROM timer")
    assert "Give this user write permission on the file and on its folder" in str(unavailable(caught.value, "a.db"))


def test_an_error_without_a_known_name_is_still_a_sentence() -> None:
    assert "can not be used now: odd. Nothing was written" in str(
        unavailable(sqlite3.OperationalError("odd"), "a.db")
    )
