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
