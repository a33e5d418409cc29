"""`db copy`: from SQLite to PostgreSQL and back without loss; into nothing that holds anything."""

# ruff: noqa: ASYNC240 - tests may block
from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bot.ports import Settle, StoreUnavailable
from storage import copy_postgres, named, open_store, upgrade
from storage.backup import backup
from storage.copy import LENGTH, _opened, copy, shapes
from storage.readers import session_record
from storage.verify import checked, verify
from tests.contracts.test_postgres_store import raw
from tests.fakes.postgres import PostgresServer
from tests.storage.build import (
    ROOM,
    START,
    after,
    claim,
    clarification,
    commit,
    entry,
    recorded,
    say,
    session_row,
    state,
    taken_back,
)


async def filled(url: str) -> None:
    """Something of everything, with rows in every state and texts that are easily spoilt."""
    store = await open_store(url)
    words = "1: B — „ü“ \u202e \\ ' \" \t\r\n 😀 \\N \x1f"
    record = clarification(chosen_text=words, platform_at=after(-5))
    rows: dict[str, Any] = {
        "sessions": (session_row(result={"a": words}),),
        "out": (say(words, card="c"), say("two")),
    }
    await store.commit(commit("e1", mark=words, **rows, **recorded(record, clarification("other"))))
    await store.commit(commit("e2", 1, **recorded(clarification(revision=2, chosen="A"))))
    await store.commit(commit("e3", 2, **taken_back(revision=2), timers_set=(("t", after(9)), ("u", START))))
    await store.commit(commit("e4", 0, "telegram:4503599627370495", audit=(entry(session=None, said=words),)))
    [row] = await claim(store)
    await store.settle(Settle(row.row, "m1", 4_503_599_627_370_495))
    await claim(store)
    await store.due(START, 1, after(9) - START)
    await store.keep("telegram:read:1", words)
    await store.close()


def rows_of(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(path)) as connection:
        return {shape.name: connection.execute(shape.select).fetchall() for shape in shapes()}


async def test_there_and_back_nothing_is_lost(tmp_path: Path, postgres: PostgresServer) -> None:
    first, third = tmp_path / "first.db", tmp_path / "third.db"
    second = await postgres.new_database()
    await filled(str(first))
    copied = await copy(str(first), second)
    assert all(copied.rows[name] for name in copied.rows), copied  # nothing was left untried
    assert (await copy(second, str(third))) == copied
    assert rows_of(first) == rows_of(third)
    stores = [await open_store(url, create=False) for url in (str(first), second, str(third))]
    assert [await verify(store) for store in stores] == [[], [], []]
    assert len({str(await session_record(store, "s1")) for store in stores}) == 1
    assert len({str([one async for one in checked(store)]) for store in stores}) == 1
    for store in stores:  # and life goes on
        await store.commit(commit("e9", 3, out=(say("later"),), audit=(entry(), entry(session=None))))
        assert await store.load(ROOM) == state(4)
        assert await verify(store) == []
        await store.close()
    assert [row[0] for row in rows_of(first)["outbox"]] == [row[0] for row in rows_of(third)["outbox"]] == [1, 2, 3]


async def test_row_numbers_go_on_where_they_were(tmp_path: Path, postgres: PostgresServer) -> None:
    """Also where the last ones have been removed: a late report must not hit another message."""
    first, second, third = str(tmp_path / "first.db"), await postgres.new_database(), str(tmp_path / "third.db")
    await filled(first)
    with closing(sqlite3.connect(first)) as connection, connection:
        connection.execute("DELETE FROM outbox")
    await copy(first, second)
    await copy(second, third)
    for url in (second, third):
        store = await open_store(url)
        await store.commit(commit("e9", 3, out=(say("later"),)))
        assert [row.row for row in await claim(store)] == [3]
        await store.close()


async def test_a_database_that_holds_anything_is_refused(tmp_path: Path, postgres_url: str) -> None:
    first, second = str(tmp_path / "first.db"), str(tmp_path / "second.db")
    await filled(first)
    await copy(first, postgres_url)
    for source, target in ((first, postgres_url), (postgres_url, first)):
        with pytest.raises(StoreUnavailable, match=r"is not empty.*Copy into a new database"):
            await copy(source, target)
    for one in (first, postgres_url):
        with pytest.raises(StoreUnavailable, match="onto itself"):
            await copy(one, one)
    with pytest.raises(StoreUnavailable, match="there is no database at"):
        await copy(str(tmp_path / "missing.db"), second)
    assert not Path(second).exists()


async def test_what_does_not_arrive_as_it_was_is_not_copied(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = str(tmp_path / "first.db")
    await filled(first)
    plain = copy_postgres._Postgres.write

    async def spoilt(side: Any, shape: Any, rows: Any) -> None:
        await plain(side, shape, [tuple(v.strip() if isinstance(v, str) else v for v in row) for row in rows])
        if shape.name == "kept":
            await side._connection.execute("UPDATE kept SET value = value || ' '")

    monkeypatch.setattr(copy_postgres._Postgres, "write", spoilt)
    with pytest.raises(StoreUnavailable, match=r"rows of \w+ did not arrive.*Nothing was copied"):
        await copy(first, postgres_url)
    assert await raw(postgres_url, "SELECT 1 FROM conversation") == []
    monkeypatch.undo()
    await copy(first, postgres_url)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_long_rows_are_read_a_few_at_a_time(tmp_path: Path, postgres: PostgresServer, kind: str) -> None:
    """A thousand states of 24,000 characters each were held at a time, and more than once."""
    url = str(tmp_path / "askfirst.db") if kind == "sqlite" else await postgres.new_database()
    await upgrade(url)
    async with _opened(url, writing=True) as side:
        by_name = {shape.name: shape for shape in shapes()}
        states = [(f"terminal:{n:03d}", 1, "x" * 50_000) for n in range(100)]
        await side.write(by_name["conversation"], states)
        await side.write(by_name["kept"], [(f"{n:04d}", "x") for n in range(3000)])
        portions = [rows async for rows in side.read(by_name["conversation"])]
        assert [row for rows in portions for row in rows] == states
        assert max(map(len, portions)) * 50_000 <= 2 * LENGTH
        assert len([rows async for rows in side.read(by_name["kept"])]) <= 4  # short ones are not


async def test_a_backup_of_postgresql_is_a_sqlite_file(tmp_path: Path, postgres_url: str) -> None:
    await filled(postgres_url)
    target = await backup(postgres_url, tmp_path / "copy.db")
    assert [one.name for one in tmp_path.iterdir()] == ["copy.db"]
    store = await open_store(str(target), create=False)
    assert await verify(store) == []
    assert await store.timer_at(ROOM, "t") == after(9)
    await store.close()
    with pytest.raises(StoreUnavailable, match="a backup never replaces a file"):
        await backup(postgres_url, target)


async def test_a_backup_can_be_restored(tmp_path: Path, postgres: PostgresServer) -> None:
    """The backup of one database, copied into a new one, is that database."""
    await filled(str(tmp_path / "first.db"))
    made = await backup(str(tmp_path / "first.db"), tmp_path / "copy.db")
    for restored in (str(tmp_path / "restored.db"), await postgres.new_database()):
        await copy(str(made), restored)
        store = await open_store(restored, create=False)
        assert await verify(store) == [], named(restored)
        assert await store.waiting() == 1
        await store.close()
