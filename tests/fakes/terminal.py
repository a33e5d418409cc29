"""The terminal chat on the toy core: in process for most tests, as a program of its own for killing."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any

from adapters.terminal.chat import Parts
from adapters.terminal.jsonl import run_jsonl
from adapters.terminal.transport import TerminalTransport
from bot.clock import SystemClock
from bot.core.codec import decode_effect
from bot.core.effects import Message
from bot.outbox import Outbox, Patience
from bot.ports import Clock, Store
from bot.runner import Runner, fresh_id
from bot.timers import Timers
from tests.fakes.store import FakeStore
from tests.fakes.toy import toy

ALONE = Patience(lease=timedelta(0))


def terminal_parts(
    store: Store, clock: Clock, screen, posted: int = 0, decide=toy, new_id=fresh_id, recall=None
) -> Parts:
    runner = Runner(store, decide, clock, new_id)
    transport = TerminalTransport(screen, posted)
    return Parts(
        store=store,
        runner=runner,
        outbox=Outbox(store, runner, {"terminal": transport}, clock, patience=ALONE),
        timers=Timers(store, runner, clock),
        transport=transport,
        clock=clock,
        recall=recall or getattr(store, "shown", None),
    )


async def feed(lines: Sequence[Any], store: Store | None = None, clock: Clock | None = None) -> tuple[list, int]:
    """Lines (values, or bytes as they are) through a whole run; the lines that came out and the exit code."""
    store = store or FakeStore()
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    sink = io.BytesIO()
    posted = await store.posted_count("terminal")
    code = await run_jsonl(
        lambda screen: terminal_parts(store, clock or SystemClock(), screen, posted),
        io.BytesIO(b"\n".join(raw)),
        sink,
    )
    return [json.loads(line) for line in sink.getvalue().splitlines()], code


async def main(database: str) -> int:
    """`python -m tests.fakes.terminal DATABASE`: the toy core on a real database, for kill -9."""
    import structlog

    from storage import open_store

    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    store = await open_store(database)

    async def recall(conversation: str, message: str) -> Message | None:
        query = "SELECT effect FROM outbox WHERE conversation = ? AND message = ? ORDER BY row DESC LIMIT 1"
        with closing(sqlite3.connect(database)) as connection:
            row = connection.execute(query, (conversation, message)).fetchone()
        return None if row is None else decode_effect(row[0]).message

    try:
        posted = await store.posted_count("terminal")
        return await run_jsonl(
            lambda screen: terminal_parts(store, SystemClock(), screen, posted, recall=recall),
            sys.stdin.buffer,
            sys.stdout.buffer,
        )
    finally:
        await store.close()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))
