"""What tests of several folders share: a PostgreSQL server for the whole run, started when the first one asks.

In CI (`CI=true`) a test that skips itself fails, but for what no clone can hold or every machine allow.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from bot.core.replies.tokens import tokenize
from bot.core.words import spaceless, words
from tests.fakes.postgres import NoPostgres, PostgresServer

# What starts of the program leave behind for the next one (config/kept.py) stays out of the home of whoever tests.
os.environ["XDG_CACHE_HOME"] = str(Path(tempfile.gettempdir()) / f"askfirst-tests-{os.getuid()}")

MAY_BE_SKIPPED = ("ASKFIRST_SPEC_DIR names no folder", "this user may not mount")


def pytest_sessionstart() -> None:
    """The large patterns are compiled at their first use: not within the time of a test that has a deadline."""
    for text in ("é", "é@b", "e"):
        tokenize(text)
        words(text)
    spaceless("é")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if (
        report.skipped
        and os.environ.get("CI")
        and not any(reason in str(report.longrepr) for reason in MAY_BE_SKIPPED)
    ):
        report.outcome, report.longrepr = "failed", f"skipped, in CI: {report.longrepr}"
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
