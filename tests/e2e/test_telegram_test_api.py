"""The installed `askfirst serve` on a Bot API server that we did not write: npm's telegram-test-api.

It knows no limits, refuses nothing and forgets what was read once; error paths are tested on tests/fakes/telegram.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.installed import ASKFIRST
from tests.e2e.serving import SECRET, free_port, until

HERE = Path(__file__).parent / "emulators"
TOKEN = "123456:TEST-token-for-an-emulator"
WHY = f"{HERE}/node_modules is not there: run `npm ci` in {HERE} (node 20; `.ci/run` does it)"


def ready_or_skipped() -> None:
    """A machine without node may go without them, and is told; in CI that fails (tests/conftest.py)."""
    if not (shutil.which("node") and (HERE / "node_modules" / "telegram-test-api").is_dir()):
        pytest.skip(WHY)


class Person:
    """Somebody on the emulator's side."""

    def __init__(self, client: httpx.AsyncClient, number: int, name: str, chat: dict[str, Any] | None = None) -> None:
        self._client = client
        self._from = {"id": number, "is_bot": False, "first_name": name}
        self.chat = chat or {"id": number, "type": "private", "first_name": name}

    def _act(self, **more: Any) -> dict[str, Any]:
        return {"botToken": TOKEN, "date": int(time.time()), "from": self._from, "chat": self.chat, **more}

    async def say(self, text: str, **more: Any) -> None:
        word = text.split()[0]
        kind = {"entities": [{"type": "bot_command", "offset": 0, "length": len(word)}]} if word[0] == "/" else {}
        await self._post("sendCommand" if kind else "sendMessage", **self._act(text=text, **kind, **more))

    async def press(self, label: str) -> None:
        """A button of the newest message here that has it: by its whole label, or by the letter before the dot."""
        for shown in reversed(await self.shown()):
            rows = (shown["message"].get("reply_markup") or {}).get("inline_keyboard") or []
            for button in (b for row in rows for b in row):
                if label in (button["text"], button["text"].partition(" · ")[0]):
                    card = {
                        "message_id": shown["messageId"],
                        "date": int(time.time()),
                        "chat": self.chat,
                        "text": shown["message"]["text"],
                        "reply_markup": {"inline_keyboard": rows},
                    }
                    card |= {k: v for k, v in self._thread(shown).items() if v}
                    await self._post("sendCallback", **self._act(data=button["callback_data"], message=card))
                    return
        raise AssertionError(f"no button {label} on {[one['message'] for one in await self.shown()]}")

    def _thread(self, shown: dict[str, Any]) -> dict[str, Any]:
        thread = shown["message"].get("message_thread_id")
        return {"message_thread_id": int(thread), "is_topic_message": True} if thread else {}

    async def shown(self) -> list[dict[str, Any]]:
        """The bot's messages here, as they are drawn now."""
        answer = await self._client.post("/getUpdatesHistory", json={"token": TOKEN})
        return [
            one
            for one in answer.json()["result"]
            if str(one.get("message", {}).get("chat_id")) == str(self.chat["id"])
        ]

    async def sees(self, words: str, thread: str | None = None) -> dict[str, Any]:
        async with asyncio.timeout(30):
            while True:
                for one in reversed(await self.shown()):
                    inside = thread in (None, one["message"].get("message_thread_id"))
                    if inside and words in one["message"].get("text", ""):
                        return one
                await asyncio.sleep(0.05)

    async def _post(self, way: str, **body: Any) -> None:
        answer = await self._client.post(f"/{way}", json=body)
        assert answer.json().get("ok"), answer.text


