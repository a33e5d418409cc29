"""The database itself refuses an illegal way of choosing, whoever writes, in both tables (CA-2)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest

from storage import open_store
from tests.storage.build import clarification, commit, recorded

ILLEGAL = ("agent_default", "auto", "recommended", "inferred", "USER_RESPONSE", "user_response ", "", None)
TABLES = ("clarification", "clarification_history")


async def one_answer(database: str) -> None:
    """One answer, and a later one to the same question, so that both tables hold a row."""
    store = await open_store(database)
    try:
        await store.commit(commit("e1", 0, **recorded(clarification())))
        await store.commit(commit("e2", 1, **recorded(clarification(revision=2))))
    finally:
        await store.close()


async def test_sqlite_refuses_them(tmp_path: Path) -> None:
    """CA-2 Past the types and the store, by the constraint; and a proof that is empty."""
    file = tmp_path / "one.db"
    await one_answer(str(file))
    with closing(sqlite3.connect(file)) as open_:
        for table in TABLES:
            assert open_.execute(f"SELECT count(*) FROM {table}").fetchone()[0] > 0
            for via in ILLEGAL:
                with pytest.raises(sqlite3.IntegrityError, match="chosen_via"):
                    open_.execute(f"UPDATE {table} SET chosen_via = ?", (via,))
            for ref in ("", None):
                with pytest.raises(sqlite3.IntegrityError, match="user_message_ref"):
                    open_.execute(f"UPDATE {table} SET user_message_ref = ?", (ref,))


async def test_postgresql_refuses_them(postgres_url: str) -> None:
    """CA-2 The same constraint there."""
    await one_answer(postgres_url)
    connection = await asyncpg.connect(postgres_url)
    try:
        for table in TABLES:
            assert await connection.fetchval(f"SELECT count(*) FROM {table}") > 0
            for via in ILLEGAL:
                with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="chosen_via"):
                    await connection.execute(f"UPDATE {table} SET chosen_via = $1", via)
            for ref in ("", None):
                with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="user_message_ref"):
                    await connection.execute(f"UPDATE {table} SET user_message_ref = $1", ref)
    finally:
        await connection.close()
