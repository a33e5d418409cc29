"""A transport that a test can break, and the outbox with everything around it."""

from __future__ import annotations

import asyncio
from collections import deque

from adapters.limits import plain
from bot.core.effects import Redraw, Reply, Say
from bot.core.events import Envelope
from bot.outbox import Outbox
from bot.ports import Sent
from bot.runner import Runner
from tests.fakes.clock import START, ManualClock
from tests.fakes.envelopes import said
from tests.fakes.store import FakeStore
from tests.fakes.toy import toy


class Wire:
    """Each call takes the next thing out of `faults`."""

    platform = "test"

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.calls: list[tuple[str, str]] = []
        self.times: list[float] = []
        self.redrawn: list[str] = []
        self.faults: deque[BaseException | asyncio.Event | None] = deque()

    async def post(self, conversation: str, say: Say) -> Sent:
        self.calls.append((conversation, plain(say.message)))
        self.times.append((self.clock.now() - START).total_seconds())
        return await self._sent()

    async def redraw(self, conversation: str, message: str, redraw: Redraw) -> Sent:
        self.redrawn.append(f"{message}: {plain(redraw.message)}")
        return await self._sent(message)

    async def _sent(self, message: str | None = None) -> Sent:
        fault = self.faults.popleft() if self.faults else None
        if isinstance(fault, asyncio.Event):
            await fault.wait()
        elif fault is not None:
            raise fault
        return Sent(message or f"m{len(self.calls)}", len(self.calls))

    async def reply(self, envelope: Envelope, reply: Reply) -> None: ...

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.calls]


class World:
    def __init__(self, *, auto: bool = True, decide=toy, **options) -> None:
        self.store = FakeStore()
        self.clock = ManualClock(auto=auto)
        self.runner = Runner(self.store, decide, self.clock, jitter=lambda: 0.5)
        self.wire = Wire(self.clock)
        self.outbox = Outbox(self.store, self.runner, {"test": self.wire}, self.clock, jitter=lambda: 1.0, **options)

    async def hear(self, *texts: str, conversation: str = "test:1") -> None:
        for text in texts:
            await self.runner.handle(said(text, conversation=conversation))

    def row(self, number: int):
        return self.store.rows[number - 1]
