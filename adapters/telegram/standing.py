"""Whether the bot may write to a chat or topic, from the updates that say so. Pure.

`my_chat_member` speaks of a whole chat, with all its topics; a topic's closing is a message in it. A topic that is
deleted is told by no update, only by the refusal of the next message there.
"""

from __future__ import annotations

from dataclasses import dataclass

from telegram import (
    Chat,
    ChatMember,
    ChatMemberAdministrator,
    ChatMemberRestricted,
    ChatMemberUpdated,
    Message,
    Update,
)

from adapters.telegram.places import PLATFORM, Me, conversation_of

BLOCKED = "the person has blocked the bot"
REMOVED = "the bot was removed from here"
SILENCED = "the bot may not write here"
CLOSED = "the topic is closed"


@dataclass(frozen=True, slots=True)
class Standing:
    """What has changed. `lost` says why nothing can be written; None: it can again.

    `conversation` is the chat's, or the topic's alone. `event_id` is completed with each conversation concerned.
    """

    conversation: str
    whole_chat: bool
    lost: str | None
    event_id: str

    def concerns(self, conversation: str) -> bool:
        return conversation == self.conversation or (
            self.whole_chat and conversation.startswith(f"{self.conversation}/")
        )


def standing_of(update: Update, me: Me) -> Standing | None:
    """The change that an update speaks of; None where it speaks of none, or nothing changes for writing."""
    if update.my_chat_member is not None:
        return _member(update.my_chat_member, update.update_id, me)
    if update.message is not None:
        return _topic(update.message, me)
    return None


def _member(change: ChatMemberUpdated, update: int, me: Me) -> Standing | None:
    before = why_not(change.old_chat_member, change.chat)
    now = why_not(change.new_chat_member, change.chat)
    if (before is None) == (now is None):
        return None
    return Standing(
        conversation=conversation_of(change.chat.id, None, me.first),
        whole_chat=True,
        lost=now,
        event_id=f"{PLATFORM}:{me.id}:standing:{update}:{int(change.date.timestamp())}",
    )


def why_not(member: ChatMember, chat: Chat) -> str | None:
    """Why a member of this standing can not write: core.telegram.org/bots/api#chatmember."""
    if member.status in (ChatMember.LEFT, ChatMember.BANNED):
        return BLOCKED if chat.type == Chat.PRIVATE else REMOVED
    if isinstance(member, ChatMemberRestricted):
        return REMOVED if not member.is_member else None if member.can_send_messages else SILENCED
    if chat.type == Chat.CHANNEL and isinstance(member, ChatMemberAdministrator):
        return None if member.can_post_messages is not False else SILENCED
    return None


def _topic(message: Message, me: Me) -> Standing | None:
    if not message.is_topic_message or message.message_thread_id is None:
        return None
    if message.forum_topic_closed is None and message.forum_topic_reopened is None:
        return None
    return Standing(
        conversation=conversation_of(message.chat.id, message.message_thread_id, me.first),
        whole_chat=False,
        lost=CLOSED if message.forum_topic_closed is not None else None,
        event_id=f"{PLATFORM}:{me.id}:{message.chat.id}:{message.message_id}:standing",
    )
