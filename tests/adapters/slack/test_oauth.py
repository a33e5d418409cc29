"""Many workspaces: installed with a state, kept encrypted, renewed, and left."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from cryptography.fernet import Fernet
from starlette.applications import Starlette

from adapters.slack.installs import INSTALL, Installations, OAuthKeys
from adapters.slack.manifest import Features, manifest
from adapters.slack.places import Me
from adapters.slack.surface import Keys, SlackSurface, connect
from bot.core.step import step
from bot.outbox import Outbox
from bot.runner import Runner
from tests.adapters.slack.talking import book
from tests.fakes.clock import ManualClock
from tests.fakes.slack import SlackServer
from tests.fakes.store import FakeStore

URL = "https://bot.example.org"
KEY = Fernet.generate_key().decode()


class Many:
    """The surface as `askfirst serve` builds it, without a bot token."""

    def __init__(self, server: SlackServer, store: FakeStore, surface: SlackSurface, outbox: Outbox) -> None:
        self.server, self.store, self.surface, self.outbox = server, store, surface, outbox
        self.clock = server.clock
        self.app = Starlette(routes=[*surface.routes])
        self.browser = httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url=URL)

    async def agree(self, person: Any) -> str:
        """The address that the browser comes back to, once Slack has been agreed with."""
        begun = await self.browser.get("/slack/install")
        assert begun.status_code == 302
        return str(self.server.consent(person, begun.headers["location"]))

    async def settle(self) -> None:
        await self.server.deliver()
        await self.surface.intake.finish()
        await self.outbox.drain()


@asynccontextmanager
async def many(server: SlackServer, base_url: str, store: FakeStore, key: str = KEY) -> AsyncIterator[Many]:
    app = server.app
    oauth = OAuthKeys(app.client_id, app.client_secret, key, URL)
    connection = await connect(Keys(None, None, app.signing_secret, base_url, oauth), server.clock)
    runner = Runner(store, functools.partial(step, book=book()), server.clock)
    surface = SlackSurface(connection, store, runner, server.clock)
    outbox = Outbox(store, runner, {"slack": surface.transport}, server.clock, jitter=lambda: 1.0)
    made = Many(server, store, surface, outbox)
    server.hooks.answer_with(made.app)
    try:
        yield made
    finally:
        await made.browser.aclose()
        await connection.close()


@pytest.fixture
async def made() -> AsyncIterator[Many]:
    server = SlackServer(ManualClock(auto=True))
    server.app.use_manifest(manifest(Features(url=URL, commands=[("clarify", "x")], installs=True)))
    async with server.serve() as base_url, many(server, base_url, FakeStore()) as one:
        yield one
    server.verify()


async def installed(made: Many, name: str = "Beta") -> Any:
    """A workspace with a person in it, who has installed the app there."""
    team = made.server.workspace(name, installed=False)
    bob = made.server.person(f"Bob {name}", team=team)
    answer = await made.browser.get(await made.agree(bob))
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    return bob


async def test_two_workspaces_are_served_each_with_its_own_token(made: Many) -> None:
    bob, eve = await installed(made), await installed(made, "Gamma")
    bob.say("lit-review this")
    eve.say("lit-review this")
    await made.settle()
    for person in (bob, eve):
        shown = [m for m in person.dm.messages.values() if m.user == person.team.app.bot.id]
        assert "Literature review" in shown[-1].text
    assert {state.place.conversation.split(":")[1] for state in made.store.states.values()} == {
        bob.team.id,
        eve.team.id,
    }


async def test_tokens_are_not_readable_in_the_database(made: Many) -> None:
    bob = await installed(made)
    kept = [value for key, value in made.store.notes.items() if key.startswith(INSTALL)]
    assert len(kept) == 1
    assert bob.team.app.token not in kept[0]
    assert bob.team.app.token in Fernet(KEY).decrypt(kept[0].encode()).decode()


async def test_a_restart_knows_them_and_another_key_does_not(made: Many) -> None:
    bob = await installed(made)
    base = f"{made.server.origin}/api/"
    async with many(made.server, base, made.store) as again:
        bob.say("lit-review this")
        await again.settle()
        assert made.store.states
    other = Fernet.generate_key().decode()
    async with many(made.server, base, made.store, other) as wrong:
        assert await wrong.surface.intake.workspaces.of(bob.team.id) is None


async def test_what_did_not_begin_here_is_not_finished(made: Many) -> None:
    """The state is of this browser, works once, and ends after ten minutes."""
    team = made.server.workspace("Beta", installed=False)
    bob = made.server.person("Bob", team=team)
    back = await made.agree(bob)
    made.browser.cookies.clear()
    assert (await made.browser.get(back)).status_code == 400
    back = await made.agree(bob)
    assert (await made.browser.get(back)).status_code == 200
    assert (await made.browser.get(back)).status_code == 400
    back = await made.agree(bob)
    made.clock.advance(timedelta(minutes=11))
    assert (await made.browser.get(back)).status_code == 400
    state = parse_qs(urlsplit(await made.agree(bob)).query)["state"][0]
    assert (await made.browser.get(f"/slack/oauth?error=access_denied&state={state}")).status_code == 400
    state = parse_qs(urlsplit(await made.agree(bob)).query)["state"][0]
    assert (await made.browser.get(f"/slack/oauth?code=forged&state={state}")).status_code == 502
    assert not [key for key in made.store.notes if key.startswith("slack:state:")]


async def test_tokens_are_renewed_before_they_end(made: Many) -> None:
    """And a renewal that fails leaves the old one as long as it lasts."""
    bob = await installed(made)
    first = bob.team.app.token
    assert first.startswith("xoxe.")
    made.clock.advance(timedelta(hours=10, minutes=30))
    made.server.faults.fail("internal_error", method="oauth.v2.access")
    workspaces = made.surface.intake.workspaces
    kept = await workspaces.of(bob.team.id)
    assert kept is not None
    assert kept.client.token == first
    renewed = await workspaces.of(bob.team.id)
    assert renewed is not None
    assert renewed.client.token not in (None, first)
    made.clock.advance(timedelta(hours=9))
    bob.say("lit-review this")
    await made.settle()
    assert [m for m in bob.dm.messages.values() if m.user == bob.team.app.bot.id]


@pytest.mark.parametrize("how", ["uninstall", "revoke"])
async def test_a_workspace_that_leaves_is_forgotten(made: Many, how: str) -> None:
    """CH-7. What is still to be said there is undeliverable, and the others go on."""
    bob, eve = await installed(made), await installed(made, "Gamma")
    bob.say("lit-review this")
    await made.settle()
    getattr(made.server, how)(bob.team)
    await made.settle()
    assert await made.surface.intake.workspaces.of(bob.team.id) is None
    assert len([key for key in made.store.notes if key.startswith(INSTALL)]) == 1
    eve.say("lit-review this")
    await made.settle()
    assert [m for m in eve.dm.messages.values() if m.user == eve.team.app.bot.id]


async def test_a_late_word_of_leaving_does_not_undo_coming_back(made: Many) -> None:
    """Slack delivers again for minutes what it could not; meanwhile somebody has installed the app once more."""
    bob = await installed(made)
    gone = {"type": "event_callback", "team_id": bob.team.id, "event": {"type": "app_uninstalled"}}
    late = {**gone, "event_time": int(made.clock.now().timestamp()) - 60}
    await made.surface.intake.take(late)
    assert await made.surface.intake.workspaces.of(bob.team.id) is not None
    await made.surface.intake.take({**late, "event_time": int(made.clock.now().timestamp())})
    assert await made.surface.intake.workspaces.of(bob.team.id) is None


async def test_an_organisation_that_leaves_is_forgotten_in_all_its_workspaces(made: Many) -> None:
    installs = made.surface.intake.workspaces
    assert isinstance(installs, Installations)
    await installs._keep({"access_token": "xoxb-org"}, Me("E0ORG", "U0BOT0009", enterprise="E0ORG"))
    assert await installs.of("T0ONE", "E0ORG") is not None
    event = {"type": "app_uninstalled"}
    await made.surface.intake.take(
        {"type": "event_callback", "team_id": "T0ONE", "enterprise_id": "E0ORG", "event": event}
    )
    assert await installs.of("T0TWO", "E0ORG") is None
    assert not [key for key in made.store.notes if key.startswith(INSTALL)]
