"""What the batches promise to the crowd that asks of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from storage.batches import CROWD, Batches


async def test_whoever_asked_before_the_end_is_answered() -> None:
    """Failures go to their own callers; nobody waits for ever."""

    async def run(jobs: Sequence[Any]) -> Sequence[Any]:
        await asyncio.sleep(0)
        return [KeyError(job) if job % 7 == 0 else job for job in jobs]

    batches = Batches(run, "test")
    asked = [asyncio.ensure_future(batches.ask(number)) for number in range(5 * CROWD)]
    asked[3].cancel()
    await asyncio.sleep(0)
    await batches.finish()
    found = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 5)
    for number, result in enumerate(found):
        if number == 3:
            assert isinstance(result, asyncio.CancelledError)
        elif number % 7 == 0:
            assert isinstance(result, KeyError)
        else:
            assert result == number
