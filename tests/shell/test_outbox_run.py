"""The outbox as it runs beside everything else: woken, never spinning, stopped without losing a row."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.outbox import Patience
from bot.ports import RateLimited, StoreUnavailable
from tests.fakes.clock import turns, until
from tests.fakes.wire import World


async def test_run_sleeps_until_a_commit_wakes_it() -> None:
    world = World(auto=False)
    running = asyncio.create_task(world.outbox.run())
    await turns()
    assert world.clock.sleeping == 0  # nothing waiting: no polling
    await world.hear("a", "b")
    await until(lambda: len(world.wire.calls) == 2)
    await stop(running)


async def test_run_wakes_for_a_row_that_was_put_off() -> None:
    world = World(auto=False)
    world.wire.faults.append(RateLimited(timedelta(seconds=30)))
    running = asyncio.create_task(world.outbox.run())
    await world.hear("a")
    await until(lambda: world.clock.sleeping == 1)
    world.clock.advance(30)
    await until(lambda: world.row(1).sent is not None)
    await stop(running)


async def test_one_stuck_place_does_not_hold_up_the_others() -> None:
    world = World(auto=False)
    gate = asyncio.Event()
    world.wire.faults.append(gate)
    running = asyncio.create_task(world.outbox.run())
    await world.hear("a", "b")
    await world.hear("c", "d", conversation="test:2")
    await until(lambda: world.wire.texts == ["1. ana: a", "1. ana: c", "2. ana: d"])
    gate.set()
    await until(lambda: world.wire.texts[-1] == "2. ana: b")
    await stop(running)


async def test_a_send_slower_than_its_lease_stays_this_workers() -> None:
    """No other worker is given the row while this one lives, however long the platform takes."""
    world = World(auto=False)
    gate = asyncio.Event()
    world.wire.faults.append(gate)
    running = asyncio.create_task(world.outbox.run())
    await world.hear("a")
    await until(lambda: world.wire.calls)
    lease = Patience().lease
    for _ in range(12):
        await until(lambda: world.clock.sleeping)
        world.clock.advance(lease / 3)
        await turns()
        assert await world.store.claim(world.clock.now(), 9, lease) == []
    gate.set()
    await until(lambda: world.row(1).sent == "m1")
    await stop(running)
    assert (len(world.wire.calls), world.row(1).attempts) == (1, 0)  # nor was it claimed anew


async def test_what_was_sent_while_the_store_was_away_is_not_sent_again() -> None:
    """A lock, a full disk, a restart of the server: the worker knows that it has sent, and says so when it can."""
    world = World(auto=False)

    async def away() -> None:
        raise StoreUnavailable("locked by a backup")

    world.store.before["settle"].extend([away] * 20)
    running = asyncio.create_task(world.outbox.run())
    await world.hear("a")
    for _ in range(40):
        await turns()
        world.clock.advance(1)
    await until(lambda: world.row(1).sent == "m1")
    await stop(running)
    assert world.wire.texts == ["1. ana: a"]


async def test_stopping_lets_a_send_under_way_end() -> None:
    world = World(auto=False)
    gate = asyncio.Event()
    world.wire.faults.append(gate)
    running = asyncio.create_task(world.outbox.run())
    await world.hear("a")
    await until(lambda: world.wire.calls)
    running.cancel()
    await turns()
    gate.set()
    await stop(running)
    assert world.row(1).sent == "m1"


async def test_stopping_is_bounded_and_keeps_the_row() -> None:
    world = World(auto=False, patience=Patience(goodbye=0.01))
    world.wire.faults.append(asyncio.Event())
    running = asyncio.create_task(world.outbox.run())
    await world.hear("a")
    await until(lambda: world.wire.calls)
    await stop(running)
    assert world.row(1).waiting


async def test_rows_of_another_platform_do_not_keep_it_awake() -> None:
    world = World(auto=False)
    await world.hear("x", conversation="elsewhere:1")
    running = asyncio.create_task(world.outbox.run())
    await turns()
    assert world.clock.slept == []
    await stop(running)


async def test_run_survives_a_store_that_is_away() -> None:
    world = World(auto=False)

    async def away() -> None:
        raise StoreUnavailable("restarting")

    world.store.before["claim"].append(away)
    await world.hear("a")
    running = asyncio.create_task(world.outbox.run())
    await until(lambda: world.clock.sleeping == 1)
    world.clock.advance(1)
    await until(lambda: world.row(1).sent is not None)
    await stop(running)


async def test_another_loops_work_does_not_make_it_spin() -> None:
    world = World(auto=False)
    await world.hear("grace")
    world.clock.advance(60)  # the timer is due, and not the outbox's to take
    running = asyncio.create_task(world.outbox.run())
    await turns(200)
    assert len(world.clock.slept) == 1
    assert world.clock.slept[0] > 0
    await stop(running)


async def stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
