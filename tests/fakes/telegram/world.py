"""Places and what happens to them: chats, topics, the bot's coming and going. Setting up a place is silent."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

from bot.ports import Clock
from tests.fakes.telegram.history import History
from tests.fakes.telegram.model import ANONYMOUS, Chat, Json, Message, Topic
from tests.fakes.telegram.people import Person
from tests.fakes.telegram.text import cut
from tests.fakes.telegram.updates import PRESS_LIFE, Update, Updates

BOT_ID = 7_000_000_001


class World:
    """`privacy`: as set with BotFather; on is the default (FAQ: "what messages will my bot get?")."""

    def __init__(self, clock: Clock, *, username: str = "askfirst_bot", privacy: bool = True) -> None:
        self.clock = clock
        self.privacy = privacy
        self.bot_to_bot = False
        self.private_topics = False  # getMe: has_topics_enabled
        self.me: Json = {"id": BOT_ID, "is_bot": True, "first_name": "Askfirst", "username": username}
        self.updates = Updates(clock)
        self.history = History()
        self.people: dict[int, Person] = {}
        self.chats: dict[int, Chat] = {}
        self.stub_after = timedelta(days=30)  # older cards come as an InaccessibleMessage with a press
        self.queries: dict[str, Any] = {}
        self._person_ids = itertools.count(5_000_000_001)
        self._group_ids = itertools.count(4_000_000_001)
        self._super_ids = itertools.count(1_001_500_000_001)
        self.numbers = itertools.count(1)

    # -- people and places ---------------------------------------------------------------------------------------

    def person(self, first_name: str, **known: Any) -> Person:
        """`username`, `last_name`, `language`, `id`, `is_bot` (another bot), `started` (has written to the bot)."""
        known.setdefault("id", next(self._person_ids))
        started = known.pop("started", False)
        person = Person(self, first_name=first_name, **known)
        self.people[person.id] = person
        person.chat.started = started
        return person

    def private(self, person: Person) -> Chat:
        return self.chats.setdefault(person.id, Chat(person.id, "private", "", person=person, bot="member"))

    def group(self, title: str, *people: Person, bot: str = "member") -> Chat:
        """A basic group: no topics; it can become a supergroup."""
        return self._place(Chat(-next(self._group_ids), "group", title, bot=bot), people)

    def supergroup(self, title: str, *people: Person, bot: str = "member", forum: bool = False) -> Chat:
        return self._place(Chat(-next(self._super_ids), "supergroup", title, forum=forum, bot=bot), people)

    def channel(self, title: str, *people: Person, bot: str = "administrator") -> Chat:
        return self._place(Chat(-next(self._super_ids), "channel", title, bot=bot), people)

    def topic(self, chat: Chat, name: str, by: Person | None = None, *, tell: bool = False) -> Topic:
        """By default the bot itself opened it, silently; everything in it looks like a reply to the bot then."""
        opener = self.me if by is None else by.json()
        message = self.put(chat, opener, {"forum_topic_created": {"name": name, "icon_color": 7322096}})
        message.topic, message.mine = message.id, by is None
        topic = Topic(message.id, name, opener, message.date)
        if by is not None or tell:
            self._tell(message, edited=False)
        chat.topics[topic.id] = topic
        return topic

    def close_topic(self, chat: Chat, topic: Topic, by: Person | None = None) -> None:
        topic.closed = True
        self._topic_news(chat, topic, "forum_topic_closed", by)

    def reopen_topic(self, chat: Chat, topic: Topic, by: Person | None = None) -> None:
        topic.closed = False
        self._topic_news(chat, topic, "forum_topic_reopened", by)

    def delete_topic(self, chat: Chat, topic: Topic) -> None:
        """No update tells of it."""
        topic.gone = True
        for message in chat.messages.values():
            message.gone = message.gone or message.topic == topic.id

    # -- the bot comes and goes ----------------------------------------------------------------------------------

    def add_bot(self, chat: Chat, by: Person) -> None:
        self._bot_becomes(chat, "member", by.json())
        if chat.kind != "channel":
            self.service(chat, {"new_chat_members": [self.me]}, by.json())

    def remove_bot(self, chat: Chat, by: Person | None = None) -> None:
        """Without a person: by an anonymous administrator. The service message still arrives, as its last."""
        actor, channel = (ANONYMOUS, chat.json()) if by is None else (by.json(), None)
        if chat.kind != "channel":
            self.service(chat, {"left_chat_member": self.me}, actor, channel)
        self._bot_becomes(chat, "kicked", actor)

    def promote_bot(self, chat: Chat, by: Person) -> None:
        self._bot_becomes(chat, "administrator", by.json())

    def demote_bot(self, chat: Chat, by: Person) -> None:
        self._bot_becomes(chat, "member", by.json())

    def restrict_bot(self, chat: Chat, by: Person) -> None:
        self._bot_becomes(chat, "restricted", by.json())

    def migrate(self, chat: Chat, by: Person | None = None) -> Chat:
        """A basic group becomes a supergroup: another id, other message ids, two service messages."""
        actor = ANONYMOUS if by is None else by.json()
        made = self.supergroup(chat.title, bot=chat.bot)
        made.members = dict(chat.members)
        self.service(chat, {"migrate_to_chat_id": made.id}, actor)
        chat.migrated_to = made
        self.service(made, {"migrate_from_chat_id": chat.id}, actor)
        return made

    # -- messages ------------------------------------------------------------------------------------------------

    def put(self, chat: Chat, sender: Json | None, content: Json, **more: Any) -> Message:
        """A message appears. Ids count per chat."""
        message = Message(chat, chat.next_id, self.clock.now(), sender, content, **more)
        chat.next_id += 1
        chat.messages[message.id] = message
        return message

    def service(self, chat: Chat, content: Json, sender: Json, channel: Json | None = None) -> Message:
        """Everybody's bots get service messages, whatever their privacy mode."""
        message = self.put(chat, sender, content, sender_chat=channel)
        self._tell(message, edited=False)
        return message

    def hear(self, message: Message, *, edited: bool = False, author: Person | None = None) -> Update | None:
        """What people say reaches the bot, or not."""
        return self._tell(message, edited) if self._reaches(message, author) else None

    def _tell(self, message: Message, edited: bool) -> Update | None:
        if message.chat.bot in {"left", "kicked"}:
            return None
        noun = "channel_post" if message.chat.kind == "channel" else "message"
        kind = f"edited_{noun}" if edited else noun
        message.update = self.updates.add(kind, message.json(), ("chat", message.chat.id))
        return message.update

    def is_me(self, user: Json) -> bool:
        return bool(user["id"] == self.me["id"])

    def _reaches(self, message: Message, author: Person | None) -> bool:
        """FAQ on privacy mode: commands meant for the bot, replies to it, mentions of it; else nothing."""
        chat = message.chat
        if author is not None and author.is_bot and not self.bot_to_bot:
            return False
        if chat.kind in {"private", "channel"} or chat.admin or not self.privacy:
            return True
        if message.reply_to is not None and message.reply_to.mine:
            return True
        return any(self._meant(message, entity) for entity in message.entities)

    def _meant(self, message: Message, entity: Json) -> bool:
        said = cut(message.text, entity["offset"], entity["length"]).lower()
        name = f"@{self.me['username'].lower()}"
        if entity["type"] == "bot_command":
            return said.endswith(name) if "@" in said else message.chat.last_bot == self.me["id"]
        if entity["type"] == "text_mention":
            return self.is_me(entity["user"])
        return entity["type"] == "mention" and said == name

    def press_update(self, person: Person, body: Json) -> Update | None:
        """Presses have a queue of their own per person: they and messages can overtake each other."""
        return self.updates.add("callback_query", body, ("user", person.id), PRESS_LIFE)

    def member_update(self, chat: Chat, actor: Json, old: str, new: str) -> None:
        self.updates.add(
            "my_chat_member",
            {
                "chat": chat.json(),
                "from": actor,
                "date": int(self.clock.now().timestamp()),
                "old_chat_member": member(self.me, old),
                "new_chat_member": member(self.me, new),
            },
            ("member", chat.id),
        )

    def _bot_becomes(self, chat: Chat, status: str, actor: Json) -> None:
        old, chat.bot = chat.bot, status
        chat.restricted = status == "restricted"
        self.member_update(chat, actor, old, status)

    def _topic_news(self, chat: Chat, topic: Topic, what: str, by: Person | None) -> None:
        message = self.put(chat, ANONYMOUS if by is None else by.json(), {what: {}}, topic=topic.id)
        self._tell(message, edited=False)

    def _place(self, chat: Chat, people: tuple[Person, ...]) -> Chat:
        chat.members = {person.id: "member" for person in people}
        if chat.kind != "group":
            chat.next_id = 2  # the first message says that it was made; in a forum, 1 is the General topic
        self.chats[chat.id] = chat
        return chat


