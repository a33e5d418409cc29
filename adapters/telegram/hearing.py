"""How much of a group's talk the bot is shown, and what it says when it is added to one.

In privacy mode only commands, mentions and replies to the bot arrive, unless it is an administrator there
(core.telegram.org/bots/features#privacy-mode). Which it is, the changes of its own membership say; for groups from
before the start it is asked once.
"""

from __future__ import annotations

import structlog
from telegram import Bot, Chat, ChatMember, ChatMemberUpdated, Update
from telegram.error import TelegramError

from adapters.contract import UNSTAMPED, clean
from adapters.telegram.places import PLATFORM, Me, conversation_of
from bot.core.events import BotAdded, Envelope
from bot.core.model import Person, Place

ADMIN = (ChatMember.ADMINISTRATOR, ChatMember.OWNER)
OUTSIDE = (ChatMember.LEFT, ChatMember.BANNED)
GROUPS = (Chat.GROUP, Chat.SUPERGROUP)

log = structlog.get_logger(__name__)


class Hearing:
    def __init__(self, bot: Bot, me: Me) -> None:
        self._bot, self._me = bot, me
        self._admin: dict[int, bool] = {}

    def learn(self, update: Update) -> None:
        change = update.my_chat_member
        if change is not None and change.chat.type in GROUPS:
            self._admin[change.chat.id] = change.new_chat_member.status in ADMIN

    async def only_replies(self, chat: int) -> bool:
        """Whether typed answers arrive from a chat only where they reply to the bot."""
        if self._me.reads_all or chat > 0:
            return False
        if chat not in self._admin:
            try:
                member = await self._bot.get_chat_member(chat, self._me.id)
            except TelegramError as error:
                log.info("standing_not_known", error=type(error).__name__)
                return True  # asked again at the next card
            self._admin[chat] = member.status in ADMIN
        return not self._admin[chat]

    def added(self, update: Update) -> Envelope | None:
        """The event of being let into a group; channels get no greeting."""
        change = update.my_chat_member
        if change is None or not _lets_in(change):
            return None
        user = change.from_user
        person = Person(
            id=f"{PLATFORM}:{user.id}",
            name=clean(user.full_name),
            kind="bot" if user.is_bot else "person",
            handle=user.username,
        )
        hears_all = self._me.reads_all or change.new_chat_member.status in ADMIN
        return Envelope(
            event_id=f"{PLATFORM}:{self._me.id}:added:{change.chat.id}:{int(change.date.timestamp())}",
            place=Place(
                conversation=conversation_of(change.chat.id, None, self._me.first), platform=PLATFORM, shared=True
            ),
            at=UNSTAMPED,
            platform_at=change.date,
            event=BotAdded(person=person, hears_all=hears_all),
        )


def _lets_in(change: ChatMemberUpdated) -> bool:
    before, now = change.old_chat_member.status, change.new_chat_member.status
    return change.chat.type in GROUPS and before in OUTSIDE and now in (ChatMember.MEMBER, *ADMIN)
