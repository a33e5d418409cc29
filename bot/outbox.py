"""Sends what the store holds. A row is settled only after the platform has taken it.

Platforms have no idempotency key for sending: a crash between sending and settling sends the row once more, and we
would rather say something twice than not at all. One row of a conversation is under way at a time, so order holds.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.bell import heard_or_due
from bot.core.effects import Message, Say
from bot.core.events import DeliveryFailed, Envelope, Event, MessagePosted
from bot.core.model import Place
from bot.faults import log, report
from bot.pace import Pace, Pacer
from bot.ports import (
    CardGone,
    Clock,
    OutboxRow,
    RateLimited,
    Sent,
    Settle,
    Store,
    StoreUnavailable,
    Transport,
    TryLater,
    Undeliverable,
)
from bot.runner import Runner


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the outbox tries. A row is given up after `tries` failed attempts, but not before `at_least`.

    `lease` hides a claimed row from other workers, and is extended while the row is being sent: a slow send does
    not lose its row, a worker that is no more does. Zero is right for a process that has the platform to itself (the
    terminal): after a crash its rows are at hand at once.
    """

    first: timedelta = timedelta(seconds=1)
    longest: timedelta = timedelta(minutes=5)
    tries: int = 12
    at_least: timedelta = timedelta(hours=6)
    lease: timedelta = timedelta(seconds=10)
    send: float = 60.0  # seconds that one send may take before it counts as failed
    at_once: int = 64  # conversations served side by side
    goodbye: float = 10.0  # seconds that sends under way get at shutdown


PAUSE = 0.25  # seconds, when something is due that is not ours to take
AGAIN = 1.0  # seconds until the store is asked once more to take down what has been sent
LONGEST = timedelta(hours=1)  # a row that is put off for longer was put off under a wrong clock, and is taken at once
QUEUE = timedelta(seconds=30)  # how long a row waits here for its place's pace; for longer it goes back


