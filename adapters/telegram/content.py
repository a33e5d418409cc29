"""What a message holds: words, files, and what can not be read here. Pure; nothing is downloaded.

Names and media types are the sender's claims (core.telegram.org/bots/api#document).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from telegram import (
    Message,
    MessageEntity,
    MessageOrigin,
    MessageOriginChannel,
    MessageOriginChat,
    MessageOriginHiddenUser,
    MessageOriginUser,
)

from adapters.contract import clean
from bot.core.model import Material

# What comes without words of its own. The order matters: a venue also has a location, a dice game is no game.
UNREADABLE = {
    "sticker": "a sticker",
    "voice": "a voice message",
    "video_note": "a video message",
    "venue": "a place",
    "location": "a location",
    "contact": "a contact card",
    "dice": "a die",
    "poll": "a poll",
    "checklist": "a checklist",
    "game": "a game",
    "story": "a story",
    "paid_media": "paid media",
    "invoice": "an invoice",
    "giveaway": "a giveaway",
    "giveaway_winners": "a giveaway",
    "passport_data": "passport data",
}

# What Telegram itself reports in a chat; nobody says it.
SERVICE = (
    "new_chat_members",
    "left_chat_member",
    "chat_owner_left",
    "chat_owner_changed",
    "new_chat_title",
    "new_chat_photo",
    "delete_chat_photo",
    "group_chat_created",
    "supergroup_chat_created",
    "channel_chat_created",
    "message_auto_delete_timer_changed",
    "migrate_to_chat_id",
    "migrate_from_chat_id",
    "pinned_message",
    "successful_payment",
    "refunded_payment",
    "users_shared",
    "chat_shared",
    "gift",
    "unique_gift",
    "gift_upgrade_sent",
    "connected_website",
    "write_access_allowed",
    "proximity_alert_triggered",
    "boost_added",
    "chat_background_set",
    "checklist_tasks_done",
    "checklist_tasks_added",
    "direct_message_price_changed",
    "forum_topic_created",
    "forum_topic_edited",
    "forum_topic_closed",
    "forum_topic_reopened",
    "general_forum_topic_hidden",
    "general_forum_topic_unhidden",
    "giveaway_created",
    "giveaway_completed",
    "managed_bot_created",
    "paid_message_price_changed",
    "poll_option_added",
    "poll_option_deleted",
    "suggested_post_approved",
    "suggested_post_approval_failed",
    "suggested_post_declined",
    "suggested_post_paid",
    "suggested_post_refunded",
    "video_chat_scheduled",
    "video_chat_started",
    "video_chat_ended",
    "video_chat_participants_invited",
    "web_app_data",
)


MAX_WORDS = 300  # characters of what something without text of its own says


@dataclass(frozen=True, slots=True)
class Content:
    """`unreadable` says in words what came instead of text."""

    text: str = ""
    materials: tuple[Material, ...] = ()
    unreadable: str | None = None


def service(message: Message) -> str | None:
    """What Telegram reports, if the message is such a report."""
    return next((name for name in SERVICE if getattr(message, name)), None)


def content_of(message: Message) -> Content | None:
    """None where there is nothing of a person's in it."""
    text = clean(message.text or message.caption or "")
    files = tuple(_files(message, text or None))
    materials = (*files, *_hidden_links(message))
    if text or files:
        return Content(text, materials)
    for name, words in UNREADABLE.items():
        if getattr(message, name):
            return Content("", _kept(message), _of_whom(message) if name == "contact" else words)
    rich = message.api_kwargs.get("rich_message")  # Bot API 10.1, after the library's 10.0
    if rich is not None:
        words = clean(_plain(rich).strip())
        return Content(words) if words else Content(unreadable="a formatted message")
    if service(message) is not None or not message.api_kwargs:
        return None
    return Content(unreadable="a kind of message that I do not know")


