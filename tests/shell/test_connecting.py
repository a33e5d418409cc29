"""Platforms that answer at once, late, never, or not at all: who is served, and when serving pauses for news."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.cli.connecting import WAIT, Connecting
from bot.cli.platforms import Connected
from config.settings import BadSettings
from tests.fakes.clock import ManualClock, turns, until


class Platform:
    """Answers when it is told to."""

    def __init__(self, name: str) -> None:
        self.name, self.closed, self.given_up = name, 0, False
        self.answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def connect(self) -> Connected:
        try:
            await self.answer
        except asyncio.CancelledError:
            self.given_up = True
            raise
        return Connected(self.name, f"{self.name}_bot", self._build, self._close)

    async def _build(self, running: Any) -> Any:
        raise NotImplementedError

    async def _close(self) -> None:
        self.closed += 1


class Start:
    def __init__(self) -> None:
        self.clock, self.stop = ManualClock(), asyncio.Event()
        self.fast, self.slow = Platform("fast"), Platform("slow")

    @asynccontextmanager
    async def connecting(self) -> AsyncIterator[Connecting]:
        async with Connecting({"fast": self.fast.connect, "slow": self.slow.connect}, self.clock) as connecting:
            yield connecting

    def some(self, connecting: Connecting) -> asyncio.Task[list[str]]:
        async def names() -> list[str]:
            return [one.platform for one in await connecting.some(self.stop)]

        return asyncio.create_task(names())


async def test_all_that_answer_in_time_are_served_together() -> None:
    start = Start()
    async with start.connecting() as connecting:
        some = start.some(connecting)
        start.fast.answer.set_result(None)
        await turns()
        assert (some.done(), connecting.missing()) == (False, ["slow"])
        start.slow.answer.set_result(None)
        assert await asyncio.wait_for(some, 5) == ["fast", "slow"]
        assert connecting.missing() == []
    assert (start.fast.closed, start.slow.closed) == (1, 1)


async def test_one_that_is_late_holds_up_nobody_and_is_served_when_it_answers() -> None:
    start = Start()
    async with start.connecting() as connecting:
        some = start.some(connecting)
        start.fast.answer.set_result(None)
        await until(lambda: start.clock.sleeping == 1)
        start.clock.advance(WAIT)
        assert await asyncio.wait_for(some, 5) == ["fast"]
        async with connecting.more(start.stop) as pause:
            await turns()
            assert not pause.is_set()
            start.slow.answer.set_result(None)
            await asyncio.wait_for(pause.wait(), 5)
        assert await start.some(connecting) == ["fast", "slow"]


async def test_one_that_answers_while_the_store_opens_is_not_overlooked() -> None:
    """Between the look at who is there and the look for more nobody listens."""
    start = Start()
    async with start.connecting() as connecting:
        some = start.some(connecting)
        start.fast.answer.set_result(None)
        await until(lambda: start.clock.sleeping == 1)
        start.clock.advance(WAIT)
        assert await asyncio.wait_for(some, 5) == ["fast"]
        start.slow.answer.set_result(None)
        await turns()
        async with connecting.more(start.stop) as pause:
            await asyncio.wait_for(pause.wait(), 5)
        assert await start.some(connecting) == ["fast", "slow"]


async def test_while_nobody_answers_it_waits_and_can_be_stopped() -> None:
    start = Start()
    async with start.connecting() as connecting:
        some = start.some(connecting)
        for _ in range(5):
            start.clock.advance(10 * WAIT)
            await turns()
        assert (some.done(), connecting.missing()) == (False, ["fast", "slow"])
        start.stop.set()
        assert await asyncio.wait_for(some, 5) == []
    assert (start.fast.given_up, start.slow.given_up) == (True, True)


async def test_stopped_while_one_is_late_nothing_is_left_open() -> None:
    start = Start()
    async with start.connecting() as connecting:
        some = start.some(connecting)
        start.fast.answer.set_result(None)
        await until(lambda: start.clock.sleeping == 1)
        start.clock.advance(WAIT)
        assert await asyncio.wait_for(some, 5) == ["fast"]
        async with connecting.more(start.stop) as pause:
            start.stop.set()
            await asyncio.wait_for(pause.wait(), 5)
        assert await start.some(connecting) == []
    assert (start.fast.closed, start.slow.given_up) == (1, True)


@pytest.mark.parametrize("late", [False, True])
async def test_a_refused_token_ends_it_for_all(late: bool) -> None:
    start = Start()
    async with start.connecting() as connecting:
        some = start.some(connecting)
        start.fast.answer.set_result(None)
        await until(lambda: start.clock.sleeping == 1)
        if late:
            start.clock.advance(WAIT)
            assert await asyncio.wait_for(some, 5) == ["fast"]
            async with connecting.more(start.stop) as pause:
                start.slow.answer.set_exception(BadSettings("refused. Copy it anew."))
                await asyncio.wait_for(pause.wait(), 5)
            some = start.some(connecting)
        else:
            start.slow.answer.set_exception(BadSettings("refused. Copy it anew."))
        with pytest.raises(BadSettings, match="Copy it anew"):
            await asyncio.wait_for(some, 5)
    assert start.fast.closed == 1