class Outbox:
    def __init__(
        self,
        store: Store,
        runner: Runner,
        transports: Mapping[str, Transport],
        clock: Clock,
        *,
        paces: Mapping[str, Pace] | None = None,
        patience: Patience | None = None,
        pacer: Pacer | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """`pacer`: shared with transports that make several calls of one message."""
        self._store = store
        self._runner = runner
        self._transports = transports
        self._platforms = tuple(transports)  # rows of others are for the process that speaks to them
        self._clock = clock
        self._paces = paces or {}
        self._patience = patience or Patience()
        self._jitter = jitter
        self._pacer = pacer or Pacer()
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._extend_at = clock.now()  # when the leases of what is under way are to be extended
        self._refused: set[int] = set()  # rows whose every try so far was refused, so that nothing has arrived

    async def run(self) -> None:
        """Send until cancelled. What is under way then is finished, within bounds."""
        heard = self._runner.bell.listen("messages")
        try:
            while True:
                heard.clear()
                due = await self._start_or_rest(heard)
                await heard_or_due(heard, self._clock, due, least=PAUSE)
        finally:
            self._runner.bell.leave(heard)
            await self._say_goodbye()

    async def drain(self) -> int:
        """Send until nothing is ready; the number of attempts made. Rows put off until later are left."""
        attempts = 0
        while True:
            started = await self._start_some(None)
            attempts += started
            if self._under_way:
                # All of them: a batch at a time keeps the order of what is printed the same in every run.
                done, _ = await asyncio.wait(self._under_way.values())
                for task in done:
                    task.result()
            elif not started:
                return attempts

    # -- taking rows ---------------------------------------------------------------------------------------------

    async def _start_or_rest(self, heard: asyncio.Event) -> datetime | None:
        """Start what is ready; the moment to look again, if any."""
        try:
            await self._extend()  # first: what looks as if its lease had ended would be claimed anew, as another try
            await self._start_some(heard)
            full = len(self._under_way) >= self._patience.at_once  # then the end of a send is a ring
            moments = [self._extend_at if self._under_way else None]
            moments += [None if full else await self._store.next_due(self._platforms)]
            return min((moment for moment in moments if moment is not None), default=None)
        except Exception as error:  # noqa: BLE001 - the loop survives; the store may be back at the next look
            report("outbox_failed", error)
            return self._clock.now() + timedelta(seconds=1)

    async def _start_some(self, heard: asyncio.Event | None) -> int:
        room = self._patience.at_once - len(self._under_way)
        if room <= 0:
            return 0
        now = self._clock.now()
        rows = await self._store.claim(now, room, self._patience.lease, self._platforms)
        fresh = [row for row in rows if row.row not in self._under_way]
        if fresh and not self._under_way:
            self._extend_at = now + self._patience.lease / 3
        for row in fresh:
            task = asyncio.create_task(self._deliver(row, surely=heard is not None))
            self._under_way[row.row] = task
            task.add_done_callback(lambda _, number=row.row: self._ended(number, heard))  # type: ignore[misc]
        return len(fresh)

    async def _extend(self, least: timedelta = timedelta(0)) -> None:
        """Go on having what is under way. Where that fails, the next look tries again: two thirds of it are left."""
        now = self._clock.now()
        lease = max(self._patience.lease, least)
        soon = timedelta(0) < self._extend_at - now <= self._patience.lease  # and the clock has not been set back
        if self._under_way and lease and (not soon or least):
            await self._store.extend(sorted(self._under_way), now + lease)
            self._extend_at = now + self._patience.lease / 3

    def _ended(self, row: int, heard: asyncio.Event | None) -> None:
        task = self._under_way.pop(row)
        error = None if task.cancelled() else task.exception()
        told = heard is None and isinstance(error, TransportBroken)  # `drain` tells its caller of that
        if error is not None and not told:
            report("outbox_row_unsettled", error, row=row)
        if heard is not None:
            heard.set()  # the next row of this conversation may be ready now

    async def _say_goodbye(self) -> None:
        under_way = list(self._under_way.values())
        if not under_way:
            return
        try:
            await self._extend(least=timedelta(seconds=2 * self._patience.goodbye))
        except StoreUnavailable as error:
            report("leases_not_extended", error)
        _, late = await asyncio.wait(under_way, timeout=self._patience.goodbye)
        for (
            task
        ) in late:  # the row stays claimed until its lease ends, or until the next start, and is then sent again
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    # -- one row -------------------------------------------------------------------------------------------------

    async def _deliver(self, row: OutboxRow, *, surely: bool) -> None:
        """One attempt. Whatever happens, the row is settled, put off or given up, or its lease runs out.

        `surely`: what has been sent is taken down however long the store is away; else it would be sent twice.
        """
        try:
            await self._attempt(row, surely=surely)
        except (StoreUnavailable, TransportBroken):
            raise  # to `drain`; in `run` the row waits for its lease to end
        except Exception as error:  # noqa: BLE001 - our own mistake must not stop the other conversations
            report("outbox_row_failed", error, row=row.row)
            await self._put_off(row, type(error).__name__)

    async def _attempt(self, row: OutboxRow, *, surely: bool) -> None:
        transport = self._transports[row.platform]
        if (lost := await self._lost(row)) is not None:
            await self._give_up(row, lost, place=True)
            return
        if not await self._paced(row):
            return
        try:
            async with asyncio.timeout(self._patience.send):
                sent, posted = await _send(transport, row)
        except RateLimited as limit:
            log.info("rate_limited", conversation=row.conversation, seconds=limit.retry_after.total_seconds())
            self._not_arrived(row)
            await self._store.retry_at(row.row, self._clock.now() + min(limit.retry_after, LONGEST), str(limit))
        except (TryLater, TimeoutError) as error:
            await self._put_off(row, str(error) or type(error).__name__)
        except Undeliverable as error:
            await self._give_up(row, str(error), place=error.place)
        else:
            await self._taken_down(row, posted, Settle(row.row, sent.message, sent.order), surely=surely)

    async def _paced(self, row: OutboxRow) -> bool:
        """Wait for this place's turn. A turn too far away for the lease gives the row back instead."""
        pace = self._paces.get(row.platform)
        if pace is None:
            return True
        budgets = pace(row.conversation)
        latest = self._clock.now() + QUEUE
        while (wait := self._pacer.wait(budgets, now := self._clock.now())) > timedelta(0):
            if now + wait > latest:
                self._not_arrived(row)
                await self._store.retry_at(row.row, now + wait, "paced")
                return False
            await self._clock.sleep(wait.total_seconds())
        self._pacer.take(budgets, now)
        return True

    async def _lost(self, row: OutboxRow) -> str | None:
        """Why nothing can be brought there now, as the core knows (CH-7). A word to one person goes another way."""
        if isinstance(row.effect, Say) and row.effect.only_to is not None:
            return None
        state = await self._store.load(row.conversation)
        return None if state is None else state.unreachable

    def _not_arrived(self, row: OutboxRow) -> None:
        if row.attempts == 0:
            self._refused.add(row.row)

    async def _taken_down(self, row: OutboxRow, posted: Say | None, settle: Settle, *, surely: bool) -> None:
        unsure = row.attempts > 0 and row.row not in self._refused
        self._refused.discard(row.row)
        while True:
            try:
                return await self._settle(row, posted, settle, unsure=unsure)
            except StoreUnavailable as error:
                if not surely:
                    raise
                report("sent_not_taken_down", error, row=row.row)
            await self._clock.sleep(AGAIN)

    async def _settle(self, row: OutboxRow, posted: Say | None, settle: Settle, *, unsure: bool) -> None:
        """Sent. Where the core wants to know of it, row and event commit together."""
        if posted is None or posted.card is None:
            await self._store.settle(settle)
            return
        event = MessagePosted(
            card=posted.card, message=settle.message or "", order=settle.order, unsure=unsure or None
        )
        try:
            handled = await self._runner.handle(await self._envelope(row, "posted", event), settle=settle)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - see below
            # The core failed on the report. Sent is sent: without this the same words would go out for ever.
            report("posting_not_reported", error, row=row.row)
            await self._store.settle(settle)
            return
        if handled.outcome == "duplicate":  # another worker has sent and reported this row meanwhile
            log.info("row_sent_twice", row=row.row)

    async def _give_up(self, row: OutboxRow, reason: str, *, place: bool = False) -> None:
        """Tell the core first: a crash in between tells it again, which changes nothing."""
        effect = row.effect
        self._refused.discard(row.row)
        event = DeliveryFailed(
            card=effect.card,
            reason=reason,
            text=_words(effect.message),
            place=place or None,
            session=effect.session if effect.card is None else None,
        )
        try:
            await self._runner.handle(await self._envelope(row, "undelivered", event))
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - a refused message must not block the ones behind it
            report("failure_not_reported", error, row=row.row)
        await self._store.give_up(row.row, reason)
        self._runner.bell.ring()

    async def _put_off(self, row: OutboxRow, reason: str) -> None:
        """Exponential, with jitter, up to a bound; then it counts as undeliverable (CH-7)."""
        patience = self._patience
        now = self._clock.now()
        self._refused.discard(row.row)  # it may have arrived
        if row.attempts + 1 >= patience.tries and now - row.created_at >= patience.at_least:
            await self._give_up(row, f"gave up after {row.attempts + 1} attempts: {reason}")
            return
        full = min(patience.longest, patience.first * 2 ** min(row.attempts, 30))
        await self._store.retry_at(row.row, now + full * (0.5 + self._jitter() / 2), reason)

    async def _envelope(self, row: OutboxRow, what: str, event: Event) -> Envelope:
        state = await self._store.load(row.conversation)
        place = Place(conversation=row.conversation, platform=row.platform) if state is None else state.place
        return Envelope(event_id=f"{what}:{row.row}", place=place, at=self._clock.now(), event=event)


class TransportBroken(Exception):
    """The transport can never send again (the terminal's output was closed). Ends `drain`; the row stays."""


async def _send(transport: Transport, row: OutboxRow) -> tuple[Sent, Say | None]:
    """Post or redraw. Also the `Say` whose posting is to be reported, if any."""
    effect = row.effect
    if isinstance(effect, Say):
        return await transport.post(row.conversation, effect), effect
    if row.card_message is not None:
        try:
            return await transport.redraw(row.conversation, row.card_message, effect), None
        except CardGone:
            log.info("card_gone", conversation=row.conversation, card=effect.card)
    if effect.farewell:  # the newer copy follows
        return Sent(""), None
    # Gone, or never arrived: the same card, posted anew.
    anew = Say(message=effect.message, card=effect.card, session=effect.session, round=effect.round)
    return await transport.post(row.conversation, anew), anew


def _words(message: Message) -> str:
    return "\n".join("".join(span.text for span in block.spans) for block in message.blocks)
