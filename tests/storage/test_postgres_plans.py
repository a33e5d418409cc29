"""The statements of every day go by an index on PostgreSQL, too."""

from __future__ import annotations

import asyncpg
import pytest

from storage.postgres_batch import batch, parts
from storage.postgres_queries import statements
from storage.postgres_writer import CHANNEL, OURS
from storage.rows import STATEMENTS

# statement -> the tables that may be read from end to end all the same, and why
ALLOWED = {
    "clarifications": {"clarification"},  # all of them
    "failures": {"event"},  # for people, when something went wrong
    "sweep_outbox": {"outbox", "conversation"},  # once at the end of `db prune`
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
            "SELECT 'x:' || n, 'x', 'say', '{}', n, n FROM generate_series(1, 2000) AS n; ANALYZE outbox"
        )
        for name, index in (("claim", "outbox_due"), ("next_due", "outbox_due"), ("next_due", "outbox_taken")):
            statement = statements()[name]
            await connection.execute(f"PREPARE {name}_{index} AS {statement.sql.strip().rstrip(';')}")
            given = f"({', '.join(['NULL'] * len(statement.names))})" if statement.names else ""
            plan = [row[0] for row in await connection.fetch(f"EXPLAIN EXECUTE {name}_{index}{given}")]
            assert any(f"using {index} on outbox waiting" in step for step in plan), "\n".join(plan)
            assert name != "claim" or sum("Index Cond: (ready_at" in step for step in plan) == 2, "\n".join(plan)
            sorted_by = [step for step in plan if "Sort Key" in step and "waiting" in step]
            assert name != "claim" or not sorted_by, "\n".join(plan)
        await connection.execute("ROLLBACK")
    finally:
        await connection.close()


async def test_a_batch_in_one_statement_goes_by_keys(postgres_url: str) -> None:
    """As the writer's connection plans it, and on empty tables: its plan is kept while they grow."""
    names = tuple(name for name in STATEMENTS if name in parts())
    assert set(STATEMENTS) - set(names) == {"keep_withdrawn", "drop_withdrawn"}  # these take the longer way
    together = batch(names, CHANNEL)
    count = sum(len(values) for _, values in together.taken)
    connection = await asyncpg.connect(postgres_url)
    try:
        await connection.execute(OURS)
        await connection.execute(f"PREPARE one AS {together.sql}")
        given = ", ".join(["NULL"] * (count + 1))
        plan = [row[0] for row in await connection.fetch(f"EXPLAIN EXECUTE one({given})")]
    finally:
        await connection.close()
    assert sum("CTE " in step for step in plan) == len(names)
    assert not [step for step in plan if "Seq Scan" in step or "Hash" in step or "Merge" in step], "\n".join(plan)
