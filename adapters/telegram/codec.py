"""Updates to events. Pure: the same update gives the same event, whichever way it was delivered."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from telegram import Bot, CallbackQuery, Chat, MaybeInaccessibleMessage, Message, MessageEntity, Update, User

from adapters.contract import UNSTAMPED, clean
from adapters.limits import length
from adapters.telegram.content import content_of, service, source_of
from adapters.telegram.places import PLATFORM, Me, conversation_of, name_of, order_of
from bot.core.events import ButtonPressed, Envelope, Ignored, MessageEdited, MessageReceived
from bot.core.model import MessageRef, Person, Place

# What is asked for: the three that people make, what a channel says to the bot, and what happens to the bot itself.
WANTED = ("message", "edited_message", "callback_query", "channel_post", "my_chat_member")

GROUPS = (Chat.GROUP, Chat.SUPERGROUP)
PART = 2048  # UTF-16 units; clients cut a long paste at 4096, at the best break in the second half
COMMAND = re.compile(r"/([A-Za-z0-9_]{1,64})(?:[-\u2010-\u2015\w]*)@([A-Za-z0-9_]{3,32})\b")


def read_update(raw: Any, bot: Bot | None = None) -> Update | Ignored:
    """The library's form of an update. One that can not be read is ignored, or it would come again for ever."""
    if not isinstance(raw, dict) or not isinstance(raw.get("update_id"), int):
        return Ignored(reason="unreadable update: no update at all")
    reason = ""
    for form in (raw, _with_stub(raw)):
        try:
            return Update.de_json(form, bot)
        except Exception as error:  # noqa: BLE001 - the library raises whatever its reading runs into
            reason = reason or f"unreadable update: {type(error).__name__}"
    return Ignored(reason=reason)


def _with_stub(raw: dict[str, Any]) -> dict[str, Any]:
    """A press whose card can not be read, with the card as the stub that old ones are: the token alone is enough."""
    query = raw.get("callback_query")
    card = query.get("message") if isinstance(query, dict) else None
    if not isinstance(query, dict) or not isinstance(card, dict):
        return raw
    stub = {"message_id": card.get("message_id"), "chat": card.get("chat"), "date": 0}
    return raw | {"callback_query": query | {"message": stub}}


def event_from_update(update: Update, me: Me) -> Envelope | Ignored:
    """The event of an update, or why there is none."""
    try:
        return _event(update, me)
    except Exception as error:  # noqa: BLE001 - a field that is not what it is documented to be
        return Ignored(reason=f"unreadable update: {type(error).__name__}")


def _event(update: Update, me: Me) -> Envelope | Ignored:
    if update.message is not None:
        return _message(update.message, me)
    if update.edited_message is not None:
        return _edited(update.edited_message, me)
    if update.callback_query is not None:
        return _pressed(update.callback_query, me)
    if update.my_chat_member is not None:
        member = update.my_chat_member
        change = f"{member.old_chat_member.status} to {member.new_chat_member.status}"
        return Ignored(reason=f"the bot's standing in {member.chat.id} changed: {change}")
    if update.channel_post is not None:
        return _channel(update.channel_post, me)
    kinds = [name for name in Update.__slots__ if name != "update_id" and getattr(update, name, None) is not None]
    return Ignored(reason=f"no kind that is asked for: {', '.join([*kinds, *update.api_kwargs]) or 'empty'}")


# -- messages ----------------------------------------------------------------------------------------------------


