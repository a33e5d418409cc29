"""How commits are written: many in one hop, each failing alone, none lost to a cancelled caller."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.core.model import MessageRef, Person
from bot.core.state import Ended, Request, Session
from bot.ports import Commit, DuplicateEvent, StaleRevision, StoreUnavailable
from storage import hot
from storage.migrate import upgrade
from storage.rows import Unstorable
from storage.sqlite import SqliteStore, open_sqlite
from storage.sqlite_writer import Writer
from storage.verify import verify
from tests.storage.build import ROOM, START, claim, clarification, commit, entry, recorded, say, state


class Gate:
    """Holds the writer's thread before a hop, so that a test decides what arrives meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.hops: list[int] = []
        self.statements: list[str] = []
        self._free = threading.Event()
        self._free.set()
        self.held = threading.Event()
        plain = Writer.run

        def run(writer: Writer, connection: sqlite3.Connection, jobs: Sequence[Any]) -> Sequence[Any]:
            self.held.set()
            assert self._free.wait(30)
            self.hops.append(len(jobs))
            connection.set_trace_callback(self.statements.append)
            return plain(writer, connection, jobs)

        monkeypatch.setattr(Writer, "run", run)

    def close(self) -> None:
        self.held.clear()
        self._free.clear()

    def open(self) -> None:
        self._free.set()

    async def until_held(self) -> None:
        assert await asyncio.to_thread(self.held.wait, 30)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(monkeypatch)


@pytest.fixture
async def store(tmp_path: Path, gate: Gate) -> AsyncIterator[SqliteStore]:
    path = tmp_path / "askfirst.db"
    upgrade(path)
    store = await open_sqlite(path)
    yield store
    gate.open()
    await store.close()


async def test_what_is_asked_while_the_writer_is_busy_goes_in_one_transaction(store: SqliteStore, gate: Gate) -> None:
    gate.close()
    first = asyncio.create_task(store.commit(commit("first", 0, "terminal:first")))
    await gate.until_held()
    rest = [
        asyncio.create_task(store.commit(commit(f"e{n}", 0, f"terminal:{n}", audit=(entry(),)))) for n in range(50)
    ]
    await asyncio.sleep(0)
    gate.open()
    await asyncio.gather(first, *rest)
    assert gate.hops == [1, 26, 24]  # a crowd is cut in two
    assert gate.statements.count("COMMIT") == 3
    assert await verify(store) == []


async def test_one_half_of_a_crowd_is_written_while_the_other_goes_on(store: SqliteStore, gate: Gate) -> None:
    """Nobody who is written already holds up those that wait, and the halves stay apart."""
    begun: list[str] = []

    async def one(name: str) -> None:
        for revision in range(2):
            begun.append(f"{name} {revision}")
            await store.commit(commit(f"{name} {revision}", revision, f"terminal:{name}"))

    gate.close()
    crowd = [asyncio.create_task(one(f"{n:02d}")) for n in range(40)]
    await gate.until_held()
    gate.held.clear()
    gate.open()
    await gate.until_held()  # the second half, before the first has asked again
    await asyncio.gather(*crowd)
    assert gate.hops == [20, 20, 20, 20]
    assert begun[40:] == [f"{n:02d} 1" for n in range(40)]


async def test_a_guilty_commit_costs_one_more_transaction_not_fifty(store: SqliteStore, gate: Gate) -> None:
    await store.commit(commit("old", 0, "terminal:old"))
    crowd = [commit(f"e{n}", 0, f"terminal:{n}", audit=(entry(session=None),)) for n in range(50)]
    crowd[20] = commit("stale", 3, "terminal:20", audit=(entry(session=None),))
    results = await asyncio.gather(*(store.commit(one) for one in crowd), return_exceptions=True)
    assert [n for n, result in enumerate(results) if result is not None] == [20]
    assert isinstance(results[20], StaleRevision)
    assert gate.statements.count("COMMIT") == 3
    assert gate.statements.count("ROLLBACK") == 1
    assert await verify(store) == []


