"""The installed `askfirst serve` for many workspaces: installed by a browser, left, revoked, installed again."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from cryptography.fernet import Fernet

from adapters.slack.manifest import Features, manifest
from tests.e2e.serving import SLOWER, Serving, free_port, until
from tests.fakes.slack import Person, SlackServer, WallClock

URL = "https://bot.example.org"  # a proxy's, in front of the program


class Served(Serving):
    def __init__(self, server: SlackServer, base: str, folder: Path) -> None:
        self.server = server
        server.slower = SLOWER
        port = free_port()
        server.app.use_manifest(manifest(Features(url=URL, installs=True)))
        server.hooks.url = f"http://127.0.0.1:{port}/slack/events"
        given = {
            "SLACK__CLIENT_ID": server.app.client_id,
            "SLACK__CLIENT_SECRET": server.app.client_secret,
            "SLACK__TOKEN_KEY": Fernet.generate_key().decode(),
            "SLACK__PUBLIC_URL": URL,
            "SLACK__SIGNING_SECRET": server.app.signing_secret,
            "SLACK__BASE_URL": base,
            "ACCESS__ALLOW": '["slack:*"]',
            "PACK": "research",
        }
        super().__init__(folder, port, given)

    async def install(self, person: Person) -> None:
        """As the browser does it: to Slack with a state, and back with a code."""
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", trust_env=False) as browser:
            begun = await browser.get("/slack/install")
            back = urlsplit(self.server.consent(person, begun.headers["location"]))
            cookie = begun.headers["set-cookie"].partition(";")[0]  # marked as secure: the proxy ends the https
            done = await browser.get(f"{back.path}?{back.query}", headers={"cookie": cookie})
            assert (begun.status_code, done.status_code) == (302, 200)

    def installed(self) -> set[str]:
        return {name.rpartition(":")[2] for (name,) in self.rows("SELECT key FROM kept WHERE key LIKE '%:install:%'")}

    def logs(self, words: str) -> Callable[[], bool]:
        return lambda: words in self.log.read_text()


def told(person: Person) -> list[str]:
    app: Any = person.team.app
    return [m.text for m in person.dm.messages.values() if m.user == app.bot.id]


async def test_workspaces_come_and_go(tmp_path: Path) -> None:
    """CH-7. A workspace that has let go of the app is not spoken to; its answers stay; the others notice nothing."""
    server = SlackServer(WallClock())
    async with server.serve() as base:
        made = Served(server, base, tmp_path)
        delivering = asyncio.ensure_future(server.outgoing.run())
        bob = server.person("Bob", team=server.workspace("Beta", installed=False))
        eve = server.person("Eve", team=server.workspace("Gamma", installed=False))
        try:
            await made.start()
            await made.ready()
            for person in (bob, eve):
                await made.install(person)
                person.say("lit-review this")
            await until(lambda: told(bob) and told(eve), "a round in each")
            await until(made.all_sent, "the rounds, settled")
            echo = server.faults.hold(method="chat.postMessage", channel=bob.dm)
            bob.say("1: B")
            await echo.reached()
            server.uninstall(bob.team)
            server.revoke(eve.team)
            await until(lambda: not made.installed(), "both are forgotten")
            echo.open()
            await until(made.all_sent, "the echo, given up")
            assert len(made.stored()) == 1
            calls = len(server.calls)

            await made.stop(signal.SIGKILL)
            await made.start()
            await made.ready()
            await made.install(eve)
            eve.say("1: B")
            await until(lambda: len(made.stored()) == 2, "an answer in the workspace that came back")
            assert made.installed() == {eve.team.id}
            assert not [call for call in server.calls[calls:] if call.answer.get("ok") is False]
            assert await made.stop() == 0
        finally:
            if made.process is not None and made.process.returncode is None:
                await made.stop(signal.SIGKILL)
            delivering.cancel()
            await asyncio.gather(delivering, return_exceptions=True)
    server.verify()
    log = made.log.read_text()
    assert log.count("slack_uninstalled") == 2
    assert "slack_other_workspace" not in log
    assert "Traceback" not in log
    for app in (bob.team.app, eve.team.app):
        assert app is not None
        assert app.token not in log
