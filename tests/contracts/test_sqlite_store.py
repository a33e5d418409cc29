"""The contract, on a SQLite file, looked at through a plain connection; and what only a file can promise."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from storage import open_store
from storage.records import RecordStore
from tests.contracts.outbox_contract import Row
from tests.contracts.store_contract import StoreContract
from tests.storage.build import ROOM, claim, commit, entry, say, state, texts


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "a name with # and ? in it.db"

    @pytest.fixture
    async def store(self, path: Path) -> AsyncIterator[RecordStore]:
        store = await open_store(str(path))
        yield store
        await store.close()

    async def raw_rows(self, store: Any, table: str) -> list[Row]:
        with closing(sqlite3.connect(store.path)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY rowid")]

    async def raw_put_state(self, store: Any, conversation: str, revision: int, written: str) -> None:
        with closing(sqlite3.connect(store.path)) as connection, connection:
            connection.execute(
                "INSERT OR REPLACE INTO conversation VALUES (?, ?, ?)", (conversation, revision, written)
            )

    async def test_reopening_keeps_everything(self, store: RecordStore, path: Path) -> None:
        await store.commit(commit("e1", mark="kept", out=(say("one"), say("two")), audit=(entry(),)))
        await store.close()
        again = await open_store(str(path), create=False)
        assert await again.load(ROOM) == state(1, mark="kept")
        assert texts(await claim(again)) == ["one"]
        await again.commit(commit("e2", 1, audit=(entry(),)))
        assert [row["seq"] for row in await self.raw_rows(again, "audit")] == [1, 2]
        await again.close()

    async def test_closing_leaves_one_file(self, store: RecordStore, path: Path) -> None:
        await store.commit(commit("e1"))
        await store.close()
        assert [file.name for file in path.parent.iterdir()] == [path.name]

    async def test_two_processes_may_write_the_same_chain(self, store: RecordStore, path: Path) -> None:
        other = await open_store(str(path))
        for n in range(6):
            writer = (store, other)[n % 2]
            await writer.commit(commit(f"e{n}", 0, f"terminal:{n}", audit=(entry(session=None), entry())))
        rows = await self.raw_rows(store, "audit")
        assert [row["seq"] for row in rows if row["chain"] == "system"] == [1, 2, 3, 4, 5, 6]
        await other.close()
