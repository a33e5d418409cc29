"""Updates that can not be handled: put aside after a few tries, so that nobody waits behind them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.telegram.intake import MOST_PARKED, PARKED
from bot.core.events import MessageReceived
from bot.ports import StoreUnavailable
from tests.adapters.telegram.talking import Talk, core
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Person, TelegramServer
from tests.fakes.telegram_rig import Rig, rig


@pytest.fixture(params=["polling", "webhook"])
async def made(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    server = TelegramServer(ManualClock(auto=True), privacy=False)
    async with rig(server, style=request.param, decide=core()) as built:
        yield built


@pytest.fixture
def ana(made: Rig) -> Person:
    return made.server.person("Ana", started=True)


def broken(made: Rig, word: str) -> Any:
    """The adapter fails on every message with that word, until it is mended."""
    real = made.intake._complete

    async def failing(envelope: Any, update: Any) -> Any:
        if isinstance(envelope.event, MessageReceived) and word in envelope.event.text:
            raise KeyError(word)
        return await real(envelope, update)

    made.intake._complete = failing
    return real


async def pushed(made: Rig) -> None:
    """As long as it takes: a failure ends a look, and a delivery is tried again."""
    for _ in range(6):
        with contextlib.suppress(KeyError):
            await made.settle()
        made.clock.advance(300)


async def test_b23_an_update_that_always_fails_is_put_aside(made: Rig, ana: Person) -> None:
    """Tried three times, kept whole with its reason; what waits behind it is handled."""
    talk = Talk(made)
    await talk.begin(ana)
    broken(made, "2: A")
    ana.say("2: A")
    ana.say("/status")
    ana.say("3: A")
    await pushed(made)
    assert talk.answers == {"access": "A"}
    assert "Open:" in "\n".join(talk.mine(ana.chat))
    [(key, kept)] = (await made.store.kept(PARKED)).items()
    assert json.loads(kept)["update"]["message"]["text"] == "2: A"
    assert "failed 3 times: KeyError" in json.loads(kept)["reason"]
    assert key.startswith(f"{PARKED}{made.me.id}:")


async def test_a_store_that_is_down_puts_nothing_aside(made: Rig, ana: Person) -> None:
    async def down() -> None:
        raise StoreUnavailable("restarting")

    ana.say("lit-review this")
    made.store.before["commit"].extend([down] * 10)
    for _ in range(10):
        with contextlib.suppress(StoreUnavailable):
            await made.hear()
        made.clock.advance(300)
    assert made.intake.parked == 0
    await made.settle()
    assert len(Talk(made).cards(ana.chat)) == 1


async def test_nothing_is_dropped_once_the_shelf_is_full(made: Rig, ana: Person) -> None:
    """More failures than are kept: they stay with Telegram, and are tried again and again."""
    made.intake.parked = MOST_PARKED
    real = broken(made, "2: A")
    talk = Talk(made)
    await talk.begin(ana)
    ana.say("2: A")
    await pushed(made)
    assert talk.answers == {}
    made.intake._complete = real
    await pushed(made)
    assert talk.answers == {"databases": "A"}


async def test_two_bots_on_one_store_do_not_mix_their_numbers(made: Rig) -> None:
    """b07: the same update id at both; dedupe, offsets and what is put aside are kept apart."""
    other = TelegramServer(made.clock, token="7000000009:BBOther-Token-0123456789abcdefghij", privacy=False)
    max_, ana = other.person("Max", started=True), made.server.person("Ana", started=True)
    other.updates.next_id = made.server.updates.next_id
    async with rig(other, made.store, style=made.style, decide=core()) as second:
        ana.say("/status")
        max_.say("/status")
        for one in (made, second):
            one.server.updates.malformed()
            await one.settle()
        assert len(Talk(made).mine(ana.chat)) == 1
        assert len([m for m in max_.chat.messages.values() if m.mine]) == 1
        assert len(await made.store.kept(PARKED)) == 2


async def test_our_own_mistake_is_answered_and_kept(made: Rig, ana: Person) -> None:
    """b23: the core fails on one message; the loop goes on and the next is answered."""
    talk = Talk(made)
    await talk.begin(ana)
    real = made.runner._decide

    def failing(state: Any, envelope: Any) -> Any:
        if getattr(envelope.event, "text", "") == "2: A":
            raise ZeroDivisionError
        return real(state, envelope)

    made.runner._decide = failing
    ana.say("2: A")
    ana.say("/status")
    await talk.settle()
    assert "Open:" in talk.mine(ana.chat)[-1]
    failed = next(c for c in talk.store.commits if (c.reason or "").startswith("our mistake"))
    made.runner._decide = real
    ana.say("2: B")
    await talk.settle()
    again = failed.envelope.model_copy(update={"event_id": f"{failed.envelope.event_id}:again:1", "again": True})
    for _ in range(2):
        await made.runner.handle(again)
    await talk.settle()
    assert talk.answers == {"databases": "B"}  # what was said since stands
    assert "stays B" in "\n".join(talk.mine(ana.chat))
