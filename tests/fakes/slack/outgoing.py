"""What Slack sends to the app, and how often it tries.

docs.slack.dev/apis/events-api: an answer within 3 s; else up to three retries, at once, after one minute and after
five. Interactivity and commands are sent once: on failure the person sees a warning.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

from bot.ports import Clock

Json = dict[str, Any]
T = TypeVar("T")
ANSWER_WITHIN = 3.0
RETRIES = (timedelta(0), timedelta(minutes=1), timedelta(minutes=5))


@dataclass(frozen=True, slots=True)
class Outcome:
    """One try. `reason` as in `x-slack-retry-reason`; `final`: x-slack-no-retry."""

    ok: bool
    reason: str = ""
    answer: Any = None
    status: int = 0
    final: bool = False
    at: datetime | None = None


@dataclass(eq=False)
class Delivery:
    kind: Literal["events_api", "interactive", "slash_commands"]
    payload: Json
    done: Callable[[Outcome], None] = lambda outcome: None
    starts: Callable[[], None] = lambda: None
    tries: list[Outcome] = field(default_factory=list)
    state: Literal["waiting", "acknowledged", "lost"] = "waiting"
    next_try: datetime | None = None
    retry_of: int = 0  # tries of the delivery that this one repeats

    @property
    def retry(self) -> int:
        return self.retry_of + len(self.tries)

    @property
    def event(self) -> Json:
        return dict(self.payload.get("event", {}))

    @property
    def answer(self) -> Any:
        """What the app answered with, when it did."""
        return self.tries[-1].answer if self.tries and self.tries[-1].ok else None


async def answered(world: Any, wanted: Awaitable[T], patience: float) -> T:
    """What the app answers within Slack's deadline; else TimeoutError."""
    return await within(world.clock, ANSWER_WITHIN * world.slower, wanted, patience * world.slower)


async def within(clock: Clock, seconds: float, wanted: Awaitable[T], patience: float) -> T:
    """Raises TimeoutError when the clock passes first. A clock that moves by itself never does; `patience`
    is in real seconds."""
    task = asyncio.ensure_future(wanted)
    waiting: set[asyncio.Future[Any]] = {task}
    if not getattr(clock, "_auto", False):
        waiting.add(asyncio.ensure_future(clock.sleep(seconds)))
    try:
        await asyncio.wait(waiting, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise TimeoutError
        return task.result()
    finally:
        for other in waiting - {task}:
            other.cancel()


class Outgoing:
    """`deliver` on a clock that stands still; `run` beside a program on the real clock."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.waiting: list[Delivery] = []
        self.log: list[Delivery] = []
        self.carrier: Callable[[Delivery], Awaitable[Outcome]] | None = None
        self.duplicate = 0  # that many of the next events are sent twice, as if the answer had been lost
        self._busy: set[Delivery] = set()
        self._news: list[Callable[[], None]] = []

    def add(self, delivery: Delivery) -> Delivery:
        self.waiting.append(delivery)
        self.log.append(delivery)
        for tell in self._news:
            tell()
        return delivery

    def raw(self, payload: Json) -> Delivery:
        """A payload as it is, from a field case or to be unreadable on purpose."""
        kind: Any = (
            "events_api" if "event" in payload else "slash_commands" if "command" in payload else "interactive"
        )
        return self.add(Delivery(kind, payload))

    def again(self, delivery: Delivery) -> Delivery:
        """The same once more, with the same event_id: a duplicate that Slack calls a retry."""
        return self.add(Delivery(delivery.kind, delivery.payload, retry_of=max(1, delivery.retry)))

    def of(self, *types: str) -> list[Delivery]:
        """What has been sent or waits, by the type of event or payload."""
        return [d for d in self.log if d.payload.get("event", d.payload).get("type", d.kind) in types]

    @property
    def due(self) -> bool:
        """Whether there is anything to deliver now."""
        return any(self._due(delivery) for delivery in self.waiting)

    def reverse(self) -> None:
        """What waits comes in the opposite order."""
        self.waiting.reverse()

    async def deliver(self, *only: Delivery, together: bool = False, retry: bool = False) -> list[Delivery]:
        """Try everything that is due, in order; what fails waits for its next try (`retry`: the one at once too).

        `only`: these, in this order. `together`: all at the same time, as Slack does.
        """
        tried: list[Delivery] = []
        while batch := [d for d in only or self.waiting if self._due(d) and (retry or d not in tried)]:
            tried += batch
            if together:
                await asyncio.gather(*(self._try(d) for d in batch))
            else:
                for delivery in batch:
                    await self._try(delivery)
            if only:
                break
        return tried

    async def run(self) -> None:
        """Deliver for ever, as things happen. Cancel it to stop."""
        news = asyncio.Event()
        self._news.append(news.set)
        tasks: set[asyncio.Task[None]] = set()
        try:
            while True:
                news.clear()
                for delivery in [d for d in self.waiting if self._due(d)]:
                    task = asyncio.ensure_future(self._try(delivery))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
                    task.add_done_callback(lambda _: news.set())
                    await asyncio.sleep(0)  # marks it busy
                await self._until(news)
        finally:
            self._news.remove(news.set)
            for task in tasks:
                task.cancel()

    async def _until(self, news: asyncio.Event) -> None:
        coming = [d.next_try for d in self.waiting if d.next_try is not None and d not in self._busy]
        waiting = {asyncio.ensure_future(news.wait())}
        if coming:
            seconds = max(0.0, (min(coming) - self.clock.now()).total_seconds())
            waiting.add(asyncio.ensure_future(self.clock.sleep(seconds)))  # type: ignore[arg-type]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()

    def _due(self, delivery: Delivery) -> bool:
        if delivery in self._busy or delivery.state != "waiting":
            return False
        return delivery.next_try is None or delivery.next_try <= self.clock.now()

    async def _try(self, delivery: Delivery) -> None:
        assert self.carrier is not None, "there is no way to the app: serve(), and connect it or name its address"
        self._busy.add(delivery)
        try:
            if not delivery.tries:
                delivery.starts()
            outcome = await self.carrier(delivery)
        finally:
            self._busy.discard(delivery)
        delivery.tries.append(outcome)
        if outcome.ok:
            self._over(delivery, "acknowledged", outcome)
            if self.duplicate > 0 and delivery.kind == "events_api":
                self.duplicate -= 1
                self.again(delivery)
        elif delivery.kind != "events_api" or outcome.final or delivery.retry > len(RETRIES):
            self._over(delivery, "lost", outcome)
        else:
            delivery.next_try = self.clock.now() + RETRIES[delivery.retry - 1]

    def _over(self, delivery: Delivery, state: Literal["acknowledged", "lost"], outcome: Outcome) -> None:
        delivery.state = state
        with contextlib.suppress(ValueError):
            self.waiting.remove(delivery)
        delivery.done(outcome)
