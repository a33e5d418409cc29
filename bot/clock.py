"""The real clock. The only place of the shell that asks the system what time it is."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime


class SystemClock:
    """UTC, aware. Tests hand in a clock of their own (tests/fakes/clock.py)."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the clock that everybody else is handed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))
