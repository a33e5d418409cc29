"""Chats, topics and messages as the server keeps them, and as the Bot API's JSON shows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from tests.fakes.telegram.text import Entity, readable

Json = dict[str, Any]
Kind = Literal["private", "group", "supergroup", "channel"]

ANONYMOUS = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
CHANNEL_BOT = {"id": 136817688, "is_bot": True, "first_name": "Channel", "username": "Channel_Bot"}
LINKED = {"id": 777000, "is_bot": False, "first_name": "Telegram"}


@dataclass(frozen=True, slots=True)
class Version:
    """How a message looked from a moment on."""

    at: datetime
    text: str  # entities drawn as marks
    buttons: tuple[tuple[str, ...], ...]


@dataclass(eq=False)
class Topic:
    id: int
    name: str
    opened_by: Json
    created: datetime
    closed: bool = False
    gone: bool = False


@dataclass(eq=False)
class Message:
    chat: Chat
    id: int
    date: datetime
    sender: Json | None
    content: Json  # text and entities, or a caption and what it belongs to
    mine: bool = False
    sender_chat: Json | None = None
    topic: int | None = None
    reply_to: Message | None = None
    markup: Json | None = None
    extra: Json = field(default_factory=dict)
    edited: datetime | None = None
    gone: bool = False
    versions: list[Version] = field(default_factory=list)
    file: bytes | None = None
    update: Any = None  # the one that told the bot of it; None if nothing did

    def __post_init__(self) -> None:
        self.seen(self.date)

    def __repr__(self) -> str:
        return f"<{self.chat.title or self.chat.id} #{self.id} {self.text!r}>"

    @property
    def text(self) -> str:
        return self.content.get("text", self.content.get("caption", ""))

    @property
    def entities(self) -> list[Entity]:
        return self.content.get("entities", self.content.get("caption_entities", []))

    @property
    def shown(self) -> str:
        return readable(self.text, self.entities)

    @property
    def inline(self) -> bool:
        """Whether it can still be edited: only with inline buttons or none (TDLib can_edit_message)."""
        return self.markup is None or "inline_keyboard" in self.markup

    @property
    def buttons(self) -> list[Json]:
        rows = (self.markup or {}).get("inline_keyboard", [])
        return [button for row in rows for button in row]

    @property
    def labels(self) -> list[list[str]]:
        return [[button["text"] for button in row] for row in (self.markup or {}).get("inline_keyboard", [])]

    def button(self, name: str) -> Json:
        """By label, by data, or by the letter that the label begins with."""
        for button in self.buttons:
            if name in names_of(button):
                return button
        raise AssertionError(f"no button {name!r} on {self!r}, only {self.labels}")

    @property
    def stamp(self) -> int:
        return int(self.date.timestamp())

    def seen(self, at: datetime) -> None:
        self.versions.append(Version(at, self.shown, tuple(tuple(row) for row in self.labels)))

    def json(self, deep: bool = True) -> Json:
        made: Json = {"message_id": self.id, "chat": self.chat.json(), "date": self.stamp}
        if self.sender is not None:
            made["from"] = self.sender
        if self.sender_chat is not None:
            made["sender_chat"] = self.sender_chat
        if self.edited is not None:
            made["edit_date"] = int(self.edited.timestamp())
        made |= self._thread()
        if deep and (parent := self.reply_to) is not None and not parent.gone:
            made["reply_to_message"] = parent.json(deep=False)
        elif deep and self.topic in self.chat.topics and "external_reply" not in self.extra:
            made["reply_to_message"] = self.chat.topic_root(self.topic)
        if self.markup is not None and "inline_keyboard" in self.markup:
            made["reply_markup"] = self.markup
        return made | {key: value for key, value in self.content.items() if value != []} | self.extra

    def _thread(self) -> Json:
        if self.topic is not None:
            return {"message_thread_id": self.topic, "is_topic_message": True}
        if self.chat.kind == "supergroup" and not self.chat.forum and self.reply_to is not None:
            root = self.reply_to
            while root.reply_to is not None:
                root = root.reply_to
            return {"message_thread_id": root.id}  # a chain of replies, which no send method takes
        return {}


def names_of(button: Json) -> tuple[str, ...]:
    text = str(button["text"])
    letter = text.partition(" · ")[0]
    return text, str(button.get("callback_data")), letter, f"{letter} ✅" if text.endswith("✅") else letter


@dataclass(eq=False)
class Chat:
    id: int
    kind: Kind
    title: str
    person: Any = None  # of a private chat
    forum: bool = False
    username: str | None = None
    messages: dict[int, Message] = field(default_factory=dict)
    topics: dict[int | None, Topic] = field(default_factory=dict)
    members: dict[int, str] = field(default_factory=dict)  # user id: status
    bot: str = "left"  # the bot's own status
    migrated_to: Chat | None = None
    next_id: int = 1
    restricted: bool = False  # the bot may not write
    started: bool = False  # a private chat: until then a bot can not write first
    last_bot: int | None = None  # which bot posted last: it gets bare commands in privacy mode

    def __str__(self) -> str:
        from tests.fakes.telegram.history import drawn

        return drawn(self)

    @property
    def admin(self) -> bool:
        return self.bot in {"administrator", "creator"}

    def json(self) -> Json:
        made: Json = {"id": self.id, "type": self.kind}
        if self.person is not None:
            user = self.person.json()
            return made | {key: user[key] for key in ("first_name", "last_name", "username") if key in user}
        made["title"] = self.title
        if self.username:
            made["username"] = self.username
        return made | ({"is_forum": True} if self.forum else {})

    def topic_root(self, topic: int | None) -> Json:
        """The service message that opened a topic: what every message there seems to reply to."""
        opened = self.topics[topic]
        return {
            "message_id": opened.id,
            "from": opened.opened_by,
            "chat": self.json(),
            "date": int(opened.created.timestamp()),
            "message_thread_id": opened.id,
            "is_topic_message": True,
            "forum_topic_created": {"name": opened.name, "icon_color": 7322096},
        }

    # -- for assertions ------------------------------------------------------------------------------------------

    @property
    def posts(self) -> list[Message]:
        """The bot's messages that are still there, oldest first."""
        return [message for message in self.messages.values() if message.mine and not message.gone]

    @property
    def texts(self) -> list[str]:
        """What the bot's messages say now, without marks."""
        return [message.text for message in self.posts]

    @property
    def last(self) -> Message:
        return self.posts[-1]

    def card(self, button: str) -> Message:
        """The newest of the bot's messages that has a button with this label or data."""
        for message in reversed(self.posts):
            if any(button in names_of(b) for b in message.buttons):
                return message
        raise AssertionError(f"no message with a button {button!r} in:\n{self}")
