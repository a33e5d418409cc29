"""The contract, on a PostgreSQL server, looked at through a plain connection; and again, behind a real PgBouncer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from storage import open_store
from storage.records import RecordStore
from tests.contracts.outbox_contract import Row
from tests.contracts.store_contract import StoreContract
from tests.fakes.pgbouncer import PgBouncer

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


async def raw(url: str, statement: str, *values: Any) -> list[Row]:
    """Past the store."""
    connection = await asyncpg.connect(url)
    try:
        return [dict(row) for row in await connection.fetch(statement, *values)]
    finally:
        await connection.close()


class TestPostgresStore(StoreContract):
    @pytest.fixture
    async def store(self, postgres_url: str) -> AsyncIterator[RecordStore]:
        store = await open_store(postgres_url)
        yield store
        await store.close()

    async def raw_rows(self, store: Any, table: str) -> list[Row]:
        return await raw(store.target.dsn, f"SELECT * FROM {table} ORDER BY {ORDER[table]}")

    async def raw_put_state(self, store: Any, conversation: str, revision: int, written: str) -> None:
        put = (
            "INSERT INTO conversation VALUES ($1, $2, $3) "
            "ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, state = excluded.state"
        )
        await raw(store.target.dsn, put, conversation, revision, written)


class TestBehindPgBouncer(TestPostgresStore):
    """A real one, in transaction mode, which has two connections to the server for everybody."""

    @pytest.fixture
    async def store(self, postgres_url: str, pgbouncer: PgBouncer) -> AsyncIterator[RecordStore]:
        store = await open_store(pgbouncer.url(postgres_url))
        yield store
        await store.close()
