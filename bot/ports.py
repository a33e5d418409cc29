"""What the shell needs from the outside: a store, a transport, a clock. Adapters and stores implement these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol

from bot.core.codec import UnreadableState
from bot.core.effects import Audit, Clarification, Message, Redraw, Reply, Say, SessionRow, Withdrawal
from bot.core.events import Envelope
from bot.core.state import Conversation

# -- time --------------------------------------------------------------------------------------------------------


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, UTC and aware."""
        ...

    async def sleep(self, seconds: float) -> None: ...


# -- store -------------------------------------------------------------------------------------------------------

Outcome = Literal["accepted", "ignored", "refused"]


@dataclass(frozen=True, slots=True)
class Settle:
    """An outbox row that has been sent. Committed with the event that reports it, or on its own."""

    row: int
    message: str | None  # the platform's message id
    order: int | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """All that one event changes: written whole, or not at all.

    `expected_revision` is the revision that `state` was computed from; the stored one must still be that.
    """

    envelope: Envelope
    expected_revision: int
    state: Conversation
    outcome: Outcome
    reason: str | None = None
    clarifications: tuple[Clarification, ...] = ()
    withdrawn: tuple[Withdrawal, ...] = ()
    audit: tuple[Audit, ...] = ()
    sessions: tuple[SessionRow, ...] = ()
    out: tuple[Say | Redraw, ...] = ()
    timers_set: tuple[tuple[str, datetime], ...] = ()
    timers_cleared: tuple[str, ...] = ()
    settle: Settle | None = None


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A message waiting to be sent. `attempts` counts earlier tries, those of a process that died included."""

    row: int
    conversation: str
    platform: str
    effect: Say | Redraw
    created_at: datetime
    attempts: int
    card_message: str | None = None  # for Redraw: the platform id of the card as last posted


@dataclass(frozen=True, slots=True)
class DueTimer:
    conversation: str
    name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """Something that `audit verify` found. `chain` is a session id or "system"."""

    chain: str
    where: str
    message: str


class Store(Protocol):
    """The promises are in tests/contracts/store_contract.py; every store passes them."""

    async def load(self, conversation: str) -> Conversation | None:
        """The stored state, or None where nothing ever happened."""
        ...

    async def seen(self, event_id: str) -> bool: ...

    async def commit(self, commit: Commit) -> None:
        """Durable when it returns. Raises `DuplicateEvent` or `StaleRevision`, and then nothing was written."""
        ...

    async def shown(self, conversation: str, message: str) -> Message | None:
        """What a message of ours shows now: its last posting or redrawing, by its platform id."""
        ...

    async def drawings(self, conversation: str, message: str) -> Sequence[Message]:
        """Everything that a message of ours has shown, oldest first: people press what an older screen shows."""
        ...

    async def about(self, conversation: str, message: str) -> str | None:
        """What a message of ours speaks of (`Say.about`, else `Say.card`), by its platform id."""
        ...

    async def conversation_of(self, session: str) -> str | None: ...

    async def open_conversations(self, platform: str) -> Sequence[str]:
        """Where a session has not ended, on one platform."""
        ...

    async def sessions_begun(self, place: str) -> int:
        """How many sessions have ever begun in a place and its threads (`place`, `place/…`)."""
        ...

    async def asking(self, within: str, limit: int) -> Sequence[str]:
        """Conversations in which a session has an open round, or one in its grace; the newest first, each once.

        `within`: a place and its threads, or a platform ("x" holds "x:…").
        """
        ...

    # outbox
    async def claim(
        self, now: datetime, limit: int, lease: timedelta, platforms: Sequence[str] | None = None
    ) -> Sequence[OutboxRow]:
        """Take the first waiting row of up to `limit` conversations; a claimed row is hidden until its lease ends.

        `platforms` limits it to those that this process can send on; None = all.

        Only the oldest unsettled row of a conversation is ever given out, so messages keep their order.
        """
        ...

    async def extend(self, rows: Sequence[int], until: datetime) -> None:
        """Go on having rows that were claimed; those that are settled or put off meanwhile stay so."""
        ...

    async def settle(self, settle: Settle) -> None: ...

    async def release(self, platforms: Sequence[str]) -> None:
        """Let go of the rows and timers that a process that is no more had taken.

        For whoever has the database to itself: what another process has taken would be done twice.
        """
        ...

    async def retry_at(self, row: int, at: datetime, error: str) -> None:
        """Put a row off, by an hour at most: what lies further away is of a wrong clock, and is not waited for."""
        ...

    async def give_up(self, row: int, error: str) -> None: ...

    async def next_due(self, platforms: Sequence[str] | None = None) -> datetime | None:
        """The earliest moment at which an outbox row or timer will be ready; None when there is nothing.

        `platforms` limits the rows as in `claim`; timers are anybody's to fire.
        """
        ...

    async def waiting(self) -> int:
        """How many outbox rows are neither sent nor given up."""
        ...

    # timers
    async def due(self, now: datetime, limit: int, lease: timedelta) -> Sequence[DueTimer]:
        """Take timers due at `now`; a timer that was taken is hidden from `due` until its lease ends.

        It is removed by the commit of its own `TimerDue` event (same name).
        """
        ...

    async def timer_at(self, conversation: str, name: str) -> datetime | None:
        """When a timer is due, taken or not; None where there is none."""
        ...

    async def timers(self, prefix: str = "") -> Sequence[DueTimer]: ...

    async def event(self, event_id: str) -> Envelope | None:
        """A committed event as it was applied, by its id."""
        ...

    # what an adapter has to know again after a restart, and no event says
    async def keep(self, key: str, value: str | None) -> None:
        """Keep a short text under a key; None forgets it. Durable when it returns."""
        ...

    async def kept(self, prefix: str) -> Mapping[str, str]:
        """Everything kept under keys that begin with `prefix`."""
        ...

    async def take_turn(self, what: str, owner: str, now: datetime, until: datetime) -> bool:
        """Have something to oneself until then, or go on having it; False while another owner has it."""
        ...

    async def end_turn(self, what: str, owner: str) -> None: ...

    async def posted_count(self, platform: str) -> int:
        """How many messages have been posted on a platform (redraws not counted), for numbering."""
        ...

    async def close(self) -> None: ...


class DuplicateEvent(Exception):
    """The event was committed before; nothing was written now."""


class StaleRevision(Exception):
    """Another commit changed the conversation first; load it again and step again."""


async def readable(store: Store, conversation: str) -> Conversation | None:
    """The stored state, in a look at many places: None also where it can not be read, which is that one's affair."""
    try:
        return await store.load(conversation)
    except UnreadableState:
        return None


