"""What is decided in one conversation for others (RP-4): durable, once, whichever process gets to it."""

from __future__ import annotations

import asyncio
import functools
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.core.codec import NewerState
from bot.core.effects import Say
from bot.core.events import Envelope, Forwarded, MessageReceived
from bot.core.model import MessageRef, Person, Place
from bot.core.state import Conversation
from bot.core.step import step
from bot.core.view import plain
from bot.outbox import Outbox
from bot.ports import StoreUnavailable
from bot.runner import Runner
from bot.timers import Timers
from storage import open_store
from storage.verify import verify
from tests.core.builders import book
from tests.fakes.clock import ManualClock
from tests.fakes.store import FakeStore

PLACES = ("x:team/1", "x:team/2", "x:desk")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class Killed(BaseException):
    """The process is no more."""


def said(number: int, place: str, text: str) -> Envelope:
    ref = MessageRef(id=str(number), quote=text)
    event = MessageReceived(person=Person(id="x:ana", name="ana"), text=text, ref=ref, addressed=True)
    shared = place != "x:ana"
    return Envelope(
        event_id=f"said:{number}", place=Place(conversation=place, platform="x", shared=shared), at=NOON, event=event
    )


def parts(store, clock=None) -> tuple[Runner, Timers]:  # type: ignore[no-untyped-def]
    clock = clock or ManualClock()
    ids = iter(range(10**9, 2 * 10**9))
    runner = Runner(store, functools.partial(step, book=book()), clock, lambda: str(next(ids)))
    return runner, Timers(store, runner, clock)


async def confirmed(runner: Runner) -> None:
    """Three rounds in three places; ana says yes to all of them in private."""
    for number, place in enumerate(PLACES, start=1):
        handled = await runner.handle(said(number, place, "review my paper"))
        assert handled.outcome == "accepted"
    await runner.handle(said(4, "x:ana", "accept all mine"))
    await runner.handle(said(5, "x:ana", "yes"))


def answered(store: FakeStore) -> list[str]:
    """The conversations in which something was recorded, as often as it was."""
    return sorted(c.envelope.place.conversation for c in store.commits for _ in c.clarifications)


def receipts(store: FakeStore) -> list[str]:
    """The places that were told what became of the yes; each was told by one event."""
    words = ((r.conversation, plain(r.effect.message)) for r in store.rows if isinstance(r.effect, Say))
    told = sorted(place for place, text in words if " — ana:" in text or "meanwhile" in text)
    arrived = (c.envelope for c in store.commits if isinstance(c.envelope.event, Forwarded))
    assert sorted(envelope.place.conversation for envelope in arrived) == told
    return told


async def test_each_round_is_answered_in_its_own_place_with_one_receipt() -> None:
    """RP-4, RP-7: threads of one channel are numbered together, and each gets its receipt."""
    store = FakeStore()
    runner, timers = parts(store)
    await confirmed(runner)
    assert answered(store) == []
    numbers = [store.states[place].sessions[0].number for place in PLACES]
    assert numbers == [1, 2, 1]
    assert await timers.fire_due() == 3
    assert answered(store) == sorted(PLACES)
    assert receipts(store) == sorted(PLACES)
    assert store.states["x:ana"].forwards == ()
    assert store.timer_rows.keys().isdisjoint({("x:ana", "forward:2.0")})


@pytest.mark.parametrize("commits", range(1, 7))
async def test_a_kill_at_any_commit_between_the_yes_and_the_receipts_loses_and_repeats_nothing(commits: int) -> None:
    """RP-4: the yes and what it leads to are in one commit; each round's answer in one of its own."""
    store = FakeStore()
    runner, timers = parts(store)
    await confirmed(runner)

    async def lives() -> None: ...

    async def dies() -> None:
        raise Killed

    store.before["committed"].extend([lives] * (commits - 1) + [dies])
    with pytest.raises(Killed):
        await timers.fire_due()
    store.before.clear()
    await store.release(())  # the next process, which begins as bot.app does
    runner, timers = parts(store)
    await timers.fire_due()
    assert answered(store) == sorted(PLACES)
    assert receipts(store) == sorted(PLACES)
    assert store.states["x:ana"].forwards == ()


