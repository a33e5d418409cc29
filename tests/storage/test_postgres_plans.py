"""The statements of every day go by an index on PostgreSQL, too."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest

from storage import migrate, open_store, upgrade
from storage.copy import copy
from storage.postgres_batch import batch, parts
from storage.postgres_queries import statements
from storage.postgres_writer import CHANNEL, OURS
from storage.prune import prune
from storage.rows import STATEMENTS
from tests.contracts.test_postgres_store import raw
from tests.fakes.postgres import PostgresServer
from tests.storage.build import START

# statement -> the tables that may be read from end to end all the same, and why
ALLOWED = {
    "clarifications": {"clarification"},  # all of them
    "failures": {"event"},  # for people, when something went wrong
    "sweep_outbox": {"conversation"},  # their names, for a whole portion
    "chains": {"audit", "audit_head", "clarification", "clarification_history"},  # all of them
}


@pytest.mark.parametrize("name", sorted(statements()))
async def test_a_statement_goes_by_an_index(postgres_url: str, name: str) -> None:
    """To read an empty table whole is cheapest. That is switched off: where it is done all the same, it must be."""
    connection = await asyncpg.connect(postgres_url)
    try:
        await connection.execute("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan")
        statement = statements()[name]
        await connection.execute(f"PREPARE one AS {statement.sql.strip().rstrip(';')}")
        given = f"({', '.join(['NULL'] * len(statement.names))})" if statement.names else ""
        plan = [row[0] for row in await connection.fetch(f"EXPLAIN EXECUTE one{given}")]
    finally:
        await connection.close()
    scanned = {step.split("Seq Scan on ")[1].split()[0] for step in plan if "Seq Scan on " in step}
    assert scanned <= ALLOWED.get(name, set()), "\n".join(plan)


async def test_of_what_waits_only_what_is_due_is_read(postgres_url: str) -> None:
    """On a table in which much waits, as the statistics know; plans of empty tables are arbitrary."""
    connection = await asyncpg.connect(postgres_url)
    try:
        await connection.execute("BEGIN; SET LOCAL enable_seqscan = off; SET plan_cache_mode = force_generic_plan")
        await connection.execute(
            "INSERT INTO outbox (conversation, platform, kind, effect, created_at, ready_at) "
            "SELECT 'x:' || n, 'x', 'say', '{}', n, n FROM generate_series(1, 6000) AS n; ANALYZE outbox"
        )
        looks = {"claim": 2, "line_up": 1, "next_due": 0}  # at what is due of a platform, and beyond a clock's jump
        for name, index in (
            ("claim", "outbox_due"),
            ("line_up", "outbox_due"),
            ("next_due", "outbox_due"),
            ("next_due", "outbox_taken"),
        ):
            statement = statements()[name]
            await connection.execute(f"PREPARE {name}_{index} AS {statement.sql.strip().rstrip(';')}")
            given = f"({', '.join(['NULL'] * len(statement.names))})" if statement.names else ""
            plan = [row[0] for row in await connection.fetch(f"EXPLAIN EXECUTE {name}_{index}{given}")]
            assert any(f"using {index} on outbox waiting" in step for step in plan), "\n".join(plan)
            bounded = [step for step in plan if "Index Cond: ((platform = served" in step and "ready_at" in step]
            assert len(bounded) == looks[name], "\n".join(plan)
            assert index != "outbox_due" or any("Cond: ((platform = " in step for step in plan), "\n".join(plan)
            sorted_by = [step for step in plan if "Sort Key" in step and "waiting" in step]
            assert name != "claim" or not sorted_by, "\n".join(plan)
        await connection.execute("ROLLBACK")
    finally:
        await connection.close()


def read_whole(plan: list[str]) -> list[str]:
    """The steps that look at every row of a table, or at every entry of one of its indexes."""
    found = [step for step in plan if "Seq Scan on" in step]
    for step, then in zip(plan, [*plan[1:], ""], strict=True):
        if " using " in step and " Scan" in step and "Index Cond: " not in then:
            found.append(step)
    return found


# What the server takes a table for that has nothing in it yet: it guesses, or it has looked.
KNOWN = {"never looked at": "SELECT 1", "known to be empty": "VACUUM ANALYZE"}


@pytest.mark.parametrize("known", KNOWN)
async def test_a_batch_in_one_statement_goes_by_keys(postgres: PostgresServer, known: str) -> None:
    """As the writer's connection plans it, and on empty tables: its plan is kept while they grow.

    Rows are found in the order of their keys, so that nobody waits in a circle: no bitmap, which goes by the pages.
    """
    names = tuple(name for name in STATEMENTS if name in parts())
    assert set(STATEMENTS) - set(names) == {"keep_withdrawn", "drop_withdrawn"}  # these take the longer way
    together = batch(names, CHANNEL)
    count = sum(len(part.names) for _, part in together.taken)
    url = await postgres.new_database()
    await upgrade(url)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(KNOWN[known])
        await connection.execute(OURS)
        await connection.execute(f"PREPARE one AS {together.sql}")
        given = ", ".join(["NULL"] * (count + 1))
        plan = [row[0] for row in await connection.fetch(f"EXPLAIN EXECUTE one({given})")]
    finally:
        await connection.close()
    assert sum("CTE " in step for step in plan) == len(names)
    assert not read_whole(plan), "\n".join(plan)
    assert not [step for step in plan if "Bitmap" in step or "Hash" in step or "Merge" in step], "\n".join(plan)


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("name", ["abouts", "card_message", "extend", "load", "retry_at", "seen", "settle", "shown"])
async def test_what_is_asked_at_every_event_goes_by_keys(postgres: PostgresServer, name: str, known: str) -> None:
    """As a connection of the pool plans it, on empty tables: it may be kept while they grow."""
    url = await postgres.new_database()
    await upgrade(url)
    store = await open_store(url)
    try:
        await raw(url, KNOWN[known])
        async with store._pool.acquire() as connection:  # type: ignore[attr-defined]
            statement = statements()[name]
            await connection.execute("SET plan_cache_mode = force_generic_plan")
            await connection.execute(f"PREPARE one AS {statement.sql.strip().rstrip(';')}")
            given = ", ".join(["NULL"] * len(statement.names))
            plan = [row[0] for row in await connection.fetch(f"EXPLAIN EXECUTE one({given})")]
    finally:
        await store.close()
    assert not read_whole(plan), "\n".join(plan)


MANY = """
    INSERT INTO session (session, conversation, state, requester, request, started_at)
    SELECT n, 'x:' || n, 'asking', 'x:ana', 'x', n FROM generate_series(1, 6000) AS n
