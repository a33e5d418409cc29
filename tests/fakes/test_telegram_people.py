"""What people do, and what of it reaches the bot, in the JSON of the Bot API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.fakes.telegram import Person, TelegramServer

Server = TelegramServer


def bodies(server: Server) -> list[dict[str, Any]]:
    return [update.body for update in server.updates.log]


async def card(server: Server, chat: int, text: str = "pick", **more: Any) -> int:
    markup = {"inline_keyboard": [[{"text": "A · SQLite", "callback_data": "r3:1:A"}]]}
    made = await server.call("sendMessage", chat_id=chat, text=text, reply_markup=markup, **more)
    return made["message_id"]


# -- privacy mode ------------------------------------------------------------------------------------------------


async def test_privacy_mode_lets_through_what_is_meant_for_the_bot(server: Server, ana: Person) -> None:
    group = server.supergroup("Triage", ana)
    sent = await server.call("sendMessage", chat_id=group.id, text="R3")
    ours = group.messages[sent["message_id"]]
    for text in ("1: B, 2: other", "/status@other_bot", "@other_bot hi", "/status@askfirst_bot_two"):
        ana.say(text, group)
    ana.reply(ana.say("lunch?", group), "yes")
    assert bodies(server) == []
    heard = [
        ana.reply(ours, "1: B"),
        ana.say("/STATUS@AskFirst_Bot", group),
        ana.say("could @askfirst_bot help?", group),
        ana.file("a.pdf", "for @askfirst_bot", group),
        ana.say("/status", group),
    ]
    assert [b["message_id"] for b in bodies(server)] == [m.id for m in heard]
    assert bodies(server)[0]["reply_to_message"]["text"] == "R3"


async def test_a_bare_command_goes_to_the_bot_that_posted_last(server: Server, ana: Person) -> None:
    group = server.group("Crew", ana)
    other = server.person("Quiz", username="OtherQuizBot", is_bot=True)
    ana.say("/status", group)
    await server.call("sendMessage", chat_id=group.id, text="R3")
    ana.say("/status", group)
    other.say("a quiz!", group)
    ana.say("/status", group)
    assert len(bodies(server)) == 1


@pytest.mark.parametrize("how", ["privacy off", "administrator"])
async def test_without_privacy_mode_all_is_heard_but_other_bots(server: Server, ana: Person, how: str) -> None:
    server.privacy = how != "privacy off"
    group = server.supergroup("Triage", ana, bot="administrator" if how == "administrator" else "member")
    other = server.person("Quiz", username="OtherQuizBot", is_bot=True)
    other.say("@askfirst_bot buy", group)
    ana.say("lunch?", group)
    assert [b["text"] for b in bodies(server)] == ["lunch?"]
    assert (await server.call("getMe"))["can_read_all_group_messages"] is (how == "privacy off")


async def test_service_messages_always_come(server: Server, ana: Person) -> None:
    group = server.group("Crew", ana, bot="left")
    ana.say("@askfirst_bot there?", group)
    server.add_bot(group, ana)
    server.remove_bot(group)
    ana.say("@askfirst_bot still there?", group)
    assert server.updates.kinds() == ["my_chat_member", "message", "message", "my_chat_member"]
    old, new = bodies(server)[3]["old_chat_member"], bodies(server)[3]["new_chat_member"]
    assert (old["status"], new["status"]) == ("member", "kicked")
    assert bodies(server)[2]["from"]["username"] == "GroupAnonymousBot"
    assert bodies(server)[2]["left_chat_member"]["id"] == server.me["id"]


# -- who speaks --------------------------------------------------------------------------------------------------


async def test_faces(server: Server, ana: Person) -> None:
    group = server.supergroup("Triage", ana, bot="administrator")
    news = server.channel("News", ana)
    ana.say("as the group", group, as_="anonymous")
    ana.say("as a channel", group, as_=news)
    ana.say("forwarded by itself", group, as_="linked")
    ana.say("a post", news)
    anonymous, channel, linked, post = bodies(server)
    assert (anonymous["from"]["id"], anonymous["sender_chat"]["id"]) == (1087968824, group.id)
    assert (channel["from"]["id"], channel["sender_chat"]["title"]) == (136817688, "News")
    assert (linked["from"]["id"], linked["is_automatic_forward"]) == (777000, True)
    assert ("from" in post, post["chat"]["type"], server.updates.last.kind) == (False, "channel", "channel_post")


async def test_names_are_as_people_gave_them(server: Server) -> None:
    odd = server.person("<b", last_name="Ana/> & _*[x](tg://user?id=1)", language=None)
    odd.say("1: B")
    assert bodies(server)[0]["from"] == {
        "id": odd.id,
        "is_bot": False,
        "first_name": "<b",
        "last_name": "Ana/> & _*[x](tg://user?id=1)",
    }


# -- what is said ------------------------------------------------------------------------------------------------


async def test_dates_and_numbers(server: Server, ana: Person, ben: Person) -> None:
    ana.say("one")
    server.clock.advance(61)  # type: ignore[attr-defined]
    ben.say("two")
    first, second = server.updates.log
    assert (second.id - first.id, second.body["date"] - first.body["date"]) == (1, 61)
    assert (first.body["message_id"], second.body["message_id"]) == (1, 1)


async def test_in_a_topic_that_the_bot_opened_all_looks_like_a_reply_to_it(server: Server, ana: Person) -> None:
    forum = server.supergroup("Triage", ana, bot="administrator", forum=True)
    topic = server.topic(forum, "Intake")
    ana.say("sounds good", forum, topic=topic)
    number = await card(server, forum.id, message_thread_id=topic.id)
    ana.reply(forum.messages[number], "yes")
    ana.say("elsewhere", forum)
    implicit, explicit, general = bodies(server)
    assert (implicit["message_thread_id"], implicit["is_topic_message"]) == (topic.id, True)
    root = implicit["reply_to_message"]
    assert (root["message_id"], root["from"], root["forum_topic_created"]["name"]) == (topic.id, server.me, "Intake")
    assert (explicit["reply_to_message"]["message_id"], explicit["message_thread_id"]) == (number, topic.id)
    assert ("message_thread_id" in general, general["chat"]["is_forum"]) == (False, True)


async def test_topics_come_and_go(server: Server, ana: Person) -> None:
    forum = server.supergroup("Triage", ana, bot="administrator", forum=True)
    made = await server.call("createForumTopic", chat_id=forum.id, name="Intake")
    topic = forum.topics[made["message_thread_id"]]
    server.close_topic(forum, topic)
    server.reopen_topic(forum, topic, ana)
    keys = ["forum_topic_created", "forum_topic_closed", "forum_topic_reopened"]
    assert [key in body for key, body in zip(keys, bodies(server), strict=True)] == [True] * 3
    await server.call("sendMessage", chat_id=forum.id, text="x", message_thread_id=topic.id)
    server.private_topics = True
    thread = server.topic(ana.chat, "Notes")
    await server.call("sendMessage", chat_id=ana.id, text="x", message_thread_id=thread.id)


async def test_replies_and_quotes(server: Server, ana: Person) -> None:
    number = await card(server, ana.id, text="😀 pick one")
    ours = ana.chat.messages[number]
    ana.reply(ours, "this", quote="pick")
    body = bodies(server)[0]
    assert body["reply_to_message"]["message_id"] == number
    assert body["quote"] == {"text": "pick", "position": 3, "is_manual": True}


async def test_forwards_name_where_the_words_come_from(server: Server, ana: Person, ben: Person) -> None:
    news = server.channel("Decisions")
    ana.forward("1: B", "K.")
    ana.forward("/cancel", ben)
    ana.forward("accept recommendations", news)
    kinds = [body["forward_origin"]["type"] for body in bodies(server)]
    assert kinds == ["hidden_user", "user", "channel"]
    assert bodies(server)[1]["entities"][0]["type"] == "bot_command"


async def test_an_album_is_one_update_for_each_file(server: Server, ana: Person) -> None:
    ana.album(["a.pdf", "b.md"], "look")
    ana.album(["c.pdf", "d.md"], ["one", "two"])
    groups = [body["media_group_id"] for body in bodies(server)]
    assert (groups[0] == groups[1], groups[2] == groups[3], groups[0] == groups[2]) == (True, True, False)
    assert [body.get("caption") for body in bodies(server)] == ["look", None, "one", "two"]


async def test_everything_else_that_can_be_sent(server: Server, ana: Person) -> None:
    number = await card(server, ana.id)
    ours = ana.chat.messages[number]
    for send in (ana.voice, ana.sticker, ana.location, ana.contact, ana.dice):
        send(reply_to=ours)  # type: ignore[operator]
    ana.poll("1: B?", ["B", "A"])
    ana.photo("see")
    names = ["voice", "sticker", "location", "contact", "dice", "poll", "photo"]
    assert [name in body for name, body in zip(names, bodies(server), strict=True)] == [True] * 7
    assert all(body["reply_to_message"]["message_id"] == number for body in bodies(server)[:5])


async def test_a_long_paste_comes_in_parts(server: Server, ana: Person) -> None:
    ana.paste("x" * 5000)
    assert [len(body["text"]) for body in bodies(server)] == [4096, 904]
    with pytest.raises(AssertionError, match="paste"):
        ana.say("x" * 5000)


async def test_edits_come_and_deletions_do_not(server: Server, ana: Person) -> None:
    said = ana.say("1: B")
    server.clock.advance(9)  # type: ignore[attr-defined]
    ana.edit(said, "1: B")
    ana.edit(said, "1: C")
    ana.delete(said)
    assert server.updates.kinds() == ["message", "edited_message", "edited_message"]
    assert [body["text"] for body in bodies(server)] == ["1: B", "1: B", "1: C"]
    assert bodies(server)[1]["edit_date"] - bodies(server)[1]["date"] == 9


async def test_deep_links(server: Server, ana: Person) -> None:
    ana.start()
    ana.start("r_8f3a-unknown")
    assert [body["text"] for body in bodies(server)] == ["/start", "/start r_8f3a-unknown"]
    with pytest.raises(AssertionError):
        ana.start("x" * 65)


# -- presses -----------------------------------------------------------------------------------------------------


async def test_a_press_by_label_or_data(server: Server, ana: Person) -> None:
    number = await card(server, ana.id)
    first, second = ana.press("A · SQLite"), ana.press("r3:1:A")
    assert first.id != second.id
    body = bodies(server)[0]
    assert (body["data"], body["message"]["message_id"], body["from"]["id"]) == ("r3:1:A", number, ana.id)
    assert body["message"]["reply_markup"]["inline_keyboard"][0][0]["text"] == "A · SQLite"
    with pytest.raises(AssertionError, match="no message with a button 'Z'"):
        ana.press("Z")


async def test_any_data_can_be_pressed_on_any_message(server: Server, ana: Person, ben: Person) -> None:
    group = server.group("Crew", ana, ben)
    number = await card(server, group.id)
    ben.send_data("forged", group.messages[number])
    ben.press("A · SQLite", group)
    assert [body["data"] for body in bodies(server)] == ["forged", "r3:1:A"]


async def test_of_old_and_deleted_cards_only_a_stub_comes(server: Server, ana: Person) -> None:
    number = await card(server, ana.id)
    message = ana.chat.messages[number]
    server.clock.advance(timedelta(days=40))  # type: ignore[attr-defined]
    ana.press("A · SQLite")
    assert bodies(server)[0]["message"] == {"chat": ana.chat.json(), "message_id": number, "date": 0}
    fresh = ana.chat.messages[await card(server, ana.id)]
    ana.delete(fresh)
    ana.send_data("r3:1:A", fresh)
    assert bodies(server)[1]["message"]["date"] == 0
    ana.press_inline("r3:1:C")
    assert "message" not in bodies(server)[2]
    assert message in ana.chat.posts


async def test_block_and_unblock_are_told(server: Server, ana: Person) -> None:
    ana.block()
    ana.unblock()
    assert [body["new_chat_member"]["status"] for body in bodies(server)] == ["kicked", "member"]


# -- the picture -------------------------------------------------------------------------------------------------


async def test_a_chat_drawn_for_people(server: Server, ana: Person) -> None:
    group = server.supergroup("Triage", ana, bot="administrator")
    ana.say("/new@askfirst_bot\nplease", group)
    number = await card(server, group.id, text="<b>Pick</b> one", parse_mode="HTML")
    ana.reply(group.messages[number], "A")
    await server.call("editMessageText", chat_id=group.id, message_id=number, text="Done: A")
    ana.file("plan.pdf", "the plan", group)
    ana.delete(ana.say("oops", group))
    assert str(group).splitlines() == [
        f"── Triage (supergroup {group.id}) ──",
        "   2 Ana: /new@askfirst_bot",
        "       please",
        "   3 Askfirst: Done: A (edited)",
        "   4 Ana re 3: A",
        "   5 Ana: the plan [plan.pdf]",
    ]
    seen = group.messages[number].versions
    assert [(v.text, v.buttons) for v in seen] == [("**Pick** one", (("A · SQLite",),)), ("Done: A", ())]
