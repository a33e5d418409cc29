"""Who is woken for what, and what an idle program does: next to nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from bot.bell import ANYTHING, LONGEST, Bell
from bot.fetching import Fetching
from bot.outbox import Outbox
from bot.ports import StoreUnavailable
from bot.runner import stirred
from bot.timers import Timers
from storage import open_store, sqlite_watch
from storage.sqlite import SqliteStore
from tests.fakes.clock import eventually, turns
from tests.fakes.store import FakeStore
from tests.fakes.wire import World
from tests.storage.build import after, claim, commit, say


def test_a_ring_wakes_those_who_have_something_to_do() -> None:
    bell = Bell()
    messages, timers, anything = bell.listen("messages"), bell.listen("timers"), bell.listen()

    def rung(*what: str) -> list[bool]:
        for event in (messages, timers, anything):
            event.clear()
        bell.ring(what or ANYTHING)
        return [event.is_set() for event in (messages, timers, anything)]

    assert rung("messages") == [True, False, True]
    assert rung("timers") == [False, True, True]
    assert rung() == [True, True, True]
    bell.leave(timers)
    assert rung("timers") == [False, False, True]


def test_a_commit_stirs_what_it_leaves_behind() -> None:
    assert stirred(commit("e")) == ()
    assert stirred(commit("e", timers_cleared=("remind",))) == ()
    assert stirred(commit("e", out=(say("x"),))) == ("messages",)
    assert stirred(commit("e", out=(say("x"),), timers_set=(("remind", after(1)),))) == ("messages", "timers")


class Counted(FakeStore):
    """What the loops ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        for name in ("claim", "next_due", "due", "timers"):
            setattr(self, name, self._counting(name, getattr(self, name)))

    def _counting(self, name: str, question: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def counted(*args: Any) -> Any:
            if name != "timers" or args:  # without a prefix the fake asks itself
                self.asked[name] += 1
            return await question(*args)

        return counted


def begun(world: World, store: Counted) -> list[asyncio.Task[None]]:
    outbox = Outbox(store, world.runner, {"test": world.wire}, world.clock)
    loops = (outbox, Timers(store, world.runner, world.clock), Fetching(store, world.runner, {}, world.clock))
    return [asyncio.create_task(loop.run()) for loop in loops]


async def ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("set_", [False, True])
async def test_an_idle_program_looks_once_a_minute_and_only_at_what_lies_ahead(set_: bool) -> None:
    """With nothing ahead, only orders for files are looked for: another worker's news may have been lost."""
    world, store = World(auto=False), Counted()
    if set_:
        store.timer_rows["test:1", "remind"] = after(1_000_000)
    tasks = begun(world, store)
    await turns()
    store.asked.clear()
    for _ in range(60):
        world.clock.advance(LONGEST)
        await turns()
    if not set_:
        assert store.asked == {"timers": 60}
    else:
        assert max(store.asked[name] for name in ("claim", "next_due", "due")) <= 120
        assert store.asked["due"] <= 60
        assert store.asked["claim"] <= 60
    await ended(tasks)


async def test_a_message_wakes_no_timer_and_a_timer_no_message() -> None:
    world, store = World(auto=False), Counted()
    tasks = begun(world, store)
    await turns()
    for what, wakes in (("messages", {"claim", "next_due"}), ("timers", {"due", "next_due", "timers"})):
        store.asked.clear()
        world.runner.bell.ring((what,))
        await turns()
        assert set(store.asked) == wakes
        assert max(store.asked.values()) <= 1 + (what == "timers")
    await ended(tasks)


async def test_what_another_program_writes_to_the_file_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`askfirst retry` beside `serve`. Our own writing is no news, and without any writing nothing is asked."""
    monkeypatch.setattr(sqlite_watch, "LOOK", 0.005)
    path = str(tmp_path / "askfirst.db")
    here, there = await open_store(path), await open_store(path)
    assert isinstance(here, SqliteStore)
    asked, rung = Counter[str](), list[Any]()
    version = here._version

    async def counted() -> int:
        asked["version"] += 1
        return await version()

    monkeypatch.setattr(here, "_version", counted)
    here.listen(lambda what=ANYTHING: rung.append(what))
    try:
        await here.commit(commit("e1", out=(say("ours"),)))
        await eventually(lambda: asked["version"] >= 2)
        looked = asked["version"]
        await asyncio.sleep(0.05)
        assert (rung, asked["version"]) == ([], looked)
        await there.commit(commit("e2", 1, out=(say("theirs"),)))
        await eventually(lambda: rung)
        assert rung == [ANYTHING]
        assert len(await claim(here)) == 1
    finally:
        await here.close()
        await there.close()


async def test_what_could_not_be_looked_at_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other program's commit, and the disk that fails just then: no other commit may follow for a day."""
    monkeypatch.setattr(sqlite_watch, "LOOK", 0.005)
    log, asked, rung = tmp_path / "askfirst.db-wal", list[int](), list[int]()
    log.write_bytes(b"1")
    answers = [7, StoreUnavailable("no"), OSError("no"), 8]

    async def version() -> int:
        asked.append(1)
        answer = answers[min(len(asked), len(answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer

    watch = sqlite_watch.Watch(tmp_path / "askfirst.db", version, lambda *_: rung.append(1))
    await eventually(lambda: asked)
    log.write_bytes(b"12")
    await eventually(lambda: rung)
    await watch.close()
    assert (len(rung), len(asked)) == (1, 4)
