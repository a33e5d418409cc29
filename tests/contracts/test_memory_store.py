"""The contract, on the reference store."""

from __future__ import annotations

from typing import Any

import pytest

from storage import open_store
from storage.memory import MemoryStore
from storage.records import RecordStore
from tests.contracts.outbox_contract import Row
from tests.contracts.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture
    async def store(self) -> RecordStore:
        return await open_store("memory:")

    async def raw_rows(self, store: Any, table: str) -> list[Row]:
        assert isinstance(store, MemoryStore)
        rows = getattr(store.tables, table)
        return [dict(row) for row in (rows if isinstance(rows, list) else rows.values())]

    async def raw_put_state(self, store: Any, conversation: str, revision: int, written: str) -> None:
        store.tables.conversation[conversation] = {"id": conversation, "revision": revision, "state": written}
