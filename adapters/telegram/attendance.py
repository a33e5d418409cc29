"""Having been there: a note in the store every minute, and what to say after a gap in which updates were lost (P29).

Telegram drops messages after 24 hours, whether they wait for a poll or for a webhook. A gap is kept in the store
before the note moves on, and is forgotten only when every place concerned has been told; each is told once, because
the event has the same id however often this is tried.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import structlog

from adapters.telegram.places import PLATFORM, Me
from bot.core.events import BotAway, Envelope
from bot.core.model import Place
from bot.ports import Clock, Store, readable
from bot.runner import Runner

KEPT_FOR = timedelta(hours=24)  # how long Telegram keeps messages: core.telegram.org/bots/api#getting-updates
NOTE_EVERY = timedelta(minutes=1)
RECENT = timedelta(minutes=10)  # for so long after a conflict `/status` speaks of it

log = structlog.get_logger(__name__)


class Attendance:
    """`offset` is polling's: where the last note says it was."""

    def __init__(self, me: Me, store: Store, runner: Runner, clock: Clock) -> None:
        self._store, self._runner, self._clock = store, runner, clock
        self._key = f"{PLATFORM}:read:{me.id}"
        self._gap_key = f"{PLATFORM}:gap:{me.id}"
        self._conflict_key = f"{PLATFORM}:conflict:{me.id}"
        self._id = f"{PLATFORM}:{me.id}:away"
        self._noted: datetime | None = None
        self._told: datetime | None = None
        self.offset: int | None = None
        self.heard: datetime | None = None  # when the last update came
        self.gap: tuple[datetime, datetime] | None = None  # not told yet
        self.away: timedelta | None = None  # the last gap that this process has seen
        self._conflict: tuple[str, datetime] | None = None

    async def begin(self) -> None:
        """What the last run has noted, and what it has left untold."""
        left = (await self._store.kept(self._gap_key)).get(self._gap_key)
        if left is not None:
            since, until = json.loads(left)
            self.gap = datetime.fromisoformat(since), datetime.fromisoformat(until)
            self.away = self.gap[1] - self.gap[0]
        kept = (await self._store.kept(self._key)).get(self._key)
        if kept is not None:
            note: dict[str, Any] = json.loads(kept)
            self._noted = datetime.fromisoformat(note["at"])
            self.heard = datetime.fromisoformat(note.get("heard") or note["at"])
            self.offset = note.get("offset")
            await self.look_back()

    async def look_back(self) -> bool:
        """Whether the last note is so old that messages may have been lost since. Kept before anything else."""
        now = self._clock.now()
        if self._noted is None or now - self._noted <= KEPT_FOR:
            return False
        since = self.gap[0] if self.gap is not None else self._noted
        self.gap, self.away = (since, now), now - since
        await self._store.keep(self._gap_key, json.dumps([since.isoformat(), now.isoformat()]))
        log.warning("away_too_long", hours=round((now - since) / timedelta(hours=1), 1))
        self._noted, self.offset = now, None  # after a week ids begin anew: an old offset would hide what is new
        return True

    async def note(self, offset: int | None, *, news: bool = False) -> None:
        """We are here. Written at news, and every minute."""
        now = self._clock.now()
        if news:
            self.heard = now
        if news or self._told is None or abs(now - self._told) >= NOTE_EVERY:
            heard = None if self.heard is None else self.heard.isoformat()
            await self._store.keep(self._key, json.dumps({"offset": offset, "at": now.isoformat(), "heard": heard}))
            self._told = now
        self._noted = now

    async def tell(self) -> None:
        """Say in every place with something open that messages are lost. Afterwards the gap is forgotten."""
        if self.gap is None:
            return
        since, until = self.gap
        event = BotAway(since=since, until=until, lost_before=until - KEPT_FOR)
        for conversation in await self._store.open_conversations(PLATFORM):
            state = await readable(self._store, conversation)
            if state is None:
                continue
            place = Place(conversation=conversation, platform=PLATFORM, shared=state.place.shared)
            event_id = f"{self._id}:{int(since.timestamp())}:{int(until.timestamp())}:{conversation}"
            await self._runner.handle(Envelope(event_id=event_id, place=place, at=until, event=event))
        await self._store.keep(self._gap_key, None)
        self.gap = None

    # -- somebody else has the token -----------------------------------------------------------------------------

    async def conflict(self, what: str) -> None:
        """Noted for `/status` and for `askfirst doctor`."""
        now = self._clock.now()
        fresh = self._conflict is None or abs(now - self._conflict[1]) >= NOTE_EVERY or self._conflict[0] != what
        if fresh:
            await self._store.keep(self._conflict_key, json.dumps({"at": now.isoformat(), "what": what}))
            self._conflict = what, now

    def troubles(self) -> list[str]:
        if self._conflict is None or self._clock.now() - self._conflict[1] > RECENT:
            return []
        return [f"{self._conflict[0]}. Some messages may go there instead of to me."]