async def test_two_workers_answer_each_round_once() -> None:
    """RP-4"""
    store, clock = FakeStore(), ManualClock(auto=True)
    runner, timers = parts(store, clock)
    _, other = parts(store, clock)
    await confirmed(runner)
    await asyncio.gather(timers.fire_due(), other.fire_due())
    await timers.fire_due()
    assert answered(store) == sorted(PLACES)
    assert receipts(store) == sorted(PLACES)


async def test_a_round_that_can_not_be_reached_now_is_reached_later() -> None:
    """The others do not wait for it."""
    store, clock = FakeStore(), ManualClock(auto=True)
    runner, timers = parts(store, clock)
    await confirmed(runner)

    async def fails() -> None:
        raise StoreUnavailable("locked")

    store.before["commit"].append(fails)
    await timers.fire_due()
    assert len(answered(store)) == 2
    clock.advance(31)
    await timers.fire_due()
    assert answered(store) == sorted(PLACES)


async def test_an_answer_waits_for_a_place_that_a_newer_version_has_taken_over() -> None:
    """b38, RP-4: with two versions at work this one may not read it; what was said there is kept, not dropped."""
    store, clock = FakeStore(), ManualClock(auto=True)
    runner, timers = parts(store, clock)
    await confirmed(runner)
    whole = store.load

    async def load(conversation: str) -> Conversation | None:
        if conversation == PLACES[1]:
            raise NewerState("this conversation holds what this version can not read")
        return await whole(conversation)

    store.load = load  # type: ignore[method-assign]
    await timers.fire_due()
    assert answered(store) == sorted({*PLACES} - {PLACES[1]})
    assert [forward.place for forward in store.states["x:ana"].forwards] == [PLACES[1]]
    store.load = whole  # type: ignore[method-assign]
    clock.advance(31)
    await timers.fire_due()
    assert answered(store) == sorted(PLACES)
    assert store.states["x:ana"].forwards == ()


async def test_a_number_is_asked_about_where_a_place_can_not_be_read() -> None:
    """b38, RP-7: two intakes #1 are open, and one is not to be seen; the answer may not be for the other one."""
    store = FakeStore()
    runner, timers = parts(store)
    for number, place in enumerate(("x:team/1", "x:desk"), start=1):
        await runner.handle(said(number, place, "review my paper"))
    whole = store.load

    async def load(conversation: str) -> Conversation | None:
        if conversation == "x:desk":
            raise NewerState("this conversation holds what this version can not read")
        return await whole(conversation)

    store.load = load  # type: ignore[method-assign]
    await runner.handle(said(4, "x:ana", "#1 1: B"))
    await timers.fire_due()
    assert answered(store) == []
    told = [plain(r.effect.message) for r in store.rows if r.conversation == "x:ana" and isinstance(r.effect, Say)]
    asked = "#1 may also be one in a place that I can't read now: please reply to the card of the one you mean."
    assert told == [f"{asked}\nNothing is recorded."]


async def test_on_a_real_database_the_chains_verify_and_the_log_folds(tmp_path: Path) -> None:
    """AU-2, RP-4: what was looked up is in the log, so that a replay needs nothing else."""
    store = await open_store(str(tmp_path / "a.db"))
    try:
        runner, timers = parts(store)
        await confirmed(runner)
    finally:
        await store.close()
    store = await open_store(str(tmp_path / "a.db"))  # killed after the yes
    try:
        runner, timers = parts(store)
        await timers.fire_due()
        assert await verify(store) == []
        for place in (*PLACES, "x:ana"):
            state = None
            async with store.snapshot() as rows:
                events = [row["event_id"] async for row in rows.events(place)]
            kinds = []
            for event_id in events:
                envelope = await store.event(event_id)
                assert envelope is not None
                kinds.append(type(envelope.event))
                state = step(state, envelope, book()).state
            assert state == await store.load(place)
            assert (Forwarded in kinds) == (place != "x:ana")
        outbox = Outbox(store, runner, {}, ManualClock())
        assert await outbox.drain() == 0  # nobody here speaks to that platform
    finally:
        await store.close()
