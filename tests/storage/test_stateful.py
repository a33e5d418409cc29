"""The reference store and a real one, driven side by side: they must never differ in what they say."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bot.ports import Commit, DuplicateEvent, Settle, StaleRevision, Store
from storage import open_store
from storage.memory import MemoryStore
from storage.records import RecordStore
from storage.rows import Unstorable
from storage.verify import Checked, checked
from tests.fakes.postgres import PostgresServer
from tests.storage.build import (
    LEASE,
    after,
    clarification,
    commit,
    entry,
    recorded,
    redraw,
    say,
    session_row,
    taken_back,
    timer_due,
)

PLACES = ("terminal:a", "telegram:1/2")
CARDS = ("c1", "c2")
TIMERS = ("remind", "close")

places = st.sampled_from(PLACES)
effects = st.lists(
    st.one_of(
        st.builds(say, st.text(max_size=3), st.sampled_from([None, *CARDS]), st.sampled_from([None, "s1"])),
        st.builds(redraw, st.text(max_size=3), st.sampled_from(CARDS)),
    ),
    max_size=3,
)


def _load(place: str, store: Store) -> Awaitable[Any]:
    return store.load(place)


def _owner(place: str, store: Store) -> Awaitable[Any]:
    return store.conversation_of(f"of {place}")


def _about(place: str, message: str, store: Store) -> Awaitable[Any]:
    return store.about(place, message)


def _shown(place: str, message: str, store: Store) -> Awaitable[Any]:
    return store.shown(place, message)


async def every_chain(store: RecordStore) -> list[Checked]:
    return [one async for one in checked(store)]


class Stores(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.url = self.new_database()
        self.memory: RecordStore = MemoryStore()
        self.real: RecordStore = self.runner.run(open_store(self.url))
        self.now = 0
        self.events = 0
        self.revisions = dict.fromkeys(PLACES, 0)
        self.clarified: dict[tuple[str, str], int] = {}
        self.claimed: list[int] = []
        self.done: list[Commit] = []

    def new_database(self) -> str:
        raise NotImplementedError

    def teardown(self) -> None:
        self.runner.run(self.real.close())
        self.runner.close()

    def both(self, ask: Callable[[Any], Awaitable[Any]]) -> Any:
        """Ask both; they must answer the same, errors included."""

        async def answer(store: Store) -> Any:
            try:
                return await ask(store)
            except (DuplicateEvent, StaleRevision, Unstorable) as problem:
                return type(problem)

        ours, theirs = self.runner.run(answer(self.memory)), self.runner.run(answer(self.real))
        assert ours == theirs
        return ours

    @initialize()
    def begin(self) -> None:
        for place in PLACES:
            self.write(place, ())

    @rule(seconds=st.integers(0, 40))
    def time_goes_on(self, seconds: int) -> None:
        self.now += seconds

    @rule(place=places, out=effects, words=st.text(st.characters(codec=None), max_size=4), clear=st.booleans())
    def an_event(self, place: str, out: list[Any], words: str, clear: bool) -> None:
        self.write(
            place,
            tuple(out),
            mark=words,
            audit=(entry(said=words), entry(session=None)),
            sessions=(session_row(f"of {place}", started_at=after(self.now)),),
            timers_cleared=TIMERS[:1] if clear else (),
        )

    @rule(place=places, name=st.sampled_from(TIMERS), seconds=st.integers(-5, 60))
    def a_timer_is_set(self, place: str, name: str, seconds: int) -> None:
        self.write(place, (), timers_set=((name, after(self.now + seconds)),))

    @rule(place=places, name=st.sampled_from(TIMERS))
    def a_timer_comes_due(self, place: str, name: str) -> None:
        self.write(place, (), event=timer_due(name, "any").event)

    @rule(place=places, id_=st.sampled_from(["clar-1", "clar-2"]), words=st.text(max_size=3), skip=st.booleans())
    def a_question_is_resolved(self, place: str, id_: str, words: str, skip: bool) -> None:
        session = f"of {place}"
        revision = self.clarified.get((session, id_), 0) + (2 if skip else 1)
        record = clarification(id_, session, revision, chosen_text=words)
        if self.write(place, (), **recorded(record)) is None:
            self.clarified[session, id_] = revision

    @rule(place=places, id_=st.sampled_from(["clar-1", "clar-2"]), off=st.sampled_from([0, 0, 0, -1]))
    def an_answer_is_taken_back(self, place: str, id_: str, off: int) -> None:
        session = f"of {place}"
        self.write(place, (), **taken_back(id_, session, self.clarified.get((session, id_), 1) + off))

    @precondition(lambda self: self.done)
    @rule(data=st.data(), off=st.integers(-2, 2))
    def an_event_comes_again_or_late(self, data: st.DataObject, off: int) -> None:
        known = data.draw(st.sampled_from(self.done[-5:]))
        expected = max(0, known.expected_revision + off)
        again = replace(
            known, expected_revision=expected, state=known.state.model_copy(update={"revision": expected + 1})
        )
        assert self.both(lambda store: store.commit(again)) is DuplicateEvent
        if off:
            late = commit(f"late{self.events}", self.revisions[PLACES[0]] + off if off > 0 else 0, PLACES[0])
            assert self.both(lambda store: store.commit(late)) is StaleRevision

    @rule(limit=st.integers(1, 3), platforms=st.sampled_from([None, ("terminal",), ("telegram", "slack"), ()]))
    def rows_are_claimed(self, limit: int, platforms: tuple[str, ...] | None) -> None:
        rows = self.both(lambda store: store.claim(after(self.now), limit, LEASE, platforms))
        self.claimed += [row.row for row in rows]

    @rule(limit=st.integers(1, 3))
    def timers_are_taken(self, limit: int) -> None:
        self.both(lambda store: store.due(after(self.now), limit, LEASE))

    @precondition(lambda self: self.claimed)
    @rule(data=st.data(), how=st.sampled_from(["settle", "settle with event", "retry", "give up"]))
    def a_claimed_row_ends(self, data: st.DataObject, how: str) -> None:
        row = data.draw(st.sampled_from(self.claimed))
        settle = Settle(row, data.draw(st.sampled_from(["m1", "m2", "m3", None])), self.now)
        if how == "settle":
            self.both(lambda store: store.settle(settle))
        elif how == "settle with event":
            self.write(PLACES[0], (), settle=settle)
        elif how == "retry":
            self.both(lambda store: store.retry_at(row, after(self.now + 7), "later"))
        else:
            self.both(lambda store: store.give_up(row, "never"))

    @rule()
    def the_program_is_started_again(self) -> None:
        self.runner.run(self.real.close())
        self.real = self.runner.run(open_store(self.url, create=False))

    @invariant()
    def they_say_the_same(self) -> None:
        for place in PLACES:
            self.both(partial(_load, place))
            self.both(partial(_owner, place))
            for message in ("m1", "m2", "m3"):
                self.both(partial(_about, place, message))
                self.both(partial(_shown, place, message))
        self.both(lambda store: store.next_due())
        self.both(lambda store: store.next_due(("terminal",)))
        self.both(lambda store: store.waiting())
        self.both(lambda store: store.timers("re"))
        self.both(lambda store: store.posted_count("terminal"))

    @invariant()
    def both_verify(self) -> None:
        assert [one for one in self.both(every_chain) if one.findings] == []

    def write(self, place: str, out: tuple[Any, ...], **more: Any) -> Any:
        self.events += 1
        one = commit(f"e{self.events}", self.revisions[place], place, at=after(self.now), out=out, **more)
        problem = self.both(lambda store: store.commit(one))
        if problem is None:
            self.revisions[place] += 1
            self.done.append(one)
        return problem


class OnSqlite(Stores):
    def new_database(self) -> str:
        self.folder = Path(tempfile.mkdtemp())
        return str(self.folder / "askfirst.db")

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)


class OnPostgres(Stores):
    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        super().__init__()

    def new_database(self) -> str:
        return self.runner.run(self.server.emptied())


def runs(examples: int, steps: int) -> settings:
    slow = [HealthCheck.too_slow]
    return settings(max_examples=examples, stateful_step_count=steps, suppress_health_check=slow)


def test_sqlite_and_the_reference_store() -> None:
    run_state_machine_as_test(OnSqlite, settings=runs(15, 25))


def test_postgres_and_the_reference_store(postgres: PostgresServer) -> None:
    run_state_machine_as_test(partial(OnPostgres, postgres), settings=runs(6, 20))
