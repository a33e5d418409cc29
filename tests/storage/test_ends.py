"""What was under way when it ended: a kill while messages are taken, and a close while a crowd is being written."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bot.ports import Settle, StoreUnavailable
from storage import open_store, postgres, sqlite
from storage.batches import CROWD, Batches
from storage.postgres import PostgresStore
from tests.storage.build import after, claim, commit, say, texts

PEOPLE = 4 * CROWD


@pytest.fixture(params=["sqlite", "postgres"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "askfirst.db")
    emptied: str = await request.getfixturevalue("postgres").emptied()
    return emptied


async def claim_and_die(url: str, name: str, when: str) -> None:
    """The other process: its first look at the outbox, in which it lines up as well. It is killed at a statement."""
    store = await open_store(url)
    module: Any = postgres if isinstance(store, PostgresStore) else sqlite
    plain = module.rows

    def die(asked: str, at: str) -> None:
        if (asked, at) == (name, when):
            os.kill(os.getpid(), signal.SIGKILL)

    async def dying(asked: str, connection: Any, **values: Any) -> Any:
        die(asked, "before")
        found = await plain(asked, connection, **values)
        die(asked, "after")
        return found

    def dying_at_once(asked: str, connection: Any, **values: Any) -> Any:
        die(asked, "before")
        found = plain(asked, connection, **values)
        die(asked, "after")
        return found

    module.rows = dying if module is postgres else dying_at_once
    await claim(store)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ["line_up", "claim"])
async def test_a_kill_while_messages_are_lined_up_and_taken_loses_none(url: str, name: str, when: str) -> None:
    """They come in their order: at once where nobody has taken them, and else when the lease of the dead one ends."""
    store = await open_store(url)
    try:
        await store.commit(commit("e1", out=(say("one"), say("two"), say("three"))))
        await store.commit(commit("e2", 0, "terminal:other", out=(say("elsewhere"),)))
        program = f"import asyncio; from {__name__} import *; asyncio.run(claim_and_die({url!r}, {name!r}, {when!r}))"
        died = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", program], cwd=Path(__file__).parents[2], check=False, timeout=60
        )
        assert died.returncode == -signal.SIGKILL
        # Its answer was on the way: whether they arrived nobody knows. In a file the look itself was not committed.
        had = isinstance(store, PostgresStore) and (name, when) == ("claim", "after")
        taken = await claim(store)
        assert texts(taken) == ([] if had else ["one", "elsewhere"])
        taken = taken or await claim(store, after(60))
        assert [(row.effect.message.blocks[0].spans[0].text, row.attempts) for row in taken] == [
            ("one", int(had)),
            ("elsewhere", int(had)),
        ]
        for row in taken:
            await store.settle(Settle(row.row, None))
        for text in ("two", "three"):
            [row] = await claim(store)
            assert (texts([row]), row.attempts) == ([text], 0)
            await store.settle(Settle(row.row, None))
        assert await store.waiting() == 0
    finally:
        await store.close()


async def test_closed_with_both_halves_of_a_crowd_under_way_everybody_is_answered(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was acknowledged is there, and nothing else; nobody waits for ever."""
    acknowledged: Counter[str] = Counter()
    both = asyncio.Event()
    plain = Batches._batch

    async def watched(batches: Batches, jobs: list[Any]) -> Any:
        if acknowledged.total() > 3 * PEOPLE and len(jobs) >= CROWD and len(batches._waiting) >= CROWD:
            both.set()
        return await plain(batches, jobs)

    monkeypatch.setattr(Batches, "_batch", watched)
    store = await open_store(url)

    async def talk(place: str) -> None:
        while True:
            revision = acknowledged[place]
            await store.about(place, "m1")
            await store.commit(commit(f"{place}#{revision}", revision, place, out=(say("x"),)))
            acknowledged[place] += 1

    async def send() -> None:
        while True:
            for row in await claim(store, limit=10):
                await store.settle(Settle(row.row, None))

    crowd = [asyncio.create_task(talk(f"terminal:{n}")) for n in range(PEOPLE)]
    crowd.append(asyncio.create_task(send()))
    async with asyncio.timeout(30):
        await both.wait()
        await store.close()
        ends = await asyncio.gather(*crowd, return_exceptions=True)
    assert [end for end in ends if not isinstance(end, StoreUnavailable)] == []
    again = await open_store(url)
    try:
        states = {place: await again.load(place) for place in acknowledged}
        assert {place: state.revision for place, state in states.items() if state is not None} == acknowledged
    finally:
        await again.close()
