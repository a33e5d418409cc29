"""The installed `askfirst serve` on the fake Bot API server: killed -9 in the middle, and stopped politely."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.telegram import Person, TelegramServer, WallClock

ASKFIRST = Path(sys.executable).parent / "askfirst"
SECRET = "long-random-word"


async def until(condition: Callable[[], Any], what: str) -> Any:
    async with asyncio.timeout(30):
        while not (found := condition()):  # noqa: ASYNC110 - another process brings it about
            await asyncio.sleep(0.02)
    return found


class Served:
    """One process after another on the same database."""

    def __init__(self, server: TelegramServer, base: str, folder: Path, port: int | None) -> None:
        self.server, self.database, self.log = server, folder / "askfirst.db", folder / "log"
        self.port = port
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("ASKFIRST_")},
            "ASKFIRST_DATABASE": str(self.database),
            "ASKFIRST_TELEGRAM__TOKEN": server.token,
            "ASKFIRST_TELEGRAM__BASE_URL": base,
            "ASKFIRST_ACCESS__ALLOW": '["telegram:*"]',
            "ASKFIRST_GRACE_SECONDS": "1",
        }
        if port is not None:
            self.environment |= {
                "ASKFIRST_TELEGRAM__WEBHOOK_URL": f"http://127.0.0.1:{port}",
                "ASKFIRST_TELEGRAM__SECRET": SECRET,
                "ASKFIRST_HTTP__PORT": str(port),
            }
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                ASKFIRST, "serve", env=self.environment, stderr=log, cwd=self.database.parent
            )

    async def stop(self, number: int = signal.SIGTERM) -> int:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), 30)

    def stored(self) -> list[tuple[str, str, str]]:
        if not self.database.exists():
            return []
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute("SELECT topic, chosen, chosen_via FROM clarification ORDER BY id").fetchall()

    def menus(self) -> dict[tuple[str, str], Any]:
        short = {"default": "default", "all_private_chats": "private", "all_group_chats": "group"}
        return {(short[scope], code): listed for (scope, code), listed in self.server.commands.items()}

    def all_sent(self) -> bool:
        with closing(sqlite3.connect(self.database)) as connection:
            return not connection.execute("SELECT 1 FROM outbox WHERE state = 'waiting'").fetchall()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


@asynccontextmanager
async def served(folder: Path, style: str) -> AsyncIterator[tuple[Served, Person]]:
    server = TelegramServer(WallClock(), local=True)
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


@pytest.mark.parametrize("style", ["polling", "webhook"])
async def test_a_conversation_killed_in_the_middle(tmp_path: Path, style: str) -> None:
    async with served(tmp_path, style) as (made, ana):
        await made.start()
        ana.say("I have an abstract and a set of papers.")
        await until(says(ana, "What shall come out of it?"), "the menu")
        ana.press("b")
        await until(says(ana, "Literature review"), "the round")
        # Killed before it knew that the card had arrived, it would post it again, after the words that answer it.
        await until(made.all_sent, "the round, settled")
        await made.stop(signal.SIGKILL)
        ana.say("1: B, 2: A")  # while nobody is there
        await made.start()
        await until(lambda: len(made.stored()) >= 2, "the answers")
        await made.stop(signal.SIGKILL)
        await made.start()
        ana.say("accept recommendations")
        await until(says(ana, "Handed to"), "the end")
        await until(lambda: made.server.history.of("sendDocument"), "the documents")
        assert await made.stop() == 0
        stored = made.stored()
        assert len(stored) == 5
        assert {via for _, _, via in stored} == {"user_response", "accept_recommendations_bulk"}
        assert sum("Literature review ·" in text for text in mine(ana)) == 1
        log = made.log.read_text()
        assert made.server.token.partition(":")[2] not in log
        assert SECRET not in log
        assert "Traceback" not in log


async def test_it_says_how_it_is_and_stops_when_asked(tmp_path: Path) -> None:
    async with served(tmp_path, "webhook") as (made, _):
        await made.start()
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{made.port}", trust_env=False) as client:

            async def ready() -> dict[str, Any]:
                async with asyncio.timeout(30):
                    while True:
                        try:
                            answer = await client.get("/readyz")
                        except httpx.TransportError:
                            await asyncio.sleep(0.02)
                            continue
                        if answer.status_code == 200:
                            return dict(answer.json())
                        await asyncio.sleep(0.02)

            state = await ready()
            assert state["ok"]
            assert state["telegram"]["by"] == "webhook"
            assert state["telegram"]["privacy_mode"] is True
            assert (await client.get("/healthz")).json() == {"ok": True}
            assert (await client.post("/telegram/webhook", json={})).status_code == 401
        await until(lambda: ("group", "de") in made.menus(), "the menus")
        names = [command["command"] for command in made.menus()["private", ""]]
        assert {"help", "status", "cancel", "ars_lit_review"} <= set(names)
        assert await made.stop() == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"ASKFIRST_TELEGRAM__TOKEN": ""}, "nothing to serve"),
        ({"ASKFIRST_TELEGRAM__TOKEN": "hello"}, "no bot token"),
        ({"ASKFIRST_TELEGRAM__TOKEN": "123:wrong"}, "refuses the bot token"),
        ({"ASKFIRST_TELEGRAM__WEBHOOK_URL": "https://x.example"}, "needs a secret"),
        ({"ASKFIRST_TELEGRAM__BASE_URL": "http://127.0.0.1:1"}, "end in /bot"),
    ],
)
async def test_what_can_not_work_is_said_and_never_the_token(
    tmp_path: Path, more: dict[str, str], words: str
) -> None:
    """Never with the token in it. b44: no webhook without a secret."""
    async with served(tmp_path, "polling") as (made, _):
        made.environment |= more
        await made.start()
        assert made.process is not None
        assert await asyncio.wait_for(made.process.wait(), 30) == 1
        log = made.log.read_text()
        assert words in log
        assert "Traceback" not in log
        token = made.environment["ASKFIRST_TELEGRAM__TOKEN"]
        assert not token or token not in log


async def test_a_stop_during_the_start_is_a_stop(tmp_path: Path) -> None:
    """Telegram can not be reached; the program still ends when asked to."""
    async with served(tmp_path, "polling") as (made, _):
        made.environment["ASKFIRST_TELEGRAM__BASE_URL"] = f"http://127.0.0.1:{free_port()}/bot"
        await made.start()
        await until(lambda: made.log.exists() and "telegram_unreachable" in made.log.read_text(), "a failed try")
        assert await made.stop() == 0
