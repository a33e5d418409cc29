"""The outbox: everything goes out, in order, and nothing is lost by a failure."""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import timedelta

import pytest

from adapters.limits import plain
from bot.core.effects import Redraw, Reply, Say
from bot.core.events import DeliveryFailed, Envelope, MessagePosted
from bot.outbox import Outbox, Patience, TransportBroken
from bot.pace import Pacer, Rate
from bot.ports import (
    CardGone,
    RateLimited,
    Sent,
    StoreUnavailable,
    TryLater,
    Undeliverable,
)
from bot.runner import Runner
from tests.fakes.clock import START, ManualClock, turns, until
from tests.fakes.envelopes import said
from tests.fakes.store import FakeStore
from tests.fakes.toy import toy


class Wire:
    """A transport that a test can break: each call takes the next thing out of `faults`."""

    platform = "test"

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.calls: list[tuple[str, str]] = []
        self.times: list[float] = []
        self.redrawn: list[str] = []
        self.faults: deque[BaseException | asyncio.Event | None] = deque()

    async def post(self, conversation: str, say: Say) -> Sent:
        self.calls.append((conversation, plain(say.message)))
        self.times.append((self.clock.now() - START).total_seconds())
        return await self._sent()

    async def redraw(self, conversation: str, message: str, redraw: Redraw) -> Sent:
        self.redrawn.append(f"{message}: {plain(redraw.message)}")
        return await self._sent(message)

    async def _sent(self, message: str | None = None) -> Sent:
        fault = self.faults.popleft() if self.faults else None
        if isinstance(fault, asyncio.Event):
            await fault.wait()
        elif fault is not None:
            raise fault
        return Sent(message or f"m{len(self.calls)}", len(self.calls))

    async def reply(self, envelope: Envelope, reply: Reply) -> None: ...

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.calls]


class World:
    def __init__(self, *, auto: bool = True, decide=toy, **options) -> None:
        self.store = FakeStore()
        self.clock = ManualClock(auto=auto)
        self.runner = Runner(self.store, decide, self.clock, jitter=lambda: 0.5)
        self.wire = Wire(self.clock)
        self.outbox = Outbox(self.store, self.runner, {"test": self.wire}, self.clock, jitter=lambda: 1.0, **options)

    async def hear(self, *texts: str, conversation: str = "test:1") -> None:
        for text in texts:
            await self.runner.handle(said(text, conversation=conversation))

    def row(self, number: int):
        return self.store.rows[number - 1]


async def test_sends_in_order_and_settles() -> None:
    world = World()
    await world.hear("two", "x")
    assert await world.outbox.drain() == 3
    assert world.wire.texts == ["one", "two", "2. ana: x"]
    assert await world.store.waiting() == 0


async def test_a_posted_card_is_reported_in_the_commit_that_settles_it() -> None:
    world = World()
    await world.hear("card")
    await world.outbox.drain()
    posted = world.store.commits[-1]
    assert posted.envelope.event_id == "posted:1"
    assert posted.envelope.event == MessagePosted(card="card", message="m1", order=1)
    assert (posted.settle.row, posted.settle.message) == (1, "m1")
    assert world.store.states["test:1"].active == "m1"


async def test_a_crash_between_sending_and_settling_sends_the_same_row_again() -> None:
    """P26: twice rather than not at all, and recognisable as the same."""
    world = World()
    await world.hear("card")

    async def crash() -> None:
        raise StoreUnavailable("killed")

    world.store.before["commit"].append(crash)
    with pytest.raises(StoreUnavailable):
        await world.outbox.drain()
    assert world.row(1).waiting
    world.clock.advance(Patience().lease)
    await world.outbox.drain()
    assert world.wire.texts == ["pick one\n"[:-1]] * 2
    assert [c.envelope.event_id for c in world.store.commits].count("posted:1") == 1


