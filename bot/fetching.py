"""Fetches the files that the core has ordered, and reports what came as an event. Nothing is executed or stored but a
fingerprint; the content is looked at and dropped.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from datetime import timedelta

from bot.bell import heard_or_due
from bot.core import files
from bot.core.events import Envelope, FileFetched
from bot.core.flows.fetching import ORDER
from bot.core.model import Material
from bot.faults import report
from bot.ports import Clock, DueTimer, Fetcher, Store, TryLater, Undeliverable, readable
from bot.runner import Runner

LOOK = timedelta(seconds=60)  # between two looks for orders of which nobody has told
LIMIT = 20_000_000  # bytes: what the platforms give to bots
TRIES = 3
SECONDS = 60.0  # that one try may take


class Fetching:
    def __init__(self, store: Store, runner: Runner, fetchers: Mapping[str, Fetcher], clock: Clock) -> None:
        self._store, self._runner, self._fetchers, self._clock = store, runner, fetchers, clock

    async def run(self) -> None:
        """Look for orders until cancelled; one file at a time."""
        heard = self._runner.bell.listen("timers")  # an order is a timer
        try:
            while True:
                heard.clear()
                try:
                    await self.fetch_ordered()
                except Exception as error:  # noqa: BLE001 - the order stays; the next look takes it again
                    report("fetching_failed", error)
                await heard_or_due(heard, self._clock, self._clock.now() + LOOK)
        finally:
            self._runner.bell.leave(heard)

    async def fetch_ordered(self) -> int:
        """Everything that is ordered now; how many files were looked at."""
        done = 0
        for order in await self._store.timers(ORDER):
            fetcher = self._fetchers.get(order.conversation.partition(":")[0])
            if fetcher is not None and order.at > self._clock.now():
                done += await self._one(order, fetcher)
        return done

    async def _one(self, order: DueTimer, fetcher: Fetcher) -> bool:
        state = await readable(self._store, order.conversation)
        name, _, place = order.name.removeprefix(ORDER).partition(":")
        session = None if state is None else state.session(name)
        materials = () if session is None else session.request.materials
        if state is None or not place.isdigit() or int(place) >= len(materials):
            return False  # the timer rings, and that is the end of it
        material = materials[int(place)]
        if material.handle is None:
            return False
        made = await self._looked_at(material, fetcher)
        event = FileFetched(session=name, place=int(place), handle=material.handle, **made)
        event_id = f"fetched:{order.name}:{material.handle}"
        await self._runner.handle(Envelope(event_id=event_id, place=state.place, at=self._clock.now(), event=event))
        return True

    async def _looked_at(self, material: Material, fetcher: Fetcher) -> Mapping[str, object]:
        if (material.size or 0) > LIMIT:
            return {"problem": f"it is larger than {LIMIT // 1_000_000} MB"}
        content = b""
        for attempt in range(TRIES):
            try:
                async with asyncio.timeout(SECONDS):
                    content = await fetcher.fetch(material.handle or "", LIMIT)
                break
            except Undeliverable as error:
                return {"problem": str(error)}
            except (TryLater, TimeoutError):
                if attempt == TRIES - 1:
                    return {"problem": "it could not be downloaded"}
                await self._clock.sleep(2.0**attempt)
        if len(content) > LIMIT:
            return {"problem": f"it is larger than {LIMIT // 1_000_000} MB"}
        kind = files.found(content)
        if kind != files.claimed(material):
            return {"size": len(content), "problem": "its content is not what its name says"}
        return {"size": len(content), "digest": hashlib.sha256(content).hexdigest()}
