"""Each call that goes out fits python-telegram-bot's own methods and types: known names, required ones, right types.

`ASKFIRST_SPEC_DIR` holds the same calls against the published Bot API as well (tests/fakes/telegram/schema.py).
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from telegram import (
    Bot,
    BotCommand,
    BotCommandScope,
    ForceReply,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    MessageEntity,
    ReplyParameters,
    TelegramObject,
)

from adapters.telegram.menus import menus, set_menus
from bot.core.step import step
from tests.adapters.telegram.talking import Talk
from tests.adapters.telegram.test_long_cards import long_book
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Call, TelegramServer
from tests.fakes.telegram.methods import snake
from tests.fakes.telegram_rig import rig

MADE = {
    "sendMessage",
    "editMessageText",
    "editMessageReplyMarkup",
    "deleteMessage",
    "sendDocument",
    "answerCallbackQuery",
    "getChatMember",
    "getMe",
    "getUpdates",
    "deleteWebhook",
    "setMyCommands",
    "deleteMyCommands",
}
TYPES: dict[str, Any] = {
    "entities": MessageEntity,
    "reply_parameters": ReplyParameters,
    "link_preview_options": LinkPreviewOptions,
    "commands": BotCommand,
    "scope": BotCommandScope,
}


async def test_every_call_of_a_conversation_is_one_that_the_library_would_make() -> None:
    server = TelegramServer(ManualClock(auto=True), privacy=True)
    async with rig(server, decide=functools.partial(step, book=long_book())) as made:
        talk = Talk(made)
        ana, ben = server.person("Ana", username="ana_t", started=True), server.person("Ben", started=True)
        group = server.supergroup("Triage", ana, ben, forum=True)
        topic = server.topic(group, "Intake")
        ana.say("@askfirst_bot lit-review this", group, topic=topic)
        await talk.settle()
        card = group.card("Other…")
        ben.press("Other…", card)
        await talk.settle()
        ben.reply(group.last, "words of my own")
        ana.reply(card, "2: A, 3: A, 4: A, 5: A")
        await talk.settle()
        card.gone = True
        ana.reply(group.posts[-1], "6: B")
        await talk.settle()
        ana.say("/export@askfirst_bot", group, topic=topic)
        await talk.settle()
        await made.transport._disarm(group.id, group.posts[-1].id)
        words = {"help": "what I do"}
        await set_menus(made.bot, made.me.id, made.store, made.clock, menus({"en": words, "de": words}, ()))
        await set_menus(made.bot, made.me.id, made.store, made.clock, menus({"en": words}, ()))
    assert {call.method for call in server.history.calls} == MADE
    for call in server.history.calls:
        fits(call)


def fits(call: Call) -> None:
    known = inspect.signature(getattr(Bot, snake(call.method))).parameters
    given = call.params
    assert not given.keys() - known.keys(), call.method
    for name, parameter in known.items():
        required = parameter.default is inspect.Parameter.empty and name not in ("self", "args", "kwargs")
        assert not required or name in given, f"{call.method} needs {name}"
    for name, value in given.items():
        if name == "reply_markup":
            of_type(ForceReply if "force_reply" in value else InlineKeyboardMarkup, value)
        elif name in TYPES:
            for one in value if isinstance(value, list) else [value]:
                of_type(TYPES[name], one)


def of_type(kind: type[TelegramObject], value: dict[str, Any]) -> None:
    """Read by the library and written again it is the same, with nothing that the library does not know."""
    read = kind.de_json(dict(value), None)
    assert set(read.api_kwargs) <= {"force_reply"}, value  # which the library sets by itself
    assert read.to_dict() == value