async def test_an_event_delivered_again_costs_the_others_nothing(store: SqliteStore, gate: Gate) -> None:
    await store.commit(commit("old", 0, "terminal:old"))
    crowd = [commit(f"e{n}", 0, f"terminal:{n}", audit=(entry(session=None),)) for n in range(50)]
    crowd[20] = commit("old", 0, "terminal:20", audit=(entry(session=None),))
    crowd[30] = commit("e29", 1, "terminal:29", audit=(entry(session=None),))
    results = await asyncio.gather(*(store.commit(one) for one in crowd), return_exceptions=True)
    assert [n for n, result in enumerate(results) if isinstance(result, DuplicateEvent)] == [20, 30]
    assert [result for n, result in enumerate(results) if n not in (20, 30)] == [None] * 48
    assert gate.statements.count("COMMIT") == 3
    assert gate.statements.count("ROLLBACK") == 0
    assert await store.load("terminal:20") is None
    assert await verify(store) == []


async def test_a_commit_behind_a_failed_one_of_its_place_is_stale(store: SqliteStore) -> None:
    results = await asyncio.gather(
        store.commit(commit("e1")),
        store.commit(commit("e1", 1)),
        store.commit(commit("e2", 2)),
        store.commit(commit("e3", 1, mark="third")),
        return_exceptions=True,
    )
    assert [type(result).__name__ for result in results] == [
        "NoneType",
        "DuplicateEvent",
        "StaleRevision",
        "NoneType",
    ]
    assert await store.load(ROOM) == state(2, mark="third")


async def test_a_value_that_no_column_takes_fails_alone(store: SqliteStore) -> None:
    results = await asyncio.gather(
        store.commit(commit("e1", 0, "terminal:1")),
        store.commit(commit("e2", 0, "terminal:2", **recorded(clarification(round=2**70)))),
        store.commit(commit("e3", 0, "terminal:3")),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), Unstorable, type(None)]


async def test_the_database_itself_refuses_what_gets_past_the_types(store: SqliteStore) -> None:
    """CA-2: the constraint holds where the code forgets."""
    for column, value in (("chosen_via", "bot_guess"), ("user_message_ref", ""), ("round", "one")):
        wrong = {column: value}
        with pytest.raises(Unstorable, match="the database refuses"):
            await store._writer.ask(lambda connection, wrong=wrong: _insert(connection, wrong))


def _insert(connection: sqlite3.Connection, wrong: dict[str, Any]) -> None:
    row = {
        "id": "c", "round": 1, "trigger": "intake", "topic": "t", "why_it_matters": "w", "options": "[]",
        "chosen_at": 1, "chosen_via": "user_response", "user_message_ref": "m", "answered_by": "a", "surface": "s",
        "protocol": "spec", "session": "s", "revision": 1, "question": "q",
    } | wrong  # fmt: skip
    names = ", ".join(row)
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO clarification ({names}) VALUES ({marks})", list(row.values()))


async def test_a_cancelled_caller_does_not_cancel_the_write(store: SqliteStore, gate: Gate) -> None:
    gate.close()
    task = asyncio.create_task(store.commit(commit("e1", mark="written", out=(say("x"),))))
    await gate.until_held()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.open()
    await store.commit(commit("e2", 0, "terminal:other"))  # behind it in the queue
    assert await store.load(ROOM) == state(1, mark="written")
    with pytest.raises(DuplicateEvent):
        await store.commit(commit("e1"))


async def test_a_failure_nobody_waits_for_makes_no_noise(store: SqliteStore, gate: Gate) -> None:
    """Warnings are errors here: an exception never retrieved would fail the test."""
    gate.close()
    task = asyncio.create_task(store.commit(commit("e1", 7)))
    await gate.until_held()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    gate.open()
    await store.commit(commit("e2"))


async def test_close_writes_what_was_asked_for(store: SqliteStore, gate: Gate) -> None:
    gate.close()
    tasks = [asyncio.create_task(store.commit(commit(f"e{n}", 0, f"terminal:{n}"))) for n in range(5)]
    await gate.until_held()
    closing = asyncio.create_task(store.close())
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable):
        await store.commit(commit("late", 0, "terminal:late"))
    gate.open()
    await asyncio.gather(closing, *tasks)
    assert sum(gate.hops) == 5


