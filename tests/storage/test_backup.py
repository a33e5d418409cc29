"""A backup is a whole, checked copy, taken while others write; a failed one leaves nothing behind."""

# ruff: noqa: ASYNC240 - tests may block
from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.ports import StoreUnavailable
from storage import backup as backup_module
from storage import open_store
from storage.backup import backup
from storage.records import RecordStore
from storage.verify import verify
from tests.storage.build import ROOM, commit, entry, say, state


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "askfirst.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[RecordStore]:
    store = await open_store(str(path))
    for n in range(20):
        await store.commit(commit(f"e{n}", n, audit=(entry(),), out=(say("x"),)))
    yield store
    await store.close()


async def test_a_backup_while_others_write_is_one_moment(store: RecordStore, path: Path, tmp_path: Path) -> None:
    stop = asyncio.Event()

    async def write() -> int:
        n = 20
        while not stop.is_set():
            await store.commit(commit(f"e{n}", n, audit=(entry(),)))
            n += 1
        return n

    writing = asyncio.create_task(write())
    target = await backup(str(path), tmp_path / "copy.db")
    stop.set()
    assert await writing >= 20
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.startswith("copy")) == ["copy.db"]
    assert target.read_bytes()[18:20] == b"\1\1"  # no log beside it: readable where nothing can be written
    copy = await open_store(str(target), create=False)
    kept = await copy.load(ROOM)
    assert kept is not None
    assert kept == state(kept.revision)
    assert kept.revision >= 20
    assert await verify(copy) == []
    await copy.close()


async def test_a_backup_never_replaces_a_file(store: RecordStore, path: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("precious")
    with pytest.raises(StoreUnavailable, match="exists already"):
        await backup(str(path), target)
    assert target.read_text() == "precious"


async def test_there_must_be_something_to_copy_and_a_place_for_it(path: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="there is no database"):
        await backup(str(path), tmp_path / "copy.db")
    await (await open_store(str(path))).close()
    with pytest.raises(StoreUnavailable, match="does not exist"):
        await backup(str(path), tmp_path / "missing" / "copy.db")


async def test_a_damaged_database_is_not_backed_up_in_silence(store: RecordStore, path: Path, tmp_path: Path) -> None:
    await store.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(  # rows that now break their table's constraint: what integrity_check looks for
            "UPDATE sqlite_master SET sql = replace(sql, 'revision > 0', 'revision > 99') WHERE name = 'conversation'"
        )
    with pytest.raises(StoreUnavailable, match=r"damaged.*No backup was made"):
        await backup(str(path), tmp_path / "copy.db")
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("copy")] == []


async def test_a_row_that_has_lost_what_it_belongs_to_is_not_backed_up_in_silence(
    store: RecordStore, path: Path, tmp_path: Path
) -> None:
    await store.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM conversation")
    with pytest.raises(StoreUnavailable, match=r"event row \d+ has no conversation.*No backup was made"):
        await backup(str(path), tmp_path / "copy.db")
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("copy")] == []


async def test_a_failure_in_the_middle_leaves_nothing(
    store: RecordStore, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(source: Path, part: Path) -> None:
        part.write_text("half")
        raise StoreUnavailable(str(source))

    monkeypatch.setattr(backup_module, "_copy", fail)
    with pytest.raises(StoreUnavailable):
        await backup(str(path), tmp_path / "copy.db")
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("copy")] == []
