"""Where things are: chats and topics as conversations, message ids as names, and groups that have moved.

A conversation is `telegram:<chat>`, or `telegram:<chat>/<topic>` for a real topic. A group that became a supergroup
has a new chat id (core.telegram.org/bots/api#responseparameters) but stays the conversation that it was: under its
first id, with its open round and its access. Only the address changes. Message ids begin anew in the supergroup, so
they are named with the chat there, and come after those of the old chat.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

PLATFORM = "telegram"
AFTER_MOVE = 2**40  # more than any message id: those are 32-bit numbers


@dataclass(frozen=True, slots=True)
class Me:
    """Who the bot is. `reads_all`: privacy mode is off (core.telegram.org/bots/features#privacy-mode)."""

    id: int
    username: str  # without the @
    reads_all: bool = True
    first: Mapping[int, int] = field(default_factory=dict)  # a moved group's present chat id -> its first one


class Address(NamedTuple):
    """Where to send to. `home` is the chat id that the conversation is named after."""

    chat: int
    topic: int | None
    home: int


@dataclass(slots=True)
class Moves:
    """Groups that have become supergroups: known from the updates, from refused sends, and from the store."""

    first: dict[int, int] = field(default_factory=dict)  # present id -> first id
    now: dict[int, int] = field(default_factory=dict)  # first id -> present id

    def moved(self, old: int, new: int) -> bool:
        """Remember a move; whether it is news."""
        home = self.first.get(old, old)
        if old == new or home == new or self.now.get(home) == new:
            return False
        self.first[new] = home
        self.now[home] = new
        return True

    def address(self, conversation: str) -> Address:
        home, topic = chat_of(conversation)
        return Address(self.now.get(home, home), topic, home)


def chat_of(conversation: str) -> tuple[int, int | None]:
    chat, _, topic = conversation.removeprefix(f"{PLATFORM}:").partition("/")
    return int(chat), int(topic) if topic else None


def conversation_of(chat: int, topic: int | None, first: Mapping[int, int]) -> str:
    name = f"{PLATFORM}:{first.get(chat, chat)}"
    return name if topic is None else f"{name}/{topic}"


def name_of(chat: int, message: int, first: Mapping[int, int]) -> str:
    """A message's id within its conversation."""
    return f"{chat}:{message}" if chat in first else str(message)


def order_of(chat: int, message: int, first: Mapping[int, int]) -> int:
    return message + AFTER_MOVE if chat in first else message


def message_at(name: str, address: Address) -> int | None:
    """The message's id at an address; None where it stayed behind in the old chat."""
    chat, _, number = name.rpartition(":")
    there = int(chat) if chat else address.home
    return int(number) if there == address.chat else None


def person_of(identity: str) -> int:
    return int(identity.removeprefix(f"{PLATFORM}:"))
