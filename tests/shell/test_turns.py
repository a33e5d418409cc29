"""One worker at a time takes in what a platform gives to one listener only; the next one is ready."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest

from bot.ports import StoreUnavailable
from bot.turns import LOOKS, TURN, Turn
from tests.fakes.clock import ManualClock, turns, until
from tests.fakes.store import FakeStore

LOOK = TURN / LOOKS


class Poller:
    """Work that counts how many do it at once."""

    at_once = 0

    def __init__(self) -> None:
        self.working = False

    async def work(self) -> None:
        Poller.at_once += 1
        self.working = True
        assert Poller.at_once == 1
        try:
            await asyncio.Event().wait()
        finally:
            self.working = False
            Poller.at_once -= 1


def worker(name: str, store: FakeStore, clock: ManualClock) -> tuple[Poller, Turn, asyncio.Task[None]]:
    poller = Poller()
    turn = Turn("telegram", name, poller.work, store, clock)
    return poller, turn, asyncio.create_task(turn.run())


async def stopped(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_the_second_takes_over_at_once_when_the_first_is_stopped() -> None:
    store, clock = FakeStore(), ManualClock()
    first, turn, running = worker("a", store, clock)
    await until(lambda: first.working)
    assert turn.ours
    second, other, waiting = worker("b", store, clock)
    await turns()
    for _ in range(20):  # far beyond the length of a turn: it is renewed
        clock.advance(LOOK)
        await turns()
    assert (first.working, second.working, other.ours) == (True, False, False)
    await stopped(running)
    clock.advance(LOOK)
    await until(lambda: second.working)
    await stopped(waiting)
    assert store.turns == {}


async def test_the_second_takes_over_when_the_first_has_died() -> None:
    store, clock = FakeStore(), ManualClock()
    assert await store.take_turn("telegram", "dead", clock.now(), clock.now() + TURN)
    second, _, waiting = worker("b", store, clock)
    await turns()
    assert not second.working
    clock.advance(TURN)
    await until(lambda: second.working)
    await stopped(waiting)


async def test_who_can_not_renew_stops_before_another_may_begin() -> None:
    store, clock = FakeStore(), ManualClock()
    first, turn, running = worker("a", store, clock)
    await until(lambda: first.working)

    async def away(*_: object) -> bool:
        raise StoreUnavailable("the database is away")

    store.take_turn = away  # type: ignore[method-assign]
    stopped_after = timedelta(0)
    while first.working:
        clock.advance(LOOK)
        stopped_after += LOOK
        await turns()
    assert stopped_after < TURN
    assert not turn.ours
    await stopped(running)


async def test_a_failure_of_the_work_is_not_swallowed() -> None:
    async def fails() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Turn("telegram", "a", fails, FakeStore(), ManualClock()).run()
