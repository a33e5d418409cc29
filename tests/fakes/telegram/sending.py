"""Methods that put messages into chats, change them and take them away."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.fakes.telegram.access import Access
from tests.fakes.telegram.errors import Refusal, bad
from tests.fakes.telegram.markup import parse
from tests.fakes.telegram.model import Chat, Json, Message
from tests.fakes.telegram.schema import Upload
from tests.fakes.telegram.text import (
    FOUND,
    GIVEN,
    MAX_CAPTION,
    MAX_ENTITIES,
    MAX_REQUEST_TEXT,
    MAX_TEXT,
    Entity,
    check_bounds,
    clean,
    found,
    trimmed,
    utf16,
)

MAX_DATA, MAX_BUTTONS, MAX_ROW = 64, 100, 8  # InlineKeyboardButton: "1-64 bytes"; the others from practice
MAX_UPLOAD = 50 << 20  # "Bots can currently send files of any type of up to 50 MB in size"
MAX_QUOTE = 1024
STYLES = frozenset({"", "danger", "success", "primary"})

NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current "
    "content and reply markup of the message"
)


class Sending(Access):
    """The order of the checks is that of the server: markup of the keyboard, text, chat, topic, reply, content."""

    strict_utf16: bool

    def send_message(self, p: Json) -> Json:
        markup = check_markup(p.get("reply_markup"))
        text, entities = self._parsed(p["text"], p.get("parse_mode"), p.get("entities"))
        chat, topic, reply = self._target(p, markup)
        content = self._content("sendMessage", text, entities, MAX_TEXT, "message is too long")
        return self._sent(chat, {"text": content[0], "entities": content[1]}, markup, topic, reply).json()

    def send_document(self, p: Json) -> Json:
        markup = check_markup(p.get("reply_markup"))
        caption, entities = self._parsed(p.get("caption", ""), p.get("parse_mode"), p.get("caption_entities"), True)
        chat, topic, reply = self._target(p, markup)
        file = self._document(p["document"])
        made: Json = {"document": file}
        if caption.strip():
            text, marks = self._content("sendDocument", caption, entities, MAX_CAPTION, "message caption is too long")
            made |= {"caption": text, "caption_entities": marks}
        message = self._sent(chat, made, markup, topic, reply)
        message.file = self.history.files[file["file_id"]]
        return message.json()

    def edit_message_text(self, p: Json) -> Any:
        markup = check_markup(p.get("reply_markup"), edit=True)
        if "text" not in p:
            raise bad("message text is empty")
        text, entities = self._parsed(p["text"], p.get("parse_mode"), p.get("entities"))
        message = self._editable(p)
        if "text" not in message.content:
            raise bad("there is no text in the message to edit")
        words, marks = self._content("editMessageText", text, entities, MAX_TEXT, "message is too long")
        return self._changed(message, {"text": words, "entities": marks}, markup)

    def edit_message_reply_markup(self, p: Json) -> Any:
        markup = check_markup(p.get("reply_markup"), edit=True)
        message = self._editable(p)
        return self._changed(message, message.content, markup)

    def delete_message(self, p: Json) -> bool:
        """deleteMessage: own messages and, in private chats, the person's, within 48 hours; administrators any."""
        chat = self.chat_of(p["chat_id"], write=True)
        message = chat.messages.get(p["message_id"])
        if message is None or message.gone:
            raise bad("message to delete not found")
        late = self.clock.now() - message.date > timedelta(hours=48)
        allowed = chat.admin or ((message.mine or chat.kind == "private") and not late)
        if not allowed:
            raise bad("message can't be deleted")
        message.gone = True
        return True

    # -- text ----------------------------------------------------------------------------------------------------

    def _parsed(
        self, text: str, mode: str | None, given: list[Entity] | None, empty: bool = False
    ) -> tuple[str, list[Entity]]:
        """Client.cpp get_formatted_text. With a parse_mode the entities are ignored."""
        if len(text.encode("utf-8", "surrogatepass")) > MAX_REQUEST_TEXT:
            raise bad("Text is too long")
        if not text and not empty:
            raise bad("message text is empty")
        if any("\ud800" <= c <= "\udfff" for c in text):
            raise bad("strings must be encoded in UTF-8")
        if text and mode and mode.lower() != "none":
            return parse(text, mode)
        for entity in given or []:
            if entity["type"] not in GIVEN | FOUND:
                raise bad("can't parse MessageEntity: Unsupported type specified")
        return text, [entity for entity in given or [] if entity["type"] in GIVEN]

    def _content(
        self, method: str, text: str, entities: list[Entity], most: int, long: str
    ) -> tuple[str, list[Entity]]:
        """TDLib fix_formatted_text: bounds, blanks, the 4096, and the entities beyond 100 dropped without a word."""
        check_bounds(text, entities)
        text, entities = trimmed(clean(text), entities)
        if not text:
            raise bad("text must be non-empty")
        if (utf16(text) if self.strict_utf16 else len(text)) > most:
            raise bad(long)
        if len(entities) > MAX_ENTITIES:
            self.history.dropped_entities.append((method, len(entities) - MAX_ENTITIES))
            entities = entities[:MAX_ENTITIES]
        kept = [e for e in entities if e["type"] in {"code", "pre", "text_link"}]
        marked = [(e["offset"], e["offset"] + e["length"]) for e in kept]
        for entity in found(text):
            start, stop = entity["offset"], entity["offset"] + entity["length"]
            if all(stop <= low or start >= high for low, high in marked):
                entities = [*entities, entity]
        return text, sorted(entities, key=lambda e: (e["offset"], -e["length"]))

    # -- where to ------------------------------------------------------------------------------------------------

    def _target(self, p: Json, markup: Json | None) -> tuple[Chat, int | None, Message | None]:
        chat = self.chat_of(p["chat_id"], write=True)
        if chat.restricted:
            raise bad("not enough rights to send text messages to the chat")
        topic = self.topic_of(chat, p.get("message_thread_id"))
        reply = self._reply(chat, p.get("reply_parameters"))
        if reply is not None and topic is None:
            topic = reply.topic
        if topic is not None and chat.topics[topic].closed:
            raise bad("TOPIC_CLOSED")
        if chat.kind == "channel" and markup is not None and "inline_keyboard" not in markup:
            raise bad("inline keyboard expected")
        return chat, topic, reply

    def _reply(self, chat: Chat, given: Json | None) -> Message | None:
        if not given:
            return None
        elsewhere = given.get("chat_id", chat.id) not in {chat.id, str(chat.id)}
        place = self.chat_of(given["chat_id"]) if elsewhere else chat
        message = place.messages.get(given["message_id"])
        if message is None or message.gone:
            if given.get("allow_sending_without_reply") and not elsewhere:
                return None
            raise bad("message to be replied not found")
        if quote := given.get("quote"):
            if len(quote) > MAX_QUOTE:
                raise bad("QUOTE_TEXT_INVALID")
            if quote not in message.text:
                raise bad("quote not found")
        return message

    def _sent(
        self, chat: Chat, content: Json, markup: Json | None, topic: int | None, reply: Message | None
    ) -> Message:
        sender, channel = (None, chat.json()) if chat.kind == "channel" else (self.me, None)
        chat.last_bot = self.me["id"]
        return self.put(
            chat,
            sender,
            content,
            mine=True,
            sender_chat=channel,
            topic=topic,
            reply_to=reply,
            markup=markup,
        )

    def _editable(self, p: Json) -> Message:
        """TDLib can_edit_message: own messages, without a keyboard that is not inline."""
        if "inline_message_id" in p:
            raise bad("MESSAGE_ID_INVALID")
        if "chat_id" not in p:
            raise bad("chat_id is empty")
        chat = self.chat_of(p["chat_id"], write=True)
        message = chat.messages.get(p.get("message_id", 0))
        if message is None or message.gone:
            raise bad("message to edit not found")
        if not message.mine or not message.inline:
            raise bad("message can't be edited")
        if message.topic is not None and chat.topics[message.topic].closed:
            raise bad("TOPIC_CLOSED")
        return message

    def _changed(self, message: Message, content: Json, markup: Json | None) -> Json:
        """Without a keyboard in the call, the old one goes."""
        if content == message.content and (markup or None) == (message.markup or None):
            raise bad(NOT_MODIFIED)
        message.content, message.markup, message.edited = content, markup, self.clock.now()
        message.seen(message.edited)
        return message.json()

    def _document(self, given: Any) -> Json:
        if isinstance(given, Upload):
            if not given.content:
                raise bad("file must be non-empty")
            if len(given.content) > MAX_UPLOAD:
                raise Refusal(413, "Request Entity Too Large")
            number = next(self.numbers)
            self.history.files[f"file-{number}"] = given.content
            known = {"file_name": given.name, "mime_type": given.mime, "file_size": len(given.content)}
            return {"file_id": f"file-{number}", "file_unique_id": f"u{number}"} | known
        if given in self.history.files:
            return {"file_id": given, "file_unique_id": f"u{given}"}
        raise bad("wrong file identifier/HTTP URL specified")


