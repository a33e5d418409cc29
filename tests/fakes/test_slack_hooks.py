"""Signed HTTP and a bare Bolt app: signatures, retries, the two forms, and a whole round on either transport."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator
from time import time
from typing import Any

import pytest
from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.fakes.clock import eventually
from tests.fakes.conftest import Acme
from tests.fakes.slack import SlackServer, modal


class Plain:
    """An address that writes down what comes and answers what it is told."""

    def __init__(self, acme: Acme) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[Response] = []
        self.gate = asyncio.Event()
        self.gate.set()
        acme.server.hooks.answer_with(Starlette(routes=[Route("/slack/events", self._hear, methods=["POST"])]))

    async def _hear(self, request: Request) -> Response:
        self.got.append((dict(request.headers), await request.body()))
        await self.gate.wait()
        return self.answers.pop(0) if self.answers else Response()

    def retries(self) -> list[tuple[str | None, str | None]]:
        return [(h.get("x-slack-retry-num"), h.get("x-slack-retry-reason")) for h, _ in self.got]


async def test_errors_are_tried_again_with_their_reason(acme: Acme) -> None:
    app = Plain(acme)
    app.answers = [Response(status_code=500), Response(status_code=302), Response(status_code=404)]
    acme.ana.say("hello", acme.triage)
    for wait in (0, 0, 60, 300):
        acme.clock.advance(wait)
        await acme.server.deliver()
    assert app.retries() == [(None, None), ("1", "http_error"), ("2", "too_many_redirects"), ("3", "http_error")]
    (told,) = acme.server.outgoing.log
    assert told.state == "acknowledged"
    assert len({json.loads(body)["event_id"] for _, body in app.got}) == 1


async def test_an_app_can_ask_for_no_retry(acme: Acme) -> None:
    app = Plain(acme)
    app.answers = [Response(status_code=500, headers={"x-slack-no-retry": "1"})]
    acme.ana.say("hello", acme.triage)
    (told,) = await acme.server.deliver(retry=True)
    assert (told.state, len(app.got)) == ("lost", 1)


async def test_three_seconds_of_the_clock_are_too_long(acme: Acme) -> None:
    app = Plain(acme)
    app.gate.clear()
    acme.ana.say("hello", acme.triage)
    delivering = asyncio.ensure_future(acme.server.deliver())
    await eventually(lambda: app.got and acme.clock.sleeping)
    acme.clock.advance(3)
    await delivering
    app.gate.set()
    await acme.server.deliver()
    assert app.retries() == [(None, None), ("1", "http_timeout")]


async def test_interactivity_and_commands_come_as_forms(acme: Acme) -> None:
    app = Plain(acme)
    app.answers = [Response("on it", media_type="text/plain")]
    acme.ana.command("/clarify", "R&D <x>", acme.triage)
    await acme.server.deliver()
    acme.server.app.shortcuts["ask"] = "global"
    acme.ana.shortcut("ask")
    await acme.server.deliver()
    assert [h["content-type"] for h, _ in app.got] == ["application/x-www-form-urlencoded"] * 2
    assert b"command=%2Fclarify&text=R%26D+%3Cx%3E" in app.got[0][1]
    assert app.got[1][1].startswith(b"payload=%7B%22type%22%3A+%22shortcut%22")
    assert acme.ana.sees(acme.triage) == ["Askfirst (only to you)> on it"]


# -- a bare Bolt app ----------------------------------------------------------------------------------------------


def bolt(acme: Acme) -> tuple[AsyncApp, list[dict[str, Any]]]:
    """Offers a card on a mention, a form on a press, and says what was chosen."""
    server = acme.server

    async def authorize(**_: Any) -> AuthorizeResult:
        me = server.me
        return AuthorizeResult(
            enterprise_id=None, team_id=me.team.id, bot_token=me.token, bot_id=me.bot_id, bot_user_id=me.bot.id
        )

    client = AsyncWebClient(base_url=acme.base_url)
    app = AsyncApp(signing_secret=server.app.signing_secret, authorize=authorize, client=client)
    heard: list[dict[str, Any]] = []

    @app.event("app_mention")
    async def mentioned(event: dict[str, Any], say: Any) -> None:
        options = [{"text": {"type": "plain_text", "text": t}, "value": t} for t in ("SQLite", "Postgres")]
        radio = {"type": "radio_buttons", "action_id": "r", "options": options}
        form = {"type": "button", "action_id": "form", "text": {"type": "plain_text", "text": "Answer in a form"}}
        blocks = [
            {"type": "section", "text": {"type": "mrkdwn", "text": "*Storage*"}},
            {"type": "actions", "block_id": "q1", "elements": [radio, form]},
        ]
        await say(text="Storage?", blocks=blocks, thread_ts=event["ts"])

    @app.action("r")
    async def chosen(ack: Any, body: dict[str, Any], respond: Any) -> None:
        await ack()
        heard.append(body)
        said = body["actions"][0]["selected_option"]["value"]
        await respond(text=f"Chosen: {said}", replace_original=True)

    @app.action("form")
    async def form_asked(ack: Any, body: dict[str, Any], client: Any) -> None:
        field = {"type": "plain_text_input", "action_id": "t"}
        label = {"type": "plain_text", "text": "Why?"}
        view = {
            "type": "modal",
            "callback_id": "form",
            "title": {"type": "plain_text", "text": "Answers"},
            "submit": {"type": "plain_text", "text": "Send"},
            "blocks": [{"type": "input", "block_id": "why", "label": label, "element": field}],
        }
        await client.views_open(trigger_id=body["trigger_id"], view=view)
        await ack()

    @app.view("form")
    async def sent(ack: Any, view: dict[str, Any]) -> None:
        heard.append(view["state"]["values"])
        if view["state"]["values"]["why"]["t"]["value"] == "no":
            await ack(response_action="errors", errors={"why": "A reason, please."})
        else:
            await ack()

    @app.command("/clarify")
    async def asked(ack: Any, command: dict[str, Any]) -> None:
        heard.append(command)
        await ack("on it")

    @app.event(re.compile(".*"))
    async def other(event: dict[str, Any]) -> None:
        heard.append(event)

    return app, heard


@pytest.fixture(params=["socket", "http"])
async def heard(request: pytest.FixtureRequest, acme: Acme) -> AsyncIterator[list[dict[str, Any]]]:
    app, heard = bolt(acme)
    async with contextlib.AsyncExitStack() as stack:
        if request.param == "socket":
            web = AsyncWebClient(base_url=acme.base_url)
            handler = AsyncSocketModeHandler(app, acme.server.app.app_token, web_client=web, ping_interval=0.2)
            await handler.connect_async()
            stack.push_async_callback(handler.close_async)
            await acme.server.sockets.connected()
        else:
            handle = AsyncSlackRequestHandler(app).handle
            acme.server.hooks.answer_with(Starlette(routes=[Route("/slack/events", handle, methods=["POST"])]))
        yield heard


async def test_a_whole_round_with_bolt(acme: Acme, heard: list[dict[str, Any]]) -> None:
    ana, server = acme.ana, acme.server
    root = ana.say("@askfirst which database?", acme.triage)
    await server.deliver()
    await eventually(lambda: root.replies)
    assert ana.sees(thread=root)[1:] == [
        "Askfirst> Storage",
        "    ( ) SQLite",
        "    ( ) Postgres",
        "    [ Answer in a form ]",
    ]
    ana.press("Answer in a form")
    await server.deliver()
    assert modal(server, ana.modal) == ["== Answers ==", "Why?", "[  ]", "[ Send ]"]
    ana.type_in("no")
    sent = ana.submit()
    await server.deliver()
    assert (sent.errors, sent.trouble) == ({"why": "A reason, please."}, "")
    ana.type_in("it is small")
    ana.submit()
    await server.deliver()
    assert ana.modals == []
    assert heard[-1]["why"]["t"]["value"] == "it is small"
    ana.choose("Postgres")
    await server.deliver()
    await eventually(lambda: server.what_people_see(acme.triage, root)[1:] == ["Askfirst> Chosen: Postgres (edited)"])
    assert (server.refused, server.broadcasts, server.silent, server.sloppy, server.strays) == ([], [], [], [], [])


async def test_a_command_with_bolt(acme: Acme, heard: list[dict[str, Any]]) -> None:
    made = acme.ana.command("/clarify", "the report", acme.triage)
    await acme.server.deliver()
    assert made.trouble == ""
    assert (heard[0]["text"], heard[0]["channel_name"], heard[0]["user_id"]) == ("the report", "triage", acme.ana.id)
    assert acme.ana.sees(acme.triage) == ["Askfirst (only to you)> on it"]


async def test_a_press_that_nobody_answers_shows_trouble(acme: Acme, heard: list[dict[str, Any]]) -> None:
    button = {"type": "button", "action_id": "unheard-of", "text": {"type": "plain_text", "text": "Go"}}
    blocks = [{"type": "actions", "elements": [button]}]
    await acme.client.chat_postMessage(channel=acme.triage.id, text="t", blocks=blocks)
    made = acme.ana.press("Go")
    assert made is not None
    acme.server.sockets.patience = 0.2  # over a socket Bolt then answers nothing at all
    await acme.server.deliver(made.delivery)
    assert made.trouble


async def test_bolt_believes_the_signature_and_only_the_right_one(acme: Acme) -> None:
    app, heard = bolt(acme)
    hooks = acme.server.hooks
    handle = AsyncSlackRequestHandler(app).handle
    hooks.answer_with(Starlette(routes=[Route("/slack/events", handle, methods=["POST"])]))
    assert await hooks.verify_url()
    assert await hooks.check_ssl() == 200
    told = acme.server.message_event(acme.triage, acme.ana.say("hello", acme.triage).json())
    assert told is not None
    body, kind = hooks.body(told)
    hooks.secret = "another"
    assert (await hooks.post(body, hooks.signed(body, kind))).status_code == 401
    hooks.secret, hooks.signed_at = None, lambda: time() - 600
    assert (await hooks.post(body, hooks.signed(body, kind))).status_code == 401
    assert heard == []
    hooks.signed_at = time
    assert (await hooks.post(body, hooks.signed(body, kind))).status_code == 200
    await eventually(lambda: heard)


async def test_beside_a_program_on_the_real_clock() -> None:
    """As for the installed command: an address on a port, deliveries by themselves, an answer that comes at once."""
    got: list[bytes] = []

    async def hear(request: web.Request) -> web.Response:
        got.append(await request.read())
        return web.Response(status=500 if len(got) == 1 else 200)

    runner = web.AppRunner(application := web.Application(), access_log=None, shutdown_timeout=0.1)
    application.router.add_post("/slack/events", hear)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server = SlackServer()
    try:
        async with server.serve():
            server.hooks.url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
            running = asyncio.ensure_future(server.outgoing.run())
            server.person("Ana").say("hello")
            await eventually(lambda: [d.state for d in server.outgoing.log] == ["acknowledged"])
            running.cancel()
    finally:
        await runner.cleanup()
    assert got[0] == got[1]
