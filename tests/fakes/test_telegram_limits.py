"""What the server refuses, in its own words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.fakes.telegram import Person, Refusal, TelegramServer, Upload

Server = TelegramServer


def keyboard(*rows: list[str]) -> dict[str, Any]:
    return {
        "inline_keyboard": [[{"text": label, "callback_data": f"t:{label}"[:64]} for label in row] for row in rows]
    }


async def refused(server: Server, method: str, **params: Any) -> str:
    with pytest.raises(Refusal) as error:
        await server.call(method, **params)
    return f"{error.value.code} {error.value.description}"


async def say(server: Server, ana: Person, text: str = "hello", **more: Any) -> dict[str, Any]:
    return await server.call("sendMessage", chat_id=ana.id, text=text, **more)


# -- text --------------------------------------------------------------------------------------------------------


async def test_a_text_has_4096_characters_after_parsing(server: Server, ana: Person) -> None:
    await say(server, ana, "<b>" + "x" * 4096 + "</b>", parse_mode="HTML")
    await say(server, ana, "x" * 4096 + "  \n")
    long = await refused(server, "sendMessage", chat_id=ana.id, text="x" * 4097)
    assert long == "400 Bad Request: message is too long"


async def test_code_points_count_unless_utf16_is_asked_for(server: Server, ana: Person) -> None:
    """The server counts code points; which unit the back end counts is not known, so a test can ask for the other."""
    await say(server, ana, "😀" * 4096)
    server.strict_utf16 = True
    await say(server, ana, "😀" * 2048)
    assert "message is too long" in await refused(server, "sendMessage", chat_id=ana.id, text="😀" * 2049)


async def test_a_request_text_has_32_kib(server: Server, ana: Person) -> None:
    text = "<b></b>" * 4700
    assert (await refused(server, "sendMessage", chat_id=ana.id, text=text, parse_mode="HTML")).endswith(
        "Bad Request: text is too long"
    )


@pytest.mark.parametrize(("text", "why"), [("", "message text is empty"), (" \n", "text must be non-empty")])
async def test_a_text_is_not_empty(server: Server, ana: Person, text: str, why: str) -> None:
    assert await refused(server, "sendMessage", chat_id=ana.id, text=text) == f"400 Bad Request: {why}"


async def test_entities_beyond_100_are_dropped_and_that_is_seen(server: Server, ana: Person) -> None:
    bold = [{"type": "bold", "offset": n * 2, "length": 1} for n in range(103)]
    made = await say(server, ana, "x " * 103, entities=bold)
    assert len(made["entities"]) == 100
    assert server.history.dropped_entities == [("sendMessage", 3)]


async def test_a_parse_mode_beats_entities(server: Server, ana: Person) -> None:
    bold = [{"type": "bold", "offset": 0, "length": 1}]
    made = await say(server, ana, "<i>ab</i>", parse_mode="HTML", entities=bold)
    assert [(e["type"], e["length"]) for e in made["entities"]] == [("italic", 2)]


async def test_entities_lie_in_the_text(server: Server, ana: Person) -> None:
    bold = [{"type": "bold", "offset": 0, "length": 3}]
    why = await refused(server, "sendMessage", chat_id=ana.id, text="ab", entities=bold)
    assert (
        why
        == "400 Bad Request: entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 3"
    )
    odd = [{"type": "shiny", "offset": 0, "length": 1}]
    why = await refused(server, "sendMessage", chat_id=ana.id, text="ab", entities=odd)
    assert why == "400 Bad Request: can't parse MessageEntity: Unsupported type specified"


async def test_commands_and_mentions_in_our_own_text_are_marked(server: Server, ana: Person) -> None:
    made = await say(server, ana, "try /status or ask @ana_t")
    assert [e["type"] for e in made["entities"]] == ["bot_command", "mention"]


# -- buttons -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["", "x" * 65, "я" * 33, "漢" * 22])
async def test_callback_data_has_1_to_64_bytes(server: Server, ana: Person, data: str) -> None:
    markup = {"inline_keyboard": [[{"text": "A", "callback_data": data}]]}
    why = await refused(server, "sendMessage", chat_id=ana.id, text="x", reply_markup=markup)
    assert why == "400 Bad Request: BUTTON_DATA_INVALID"
    markup["inline_keyboard"][0][0]["callback_data"] = "я" * 32
    await say(server, ana, reply_markup=markup)


@pytest.mark.parametrize("rows", [[["x"] * 9], [["x"]] * 101])
async def test_a_keyboard_has_8_a_row_and_100_in_all(server: Server, ana: Person, rows: list[list[str]]) -> None:
    why = await refused(server, "sendMessage", chat_id=ana.id, text="x", reply_markup=keyboard(*rows))
    assert why == "400 Bad Request: reply markup is too long"
    await say(server, ana, reply_markup=keyboard(*[["x"] * 8] * 12))


@pytest.mark.parametrize(
    ("button", "why"),
    [
        ({"text": "A"}, "Text buttons are unallowed in the inline keyboard"),
        ({"text": " ", "callback_data": "x"}, "Button text must be non-empty"),
        ({"text": "A", "callback_data": "x", "style": "red"}, "invalid button style specified"),
        ({"text": "A", "callback_data": "x", "url": "https://x.org"}, "exactly one of its optional fields"),
        ({"text": "A", "url": "x"}, "Wrong HTTP URL"),
    ],
)
async def test_buttons_that_are_none(server: Server, ana: Person, button: dict[str, Any], why: str) -> None:
    markup = {"inline_keyboard": [[button]]}
    assert why in await refused(server, "sendMessage", chat_id=ana.id, text="x", reply_markup=markup)


# -- edits and deletions -----------------------------------------------------------------------------------------


async def test_an_edit_that_changes_nothing(server: Server, ana: Person) -> None:
    card = await say(server, ana, "pick", reply_markup=keyboard(["A"]))
    place = {"chat_id": ana.id, "message_id": card["message_id"]}
    why = await refused(server, "editMessageText", **place, text="pick", reply_markup=keyboard(["A"]))
    assert why.startswith(
        "400 Bad Request: message is not modified: specified new message content and reply markup are"
    )
    assert "not modified" in await refused(server, "editMessageReplyMarkup", **place, reply_markup=keyboard(["A"]))
    await server.call("editMessageText", **place, text="pick")
    assert (ana.chat.last.labels, len(ana.chat.last.versions)) == ([], 2)
    assert "not modified" in await refused(server, "editMessageReplyMarkup", **place)


async def test_what_can_not_be_edited(server: Server, ana: Person) -> None:
    said = ana.say("mine")
    place = {"chat_id": ana.id, "text": "x"}
    assert (
        await refused(server, "editMessageText", **place, message_id=77)
        == "400 Bad Request: message to edit not found"
    )
    assert "message can't be edited" in await refused(server, "editMessageText", **place, message_id=said.id)
    for markup in ({"force_reply": True}, {"remove_keyboard": True}, {"keyboard": [[{"text": "A"}]]}):
        made = await say(server, ana, "reply to this", reply_markup=markup)
        why = await refused(server, "editMessageText", **place, message_id=made["message_id"])
        assert why == "400 Bad Request: message can't be edited"
    made = await say(server, ana, "gone soon")
    await server.call("deleteMessage", chat_id=ana.id, message_id=made["message_id"])
    assert "to edit not found" in await refused(server, "editMessageText", **place, message_id=made["message_id"])
    why = await refused(server, "deleteMessage", chat_id=ana.id, message_id=made["message_id"])
    assert why == "400 Bad Request: message to delete not found"
    assert ana.chat.texts == ["reply to this"] * 3


async def test_an_edit_takes_inline_buttons_only(server: Server, ana: Person) -> None:
    made = await say(server, ana)
    place = {"chat_id": ana.id, "message_id": made["message_id"], "text": "x"}
    force = {"force_reply": True}
    server.schema = type(server.schema).small()
    assert "editMessageText" in await refused(server, "editMessageText", **place, reply_markup=force)


async def test_messages_are_deleted_for_48_hours(server: Server, ana: Person) -> None:
    made = await say(server, ana)
    server.clock.advance(timedelta(hours=49))  # type: ignore[attr-defined]
    why = await refused(server, "deleteMessage", chat_id=ana.id, message_id=made["message_id"])
    assert why == "400 Bad Request: message can't be deleted"


# -- replies and topics ------------------------------------------------------------------------------------------


async def test_a_reply_to_a_message_that_is_gone(server: Server, ana: Person) -> None:
    said = ana.say("here")
    ana.delete(said)
    why = await refused(server, "sendMessage", chat_id=ana.id, text="x", reply_parameters={"message_id": said.id})
    assert why == "400 Bad Request: message to be replied not found"
    made = await say(server, ana, reply_parameters={"message_id": said.id, "allow_sending_without_reply": True})
    assert "reply_to_message" not in made


async def test_only_real_topics_take_a_thread_id(server: Server, ana: Person, ben: Person) -> None:
    plain = server.supergroup("Plain", ana, ben, bot="administrator")
    forum = server.supergroup("Forum", ana, ben, forum=True)
    topic = server.topic(forum, "Intake")
    root = ana.say("one", plain)
    chain = ana.reply(ben.reply(root, "two"), "three")
    assert chain.json()["message_thread_id"] == root.id
    missing = "400 Bad Request: message thread not found"
    for chat, thread in ((plain, chain.json()["message_thread_id"]), (forum, 1), (forum, 77), (ana.chat, 5)):
        assert await refused(server, "sendMessage", chat_id=chat.id, text="x", message_thread_id=thread) == missing
    made = await server.call("sendMessage", chat_id=forum.id, text="x", message_thread_id=topic.id)
    assert made["is_topic_message"]
    server.close_topic(forum, topic, ana)
    shut = await refused(server, "sendMessage", chat_id=forum.id, text="x", message_thread_id=topic.id)
    assert shut == "400 Bad Request: TOPIC_CLOSED"
    server.reopen_topic(forum, topic, ana)
    await server.call("sendMessage", chat_id=forum.id, text="x", message_thread_id=topic.id)
    server.delete_topic(forum, topic)
    assert await refused(server, "sendMessage", chat_id=forum.id, text="x", message_thread_id=topic.id) == missing


# -- doors -------------------------------------------------------------------------------------------------------


async def test_chats_that_can_not_be_written_to(server: Server, ana: Person, ben: Person) -> None:
    send = {"text": "x"}
    assert await refused(server, "sendMessage", chat_id=1, **send) == "400 Bad Request: chat not found"
    assert await refused(server, "sendMessage", chat_id="@nobody", **send) == "400 Bad Request: chat not found"
    assert await refused(server, "sendMessage", chat_id=ben.id, **send) == "400 Bad Request: chat not found"
    group = server.group("Crew", ana, ben)
    why = await refused(server, "sendMessage", chat_id=ben.id, **send)
    assert why == "403 Forbidden: bot can't initiate conversation with a user"
    ana.block()
    assert (
        await refused(server, "sendMessage", chat_id=ana.id, **send) == "403 Forbidden: bot was blocked by the user"
    )
    ana.unblock()
    await say(server, ana)
    ana.deactivate()
    assert await refused(server, "sendMessage", chat_id=ana.id, **send) == "403 Forbidden: user is deactivated"
    server.remove_bot(group, ben)
    why = await refused(server, "sendMessage", chat_id=group.id, **send)
    assert why == "403 Forbidden: bot was kicked from the group chat"


async def test_supergroups_and_channels_have_words_of_their_own(server: Server, ana: Person) -> None:
    triage, news = server.supergroup("Triage", ana), server.channel("News", ana, bot="member")
    server.remove_bot(triage)
    why = await refused(server, "getChat", chat_id=triage.id)
    assert why == "403 Forbidden: bot was kicked from the supergroup chat"
    why = await refused(server, "sendMessage", chat_id=news.id, text="x")
    assert why == "400 Bad Request: need administrator rights in the channel chat"
    server.promote_bot(news, ana)
    await server.call("sendMessage", chat_id=news.id, text="x")
    why = await refused(server, "sendMessage", chat_id=news.id, text="x", reply_markup={"force_reply": True})
    assert why == "400 Bad Request: inline keyboard expected"
    other = server.supergroup("Quiet", ana)
    server.restrict_bot(other, ana)
    why = await refused(server, "sendMessage", chat_id=other.id, text="x")
    assert why == "400 Bad Request: not enough rights to send text messages to the chat"


async def test_a_group_that_became_a_supergroup(server: Server, ana: Person) -> None:
    group = server.group("Crew", ana)
    card = await server.call("sendMessage", chat_id=group.id, text="card")
    new = server.migrate(group, ana)
    with pytest.raises(Refusal) as error:
        await server.call("editMessageText", chat_id=group.id, message_id=card["message_id"], text="x")
    assert error.value.description == "Bad Request: group chat was upgraded to a supergroup chat"
    assert error.value.parameters == {"migrate_to_chat_id": new.id}
    assert [u.body.get("migrate_to_chat_id") for u in server.updates.log] == [new.id, None]
    assert server.updates.last.body["migrate_from_chat_id"] == group.id
    assert card["message_id"] not in [m.id for m in new.posts]


# -- the rest ----------------------------------------------------------------------------------------------------


async def test_an_answer_to_a_press_comes_in_time(server: Server, ana: Person) -> None:
    await say(server, ana, reply_markup=keyboard(["A"]))
    press = ana.press("A")
    await server.call("answerCallbackQuery", callback_query_id=press.id, text="Noted: A")
    assert (press.answer, server.history.notices) == ("Noted: A", [(press.id, "Noted: A", False)])
    why = await refused(server, "answerCallbackQuery", callback_query_id=press.id, text="x" * 201)
    assert why == "400 Bad Request: MESSAGE_TOO_LONG"
    server.clock.advance(16)  # type: ignore[attr-defined]
    old = "400 Bad Request: query is too old and response timeout expired or query ID is invalid"
    assert await refused(server, "answerCallbackQuery", callback_query_id=press.id) == old
    assert await refused(server, "answerCallbackQuery", callback_query_id="1") == old


async def test_documents(server: Server, ana: Person) -> None:
    file = Upload("a.md", b"# a", "text/markdown")
    made = await server.call("sendDocument", chat_id=ana.id, document=file, caption="*x*", parse_mode="MarkdownV2")
    assert (made["document"]["file_name"], made["caption"], ana.chat.last.file) == ("a.md", "x", b"# a")
    got = await server.call("getFile", file_id=made["document"]["file_id"])
    assert got["file_size"] == 3
    why = await refused(server, "sendDocument", chat_id=ana.id, document=file, caption="x" * 1025)
    assert why == "400 Bad Request: message caption is too long"
    empty = Upload("a.md", b"", "text/markdown")
    assert "file must be non-empty" in await refused(server, "sendDocument", chat_id=ana.id, document=empty)
    why = await refused(server, "editMessageText", chat_id=ana.id, message_id=made["message_id"], text="x")
    assert why == "400 Bad Request: there is no text in the message to edit"
    big = ana.file("big.bin", content=bytes((20 << 20) + 1)).content["document"]["file_id"]
    assert await refused(server, "getFile", file_id=big) == "400 Bad Request: file is too big"


@pytest.mark.parametrize("command", ["", "New", "ars-lit", "x" * 33])
async def test_commands_have_small_letters(server: Server, command: str) -> None:
    given = [{"command": command, "description": "x"}]
    assert await refused(server, "setMyCommands", commands=given) == "400 Bad Request: BOT_COMMAND_INVALID"


async def test_commands_are_kept_by_scope_and_language(server: Server, ana: Person) -> None:
    given = [{"command": "new", "description": "Begin"}]
    scope = {"type": "chat", "chat_id": ana.id}
    await server.call("setMyCommands", commands=given, scope=scope, language_code="de")
    assert await server.call("getMyCommands") == []
    assert await server.call("getMyCommands", scope=scope, language_code="de") == given
    long = [{"command": "new", "description": "x" * 257}]
    assert "DESCRIPTION_INVALID" in await refused(server, "setMyCommands", commands=long)
    assert "TOO_MUCH" in await refused(server, "setMyCommands", commands=given * 101)


async def test_who_is_who(server: Server, ana: Person, ben: Person) -> None:
    group = server.supergroup("Triage", ana, bot="administrator")
    await server.call("getMe")
    await server.call("getChat", chat_id=group.id)
    mine = await server.call("getChatMember", chat_id=group.id, user_id=server.me["id"])
    assert (mine["status"], mine["can_manage_topics"]) == ("administrator", True)
    theirs = [await server.call("getChatMember", chat_id=group.id, user_id=p.id) for p in (ana, ben)]
    assert [m["status"] for m in theirs] == ["member", "left"]
    await server.call("sendChatAction", chat_id=group.id, action="typing")
    assert "wrong parameter action" in await refused(server, "sendChatAction", chat_id=group.id, action="dancing")
    assert server.typing == [(group.id, "typing")]