async def test_a_closed_store_leaves_no_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    path = tmp_path / "threads.db"
    upgrade(path)
    store = await open_sqlite(path)
    assert threading.active_count() == before + 2
    await store.close()
    await store.close()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.name.startswith("Thread-"):
            await asyncio.to_thread(thread.join, 10)
    assert threading.active_count() <= before + 1  # the executor's own


async def test_the_cache_of_states_is_bounded_and_never_wrong(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hot, "HOT", 3)
    for n in range(10):
        await store.commit(commit(f"e{n}", 0, f"terminal:{n}", mark=str(n)))
    assert len(store._hot._states) == 3
    for n in range(10):
        assert await store.load(f"terminal:{n}") == state(1, f"terminal:{n}", mark=str(n))
    assert len(store._hot._states) == 3


async def test_a_slow_read_does_not_put_an_old_state_over_a_new_one(store: SqliteStore) -> None:
    await store.commit(commit("e1"))
    await store.commit(commit("e2", 1))
    store._hot.keep(state(1))
    assert await store.load(ROOM) == state(2)


def _over(session: str, request: str) -> Session:
    return Session(
        id=session,
        number=1,
        requester=Person(id="terminal:ana", name="Ana"),
        request=Request(text=request, original=request, ref=MessageRef(id="m1", quote=request)),
        pack="ars",
        stage=Ended(how="completed", at=START),
        started_at=START,
        touched_at=START,
    )


def _with(made: Commit, *sessions: Session) -> Commit:
    return replace(made, state=made.state.model_copy(update={"sessions": sessions}))


async def test_what_a_step_leaves_as_it_is_is_written_out_once(store: SqliteStore) -> None:
    """The same value has the same JSON; another value in its place is written, whatever it is called."""
    over = _over("s1", "paper on moss")
    await store.commit(_with(commit("e1"), over))
    _, written = store._hot.parts(ROOM)[id(over)]
    await store.commit(_with(commit("e2", 1), over, _over("s2", "paper on ferns")))
    assert store._hot.parts(ROOM)[id(over)][1] is written
    assert len(store._hot.parts(ROOM)) == 2
    await store.commit(_with(commit("e3", 2), _over("s1", "paper on moss \0 and lichen")))
    assert store._hot.parts(ROOM) == {}  # what had to be cleaned is not known as it was handed in
    store._hot.clear()
    read = await store.load(ROOM)
    assert read is not None
    assert [s.request.text for s in read.sessions] == ["paper on moss \ufffd and lichen"]


async def test_of_few_places_the_json_is_kept(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "WRITTEN", 3)
    for n in range(5):
        made = commit(f"e{n}", 0, f"terminal:{n}")
        await store.commit(_with(made, _over("s1", "paper on moss")))
    assert [n for n in range(5) if store._hot.parts(f"terminal:{n}")] == [2, 3, 4]


async def test_a_hot_state_is_not_read_again(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    await store.commit(commit("e1"))
    monkeypatch.setattr(store._reader, "ask", None)
    assert await store.load(ROOM) == state(1)


async def test_claims_and_commits_share_a_hop(store: SqliteStore, gate: Gate) -> None:
    gate.close()
    first = asyncio.create_task(store.commit(commit("e1", out=(say("one"),))))
    await gate.until_held()
    second = asyncio.create_task(store.commit(commit("e2", 0, "terminal:2", out=(say("two"),))))
    taken = asyncio.create_task(claim(store))
    await asyncio.sleep(0)
    gate.open()
    await asyncio.gather(first, second)
    assert [row.conversation for row in await taken] == [ROOM, "terminal:2"]
    assert gate.hops == [1, 2]


async def test_stale_is_told_with_both_revisions(store: SqliteStore) -> None:
    with pytest.raises(StaleRevision, match=r"terminal:room is at revision 0, the commit was made for 4"):
        await store.commit(commit("e1", 4, at=START))


async def test_the_writer_waits_for_the_disk_and_keeps_the_references(store: SqliteStore) -> None:
    """A kill does not show it, a power cut would: FULL syncs the log at each commit (sqlite.org/pragma.html)."""

    def settings(connection: sqlite3.Connection) -> dict[str, Any]:
        names = ("journal_mode", "synchronous", "foreign_keys")
        return {name: next(iter(connection.execute(f"PRAGMA {name}").fetchone().values())) for name in names}

    assert await store._writer.ask(settings) == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
