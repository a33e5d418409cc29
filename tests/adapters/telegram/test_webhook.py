"""The webhook: only Telegram gets in, and 200 follows the commit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from adapters.telegram import webhook
from adapters.telegram.webhook import MAX_BODY, webhook_route
from bot.core.events import ButtonPressed, MessageReceived
from bot.ports import StoreUnavailable
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import TelegramServer
from tests.fakes.telegram_rig import HOOK, SECRET, Rig, rig

HEADER = "X-Telegram-Bot-Api-Secret-Token"


@pytest.fixture
async def made() -> AsyncIterator[Rig]:
    server = TelegramServer(ManualClock(auto=True), privacy=False)
    async with rig(server, style="webhook") as built:
        yield built


@pytest.fixture
async def client(made: Rig) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(made.app, raise_app_exceptions=False)) as client:
        yield client


def update(made: Rig, text: str = "1: C") -> Any:
    return made.server.person("Ana", started=True).say(text).update


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(HEADER, "wrong")],
        [(HEADER, "")],
        [(HEADER, SECRET.upper())],
        [(HEADER, SECRET), (HEADER, SECRET)],
        [(HEADER, SECRET), (HEADER, "wrong")],
        [(HEADER, SECRET + "x")],
    ],
)
async def test_without_the_exact_secret_nothing_gets_in(made: Rig, client: httpx.AsyncClient, headers: Any) -> None:
    """b44: no row, and nothing that would swallow the real update with the same id later."""
    real = update(made)
    answer = await client.post(HOOK, json=real.json(), headers=headers)
    assert answer.status_code == 401
    assert (made.store.commits, made.store.notes, made.store.events) == ([], {}, set())
    [attempt] = await made.server.webhook.deliver(real)
    assert attempt.status == 200
    assert len(made.store.commits) == 1


async def test_a_body_that_is_too_large_is_refused_whether_or_not_it_says_so(
    made: Rig, client: httpx.AsyncClient
) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(4):
            yield b"x" * MAX_BODY

    secret = {HEADER: SECRET}
    assert (await client.post(HOOK, content=b"x" * (MAX_BODY + 1), headers=secret)).status_code == 413
    assert (await client.post(HOOK, content=chunks(), headers=secret)).status_code == 413
    assert (await client.post(HOOK, content=b"x" * 3_000_000)).status_code == 401
    assert made.store.notes == {}


@pytest.mark.parametrize(
    "body", [b"null", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b'{"update_id": 1, "message": 5}']
)
async def test_a_body_that_can_not_be_read_is_parked_and_confirmed(
    made: Rig, client: httpx.AsyncClient, body: bytes
) -> None:
    """The secret was right, so the sender may be Telegram: a 4xx would bring it back again and again."""
    assert (await client.post(HOOK, content=body, headers={HEADER: SECRET})).status_code == 200
    assert made.intake.parked == 1


async def test_other_methods_are_not_for_us(client: httpx.AsyncClient) -> None:
    assert (await client.get(HOOK)).status_code == 405


async def test_a_route_without_a_secret_can_not_be_made(made: Rig) -> None:
    with pytest.raises(ValueError, match="secret"):
        webhook_route(made.intake, "")


async def test_what_was_not_committed_is_delivered_again(made: Rig) -> None:
    async def away() -> None:
        raise StoreUnavailable("restarting")

    update(made)
    made.store.before["commit"].append(away)
    [attempt] = await made.server.webhook.deliver()
    assert attempt.status == 503
    made.clock.advance(5)
    await made.server.webhook.deliver()
    assert [c.envelope.event.text for c in made.store.commits] == ["1: C"]


async def test_the_answer_waits_for_the_commit(made: Rig) -> None:
    gate, reached = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        reached.set()
        await gate.wait()

    real = update(made)
    made.store.before["commit"].append(slow)
    delivery = asyncio.ensure_future(made.server.webhook.deliver(real))
    await reached.wait()
    assert not delivery.done()
    gate.set()
    [attempt] = await delivery
    assert attempt.status == 200


async def test_a_store_that_hangs_is_not_waited_for_for_ever(made: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused, so that it comes again; what was begun is written to its end all the same, and once."""
    monkeypatch.setattr(webhook, "PATIENCE", 0.01)
    gate = asyncio.Event()
    real = update(made)
    made.store.before["commit"].append(gate.wait)
    [attempt] = await made.server.webhook.deliver(real)
    assert attempt.status == 503
    gate.set()
    await made.runner.finish()
    made.clock.advance(5)
    await made.server.webhook.deliver()
    assert len(made.store.commits) == 1
    assert made.intake.parked == 0


async def test_the_answer_does_not_wait_for_telegram(made: Rig) -> None:
    """A press is confirmed while its notice is still on the way: Telegram would deliver it again otherwise."""
    ana = made.server.person("Ana", started=True)
    ana.say("card")
    await made.hear()
    await made.outbox.drain()
    gate = made.server.faults.hold(method="answerCallbackQuery")
    query = ana.press("A first")
    [attempt] = await made.server.webhook.deliver(query)
    assert attempt.status == 200
    await gate.reached()
    gate.open()
    await made.intake.finish()
    assert query.answer == "noted, Ana"


@pytest.mark.parametrize("first", ["press", "message"])
async def test_a_press_and_a_message_may_overtake_each_other(made: Rig, first: str) -> None:
    """Deliveries are queued per chat for messages and per person for presses: both orders are taken."""
    ana = made.server.person("Ana", started=True)
    ana.say("card")
    await made.hear()
    await made.outbox.drain()
    said, query = ana.say("words"), ana.press("A first")
    order = [query, said] if first == "press" else [said, query]
    await made.server.webhook.deliver(*order)
    kinds = [type(c.envelope.event) for c in made.store.commits[-2:]]
    assert kinds == ([ButtonPressed, MessageReceived] if first == "press" else [MessageReceived, ButtonPressed])


async def test_a_redelivery_changes_nothing(made: Rig) -> None:
    """P25."""
    real = update(made)
    for _ in range(3):
        [attempt] = await made.server.webhook.deliver(real)
        assert attempt.status == 200
    assert len(made.store.commits) == 1
