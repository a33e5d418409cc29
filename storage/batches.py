"""Jobs that are done together: everything that is asked for while a batch is under way makes the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from bot.ports import StoreUnavailable

LARGEST = 256  # jobs in a batch; a few milliseconds of work, so that nobody waits long behind a crowd

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

        The caller waits behind a shield: when it is cancelled the job is still done. "Cancelled" never means
        "not written".
        """
        if self._closing:
            raise StoreUnavailable(f"the database {self._what} has been closed")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_seen)
        self._waiting.append((job, future))
        self._wake.set()
        return await asyncio.shield(future)

    async def finish(self) -> None:
        """Do what waits, and take no more."""
        self._closing = True
        self._wake.set()
        await asyncio.shield(self._task)

    async def _serve(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                taken, self._waiting = self._waiting[: self._largest], self._waiting[self._largest :]
                results = await self._batch([job for job, _ in taken])
                for (_, future), result in zip(taken, results, strict=True):
                    if isinstance(result, BaseException):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
                # Let the callers ask again before the next batch, so that it carries all of them.
                await asyncio.sleep(0)
            if self._closing:
                return

    async def _batch(self, jobs: list[Any]) -> Sequence[Any]:
        try:
            return await self._run(jobs)
        except Exception as error:  # noqa: BLE001 - the callers must hear of it, and the batches must go on
            return [error] * len(jobs)


def _seen(future: asyncio.Future[Any]) -> None:
    """Mark a failure as noticed: its caller may have been cancelled."""
    if not future.cancelled():
        future.exception()