def _message(message: Message, me: Me) -> Envelope | Ignored:
    why = _not_said(message, me)
    if why is not None:
        return Ignored(reason=why)
    content = content_of(message)
    if content is None:
        return Ignored(reason=f"nothing that people say: {service(message) or 'an empty message'}")
    entities = message.entities or message.caption_entities
    ours = _leading_name(_ours(content.text, message, me), entities, me)
    text, addressed = _addressed(ours, _mentions_by_id(entities, me), me)
    if content.text and _for_another(content.text, me) and _shared(message.chat):
        return Ignored(reason="a command for another bot")
    quoted = message.quote.text if message.quote else None
    event = MessageReceived(
        person=_sender(message),
        text=text,
        ref=MessageRef(
            id=_name(message, me),
            quote=content.text or content.unreadable or ", ".join(m.name for m in content.materials),
            link=_link(message),
        ),
        materials=content.materials,
        reply_to=_reply_to(message, me),
        addressed=addressed,
        decoded=True,
        forwarded=source_of(message.forward_origin),
        quoted=None if quoted is None else clean(quoted),
        album=message.media_group_id,
        partial=length(content.text) > PART and message.text is not None,
        order=order_of(message.chat.id, message.message_id, me.first),
        named=tuple(dict.fromkeys(f"{PLATFORM}:{user.id}" for _, user in _people_named(entities, me))),
        unreadable=content.unreadable,
    )
    return Envelope(
        event_id=f"{_act(message, me)}:said",
        place=_place(message.chat, _topic(message), me),
        at=UNSTAMPED,
        platform_at=message.date,
        event=event,
    )


def _channel(message: Message, me: Me) -> Envelope | Ignored:
    """Only what is said to the bot: it is told that it can not ask there. The rest is not kept at all."""
    text = clean(message.text or message.caption or "")
    entities = message.entities or message.caption_entities
    _, addressed = _addressed(text, _mentions_by_id(entities, me), me)
    if not addressed:
        return Ignored(reason="a channel post: nobody in particular says it, and questions are asked in groups")
    return Envelope(
        event_id=f"{_act(message, me)}:said",
        place=_place(message.chat, None, me),
        at=UNSTAMPED,
        platform_at=message.date,
        event=MessageReceived(
            person=_sender(message),
            text=text,
            ref=MessageRef(id=_name(message, me), quote=text, link=_link(message)),
            addressed=True,
            decoded=True,
        ),
    )


def _edited(message: Message, me: Me) -> Envelope | Ignored:
    why = _not_said(message, me)
    if why is not None:
        return Ignored(reason=why)
    written = clean(message.text or message.caption or "")
    if not written:
        return Ignored(reason="an edit without words, as of a live location")
    if _shared(message.chat) and _for_another(written, me):
        return Ignored(reason="a command for another bot")
    entities = message.entities or message.caption_entities
    text, _ = _addressed(_ours(written, message, me), _mentions_by_id(entities, me), me)
    name = _name(message, me)
    moment = message.edit_date or message.date
    # The moment has whole seconds, and two edits can fall into one. A reaction to an edited message repeats both.
    print_ = hashlib.sha256(written.encode()).hexdigest()[:12]
    return Envelope(
        event_id=f"{_act(message, me)}:edit:{int(moment.timestamp())}:{print_}",
        place=_place(message.chat, _topic(message), me),
        at=UNSTAMPED,
        platform_at=moment,
        event=MessageEdited(
            person=_sender(message),
            message=name,
            text=text,
            ref=MessageRef(id=name, quote=written, link=_link(message)),
            decoded=True,
            order=order_of(message.chat.id, message.message_id, me.first),
        ),
    )


def said_id(edit: Envelope) -> str:
    """The event id of the message that an edit changes."""
    return f"{edit.event_id.partition(':edit:')[0]}:said"


def _not_said(message: Message, me: Me) -> str | None:
    """Why a message is nothing that anybody here says to the bot."""
    if message.from_user is not None and message.from_user.id == me.id:
        return "our own message"
    if message.via_bot is not None and message.via_bot.id == me.id:
        return "a copy of our own message, sent through inline mode"
    if getattr(message, "direct_messages_topic", None) is not None:
        return "a direct message to a channel"
    return None


def _sender(message: Message) -> Person:
    """People by their id. Anonymous admins and channels speak with the identity that they show, and never answer."""
    shown, user = message.sender_chat, message.from_user
    if shown is not None:
        return Person(id=f"{PLATFORM}:{shown.id}", name=clean(shown.title or str(shown.id)), kind="channel")
    if user is None:
        return Person(id=f"{PLATFORM}:{message.chat.id}", name="nobody", kind="channel")
    return _person(user)


