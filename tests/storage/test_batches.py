"""What the batches promise to the crowd that asks of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from storage.batches import CROWD, Batches


async def test_the_next_batch_is_begun_before_all_of_the_last_one_are_answered() -> None:
    """Each caller goes on at once, and a whole crowd in one turn of the loop would keep the batch from its way."""
    answered: list[int] = []
    seen: list[int] = []  # how many had been answered at each batch's first turn of the loop

    async def run(jobs: Sequence[Any]) -> Sequence[Any]:
        await asyncio.sleep(0)
        seen.append(len(answered))
        return jobs

    batches = Batches(run, "test")

    async def caller(number: int) -> None:
        answered.append(await batches.ask(number))

    await asyncio.gather(*(caller(number) for number in range(4 * CROWD)))
    assert answered == list(range(4 * CROWD)), "in the order in which they asked"
    assert seen[0] == 0
    assert seen[1] < CROWD
    await batches.finish()


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
