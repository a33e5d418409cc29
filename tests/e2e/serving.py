"""The installed `askfirst serve` in a process of its own: on any fake server, and on the fake Bot API server."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.forked import Forked, start
from tests.e2e.installed import askfirst
from tests.fakes.telegram import Person, TelegramServer, WallClock

SECRET = "long-random-word"
BUSY = 120  # seconds, at most: a start takes three, and sixty where the machine has much else to do
LOOK = 0.02
LOOKS = int(BUSY / LOOK)  # counted, not timed: where the machine has no time for the program, it has none to look
SLOWER = 40.0  # times as long as Slack's are the deadlines of a fake beside a whole program


async def until(condition: Callable[[], Any], what: str) -> Any:
    for _ in range(LOOKS):
        if found := condition():
            return found
        await asyncio.sleep(LOOK)  # another process brings it about
    raise AssertionError(f"never came: {what}")


class Serving:
    """One process after another on the same database. `settings` are variables without `ASKFIRST_`."""

    def __init__(self, folder: Path, port: int | None, settings: Mapping[str, str]) -> None:
        self.database, self.log, self.port = folder / "askfirst.db", folder / "log", port
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("ASKFIRST_")}
        given = {"DATABASE": str(self.database), "GRACE_SECONDS": "1", **settings}
        if port is not None:
            given["HTTP__PORT"] = str(port)
        self.environment |= {f"ASKFIRST_{name}": value for name, value in given.items()}
        self.process: Forked | None = None

    async def start(self) -> None:
        with self.log.open("ab") as log:
            streams = None, None, log.fileno()
            self.process = start(["serve"], env=self.environment, cwd=self.database.parent, streams=streams)

    async def stop(self, number: int = signal.SIGTERM) -> int:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), BUSY)

    async def run(self, *arguments: str) -> tuple[int, str]:
        """Another command beside the one that serves: its exit code and what it printed."""
        ran = await asyncio.to_thread(askfirst, *arguments, cwd=self.database.parent, env=self.environment)
        return ran.code, ran.out + ran.err

    def stored(self) -> list[tuple[str, str, str]]:
        return self.rows("SELECT topic, chosen, chosen_via FROM clarification ORDER BY id")

    def all_sent(self) -> bool:
        return not self.rows("SELECT 1 FROM outbox WHERE state = 'waiting'")

    def rows(self, sql: str) -> list[Any]:
        if not self.database.exists():
            return []
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(sql).fetchall()

    async def ready(self, *, code: int = 200, telegram: str | None = None) -> dict[str, Any]:
        """The first /readyz that answers so, and names this state of Telegram."""
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", trust_env=False) as client:
            for _ in range(LOOKS):
                try:
                    answer = await client.get("/readyz", timeout=BUSY)
                    told = dict(answer.json())
                    if answer.status_code == code and telegram in (None, told.get("telegram", {}).get("state")):
                        return told
                except httpx.TransportError:
                    pass
                await asyncio.sleep(LOOK)
        raise AssertionError(f"never came: {code} of /readyz")


class Served(Serving):
    def __init__(self, server: TelegramServer, base: str, folder: Path, port: int | None) -> None:
        self.server = server
        given = {
            "TELEGRAM__TOKEN": server.token,
            "TELEGRAM__BASE_URL": base,
            "ACCESS__ALLOW": '["telegram:*"]',
        }
        if port is not None:
            given |= {"TELEGRAM__WEBHOOK_URL": f"http://127.0.0.1:{port}", "TELEGRAM__SECRET": SECRET}
        super().__init__(folder, port, given)

    def menus(self) -> dict[tuple[str, str], Any]:
        short = {"default": "default", "all_private_chats": "private", "all_group_chats": "group"}
        return {(short[scope], code): listed for (scope, code), listed in self.server.commands.items()}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


@asynccontextmanager
async def served(folder: Path, style: str, **more: Any) -> AsyncIterator[tuple[Served, Person]]:
    server = TelegramServer(WallClock(), local=True, **more)
    async with server.serve() as base:
        made = Served(server, base, folder, free_port() if style == "webhook" else None)
        delivering = asyncio.ensure_future(server.webhook.run()) if style == "webhook" else None
        try:
            yield made, server.person("Ana", username="ana_t", started=True)
        finally:
            if made.process is not None and made.process.returncode is None:
                await made.stop(signal.SIGKILL)
            if delivering is not None:
                delivering.cancel()
                await asyncio.gather(delivering, return_exceptions=True)


def mine(ana: Person) -> list[str]:
    return [m.text for m in ana.chat.messages.values() if m.mine]


def says(ana: Person, words: str) -> Callable[[], bool]:
    return lambda: any(words in text for text in mine(ana))