def _person(user: User) -> Person:
    kind: Literal["bot", "person"] = "bot" if user.is_bot else "person"
    return Person(id=f"{PLATFORM}:{user.id}", name=clean(user.full_name), kind=kind, handle=user.username)


def _shared(chat: Chat) -> bool:
    return chat.type in GROUPS


def _topic(message: Message) -> int | None:
    """A thread of replies has a thread id too; only topics take messages (platform behaviour: tdlib #447)."""
    return message.message_thread_id if message.is_topic_message else None


def _place(chat: Chat, topic: int | None, me: Me) -> Place:
    channel = chat.type == Chat.CHANNEL
    return Place(
        conversation=conversation_of(chat.id, topic, me.first),
        platform=PLATFORM,
        shared=_shared(chat) or channel,
        read_only=channel or None,
    )


def _name(message: MaybeInaccessibleMessage, me: Me) -> str:
    return name_of(message.chat.id, message.message_id, me.first)


def _link(message: MaybeInaccessibleMessage) -> str | None:
    """The address of a message: core.telegram.org/api/links#message-links. Private chats and basic groups have none.

    `Message.link` makes the same, but `?thread=None` of a reply outside a thread, and none for a stub (b10).
    """
    chat = message.chat
    if chat.type not in (Chat.SUPERGROUP, Chat.CHANNEL):
        return None
    name = chat.username or f"c/{str(chat.id).removeprefix('-100')}"
    at = f"https://t.me/{name}/{message.message_id}"
    topic = _topic(message) if isinstance(message, Message) else None  # a stub does not tell it
    return at if topic is None else f"{at}?thread={topic}"


def _act(message: Message, me: Me) -> str:
    return f"{PLATFORM}:{me.id}:{message.chat.id}:{message.message_id}"


def _reply_to(message: Message, me: Me) -> str | None:
    """In a topic every message seems to reply to the message that opened it; that is no reply (b02)."""
    replied = message.reply_to_message
    if replied is None or replied.forum_topic_created is not None:
        return None
    if message.is_topic_message and replied.message_id == message.message_thread_id:
        return None
    return _name(replied, me)


# -- to whom -----------------------------------------------------------------------------------------------------


def _addressed(text: str, by_id: bool, me: Me) -> tuple[str, bool]:
    """The text without a leading mention of the bot, in a command too, and whether it is mentioned at all (RT-6)."""
    mention = re.compile(rf"(?<![\w@./])@{re.escape(me.username)}(?!\w)", re.IGNORECASE)
    found = mention.search(text)
    command = COMMAND.match(text.lstrip())
    if command is not None and command.group(2).casefold() == me.username.casefold():
        # The menu of commands writes the bot's name in groups; whoever gets the request has no use for it (RT-15).
        text = text.lstrip()
        return text[: command.start(2) - 1] + text[command.end(2) :], True
    if found is None:
        return text, by_id
    if not text[: found.start()].strip():
        return re.sub(r"^[:,]?[ \t]*", "", text[found.end() :]), True
    return text, True


def _mentions_by_id(entities: tuple[MessageEntity, ...], me: Me) -> bool:
    return any(e.type == MessageEntity.TEXT_MENTION and e.user is not None and e.user.id == me.id for e in entities)


def _people_named(entities: tuple[MessageEntity, ...], me: Me) -> Iterator[tuple[MessageEntity, User]]:
    """Mentions by id: programs write them for people without a username, by their name alone."""
    for entity in entities:
        if entity.type == MessageEntity.TEXT_MENTION and entity.user is not None and entity.user.id != me.id:
            yield entity, entity.user


def _leading_name(text: str, entities: tuple[MessageEntity, ...], me: Me) -> str:
    """A mention by id that the message begins with, written as one with a username is: "Maria Lopez please" reads as
    "@Maria_Lopez please" (CH-6). Further on the words stay as they are, or answers in own words would not."""
    for entity, user in _people_named(entities, me):
        if entity.offset == 0:
            units = text.encode("utf-16-le", "surrogatepass")
            name = units[: 2 * entity.length].decode("utf-16-le", "replace")
            handle = "_".join(re.findall(r"\w+", name)).lstrip("_0123456789")
            rest = units[2 * entity.length :].decode("utf-16-le", "surrogatepass")
            return f"@{handle if len(handle) > 1 else f'id{user.id}'}{rest}"
    return text


