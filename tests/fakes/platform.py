"""A chat platform in process, as awkward as the real ones: for tests of the shell and as a pattern for adapters.

It knows private chats, groups and threads, several people, buttons, edits, deletions, replies, forwarded words and
albums. It delivers again what was not acknowledged, asks for pauses, loses connections before and after it has taken
a message, refuses what is too long, and lets people block the bot.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

TEXT_LIMIT = 4096  # UTF-16 units, as on Telegram
TOKEN_LIMIT = 64  # bytes
BOT = "askfirst"

Update = dict[str, Any]
Buttons = tuple[tuple[tuple[str, str], ...], ...]  # rows of (token, label)


class PlatformError(Exception):
    """An answer that is no success. `code` as in HTTP, `why` as the platform words it."""

    def __init__(self, code: int, why: str, retry_after: float | None = None) -> None:
        super().__init__(f"{code} {why}")
        self.code, self.why, self.retry_after = code, why, retry_after


class ConnectionLost(Exception):
    """No answer came. Whether the message was taken is unknown to the caller."""


@dataclass(frozen=True, slots=True)
class Post:
    """A message as people see it."""

    id: int
    sender: str
    text: str
    thread: int | None = None
    buttons: Buttons = ()
    files: tuple[tuple[str, str], ...] = ()  # (name, content)
    reply_to: int | None = None
    only_to: str | None = None
    version: int = 1


@dataclass(slots=True)
class Room:
    name: str
    kind: Literal["private", "group"]
    posts: dict[int, Post] = field(default_factory=dict)
    log: list[Post] = field(default_factory=list)  # every drawing, in order
    next_id: int = 1


class FakePlatform:
    def __init__(self, text_limit: int = TEXT_LIMIT) -> None:
        self.text_limit = text_limit
        self.rooms: dict[str, Room] = {}
        self.updates: list[Update] = []
        self.answers: list[tuple[str, str]] = []  # notices shown to people who pressed: (person, text)
        self.blocked: set[str] = set()
        self.faults: deque[Literal["limit", "lost before", "lost after", "refused"]] = deque()
        self.retry_after = 3.0
        self._presses = itertools.count(1)

    # -- what people do ------------------------------------------------------------------------------------------

    def room(self, name: str, kind: Literal["private", "group"] = "private") -> Room:
        return self.rooms.setdefault(name, Room(name, kind))

    def write(
        self,
        room: str,
        person: str,
        text: str = "",
        *,
        thread: int | None = None,
        reply_to: int | None = None,
        files: Iterable[str] = (),
        album: str | None = None,
        forwarded_from: str | None = None,
        sender_kind: Literal["person", "bot", "channel"] = "person",
    ) -> int:
        """A message arrives. Several files are an album: one update each, the text on the first, as on Telegram."""
        names = list(files)
        if len(names) > 1:
            album = album or f"album{len(self.updates)}"
            first = self.write(room, person, text, thread=thread, reply_to=reply_to, files=names[:1], album=album)
            for name in names[1:]:
                self.write(room, person, thread=thread, files=[name], album=album)
            return first
        place = self.rooms[room]
        post = Post(place.next_id, person, text, thread, files=tuple((n, "") for n in names), reply_to=reply_to)
        place.next_id += 1
        place.posts[post.id] = post
        optional = {"album": album, "forwarded_from": forwarded_from, "reply_to": reply_to, "thread": thread}
        self._deliver(
            "message",
            room,
            {"id": post.id, "from": {"name": person, "kind": sender_kind}, "text": text}
            | ({"files": names} if names else {})
            | {key: value for key, value in optional.items() if value is not None},
        )
        return post.id

    def edit(self, room: str, message: int, text: str) -> None:
        place = self.rooms[room]
        post = place.posts[message]
        place.posts[message] = replace(post, text=text, version=post.version + 1)
        changed = {"id": message, "from": {"name": post.sender, "kind": "person"}, "text": text}
        changed |= {"old_text": post.text, "version": post.version + 1} | _thread(post)
        self._deliver("edited", room, changed)

    def delete(self, room: str, message: int) -> None:
        post = self.rooms[room].posts.pop(message)
        if post.sender != BOT:
            self._deliver("deleted", room, {"id": message} | _thread(post))

    def press(self, room: str, person: str, message: int, token: str, label: str = "") -> None:
        """The token is what the client sends: it need not be on the message any more, or ever have been."""
        post = self.rooms[room].posts.get(message)
        thread = {} if post is None else _thread(post)
        pressed = {"press": f"p{next(self._presses)}", "message": message, "token": token, "label": label}
        self._deliver("pressed", room, pressed | {"from": {"name": person, "kind": "person"}} | thread)

    def _deliver(self, kind: str, room: str, body: Update) -> None:
        number = len(self.updates) + 1
        self.updates.append({"update": number, "kind": kind, "room": room, "group": self._group(room), **body})

    def _group(self, room: str) -> bool:
        return self.rooms[room].kind == "group"

    # -- what the bot does ---------------------------------------------------------------------------------------

    async def updates_from(self, offset: int) -> list[Update]:
        """What is not confirmed yet. Asking from an offset confirms all before it."""
        return self.updates[offset - 1 :]

    async def send(
        self,
        room: str,
        text: str,
        *,
        thread: int | None = None,
        buttons: Buttons = (),
        files: tuple[tuple[str, str], ...] = (),
        only_to: str | None = None,
    ) -> int:
        place = self._check(room, text, buttons)
        lost = self._fault()
        post = Post(place.next_id, BOT, text, thread, buttons, files, None, only_to)
        place.next_id += 1
        place.posts[post.id] = post
        place.log.append(post)
        self._deliver(
            "message", room, {"id": post.id, "from": {"name": BOT, "kind": "bot"}, "text": text} | _thread(post)
        )
        if lost:
            raise ConnectionLost
        return post.id

    async def change(self, room: str, message: int, text: str, buttons: Buttons = ()) -> None:
        place = self._check(room, text, buttons)
        post = place.posts.get(message)
        if post is None:
            raise PlatformError(400, "message to edit not found")
        if (post.text, post.buttons) == (text, buttons):
            raise PlatformError(400, "message is not modified")
        lost = self._fault()
        place.posts[message] = replace(post, text=text, buttons=buttons, version=post.version + 1)
        place.log.append(place.posts[message])
        if lost:
            raise ConnectionLost

    async def answer(self, press: str, person: str, text: str) -> None:
        if self.faults and self.faults[0] == "lost before":
            self.faults.popleft()
            raise ConnectionLost
        self.answers.append((person, text))

    def _check(self, room: str, text: str, buttons: Buttons) -> Room:
        place = self.rooms.get(room)
        if place is None:
            raise PlatformError(400, "chat not found")
        if place.kind == "private" and room in self.blocked:
            raise PlatformError(403, "bot was blocked by the user")
        if not text.strip():
            raise PlatformError(400, "message text is empty")
        if len(text.encode("utf-16-le")) // 2 > self.text_limit:
            raise PlatformError(400, "message is too long")
        tokens = [token for row in buttons for token, _ in row]
        if any(not 0 < len(token.encode()) <= TOKEN_LIMIT for token in tokens):
            raise PlatformError(400, "BUTTON_DATA_INVALID")
        return place

    def _fault(self) -> bool:
        """The next trouble that a test has ordered; True when the answer is to be lost after the deed."""
        fault = self.faults.popleft() if self.faults else None
        if fault == "limit":
            raise PlatformError(429, "Too Many Requests", self.retry_after)
        if fault == "refused":
            raise PlatformError(500, "Internal Server Error")
        if fault == "lost before":
            raise ConnectionLost
        return fault == "lost after"


def _thread(post: Post) -> Update:
    return {} if post.thread is None else {"thread": post.thread}