def check_markup(markup: Json | None, edit: bool = False) -> Json | None:
    """Client.cpp get_reply_markup and TDLib get_reply_markup. An empty inline keyboard is none."""
    if not markup:
        return None
    if "inline_keyboard" not in markup:
        if edit:
            raise bad("inline keyboard expected")
        placeholder = markup.get("input_field_placeholder")
        if placeholder is not None and not 1 <= len(placeholder) <= 64:
            raise bad("invalid reply markup placeholder specified")
        return markup
    rows = [row for row in markup["inline_keyboard"] if row]
    if any(len(row) > MAX_ROW for row in rows) or sum(map(len, rows)) > MAX_BUTTONS:
        raise bad("reply markup is too long")
    for row in rows:
        for button in row:
            _check_button(button)
    return {"inline_keyboard": rows} if rows else None


def _check_button(button: Json) -> None:
    kinds = set(button) - {"text", "style", "icon_custom_emoji_id"}
    if not kinds:
        raise bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
    if len(kinds) > 1:
        raise bad(f"can't parse inline keyboard button: exactly one of its optional fields, not {sorted(kinds)}")
    if not button["text"].strip():
        raise bad("can't parse inline keyboard button: Button text must be non-empty")
    if button.get("style", "") not in STYLES:
        raise bad("can't parse inline keyboard button: invalid button style specified")
    if "callback_data" in button and not 1 <= len(button["callback_data"].encode()) <= MAX_DATA:
        raise bad("BUTTON_DATA_INVALID")
    if "url" in button and not button["url"].startswith(("http://", "https://", "tg://")):
        raise bad(f"inline keyboard button URL '{button['url']}' is invalid: Wrong HTTP URL")
    if "copy_text" in button and not 1 <= len(button["copy_text"]["text"]) <= 256:
        raise bad("COPY_TEXT_INVALID")
