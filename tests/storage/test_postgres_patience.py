"""How long a statement may take: what workers ask is given up, work as long as the database is large is not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from storage import open_store, postgres_link, upgrade
from storage.copy import copy
from storage.postgres_url import target
from storage.prune import prune
from tests.fakes.pgbouncer import CONNECTIONS, PgBouncer
from tests.fakes.postgres import PostgresServer
from tests.storage.build import after, commit


class Watched:
    """Which connections are made, how long each waits for an answer, and what it is asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: list[tuple[Any, float | None]] = []
        self._asked: list[tuple[Any, str]] = []
        self._plain = asyncpg.connect
        monkeypatch.setattr(asyncpg, "connect", self._connect)

    async def _connect(self, *url: str, **options: Any) -> Any:
        connection = await self._plain(*url, **options)
        self.opened.append((connection, options.get("command_timeout")))
        connection.add_query_logger(lambda record: self._asked.append((connection, record.query)))
        return connection

    def patience(self, words: str) -> float | None:
        """Of the connection that was asked this."""
        [asked] = {connection for connection, query in self._asked if words in query}
        return next(patience for connection, patience in self.opened if connection is asked)


@pytest.mark.parametrize("more", ["", "&pgbouncer=true"])
async def test_work_as_long_as_the_database_is_large_is_given_its_time(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    """A migration of a large table, an export that somebody pages through: neither server nor client gives it up."""
    url, watched = await postgres.new_database() + more, Watched(monkeypatch)
    await upgrade(url)
    await asyncio.sleep(0)  # asyncpg tells of a query in the next turn of the loop
    assert watched.patience("pg_advisory_xact_lock") is None
    assert watched.patience("CREATE TABLE conversation") is None
    store = await open_store(url)
    try:
        await store.commit(commit("e1"))
        await asyncio.sleep(0)
        assert watched.patience("pg_notify" if not more else "NOTIFY") == postgres_link.COMMAND
        async with store.snapshot() as snapshot:
            connection, patience = watched.opened[-1]
            assert snapshot.connection is connection  # type: ignore[attr-defined]
            assert patience is None
            shown = ("SHOW statement_timeout", "SHOW idle_in_transaction_session_timeout")
            assert [await connection.fetchval(show) for show in shown] == ["0", "0"]
    finally:
        await store.close()
    await copy(url, str(tmp_path / "copy.db"))
    assert watched.opened[-1][1] is None
    await copy(str(tmp_path / "copy.db"), await postgres.new_database() + more)
    assert watched.opened[-1][1] is None
    await prune(url, after(1000), after(2000), None)
    assert watched.opened[-1][1] is None


async def test_behind_a_pooler_the_patience_of_one_is_not_left_to_the_next(
    postgres: PostgresServer, pgbouncer: PgBouncer
) -> None:
    """Its connections are everybody's: what was set for a whole one would hold for the workers, too."""
    direct = await postgres.new_database()
    await postgres.asks(f"ALTER DATABASE {direct.partition('@/')[2].partition('?')[0]} SET statement_timeout = '14s'")
    url = pgbouncer.url(direct)
    await (await open_store(url)).close()
    await prune(url, after(1000), after(2000), None)
    both = [await postgres_link.connect(target(url)) for _ in range(CONNECTIONS)]
    try:
        for connection in both:
            await connection.execute("BEGIN")  # so that each has a connection of the pooler's
        assert [await connection.fetchval("SHOW statement_timeout") for connection in both] == ["14s"] * CONNECTIONS
    finally:
        for connection in both:
            await connection.close()
