"""The updates that wait for the bot, and getUpdates.

Retention (Client.cpp add_message_update, add_new_callback_query): messages and edits 24 h from their date, presses
150 s. Offsets confirm: what is below is forgotten; a negative one keeps the last so many and forgets the rest.
"""

from __future__ import annotations

import asyncio
import copy
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bot.ports import Clock
from tests.fakes.telegram.errors import Refusal

DAY, PRESS_LIFE = timedelta(hours=24), timedelta(seconds=150)
MAX_BATCH, MAX_TIMEOUT = 100, 50  # getUpdates: "Values between 1-100"; LONG_POLL_MAX_TIMEOUT
NOT_BY_DEFAULT = frozenset({"chat_member", "message_reaction", "message_reaction_count"})

HOOK_ACTIVE = "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
OTHER_POLL = "terminated by other getUpdates request; make sure that only one bot instance is running"
HOOK_SET = "terminated by setWebhook request"


def conflict(why: str) -> Refusal:
    return Refusal(409, f"Conflict: {why}")


@dataclass(eq=False)
class Update:
    id: int
    kind: str
    body: dict[str, Any]
    queue: Hashable  # webhooks: within a queue strictly one after the other
    until: datetime
    failures: int = 0
    next_try: datetime | None = None
    raw: Any = None  # sent instead, for updates that can not be read

    def json(self) -> Any:
        return {"update_id": self.id, self.kind: self.body} if self.raw is None else self.raw


