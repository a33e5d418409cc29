"""What people do. Every act gives back the message (or the press) as the server keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from tests.fakes.telegram.model import ANONYMOUS, CHANNEL_BOT, LINKED, Chat, Json, Message, Topic
from tests.fakes.telegram.text import MAX_TEXT, found, utf16

if TYPE_CHECKING:
    from tests.fakes.telegram.updates import Update
    from tests.fakes.telegram.world import World

As = Literal["anonymous", "linked"] | Chat | None


@dataclass(eq=False)
class Query:
    """A press, from the moment on to its answer."""

    id: str
    person: Person
    message: Message | None
    at: datetime
    update: Update | None
    answer: str | None = None
    alert: bool = False


@dataclass(eq=False)
class Person:
    world: World
    first_name: str
    id: int
    last_name: str | None = None
    username: str | None = None
    language: str | None = "en"
    is_bot: bool = False
    blocked: bool = False  # has blocked the bot
    deactivated: bool = False

    def __repr__(self) -> str:
        return f"<{self.first_name} {self.id}>"

    def json(self) -> Json:
        made: Json = {"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name}
        more = {"last_name": self.last_name, "username": self.username, "language_code": self.language}
        return made | {key: value for key, value in more.items() if value is not None}

    @property
    def chat(self) -> Chat:
        """The private chat with the bot."""
        return self.world.private(self)

    # -- words ---------------------------------------------------------------------------------------------------

    def say(self, text: str, to: Chat | None = None, *, entities: list[Json] | None = None, **how: Any) -> Message:
        """`how`: reply_to, quote, topic, as_ ("anonymous", "linked" or a channel)."""
        assert len(text) <= MAX_TEXT, "the client would send this as several messages: use paste"
        marks = found(text) if entities is None else entities
        return self._post({"text": text, "entities": marks}, to, **how)

    def paste(self, text: str, to: Chat | None = None, **how: Any) -> list[Message]:
        """What is too long for one message the client sends as several, cut where 4096 characters end."""
        parts = [text[n : n + MAX_TEXT] for n in range(0, len(text), MAX_TEXT)]
        return [self.say(part, to, **how) for part in parts]

    def reply(self, message: Message, text: str, *, quote: str | None = None, **how: Any) -> Message:
        return self.say(text, message.chat, reply_to=message, quote=quote, **how)

    def start(self, payload: str = "") -> Message:
        """The start button, or a deep link `t.me/bot?start=payload` (at most 64 of A-Z, a-z, 0-9, _ and -)."""
        assert len(payload) <= 64
        assert all(c.isascii() and (c.isalnum() or c in "_-") for c in payload)
        return self.say(f"/start {payload}".rstrip())

    def forward(self, text: str, origin: Person | Chat | str, to: Chat | None = None, **how: Any) -> Message:
        """Somebody else's words: of a person, of a channel, or of a name that hides its account."""
        date = int((self.world.clock.now() - timedelta(hours=2)).timestamp())
        if isinstance(origin, str):
            made: Json = {"type": "hidden_user", "sender_user_name": origin, "date": date}
        elif isinstance(origin, Person):
            made = {"type": "user", "sender_user": origin.json(), "date": date}
        else:
            made = {"type": "channel", "chat": origin.json(), "message_id": 7, "date": date}
        return self.say(text, to, extra={"forward_origin": made}, **how)

    def edit(self, message: Message, text: str) -> Update | None:
        """The same text again is what a first reaction or a link preview looks like (an edit without a change)."""
        key, marks = ("caption", "caption_entities") if "text" not in message.content else ("text", "entities")
        message.content = message.content | {key: text, marks: found(text)}
        message.edited = self.world.clock.now()
        message.seen(message.edited)
        return self.world.hear(message, edited=True, author=self)

    def delete(self, message: Message) -> None:
        """Bots are not told."""
        message.gone = True

    # -- everything else that can be sent ------------------------------------------------------------------------

    def file(
        self, name: str, caption: str = "", to: Chat | None = None, *, content: bytes = b"%PDF-", **how: Any
    ) -> Message:
        message = self._post({"document": self._file(content, file_name=name)} | _caption(caption), to, **how)
        message.file = content
        return message

    def photo(self, caption: str = "", to: Chat | None = None, **how: Any) -> Message:
        sizes = [self._file(b"\xff\xd8", width=side, height=side) for side in (90, 320)]
        for size in sizes:
            size.pop("mime_type")
        return self._post({"photo": sizes} | _caption(caption), to, **how)

    def album(
        self, names: Sequence[str], captions: Sequence[str] | str = "", to: Chat | None = None, **how: Any
    ) -> list[Message]:
        """One update each, with the same media_group_id; a single caption stands on the first."""
        given = [captions] if isinstance(captions, str) else list(captions)
        given += [""] * (len(names) - len(given))
        group = {"media_group_id": f"1370000000000{next(self.world.numbers):04}"}
        return [self.file(name, caption, to, extra=group, **how) for name, caption in zip(names, given, strict=True)]

    def voice(self, to: Chat | None = None, **how: Any) -> Message:
        return self._post({"voice": self._file(b"OggS", duration=4, mime_type="audio/ogg")}, to, **how)

    def sticker(self, emoji: str = "👍", to: Chat | None = None, **how: Any) -> Message:
        made = self._file(b"RIFF", width=512, height=512, emoji=emoji)
        del made["mime_type"]
        return self._post({"sticker": made | {"type": "regular", "is_animated": False, "is_video": False}}, to, **how)

    def location(self, to: Chat | None = None, **how: Any) -> Message:
        return self._post({"location": {"latitude": 52.52, "longitude": 13.4}}, to, **how)

    def contact(self, name: str = "Not Ana", to: Chat | None = None, **how: Any) -> Message:
        return self._post({"contact": {"phone_number": "+15550100", "first_name": name}}, to, **how)

    def dice(self, value: int = 2, to: Chat | None = None, **how: Any) -> Message:
        return self._post({"dice": {"emoji": "🎲", "value": value}}, to, **how)

    def poll(self, question: str, options: Sequence[str], to: Chat | None = None, **how: Any) -> Message:
        made = [{"persistent_id": str(n), "text": text, "voter_count": 0} for n, text in enumerate(options)]
        poll: Json = {"id": str(next(self.world.numbers)), "question": question, "options": made, "type": "regular"}
        poll |= dict.fromkeys(("is_closed", "allows_multiple_answers", "allows_revoting", "members_only"), False)
        return self._post({"poll": poll | {"total_voter_count": 0, "is_anonymous": True}}, to, **how)

    # -- buttons -------------------------------------------------------------------------------------------------

    def press(self, button: str, on: Message | Chat | None = None) -> Query:
        """By label or data: on a message as it is drawn now, or on the newest one in a chat that has it."""
        place = self.chat if on is None else on
        card = place.card(button) if isinstance(place, Chat) else place
        return self.send_data(card.button(button)["callback_data"], card)

    def send_data(self, data: str, on: Message) -> Query:
        """Whatever data, whether or not the message has such a button: an old drawing, or a forged client."""
        age = self.world.clock.now() - on.date
        card: Json = {"chat": on.chat.json(), "message_id": on.id, "date": 0}
        if not on.gone and age <= self.world.stub_after:
            card = on.json()
        return self._query({"message": card, "data": data, "chat_instance": str(on.chat.id * 7919)}, on)

    def press_inline(self, data: str) -> Query:
        """On a copy that was shared through inline mode: no message, no chat."""
        return self._query({"inline_message_id": "CAAAAJ1bAADxZwAB", "data": data, "chat_instance": "8812"}, None)

    # -- the door ------------------------------------------------------------------------------------------------

    def block(self) -> None:
        self.blocked = True
        self.world.member_update(self.chat, self.json(), "member", "kicked")

    def unblock(self) -> None:
        self.blocked = False
        self.world.member_update(self.chat, self.json(), "kicked", "member")

    def deactivate(self) -> None:
        """The account is deleted. Bots are not told."""
        self.deactivated = True

    # -- how it is done ------------------------------------------------------------------------------------------

    def _post(
        self,
        content: Json,
        to: Chat | None = None,
        *,
        reply_to: Message | None = None,
        quote: str | None = None,
        topic: Topic | int | None = None,
        as_: As = None,
        extra: Json | None = None,
    ) -> Message:
        chat = (reply_to.chat if reply_to is not None else self.chat) if to is None else to
        number = topic.id if isinstance(topic, Topic) else topic
        if number is None and reply_to is not None:
            number = reply_to.topic
        more = dict(extra or {})
        if quote is not None and reply_to is not None:
            at = reply_to.text.index(quote)
            more["quote"] = {"text": quote, "position": utf16(reply_to.text[:at]), "is_manual": True}
        if chat.kind == "private":
            chat.started = True
        sender, channel = self._face(chat, as_)
        if as_ == "linked":
            more["is_automatic_forward"] = True
        message = self.world.put(
            chat, sender, content, sender_chat=channel, topic=number, reply_to=reply_to, extra=more
        )
        if self.is_bot:
            chat.last_bot = self.id
        self.world.hear(message, author=self)
        return message

    def _face(self, chat: Chat, as_: As) -> tuple[Json | None, Json | None]:
        """`from` and `sender_chat`: a person, an anonymous administrator, a channel, a channel's linked group."""
        if chat.kind == "channel":
            return None, chat.json()
        if as_ == "anonymous":
            return ANONYMOUS, chat.json()
        if as_ == "linked":
            return LINKED, {"id": -1001700000009, "type": "channel", "title": "News"}
        if isinstance(as_, Chat):
            return CHANNEL_BOT, as_.json()
        return self.json(), None

    def _query(self, body: Json, on: Message | None) -> Query:
        number = f"49{next(self.world.numbers):016}"
        update = self.world.press_update(self, {"id": number, "from": self.json()} | body)
        query = Query(number, self, on, self.world.clock.now(), update)
        self.world.queries[number] = query
        return query

    def _file(self, content: bytes, **more: Any) -> Json:
        number = next(self.world.numbers)
        self.world.history.files[f"file-{number}"] = content
        made: Json = {"file_id": f"file-{number}", "file_unique_id": f"u{number}", "file_size": len(content)}
        return made | {"mime_type": "application/pdf"} | more


def _caption(text: str) -> Json:
    return {"caption": text, "caption_entities": found(text)} if text else {}
