"""`askfirst serve`: the platforms that have a token, the outbox and the timers, in one process until SIGTERM.

Going down in order: first nothing new is taken in, then what is under way is finished, then the store is closed.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import signal
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import structlog

from bot.app import Program, load_book, program, set_up_logging
from bot.cli.connecting import Connecting
from bot.cli.health import Http, Missing, health_routes, waiting_routes, wants_http
from bot.cli.platforms import Connected, Surface, wanted
from bot.clock import SystemClock
from bot.core.book import Book
from bot.fetching import Fetching
from bot.outbox import Patience
from bot.ports import StoreUnavailable
from bot.runner import fresh_id
from bot.turns import TURN, Turn
from config.settings import Settings

PROMPT = 2.0  # seconds in which the platforms usually answer; after that a watcher is told who is missing
AGAIN = 5.0  # seconds until the database is tried again that was there before

T = TypeVar("T")

log = structlog.get_logger(__name__)


async def run_serve(settings: Settings) -> int:
    """Serve until SIGTERM or Ctrl-C. The exit code: 0 when asked to stop."""
    set_up_logging(at_once=True)
    platforms = wanted(settings)
    stop = asyncio.Event()
    with _stopped_by_signals(stop):
        book = load_book(settings)
        async with Connecting(platforms, SystemClock()) as connecting:
            before = False
            while connected := await _answered(connecting, settings, stop):
                try:
                    await _served(connected, connecting, settings, book, stop)
                    before = True
                except StoreUnavailable as error:
                    if not before:
                        raise
                    log.warning("database_away", why=str(error))  # it was there a moment ago
                    await _before(stop, asyncio.sleep(AGAIN))
    log.info("stopped")
    return 0


@contextmanager
def _stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """Installed before anything else: a signal during the start ends it too."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def _before(stop: asyncio.Event, work: Awaitable[T]) -> T | None:
    """What it gives, or None where it was asked to stop first; the work is then cancelled."""
    stopping, working = asyncio.ensure_future(stop.wait()), asyncio.ensure_future(work)
    try:
        await asyncio.wait((stopping, working), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        for task in (stopping, working):
            task.cancel()
        await asyncio.gather(stopping, working, return_exceptions=True)


# -- starting ------------------------------------------------------------------------------------------------------


async def _answered(connecting: Connecting, settings: Settings, stop: asyncio.Event) -> Sequence[Connected]:
    """The platforms that can be served; none when it was asked to stop. Whoever watches is told meanwhile."""
    answering = asyncio.ensure_future(connecting.some(stop))
    try:
        await asyncio.wait((answering,), timeout=PROMPT)
        if not answering.done() and wants_http(settings):
            server = Http(waiting_routes(connecting.missing), settings)
            serving = asyncio.ensure_future(server.run())
            try:
                await asyncio.wait((answering, serving), return_when=asyncio.FIRST_COMPLETED)
            finally:
                server.stop()
                await serving
        return await answering
    finally:
        answering.cancel()


async def _served(
    connected: Sequence[Connected], connecting: Connecting, settings: Settings, book: Book, stop: asyncio.Event
) -> None:
    """Until it was asked to stop, or another platform has answered."""
    names = {one.platform: one.bot_name for one in connected}
    named = replace(book, bot_names={**book.bot_names, **names})
    async with AsyncExitStack() as stack:
        running = await _before(stop, stack.enter_async_context(program(settings, book=named)))
        if running is None:
            return
        pause = await stack.enter_async_context(connecting.more(stop))
        surfaces = [await one.build(running) for one in connected]
        gc.freeze()  # what is there by now stays; the collector walks only what comes
        missing = functools.partial(connecting.all_but, {s.platform for s in surfaces})
        await _serve(running, surfaces, settings, pause, missing)


# -- running -------------------------------------------------------------------------------------------------------


async def _serve(
    running: Program, surfaces: Sequence[Surface], settings: Settings, stop: asyncio.Event, missing: Missing
) -> None:
    lease = timedelta(seconds=settings.lease_seconds)
    outbox = running.outbox(
        *(s.transport for s in surfaces),
        paces={s.platform: s.pace for s in surfaces},
        patience=Patience(lease=lease),
    )
    if not running.store.shared:  # one process a SQLite file: what was claimed, a process that is no more has claimed
        await running.store.release([s.platform for s in surfaces])
    turns = {s.platform: _turn(running, s, min(TURN, lease)) for s in surfaces if s.alone and running.store.shared}
    routes = [route for surface in surfaces for route in surface.routes]
    wanted_here = routes or wants_http(settings)
    server = Http([*health_routes(running, surfaces, turns, missing), *routes], settings) if wanted_here else None
    try:
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(outbox.run(), name="outbox")
            ringing = group.create_task(running.timers.run(), name="timers")
            fetching = group.create_task(_fetching(running, surfaces), name="files")
            taking = [group.create_task(turns.get(s.platform, s).run(), name=s.platform) for s in surfaces]
            serving = None if server is None else group.create_task(server.run(), name="http")
            log.info("serving", platforms=[s.platform for s in surfaces])
            await stop.wait()
            log.info("stopping")
            if server is not None and serving is not None:
                server.stop()
                await asyncio.wait((serving,))
            await _end(*taking)
            for surface in surfaces:
                await surface.finish()
            await _end(ringing, fetching)
            await _end(sending)  # finishes the sends under way
    finally:
        await running.runner.finish()


def _turn(running: Program, surface: Surface, length: timedelta) -> Turn:
    return Turn(surface.platform, fresh_id(), surface.run, running.store, running.clock, length)


async def _fetching(running: Program, surfaces: Sequence[Surface]) -> None:
    """Only where a playbook asks for files."""
    if any(playbook.fetch for playbook in running.book.playbooks.values()):
        fetchers = {surface.platform: surface.files for surface in surfaces if surface.files is not None}
        await Fetching(running.store, running.runner, fetchers, running.clock).run()


async def _end(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
