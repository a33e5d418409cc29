"""A process of its own that has nothing to do: how often is it awake?

    python -m bench.idler DATABASE SECONDS ours|floor

Ours is what `askfirst serve` keeps running beside the platforms: the outbox, the timers, the files, and whatever the
store does by itself. The floor looks into the same database once a second. Prints how often a thread was woken.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

from bot.app import program
from bot.fetching import Fetching
from config.settings import load_settings
from storage import open_store

SETTLED = 1.0  # seconds, at most, until the start is over


def woken() -> int:
    """Of all threads together: each time that one had slept and went on."""
    statuses = [(task / "status").read_text("utf-8") for task in Path("/proc/self/task").iterdir()]
    return sum(int(re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", one, re.MULTILINE)[0]) for one in statuses)


async def measured(seconds: float) -> int:
    await asyncio.sleep(min(SETTLED, seconds))
    before = woken()
    await asyncio.sleep(seconds)
    return woken() - before - 1  # the end of our own sleep


async def ours(database: str, seconds: float) -> int:
    settings = load_settings(config=None).model_copy(update={"database": database})
    async with program(settings) as running:
        fetching = Fetching(running.store, running.runner, {}, running.clock)
        loops = (running.outbox(), running.timers, fetching)
        tasks = [asyncio.create_task(loop.run()) for loop in loops]
        found = await measured(seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return found


async def floor(database: str, seconds: float) -> int:
    store = await open_store(database)

    async def look() -> None:
        while True:
            await store.next_due()
            await asyncio.sleep(1.0)

    looking = asyncio.create_task(look())
    found = await measured(seconds)
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)
    await store.close()
    return found


if __name__ == "__main__":
    work = ours if sys.argv[3] == "ours" else floor
    sys.stdout.write(f"{asyncio.run(work(sys.argv[1], float(sys.argv[2])))}\n")
