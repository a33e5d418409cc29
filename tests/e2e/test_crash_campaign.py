"""`askfirst serve` killed with SIGKILL at random while people answer: nothing acknowledged is lost, nothing is twice.

The short cut runs always, the campaign of 200 kills with `make soak`.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.e2e.campaign import campaign
from tests.fakes.pgbouncer import PgBouncer
from tests.fakes.postgres import PostgresServer


async def run(database: str, folder: Path, *, people: int, workers: int, intakes: int, kills: int) -> None:
    async with campaign(database, folder, people=people, workers=workers) as (made, them):
        await made.people_answer(them, intakes, kills, random.Random(kills))
        await made.compared(them, intakes)
        assert made.kills >= kills


async def test_a_few_kills_on_sqlite(tmp_path: Path) -> None:
    await run(str(tmp_path / "askfirst.db"), tmp_path, people=2, workers=1, intakes=1, kills=3)


async def test_a_few_kills_of_two_workers_on_postgresql(tmp_path: Path, postgres: PostgresServer) -> None:
    await run(await postgres.new_database(), tmp_path, people=2, workers=2, intakes=1, kills=3)


async def test_a_few_kills_of_two_workers_behind_pgbouncer(
    tmp_path: Path, postgres: PostgresServer, pgbouncer: PgBouncer
) -> None:
    await run(pgbouncer.url(await postgres.new_database()), tmp_path, people=2, workers=2, intakes=1, kills=3)


@pytest.mark.soak
async def test_two_hundred_kills_on_sqlite(tmp_path: Path) -> None:
    await run(str(tmp_path / "askfirst.db"), tmp_path, people=8, workers=1, intakes=3, kills=200)


@pytest.mark.soak
async def test_two_hundred_kills_of_two_workers_on_postgresql(tmp_path: Path, postgres: PostgresServer) -> None:
    await run(await postgres.new_database(), tmp_path, people=8, workers=2, intakes=3, kills=200)
