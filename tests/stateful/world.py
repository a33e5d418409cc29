"""The whole program on a store in memory and a fake chat platform, with a note of every step that the core took.

`World` does what people, platforms and time do; `laws` holds what must be true whatever they do.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.app import load_book
from bot.core.book import Book
from bot.core.codec import NOTHING, Parts, decode_state, encode_state, write_state
from bot.core.effects import Step
from bot.core.events import Envelope, Ignored, MessageReceived
from bot.core.policies import Access
from bot.core.state import Conversation
from bot.core.step import step
from bot.outbox import Outbox
from bot.ports import Commit, Handled
from bot.runner import Runner
from bot.timers import Timers
from config.playbooks_loader import load_playbooks
from config.settings import load_settings
from storage.memory import MemoryStore
from tests.fakes.adapter import FakeTransport, event_from_update
from tests.fakes.clock import ManualClock
from tests.fakes.platform import FakePlatform, Update

LET_IN = ("ana", "ben", "cleo", "guest", "robot", "news")  # "mallory" is not
OUTSIDE = ("guest",)
KINDS = {"robot": "bot", "news": "channel"}
GROUPS = ("team", "club")
PASTE = 400  # a message as long as this is a part of a split paste (`MessageReceived.partial`)


@functools.cache
def book() -> Book:
    """The program's own book with the short playbooks of the transcripts."""
    playbooks = Path(__file__).parents[1] / "transcripts" / "playbooks"
    return dataclasses.replace(
        load_book(load_settings()),
        playbooks=load_playbooks(playbooks),
        access=Access(allow=tuple(f"fake:{name}" for name in LET_IN)),
        bot_names={"fake": "askfirst"},
        closing_sessions_kept=2,
    )


@dataclass(frozen=True, slots=True)
class Taken:
    """One step of the core that was committed: what went in, what came out, and what was written."""

    before: Conversation | None
    envelope: Envelope
    step: Step
    commit: Commit


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody really did: the words that a reference may quote."""

    person: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A button that was once on a message."""

    room: str
    message: int
    token: str
    label: str


class Store(MemoryStore):
    def __init__(self, written: Callable[[Commit], None]) -> None:
        super().__init__()
        self._written = written

    async def commit(self, commit: Commit) -> None:
        await super().commit(commit)
        self._written(commit)


@dataclass
class World:
    """`say`, `edit`, `press` … only make the platform's updates; `go` lets the program have them."""

    server: FakePlatform = field(default_factory=FakePlatform)
    clock: ManualClock = field(default_factory=lambda: ManualClock(auto=True))
    taken: list[Taken] = field(default_factory=list)
    acts: dict[tuple[str, str], Act] = field(default_factory=dict)
    messages: list[tuple[str, int]] = field(default_factory=list)  # of people, not deleted
    forwarded: set[tuple[str, int]] = field(default_factory=set)
    delivered: int = 0  # updates that the program has had

    def __post_init__(self) -> None:
        self.store = Store(self._wrote)
        self._ids = itertools.count(1)
        self._loop = asyncio.Runner()
        self._decided: list[tuple[Conversation | None, Envelope, Step]] = []
        self._parts: dict[str, Parts] = {}
        for name in (*LET_IN, "mallory"):
            self.server.room(name)
        for name in GROUPS:
            self.server.room(name, "group")
        self.restart()

    def close(self) -> None:
        self.run(self.runner.finish())
        self._loop.close()

    def run(self, work: Awaitable[Any]) -> Any:
        async def bounded() -> Any:
            async with asyncio.timeout(30):
                return await work

        return self._loop.run(bounded())

    # -- the program -------------------------------------------------------------------------------------------

    def restart(self) -> None:
        """The process ends and begins again; only the store is left."""
        self.runner = Runner(self.store, self._decide, self.clock, lambda: f"{next(self._ids):010d}")
        self.transport = FakeTransport(self.server)
        transports = {"fake": self.transport}
        self.outbox = Outbox(self.store, self.runner, transports, self.clock, jitter=lambda: 1.0)
        self.timers = Timers(self.store, self.runner, self.clock)

    def _decide(self, state: Conversation | None, envelope: Envelope) -> Step:
        made = step(state, envelope, book())
        self._decided.append((state, envelope, made))
        return made

    def _wrote(self, commit: Commit) -> None:
        state, envelope, made = self._decided[-1]
        assert envelope == commit.envelope
        self.taken.append(Taken(state, envelope, made, commit))
        # What is known of a state was written when it was made: a value that was changed in place since would show.
        place = envelope.place.conversation
        written = write_state(commit.state, self._parts.get(place, NOTHING))
        assert written.text == encode_state(commit.state)
        self._parts[place] = written.parts

    def go(self, *, send: bool = True) -> list[Handled]:
        """Deliver what the platform has; with `send`, the outbox has its turn too."""
        handled = []
        while self.delivered < len(self.server.updates):
            update = self.server.updates[self.delivered]
            self.delivered += 1
            handled += self.deliver(update)
            if send:
                self.drain()
        return handled

    def deliver(self, update: Update) -> list[Handled]:
        made = event_from_update(update)
        return [] if isinstance(made, Ignored) else [self.run(self.runner.receive(_dressed(made), self.transport))]

    def drain(self) -> None:
        self.run(self.outbox.drain())

    def wait(self, by: timedelta) -> None:
        """Time passes; what is due happens, and what that leads to."""
        self.clock.advance(by)
        self.run(self.timers.fire_due())
        self.drain()

    # -- people ------------------------------------------------------------------------------------------------

    def say(self, room: str, person: str, text: str = "", **more: Any) -> int:
        first = self.server.write(room, person, text, sender_kind=KINDS.get(person, "person"), **more)
        for number in range(first, self.server.rooms[room].next_id):
            words = text if number == first else ""
            self.acts[room, str(number)] = Act(person, (words,))
            self.messages.append((room, number))
            if more.get("forwarded_from"):
                self.forwarded.add((room, number))
        return first

    def edit(self, room: str, message: int, text: str) -> None:
        act = self.acts[room, str(message)]
        self.acts[room, str(message)] = Act(act.person, (*act.texts, text))
        self.server.edit(room, message, text)

    def delete(self, room: str, message: int) -> None:
        self.messages.remove((room, message))
        self.server.delete(room, message)

    def press(self, room: str, person: str, message: int, token: str, label: str) -> None:
        before = len(self.server.updates)
        self.server.press(room, person, message, token, label)
        for update in self.server.updates[before:]:
            self.acts[room, update["press"]] = Act(person, (label,))

    def buttons(self) -> list[Seen]:
        """Every button that was ever drawn, the newest last."""
        return [
            Seen(room.name, post.id, token, label)
            for room in self.server.rooms.values()
            for post in room.log
            for row in post.buttons
            for token, label in row
        ]

    def state(self, room: str) -> Conversation | None:
        row = self.store.tables.conversation.get(f"fake:{room}")
        return None if row is None else decode_state(row["state"])


def _dressed(made: Envelope) -> Envelope:
    """What this small platform does not know of: people from outside, and pastes that arrive split."""
    person = getattr(made.event, "person", None)
    event = made.event
    if person is not None and person.name in OUTSIDE:
        event = event.model_copy(update={"person": person.model_copy(update={"outside": True})})
    if isinstance(event, MessageReceived) and len(event.text) >= PASTE and not event.album:
        event = event.model_copy(update={"partial": True})
    return made.model_copy(update={"event": event})
