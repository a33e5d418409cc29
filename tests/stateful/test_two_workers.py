"""Two workers on one database, their commits and sends interleaved in any order, and either may die at any point.

Each worker stops before every commit and every send; hypothesis decides who goes on. At the end everything is let go,
and then must hold: what was heard is stored once and folds to the stored state; each resolved question has one
clarification; every message was said, in order, and said twice only where a worker died, a lease ran out, or the
connection broke during the send.
"""

from __future__ import annotations

import asyncio
import functools
import shutil
import tempfile
from collections import Counter
from collections.abc import Awaitable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from bot.core.codec import encode_state
from bot.core.effects import Redraw, Reply, Say
from bot.core.events import Envelope, MessageReceived
from bot.core.model import MessageRef, Person, Place
from bot.core.state import Conversation
from bot.core.step import step
from bot.outbox import Outbox, Patience
from bot.ports import Commit, OutboxRow, Sent, Settle, TryLater
from bot.runner import Runner
from bot.timers import Timers
from storage import line, open_store
from storage.readers import events
from storage.records import RecordStore
from storage.verify import verify
from tests.fakes.clock import START, ManualClock
from tests.fakes.postgres import PostgresServer
from tests.stateful.world import book

LEASE = timedelta(seconds=30)
ROOMS = ("fake:team", "fake:club")
PEOPLE = ("ana", "ben")
WORDS = (
    "1: B",
    "1: A, 2: A",
    "3: C",
    "accept recommendations",
    "change 1 to C",
    "undo",
    "yes",
    "no",
    "1: A",
    "cancel",
)
OPENING = ("lit-review this", "/settings answers anyone")


class Gate:
    """Everything a worker does to the world stops here until it is let through."""

    def __init__(self) -> None:
        self.held: list[asyncio.Future[None]] = []
        self.sends: list[asyncio.Future[None]] = []  # those of them that go to the platform
        self.busy = 0  # questions to the database that are under way

    async def __call__(self, *, send: bool = False) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        mine = (self.held, self.sends) if send else (self.held,)
        for waiting in mine:
            waiting.append(future)
        try:
            await future
        finally:
            for waiting in mine:
                waiting.remove(future)

    async def still(self) -> None:
        """Until what was begun is through or stands here: all waiting is for the database or for the gate."""
        quiet = 0
        while quiet < 30:
            await asyncio.sleep(0 if self.busy == 0 else 0.001)
            quiet = quiet + 1 if self.busy == 0 else 0


class Held:
    """A store that stops before it writes for its worker."""

    def __init__(self, store: RecordStore, gate: Gate, world: TwoWorkers) -> None:
        self._store, self._gate, self._world = store, gate, world

    def __getattr__(self, name: str) -> Any:
        ask = getattr(self._store, name)

        async def asked(*args: Any) -> Any:
            self._gate.busy += 1
            try:
                return await ask(*args)
            finally:
                self._gate.busy -= 1

        return asked

    async def commit(self, commit: Commit) -> None:
        await self._gate()
        await self.__getattr__("commit")(commit)

    async def settle(self, settle: Settle) -> None:
        await self._gate()
        await self.__getattr__("settle")(settle)

    async def extend(self, rows: Sequence[int], until: datetime) -> None:
        await self.__getattr__("extend")(rows, until)
        for row in rows:
            self._world.had_until(row, until)

    async def retry_at(self, row: int, at: datetime, error: str) -> None:
        await self.__getattr__("retry_at")(row, at, error)
        self._world.had_until(row, self._world.clock.now())

    async def claim(self, now: datetime, limit: int, lease: timedelta, platforms: Any = None) -> Any:
        rows = await self.__getattr__("claim")(now, limit, lease, platforms)
        for row in rows:
            self._world.claimed(row, now, now + lease)
        return rows


class Lost(TryLater):
    def __init__(self, arrived: bool) -> None:
        super().__init__("the connection was lost")
        self.arrived = arrived


class Transport:
    platform = "fake"

    def __init__(self, gate: Gate, world: TwoWorkers) -> None:
        self._gate, self._world = gate, world

    async def post(self, conversation: str, say: Say) -> Sent:
        try:
            await self._gate(send=True)  # a slow send: the lease may run out meanwhile
        except Lost as lost:
            if lost.arrived:
                self._world.posted(conversation, say)
            raise
        return self._world.posted(conversation, say)

    async def redraw(self, conversation: str, message: str, redraw: Redraw) -> Sent:
        await self._gate(send=True)
        return Sent(message)

    async def reply(self, envelope: Envelope, reply: Reply) -> None: ...


