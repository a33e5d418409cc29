"""What tests of several folders share: a PostgreSQL server for the whole run, started when the first one asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.postgres import NoPostgres, PostgresServer


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    try:
        server = PostgresServer()
        server.start()
    except NoPostgres as missing:
        pytest.fail(str(missing), pytrace=False)
    yield server
    server.remove()


@pytest.fixture
async def postgres_url(postgres: PostgresServer) -> str:
    """A database with the tables of askfirst and nothing in them."""
    return await postgres.emptied()
