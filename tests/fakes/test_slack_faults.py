"""Misbehaviour on request, as slack_sdk meets it."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from tests.fakes.clock import eventually
from tests.fakes.conftest import Acme


async def post(acme: Acme, text: str = "hi", channel: Any = None) -> Any:
    return await acme.client.chat_postMessage(channel=(channel or acme.triage).id, text=text)


def seen(acme: Acme) -> list[str]:
    return acme.server.what_people_see(acme.triage)


async def test_a_limit_names_the_seconds(acme: Acme) -> None:
    """P62."""
    acme.server.faults.limit(7, channel=acme.triage)
    await acme.client.chat_postMessage(channel=acme.ana.dm.id, text="elsewhere")
    with pytest.raises(SlackApiError) as caught:
        await post(acme)
    assert (caught.value.response.status_code, caught.value.response.headers["Retry-After"]) == (429, "7")
    assert caught.value.response["error"] == "ratelimited"
    await post(acme)
    assert seen(acme) == ["Askfirst> hi"]
    assert acme.server.refused == []


async def test_the_sdk_waits_as_long_as_it_is_told(acme: Acme) -> None:
    handler = AsyncRateLimitErrorRetryHandler(max_retry_count=1)
    client = AsyncWebClient(acme.server.token, base_url=acme.base_url, retry_handlers=[handler])
    acme.server.faults.limit(0)
    assert (await client.chat_postMessage(channel=acme.triage.id, text="hi"))["ok"]


async def test_errors_and_pages_of_a_proxy(acme: Acme) -> None:
    acme.server.faults.fail("fatal_error", method="chat.postMessage")
    acme.server.faults.broken(503, method="chat.postMessage")
    with pytest.raises(SlackApiError, match="fatal_error"):
        await post(acme)
    with pytest.raises(SlackApiError):
        await post(acme)
    await post(acme)
    assert seen(acme) == ["Askfirst> hi"]
    assert [(c.status, c.taken) for c in acme.server.called("chat.postMessage")] == [
        (200, False),
        (503, False),
        (200, True),
    ]


@pytest.mark.parametrize("taken", [False, True])
async def test_a_connection_that_is_lost(acme: Acme, taken: bool) -> None:
    acme.server.faults.lose(taken=taken)
    with pytest.raises(aiohttp.ClientError):
        await post(acme)
    assert seen(acme) == (["Askfirst> hi"] if taken else [])
    assert acme.server.calls[-1].status == 0


async def test_the_sdk_repeats_by_itself_what_was_lost(acme: Acme) -> None:
    """platform: one retry on connection errors, so that a post may be there twice."""
    client = AsyncWebClient(acme.server.token, base_url=acme.base_url)
    acme.server.faults.lose(taken=True)
    await client.chat_postMessage(channel=acme.triage.id, text="hi")
    assert seen(acme) == ["Askfirst> hi", "Askfirst> hi"]


@pytest.mark.parametrize("taken", [False, True])
async def test_an_answer_that_never_comes(acme: Acme, taken: bool) -> None:
    session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=0.1))
    client = AsyncWebClient(acme.server.token, base_url=acme.base_url, session=session, retry_handlers=[])
    acme.server.faults.lose(taken=taken, timeout=True)
    async with session:
        with pytest.raises(TimeoutError):
            await client.chat_postMessage(channel=acme.triage.id, text="hi")
    assert seen(acme) == (["Askfirst> hi"] if taken else [])


@pytest.mark.parametrize("taken", [False, True])
async def test_a_call_that_waits_at_a_gate(acme: Acme, taken: bool) -> None:
    gate = acme.server.faults.hold(taken=taken, channel=acme.triage)
    posting = asyncio.ensure_future(post(acme))
    await gate.reached()
    assert seen(acme) == (["Askfirst> hi"] if taken else [])
    gate.open()
    await posting
    assert seen(acme) == ["Askfirst> hi"]


async def test_an_answer_from_a_field_case(acme: Acme) -> None:
    """b40."""
    gone = {"ok": True, "user": {"id": "U0GONE001", "deleted": True}}
    acme.server.faults.answer(gone, method="users.info", user="U0GONE001")
    assert (await acme.client.users_info(user="U0GONE001"))["user"]["deleted"]
    assert (await acme.client.users_info(user=acme.ana.id))["user"]["name"] == "ana"
    told = acme.server.outgoing.raw({"type": "event_callback", "event": {"type": "user_change"}})
    assert (told.kind, acme.server.outgoing.raw({"command": "/x"}).kind) == ("events_api", "slash_commands")


async def test_an_answer_that_takes_its_time(acme: Acme) -> None:
    acme.server.faults.slow(20)
    posting = asyncio.ensure_future(post(acme))
    await eventually(lambda: acme.clock.sleeping)
    assert (seen(acme), posting.done()) == (["Askfirst> hi"], False)
    acme.clock.advance(20)
    await posting


async def test_a_response_url_that_fails(acme: Acme) -> None:
    made = acme.ana.command("/clarify", to=acme.triage)
    acme.server.faults.broken(500, method="response_url")
    hook = AsyncWebhookClient(made.payload["response_url"], retry_handlers=[])
    assert (await hook.send(text="x")).status_code == 500
    assert (await hook.send(text="x")).status_code == 200
