"""Long polling: nothing is confirmed before it is committed, nothing is asked for twice for ever."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from bot.core.events import MessageReceived
from bot.ports import StoreUnavailable
from tests.fakes.clock import ManualClock, until
from tests.fakes.store import FakeStore
from tests.fakes.telegram import TelegramServer
from tests.fakes.telegram_rig import Rig, rig


@pytest.fixture
def server() -> TelegramServer:
    return TelegramServer(ManualClock(auto=True), privacy=False)


@pytest.fixture
async def made(server: TelegramServer) -> AsyncIterator[Rig]:
    async with rig(server) as built:
        yield built


def heard(store: FakeStore) -> list[str]:
    events = [c.envelope.event for c in store.commits]
    return [event.text for event in events if isinstance(event, MessageReceived)]


async def away() -> None:
    raise StoreUnavailable("restarting")


async def fine() -> None: ...


async def test_the_offset_moves_after_the_commit(server: TelegramServer, made: Rig) -> None:
    """P28: what was not committed comes again, and the rest of its chat with it."""
    ana = server.person("Ana", started=True)
    first = ana.say("one")
    ana.say("two")
    ana.say("three")
    made.store.before["commit"].extend([fine, away])
    with pytest.raises(StoreUnavailable):
        await made.polling.look()
    assert made.polling.offset == first.update.id + 1
    assert heard(made.store) == ["one"]
    await made.hear()
    assert heard(made.store) == ["one", "two", "three"]


async def test_one_chats_trouble_does_not_hold_up_the_others(server: TelegramServer, made: Rig) -> None:
    ana, ben = server.person("Ana", started=True), server.person("Ben", started=True)
    ana.say("one")
    ben.say("two")
    made.store.before["commit"].append(away)
    with pytest.raises(StoreUnavailable):
        await made.polling.look()
    assert len(heard(made.store)) == 1
    await made.hear()
    assert sorted(heard(made.store)) == ["one", "two"]


async def test_killed_in_the_middle_and_started_again(server: TelegramServer) -> None:
    """The second process has the store of the first, and nothing else."""
    ana = server.person("Ana", started=True)
    for n in range(5):
        ana.say(str(n))
    async with rig(server) as first:
        store = first.store
        store.before["commit"].extend([fine, fine, away])
        with pytest.raises(StoreUnavailable):
            await first.polling.look()
    ana.say("5")
    async with rig(server, store) as second:
        await second.settle()
    assert heard(store) == [str(n) for n in range(6)]
    assert len([m for m in ana.chat.messages.values() if m.mine]) == 6


async def test_a_restart_goes_on_where_the_last_run_stopped(server: TelegramServer, made: Rig) -> None:
    server.person("Ana", started=True).say("one")
    await made.hear()
    async with rig(server, made.store) as second:
        assert second.polling.offset == made.polling.offset
        await second.polling.look()
    assert server.history.of("getUpdates")[-1].params["offset"] == made.polling.offset
    assert len(made.store.commits) == 1


async def test_an_offset_of_long_ago_is_not_used(server: TelegramServer, made: Rig) -> None:
    """After a week without updates the next id is a random one; an old offset would hide it. P29: the gap is said."""
    server.person("Ana", started=True).say("one")
    await made.hear()
    made.clock.advance(timedelta(days=8))
    server.updates.next_id = 17
    server.people[next(iter(server.people))].say("two")
    async with rig(server, made.store) as second:
        assert (second.polling.offset, second.attendance.away) == (None, timedelta(days=8))
        await second.hear()
    assert heard(made.store) == ["one", "two"]


async def test_an_unreadable_update_is_parked_and_nobody_waits_behind_it(server: TelegramServer, made: Rig) -> None:
    """b23: one batch of five; the next call asks from behind it."""
    ana = server.person("Ana", started=True)
    ana.say("1: B")
    bad = server.updates.malformed({"message": {"message_id": 22, "chat": 5, "date": "soon", "text": ["2: A"]}})
    server.updates.malformed({"hologram_message": {"projector": "x"}})
    last = ana.say("3: C")
    await made.polling.look()
    assert heard(made.store) == ["1: B", "3: C"]
    assert made.polling.offset == last.update.id + 1
    [(key, kept)] = (await made.store.kept("telegram:parked:")).items()
    assert key.endswith(str(bad.id))
    assert json.loads(kept)["update"]["message"]["text"] == ["2: A"]
    assert "unreadable" in json.loads(kept)["reason"]
    assert (made.intake.parked, made.intake.ignored) == (1, 1)


async def test_updates_of_no_shape_at_all_are_parked(made: Rig) -> None:
    for raw in (None, [], "null", 7, {"update_id": "x"}):
        await made.intake.take(raw)
    assert made.intake.parked == 5
    assert made.store.commits == []


async def test_the_order_of_a_chat_is_kept_and_chats_go_side_by_side(server: TelegramServer, made: Rig) -> None:
    people = [server.person(f"P{n}", started=True) for n in range(4)]
    for n in range(8):
        for person in people:
            person.say(str(n))
    await made.hear()
    for person in people:
        place = f"telegram:{person.id}"
        texts = [c.envelope.event.text for c in made.store.commits if c.envelope.place.conversation == place]
        assert texts == [str(n) for n in range(8)]


# -- the loop ------------------------------------------------------------------------------------------------------


async def running(made: Rig, *, times: int) -> None:
    """The loop until it has paused so often."""
    pauses = 0
    task = asyncio.ensure_future(made.polling.run())
    real = made.clock.sleep

    async def counted(seconds: float) -> None:
        nonlocal pauses
        pauses += 1
        if pauses == times:
            await asyncio.Event().wait()
        await real(seconds)

    made.clock.sleep = counted
    await until(lambda: pauses >= times or task.done())
    made.clock.sleep = real
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_second_poller_is_noticed_and_the_loop_goes_on(server: TelegramServer, made: Rig) -> None:
    """P27: backs off, says so, and is back when the other has gone."""
    server.updates.rival = True
    before = len(made.clock.slept)
    await running(made, times=4)
    assert made.polling.state == "conflict"
    assert made.clock.slept[before:] == sorted(made.clock.slept[before:])
    assert made.clock.slept[before] >= 5
    server.updates.rival = False
    server.person("Ana", started=True).say("one")
    task = asyncio.ensure_future(made.polling.run())
    await until(lambda: made.polling.state == "polling")
    assert heard(made.store) == ["one"]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(("code", "state"), [(502, "unreachable"), (500, "unreachable"), (401, "token refused")])
async def test_the_loop_survives_what_telegram_answers(
    server: TelegramServer, made: Rig, code: int, state: str
) -> None:
    server.faults.fail(code, method="getUpdates", times=3)
    await running(made, times=2)
    assert made.polling.state == state
    assert len(server.history.of("getUpdates")) == 2


async def test_a_lost_connection_and_a_flood_are_waited_out(server: TelegramServer, made: Rig) -> None:
    server.person("Ana", started=True).say("one")
    server.faults.lose(method="getUpdates", taken=True)
    server.faults.limit(9, method="getUpdates")
    task = asyncio.ensure_future(made.polling.run())
    await until(lambda: heard(made.store))
    assert 9 * 1.0 in made.clock.slept
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_webhook_left_behind_is_taken_down_before_polling(server: TelegramServer) -> None:
    """Otherwise getUpdates is a conflict for ever. What waits is kept."""
    ana = server.person("Ana", started=True)
    ana.say("one")
    async with rig(server, style="webhook"):
        pass
    async with rig(server) as polling:
        await polling.hear()
        assert heard(polling.store) == ["one"]
