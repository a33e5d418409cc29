"""The outbox: everything goes out, in order, and nothing is lost by a failure."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.core.effects import Say
from bot.core.events import DeliveryFailed, MessagePosted
from bot.outbox import Patience, TransportBroken
from bot.pace import Pacer, Rate
from bot.ports import (
    CardGone,
    RateLimited,
    Sent,
    StoreUnavailable,
    TryLater,
    Undeliverable,
)
from tests.fakes.clock import START
from tests.fakes.toy import toy
from tests.fakes.wire import World


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


async def test_after_half_an_hour_without_the_platform_everything_comes_in_order() -> None:
    """Two places, messages from before it and during it: few tries, nothing given up, all there within minutes."""
    world = World(auto=False)
    over = world.clock.now() + timedelta(minutes=30)

    async def post(conversation: str, say: Say) -> Sent:
        if world.clock.now() < over:
            refused.append(conversation)
            raise TryLater("no route")
        return await taken(conversation, say)

    refused: list[str] = []
    taken, world.wire.post = world.wire.post, post  # type: ignore[method-assign]
    await world.hear("a", "b")
    said = 2
    while await world.store.waiting():
        await world.outbox.drain()
        due = await world.store.next_due(("test",))
        assert due is None or due - world.clock.now() <= Patience().longest
        if said == 2 and world.clock.now() > over - timedelta(minutes=10):
            await world.hear("c")
            await world.hear("x", conversation="test:2")
            said = 4
        elif due is not None:
            world.clock.advance(max(due - world.clock.now(), timedelta(0)))
    assert world.clock.now() - over <= Patience().longest
    assert [text for c, text in world.wire.calls if c == "test:1"] == ["1. ana: a", "2. ana: b", "3. ana: c"]
    assert [text for c, text in world.wire.calls if c == "test:2"] == ["1. ana: x"]
    assert len(refused) < 40
    assert not any(row.given_up for row in world.store.rows)


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
    assert (world.row(1).waiting, world.row(1).attempts, world.row(1).ready_at) == (True, 0, None)


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


def test_a_place_that_waits_does_not_use_up_what_others_share() -> None:
    pacer, shared = Pacer(), ("all", Rate(30, timedelta(seconds=1), burst=30))
    slow = [("slow", Rate(1, timedelta(seconds=20))), shared]
    for _ in range(3):
        pacer.take(slow, START)
    assert pacer.wait(slow, START) == timedelta(seconds=60)
    assert pacer.wait([("quick", Rate(1, timedelta(seconds=1))), shared], START) == timedelta(0)


def test_a_long_silence_saves_up_no_more_than_the_burst() -> None:
    pacer, budget = Pacer(), [("all", Rate(1, timedelta(seconds=1), burst=2))]
    pacer.take(budget, START)
    later, waits = START + timedelta(hours=1), []
    for _ in range(3):
        waits.append(pacer.wait(budget, later).total_seconds())
        pacer.take(budget, later)
    assert waits == [0, 0, 1]


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
