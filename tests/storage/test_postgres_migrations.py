"""The way to a current PostgreSQL database: from nothing, from older ones, never from a newer one."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
from typing import Any

import asyncpg
import pytest
from alembic import command
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from bot.ports import NewerDatabase, StoreUnavailable
from storage import migrate, open_store, postgres_migrate, upgrade
from storage.postgres_url import target
from storage.schema import metadata
from tests.contracts.test_postgres_store import raw
from tests.fakes.postgres import PostgresServer
from tests.storage.build import commit

# Columns with types, collations and defaults; constraints with the text of each CHECK; indexes with their conditions.
LOOKS = (
    """
    SELECT table_name, column_name, ordinal_position, data_type, is_nullable, column_default, collation_name
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'alembic_version'
    ORDER BY table_name, ordinal_position
    """,
    """
    SELECT conrelid::regclass::text AS table_name, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'alembic_version' ORDER BY 1, 2
    """,
    """
    SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version'
    ORDER BY 1
    """,
)


@pytest.fixture
async def url(postgres: PostgresServer) -> str:
    return await postgres.new_database()


async def schema_of(url: str) -> list[list[dict[str, Any]]]:
    return [await raw(url, look) for look in LOOKS]


async def test_the_migrations_arrive_at_the_declared_schema(url: str, postgres: PostgresServer) -> None:
    """With CHECKs, which Alembic's own comparison does not see."""
    await upgrade(url)
    declared = await postgres.new_database()
    for table in metadata.sorted_tables:
        await raw(declared, str(CreateTable(table).compile(dialect=postgresql.dialect())))
        for index in table.indexes:
            await raw(declared, str(CreateIndex(index).compile(dialect=postgresql.dialect())))
    migrated = await schema_of(url)
    assert migrated == await schema_of(declared)
    assert any("chosen_via" in str(row) and "CHECK" in str(row) for row in migrated[1])


async def test_a_current_database_is_left_alone_and_opened_without_alembic(url: str) -> None:
    """Alembic takes half a second to import."""
    where = target(url)
    assert await postgres_migrate.check(where) is None
    assert await upgrade(url) == migrate.VERSION == await postgres_migrate.check(where)
    program = (
        "import asyncio, sys, storage\n"
        "async def main():\n"
        "    await (await storage.open_store(sys.argv[1])).close()\n"
        "asyncio.run(main())\n"
        "assert not {'alembic', 'sqlalchemy'} & set(sys.modules)\n"
    )
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-W", "error", "-c", program, url], check=False, timeout=60
    )
    assert done.returncode == 0


async def test_an_older_database_is_brought_up_and_keeps_what_it_holds(url: str) -> None:
    where = target(url)
    await raw_script(url, postgres_migrate.statements(None, "0001"))
    await raw(url, "INSERT INTO timer VALUES ('terminal:room', 't', 5)")
    assert await postgres_migrate.check(where) == "0001"
    with pytest.raises(StoreUnavailable, match=r"version 0001.*askfirst db upgrade"):
        await open_store(url, create=False)
    assert await upgrade(url) == migrate.VERSION
    store = await open_store(url, create=False)
    assert [timer.name for timer in await store.timers()] == ["t"]
    await store.close()


async def raw_script(url: str, script: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(script)
    finally:
        await connection.close()


async def test_the_index_by_platform_can_be_taken_back(url: str, postgres: PostgresServer) -> None:
    before = await postgres.new_database()
    await raw_script(before, postgres_migrate.statements(None, "0006"))
    await upgrade(url)
    config = migrate.alembic_config(None)
    config.output_buffer = io.StringIO()
    command.downgrade(config, "0007:0006", sql=True)
    await raw_script(url, config.output_buffer.getvalue())
    assert (await schema_of(url), await postgres_migrate.check(target(url))) == (await schema_of(before), "0006")
    assert await upgrade(url) == migrate.VERSION


async def test_an_empty_database_is_only_filled_when_asked_for(url: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"no tables of askfirst.*askfirst db upgrade"):
        await open_store(url, create=False)
    assert await postgres_migrate.check(target(url)) is None


async def test_a_newer_database_is_refused_untouched(url: str) -> None:
    await upgrade(url)
    await raw(url, "UPDATE alembic_version SET version_num = '0999'")
    for create in (True, False):
        with pytest.raises(NewerDatabase, match=rf"version 0999.*up to {migrate.VERSION}.*Upgrade"):
            await open_store(url, create=create)
    assert await raw(url, "SELECT version_num FROM alembic_version") == [{"version_num": "0999"}]


async def test_tables_of_another_program_are_left_untouched(url: str) -> None:
    await raw(url, "CREATE TABLE conversation (title TEXT)")
    before = await schema_of(url)
    with pytest.raises(StoreUnavailable, match="tables of another program"):
        await upgrade(url)
    assert await schema_of(url) == before


async def test_an_interrupted_migration_leaves_the_old_state(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is lost when most of it has been done."""
    await raw_script(url, postgres_migrate.statements(None, "0001"))
    before = await schema_of(url)
    plain = postgres_migrate.statements

    def cut(since: str | None = None, until: str = migrate.VERSION) -> str:
        return plain(since, until) + "SELECT pg_terminate_backend(pg_backend_pid());"

    monkeypatch.setattr(postgres_migrate, "statements", cut)
    with pytest.raises(StoreUnavailable):
        await upgrade(url)
    assert await schema_of(url) == before
    assert await postgres_migrate.check(target(url)) == "0001"
    monkeypatch.undo()
    assert await upgrade(url) == migrate.VERSION


async def test_many_workers_may_start_on_an_empty_database_at_once(url: str) -> None:
    stores = await asyncio.gather(*(open_store(url) for _ in range(4)))
    await asyncio.gather(*(store.commit(commit(f"e{n}", 0, f"terminal:{n}")) for n, store in enumerate(stores)))
    for store in stores:
        await store.close()
    assert len(await raw(url, "SELECT version_num FROM alembic_version")) == 1
