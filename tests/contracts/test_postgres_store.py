"""The contract, on a PostgreSQL server, looked at through a plain connection; and what only many workers can show."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from bot.ports import DuplicateEvent, StaleRevision
from storage import open_store
from storage.records import RecordStore
from tests.contracts.outbox_contract import Row
from tests.contracts.store_contract import StoreContract
from tests.fakes.postgres import PostgresServer
from tests.storage.build import ROOM, claim, commit, entry, recorded, clarification, say, state, texts

ORDER = {
    "conversation": "id",
    "event": "at, conversation, revision",
    "session": "session",
    "clarification": "session, id",
    "clarification_history": "session, id, revision",
    "audit": "id",
    "audit_head": "chain",
    "outbox": "row",
    "timer": "at",
}


@asynccontextmanager
async def looked_at(url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


class TestPostgresStore(StoreContract):
    @pytest.fixture
    async def url(self, postgres: PostgresServer) -> str:
        return await postgres.emptied()

    @pytest.fixture
    async def store(self, url: str) -> AsyncIterator[RecordStore]:
        store = await open_store(url)
        yield store
        await store.close()

    async def raw_rows(self, store: Any, table: str) -> list[Row]:
        async with looked_at(store.target.dsn) as connection:
            return [dict(row) for row in await connection.fetch(f"SELECT * FROM {table} ORDER BY {ORDER[table]}")]

    async def raw_put_state(self, store: Any, conversation: str, revision: int, written: str) -> None:
        put = (
            "INSERT INTO conversation VALUES ($1, $2, $3) "
            "ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, state = excluded.state"
        )
        async with looked_at(store.target.dsn) as connection:
            await connection.execute(put, conversation, revision, written)
