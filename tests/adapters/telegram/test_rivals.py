"""P27: somebody else has the token: said in the chat, tried again at growing pauses, over when they are gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from adapters.telegram.hook import LOOK_EVERY
from tests.adapters.telegram.talking import Talk, core
from tests.fakes.clock import ManualClock, until
from tests.fakes.telegram import TelegramServer
from tests.fakes.telegram_rig import HOOK, Rig, rig


@pytest.fixture
def server() -> TelegramServer:
    return TelegramServer(ManualClock(auto=True), privacy=False)


async def polled(made: Rig, *, pauses: int) -> None:
    """The loop until it has paused so often."""
    seen = 0
    real = made.clock.sleep

    async def counted(seconds: float) -> None:
        nonlocal seen
        seen += 1
        if seen == pauses:
            await asyncio.Event().wait()
        await real(seconds)

    made.clock.sleep = counted
    task = asyncio.ensure_future(made.polling.run())
    await until(lambda: seen >= pauses or task.done())
    made.clock.sleep = real
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("what", ["polls", "webhook"])
async def test_a_rival_is_told_in_status_while_it_is_there_and_for_a_while_after(
    server: TelegramServer, what: str
) -> None:
    ana = server.person("Ana", started=True)
    async with rig(server, decide=core()) as made:
        talk = Talk(made)
        if what == "polls":
            server.updates.rival = True
        else:
            server.faults.fail(
                409,
                "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete it first",
                method="getUpdates",
                times=3,
            )
        await polled(made, pauses=3)
        assert made.polling.state == "conflict"
        server.updates.rival = False
        server.faults.clear()
        ana.say("/status")
        await talk.settle()
        words = "polls Telegram with this bot's token" if what == "polls" else "A webhook is set"
        assert words in talk.mine(ana.chat)[-1]
        server.clock.advance(timedelta(minutes=11))
        ana.say("/status")
        await talk.settle()
        assert "⚠" not in talk.mine(ana.chat)[-1]
        [note] = [value for key, value in talk.store.notes.items() if "conflict" in key]
        assert words in note


async def test_the_pauses_grow_and_nothing_is_lost(server: TelegramServer) -> None:
    ana = server.person("Ana", started=True)
    async with rig(server, decide=core()) as made:
        server.updates.rival = True
        before = len(made.clock.slept)
        await polled(made, pauses=6)
        pauses = [s for s in made.clock.slept[before:] if s]
        assert pauses == sorted(pauses)
        assert pauses[-1] == 60
        server.updates.rival = False
        ana.say("lit-review this")
        talk = Talk(made)
        await talk.settle()
        assert len(talk.cards(ana.chat)) == 1


@pytest.fixture
async def hooked(server: TelegramServer) -> AsyncIterator[Rig]:
    async with rig(server, style="webhook", decide=core()) as made:
        await made.attendance.begin()
        await made.hook.look()
        made.hook.state = "set"
        yield made


@pytest.mark.parametrize("url", ["", "https://elsewhere.example/hook"])
async def test_a_webhook_taken_down_or_set_elsewhere_is_set_again(hooked: Rig, url: str) -> None:
    """A poller's start takes it down: without a look the bot would be deaf for good."""
    ana = hooked.server.person("Ana", started=True)
    hooked.clock.advance(2)
    if url:
        await hooked.bot.set_webhook(url)
    else:
        await hooked.bot.delete_webhook()
    hooked.clock.advance(timedelta(minutes=4))
    await hooked.hook.look()
    assert (await hooked.bot.get_webhook_info()).url == url  # not yet
    hooked.clock.advance(LOOK_EVERY)
    await hooked.hook.look()
    assert (await hooked.bot.get_webhook_info()).url == HOOK
    ana.say("/status")
    await hooked.settle()
    assert "set or removed by another program" in Talk(hooked).mine(ana.chat)[-1]


async def test_two_that_take_it_from_each_other_do_so_less_and_less(hooked: Rig) -> None:
    taken = 0
    for _ in range(60):
        hooked.clock.advance(LOOK_EVERY)
        if (await hooked.bot.get_webhook_info()).url == HOOK:
            taken += 1
            await hooked.bot.set_webhook("https://elsewhere.example/hook")
        hooked.clock.advance(2)
        await hooked.hook.look()
    assert 3 <= taken <= 10


async def test_the_watch_survives_what_goes_wrong(hooked: Rig) -> None:
    hooked.server.faults.fail(502, method="setWebhook", times=2)
    hooked.server.faults.fail(500, method="getWebhookInfo")
    hooked.hook.state = "setting"
    hooked.clock.advance(2)
    task = asyncio.ensure_future(hooked.hook.run())
    await until(lambda: hooked.hook.state == "set" and 60.0 in hooked.clock.slept)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
