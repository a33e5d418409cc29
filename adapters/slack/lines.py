"""First come, first served within a channel: what is looked up on the way must not change the order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


class Lines:
    """One queue a name, kept only while somebody is in it."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        line = self._lines.setdefault(name, _Line())
        line.users += 1
        try:
            async with line.lock:
                yield
        finally:
            line.users -= 1
            if not line.users:
                self._lines.pop(name, None)


@dataclass(slots=True)
class _Line:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
