"""CH-6 in the running program: a wish outlives the process, and is said once whoever wakes for it."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from bot.core.events import Envelope
from bot.ports import StoreUnavailable
from bot.timers import LEASE
from storage import open_store
from storage.verify import verify
from tests.fakes.clock import ManualClock
from tests.fakes.store import FakeStore
from tests.shell.test_forwards import parts, said


def from_ana(number: int, text: str) -> Envelope:
    return said(number, "x:ana", text)


def told(path: Path) -> int:
    """How often what is open was said unasked: rows of the outbox, which go with the audit rows."""
    with closing(sqlite3.connect(path)) as raw:
        (count,) = raw.execute("SELECT count(*) FROM outbox WHERE effect LIKE '%You wanted to be asked%'").fetchone()
        (entries,) = raw.execute("SELECT count(*) FROM audit WHERE event = 'reminder.sent'").fetchone()
    assert count == entries
    return int(count)


async def test_two_processes_after_a_restart_say_it_once(tmp_path: Path) -> None:
    """CH-6 b55 step 6: the process that was told of it is no more; two others see the timer at the same moment."""
    path, clock = tmp_path / "a.db", ManualClock()
    store = await open_store(str(path))
    runner, _ = parts(store, clock)
    await runner.handle(from_ana(1, "review my paper"))
    await runner.handle(from_ana(2, "remind me in 2 hours"))
    await store.close()

    store = await open_store(str(path))
    _, one = parts(store, clock)
    _, other = parts(store, clock)
    assert await one.fire_due() == 0
    clock.advance(timedelta(hours=2))
    await asyncio.gather(one.fire_due(), other.fire_due())
    clock.advance(LEASE * 3)
    assert await one.fire_due() + await other.fire_due() == 0
    findings = await verify(store)
    await store.close()
    assert (told(path), findings) == (1, [])


async def test_a_commit_that_fails_is_tried_again_and_says_it_once() -> None:
    """CH-6: the message and the end of the wish are one commit."""
    store, clock = FakeStore(), ManualClock()
    runner, timers = parts(store, clock)
    await runner.handle(from_ana(1, "review my paper"))
    await runner.handle(from_ana(2, "remind me in 2 hours"))
    before = len(store.rows)
    clock.advance(timedelta(hours=2))

    async def fails() -> None:
        raise StoreUnavailable("the disk is full")

    store.before["commit"].append(fails)
    assert await timers.fire_due() == 0
    assert len(store.rows) == before
    clock.advance(LEASE)
    assert await timers.fire_due() == 1
    assert len(store.rows) == before + 1
    clock.advance(timedelta(days=9))
    assert await timers.fire_due() == 0


@pytest.mark.parametrize("asleep", [1, 40])
async def test_after_a_downtime_it_is_one_message(asleep: int) -> None:
    """CH-6: forty days without the program are no forty reminders."""
    store, clock = FakeStore(), ManualClock()
    runner, timers = parts(store, clock)
    await runner.handle(from_ana(1, "/settings reminders daily"))
    await runner.handle(from_ana(2, "review my paper"))
    before = len(store.rows)
    clock.advance(timedelta(days=asleep))
    assert await timers.fire_due() == 1
    assert len(store.rows) == before + 1


async def test_a_clock_set_back_between_look_and_commit_loses_no_wish() -> None:
    """CH-6: found early, the timer would be set once more to a moment that has been had."""
    store, clock = FakeStore(), ManualClock()
    runner, timers = parts(store, clock)
    await runner.handle(from_ana(1, "review my paper"))
    await runner.handle(from_ana(2, "remind me in 2 hours"))
    before = len(store.rows)
    clock.advance(timedelta(hours=2))

    async def set_back() -> None:
        clock.advance(timedelta(seconds=-1))

    store.before["due"].append(set_back)
    await timers.fire_due()
    clock.advance(timedelta(days=1))
    await timers.fire_due()
    assert len(store.rows) == before + 1
