"""Many people at once on the strict server, typing, tapping and editing, while calls are refused, limited and lost.

At the end each stored answer is what its person said last, each question once; nobody's words are lost, the order of
each chat is kept, and the server has never been hurried. The clock is a simulated one: it moves on when nobody has
anything to do, so that an hour takes seconds.
"""

from __future__ import annotations

import asyncio
import functools
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from bot.core.step import step
from storage.memory import MemoryStore
from tests.adapters.telegram.talking import book
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Chat, Message, Person, TelegramServer
from tests.fakes.telegram_rig import Rig, rig

QUESTIONS = ("years", "databases", "access")
LETTERS = {1: "ABC", 2: "AB", 3: "AB"}


@dataclass(eq=False)
class Talker:
    """One person who goes through an intake in their own time, and what they said last of each question."""

    who: Person
    place: Chat
    dice: random.Random
    last: dict[int, str] = field(default_factory=dict)
    typed: dict[int, Message] = field(default_factory=dict)
    said: list[Message] = field(default_factory=list)
    acts: int = 0

    @property
    def shared(self) -> bool:
        return self.place.kind != "private"

    def cards(self) -> list[Message]:
        """The card as this person finds it: the newest message with the buttons of a question."""
        return [m for m in self.place.posts if any(b["callback_data"].startswith("a:") for b in m.buttons)]

    def say(self, text: str, reply_to: Message | None = None) -> Message:
        message = self.who.say(text, self.place, reply_to=reply_to)
        self.said.append(message)
        return message

    async def go(self, clock: ManualClock) -> None:
        await clock.sleep(self.dice.uniform(0, 20))
        self.say("@askfirst_bot lit-review this" if self.shared else "lit-review this")
        while not self.cards():
            await clock.sleep(1)
        for _ in range(self.dice.randint(2, 5)):  # the third stays open, so that the round does
            self._act(self.dice.choice((1, 2)))
            await clock.sleep(self.dice.choice((0.2, 1, 3, 8)))
        for number in (1, 2, 3):
            if number not in self.last:
                self._type(number)
                await clock.sleep(self.dice.choice((0.2, 1, 3)))

    def _act(self, number: int) -> None:
        how = self.dice.random()
        if how < 0.4:
            self._type(number)
        elif how < 0.75:
            self._tap()
        elif how < 0.9 and number in self.typed and self.last[number] != "…":
            self._edit(number)
        else:
            self.say("hm, let me think about that for a moment" if self.shared else "what is the difference?")

    def _type(self, number: int) -> None:
        letter = self.dice.choice(LETTERS[number])
        reply_to = self.cards()[-1] if self.shared and self.cards() else None
        self.typed[number] = self.say(f"{number}: {letter}", reply_to)
        self.last[number] = letter

    def _tap(self) -> None:
        """Whatever the card shows now; it may lag behind. Sometimes twice."""
        buttons = [b for b in self.cards()[-1].buttons if b["callback_data"].startswith("a:")]
        button = self.dice.choice([b for b in buttons if b["text"] != "Other…"])
        _, _, number, letter = button["callback_data"].split(":")
        if number == "3":
            return
        for _ in range(self.dice.choice((1, 1, 1, 2))):
            self.who.send_data(button["callback_data"], self.cards()[-1])
        self.last[int(number)] = letter

    def _edit(self, number: int) -> None:
        letter = self.dice.choice(LETTERS[number])
        if self.typed[number].text != f"{number}: {letter}":
            self.who.edit(self.typed[number], f"{number}: {letter}")
            self.last[number] = letter


class Trouble:
    """Refusals, floods and lost connections at random, each noted so that the others can be told from them."""

    def __init__(self, server: TelegramServer, dice: random.Random) -> None:
        self.faults, self.dice = server.faults, dice
        self.limits = 0

    async def go(self, clock: ManualClock, acting: list[asyncio.Task[None]]) -> None:
        while not all(task.done() for task in acting):
            await clock.sleep(self.dice.uniform(0.5, 3))
            how = self.dice.choice(("limit", "500", "garbage", "before", "after", "poll", "poll lost"))
            method = self.dice.choice(("sendMessage", "editMessageText", "answerCallbackQuery"))
            if any(order.method in (method, "getUpdates") for order in self.faults.orders):
                continue
            if how == "limit":
                self.limits += 1
                self.faults.limit(self.dice.randint(1, 5), method=method)
            elif how == "500":
                self.faults.fail(502, method=method)
            elif how == "garbage":
                self.faults.garbage(method=method)
            elif how == "poll":
                self.faults.fail(500, method="getUpdates")
            elif how == "poll lost":
                self.faults.lose(taken=True, method="getUpdates")
            else:
                self.faults.lose(taken=how == "after", method=method)


