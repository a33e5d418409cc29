"""Messages behind others: of their place, on PostgreSQL, where none is left behind one that has gone; of a crowd."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from bot.ports import Settle, StoreUnavailable
from storage import open_store
from storage.postgres_queries import rows, statements
from storage.queries import numbered
from storage.records import RecordStore
from storage.values import micros
from tests.storage.build import LEASE, after, claim, commit, say, texts

VALUES: dict[str, Any] = {"now": micros(after(1)), "platforms": None, "front": 10}


@pytest.fixture
async def store(postgres_url: str) -> AsyncIterator[RecordStore]:
    store = await open_store(postgres_url)
    await store.commit(commit("e0", 0, "terminal:other", out=(say("something"),)))
    await come(store, "something")  # its look has found nobody, so the next ones do not look
    await store.commit(commit("e1", out=(say("one"), say("two"), say("three"))))
    yield store
    await store.close()


async def come(store: RecordStore, *expected: str) -> None:
    for text in expected:
        taken = await claim(store, after(60))
        assert texts(taken) == [text]
        await store.settle(Settle(taken[0].row, None))


@pytest.mark.parametrize("leaves", ["settled", "removed by hand"])
async def test_a_row_that_leaves_while_another_is_put_behind_it_waits_for_that(
    store: RecordStore, postgres_url: str, leaves: str
) -> None:
    [first] = await claim(store)
    connection = await asyncpg.connect(postgres_url)
    other = await asyncpg.connect(postgres_url)
    try:
        transaction = connection.transaction()
        await transaction.start()
        assert len(await rows("line_up", connection, **VALUES)) == 2
        if leaves == "settled":
            leaving = asyncio.create_task(store.settle(Settle(first.row, "m1")))
        else:
            leaving = asyncio.create_task(other.execute("DELETE FROM outbox WHERE row = $1", first.row))
        waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%outbox%'"
        async with asyncio.timeout(5):
            while not leaving.done() and not await connection.fetchval(waits):
                await connection.execute("SELECT pg_stat_clear_snapshot()")
        assert not leaving.done()
        await transaction.commit()
        await leaving
    finally:
        await connection.close()
        await other.close()
    await come(store, "two", "three")


async def test_nothing_is_put_behind_a_row_that_is_about_to_leave(store: RecordStore, postgres_url: str) -> None:
    [first] = await claim(store)
    connection, other = await asyncpg.connect(postgres_url), await asyncpg.connect(postgres_url)
    try:
        async with connection.transaction():
            await connection.execute("UPDATE outbox SET state = 'sent' WHERE row = $1", first.row)
            [behind] = await rows("line_up", other, **VALUES)
    finally:
        await connection.close()
        await other.close()
    assert behind["row"] == first.row + 2  # the last, behind the second
    await come(store, "two", "three")


async def test_where_lining_up_fails_nothing_has_been_taken(
    store: RecordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or it would count as a try, and wait until the lease of nobody ends."""
    monkeypatch.setitem(statements(), "line_up", numbered("SELECT nothing FROM nowhere"))
    store._line.found(1)  # type: ignore[attr-defined]
    with pytest.raises(StoreUnavailable):
        await claim(store)
    monkeypatch.undo()
    [first] = await claim(store)
    assert (texts([first]), first.attempts) == (["one"], 0)


async def test_a_crowd_on_one_platform_leaves_the_others_some_room(tmp_path: Path) -> None:
    """In a file each platform is looked at alone, and there is no more room than for some of the crowd."""
    store = await open_store(str(tmp_path / "askfirst.db"))
    try:
        for n in range(8):
            await store.commit(commit(f"e{n}", 0, f"crowd:{n}", out=(say("one of many"),)))
        await store.commit(commit("other", 0, "other:1", out=(say("the other"),)))
        for platforms in (("crowd", "other"), None):
            taken = [await store.claim(after(1), 2, LEASE, platforms) for _ in range(2)]
            assert [len(rows) for rows in taken] == [2, 2]
            assert "the other" in texts([row for rows in taken for row in rows])
            await store.release(["crowd", "other"])
    finally:
        await store.close()