_NO = dict.fromkeys(
    [
        "can_change_info",
        "can_delete_messages",
        "can_invite_users",
        "can_restrict_members",
        "can_promote_members",
        "can_manage_video_chats",
        "can_manage_chat",
        "can_post_stories",
        "can_edit_stories",
        "can_delete_stories",
        "is_anonymous",
        "can_be_edited",
    ],
    False,
)
_MAY = dict.fromkeys(
    [
        "can_send_messages",
        "can_send_audios",
        "can_send_documents",
        "can_send_photos",
        "can_send_videos",
        "can_send_video_notes",
        "can_send_voice_notes",
        "can_send_polls",
        "can_send_other_messages",
        "can_add_web_page_previews",
        "can_react_to_messages",
        "can_edit_tag",
        "can_change_info",
        "can_invite_users",
        "can_pin_messages",
        "can_manage_topics",
    ],
    False,
)


def member(user: Json, status: str) -> Json:
    """A ChatMember of a status, with the fields that it has to have."""
    made: Json = {"user": user, "status": status}
    if status == "administrator":
        return made | _NO | {"can_delete_messages": True, "can_manage_chat": True, "can_manage_topics": True}
    if status == "creator":
        return made | {"is_anonymous": False}
    if status == "restricted":
        return made | _MAY | {"is_member": True, "until_date": 0}
    return made | ({"until_date": 0} if status == "kicked" else {})