@asynccontextmanager
async def running(made: Rig) -> AsyncIterator[None]:
    tasks = [asyncio.ensure_future(part.run()) for part in (made.outbox, made.timers, made.polling)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def until_quiet(clock: ManualClock, made: Rig, people: list[asyncio.Task[None]], hours: float) -> None:
    """Let everybody act; once nobody can, the clock jumps to the next moment that somebody waits for."""
    loop = asyncio.get_running_loop()
    end = clock.now().timestamp() + 3600 * hours
    quiet = 0
    while quiet < 40:
        await asyncio.sleep(0)
        while loop._ready:  # type: ignore[attr-defined]  # noqa: ASYNC110 - nobody rings when all are idle
            await asyncio.sleep(0)
        for task in people:
            if task.done() and task.exception() is not None:
                task.result()
        waiting = [at for at, future in clock._sleepers if not future.done()]
        if waiting:
            clock.advance(max(timedelta(0), min(waiting) - clock.now()))
        busy = not all(task.done() for task in people) or await made.store.waiting() or made.server.updates.pending
        busy = busy or await made.store.timers()
        quiet = 0 if busy else quiet + 1
        assert clock.now().timestamp() < end, "it never comes to rest"


async def soak(people: int, groups: int, seed: int, hours: float = 2.0) -> None:
    dice = random.Random(seed)
    clock = ManualClock()
    server = TelegramServer(clock, privacy=True, enforce_pace=True)
    store = MemoryStore()
    talkers = []
    for number in range(people):
        who = server.person(f"P{number}", username=f"p{number}_t", started=True)
        place = server.supergroup(f"G{number}", who) if number < groups else who.chat
        talkers.append(Talker(who, place, random.Random(dice.random())))
    async with rig(server, store, clock, decide=functools.partial(step, book=book()), paced=True) as made:
        made.polling._timeout = 25
        trouble = Trouble(server, random.Random(dice.random()))
        async with running(made):
            acting = [asyncio.ensure_future(talker.go(clock)) for talker in talkers]
            troubling = asyncio.ensure_future(trouble.go(clock, acting))
            await asyncio.sleep(0)
            watching = asyncio.ensure_future(until_quiet(clock, made, acting, hours))
            await asyncio.wait([*acting, watching], return_when=asyncio.FIRST_EXCEPTION)
            troubling.cancel()
            for task in [*acting, watching]:
                task.result()
    judge(server, store, talkers, trouble)


def judge(server: TelegramServer, store: MemoryStore, talkers: list[Talker], trouble: Trouble) -> None:
    tables = store.tables
    stored: dict[str, dict[str, Any]] = {}
    for row in tables.clarification.values():
        found = stored.setdefault(tables.session[row["session"]]["conversation"], {})
        assert row["question"] not in found, "a question was answered twice"
        found[row["question"]] = row["chosen"]
    for talker in talkers:
        place = f"telegram:{talker.place.id}"
        meant = {QUESTIONS[number - 1]: letter for number, letter in talker.last.items()}
        assert stored.get(place) == meant, f"{talker.who}: {talker.place}"
        for message in talker.said:  # nobody's words are lost, wherever they led
            if message.update is not None:
                name = f"telegram:{server.me['id']}:{talker.place.id}:{message.id}:said"
                assert name in tables.event, message
        assert any(text.startswith(("Done", "Handed")) for text in talker.place.texts)
    in_order(server, store)
    assert server.history.pace() == []
    assert {r["state"] for r in tables.outbox.values()} <= {"sent", "superseded"}
    refused = [call for call in server.history.calls if call.code == 429]
    assert len(refused) <= trouble.limits, "the server was hurried"


def in_order(server: TelegramServer, store: MemoryStore) -> None:
    """Messages arrive in the order in which they were decided; events were applied in the order they were made."""
    sent: dict[str, list[int]] = {}
    for _, row in sorted(store.tables.outbox.items()):
        if row["kind"] == "say" and row["message"]:
            sent.setdefault(row["conversation"], []).append(int(row["message"]))
    for numbers in sent.values():
        assert numbers == sorted(numbers)
    revisions: dict[str, list[int]] = {}
    position = {
        f"telegram:{server.me['id']}:{u.body['chat']['id']}:{u.body['message_id']}:said": u.id
        for u in server.updates.log
        if u.kind == "message"
    }
    for name, row in sorted(store.tables.event.items(), key=lambda one: one[1]["revision"]):
        if name in position:
            revisions.setdefault(row["conversation"], []).append(position[name])
    assert revisions
    for numbers in revisions.values():
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("seed", [1, 2])
async def test_twenty_people_at_once(seed: int) -> None:
    """P21, P23, P25, P26, P30, P31."""
    await soak(20, 4, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [11, 12, 13])
async def test_two_hundred_people_at_once(seed: int) -> None:
    """P21, P23, P25, P26, P30, P31; thirty a second over all chats."""
    await soak(200, 30, seed, hours=6)
