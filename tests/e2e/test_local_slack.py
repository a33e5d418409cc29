"""The installed `askfirst serve` on a Slack that we did not write: npm's local-slack, over the socket and by HTTP.

It knows no limits, refuses nothing and never sends twice; error paths are tested on tests/fakes/slack.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.e2e.installed import ASKFIRST
from tests.e2e.serving import free_port

HERE = Path(__file__).parent / "emulators"
PROGRAM = HERE / "node_modules" / "local-slack-linux-x64" / "bin" / "local-slack"
WHY = f"{PROGRAM} is not there: run `npm ci` in {HERE} (`.ci/run` does it)"
BOT, ALICE, CHANNEL = "U0BOT", "U01ALICE", "C01GEN"


def ready_or_skipped() -> str:
    """The C compiler. In CI this is no option; elsewhere a machine without it may go on, and is told."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if PROGRAM.is_file() and compiler is not None:
        return compiler
    why = WHY if not PROGRAM.is_file() else "no C compiler: it keeps local-slack on 127.0.0.1 (loopback.c)"
    if os.environ.get("ASKFIRST_EMULATORS"):
        pytest.fail(why)
    pytest.skip(why)


async def kept_on_loopback(compiler: str, folder: Path) -> dict[str, str]:
    """local-slack binds to every address and can not be told otherwise: the environment that changes that."""
    library = folder / "loopback.so"
    build = (compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(HERE / "loopback.c"), "-ldl")
    built = await asyncio.create_subprocess_exec(*build)
    assert await built.wait() == 0
    return {**os.environ, "LD_PRELOAD": str(library)}


def bound_to(port: int) -> set[str]:
    """The addresses that something listens on at this port, as the kernel has them in hex."""
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    local = [row[1].partition(":") for row in rows if len(row) > 3 and row[3] == "0A"]
    return {address for address, _, number in local if int(number, 16) == port}


class LocalSlack:
    """What people do, and what they see."""

    def __init__(self, session: aiohttp.ClientSession, base: str, database: Path) -> None:
        self._session, self.base, self._database = session, base, database

    async def act(self, what: str, **how: Any) -> Any:
        async with self._session.post(f"{self.base}/_control/{what}", json=how) as answer:
            return await answer.json()

    async def say(self, text: str, thread: str | None = None) -> None:
        more = {} if thread is None else {"thread_ts": thread}
        await self.act("message", user=ALICE, channel=CHANNEL, text=text, **more)

    async def messages(self) -> list[dict[str, Any]]:
        async with self._session.get(f"{self.base}/_control/messages/{CHANNEL}") as answer:
            return list((await answer.json())["messages"])

    async def come(self, words: str) -> dict[str, Any]:
        """The newest message of ours with these words."""
        async with asyncio.timeout(30):
            while True:
                mine = [m for m in await self.messages() if m.get("user") != ALICE and words in m.get("text", "")]
                if mine:
                    return mine[-1]
                await asyncio.sleep(0.05)

    async def press(self, label: str, message: dict[str, Any]) -> None:
        found = [
            (block, element)
            for block in message["blocks"]
            if block["type"] == "actions"
            for element in block["elements"]
            if element["text"]["text"].startswith(label)
        ]
        block, element = found[0]
        action = {"type": "button", "block_id": block["block_id"]} | {k: element[k] for k in ("action_id", "value")}
        await self.act("interact", user=ALICE, channel=CHANNEL, messageTs=message["ts"], action=action)

    async def called(self, method: str) -> None:
        """Until the program has called this method."""
        async with asyncio.timeout(30):
            while True:
                async with self._session.get(f"{self.base}/_control/log") as answer:
                    if method in await answer.text():
                        return
                await asyncio.sleep(0.05)

    async def send_form(self, values: dict[str, Any]) -> None:
        """Modals are sent over the page's own socket."""
        async with self._session.ws_connect(f"{self.base.replace('http', 'ws')}/ui") as socket:
            await socket.receive_json()
            await socket.send_json({"t": "view_submit", "user": ALICE, "values": values})
            await socket.receive()  # its answer: until then the page would not close the form

    async def stored(self, count: int) -> list[tuple[str, str, str]]:
        async with asyncio.timeout(30):
            while True:
                with closing(sqlite3.connect(self._database)) as connection:
                    rows = connection.execute("SELECT question, chosen, chosen_via FROM clarification ORDER BY id")
                    found = rows.fetchall()
                if len(found) >= count:
                    return found
                await asyncio.sleep(0.05)