class Worker:
    def __init__(self, store: RecordStore, world: TwoWorkers) -> None:
        self.store, self.gate = store, Gate()
        held: Any = Held(store, self.gate, world)
        decide = functools.partial(step, book=book())
        self.runner = Runner(held, decide, world.clock, world.new_id, jitter=lambda: 0.5)
        patience = Patience(lease=LEASE, send=3600)  # the send is as slow as hypothesis likes
        sends = {"fake": Transport(self.gate, world)}
        self.outbox = Outbox(held, self.runner, sends, world.clock, patience=patience, jitter=lambda: 0.5)
        self.timers = Timers(held, self.runner, world.clock)
        self.tasks: list[asyncio.Task[Any]] = []

    def open_tasks(self) -> list[asyncio.Task[Any]]:
        mine = [*self.tasks, *self.runner._handling, *self.outbox._under_way.values()]
        return [task for task in mine if not task.done()]


class TwoWorkers(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.clock = ManualClock(auto=True)
        self.ids = 0
        self.heard: dict[str, Envelope] = {}
        self.said: list[tuple[str, str]] = []  # place and effect, in the order of their arrival
        self.rows: dict[int, tuple[str, str]] = {}
        self.leases: dict[int, list[tuple[datetime, datetime]]] = {}
        self.url = self.new_database()
        self.workers = [self.new_worker(), self.new_worker()]
        for room in ROOMS:
            for text in OPENING:
                self.hear(self.workers[0], room, "ana", text)
                self.let_all_go()

    def new_database(self) -> str:
        raise NotImplementedError

    def new_id(self) -> str:
        self.ids += 1
        return f"{self.ids:010d}"

    def new_worker(self) -> Worker:
        return Worker(self.run(open_store(self.url)), self)

    def run(self, work: Awaitable[Any]) -> Any:
        async def bounded() -> Any:
            async with asyncio.timeout(60):
                return await work

        return self.loop.run(bounded())

    # -- what happens ------------------------------------------------------------------------------------------------

    @rule(n=st.integers(0, 1), room=st.sampled_from(ROOMS), who=st.sampled_from(PEOPLE), text=st.sampled_from(WORDS))
    def somebody_answers(self, n: int, room: str, who: str, text: str) -> None:
        self.hear(self.workers[n], room, who, text)

    @precondition(lambda self: self.heard)
    @rule(n=st.integers(0, 1), data=st.data())
    def an_event_is_delivered_again(self, n: int, data: st.DataObject) -> None:
        envelope = self.heard[data.draw(st.sampled_from(sorted(self.heard)[-3:]))]
        self.start(self.workers[n], self.workers[n].runner.handle(envelope))

    @rule(n=st.integers(0, 1), which=st.integers(0, 5))
    def a_worker_goes_on(self, n: int, which: int) -> None:
        self.let_go(self.workers[n], which)

    @rule(n=st.integers(0, 1))
    def a_worker_looks_for_rows(self, n: int) -> None:
        self.start(self.workers[n], self.workers[n].outbox._start_some(None))

    @rule(n=st.integers(0, 1))
    def a_worker_extends_its_leases(self, n: int) -> None:
        self.start(self.workers[n], self.workers[n].outbox._extend())

    @rule(n=st.integers(0, 1), which=st.integers(0, 5), arrived=st.booleans())
    def a_send_is_lost(self, n: int, which: int, arrived: bool) -> None:
        """The connection broke: before the platform had it, or after."""
        sends = self.workers[n].gate.sends
        if sends:
            self.let_go(self.workers[n], self.workers[n].gate.held.index(sends[which % len(sends)]), Lost(arrived))

    @rule(n=st.integers(0, 1))
    def a_worker_looks_for_timers(self, n: int) -> None:
        self.start(self.workers[n], self.workers[n].timers._fire_some())

    @rule(seconds=st.sampled_from([1, 6, 31]))
    def time_goes_on(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule(n=st.integers(0, 1))
    def a_worker_dies(self, n: int) -> None:
        """What it was about to write is not written; what it had claimed stays claimed until the lease ends."""
        dead = self.workers[n]
        self.run(self.killed(dead))
        self.workers[n] = self.new_worker()

    # -- how ---------------------------------------------------------------------------------------------------------

    def hear(self, worker: Worker, room: str, who: str, text: str) -> None:
        number = len(self.heard) + 1
        event = MessageReceived(
            person=Person(id=f"fake:{who}", name=who),
            text=text,
            ref=MessageRef(id=f"u{number}", quote=text),
            order=10_000 + number,
            addressed=True,
        )
        place = Place(conversation=room, platform="fake", shared=True)
        envelope = Envelope(event_id=f"e{number:04d}", place=place, at=START, event=event)
        self.heard[envelope.event_id] = envelope
        self.start(worker, worker.runner.handle(envelope))

    def start(self, worker: Worker, work: Any) -> None:
        async def begin() -> None:
            worker.tasks.append(asyncio.ensure_future(work))
            await worker.gate.still()

        self.run(begin())

    def let_go(self, worker: Worker, which: int, how: Lost | None = None) -> None:
        async def go() -> None:
            held = [future for future in worker.gate.held if not future.done()]
            if held and how is not None:
                held[which % len(held)].set_exception(how)
            elif held:
                held[which % len(held)].set_result(None)
            await worker.gate.still()

        self.run(go())

    def let_all_go(self) -> None:
        while any(worker.gate.held for worker in self.workers):
            for worker in self.workers:
                self.let_go(worker, 0)

    async def killed(self, worker: Worker) -> None:
        for future in worker.gate.held:
            future.cancel()
        tasks = worker.open_tasks()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await worker.store.close()

    def had_until(self, row: int, until: datetime) -> None:
        self.leases[row][-1] = (self.leases[row][-1][0], until)

    def posted(self, conversation: str, say: Say) -> Sent:
        self.said.append((conversation, say.model_dump_json()))
        return Sent(f"m{len(self.said)}", 20_000 + len(self.said))

    def claimed(self, row: OutboxRow, since: datetime, until: datetime) -> None:
        """Never two workers on one row at a time."""
        leases = self.leases.setdefault(row.row, [])
        self.rows[row.row] = (row.conversation, row.effect.model_dump_json())
        assert not leases or leases[-1][1] <= since
        leases.append((since, until))

    # -- what must hold ----------------------------------------------------------------------------------------------

    def teardown(self) -> None:
        try:
            self.everything_is_let_go()
            self.run(self.looked_at_afresh())
        finally:
            for worker in self.workers:
                self.run(self.killed(worker))
            self.loop.close()

    def everything_is_let_go(self) -> None:
        """All that was heard is handled (the platform would deliver it again), all that waits is sent."""
        self.let_all_go()
        for envelope in self.heard.values():
            self.start(self.workers[0], self.workers[0].runner.handle(envelope))
            self.let_all_go()
        for _ in range(60):
            if self.run(self.workers[0].store.waiting()) == 0:
                return
            self.clock.advance(LEASE)
            for worker in self.workers:
                self.start(worker, worker.outbox._start_some(None))
            self.let_all_go()
        raise AssertionError("something was never sent")

    async def looked_at_afresh(self) -> None:
        """Not by a worker: what it has in memory may be behind, and is refused when it writes."""
        store = await open_store(self.url, create=False)
        try:
            await self.laws(store)
        finally:
            await store.close()

    async def laws(self, store: RecordStore) -> None:
        assert await verify(store) == []
        seen: Counter[str] = Counter()
        for room in ROOMS:
            state: Conversation | None = None
            async for event in events(store, room):
                seen[event.envelope.event_id] += 1
                state = step(state, event.envelope, book()).state
                assert state.revision == event.revision
            stored = await store.load(room)
            assert stored is not None
            assert state is not None
            assert encode_state(stored) == encode_state(state)
        assert set(self.heard) <= set(seen)
        assert set(seen.values()) == {1}
        async with store.snapshot() as snapshot:
            recorded = [(row["session"], row["question"]) async for row in snapshot.clarifications()]
        assert len(recorded) == len(set(recorded))
        self.what_was_said()

    def what_was_said(self) -> None:
        """Each message once, and once more for each time that somebody else took it over; first copies in order."""
        copies = Counter(self.said)
        assert sum(copies.values()) <= sum(len(leases) for leases in self.leases.values())
        firsts = list(dict.fromkeys(self.said))
        for room in ROOMS:
            mine = [said for said in firsts if said[0] == room]
            assert mine == [row for _, row in sorted(self.rows.items()) if row in mine]


class OnPostgres(TwoWorkers):
    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        super().__init__()

    def new_database(self) -> str:
        url: str = self.run(self.server.emptied())
        return url


class OnSqlite(TwoWorkers):
    """Two processes on one file: not how it is run, but nothing may be lost by it."""

    def new_database(self) -> str:
        self.folder = Path(tempfile.mkdtemp())
        return str(self.folder / "askfirst.db")

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)


def runs(examples: int, steps: int) -> settings:
    slow = [HealthCheck.too_slow]
    return settings(max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=slow)


@pytest.fixture(autouse=True)
def lined_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are put behind others at every claim, not at every sixteenth."""
    monkeypatch.setattr(line, "EVERY", 1)


def test_two_workers_on_postgresql(postgres: PostgresServer) -> None:
    run_state_machine_as_test(functools.partial(OnPostgres, postgres), settings=runs(12, 30))


def test_two_workers_on_one_file() -> None:
    run_state_machine_as_test(OnSqlite, settings=runs(8, 30))


@pytest.mark.soak
def test_two_workers_on_postgresql_for_long(postgres: PostgresServer) -> None:
    run_state_machine_as_test(functools.partial(OnPostgres, postgres), settings=runs(150, 60))