async def test_a_failure_of_the_core_on_the_report_does_not_send_for_ever() -> None:
    def fails_on_posted(state, envelope):
        assert not isinstance(envelope.event, MessagePosted)
        return toy(state, envelope)

    world = World(decide=fails_on_posted)
    await world.hear("card")
    await world.outbox.drain()
    assert (len(world.wire.calls), world.row(1).sent) == (1, "m1")


async def test_a_rate_limit_holds_up_that_conversation_only() -> None:
    world = World(auto=False)
    await world.hear("a", "b")
    await world.hear("c", conversation="test:2")
    world.wire.faults.append(RateLimited(timedelta(seconds=30)))
    await world.outbox.drain()
    assert world.wire.calls == [("test:1", "1. ana: a"), ("test:2", "1. ana: c")]
    world.clock.advance(29)
    assert await world.outbox.drain() == 0
    world.clock.advance(1)
    await world.outbox.drain()
    assert [text for c, text in world.wire.calls if c == "test:1"] == ["1. ana: a", "1. ana: a", "2. ana: b"]


async def test_a_rate_limit_never_ends_in_giving_up() -> None:
    world = World(auto=False)
    await world.hear("a")
    for _ in range(50):
        world.wire.faults.append(RateLimited(timedelta(hours=1)))
        await world.outbox.drain()
        world.clock.advance(timedelta(hours=1))
    await world.outbox.drain()
    assert world.row(1).sent is not None


async def test_backs_off_with_a_bound_and_then_reports_it_undeliverable() -> None:
    """CH-7."""
    patience = Patience(tries=4, at_least=timedelta(0), longest=timedelta(seconds=3))
    world = World(auto=False, patience=patience)
    await world.hear("a")
    waits = []
    for _ in range(4):
        world.wire.faults.append(TryLater("no route"))
        await world.outbox.drain()
        waits.append((world.row(1).ready_at - world.clock.now()).total_seconds())
        world.clock.advance(3)
    assert waits[:3] == [1, 2, 3]
    assert world.row(1).given_up == "gave up after 4 attempts: no route"
    failed = world.store.commits[-1].envelope
    assert failed.event_id == "undelivered:1"
    assert failed.event == DeliveryFailed(card=None, reason="gave up after 4 attempts: no route", text="1. ana: a")


async def test_a_long_outage_is_not_given_up_before_its_time() -> None:
    world = World(auto=False, patience=Patience(tries=2, at_least=timedelta(hours=6)))
    await world.hear("a")
    for _ in range(20):
        world.wire.faults.append(TryLater("no route"))
        await world.outbox.drain()
        world.clock.advance(timedelta(minutes=5))
    await world.outbox.drain()
    assert world.row(1).sent is not None


async def test_an_undeliverable_row_is_reported_and_makes_room_for_the_next() -> None:
    world = World()
    await world.hear("card", "b")
    world.wire.faults.append(Undeliverable("blocked by the person"))
    await world.outbox.drain()
    assert world.row(1).given_up == "blocked by the person"
    assert world.wire.texts[-1] == "2. ana: b"
    assert world.store.states["test:1"].active == "undelivered: blocked by the person"


async def test_a_crash_between_report_and_giving_up_reports_once() -> None:
    world = World()
    await world.hear("card")

    async def crash() -> None:
        raise StoreUnavailable("killed")

    world.wire.faults.extend([Undeliverable("blocked"), Undeliverable("blocked")])
    world.store.before["give_up"].append(crash)
    with pytest.raises(StoreUnavailable):
        await world.outbox.drain()
    world.clock.advance(Patience().lease)
    await world.outbox.drain()
    assert [c.envelope.event_id for c in world.store.commits].count("undelivered:1") == 1
    assert world.row(1).given_up == "blocked"


async def test_redraws_the_card_where_it_is() -> None:
    world = World()
    await world.hear("card")
    await world.outbox.drain()
    await world.hear("redraw")
    await world.outbox.drain()
    assert world.wire.redrawn == ["m1: redraw"]


