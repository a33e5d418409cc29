"""Which chat a call means, and whether the bot may.

Client.cpp check_chat, check_chat_access, check_message_topic.
"""

from __future__ import annotations

from typing import Any

from tests.fakes.telegram.errors import bad, forbidden
from tests.fakes.telegram.model import Chat
from tests.fakes.telegram.world import World

GENERAL = 1  # the General topic: its id is refused, messages for it are sent without one


class Access(World):
    def chat_of(self, given: Any, *, write: bool = False) -> Chat:
        chat = self._known(given)
        if chat.kind == "private":
            self._private(chat, write)
        elif chat.kind == "group":
            if chat.migrated_to is not None and write:
                raise bad("group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to.id)
            if write:
                self._inside(chat, "group")
        else:
            self._inside(chat, chat.kind)
        if write and chat.kind == "channel" and not chat.admin:
            raise bad("need administrator rights in the channel chat")
        return chat

    def topic_of(self, chat: Chat, given: int | None) -> int | None:
        """Only a real topic: not the General one, not a chain of replies, not one that was deleted."""
        if not given:
            return None
        topic = chat.topics.get(given)
        if (given == GENERAL and chat.forum) or topic is None or topic.gone:
            raise bad("message thread not found")
        return topic.id

    def _known(self, given: Any) -> Chat:
        if isinstance(given, str):
            if not given:
                raise bad("chat_id is empty")
            name = given.removeprefix("@").lower()
            for place in self.chats.values():
                if place.username and place.username.lower() == name:
                    return place
            raise bad("chat not found")
        if given == self.me["id"]:
            raise forbidden("bot can't send messages to the bot")
        chat = self.chats.get(given)
        if chat is not None and (chat.kind != "private" or chat.started):
            return chat
        person = self.people.get(given)
        if person is not None and any(given in place.members for place in self.chats.values()):
            if person.is_bot:
                raise forbidden("bot can't send messages to bots")
            raise forbidden("bot can't initiate conversation with a user")
        raise bad("chat not found")

    def _private(self, chat: Chat, write: bool) -> None:
        if write and chat.person.deactivated:
            raise forbidden("user is deactivated")
        if write and chat.person.blocked:
            raise forbidden("bot was blocked by the user")

    def _inside(self, chat: Chat, kind: str) -> None:
        if chat.bot == "kicked":
            raise forbidden(f"bot was kicked from the {kind} chat")
        if chat.bot == "left":
            raise forbidden(f"bot is not a member of the {kind} chat")