"""


async def newest_are_walked(url: str) -> bool:
    """Not all are gathered and sorted, which is what the planner prefers of a table that it does not know."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"PREPARE one AS {statements()['asking_on'].sql.strip().rstrip(';')}")
        plan = [row[0] for row in await connection.fetch("EXPLAIN EXECUTE one('x:', 'x;', 10)")]
    finally:
        await connection.close()
    return any("Index Scan Backward using session_asking_newest" in step for step in plan)


async def test_after_a_copy_the_tables_are_known(postgres: PostgresServer, tmp_path: Path) -> None:
    source = str(tmp_path / "askfirst.db")
    migrate.upgrade(Path(source))
    with closing(sqlite3.connect(source)) as connection, connection:
        counted = (
            "(WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count LIMIT 6000) SELECT n FROM count)"
        )
        connection.execute(MANY.replace("generate_series(1, 6000)", counted))
    url = await postgres.new_database()
    await copy(source, url)
    assert await newest_are_walked(url)


async def test_after_a_prune_the_tables_are_known(postgres: PostgresServer, tmp_path: Path) -> None:
    """Here they have grown, which to the planner is the same."""
    url = await postgres.new_database()
    await upgrade(url)
    connection = await asyncpg.connect(url)
    await connection.execute(MANY)
    await connection.close()
    assert not await newest_are_walked(url)
    await prune(url, START, START, None)
    assert await newest_are_walked(url)
