"""A commit that was acknowledged is there after kill -9."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from storage import open_store
from storage.readers import events
from storage.sqlite import SqliteStore
from storage.verify import verify
from tests.storage.build import claim, commit, entry, say

PLACES = 8
NAMES = ("synchronous", "journal_mode", "foreign_keys")


async def write_for_ever(path: str) -> None:
    """The other process: commits in eight places at once; prints each event id once its commit has returned."""
    store = await open_store(path)

    async def talk(n: int) -> None:
        place = f"terminal:{n}"
        known = await store.load(place)
        revision = 0 if known is None else known.revision
        while True:
            event = f"{place}#{revision + 1}"
            await store.commit(
                commit(event, revision, place, out=(say(event),), audit=(entry(session=None, said=event),))
            )
            revision += 1
            sys.stdout.write(event + "\n")
            sys.stdout.flush()

    await asyncio.gather(*(talk(n) for n in range(PLACES)))


def write_and_kill(path: str, enough: int) -> set[str]:
    """Let another process write; kill it after `enough` acknowledged commits. Gives all that it had acknowledged."""
    acknowledged: set[str] = set()
    process = subprocess.Popen(
        [sys.executable, "-c", f"import asyncio; from {__name__} import *; asyncio.run(write_for_ever({path!r}))"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    with process, process.stdout as lines:
        for line in lines:
            acknowledged.add(line.strip())
            if len(acknowledged) >= enough:
                process.kill()
                break
        acknowledged |= {line.strip() for line in lines if line.endswith("\n")}
    assert process.returncode == -9
    return acknowledged


@pytest.mark.parametrize("run", range(3))
async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, run: int) -> None:
    path = str(tmp_path / "askfirst.db")
    # The second process goes on with what the first one left.
    acknowledged = write_and_kill(path, 150 + 61 * run) | write_and_kill(path, 100)
    store = await open_store(path, create=False)
    try:
        stored: set[str] = set()
        for n in range(PLACES):
            place = f"terminal:{n}"
            log = [event async for event in events(store, place)]
            assert [event.revision for event in log] == list(range(1, len(log) + 1))
            state = await store.load(place)
            assert (0 if state is None else state.revision) == len(log)
            stored |= {event.envelope.event_id for event in log}
        assert acknowledged <= stored
        assert len(stored) - len(acknowledged) <= 2 * PLACES  # written, and killed before it could say so
        assert await store.waiting() == len(stored)
        assert len(await claim(store)) == PLACES
        assert await verify(store) == []
    finally:
        await store.close()


async def test_the_writer_waits_for_the_disk(tmp_path: Path) -> None:
    """Without FULL (2) a power cut would lose what a kill does not: sqlite.org/pragma.html#pragma_synchronous."""
    store = await open_store(str(tmp_path / "askfirst.db"))
    try:
        assert isinstance(store, SqliteStore)

        def settings(connection: Any) -> list[Any]:
            return [next(iter(connection.execute(f"PRAGMA {name}").fetchone().values())) for name in NAMES]

        assert await store._writer.ask(settings) == [2, "wal", 1]
    finally:
        await store.close()
