"""Jobs that are done together: everything that is asked for while a batch is under way makes the next one.

A crowd is cut in two. While one half is being written the other half decides what it asks for next; all at once they
would only wait for each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from bot.ports import StoreUnavailable

LARGEST = 256  # jobs in a batch; a few milliseconds of work, so that nobody waits long behind a crowd
CROWD = 16  # jobs that are never cut in two: the way to the disk is paid for each batch

# Does a batch. One result each; an exception among them is that job's own failure, a raised one is everybody's.
Run = Callable[[list[Any]], Awaitable[Sequence[Any]]]


class Batches:
    """`ask` returns when the job has been done, even where the caller was cancelled."""

    def __init__(self, run: Run, what: str, largest: int = LARGEST) -> None:
        self._run = run
        self._what = what
        self._largest = largest
        self._waiting: list[tuple[Any, asyncio.Future[Any]]] = []
        self._wake = asyncio.Event()
        self._closing = False
        self._task = asyncio.create_task(self._serve(), name=f"batches {what}")

    async def ask(self, job: Any) -> Any:
        """Have a job done in the next batch.

        When the caller is cancelled the job is still done: nobody but `_serve` takes it from those that wait.
        "Cancelled" never means "not written".
        """
        if self._closing:
            raise StoreUnavailable(f"the database {self._what} has been closed")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, future))
        self._wake.set()
        return await future

    async def finish(self) -> None:
        """Do what waits, and take no more."""
        self._closing = True
        self._wake.set()
        await asyncio.shield(self._task)

    async def _serve(self) -> None:
        answered = 0  # callers that have just got their results, and may be about to ask again
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                size = min(self._largest, max(CROWD, (len(self._waiting) + answered + 1) // 2))
                taken, self._waiting = self._waiting[:size], self._waiting[size:]
                results = await self._batch([job for job, _ in taken])
                answered = len(taken)
                for (_, future), result in zip(taken, results, strict=True):
                    if future.done():
                        continue  # its caller was cancelled
                    if isinstance(result, BaseException):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
                if len(self._waiting) < CROWD:
                    # Let the callers ask again before the next batch, so that it carries all of them.
                    await asyncio.sleep(0)
            if self._closing:
                return

    async def _batch(self, jobs: list[Any]) -> Sequence[Any]:
        try:
            return await self._run(jobs)
        except Exception as error:  # noqa: BLE001 - the callers must hear of it, and the batches must go on
            return [error] * len(jobs)