def _files(message: Message, caption: str | None) -> Iterator[Material]:
    """Each file by name, kind and size. A photo comes in several sizes; the last is the largest."""

    def file(
        name: str | None, default: str, media: str | None, size: int | None, handle: str | None = None
    ) -> Material:
        shown, kind = clean(name or "") or default, clean(media or "") or None
        return Material(kind="file", name=shown, media=kind, size=size, caption=caption, handle=handle)

    if message.animation:  # `document` is set as well, for older programs
        moving = message.animation
        yield file(moving.file_name, "animation.mp4", moving.mime_type, moving.file_size)
    elif message.document:
        document = message.document
        yield file(document.file_name, "document", document.mime_type, document.file_size, document.file_id)
    if message.photo:
        photo = message.photo[-1]
        yield file(None, "photo.jpg", "image/jpeg", photo.file_size, photo.file_id)
    if message.live_photo:
        yield file(None, "photo.jpg", "image/jpeg", None)
    if message.video:
        video = message.video
        yield file(video.file_name, "video.mp4", video.mime_type, video.file_size)
    if message.audio:
        audio = message.audio
        yield file(audio.file_name or audio.title, "audio.mp3", audio.mime_type, audio.file_size)


def _hidden_links(message: Message) -> Iterator[Material]:
    """Links behind words: their address is in no text."""
    for entity in (*message.entities, *message.caption_entities):
        if entity.type == MessageEntity.TEXT_LINK and entity.url:
            yield Material(kind="link", name=clean(entity.url))


def _kept(message: Message) -> tuple[Material, ...]:
    """What can not be read is kept with the request all the same, where it has something to keep."""
    if message.voice:
        voice = message.voice
        return (Material(kind="file", name="voice.ogg", media=voice.mime_type, size=voice.file_size),)
    if message.video_note:
        size = message.video_note.file_size
        return (Material(kind="file", name="video-message.mp4", media="video/mp4", size=size),)
    if message.venue:
        return (_named("place", f"{message.venue.title}, {message.venue.address}"),)
    if message.location:
        spot = message.location
        return (_named("location", f"{spot.latitude}, {spot.longitude}"),)
    if message.contact:
        who = message.contact
        whose = "" if _own_card(message) else " (somebody else's)"
        return (_named("contact", f"{who.first_name} {who.last_name or ''}".strip() + whose),)
    if message.poll:
        return (_named("poll", f"{message.poll.question} — {' / '.join(o.text for o in message.poll.options)}"),)
    if message.checklist:
        tasks = "; ".join(task.text for task in message.checklist.tasks)
        return (_named("checklist", f"{message.checklist.title} — {tasks}"),)
    if message.paid_media:
        kinds = ", ".join(media.type for media in message.paid_media.paid_media)
        return (_named("paid media", kinds),)
    if message.story:
        return (_named("story", message.story.chat.effective_name or str(message.story.chat.id)),)
    if message.game:
        return (_named("game", message.game.title),)
    if message.invoice:
        return (_named("invoice", message.invoice.title),)
    return ()


def _named(kind: str, words: str) -> Material:
    """What is no file, by what it is and what it says."""
    shown = clean(words)
    return Material(kind="named", name=f"{kind}: {shown[:MAX_WORDS]}{'…' * (len(shown) > MAX_WORDS)}")


def _of_whom(message: Message) -> str:
    """Anybody's card can be sent; only the sender's own id says that it is theirs."""
    return "your contact card" if _own_card(message) else "somebody else's contact card"


def _own_card(message: Message) -> bool:
    contact, sender = message.contact, message.from_user
    return contact is not None and sender is not None and contact.user_id == sender.id


def _plain(rich: Any) -> str:
    """The words of a rich message, whatever it is made of: its shape is newer than the library."""
    if isinstance(rich, str):
        return rich
    if isinstance(rich, list):
        blocks = any(isinstance(part, dict) and str(part.get("type", "")) in BLOCKS for part in rich)
        return ("\n" if blocks else "").join(_plain(part) for part in rich)
    if isinstance(rich, dict):
        return "\n".join(_plain(rich[key]) for key in ("text", "blocks", "items", "cells", "credit") if key in rich)
    return ""


BLOCKS = ("paragraph", "heading", "section_heading", "preformatted", "list", "block_quotation", "list_item")


def source_of(origin: MessageOrigin | None) -> str | None:
    """Whose words were forwarded, by the name that Telegram gives."""
    match origin:
        case None:
            return None
        case MessageOriginUser(sender_user=user):
            return clean(user.full_name)
        case MessageOriginHiddenUser(sender_user_name=name):
            return clean(name)
        case MessageOriginChat(sender_chat=chat) | MessageOriginChannel(chat=chat):
            return clean(chat.title or str(chat.id))
    return "somebody"