@asynccontextmanager
async def local_slack(folder: Path, style: str) -> AsyncIterator[LocalSlack]:
    compiler = ready_or_skipped()
    port, ours = free_port(), free_port()
    app = {"appId": "A01APP", "botUserId": BOT, "botName": "askfirst", "botToken": "xoxb-test-token"}
    app |= {"appToken": "xapp-test-token", "signingSecret": "test-signing-secret", "mode": style}
    if style == "events":
        app["requestUrl"] = f"http://127.0.0.1:{ours}/slack/events"
    config = {
        "workspace": {"name": "Test", "domain": "test", "teamId": "T01TEST"},
        "apps": [app],
        "users": [{"id": ALICE, "name": "alice", "real_name": "Alice", "email": "alice@example.com"}],
        "channels": [{"id": CHANNEL, "name": "general", "members": [ALICE, BOT]}],
    }
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ASKFIRST_")}
    environment |= {
        "ASKFIRST_DATABASE": str(folder / "askfirst.db"),
        "ASKFIRST_SLACK__BOT_TOKEN": app["botToken"],
        "ASKFIRST_SLACK__SIGNING_SECRET": app["signingSecret"],
        "ASKFIRST_SLACK__BASE_URL": f"http://127.0.0.1:{port}/api/",
        "ASKFIRST_ACCESS__ALLOW": '["slack:*"]',
        "ASKFIRST_GRACE_SECONDS": "0",
        "ASKFIRST_PACK": "research",
        "ASKFIRST_HTTP__PORT": str(ours),
    }
    if style == "socket":
        environment["ASKFIRST_SLACK__APP_TOKEN"] = app["appToken"]
    run = (str(PROGRAM), "--config", str(folder / "config.json"), "--port", str(port), "--base-host", "127.0.0.1")
    alone = await kept_on_loopback(compiler, folder)
    with (folder / "log").open("ab") as log:
        theirs = await asyncio.create_subprocess_exec(*run, stdout=log, stderr=log, cwd=folder, env=alone)
        async with aiohttp.ClientSession() as session:
            mine = await asyncio.create_subprocess_exec(ASKFIRST, "serve", env=environment, stderr=log, cwd=folder)
            try:
                await _answers(session, f"http://127.0.0.1:{port}/_control/state")
                assert bound_to(port) <= {"0100007F", "0000000000000000FFFF00000100007F"}, "open to the network"
                await _answers(session, f"http://127.0.0.1:{ours}/readyz")
                yield LocalSlack(session, f"http://127.0.0.1:{port}", folder / "askfirst.db")
                mine.send_signal(signal.SIGTERM)
                assert await asyncio.wait_for(mine.wait(), 30) == 0
            finally:
                for process in (mine, theirs):
                    if process.returncode is None:
                        process.kill()
                    await process.wait()


async def _answers(session: aiohttp.ClientSession, url: str) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                async with session.get(url) as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("style", ["socket", "events"])
async def test_an_intake_by_mention_press_form_and_words(tmp_path: Path, style: str) -> None:
    async with local_slack(tmp_path, style) as slack:
        await slack.say(f"<@{BOT}> lit-review this")
        card = await slack.come("Literature review")
        root = card["thread_ts"]
        await slack.press("B", card)
        assert [row[1:] for row in await slack.stored(1)] == [("B", "user_response")]
        card = await slack.come("✔ 1")
        await slack.press("Answer in a form", card)
        await slack.called("views.open")
        option = {"type": "radio_buttons", "selected_option": {"value": "A"}}
        await slack.send_form({"q2.pick": {"pick": option}})
        assert (await slack.stored(2))[1][1:] == ("A", "user_response")
        await slack.say("accept recommendations", root)
        await slack.come("Handed to")
        assert {m["thread_ts"] for m in await slack.messages() if m.get("user") != ALICE} == {root}
        kinds = {via for _, _, via in await slack.stored(3)}
        assert kinds == {"user_response", "accept_recommendations_bulk"}
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log
    assert "xoxb-test-token" not in log
