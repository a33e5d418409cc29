"""Presses, choices, modals, shortcuts, commands, response addresses: what people can do, and what they see."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook.async_client import AsyncWebhookClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.fakes.conftest import Acme
from tests.fakes.slack import ClientRefused, Interaction, Message

Json = dict[str, Any]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def options(*texts: str) -> list[Json]:
    return [{"text": plain(text), "value": text.lower()} for text in texts]


CARD: list[Json] = [
    {"type": "header", "text": plain("Round 1")},
    {"type": "section", "block_id": "q1", "text": {"type": "mrkdwn", "text": "*Storage* &amp; size"},
     "accessory": {"type": "static_select", "action_id": "pick", "placeholder": plain("Pick"),
                   "options": options("SQLite", "Postgres")}},
    {"type": "actions", "block_id": "q2", "elements": [
        {"type": "radio_buttons", "action_id": "who", "options": options("Ana", "All"),
         "initial_option": options("All")[0]},
        {"type": "button", "action_id": "form", "text": plain("Answer in a form"), "value": "r1"}]},
    {"type": "input", "block_id": "note", "optional": True, "label": plain("Note"),
     "element": {"type": "plain_text_input", "action_id": "t", "max_length": 5}},
    {"type": "context", "elements": [{"type": "mrkdwn", "text": "_one line_"}]},
]  # fmt: skip

FORM: Json = {
    "type": "modal", "callback_id": "form",
    "title": plain("Answers"), "submit": plain("Send"), "close": plain("Later"),
    "private_metadata": "r1", "notify_on_close": True,
    "blocks": [
        {"type": "input", "block_id": "why", "label": plain("Why?"),
         "element": {"type": "plain_text_input", "action_id": "t", "min_length": 2}},
        {"type": "input", "block_id": "which", "optional": True, "label": plain("Which?"),
         "element": {"type": "checkboxes", "action_id": "c", "options": options("A", "B", "C")}},
    ],
}  # fmt: skip


class App:
    """Answers what it is told, in process."""

    def __init__(self, acme: Acme) -> None:
        self.answer: Any = None
        self.got: list[Json] = []
        acme.server.hooks.answer_with(Starlette(routes=[Route("/slack/events", self._hear, methods=["POST"])]))

    async def _hear(self, request: Request) -> Response:
        if request.headers["content-type"] == "application/json":
            return Response()
        form = dict(parse_qsl((await request.body()).decode()))
        self.got.append(json.loads(form["payload"]) if "payload" in form else form)
        return Response() if self.answer is None else JSONResponse(self.answer)


@pytest.fixture
async def app(acme: Acme) -> App:
    return App(acme)


@pytest.fixture
async def card(acme: Acme, app: App) -> Message:
    root = acme.ana.say("a bug", acme.triage)
    await acme.client.chat_postMessage(channel=acme.triage.id, text="Round 1", blocks=CARD, thread_ts=root.ts)
    await acme.server.deliver()
    return root.replies[0]


def some(made: Interaction | None) -> Interaction:
    assert made is not None
    return made


async def test_how_a_card_looks(acme: Acme, card: Message) -> None:
    assert acme.ana.sees(thread=card) == [
        "Ana> a bug",
        "Askfirst> # Round 1",
        "    Storage & size",
        "    [ Pick ▾ ]",
        "    ( ) Ana",
        "    (•) All",
        "    [ Answer in a form ]",
        "    Note (optional)",
        "    [  ]",
        "    ~ one line",
    ]
    assert acme.ana.sees(acme.triage) == ["Ana> a bug", "    [1 reply]"]


async def test_a_press_carries_the_state_of_that_person(acme: Acme, card: Message) -> None:
    assert acme.ana.type_in("small") is None  # an input block in a message sends nothing by itself
    with pytest.raises(ClientRefused, match="5 characters"):
        acme.ana.type_in("too long")
    acme.ana.choose("Postgres")
    pressed = some(acme.ana.press("form"))
    body = pressed.payload
    assert body["type"] == "block_actions"
    assert body["actions"][0] | {"action_ts": ""} == {
        "action_id": "form", "block_id": "q2", "type": "button", "value": "r1", "text": plain("Answer in a form"),
        "action_ts": "",
    }  # fmt: skip
    assert body["container"] == {
        "type": "message", "message_ts": card.ts, "channel_id": acme.triage.id, "is_ephemeral": False,
        "thread_ts": card.thread_ts,
    }  # fmt: skip
    assert body["message"]["blocks"] == card.blocks
    assert body["user"] == {"id": acme.ana.id, "username": "ana", "name": "ana", "team_id": "T0AAAAAA1"}
    assert body["state"]["values"] == {
        "q1": {"pick": {"type": "static_select", "selected_option": options("Postgres")[0]}},
        "q2": {"who": {"type": "radio_buttons", "selected_option": options("All")[0]}},
        "note": {"t": {"type": "plain_text_input", "value": "small"}},
    }
    ben = some(acme.ben.press("form")).payload["state"]["values"]
    assert (ben["q1"]["pick"]["selected_option"], ben["note"]["t"]["value"]) == (None, None)


async def test_a_choice_is_an_action_of_its_own(acme: Acme, card: Message) -> None:
    (action,) = some(acme.ana.choose("Ana", of="who")).payload["actions"]
    assert action["selected_option"] == options("Ana")[0]
    assert acme.ana.sees(thread=card)[4] == "    (•) Ana"
    assert acme.ben.sees(thread=card)[4] == "    ( ) Ana"
    for act in (lambda: acme.ana.press("Nothing"), lambda: acme.ana.choose("MySQL")):
        with pytest.raises(ClientRefused):
            act()
    outside = acme.server.person("Eve")
    with pytest.raises(ClientRefused):
        outside.press("form")


async def test_people_press_what_an_older_screen_shows(acme: Acme, card: Message) -> None:
    """b50."""
    before = card.blocks
    button = {"type": "button", "action_id": "next", "text": plain("Next")}
    blocks = [{"type": "actions", "block_id": "q3", "elements": [button]}]
    await acme.client.chat_update(channel=acme.triage.id, ts=card.ts, text="Round 1", blocks=blocks)
    with pytest.raises(ClientRefused):
        acme.ana.press("form", on=card)
    (action,) = some(acme.ana.press("form", on=card, screen=before)).payload["actions"]
    assert (action["block_id"], action["value"]) == ("q2", "r1")


@pytest.mark.parametrize("how", ["archived", "uninstalled", "deactivated", "interactivity off"])
async def test_when_nothing_can_be_pressed(acme: Acme, card: Message, how: str) -> None:
    if how == "archived":
        acme.server.archive(acme.triage, acme.ben)
    elif how == "uninstalled":
        acme.server.uninstall()
    elif how == "deactivated":
        acme.ana.deactivate()
    else:
        acme.server.app.interactivity = False
    with pytest.raises(ClientRefused):
        acme.ana.press("form", on=card)


async def test_a_trigger_lives_three_seconds_and_opens_once(acme: Acme, card: Message) -> None:
    """P60."""
    pressed = some(acme.ana.press("form"))
    acme.clock.advance(60)
    await acme.server.deliver()  # the person presses when it is delivered
    acme.clock.advance(3)
    await acme.client.views_open(trigger_id=pressed.payload["trigger_id"], view=FORM)
    with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
        await acme.client.views_open(trigger_id=pressed.payload["trigger_id"], view=FORM)
    late = some(acme.ben.press("form"))
    await acme.server.deliver()
    acme.clock.advance(3.1)
    with pytest.raises(SlackApiError, match="expired_trigger_id"):
        await acme.client.views_open(trigger_id=late.payload["trigger_id"], view=FORM)
    with pytest.raises(SlackApiError, match="invalid_trigger_id"):
        await acme.client.views_open(trigger_id="1.2.3", view=FORM)
    fresh = some(acme.ben.press("form")).payload["trigger_id"]
    with pytest.raises(SlackApiError) as caught:
        await acme.client.views_open(trigger_id=fresh, view=FORM | {"title": plain("x" * 25)})
    assert caught.value.response["error"] == "invalid_arguments"
    assert "/view/title/text" in caught.value.response["response_metadata"]["messages"][0]


@pytest.fixture
async def form(acme: Acme, card: Message) -> Json:
    pressed = some(acme.ana.press("form"))
    await acme.server.deliver()
    return dict((await acme.client.views_open(trigger_id=pressed.payload["trigger_id"], view=FORM))["view"])


async def test_a_modal_is_checked_by_the_client_then_by_the_app(acme: Acme, app: App, form: Json) -> None:
    ana = acme.ana
    with pytest.raises(ClientRefused, match=r"required field: Why\?"):
        ana.submit()
    ana.type_in("x")
    with pytest.raises(ClientRefused, match="at least 2"):
        ana.submit()
    ana.type_in("xx")
    ana.choose("A", "C", of="which")
    app.answer = {"response_action": "errors", "errors": {"why": "Longer, please."}}
    sent = ana.submit()
    await acme.server.deliver()
    assert (sent.errors, ana.modal.open) == ({"why": "Longer, please."}, True)
    body = app.got[-1]
    assert (body["type"], body["view"]["id"], body["view"]["private_metadata"]) == (
        "view_submission",
        form["id"],
        "r1",
    )
    assert body["view"]["state"]["values"]["which"]["c"]["selected_options"] == options("A", "C")
    app.answer = {"response_action": "update", "view": FORM | {"title": plain("Again")}}
    ana.submit()
    await acme.server.deliver()
    assert ana.modal.body["title"] == plain("Again")
    assert ana.modal.values()["why"]["t"]["value"] == "xx"  # same ids: what was typed stays
    app.answer = {"response_action": "push", "view": FORM}
    ana.submit()
    await acme.server.deliver()
    assert (len(ana.modals), ana.modal.previous) == (2, ana.modals[0])
    ana.type_in("yy")
    app.answer = {"response_action": "clear"}
    ana.submit()
    await acme.server.deliver()
    assert ana.modals == []
    with pytest.raises(SlackApiError, match="not_found"):
        await acme.client.views_update(view_id=form["id"], view=FORM)


@pytest.mark.parametrize(
    "answer",
    [
        {"response_action": "errors", "errors": {"t": "an action id is no block id"}},
        {"response_action": "update", "view": {"type": "modal"}},
        {"response_action": "nonsense"},
        "ok",
    ],
)
async def test_answers_that_slack_does_not_take(acme: Acme, app: App, form: Json, answer: Any) -> None:
    acme.ana.type_in("xx")
    app.answer = answer
    acme.ana.submit()
    await acme.server.deliver()
    assert "trouble" in acme.ana.modal.trouble
    assert len(acme.server.complaints) == 1
    acme.server.complaints.clear()


async def test_views_are_updated_by_hash_and_stacked_to_three(acme: Acme, app: App, form: Json) -> None:
    fresh = await acme.client.views_update(view_id=form["id"], hash=form["hash"], view=FORM)
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await acme.client.views_update(view_id=form["id"], hash=form["hash"], view=FORM)
    assert fresh["view"]["hash"] != form["hash"]
    go = {"type": "actions", "elements": [{"type": "button", "action_id": "more", "text": plain("More")}]}
    stacked = FORM | {"blocks": [*FORM["blocks"], go]}
    await acme.client.views_update(view_id=form["id"], view=stacked)
    for error in ("", "", "push_limit_reached"):
        trigger = some(acme.ana.press("More")).payload["trigger_id"]
        if error:
            with pytest.raises(SlackApiError, match=error):
                await acme.client.views_push(trigger_id=trigger, view=stacked)
        else:
            await acme.client.views_push(trigger_id=trigger, view=stacked)
    await acme.server.deliver()
    assert (app.got[-1]["container"]["type"], "message" in app.got[-1]) == ("view", False)
    closed = some(acme.ana.close(whole=True))
    assert (closed.payload["type"], closed.payload["is_cleared"]) == ("view_closed", True)
    assert acme.ana.modals == []


async def test_external_ids_name_one_open_view(acme: Acme, form: Json) -> None:
    named = FORM | {"external_id": "round-1"}
    await acme.client.views_update(view_id=form["id"], view=named)
    found = await acme.client.views_update(external_id="round-1", view=named)
    assert found["view"]["id"] == form["id"]
    trigger = some(acme.ben.press("form")).payload["trigger_id"]
    with pytest.raises(SlackApiError, match="duplicate_external_id"):
        await acme.client.views_open(trigger_id=trigger, view=named)
    acme.ana.close()
    assert (await acme.client.views_open(trigger_id=trigger, view=named))["ok"]


async def test_app_home(acme: Acme, app: App) -> None:
    home = {"type": "home", "blocks": [{"type": "section", "text": plain("Nothing open")}]}
    opened = acme.ana.open_home()
    assert opened is not None
    assert "view" not in opened.event
    first = await acme.client.views_publish(user_id=acme.ana.id, view=home)
    again = acme.ana.open_home()
    assert again is not None
    assert again.event["view"]["hash"] == first["view"]["hash"]
    await acme.client.views_publish(user_id=acme.ana.id, view=home, hash=first["view"]["hash"])
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await acme.client.views_publish(user_id=acme.ana.id, view=home, hash=first["view"]["hash"])
    acme.server.app.home_tab = False
    with pytest.raises(SlackApiError, match="not_enabled"):
        await acme.client.views_publish(user_id=acme.ana.id, view=home)


async def test_shortcuts(acme: Acme, app: App) -> None:
    acme.server.app.shortcuts = {"this": "message", "new": "global"}
    away = acme.server.channel("away", acme.ana, private=True, bot=False)
    said = acme.ana.say("a bug", away)
    body = acme.ana.shortcut("this", on=said).payload
    assert (body["type"], body["callback_id"], body["message"]["text"]) == ("message_action", "this", "a bug")
    assert body["channel"] == {"id": away.id, "name": "privategroup"}
    body = acme.ana.shortcut("new").payload
    assert (body["type"], "channel" in body, "response_url" in body) == ("shortcut", False, False)
    with pytest.raises(ClientRefused, match="no global shortcut"):
        acme.ana.shortcut("this")


async def test_a_global_shortcut_finds_its_channel_through_a_modal(acme: Acme, app: App) -> None:
    """platform: conversations_select with response_url_enabled."""
    acme.server.app.shortcuts = {"new": "global"}
    asked = acme.ana.shortcut("new")
    await acme.server.deliver()
    where = {"type": "conversations_select", "action_id": "c", "response_url_enabled": True}
    block = {"type": "input", "block_id": "where", "label": plain("Where?"), "element": where}
    await acme.client.views_open(trigger_id=asked.payload["trigger_id"], view=FORM | {"blocks": [block]})
    acme.ana.pick(acme.triage)
    sent = acme.ana.submit()
    (link,) = sent.payload["response_urls"]
    assert (link["channel_id"], link["block_id"]) == (acme.triage.id, "where")
    assert (await AsyncWebhookClient(link["response_url"]).send(text="here", response_type="in_channel")).body
    assert acme.server.what_people_see(acme.triage) == ["Askfirst> here"]


async def test_commands_and_where_they_do_not_work(acme: Acme, app: App) -> None:
    """P63."""
    root = acme.ana.say("a bug", acme.triage)
    for wrong, words in [
        (lambda: acme.ana.command("/clarify", thread=root), "not supported in threads"),
        (lambda: acme.ana.command("/status"), "Slack's own"),
        (lambda: acme.ana.command("/nope"), "not a valid command"),
        (lambda: acme.ana.say("/clarify x", acme.triage), "for a command"),
    ]:
        with pytest.raises(ClientRefused, match=words):
            wrong()
    made = acme.ana.command("/clarify", "@ben & co")
    assert set(made.payload) == {
        "token", "team_id", "team_domain", "channel_id", "channel_name", "user_id", "user_name", "command", "text",
        "api_app_id", "is_enterprise_install", "response_url", "trigger_id",
    }  # fmt: skip
    assert (made.payload["text"], made.payload["channel_name"]) == ("@ben & co", "directmessage")
    app.answer = {"response_type": "in_channel", "text": "asked"}
    await acme.server.deliver()
    assert acme.ana.sees() == ["Askfirst> asked"]


async def test_a_response_url_works_five_times_in_half_an_hour(acme: Acme, card: Message) -> None:
    pressed = some(acme.ana.press("form"))
    hook = AsyncWebhookClient(pressed.payload["response_url"])
    await hook.send(text="to the root", response_type="ephemeral")  # P64: not the thread, unless it is named
    await hook.send_dict({"text": "inside", "thread_ts": card.thread_ts})
    assert acme.ana.sees(acme.triage)[-1] == "Askfirst (only to you)> to the root"
    assert acme.ana.sees(thread=card)[-1] == "Askfirst (only to you)> inside"
    await hook.send_dict({"text": "folded", "replace_original": True})
    assert acme.server.what_people_see(acme.triage, card)[-1] == "Askfirst> folded (edited)"
    wrong = await hook.send_dict({"blocks": [{"type": "section"}], "replace_original": True})
    assert (wrong.status_code, json.loads(wrong.body)["error"]) == (200, "invalid_blocks")
    await hook.send_dict({"delete_original": True})
    assert acme.server.what_people_see(acme.triage, card) == ["Ana> a bug"]
    used = await hook.send(text="once more")
    assert (used.status_code, json.loads(used.body)["error"]) == (404, "used_url")
    other = some(acme.ben.command("/clarify", to=acme.triage))
    acme.clock.advance(30 * 60 + 1)
    old = await AsyncWebhookClient(other.payload["response_url"]).send(text="late")
    assert json.loads(old.body)["error"] == "expired_url"


async def test_an_ephemeral_card_can_only_be_changed_by_its_address(acme: Acme, app: App) -> None:
    await acme.client.chat_postEphemeral(channel=acme.triage.id, user=acme.ana.id, text="card", blocks=CARD[1:3])
    pressed = some(acme.ana.press("form"))
    assert (pressed.payload["container"]["is_ephemeral"], "message" in pressed.payload) == (True, False)
    await AsyncWebhookClient(pressed.payload["response_url"]).send_dict({"text": "done", "replace_original": True})
    assert acme.ana.sees(acme.triage) == ["Askfirst (only to you)> done (edited)"]


async def test_files_go_up_and_come_down(acme: Acme) -> None:
    root = acme.ana.say("a bug", acme.triage)
    sent = await acme.client.files_upload_v2(
        channel=acme.triage.id, content="# Record", filename="r.md", initial_comment="Here", thread_ts=root.ts
    )
    assert acme.server.what_people_see(acme.triage, root)[1:] == ["Askfirst> Here", "    [file r.md]"]
    url = sent["file"]["url_private_download"]

    async def fetched(token: str) -> str:
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession(headers=headers) as session, session.get(url) as answer:
            assert answer.status == 200
            return await answer.text()

    assert await fetched(acme.server.token) == "# Record"
    assert "Sign in" in await fetched("xoxb-wrong")
    acme.server.me.scopes.discard("files:read")
    assert "Sign in" in await fetched(acme.server.token)  # a page, with 200


async def test_an_upload_has_its_announced_length_and_completes_once(acme: Acme) -> None:
    client = acme.client
    given = await client.files_getUploadURLExternal(filename="r.md", length=3)
    done = [{"id": given["file_id"], "title": "Record"}]
    with pytest.raises(SlackApiError, match="file_not_found"):
        await client.files_completeUploadExternal(files=done)
    async with aiohttp.ClientSession() as session:
        for content, status in [(b"four", 400), (b"abc", 200)]:
            async with session.post(given["upload_url"], data=content) as answer:
                assert answer.status == status
    assert (await client.files_completeUploadExternal(files=done))["files"][0]["title"] == "Record"
    with pytest.raises(SlackApiError, match="file_already_completed"):
        await client.files_completeUploadExternal(files=done)


async def test_a_shared_file_is_a_stub_until_it_is_asked_for(acme: Acme) -> None:
    stub = acme.ana.file("plan.md", b"# Plan", file_access="check_file_info")
    said = acme.ana.say("see", acme.triage, files=[stub])
    assert said.json()["files"] == [{"id": stub.id, "file_access": "check_file_info"}]
    found = await acme.client.files_info(file=stub.id)
    assert (found["file"]["name"], found["file"]["size"]) == ("plan.md", 6)
