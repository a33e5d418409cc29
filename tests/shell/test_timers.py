"""Timers: once, at their moment, and no others."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.core.events import TimerDue
from bot.core.state import Conversation
from bot.ports import DueTimer
from bot.runner import Runner
from bot.timers import LEASE, Timers, timer_event_id
from tests.fakes.clock import START, ManualClock, turns, until
from tests.fakes.envelopes import said
from tests.fakes.store import FakeStore
from tests.fakes.toy import toy


def parts(decide=toy, *, auto: bool = False) -> tuple[FakeStore, ManualClock, Runner, Timers]:
    store, clock = FakeStore(), ManualClock(auto=auto)
    runner = Runner(store, decide, clock)
    return store, clock, runner, Timers(store, runner, clock)


async def test_fires_when_due_and_only_once() -> None:
    store, clock, runner, timers = parts()
    await runner.handle(said("grace"))
    assert await timers.fire_due() == 0
    clock.advance(5)
    assert await timers.fire_due() == 1
    assert await timers.fire_due() == 0
    assert store.commits[-1].envelope.event == TimerDue(name="grace:s")
    assert store.commits[-1].envelope.place == said("x").place


def test_the_event_id_names_the_moment() -> None:
    timer = DueTimer("test:1", "grace:s", START + timedelta(microseconds=7))
    assert timer_event_id(timer) == "timer:test:1:grace:s:1772442000000007"


async def test_two_workers_fire_it_once() -> None:
    store, clock, runner, timers = parts()
    other = Timers(store, Runner(store, toy, clock), clock)
    await runner.handle(said("grace"))
    clock.advance(5)
    await asyncio.gather(timers.fire_due(), other.fire_due())
    assert sum(isinstance(commit.envelope.event, TimerDue) for commit in store.commits) == 1


async def test_a_timer_moved_at_the_last_moment_does_not_fire_early() -> None:
    """The look and the commit are apart; a message in between moves the timer."""
    store, clock, runner, timers = parts(auto=True)
    await runner.handle(said("grace"))
    clock.advance(5)

    async def meanwhile() -> None:
        await Runner(store, toy, clock).handle(said("grace again"))

    store.before["commit"].append(meanwhile)
    assert await timers.fire_due() == 0
    assert store.timer_rows["test:1", "grace:s"] >= START + timedelta(seconds=10)


async def test_a_timer_cleared_at_the_last_moment_does_not_fire() -> None:
    store, clock, runner, timers = parts(auto=True)
    await runner.handle(said("grace"))
    clock.advance(5)

    async def meanwhile() -> None:
        await Runner(store, toy, clock).handle(said("calm"))

    store.before["commit"].append(meanwhile)
    assert await timers.fire_due() == 0
    assert not any(isinstance(commit.envelope.event, TimerDue) for commit in store.commits)


async def test_fires_by_name_before_its_time_at_the_end_of_input() -> None:
    """RD-16: the grace is 0 at end of input; other timers are left for later."""
    store, _, runner, timers = parts()
    await runner.handle(said("grace"))
    store.timer_rows["test:1", "remind:s"] = START + timedelta(hours=1)
    assert await timers.fire_now("grace") == 1
    assert list(store.timer_rows) == [("test:1", "remind:s")]


async def test_a_timer_that_the_core_fails_on_rests_and_does_not_hold_up_others() -> None:
    tries = []

    def fails(state: Conversation | None, envelope):
        if isinstance(envelope.event, TimerDue) and envelope.place.conversation == "test:1":
            tries.append(envelope.event_id)
            raise ZeroDivisionError
        return toy(state, envelope)

    store, clock, runner, timers = parts(fails)
    await runner.handle(said("grace"))
    await runner.handle(said("grace", conversation="test:2"))
    clock.advance(5)
    assert await timers.fire_due() == 1
    assert await timers.fire_due() == 0
    assert len(tries) == 1
    assert list(store.timer_rows) == [("test:1", "grace:s")]  # kept: it is tried again
    clock.advance(LEASE)
    timers._runner = Runner(store, toy, clock)
    assert await timers.fire_due() == 1


async def test_a_timer_set_to_a_moment_that_has_fired_does_not_spin() -> None:
    store, clock, runner, timers = parts()
    await runner.handle(said("grace"))
    clock.advance(5)
    await timers.fire_due()
    store.timer_rows["test:1", "grace:s"] = clock.now()
    assert await timers.fire_due() == 0
    assert await timers.fire_due() == 0


async def test_run_waits_for_the_next_moment_and_survives_failures() -> None:
    store, clock, runner, timers = parts()

    async def away() -> None:
        raise ConnectionError

    store.before["due"].append(away)
    running = asyncio.create_task(timers.run())
    await until(lambda: clock.sleeping == 1)
    clock.advance(1)
    await turns()
    assert clock.sleeping == 0  # nothing set: no polling
    await runner.handle(said("grace"))
    await until(lambda: clock.sleeping == 1)
    clock.advance(5)
    await until(lambda: not store.timer_rows)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
