"""A clock that jumps by a day, ahead or back, while all runs: nothing waits for a day, nothing happens twice."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.outbox import Patience
from bot.pace import Rate
from bot.ports import RateLimited, TryLater
from bot.runner import Runner
from bot.timers import Timers
from bot.turns import LOOKS, TURN, Turn
from storage.memory import MemoryStore
from storage.values import moment
from tests.fakes.clock import ManualClock, turns, until
from tests.fakes.envelopes import said
from tests.fakes.store import FakeStore
from tests.fakes.toy import toy
from tests.fakes.wire import World
from tests.shell.test_outbox_run import stop
from tests.shell.test_timers import parts
from tests.shell.test_turns import stopped

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


async def test_set_back_a_place_keeps_its_pace_and_waits_for_no_longer() -> None:
    world = World(auto=False, paces={"test": lambda place: [(place, Rate(1, SECOND)), ("all", Rate(30, SECOND, 30))]})
    await world.hear("a")
    await world.outbox.drain()
    world.clock.advance(-DAY)
    await world.hear("b", "c")
    sending = asyncio.create_task(world.outbox.drain())
    await until(lambda: len(world.wire.calls) == 2)
    await until(lambda: world.clock.sleeping)
    world.clock.advance(1)
    await sending
    assert world.wire.texts == ["1. ana: a", "2. ana: b", "3. ana: c"]


@pytest.mark.parametrize("jump", [DAY, -DAY])
async def test_a_slow_send_stays_this_workers_through_a_jump(jump: timedelta) -> None:
    world = World(auto=False)
    gate = asyncio.Event()
    world.wire.faults.append(gate)
    running = asyncio.create_task(world.outbox.run())
    await world.hear("a")
    await until(lambda: world.wire.calls)
    world.clock.advance(jump)
    world.runner.bell.ring()  # as the next message or look would
    await turns()
    assert world.row(1).ready_at == world.clock.now() + Patience().lease
    gate.set()
    await until(lambda: world.row(1).sent == "m1")
    await stop(running)
    assert (len(world.wire.calls), world.row(1).attempts) == (1, 0)


async def test_a_pause_of_many_hours_is_asked_about_again_every_hour() -> None:
    """So that a row put off for longer is known to be of a wrong clock."""
    world = World(auto=False)
    await world.hear("a")
    world.wire.faults.append(RateLimited(timedelta(hours=20)))
    await world.outbox.drain()
    assert world.row(1).ready_at == world.clock.now() + timedelta(hours=1)


@pytest.mark.parametrize("jump", [DAY, -DAY])
async def test_a_jump_during_an_outage_gives_nothing_up(jump: timedelta) -> None:
    """Not even after a few failures: the attempts count too."""
    world = World(auto=False)
    await world.hear("a")
    for _ in range(5):
        world.wire.faults.append(TryLater("no route"))
        await world.outbox.drain()
        world.clock.advance(300)
    world.clock.advance(jump)
    world.wire.faults.append(TryLater("no route"))
    await world.outbox.drain()
    world.clock.advance(DAY)
    await world.outbox.drain()
    assert world.row(1).sent is not None


async def test_a_timer_fires_once_though_its_moment_comes_twice() -> None:
    store, clock, runner, timers = parts()
    await runner.handle(said("grace"))
    clock.advance(DAY)
    assert await timers.fire_due() == 1
    clock.advance(-DAY)
    assert await timers.fire_due() == 0
    clock.advance(DAY)
    assert await timers.fire_due() == 0
    assert await store.timers() == []


async def test_a_short_timer_set_while_the_clock_was_a_day_ahead_rings_when_it_is_right() -> None:
    """And its event is of its own moment, or it would be found early and set again."""
    store, clock = MemoryStore(), ManualClock()
    runner = Runner(store, toy, clock)
    timers = Timers(store, runner, clock)
    clock.advance(DAY)
    await runner.handle(said("grace"))
    clock.advance(-DAY)
    assert await timers.fire_due() == 1
    assert await store.timers() == []
    [event] = [row for row in store.tables.event.values() if row["event_id"].startswith("timer:")]
    assert moment(event["at"]) == clock.now() + DAY + timedelta(seconds=5)


@pytest.mark.parametrize("jump", [DAY, -DAY])
async def test_after_a_jump_one_of_them_polls(jump: timedelta) -> None:
    """For a moment both may; the platform minds (409), and what comes twice is known."""
    store, clock = FakeStore(), ManualClock()
    at_work: set[str] = set()

    def worker(name: str) -> asyncio.Task[None]:
        async def work() -> None:
            at_work.add(name)
            try:
                await asyncio.Event().wait()
            finally:
                at_work.discard(name)

        return asyncio.create_task(Turn("telegram", name, work, store, clock).run())

    tasks = [worker("a"), worker("b")]
    await until(lambda: at_work)
    for moved in (jump, *[TURN / LOOKS] * 3):
        clock.advance(moved)
        await turns()
    for _ in range(10):
        clock.advance(TURN / LOOKS)
        await turns()
        assert len(at_work) == 1
    for task in tasks:
        await stopped(task)