class StoreUnavailable(Exception):
    """The database can not be used now. The message says what was wrong and what to do."""


class NewerDatabase(StoreUnavailable):
    """The database was written by a newer program; it is left untouched."""


# -- transport ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sent:
    """The platform took the message. `message` is its id there; `order` as in `MessageReceived`."""

    message: str
    order: int | None = None


class RateLimited(Exception):
    """The platform wants a pause for this place."""

    def __init__(self, retry_after: timedelta) -> None:
        super().__init__(f"the platform asks for a pause of {retry_after.total_seconds():g} s")
        self.retry_after = retry_after


class TryLater(Exception):
    """The platform could not be reached or failed in itself; the message may or may not have arrived."""


class Undeliverable(Exception):
    """The platform refuses this message for good (blocked, archived, removed). The text says why.

    `place`: it would refuse any other message there too.
    """

    def __init__(self, reason: str, *, place: bool = False) -> None:
        super().__init__(reason)
        self.place = place


class CardGone(Exception):
    """The card to redraw no longer exists or can not be edited; post it anew."""


class Transport(Protocol):
    """Sends on one platform. Raises only the four errors above."""

    platform: str

    async def post(self, conversation: str, say: Say) -> Sent: ...

    async def redraw(self, conversation: str, message: str, redraw: Redraw) -> Sent: ...

    async def reply(self, envelope: Envelope, reply: Reply) -> None:
        """Answer the transport of a press. Never raises; there is nothing to do about a failure."""
        ...


class Fetcher(Protocol):
    """Gets files by the handle that a codec has put into a material."""

    async def fetch(self, handle: str, limit: int) -> bytes:
        """The content. Raises `TryLater`, or `Undeliverable` with the reason in words for the person."""
        ...


@dataclass(frozen=True, slots=True)
class Handled:
    """What became of one envelope."""

    outcome: Literal["accepted", "duplicate", "ignored", "refused"]
    reason: str | None = None
    reply: Reply | None = None