class Emulated:
    def __init__(self, client: httpx.AsyncClient, folder: Path, port: int, style: str) -> None:
        self.client, self.database, self.log = client, folder / "askfirst.db", folder / "log"
        hook = free_port()
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("ASKFIRST_")},
            "ASKFIRST_DATABASE": str(self.database),
            "ASKFIRST_TELEGRAM__TOKEN": TOKEN,
            "ASKFIRST_TELEGRAM__BASE_URL": f"http://127.0.0.1:{port}/bot",
            "ASKFIRST_ACCESS__ALLOW": '["telegram:*"]',
            "ASKFIRST_GRACE_SECONDS": "0",
            "ASKFIRST_HTTP__PORT": str(hook),
        }
        if style == "webhook":
            self.environment |= {
                "ASKFIRST_TELEGRAM__WEBHOOK_URL": f"http://127.0.0.1:{hook}",
                "ASKFIRST_TELEGRAM__SECRET": SECRET,
            }
        self._ready = f"http://127.0.0.1:{hook}/readyz"
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                ASKFIRST, "serve", env=self.environment, stderr=log, cwd=self.database.parent
            )
        async with asyncio.timeout(30):
            while True:
                try:
                    if (await self.client.get(self._ready)).status_code == 200:
                        return
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.05)

    async def stop(self, number: int) -> int:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), 30)

    def stored(self) -> list[tuple[str, str]]:
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute("SELECT chosen, chosen_via FROM clarification ORDER BY id").fetchall()

    async def all_sent(self) -> None:
        async with asyncio.timeout(30):
            while True:
                with closing(sqlite3.connect(self.database)) as connection:
                    if not connection.execute("SELECT 1 FROM outbox WHERE state = 'waiting'").fetchone():
                        return
                await asyncio.sleep(0.05)


@asynccontextmanager
async def emulated(folder: Path, style: str) -> AsyncIterator[Emulated]:
    ready_or_skipped()
    port = free_port()
    node = await asyncio.create_subprocess_exec(
        "node",
        "telegram.cjs",
        cwd=HERE,
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.PIPE,
    )
    assert node.stdout is not None
    made = None
    try:
        assert b"listening" in await asyncio.wait_for(node.stdout.readline(), 30)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as client:
            made = Emulated(client, folder, port, style)
            yield made
    finally:
        if made is not None and made.process is not None:
            await made.stop(signal.SIGKILL)
        node.kill()
        await node.wait()


@pytest.mark.parametrize("style", ["polling", "webhook"])
async def test_a_conversation_by_typing_and_by_buttons_killed_in_the_middle(tmp_path: Path, style: str) -> None:
    async with emulated(tmp_path, style) as made:
        await made.start()
        ana = Person(made.client, 1, "Ana")
        await ana.say("I have an abstract and a set of papers.")
        await ana.sees("What shall come out of it?")
        await ana.press("b")
        await ana.sees("Literature review ·")
        await made.all_sent()
        await made.stop(signal.SIGKILL)
        await made.start()
        await ana.press("B")
        await ana.sees("✔ 1")
        await ana.say("2: A")
        await ana.sees("Still open:")
        await ana.say("/status")
        await ana.sees("2 of 5 answered")
        await made.all_sent()
        await made.stop(signal.SIGKILL)
        await made.start()
        await ana.say("accept recommendations")
        await ana.sees("Handed to")
        await made.all_sent()
        assert await made.stop(signal.SIGTERM) == 0
        stored = made.stored()
        assert [chosen for chosen, _ in stored[:2]] == ["B", "A"]
        assert {via for _, via in stored[:2]} == {"user_response"}
        assert {via for _, via in stored[2:]} == {"accept_recommendations_bulk"}
        log = made.log.read_text()
        assert TOKEN.partition(":")[2] not in log
        assert "Traceback" not in log


async def test_two_topics_of_a_group_are_two_conversations(tmp_path: Path) -> None:
    """P37: each is answered where it was said."""
    async with emulated(tmp_path, "polling") as made:
        await made.start()
        forum = {"id": -1001, "type": "supergroup", "title": "Triage", "is_forum": True}
        ana, ben = Person(made.client, 1, "Ana", forum), Person(made.client, 2, "Ben", forum)
        for who, thread in ((ana, 7), (ben, 8)):
            topic = {"message_thread_id": thread, "is_topic_message": True}
            await who.say("@askfirst_bot lit-review this", **topic)
        await ana.sees("Literature review ·")
        for thread in ("7", "8"):
            await ana.sees("Literature review ·", thread)
        await ana.say("1: B", message_thread_id=7, is_topic_message=True)
        await ben.say("1: A", message_thread_id=8, is_topic_message=True)
        await until(lambda: len(made.stored()) == 2, "both answers")
        assert sorted(chosen for chosen, _ in made.stored()) == ["A", "B"]
        await made.all_sent()
        assert {str(one["message"].get("message_thread_id")) for one in await ana.shown()} == {"7", "8"}
        assert await made.stop(signal.SIGTERM) == 0