async def test_a_card_that_is_gone_is_posted_anew_and_reported() -> None:
    world = World()
    await world.hear("card")
    await world.outbox.drain()
    await world.hear("redraw 1")
    world.wire.faults.append(CardGone())
    await world.outbox.drain()
    await world.hear("redraw 2")
    await world.outbox.drain()
    assert world.wire.texts == ["pick one", "redraw 1"]
    assert world.wire.redrawn == ["m1: redraw 1", "m2: redraw 2"]
    assert world.store.states["test:1"].active == "m2"
    assert await world.store.about("test:1", "m2") == "card"


async def test_a_card_that_never_arrived_is_posted_at_its_next_redraw() -> None:
    world = World()
    await world.hear("card", "redraw")
    world.wire.faults.append(Undeliverable("archived"))
    await world.outbox.drain()
    assert world.wire.texts == ["pick one", "redraw"]
    assert world.row(2).sent == "m2"


async def test_an_unexpected_failure_of_a_transport_loses_nothing() -> None:
    world = World(auto=False)
    await world.hear("a")
    await world.hear("b", conversation="test:2")
    world.wire.faults.append(ZeroDivisionError())
    await world.outbox.drain()
    assert world.row(1).waiting
    assert world.row(2).sent is not None
    world.clock.advance(1)
    await world.outbox.drain()
    assert world.row(1).sent is not None


async def test_rows_of_a_platform_that_is_not_spoken_here_are_left_alone() -> None:
    world = World()
    await world.hear("x", conversation="elsewhere:1")
    await world.hear("a")
    await world.outbox.drain()
    assert world.wire.texts == ["1. ana: a"]
    assert world.row(1).waiting


async def test_broken_output_ends_draining_and_keeps_the_row() -> None:
    world = World(patience=Patience(lease=timedelta(0)))
    await world.hear("a")
    world.wire.faults.append(TransportBroken())
    with pytest.raises(TransportBroken):
        await world.outbox.drain()
    assert world.row(1).waiting


async def test_paces_each_place_and_the_whole_platform() -> None:
    """Telegram: one message a second to a chat, thirty a second in all."""

    def pace(conversation: str):
        place = conversation.split("/")[0]
        return [(place, Rate(1, timedelta(seconds=1))), ("all", Rate(30, timedelta(seconds=1), burst=30))]

    world = World(paces={"test": pace})
    await world.hear("a", "b", "c")
    await world.outbox.drain()
    assert world.wire.times == [0, 1, 2]


def test_a_budget_allows_its_burst_and_then_its_rate() -> None:
    pacer, budget = Pacer(), [("all", Rate(4, timedelta(seconds=1), burst=2))]
    waits = []
    for _ in range(5):
        waits.append(pacer.wait(budget, START).total_seconds())
        pacer.take(budget, START)
    assert waits == [0, 0, 0.25, 0.5, 0.75]
    assert pacer.wait(budget, START + timedelta(seconds=2)) == timedelta(0)


async def test_a_turn_beyond_the_lease_gives_the_row_back() -> None:
    world = World(
        auto=False,
        paces={"test": lambda _: [("room", Rate(1, timedelta(minutes=10)))]},
    )
    await world.hear("a")
    await world.hear("b", conversation="test:2")
    await world.outbox.drain()
    assert world.wire.texts == ["1. ana: a"]
    world.clock.advance(timedelta(minutes=10))
    await world.outbox.drain()
    assert world.wire.texts == ["1. ana: a", "1. ana: b"]


async def test_a_send_that_hangs_counts_as_failed() -> None:
    world = World(patience=Patience(send=0.01))
    await world.hear("a")
    world.wire.faults.append(asyncio.Event())
    await asyncio.wait_for(world.outbox.drain(), 5)
    assert world.row(1).attempts == 1


# -- running ----------------------------------------------------------------------------------------------------


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
