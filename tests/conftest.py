"""What tests of several folders share: a PostgreSQL server for the whole run, started when the first one asks.

In CI (`CI=true`) a test that skips itself, or is expected to fail, fails, but for what no clone can hold or every
machine allow.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.fakes.pgbouncer import NoPgBouncer, PgBouncer
from tests.fakes.postgres import NoPostgres, PostgresServer

# What starts of the program leave behind for the next one (config/kept.py) stays out of the home of whoever tests.
os.environ["XDG_CACHE_HOME"] = str(Path(tempfile.gettempdir()) / f"askfirst-tests-{os.getuid()}")

# How long an example takes says how busy the machine is; `make bench` measures.
settings.register_profile("askfirst", deadline=None)
settings.load_profile("askfirst")

MAY_BE_SKIPPED = ("ASKFIRST_SPEC_DIR names no folder", "this user may not mount")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if (
        report.skipped
        and os.environ.get("CI")
        and not any(reason in str(report.longrepr) for reason in MAY_BE_SKIPPED)
    ):
        report.outcome, report.longrepr = "failed", f"skipped, in CI: {report.longrepr}"
        vars(report).pop("wasxfail", None)  # pytest counts no failure that was expected
    return report


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


@pytest.fixture(scope="session")
def pgbouncer(postgres: PostgresServer) -> Iterator[PgBouncer]:
    try:
        pooler = PgBouncer(postgres)
    except NoPgBouncer as missing:
        pytest.skip(str(missing))
    yield pooler
    pooler.remove()
