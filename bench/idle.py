"""How often a program that has nothing to do is awake in a minute, beside one that looks for work each second.

There is a timer, thirty days ahead.
"""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.figure import Figure, Goal
from storage import upgrade
from tests.fakes.postgres import PostgresServer

SECONDS = 20.0
GOAL = Goal(0.25, "most")  # what the product set itself


def figures(seconds: float = SECONDS) -> list[Figure]:
    """All four sleep at the same time."""
    server = PostgresServer()
    try:
        server.start()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "askfirst.db"
            databases = {"idle_wakeups": str(path), "idle_wakeups_postgres": asyncio.run(server.emptied())}
            asyncio.run(upgrade(str(path)))
            far = int((datetime.now(UTC) + timedelta(days=30)).timestamp()) * 1_000_000  # noqa: TID251
            ahead = f"INSERT INTO timer (conversation, name, at) VALUES ('terminal:ana', 'remind', {far})"
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.execute(ahead)
            asyncio.run(server.asks(ahead, database=databases["idle_wakeups_postgres"]))
            begun = {
                (name, who): subprocess.Popen(
                    [sys.executable, "-m", "bench.idler", url, str(seconds), who], stdout=subprocess.PIPE, text=True
                )
                for name, url in databases.items()
                for who in ("ours", "floor")
            }
            found = {key: 60 / seconds * max(1, _woken(process)) for key, process in begun.items()}
    finally:
        server.remove()
    return [Figure(name, found[name, "ours"], found[name, "floor"], "/min", GOAL) for name in databases]


def _woken(process: subprocess.Popen[str]) -> int:
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError("an idle program did not come to its end")
    return int(out)
