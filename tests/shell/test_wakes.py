"""CH-6 in the running program: a wish outlives the process, and is said once whoever wakes for it."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot import timers as timers_module
from bot.core.events import Envelope
from bot.core.view import plain
from bot.ports import Commit, DueTimer, Settle, StoreUnavailable
from bot.timers import LEASE, Timers
from storage import open_store
from storage.records import RecordStore
from storage.verify import verify
from tests.fakes.clock import ManualClock
from tests.fakes.store import FakeStore
from tests.shell.test_forwards import parts, said


def from_ana(number: int, text: str) -> Envelope:
    return said(number, "x:ana", text)


async def wished(store: Any, clock: ManualClock) -> Timers:
    """Ana has asked for something, and wants to be asked again in two hours."""
    runner, timers = parts(store, clock)
    await runner.handle(from_ana(1, "review my paper"))
    await runner.handle(from_ana(2, "remind me in 2 hours"))
    return timers


@pytest.fixture(params=["sqlite", "postgres"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(await request.getfixturevalue("postgres").emptied())
    return str(tmp_path / "a.db")


async def told(url: str) -> int:
    """How often what is open was said unasked: rows of the outbox, which go with the audit rows."""
    store = await open_store(url)
    try:
        words = []
        while rows := await store.claim(ManualClock().now() + timedelta(days=1), 100, LEASE):
            for row in rows:
                words.append(plain(row.effect.message))
                await store.settle(Settle(row.row, None))
        async with store.snapshot() as snapshot:
            chains = [chain async for chain in snapshot.chains()]
            entries = [row["event"] for chain in chains async for row in snapshot.chain(chain)]
    finally:
        await store.close()
    count = sum("You wanted to be asked" in text for text in words)
    assert count == entries.count("reminder.sent")
    return count


@pytest.mark.parametrize("dies", [False, True])
async def test_two_processes_after_a_restart_say_it_once(url: str, dies: bool) -> None:
    """CH-6 b55 step 6: the process that was told of it is no more; two others see the timer at the same moment.

    Each has the place in memory as it was before. Where one dies with the timer, the other one says it.
    """
    clock = ManualClock()
    store = await open_store(url)
    await wished(store, clock)
    await store.close()

    async with AsyncExitStack() as opened:
        stores = [await open_store(url) for _ in range(2)]
        timers = [parts(store, clock)[1] for store in stores]
        for store in stores:
            opened.push_async_callback(store.close)
            assert await store.load("x:ana") is not None
        clock.advance(timedelta(hours=2))
        if dies:
            assert len(await stores[0].due(clock.now(), 100, LEASE)) == 1
        else:
            await asyncio.gather(*(one.fire_due() for one in timers))
        clock.advance(LEASE * 3)
        assert [await one.fire_due() for one in reversed(timers)] == [int(dies), 0]
        assert await verify(stores[0]) == []
    assert await told(url) == 1


def unguarded(monkeypatch: pytest.MonkeyPatch, guard: str, store: RecordStore) -> None:
    """A program without one of the things that keep it from saying the same twice."""
    if guard == "still":

        def still(self: Timers, timer: DueTimer) -> object:
            async def always() -> bool:
                return True

            return always

        monkeypatch.setattr(Timers, "_still", still)
    elif guard == "event id":
        plain_id, number = timers_module.timer_event_id, itertools.count()
        monkeypatch.setattr(timers_module, "timer_event_id", lambda timer: f"{plain_id(timer)} {next(number)}")
    elif guard == "revision":
        committed = store.commit

        async def blind(commit: Commit) -> None:
            async with store.snapshot() as snapshot:
                place = commit.state.place.conversation
                stored = max([row["revision"] async for row in snapshot.events(place)])
            state = commit.state.model_copy(update={"revision": stored + 1})
            await committed(replace(commit, expected_revision=stored, state=state))

        monkeypatch.setattr(store, "commit", blind)


GUARDS = ("still", "event id", "revision")


@pytest.mark.parametrize("left", [*GUARDS, "none"])
async def test_each_guard_alone_keeps_a_worker_slower_than_its_lease_from_saying_it_again(
    url: str, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CH-6: it took the timer and was held up; another one has said it since. With no guard left it is said twice."""
    clock = ManualClock(auto=True)
    async with AsyncExitStack() as opened:
        slow, quick = [await open_store(url) for _ in range(2)]
        for store in (slow, quick):
            opened.push_async_callback(store.close)
        timers = await wished(slow, clock)
        clock.advance(timedelta(hours=2))
        [timer] = await slow.due(clock.now(), 100, LEASE)
        clock.advance(LEASE)
        for guard in GUARDS:
            if guard != left:
                unguarded(monkeypatch, guard, slow)
        assert await parts(quick, clock)[1].fire_due() == 1
        await timers._fire(timer, clock.now())
    assert await told(url) == (2 if left == "none" else 1)


async def test_a_commit_that_fails_is_tried_again_and_says_it_once() -> None:
    """CH-6: the message and the end of the wish are one commit."""
    store, clock = FakeStore(), ManualClock()
    timers = await wished(store, clock)
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
    timers = await wished(store, clock)
    before = len(store.rows)
    clock.advance(timedelta(hours=2))

    async def set_back() -> None:
        clock.advance(timedelta(seconds=-1))

    store.before["due"].append(set_back)
    await timers.fire_due()
    clock.advance(timedelta(days=1))
    await timers.fire_due()
    assert len(store.rows) == before + 1
