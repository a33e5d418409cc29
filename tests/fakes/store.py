"""The smallest store that keeps the promises of `bot.ports.Store`, with places to break it.

The shell is tested against this one so that a fault can be put exactly where it hurts; the real stores have
contract tests of their own and run under the shell in the end-to-end tests.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.effects import Message, Redraw, Say, SessionRow
from bot.core.events import Envelope, TimerDue
from bot.core.state import Conversation
from bot.ports import Commit, DueTimer, DuplicateEvent, OutboxRow, Settle, StaleRevision

WRONG = timedelta(hours=1)  # what lies further ahead is of a clock that was set back


@dataclass
class Row:
    row: int
    conversation: str
    effect: Say | Redraw
    created_at: datetime
    platform: str
    attempts: int = 0
    claimed: bool = False
    ready_at: datetime | None = None
    sent: str | None = None
    given_up: str | None = None
    errors: tuple[str, ...] = ()

    @property
    def waiting(self) -> bool:
        return self.sent is None and self.given_up is None


class FakeStore:
    def __init__(self) -> None:
        self.states: dict[str, Conversation] = {}
        self.commits: list[Commit] = []
        self.events: set[str] = set()
        self.rows: list[Row] = []
        self.timer_rows: dict[tuple[str, str], datetime] = {}
        self.cards: dict[tuple[str, str], str] = {}
        self.notes: dict[str, str] = {}
        self.leases: dict[DueTimer, datetime] = {}
        self.turns: dict[str, tuple[str, datetime]] = {}
        self.before: defaultdict[str, deque[Callable[[], Awaitable[None]]]] = defaultdict(deque)

    async def _fault(self, name: str) -> None:
        """Run the next thing that a test has put in the way of this call."""
        if self.before[name]:
            await self.before[name].popleft()()

    async def load(self, conversation: str) -> Conversation | None:
        await self._fault("load")
        return self.states.get(conversation)

    async def seen(self, event_id: str) -> bool:
        await self._fault("seen")
        return event_id in self.events

    async def commit(self, commit: Commit) -> None:
        await self._fault("commit")
        conversation = commit.envelope.place.conversation
        if commit.envelope.event_id in self.events:
            raise DuplicateEvent
        stored = self.states.get(conversation)
        if (0 if stored is None else stored.revision) != commit.expected_revision:
            raise StaleRevision
        self.events.add(commit.envelope.event_id)
        self.states[conversation] = commit.state
        self.commits.append(commit)
        if isinstance(commit.envelope.event, TimerDue):
            # As the real ones: a timer that lies in the future is not its own event's to remove.
            key = (conversation, commit.envelope.event.name)
            if self.timer_rows.get(key, commit.envelope.at) <= commit.envelope.at:
                self.timer_rows.pop(key, None)
        for name in commit.timers_cleared:
            self.timer_rows.pop((conversation, name), None)
        for name, at in commit.timers_set:
            self.timer_rows[conversation, name] = at
        for effect in commit.out:
            platform = commit.envelope.place.platform
            self.rows.append(Row(len(self.rows) + 1, conversation, effect, commit.envelope.at, platform))
        if commit.settle is not None:
            self._settled(commit.settle)
        await self._fault("committed")

    async def about(self, conversation: str, message: str) -> str | None:
        for row in self.rows:
            if row.conversation == conversation and row.sent == message:
                return (row.effect.about or row.effect.card) if isinstance(row.effect, Say) else row.effect.card
        return None

    async def conversation_of(self, session: str) -> str | None:
        places = (
            c.envelope.place.conversation for c in self.commits if any(r.session == session for r in c.sessions)
        )
        return next(places, None)

    async def open_conversations(self, platform: str) -> Sequence[str]:
        places = [name for name in self.states if name.startswith(f"{platform}:")]
        return sorted(n for n in places if any(s.stage.kind != "ended" for s in self.states[n].sessions))

    async def sessions_begun(self, place: str) -> int:
        return len(self._sessions(place, "/"))

    async def asking(self, within: str, limit: int) -> Sequence[str]:
        rows = [(s, c) for s, c in self._sessions(within, "/:").values() if s.state in ("asking", "closing")]
        rows.sort(key=lambda row: row[0].started_at, reverse=True)
        return list(dict.fromkeys(conversation for _, conversation in rows))[:limit]

    def _sessions(self, place: str, ends: str) -> dict[str, tuple[SessionRow, str]]:
        """The last row of each session, by its id, where its conversation is `place` or within it."""
        found = {}
        for commit in self.commits:
            name = commit.envelope.place.conversation
            if name == place or any(name.startswith(place + end) for end in ends):
                found |= {row.session: (row, name) for row in commit.sessions}
        return found

    async def claim(
        self, now: datetime, limit: int, lease: timedelta, platforms: Sequence[str] | None = None
    ) -> Sequence[OutboxRow]:
        await self._fault("claim")
        taken: list[OutboxRow] = []
        looked: set[str] = set()
        for row in self.rows:
            if not row.waiting or row.conversation in looked:
                continue
            looked.add(row.conversation)
            put_off = row.ready_at is not None and now < row.ready_at <= now + lease + WRONG
            if put_off or len(taken) == limit:
                continue
            if platforms is not None and row.platform not in platforms:
                continue
            row.attempts, row.claimed = row.attempts + row.claimed, True
            row.ready_at = now + lease
            card = (
                self.cards.get((row.conversation, row.effect.card or "")) if isinstance(row.effect, Redraw) else None
            )
            taken.append(
                OutboxRow(row.row, row.conversation, row.platform, row.effect, row.created_at, row.attempts, card)
            )
        return taken

    async def extend(self, rows: Sequence[int], until: datetime) -> None:
        await self._fault("extend")
        for row in (self.rows[number - 1] for number in rows):
            if row.waiting and row.claimed:
                row.ready_at = until

    async def settle(self, settle: Settle) -> None:
        await self._fault("settle")
        self._settled(settle)

    def _settled(self, settle: Settle) -> None:
        row = self.rows[settle.row - 1]
        row.sent = settle.message or ""
        if row.effect.card is not None:
            self.cards[row.conversation, row.effect.card] = row.sent

    async def release(self, platforms: Sequence[str]) -> None:
        for row in self.rows:
            if row.waiting and row.platform in platforms:
                row.ready_at, row.claimed, row.attempts = None, False, row.attempts + row.claimed
        self.leases.clear()

    async def retry_at(self, row: int, at: datetime, error: str) -> None:
        await self._fault("retry_at")
        stored = self.rows[row - 1]
        stored.ready_at, stored.attempts, stored.errors = at, stored.attempts + 1, (*stored.errors, error)
        stored.claimed = False

    async def give_up(self, row: int, error: str) -> None:
        await self._fault("give_up")
        self.rows[row - 1].given_up = error

    async def next_due(self, platforms: Sequence[str] | None = None) -> datetime | None:
        rows = [row for row in self._first_waiting() if platforms is None or row.platform in platforms]
        moments = [row.ready_at or row.created_at for row in rows]
        timers = [max(timer.at, self.leases.get(timer, timer.at)) for timer in await self.timers()]
        return min([*moments, *timers], default=None)

    def _first_waiting(self) -> Sequence[Row]:
        first: dict[str, Row] = {}
        for row in self.rows:
            if row.waiting:
                first.setdefault(row.conversation, row)
        return list(first.values())

    async def waiting(self) -> int:
        return sum(row.waiting for row in self.rows)

    async def due(self, now: datetime, limit: int, lease: timedelta) -> Sequence[DueTimer]:
        await self._fault("due")
        free = [t for t in await self.timers() if t.at <= now and self.leases.get(t, now) <= now][:limit]
        self.leases |= dict.fromkeys(free, now + lease)
        return free

    async def timer_at(self, conversation: str, name: str) -> datetime | None:
        await self._fault("timer_at")
        return self.timer_rows.get((conversation, name))

    async def take_turn(self, what: str, owner: str, now: datetime, until: datetime) -> bool:
        held = self.turns.get(what)
        if held is not None and held[0] != owner and now < held[1] <= until + WRONG:
            return False
        self.turns[what] = (owner, until)
        return True

    async def end_turn(self, what: str, owner: str) -> None:
        if self.turns.get(what, ("",))[0] == owner:
            del self.turns[what]

    async def timers(self, prefix: str = "") -> Sequence[DueTimer]:
        listed = [DueTimer(c, name, at) for (c, name), at in self.timer_rows.items() if name.startswith(prefix)]
        return sorted(listed, key=lambda timer: timer.at)

    async def posted_count(self, platform: str) -> int:
        return sum(
            row.sent is not None for row in self.rows if row.platform == platform and isinstance(row.effect, Say)
        )

    async def shown(self, conversation: str, message: str) -> Message | None:
        shown = [r.effect.message for r in self.rows if (r.conversation, r.sent) == (conversation, message)]
        return shown[-1] if shown else None

    async def event(self, event_id: str) -> Envelope | None:
        return next((c.envelope for c in self.commits if c.envelope.event_id == event_id), None)

    async def keep(self, key: str, value: str | None) -> None:
        await self._fault("keep")
        if value is None:
            self.notes.pop(key, None)
        else:
            self.notes[key] = value

    async def kept(self, prefix: str) -> dict[str, str]:
        return {key: value for key, value in self.notes.items() if key.startswith(prefix)}

    async def drawings(self, conversation: str, message: str) -> Sequence[Message]:
        return [r.effect.message for r in self.rows if (r.conversation, r.sent) == (conversation, message)]

    async def close(self) -> None: ...
