"""Moments that the core asked for. They are rows, so a restart forgets none; when due they become events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from bot.bell import heard_or_due
from bot.core.events import Envelope, TimerDue
from bot.core.flows.times import TOLD
from bot.core.model import Place
from bot.core.state import Conversation
from bot.faults import log, report
from bot.ports import Clock, DueTimer, Store, readable
from bot.runner import Runner

BATCH = 100  # timers taken in one look
LEASE = timedelta(seconds=10)  # for firing it; after a failure nobody looks at the timer until this has passed
PAUSE = 0.25  # seconds, when something is due that is not ours to take
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Timers:
    def __init__(self, store: Store, runner: Runner, clock: Clock) -> None:
        self._store = store
        self._runner = runner
        self._clock = clock

    async def run(self) -> None:
        """Fire timers as they come due, until cancelled."""
        heard = self._runner.bell.listen("timers")
        try:
            while True:
                heard.clear()
                if await self._fire_due_or_rest():
                    continue
                due = await self._next_look()
                await heard_or_due(heard, self._clock, due, least=PAUSE)
        finally:
            self._runner.bell.leave(heard)

    async def fire_due(self) -> int:
        """Fire what is due now; the number of timers that became events."""
        fired = 0
        while taken := await self._fire_some():
            fired += taken
        return fired

    async def fire_now(self, prefix: str) -> int:
        """Fire timers before their time, by name: at the end of input nobody is left to wait for."""
        now = self._clock.now()
        return sum([await self._fire(timer, now) for timer in await self._store.timers(prefix)])

    async def _fire_due_or_rest(self) -> int:
        try:
            return await self._fire_some()
        except Exception as error:  # noqa: BLE001 - the loop survives; the store may be back at the next look
            report("timers_failed", error)
            await self._clock.sleep(1.0)
            return 0

    async def _next_look(self) -> datetime | None:
        try:
            due = await self._store.next_due(())  # of no platform's messages
        except Exception as error:  # noqa: BLE001 - as above
            report("timers_failed", error)
            return self._clock.now() + timedelta(seconds=1)
        return due

    async def _fire_some(self) -> int:
        due = await self._store.due(self._clock.now(), BATCH, LEASE)
        return sum([await self._fire(timer, max(self._clock.now(), timer.at)) for timer in due])

    async def _fire(self, timer: DueTimer, at: datetime) -> bool:
        """`at`: where it was due, never before its moment, though the clock has been set back since.

        The core would find it early and set it to that moment again, which has then been had.
        """
        state = await readable(self._store, timer.conversation)
        place = Place(conversation=timer.conversation, platform=timer.conversation.split(":", 1)[0])
        envelope = Envelope(
            event_id=timer_event_id(timer),
            place=place if state is None else state.place,
            at=at,
            event=TimerDue(name=timer.name),
        )
        try:
            await self._pass_on(state, timer)
            handled = await self._runner.handle(envelope, still=self._still(timer))
        except Exception as error:  # noqa: BLE001 - one timer's failure must not hold up the others
            report("timer_failed", error, event_id=envelope.event_id)
            return False
        if handled.outcome == "duplicate":
            # Set again to the very moment at which it has already fired. Its commit did not remove it.
            log.warning("timer_fired_before", event_id=envelope.event_id)
        return handled.outcome != "duplicate" and handled.reason != "no longer due"

    async def _pass_on(self, state: Conversation | None, timer: DueTimer) -> None:
        """What was decided in one conversation for another one happens there, before its timer is done with.

        A crash in between, or another worker, passes it on again: it has the same id and happens once.
        """
        if timer.name == TOLD:
            await self._tell_threads(timer)
        for forward in () if state is None else state.forwards:
            if forward.name != timer.name:
                continue
            there = await self._store.load(forward.place)  # where it can not be read now it is passed on later
            if there is None:
                log.warning("forwarded_nowhere", conversation=timer.conversation, forward=forward.name)
                continue
            envelope = Envelope(
                event_id=f"{forward.name}:{timer.conversation}",
                place=there.place,
                at=self._clock.now(),
                event=forward.event,
            )
            await self._runner.handle(envelope)

    async def _tell_threads(self, timer: DueTimer) -> None:
        """The settings of a place have changed: what its threads say unasked may have to be said at another time."""
        platform = timer.conversation.partition(":")[0]
        for name in await self._store.open_conversations(platform):
            there = await readable(self._store, name) if name.startswith(f"{timer.conversation}/") else None
            if there is not None:
                event_id, event = f"{timer_event_id(timer)}:{name}", TimerDue(name=timer.name)
                await self._runner.handle(
                    Envelope(event_id=event_id, place=there.place, at=self._clock.now(), event=event)
                )

    def _still(self, timer: DueTimer) -> Callable[[], Awaitable[bool]]:
        async def still() -> bool:
            return await self._store.timer_at(timer.conversation, timer.name) == timer.at

        return still


def timer_event_id(timer: DueTimer) -> str:
    """The same moment of the same timer is the same event, whichever worker sees it first."""
    micros = (timer.at - EPOCH) // timedelta(microseconds=1)
    return f"timer:{timer.conversation}:{timer.name}:{micros}"
