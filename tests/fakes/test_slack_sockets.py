"""Socket Mode, with slack_sdk's own client: envelopes, acknowledgements, retries, frames that say goodbye."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.clock import ManualClock, eventually
from tests.fakes.conftest import Acme


class Listener:
    """An app that writes down what comes, and acknowledges unless told otherwise."""

    def __init__(self, acme: Acme) -> None:
        self.got: list[SocketModeRequest] = []
        self.payload: dict[str, Any] | None = None
        self.answers = True
        web = AsyncWebClient(base_url=acme.base_url)
        self.client = SocketModeClient(acme.server.app.app_token, web_client=web, ping_interval=0.05)
        self.client.socket_mode_request_listeners.append(self._hear)

    async def _hear(self, client: Any, request: SocketModeRequest) -> None:
        self.got.append(request)
        if self.answers:
            await self.acknowledge(request)

    async def acknowledge(self, request: SocketModeRequest) -> None:
        await self.client.send_socket_mode_response(SocketModeResponse(request.envelope_id, self.payload))

    def texts(self) -> list[str]:
        return [r.payload["event"]["text"] for r in self.got]


@contextlib.asynccontextmanager
async def listening(acme: Acme) -> AsyncIterator[Listener]:
    made = Listener(acme)
    before = len(acme.server.sockets.connections)
    try:
        await made.client.connect()
        await acme.server.sockets.connected(before + 1)
        yield made
    finally:
        await made.client.close()


@pytest.fixture
async def app(acme: Acme) -> AsyncIterator[Listener]:
    async with listening(acme) as made:
        yield made


async def test_an_event_goes_out_and_is_acknowledged(acme: Acme, app: Listener) -> None:
    acme.ana.say("hello", acme.triage)
    (told,) = await acme.server.deliver()
    assert told.state == "acknowledged"
    (request,) = app.got
    assert (request.type, request.retry_attempt, request.retry_reason) == ("events_api", 0, "")
    assert not request.accepts_response_payload
    body = request.payload
    assert (body["type"], body["team_id"], body["api_app_id"]) == ("event_callback", "T0AAAAAA1", "A0APP0001")
    assert body["authorizations"][0]["user_id"] == acme.server.me.bot.id
    event = body["event"]
    assert (event["channel"], event["channel_type"], event["user"]) == (acme.triage.id, "channel", acme.ana.id)
    assert event["ts"] == event["event_ts"]


async def test_without_an_acknowledgement_it_comes_again_with_the_same_id(acme: Acme, app: Listener) -> None:
    """P54, P55: within 3 s; else at once, after one minute and after five."""
    app.answers = False
    acme.ana.say("hello", acme.triage)
    for wait in (0, 0, 60, 300):
        acme.clock.advance(wait)
        delivering = asyncio.ensure_future(acme.server.deliver())
        await eventually(lambda: acme.clock.sleeping == 1 and app.client.message_queue.empty())
        acme.clock.advance(3)
        (told,) = await delivering
    assert told.state == "lost"
    assert [r.retry_attempt for r in app.got] == [0, 1, 2, 3]
    assert [r.retry_reason for r in app.got] == ["", "timeout", "timeout", "timeout"]
    assert len({r.payload["event_id"] for r in app.got}) == 1
    assert len({r.envelope_id for r in app.got}) == 4
    assert not acme.server.outgoing.due


async def test_a_retry_waits_for_its_time(acme: Acme) -> None:
    """No socket is open: at once and at once again, then after a minute."""
    acme.ana.say("hello", acme.triage)
    await acme.server.deliver(retry=True)
    (told,) = acme.server.outgoing.log
    assert [t.reason for t in told.tries] == ["connection_failed", "connection_failed"]
    async with listening(acme) as app:
        assert await acme.server.deliver() == []
        acme.clock.advance(60)
        await acme.server.deliver()
        assert (app.texts(), app.got[0].retry_attempt) == (["hello"], 2)


async def test_what_people_press_is_lost_while_no_socket_is_open(acme: Acme) -> None:
    """platform: interactive payloads in the gap are lost; the person sees a warning."""
    made = acme.ana.command("/clarify", "a bug", acme.triage)
    await acme.server.deliver()
    assert made.delivery.state == "lost"
    assert "failed" in made.trouble
    acme.clock.advance(600)
    assert not acme.server.outgoing.due


async def test_an_acknowledgement_can_have_a_payload_unless_it_is_of_an_event(acme: Acme, app: Listener) -> None:
    app.payload = {"text": "on it"}
    made = acme.ana.command("/clarify", "a bug", acme.triage)
    await acme.server.deliver()
    assert app.got[0].accepts_response_payload
    assert (made.answer, acme.ana.sees(acme.triage)) == ({"text": "on it"}, ["Askfirst (only to you)> on it"])
    acme.ana.say("hello", acme.triage)
    await acme.server.deliver()
    assert "has a payload" in acme.server.complaints.pop()


async def test_duplicates_and_the_wrong_order(acme: Acme, app: Listener) -> None:
    """P56, P57: the same event again is called a retry; app_mention has an event_id of its own."""
    acme.server.outgoing.duplicate = 1
    acme.ana.say("one", acme.triage)
    await acme.server.deliver()
    assert [r.retry_attempt for r in app.got] == [0, 1]
    assert len({r.payload["event_id"] for r in app.got}) == 1
    app.got.clear()
    acme.ana.say("@askfirst two", acme.triage)
    acme.server.outgoing.reverse()
    await acme.server.deliver()
    assert [r.payload["event"]["type"] for r in app.got] == ["app_mention", "message"]
    assert len({r.payload["event_id"] for r in app.got}) == 2
    assert len({r.payload["event"]["ts"] for r in app.got}) == 1


async def test_some_sites_send_the_mention_alone(acme: Acme, app: Listener) -> None:
    """P57: Enterprise Grid."""
    acme.server.mention_only = True
    acme.ana.say("@askfirst two", acme.triage)
    await acme.server.deliver()
    assert [r.payload["event"]["type"] for r in app.got] == ["app_mention"]


async def test_each_event_goes_to_one_of_several_connections(acme: Acme, app: Listener) -> None:
    """P59."""
    async with listening(acme) as other:
        for n in range(4):
            acme.ana.say(str(n), acme.triage)
        await acme.server.deliver(together=True)
        assert sorted(app.texts() + other.texts()) == ["0", "1", "2", "3"]
        assert len(app.got) == len(other.got) == 2


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_after_a_disconnect_frame_the_client_comes_again(acme: Acme, app: Listener, reason: str) -> None:
    await acme.server.sockets.recycle(reason=reason)
    await eventually(lambda: acme.server.sockets.opened == 2 and len(acme.server.sockets.connections) == 1)
    acme.ana.say("hello", acme.triage)
    await acme.server.deliver()
    assert app.texts() == ["hello"]


async def test_a_connection_that_drops_before_the_acknowledgement(acme: Acme, app: Listener) -> None:
    """The app may have it, Slack does not know: it comes again."""
    app.answers = False
    acme.server.sockets.drop_next = "after"
    acme.ana.say("hello", acme.triage)
    (told,) = await acme.server.deliver()
    assert told.tries[0].reason == "connection_failed"
    await eventually(lambda: acme.server.sockets.opened == 2)
    app.answers = True
    await acme.server.deliver()
    assert [r.retry_attempt for r in app.got] == [0, 1]
    assert told.state == "acknowledged"


async def test_a_connection_that_drops_before_the_envelope(acme: Acme, app: Listener) -> None:
    acme.server.sockets.drop_next = "before"
    acme.ana.say("hello", acme.triage)
    await acme.server.deliver()
    assert app.got == []
    await eventually(lambda: acme.server.sockets.opened == 2)
    await acme.server.deliver()
    assert [r.retry_reason for r in app.got] == ["connection_failed"]


async def test_a_socket_that_looks_connected_but_is_dead(acme: Acme, app: Listener) -> None:
    """P58: no frame comes any more, no pong either; what Slack sends there is not acknowledged."""
    (dead,) = acme.server.sockets.connections
    dead.frozen = True
    acme.ana.say("hello", acme.triage)
    delivering = asyncio.ensure_future(acme.server.deliver())
    await eventually(lambda: acme.clock.sleeping == 1)
    acme.clock.advance(3)
    (told,) = await delivering
    assert (told.tries[0].reason, app.got) == ("timeout", [])
    await acme.server.sockets.ping()
    acme.server.sockets.drop(dead)


async def test_a_dead_socket_answers_no_ping(acme: Acme) -> None:
    """P58: what a watchdog has to go by."""
    url = (await acme.client.apps_connections_open(app_token=acme.server.app.app_token))["url"]
    async with aiohttp.ClientSession() as session, session.ws_connect(url, autoping=False) as line:
        await line.receive()
        (there,) = acme.server.sockets.connections
        there.frozen = True
        await line.ping(b"one")
        await line.send_str("unheard")
        await eventually(lambda: there.unheard == 2)
        there.frozen = False
        await line.ping(b"two")
        answer = await line.receive()
        assert (answer.type, bytes(answer.data)) == (aiohttp.WSMsgType.PONG, b"two")


async def test_an_acknowledgement_that_comes_late_changes_nothing(acme: Acme, app: Listener) -> None:
    app.answers = False
    acme.ana.say("hello", acme.triage)
    delivering = asyncio.ensure_future(acme.server.deliver())
    await eventually(lambda: app.got and acme.clock.sleeping == 1)
    acme.clock.advance(3)
    (told,) = await delivering
    await app.acknowledge(app.got[0])
    await eventually(lambda: acme.server.sockets.late)
    assert told.state == "waiting"


async def test_addresses_work_once_and_ten_connections_are_the_most(acme: Acme) -> None:
    web = AsyncWebClient(base_url=acme.base_url)
    token = acme.server.app.app_token
    async with aiohttp.ClientSession() as session, contextlib.AsyncExitStack() as stack:
        url = (await web.apps_connections_open(app_token=token))["url"]
        first = await stack.enter_async_context(session.ws_connect(url))
        hello = await first.receive_json()
        assert (hello["type"], hello["num_connections"]) == ("hello", 1)
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)
        for _ in range(9):
            more = (await web.apps_connections_open(app_token=token))["url"]
            await stack.enter_async_context(session.ws_connect(more))
        more = (await web.apps_connections_open(app_token=token))["url"]
        last = await stack.enter_async_context(session.ws_connect(more))
        assert (await last.receive_json())["reason"] == "too_many_websockets"
        await first.send_str("hello?")
        await eventually(lambda: acme.server.complaints)
        assert "not an acknowledgement" in acme.server.complaints.pop()
    acme.server.app.app_scopes.clear()
    with pytest.raises(SlackApiError, match="missing_scope"):
        await web.apps_connections_open(app_token=token)


async def test_run_delivers_as_things_happen(acme: Acme, app: Listener) -> None:
    running = asyncio.ensure_future(acme.server.outgoing.run())
    try:
        acme.ana.say("one", acme.triage)
        await eventually(lambda: app.texts() == ["one"])
        app.answers = False
        acme.ana.say("two", acme.triage)
        await eventually(lambda: len(app.got) == 2 and acme.clock.sleeping >= 1)
        app.answers = True
        acme.clock.advance(3)
        await eventually(lambda: [d.state for d in acme.server.outgoing.log] == ["acknowledged"] * 2)
        assert app.texts() == ["one", "two", "two"]
    finally:
        running.cancel()


async def test_a_clock_that_moves_by_itself_never_times_out(acme: Acme) -> None:
    acme.server.clock = acme.server.outgoing.clock = ManualClock(auto=True)
    async with listening(acme) as app:
        acme.ana.say("hello", acme.triage)
        (told,) = await acme.server.deliver()
        assert (told.state, app.texts()) == ("acknowledged", ["hello"])
