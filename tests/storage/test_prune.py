"""Retention: what nobody has used for long is archived and removed; what stays still verifies and replays."""

# ruff: noqa: ASYNC240 - tests may block
from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.ports import Settle, StoreUnavailable
from storage import lane, open_store
from storage import prune as prune_module
from storage.chain import entry_hash
from storage.prune import opened_archive, prune
from storage.records import RecordStore
from storage.verify import verify
from tests.storage.build import (
    after,
    claim,
    clarification,
    commit,
    entry,
    recorded,
    say,
    session_row,
    state,
)

DAY = 86_400
OLD, NEW = "terminal:old", "terminal:new"


@pytest.fixture(params=["sqlite", "postgres"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(await request.getfixturevalue("postgres").emptied())
    return str(tmp_path / "askfirst.db")


@pytest.fixture
async def store(url: str) -> AsyncIterator[RecordStore]:
    store = await open_store(url)
    yield store
    await store.close()


async def talk(store: RecordStore, place: str, day: float, **more: Any) -> None:
    """A whole session on one day: asked, answered, replaced, ended, and its message sent."""
    s, at = f"of {place}", after(day * DAY)
    first = recorded(clarification(session=s))
    await store.commit(commit(f"{place} 1", 0, place, at=at, out=(say("hello"),), **first))
    ended = {"ended_at": at, **more}
    await store.commit(
        commit(
            f"{place} 2",
            1,
            place,
            at=at,
            sessions=(session_row(s, "completed", started_at=at, **ended),),
            **recorded(clarification(session=s, revision=2, chosen="A")),
        )
    )
    for row in await claim(store, at):
        await store.settle(Settle(row.row, f"m{row.row}"))


async def pruned(url: str, archive: Any, day: float = 30) -> prune_module.Pruned:
    return await prune(url, after(day * DAY), after(100 * DAY), archive)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "archive.jsonl"


async def test_an_old_place_goes_into_the_archive_and_a_new_one_stays(
    store: RecordStore, url: str, archive: Path
) -> None:
    await talk(store, OLD, 0)
    await talk(store, NEW, 60)
    await store.commit(commit("sys", 0, "terminal:third", at=after(60 * DAY), audit=(entry(session=None),)))
    async with store.snapshot() as snapshot:
        chain = [row async for row in snapshot.chain(f"of {OLD}")]
    with opened_archive(str(archive)) as file:
        done = await pruned(url, file)
    assert (done.places, done.sessions, done.clarifications, done.events, done.messages) == (1, 1, 1, 2, 1)
    assert await store.conversation_of(f"of {OLD}") is None
    assert await store.seen(f"{OLD} 1") is False
    assert await store.conversation_of(f"of {NEW}") == NEW
    assert await verify(store) == []
    async with store.snapshot() as snapshot:
        assert f"of {OLD}" not in [chain async for chain in snapshot.chains()]
        noted = [row async for row in snapshot.chain("system")][-1]
    [line] = archive.read_text().splitlines()
    kept = json.loads(line)
    assert (kept["conversation"], kept["revision"]) == (OLD, 2)
    assert [event["event_id"] for event in kept["events"]] == [f"{OLD} 1", f"{OLD} 2"]
    [session] = kept["sessions"]
    assert [found["chosen"] for found in session["clarifications"]] == ["A"]
    assert [found["chosen"] for found in session["earlier"]] == ["B"]
    # What the system's chain has kept fits the archive.
    assert noted["event"] == "privacy.pruned"
    assert json.loads(noted["details"])["ends"][f"of {OLD}"]["hash"] == session["audit"][-1]["hash"]
    assert entry_hash(chain[-1]) == session["audit"][-1]["hash"]


async def test_what_adapters_keep_of_an_old_place_goes_with_it(store: RecordStore, url: str, archive: Path) -> None:
    """Threads, cards and unsent forms. Names that only begin the same are other places."""
    await talk(store, OLD, 0)
    await talk(store, NEW, 60)
    gone = {f"x:root:{OLD}": "12", f"x:card:{OLD}:7": "8", "x:thread:12": OLD, f"x:draft:ana:of {OLD}.1": "{}"}
    stay = {f"x:root:{OLD}er": "12", f"x:root:{NEW}": "13", "x:thread:13": NEW, f"x:draft:ana:of {NEW}.1": "{}"}
    for key, value in (gone | stay).items():
        await store.keep(key, value)
    with opened_archive(str(archive)) as file:
        assert (await pruned(url, file)).places == 1
    assert await store.kept("x:") == stay


async def test_messages_go_some_at_a_time(
    store: RecordStore, url: str, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those too that a prune which was killed has left."""
    monkeypatch.setattr(prune_module, "SWEPT", 2)
    for number in range(3):
        await talk(store, f"{OLD} {number}", 0)
    await talk(store, NEW, 60)
    sweep = prune_module._sweep

    async def killed(*given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(prune_module, "_sweep", killed)
    with opened_archive(str(archive)) as file, pytest.raises(KeyboardInterrupt):
        await pruned(url, file)
    monkeypatch.setattr(prune_module, "_sweep", sweep)
    with opened_archive(str(archive)) as file:
        done = await pruned(url, file)
    assert (done.places, done.messages) == (0, 3)
    assert await store.posted_count("terminal") == 1


class Watched(io.TextIOWrapper):
    """An archive that sees how long the log of a database is, each time a place is about to go."""

    def __init__(self, archive: Path, database: str) -> None:
        super().__init__(archive.open("wb"))
        self.log, self.longest = Path(f"{database}-wal"), 0

    def write(self, written: str) -> int:
        self.longest = max(self.longest, self.log.stat().st_size)
        return super().write(written)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections that checkpoint after twenty pages, unless they are told not to."""
    plain = lane.connect

    async def connect(path: Path, **options: Any) -> Any:
        connection = await plain(path, **options)
        await connection.execute_fetchall("PRAGMA wal_autocheckpoint = 20")
        return connection

    monkeypatch.setattr(lane, "connect", connect)


@pytest.mark.usefixtures("eager")
async def test_the_log_of_a_file_stays_short(tmp_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody else has the file open, what was removed is taken into it now and then."""
    monkeypatch.setattr(prune_module, "LONGEST_LOG", 20 * 4096)
    path = str(tmp_path / "askfirst.db")
    store = await open_store(path)
    for number in range(8):
        await talk(store, f"{OLD} {number}", 0)
    await store.close()
    with Watched(archive, path) as file:
        assert (await pruned(path, file)).places == 8
    pages = file.longest / 4096
    assert 0 < pages < 60, "all that was removed"


@pytest.mark.usefixtures("eager")
async def test_beside_a_serving_store_only_that_one_checkpoints(
    tmp_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that do so at once may lose a commit (SQLite before 3.51.3): a prune leaves the file itself alone."""
    monkeypatch.setattr(prune_module, "LONGEST_LOG", 20 * 4096)
    path = tmp_path / "askfirst.db"
    serving = await open_store(str(path))
    try:
        for number in range(8):
            await talk(serving, f"{OLD} {number}", 0)
        before = path.read_bytes()
        with Watched(archive, str(path)) as file:
            assert (await pruned(str(path), file)).places == 8
        assert file.longest > 60 * 4096
        assert path.read_bytes() == before
        await talk(serving, NEW, 60)
        assert path.read_bytes() != before
        assert await verify(serving) == []
    finally:
        await serving.close()


async def test_what_is_open_stays_however_old(store: RecordStore, url: str) -> None:
    await talk(store, "terminal:asking", 0, ended_at=None)
    await talk(store, "terminal:timer", 0)
    await store.commit(commit("t", 2, "terminal:timer", timers_set=(("remind", after(200 * DAY)),)))
    await talk(store, "terminal:unsent", 0)
    await store.commit(commit("u", 2, "terminal:unsent", out=(say("not sent"),)))
    assert (await pruned(url, io.StringIO())).places == 0
    assert await store.load("terminal:asking") is not None


async def test_a_place_used_again_meanwhile_stays(
    store: RecordStore, url: str, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk(store, OLD, 0)
    plain = prune_module._archived

    async def meanwhile(*given: Any) -> Any:
        record = await plain(*given)
        await store.commit(commit("late", 2, OLD, at=after(99 * DAY)))
        return record

    monkeypatch.setattr(prune_module, "_archived", meanwhile)
    with opened_archive(str(archive)) as file:
        assert (await pruned(url, file)).places == 0
    assert await store.load(OLD) == state(3, OLD)
    assert await verify(store) == []


async def test_a_place_that_was_removed_begins_anew(store: RecordStore, url: str, archive: Path) -> None:
    """A worker that still has it in memory notices."""
    await talk(store, OLD, 0)
    assert await store.load(OLD) is not None
    with opened_archive(str(archive)) as file:
        assert (await pruned(url, file)).places == 1
    results = await asyncio.gather(store.commit(commit("again", 2, OLD)), return_exceptions=True)
    assert type(results[0]).__name__ == "StaleRevision"
    assert await store.load(OLD) is None
    await store.commit(commit("again", 0, OLD, audit=(entry(session=None),)))
    assert await verify(store) == []


async def test_an_archive_that_can_not_be_written_removes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"can not be written.*Nothing was removed"):
        opened_archive(str(tmp_path / "missing" / "archive.jsonl"))


class Full(io.StringIO):
    def write(self, written: str) -> int:
        super().write(written[:100])
        raise OSError(28, "No space left on device")


async def test_an_archive_that_is_full_removes_nothing_and_is_told_of(store: RecordStore, url: str) -> None:
    """It is not the database whose connection was lost."""
    await talk(store, OLD, 0)
    with pytest.raises(StoreUnavailable, match=r"^the archive can not be written: No space left on device\."):
        await pruned(url, Full())
    assert await verify(store) == []
    assert await store.load(OLD) is not None
    async with store.snapshot() as snapshot:
        assert [row["session"] async for row in snapshot.sessions()] == [f"of {OLD}"]


async def test_a_line_that_was_broken_off_spoils_no_other(store: RecordStore, url: str, archive: Path) -> None:
    archive.write_text('{"conversation": "termi', "utf-8")
    for place, day in ((OLD, 0), (NEW, 1)):
        await talk(store, place, day)
        with opened_archive(str(archive)) as written:
            await pruned(url, written)
    _, *lines = archive.read_text("utf-8").splitlines()
    assert [json.loads(line)["conversation"] for line in lines] == [OLD, NEW]


async def test_counting_removes_nothing(store: RecordStore, url: str) -> None:
    await talk(store, OLD, 0)
    assert (await prune(url, after(30 * DAY), after(100 * DAY), None, dry=True)).places == 1
    assert await store.load(OLD) is not None
