"""A process of its own: people talk over a database, when told to. Prints what it took as JSON.

    python -m bench.worker DATABASE FIRST PEOPLE INTAKES [WARM]

`FIRST` is the number of the first person. It says `ready` when everything is loaded, and begins at a line on stdin.
Before that each person goes through `WARM` intakes, of which nothing is counted. The garbage collector is set as by
`askfirst serve`.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import itertools
import json
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from bench.histogram import Histogram
from bench.talk import STEPS, Talker
from bot.app import load_book
from bot.cli import COLLECTED
from bot.clock import SystemClock
from bot.core.events import Envelope
from bot.core.state import Conversation
from bot.core.step import Step, step
from bot.runner import Runner
from config.settings import load_settings
from storage import open_store


def peak() -> float:
    """The most memory that this process ever had, in megabytes. `ru_maxrss` would count its parent's at the fork."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    assert found is not None
    return int(found[1]) / 1024


async def work(database: str, first: int, people: int, intakes: int, warm: int = 0) -> None:
    book = load_book(load_settings(config=None))
    decide = functools.partial(step, book=book)
    states: dict[str, Conversation] = {}

    def watched(state: Conversation | None, envelope: Envelope) -> Step:
        decided = decide(state, envelope)
        states[envelope.place.conversation] = decided.state
        return decided

    store = await open_store(database)
    ids = itertools.count(first * 1_000_000 + 1)
    runner = Runner(store, watched, SystemClock(), lambda: f"{next(ids):010d}")
    store.listen(runner.bell.ring)
    talkers = [Talker(first + n, warm + intakes, states.__getitem__) for n in range(people)]
    talks = [talker.events() for talker in talkers]
    latencies = Histogram()

    async def one(envelopes: Iterable[Envelope], latencies: Histogram) -> None:
        for envelope in envelopes:
            begun = time.perf_counter()
            await runner.handle(envelope)
            latencies.record(time.perf_counter() - begun)

    await asyncio.gather(*(one(itertools.islice(talk, warm * STEPS), Histogram()) for talk in talks))
    gc.freeze()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    started, spent = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one(talk, latencies) for talk in talks))
    taken, spent = time.perf_counter() - started, time.process_time() - spent
    await store.close()
    if not all(talker.done() for talker in talkers):
        raise RuntimeError("an intake was not completed: the measured conversation no longer fits the playbook")
    steps = people * intakes * STEPS
    found = {
        "steps": steps,
        "seconds": taken,
        "cpu": spent,
        **{f"p{share}": latencies.at(share) for share in (50, 99, 99.9)},
        "megabytes": peak(),
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    gc.set_threshold(*COLLECTED)
    asyncio.run(work(sys.argv[1], *map(int, sys.argv[2:6])))
