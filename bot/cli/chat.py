"""Wires the terminal chat: the same program as everywhere, with the terminal as its platform."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import BinaryIO

from adapters.terminal.chat import Parts
from adapters.terminal.codec import PLATFORM, Shown
from adapters.terminal.jsonl import run_jsonl
from adapters.terminal.transport import TerminalTransport
from bot.app import Program, program, set_up_logging
from bot.outbox import Patience
from config.settings import Settings

MakeParts = Callable[[Callable[[Shown], None]], Parts]


async def parts_of(running: Program) -> MakeParts:
    """The chat's parts, once it is known where messages are to be shown."""
    posted = await running.store.posted_count(PLATFORM)

    def make(screen: Callable[[Shown], None]) -> Parts:
        transport = TerminalTransport(screen, posted)
        return Parts(
            store=running.store,
            runner=running.runner,
            outbox=running.outbox(transport, patience=Patience(lease=timedelta(0))),
            timers=running.timers,
            transport=transport,
            clock=running.clock,
            at_the_end=("gather", "grace"),
            recall=running.store.shown,
        )

    return make


async def run_chat(settings: Settings, *, jsonl: bool) -> int:
    """Talk until the input ends; gives the exit code."""
    set_up_logging()
    async with program(settings) as running:
        make = await parts_of(running)
        if jsonl:
            # A reader of its own: at exit Python would wait for sys.stdin, which the thread of a read still holds.
            source = os.fdopen(sys.stdin.fileno(), "rb", closefd=False)
            return await run_jsonl(make, source, sys.stdout.buffer)
        from adapters.terminal.interactive import run_interactive

        return await run_interactive(make)


async def run_lines(settings: Settings, source: BinaryIO, sink: BinaryIO) -> int:
    """`chat --jsonl` on given streams, for the bundled sample."""
    async with program(settings) as running:
        return await run_jsonl(await parts_of(running), source, sink)
