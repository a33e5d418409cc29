"""Hearing of the other workers: what they have changed, and that there is something to do.

A notification is lost while the connection is down, so after every new connection, and now and then, it is taken for
granted that there was one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from bot.faults import log, report
from storage.postgres_errors import DATABASE
from storage.postgres_link import connect, end
from storage.postgres_url import Target
from storage.postgres_writer import CHANNEL
from storage.records import Ring

LOOK = 30.0  # seconds between looks while notifications come
BLIND = 2.0  # seconds between looks while they do not
SOON = 0.05  # seconds until others' work is looked for: whoever has written it is awake, and takes it if it can

Forget = Callable[[Sequence[str] | None], None]


class Listener:
    """`forget` is told which places another worker has changed (None: any); `ring`, that there may be work."""

    def __init__(self, target: Target, name: str, forget: Forget, ring: Ring) -> None:
        self._target = target
        self._name = name
        self._forget = forget
        self._ring = ring
        self._stirred: set[str] = set()
        self._ringing: asyncio.TimerHandle | None = None
        self._task = asyncio.create_task(self._run(), name="listener")

    async def close(self) -> None:
        if self._ringing is not None:
            self._ringing.cancel()
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        while True:
            if not self._target.pgbouncer:
                try:
                    await self._listen()
                except DATABASE as error:
                    log.warning("listener_lost", error=type(error).__name__)
                except Exception as error:  # noqa: BLE001 - without news the others' work is looked for all the same
                    report("listener_failed", error)
            self._anything()
            await asyncio.sleep(BLIND)

    async def _listen(self) -> None:
        connection = await connect(self._target)
        gone = asyncio.Event()
        try:
            connection.add_termination_listener(lambda _: gone.set())
            await connection.add_listener(CHANNEL, self._heard)
            while not gone.is_set():
                self._anything()
                with suppress(TimeoutError):
                    await asyncio.wait_for(gone.wait(), LOOK)
                if not gone.is_set():
                    await connection.execute("SELECT 1")  # a network that is gone says nothing by itself
        finally:
            await end(connection)

    def _anything(self) -> None:
        self._forget(None)
        self._ring()

    def _heard(self, connection: Any, process: int, channel: str, payload: str) -> None:  # noqa: ARG002 - asyncpg's
        try:
            name, stirs, places = json.loads(payload)
        except (ValueError, TypeError):  # not one of ours, or of a newer form
            self._anything()
            return
        if name == self._name:
            return
        self._forget(places)
        if stirs and not isinstance(stirs, list):  # of a version that does not say what
            self._anything()
        elif stirs:
            self._stirred.update(map(str, stirs))
            if self._ringing is None:
                self._ringing = asyncio.get_running_loop().call_later(SOON, self._tell)

    def _tell(self) -> None:
        stirred, self._stirred, self._ringing = self._stirred, set(), None
        self._ring(stirred)
