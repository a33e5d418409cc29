"""The fake Bot API server as a whole: its schema checks, its HTTP, its example."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Mismatch, Refusal, Schema, TelegramServer
from tests.fakes.telegram.schema import FILE

SPEC = os.environ.get("ASKFIRST_SPEC_DIR", "")
published = pytest.mark.skipif(not SPEC, reason="ASKFIRST_SPEC_DIR names no folder with the published Bot API")


@pytest.fixture(params=["table", pytest.param("published", marks=published)])
def server(request: pytest.FixtureRequest) -> TelegramServer:
    schema = Schema.small() if request.param == "table" else Schema.published(Path(SPEC) / FILE)
    return TelegramServer(ManualClock(), schema=schema)


async def test_the_example(server: TelegramServer) -> None:
    ana = server.person("Ana", username="ana_t")
    ana.say("/new")
    async with server.bot() as bot:
        (update,) = await bot.get_updates()
        markup = {"inline_keyboard": [[{"text": "A · SQLite", "callback_data": "r3:1:A"}]]}
        card = await bot.send_message(update.message.chat_id, "Pick one", api_kwargs={"reply_markup": markup})
        press = ana.press("A · SQLite")
        await bot.answer_callback_query(press.id, "Noted: A")
        await bot.edit_message_text("Done: A", ana.id, card.message_id)
    assert ana.chat.texts == ["Done: A"]
    assert press.answer == "Noted: A"
    server.verify()


@pytest.mark.parametrize(
    ("method", "params", "why"),
    [
        ("sendMessage", {"text": "x"}, "chat_id is empty"),
        ("sendMessage", {"chat_id": 1}, "message text is empty"),
        ("deleteMessage", {"chat_id": 1}, 'parameter "message_id" is required'),
        ("sendMessage", {"chat_id": 1, "text": "x", "txt": "y"}, 'has no parameter "txt"'),
        ("deleteMessage", {"chat_id": 1, "message_id": "x"}, "message_id is no int"),
        ("sendMessage", {"chat_id": 1, "text": "x", "protect_content": "yes"}, "protect_content is no bool"),
        ("deleteMessage", {"chat_id": 1, "message_id": True}, "message_id is no int"),
        ("sendMessage", {"chat_id": 1, "text": 7}, "text is no str"),
        ("sendMessage", {"chat_id": 1, "text": "x", "entities": "{"}, "entities is no JSON"),
        ("sendMessage", {"chat_id": 1, "text": "x", "entities": [{"type": "bold", "offset": 0}]}, "lacks length"),
        ("sendMessage", {"chat_id": 1, "text": "x", "reply_markup": {"rows": []}}, "reply_markup is none of"),
        ("sendMessage", {"chat_id": 1, "text": "x", "reply_parameters": {"message_id": "7"}}, "message_id is no int"),
        ("sendDocument", {"chat_id": 1, "document": 7}, "document"),
        ("setMyCommands", {"commands": [{"command": "new"}]}, "lacks description"),
    ],
)
async def test_every_call_is_held_against_the_description(
    server: TelegramServer, method: str, params: dict[str, Any], why: str
) -> None:
    with pytest.raises(Refusal) as refused:
        await server.call(method, **params)
    assert refused.value.code == 400
    assert why in refused.value.description


async def test_methods_that_are_none(server: TelegramServer) -> None:
    code, answer = await server.handle(server.token, "sendMesage", {})
    assert (code, answer["description"]) == (404, "Not Found: method not found")
    code, _ = await server.handle(server.token, "SENDMESSAGE", {})
    assert code == 400


@published
def test_the_table_is_as_published() -> None:
    small, whole = Schema.small(), Schema.published(Path(SPEC) / FILE)
    for known, real in ((small.methods, whole.methods), (small.types, whole.types)):
        for name, fields in known.items():
            if name not in whole.unions:
                assert {k: r for k, (_, r) in fields.items()} == {k: r for k, (_, r) in real[name].items()}, name
                for key, (types, _) in fields.items():
                    assert types == real[name][key][0] or "Other" in types, (name, key)


@published
async def test_a_method_that_is_real_but_not_here_says_so() -> None:
    server = TelegramServer(ManualClock(), schema=Schema.published(Path(SPEC) / FILE))
    with pytest.raises(Refusal, match="501 this test server has no sendDice"):
        await server.call("sendDice", chat_id=1)


@published
def test_what_the_server_says_is_held_against_it_too() -> None:
    whole = Schema.published(Path(SPEC) / FILE)
    whole.verify(
        "Update", {"update_id": 1, "message": {"message_id": 1, "date": 1, "chat": {"id": 1, "type": "private"}}}
    )
    for wrong in ({"update_id": "1"}, {"update_id": 1, "message": {"message_id": 1}}, {"update_id": 1, "msg": {}}, 7):
        with pytest.raises(Mismatch):
            whole.verify("Update", wrong)


async def test_over_http(server: TelegramServer) -> None:
    ana = server.person("Ana", started=True)
    async with httpx.AsyncClient(transport=server.transport(), base_url="http://telegram.test") as client:
        root = f"/bot{server.token}"
        got = await client.get(f"{root}/getMe")
        assert (got.status_code, got.json()["result"]["username"]) == (200, "askfirst_bot")
        sent = await client.post(f"{root}/sendMessage", json={"chat_id": ana.id, "text": "hi"})
        assert sent.json()["ok"]
        form = {"chat_id": str(ana.id), "text": "hi +&\n"}
        assert (await client.post(f"{root}/sendMessage", data=form)).json()["result"]["text"] == "hi +&"
        file = {"document": ("a.bin", b"\x00\r\n\xff", "application/pdf")}
        made = await client.post(f"{root}/sendDocument", data={"chat_id": str(ana.id)}, files=file)
        number = made.json()["result"]["document"]["file_id"]
        path = (await client.get(f"{root}/getFile", params={"file_id": number})).json()["result"]["file_path"]
        assert (await client.get(f"/file/bot{server.token}/{path}")).content == b"\x00\r\n\xff"
        assert (await client.get(f"/file/bot1:X/{path}")).status_code == 404
        assert (await client.get("/bot1:WRONG/getMe")).json()["error_code"] == 401
        assert (await client.get("/elsewhere")).json()["description"] == "Not Found"
        server.faults.limit(9)
        limited = await client.post(f"{root}/getMe")
        assert (limited.status_code, limited.headers["retry-after"]) == (429, "9")
    assert ana.chat.posts[-1].file == b"\x00\r\n\xff"
