"""What was asked of the server, how a chat looks to people, and whether the bot kept the pace."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.fakes.telegram.model import Chat, Message

# FAQ: "avoid sending more than one message per second" in one chat, "20 messages per minute to the same group",
# about 30 a second over all chats. Edits count as well in practice.
PER_CHAT, PER_GROUP, OVERALL = (1, 1.0), (20, 60.0), (30, 1.0)
COUNTED = frozenset({"sendMessage", "sendDocument", "editMessageText", "editMessageReplyMarkup"})


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    params: dict[str, Any]
    at: datetime
    code: int  # 0: the answer was lost, or the call never arrived
    answer: dict[str, Any]
    taken: bool  # whether it had its effect

    @property
    def chat(self) -> Any:
        return self.params.get("chat_id")


class History:
    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.dropped_entities: list[tuple[str, int]] = []  # method, how many were beyond the 100
        self.notices: list[tuple[str, str, bool]] = []  # what a press was answered with: query, text, as an alert
        self.files: dict[str, bytes] = {}

    def of(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    def pace(self) -> list[str]:
        """Every window of time in which more was taken than the limits allow; empty when all is well."""
        by_chat: dict[Any, list[datetime]] = defaultdict(list)
        everything: list[datetime] = []
        for call in self.calls:
            if call.method in COUNTED and call.taken:
                by_chat[call.chat].append(call.at)
                everything.append(call.at)
        found = []
        for chat, times in by_chat.items():
            found += _beyond(times, *PER_CHAT, f"chat {chat}")
            if isinstance(chat, int) and chat < 0:
                found += _beyond(times, *PER_GROUP, f"group {chat}")
        return found + _beyond(everything, *OVERALL, "all chats")


def _beyond(times: list[datetime], most: int, seconds: float, where: str) -> list[str]:
    window = timedelta(seconds=seconds)
    return [
        f"{where}: {most + 1} within {seconds:g} s at {times[n].isoformat()}"
        for n in range(most, len(times))
        if times[n] - times[n - most] < window
    ]


def drawn(chat: Chat) -> str:
    """The chat as people see it: one line a message, more for its lines, buttons in brackets."""
    lines = [f"── {chat.title or chat.kind} ({chat.kind} {chat.id}) ──"]
    for message in sorted(chat.messages.values(), key=lambda m: m.id):
        if not message.gone:
            lines += _lines(message)
    return "\n".join(lines)


def _lines(message: Message) -> list[str]:
    who = (message.sender_chat or message.sender or {"title": message.chat.title}).copy()
    name = who.get("title") or who.get("first_name", "?")
    place = f" in {message.topic}" if message.topic is not None else ""
    reply = f" re {message.reply_to.id}" if message.reply_to is not None else ""
    edited = " (edited)" if message.edited else ""
    first, *rest = (message.shown or what(message)).split("\n")
    file = f" [{what(message)}]" if message.shown and what(message) != "text" else ""
    made = [f"{message.id:>4} {name}{place}{reply}: {first}{edited}{file}"]
    made += [f"       {line}" for line in rest]
    return made + ["       " + " ".join(f"[{label}]" for label in row) for row in message.labels]


def what(message: Message) -> str:
    """The kind of a message that is more than text; a document by its name."""
    if "document" in message.content:
        return str(message.content["document"].get("file_name", "document"))
    kinds = [key for key in message.content if key not in {"text", "entities", "caption", "caption_entities"}]
    return kinds[0] if kinds else "text"
