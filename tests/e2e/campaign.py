"""A crash campaign: `askfirst serve` killed again and again while people answer; then what was stored is compared.

The fake server knows which updates were acknowledged and what people have seen; the database knows what was stored.
Nothing acknowledged may be missing, nothing may be there twice, and everybody comes to the end.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from adapters.telegram.codec import event_from_update, read_update
from adapters.telegram.places import Me
from bot.app import load_book
from bot.core.events import Envelope
from bot.core.state import Conversation
from bot.core.step import step
from bot.runner import OUR_MISTAKE, passed_over
from config.settings import load_settings
from storage import open_store
from storage.readers import events
from storage.records import RecordStore
from storage.verify import verify
from tests.e2e.forked import Forked, start
from tests.e2e.installed import ASKFIRST
from tests.fakes.telegram import Person, TelegramServer, WallClock

LEASE = "5"  # seconds, the least that can be set
AFRESH = 10  # one in so many starts is the installed command itself
END = "Handed to"
LIFE = 1.5  # seconds that a process serves, on average; some messages take more than one, and have to come through
BUSY = 180.0  # seconds that a start may take where the machine has much else to do
LOOK = 0.05  # seconds between a person's looks at the screen
PATIENCE = 8.0  # seconds after which a person tries once more


class Campaign:
    """`workers` processes at a time on one database, all polling for one bot."""

    def __init__(self, server: TelegramServer, base: str, database: str, folder: Path, workers: int) -> None:
        self.server, self.database = server, database
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("ASKFIRST_")},
            "ASKFIRST_DATABASE": database,
            "ASKFIRST_TELEGRAM__TOKEN": server.token,
            "ASKFIRST_TELEGRAM__BASE_URL": base,
            "ASKFIRST_ACCESS__ALLOW": '["telegram:*"]',
            "ASKFIRST_GRACE_SECONDS": "0.2",
            "ASKFIRST_LEASE_SECONDS": LEASE,
        }
        self.processes: list[asyncio.subprocess.Process | Forked | None] = [None] * workers
        self.logs: list[Path] = []
        self.folder = folder
        self.kills = 0

    async def start(self, number: int) -> None:
        self.logs.append(self.folder / f"log{len(self.logs)}")
        with self.logs[-1].open("ab") as log:
            given = {"env": self.environment, "cwd": self.folder}
            if len(self.logs) % AFRESH == 1:
                self.processes[number] = await asyncio.create_subprocess_exec(ASKFIRST, "serve", stderr=log, **given)
            else:
                streams = (None, None, log.fileno())
                self.processes[number] = await asyncio.to_thread(start, ["serve"], streams=streams, **given)

    async def end(self, number: int, how: int) -> int:
        process = self.processes[number]
        assert process is not None
        if process.returncode is None:
            process.send_signal(how)
        return await asyncio.wait_for(process.wait(), BUSY)

    async def kill(self, number: int) -> None:
        assert await self.end(number, signal.SIGKILL) == -signal.SIGKILL, self.said()[-3000:]
        self.kills += 1

    def said(self) -> str:
        return "".join(log.read_text() for log in self.logs)

    async def serves(self) -> None:
        """The process that was started last."""
        log = self.logs[-1]
        async with asyncio.timeout(BUSY):
            while "event='serving'" not in log.read_text():  # noqa: ASYNC110 - another process brings it about
                await asyncio.sleep(0.02)

    async def people_answer(self, people: Sequence[Person], intakes: int, kills: int, chance: random.Random) -> None:
        """Everybody goes through so many intakes, and through more until enough processes were killed."""
        over = asyncio.Event()
        talking = (_Talk(ana, self.server, random.Random(n)).run(intakes, over) for n, ana in enumerate(people))
        through = asyncio.gather(*talking)
        for number in range(len(self.processes)):
            await self.start(number)
        while self.kills < kills:
            if chance.random() < 0.9:  # the others die while they start
                await self.serves()
            await asyncio.wait((through,), timeout=chance.expovariate(1 / LIFE))
            if through.done():
                await through  # says who has failed
            number = chance.randrange(len(self.processes))
            await self.kill(number)
            await self.start(number)
        over.set()
        await through

    async def compared(self, people: Sequence[Person], intakes: int) -> None:
        """Everything is settled, everybody stopped politely, and the stored state is what was acknowledged."""
        store = await open_store(self.database, create=False)
        try:
            await self._settled(store)
            await self.serves()
            for number in range(len(self.processes)):
                assert await self.end(number, signal.SIGTERM) == 0, self.said()[-3000:]
            assert await verify(store) == []
            for ana in people:
                await self._one(store, ana, intakes)
        finally:
            await store.close()
        log = self.said()
        assert self.server.token.partition(":")[2] not in log
        assert "step_failed" not in log

    async def _settled(self, store: RecordStore) -> None:
        """Until nothing is to be done. As long as it takes, while it goes on: a chat takes one message a second."""
        left, since = -1, 0.0
        while now_left := len(self.server.updates.pending) + await store.waiting() + len(await store.timers()):
            if now_left != left:
                left, since = now_left, time.monotonic()
            assert time.monotonic() - since < BUSY, f"{left} left, and nothing happens"
            await asyncio.sleep(0.05)

    async def _one(self, store: RecordStore, ana: Person, intakes: int) -> None:
        conversation = f"telegram:{ana.id}"
        acknowledged = {e.event_id for e in self._envelopes() if e.place.conversation == conversation}
        book = load_book(load_settings(access={"allow": ("telegram:*",)}, grace_seconds=0.2))
        state: Conversation | None = None
        seen: Counter[str] = Counter()
        async for event in events(store, conversation):
            seen[event.envelope.event_id] += 1
            failed = event.outcome == "refused" and (event.reason or "").startswith(OUR_MISTAKE)
            follows = passed_over(state, event.envelope, OUR_MISTAKE) if failed else step(state, event.envelope, book)
            state = follows.state
        assert acknowledged - set(seen) == set()
        assert set(seen.values()) == {1}
        stored = await store.load(conversation)
        assert stored is not None
        assert state is not None
        assert stored.revision == state.revision
        async with store.snapshot() as snapshot:
            sessions = [row async for row in snapshot.sessions() if row["conversation"] == conversation]
            assert sum(row["state"] == "completed" for row in sessions) >= intakes
            for row in sessions:
                answered = [found["question"] async for found in snapshot.clarifications(row["session"])]
                assert len(answered) == len(set(answered))
                if row["state"] == "completed":
                    assert len(answered) == len(stored_questions(row))

    def _envelopes(self) -> list[Envelope]:
        me = Me(id=self.server.me["id"], username=self.server.me["username"])
        found = []
        for update in self.server.updates.log:
            made = event_from_update(read_update(update.json()), me)  # type: ignore[arg-type]
            if isinstance(made, Envelope):
                found.append(made)
        return found


def stored_questions(row: dict[str, Any]) -> list[str]:
    """Of a completed session, by its result."""
    return [entry["id"] for entry in json.loads(row["result"])["clarifications"]]


# -- people ----------------------------------------------------------------------------------------------------------


class _Talk:
    """Whole intakes, one after the other; what gets no answer for long is said again, as people do."""

    def __init__(self, ana: Person, server: TelegramServer, chance: random.Random) -> None:
        self.ana, self.server, self.chance = ana, server, chance
        self.begun = 0  # the newest message when the present intake began

    async def run(self, intakes: int, over: asyncio.Event) -> None:
        ana, had = self.ana, 0
        while had < intakes or not over.is_set():
            had += 1
            self.begun = self.newest()
            await self.until(lambda: ana.say("I have an abstract and a set of papers."), "What shall come out of it?")
            await self.until(lambda: _takes_b(ana), "Literature review ·")
            await self.until(lambda: ana.say("1: B, 2: A"), "Still open")
            await self.until(lambda: ana.say("accept recommendations"), "Done: 5 answers")
            # First in silence: words said now hold the end back for a minute.
            await self.until(lambda: ana.say("accept recommendations"), END, silent=True)

    def newest(self) -> int:
        return next(reversed(self.ana.chat.messages), 0)

    def sees(self, words: str, since: int) -> bool:
        for number, message in reversed(self.ana.chat.messages.items()):  # looked at often, and there are thousands
            if number <= since:
                return False
            if message.mine and words in message.text:
                return True
        return False

    async def until(self, act: Callable[[], Any], words: str, *, silent: bool = False) -> None:
        """Until the words are there, said after this began; or the end of this intake, where something crossed."""
        since = self.newest()
        said = 0
        for tried in range(60):
            await asyncio.sleep(self.chance.uniform(0, 0.3))
            # What has not even been fetched is not said again: on a busy machine that would be a flood.
            if (tried or not silent) and said not in self.server.updates.pending:
                act()
                said = self.server.updates.log[-1].id
            try:
                async with asyncio.timeout(PATIENCE * min(10, 2**tried)):
                    while not (self.sees(words, since) or self.sees(END, self.begun)):  # noqa: ASYNC110 - another process brings it about
                        await asyncio.sleep(LOOK)
            except TimeoutError:
                continue
            return
        last = [m.text for m in self.ana.chat.messages.values() if m.mine][-3:]
        raise AssertionError(f"{self.ana} never saw {words!r}; last: {last}")


def _takes_b(ana: Person) -> None:
    """By the button, where there still is one."""
    try:
        ana.press("b")
    except AssertionError:
        ana.say("b")


@asynccontextmanager
async def campaign(
    database: str, folder: Path, *, people: int, workers: int
) -> AsyncIterator[tuple[Campaign, list[Person]]]:
    server = TelegramServer(WallClock(), local=True)
    async with server.serve() as base:
        made = Campaign(server, base, database, folder, workers)
        try:
            yield made, [server.person(f"Ana{n}", started=True) for n in range(people)]
        finally:
            for number, process in enumerate(made.processes):
                if process is not None and process.returncode is None:
                    await made.end(number, signal.SIGKILL)
