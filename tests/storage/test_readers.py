"""What the command line shows of the stored sessions."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage import open_store
from storage.readers import events, session_record, sessions
from storage.records import RecordStore
from tests.storage.build import ROOM, after, clarification, commit, entry, recorded, session_row


@pytest.fixture(params=["memory:", "file"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RecordStore]:
    store = await open_store("memory:" if request.param == "memory:" else str(tmp_path / "a.db"))
    yield store
    await store.close()


async def test_sessions_are_listed_newest_first(store: RecordStore) -> None:
    assert [one async for one in sessions(store)] == []
    await store.commit(commit("e1", sessions=(session_row("old"), session_row("new", started_at=after(5)))))
    await store.commit(commit("e2", 0, "telegram:7", sessions=(session_row("mid", "completed", after(3)),)))
    found = [one async for one in sessions(store)]
    assert [one["session"] for one in found] == ["new", "mid", "old"]
    assert found[1] == {
        "session": "mid",
        "workflow": "write",
        "state": "completed",
        "place": "telegram:7",
        "started_at": "2026-12-01T10:00:03.123456Z",
    }


async def test_one_session_whole(store: RecordStore) -> None:
    assert await session_record(store, "s1") is None
    await store.commit(commit("before", at=after(-1)))
    first = commit("e1", 1, sessions=(session_row(),), audit=(entry(n=1),))
    await store.commit(first)
    await store.commit(commit("e2", 2, at=after(1), **recorded(clarification(chosen="A"))))
    await store.commit(commit("e3", 3, at=after(2), **recorded(clarification(revision=2))))
    end = session_row("s1", "completed", ended_at=after(3), result={"x": 1})
    await store.commit(commit("e4", 4, at=after(3), sessions=(end,)))
    await store.commit(commit("later", 5, at=after(4)))
    found = await session_record(store, "s1")
    assert found is not None
    json.dumps(found)
    assert (found["state"], found["place"], found["result"]) == ("completed", ROOM, {"x": 1})
    assert [one["chosen"] for one in found["clarifications"] + found["earlier"]] == ["B", "A"]
    assert [one["event"] for one in found["audit"]] == ["intake_round", "clarification_resolved", "answer.replaced"]
    assert found["audit"][1]["details"]["chosen"] == "A"
    assert [one["event_id"] for one in found["events"]] == ["e1", "e2", "e3", "e4"]


async def test_events_come_in_the_order_in_which_they_were_applied(store: RecordStore) -> None:
    wanted = [commit(f"e{n}", n, at=after(-n), outcome="ignored", reason=f"because {n}") for n in range(5)]
    for one in wanted:
        await store.commit(one)
    await store.commit(commit("elsewhere", 0, "terminal:other"))
    found = [event async for event in events(store, ROOM)]
    assert [event.envelope for event in found] == [one.envelope for one in wanted]
    assert [(event.revision, event.outcome, event.reason) for event in found] == [
        (n + 1, "ignored", f"because {n}") for n in range(5)
    ]
    assert [event.at for event in found] == [after(-n) for n in range(5)]


async def test_a_snapshot_does_not_see_later_commits(store: RecordStore) -> None:
    await store.commit(commit("e1", sessions=(session_row("s1"),)))
    async with store.snapshot() as snapshot:
        assert [row["session"] async for row in snapshot.sessions()] == ["s1"]
        await store.commit(commit("e2", 1, sessions=(session_row("s2"),)))
        assert [row["session"] async for row in snapshot.sessions()] == ["s1"]