def _ours(text: str, message: Message, me: Me) -> str:
    """Without commands that name another bot: they are said to it, in the middle of words for us (b47)."""
    if not _shared(message.chat) or "@" not in text:
        return text
    entities = message.entities or message.caption_entities
    units = text.encode("utf-16-le", "surrogatepass")
    for entity in sorted(entities, key=lambda e: e.offset, reverse=True):
        if entity.type == MessageEntity.BOT_COMMAND and entity.offset:
            start, stop = 2 * entity.offset, 2 * (entity.offset + entity.length)
            if _for_another(units[start:stop].decode("utf-16-le", "replace"), me):
                units = units[:start] + units[stop:]
    return units.decode("utf-16-le", "surrogatepass").strip() if len(units) != 2 * length(text) else text


def _for_another(text: str, me: Me) -> bool:
    command = COMMAND.match(text.lstrip())
    return command is not None and command.group(2).casefold() != me.username.casefold()


# -- presses -----------------------------------------------------------------------------------------------------


def _pressed(query: CallbackQuery, me: Me) -> Envelope | Ignored:
    event_id = f"{PLATFORM}:{me.id}:press:{query.id}"
    message = query.message
    if message is None:  # b14: a copy in some chat proves neither the place nor that this person sees the round
        return Ignored(event_id=event_id, reason="a press on a copy of a card outside its chat")
    if query.data is None:
        return Ignored(event_id=event_id, reason="a press without data, as of a game")
    token = clean(query.data)
    topic = _topic(message) if isinstance(message, Message) else None  # a stub does not tell it (b10)
    label = clean(_label(message, query.data) or "")
    return Envelope(
        event_id=event_id,
        place=_place(message.chat, topic, me),
        at=UNSTAMPED,
        event=ButtonPressed(
            person=_person(query.from_user),
            token=token,
            label=label or token,
            ref=MessageRef(
                id=query.id,
                quote=label or token,
                link=_link(message),
                card=_name(message, me),
            ),
        ),
    )


def _label(message: MaybeInaccessibleMessage, data: str) -> str | None:
    """What is written on the button, as the message is drawn now."""
    markup = message.reply_markup if isinstance(message, Message) else None
    rows = () if markup is None else markup.inline_keyboard
    return next((button.text for row in rows for button in row if button.callback_data == data), None)


# -- moves -------------------------------------------------------------------------------------------------------


def move_of(update: Update) -> tuple[int, int] | None:
    """Old and new chat id, where the update says that a group has become a supergroup. Both chats say it."""
    message = update.message
    if message is None:
        return None
    if message.migrate_to_chat_id is not None:
        return message.chat.id, message.migrate_to_chat_id
    if message.migrate_from_chat_id is not None:
        return message.migrate_from_chat_id, message.chat.id
    return None


def to_us(update: Update, me: Me) -> bool:
    """Whether a message replies to one of ours, whichever that is; not to a topic's first one (b02)."""
    message = update.message
    replied = None if message is None else message.reply_to_message
    if message is None or replied is None or replied.from_user is None or _reply_to(message, me) is None:
        return False
    return replied.from_user.id == me.id


def is_stub(update: Update) -> bool:
    """A press on a card so old that Telegram gives nothing of it but its id: not the topic, either (b10)."""
    query = update.callback_query
    return query is not None and query.message is not None and not query.message.is_accessible


def queue_of(raw: Mapping[str, Any]) -> Any:
    """What has to be handled in order: the chat of an update, as it lies in the JSON."""
    for kind in WANTED:
        body = raw.get(kind)
        if isinstance(body, dict):
            inner = body.get("message") if kind == "callback_query" else body
            chat = inner.get("chat") if isinstance(inner, dict) else None
            return chat.get("id") if isinstance(chat, dict) else None
    return None