@dataclass
class Updates:
    clock: Clock
    next_id: int = 900_000_001
    allowed: frozenset[str] | None = None  # None: everything but the three that have to be asked for
    pending: OrderedDict[int, Update] = field(default_factory=OrderedDict)
    queues: dict[Hashable, OrderedDict[int, Update]] = field(default_factory=dict)
    log: list[Update] = field(default_factory=list)  # every update that ever was
    polls: int = 0
    hook_url: str = ""
    rival: bool = False  # another instance polls with the same token
    slow_repeats: bool = False  # as the real one: the same offset again within 3 s waits 3 s
    _waiting: asyncio.Future[None] | None = None
    _asleep: bool = False
    _last_poll: tuple[int, datetime] | None = None
    listeners: list[Any] = field(default_factory=list)

    def add(self, kind: str, body: dict[str, Any], queue: Hashable, life: timedelta = DAY) -> Update | None:
        """None when this kind is not among the allowed updates: then it is never seen."""
        if kind in NOT_BY_DEFAULT if self.allowed is None else kind not in self.allowed:
            return None
        return self._queue(Update(self.next_id, kind, copy.deepcopy(body), queue, self.clock.now() + life))

    def malformed(self, raw: Any = None, queue: Hashable = "malformed") -> Update:
        """An update that no library reads: by default a message without chat and date, of the wrong types."""
        update = Update(self.next_id, "message", {}, queue, self.clock.now() + DAY)
        update.raw = {"message": {"message_id": "x", "from": 7, "chat": None}} if raw is None else raw
        if isinstance(update.raw, dict):
            update.raw = {"update_id": update.id} | update.raw
        return self._queue(update)

    def again(self, *updates: Update) -> None:
        """Delivered once more, though they were confirmed: an acknowledgement got lost."""
        for update in updates:
            update.next_try = None
        self._sort([*self.pending.values(), *updates])
        self._wake()

    def overtake(self, early: Update, late: Update) -> None:
        """The two change places: ids are given in the order of arrival, and that is not the order of acting."""
        early.id, late.id = late.id, early.id
        self._sort(list(self.pending.values()))

    @property
    def last(self) -> Update:
        return self.log[-1]

    def kinds(self) -> list[str]:
        return [update.kind for update in self.log]

    def fresh(self) -> list[Update]:
        """What still waits and has not expired."""
        now = self.clock.now()
        for update in [update for update in self.pending.values() if update.until <= now]:
            self.remove(update)
        return list(self.pending.values())

    def head(self, queue: Hashable) -> Update | None:
        """The first of a queue that has not expired."""
        waiting = self.queues.get(queue)
        while waiting:
            update = next(iter(waiting.values()))
            if update.until > self.clock.now():
                return update
            self.remove(update)
        return None

    def heads(self) -> list[Update]:
        return [update for queue in list(self.queues) if (update := self.head(queue)) is not None]

    def remove(self, update: Update) -> None:
        self.pending.pop(update.id, None)
        waiting = self.queues.get(update.queue, OrderedDict())
        waiting.pop(update.id, None)
        if not waiting:
            self.queues.pop(update.queue, None)

    def drop(self) -> None:
        self.pending.clear()
        self.queues.clear()

    def _sort(self, updates: list[Update]) -> None:
        self.drop()
        for update in sorted(updates, key=lambda u: u.id):
            self._put(update)

    def _put(self, update: Update) -> None:
        self.pending[update.id] = update
        self.queues.setdefault(update.queue, OrderedDict())[update.id] = update

    def allow(self, kinds: Iterable[str] | None) -> None:
        """Omitted keeps what was asked for before; an empty list means all but three."""
        if kinds is not None:
            self.allowed = frozenset(kinds) or None

    # -- getUpdates ----------------------------------------------------------------------------------------------

    async def poll(self, offset: int = 0, limit: int = MAX_BATCH, seconds: int = 0) -> list[Any]:
        self.polls += 1
        if self.hook_url:
            raise conflict(HOOK_ACTIVE)
        if self.rival:
            raise conflict(OTHER_POLL)
        self.interrupt(OTHER_POLL)
        limit, timeout = max(1, min(limit or MAX_BATCH, MAX_BATCH)), max(0, min(seconds, MAX_TIMEOUT))
        if self.slow_repeats:
            limit, timeout = self._slowed(offset, limit, timeout)
        self._confirm(offset)
        batch = self._batch(limit)
        if batch or not timeout:
            return batch
        await self._wait(timeout)
        return self._batch(limit)

    def interrupt(self, why: str) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(conflict(why))
        self._waiting, self._asleep = None, False

    @property
    def waited_for(self) -> bool:
        """Whether a poll is waiting right now, for an update or for the clock."""
        return self._asleep and self._waiting is not None and not self._waiting.done()

    def _slowed(self, offset: int, limit: int, timeout: int) -> tuple[int, int]:
        """Client.cpp process_get_updates_query."""
        now = self.clock.now()
        if self._last_poll is not None and self._last_poll[0] == offset:
            since = (now - self._last_poll[1]).total_seconds()
            timeout = 3 if since < 3 and timeout < 3 else timeout
            limit = 1 if since < 0.5 else limit
        self._last_poll = offset, now
        return limit, timeout

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            offset = min(list(self.pending)[offset:], default=0)
        while self.pending and (first := next(iter(self.pending.values()))).id < offset:
            self.remove(first)

    def _batch(self, limit: int) -> list[Any]:
        now = self.clock.now()
        ready: list[Update] = []
        expired: list[Update] = []
        for update in self.pending.values():
            (ready if update.until > now else expired).append(update)
            if len(ready) == limit:
                break
        for update in expired:
            self.remove(update)
        return [update.json() for update in ready]

    async def _wait(self, seconds: float) -> None:
        waiting = self._waiting = asyncio.get_running_loop().create_future()
        sleeper = asyncio.ensure_future(self.clock.sleep(seconds))
        try:
            await asyncio.sleep(0)  # the clock knows of it from here on
            self._asleep = self._waiting is waiting
            await asyncio.wait({waiting, sleeper}, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                waiting.result()
        finally:
            sleeper.cancel()
            if self._waiting is waiting:
                self._waiting, self._asleep = None, False

    def _queue(self, update: Update) -> Update:
        self.next_id = update.id + 1
        self._put(update)
        self.log.append(update)
        self._wake()
        return update

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)
        for listener in self.listeners:
            listener()
