from __future__ import annotations

import functools
from collections.abc import AsyncIterator

import pytest

from adapters.slack.intake import Ways
from adapters.slack.manifest import Features, manifest
from bot.core.step import step
from tests.adapters.slack.talking import Talk, book
from tests.fakes.clock import ManualClock
from tests.fakes.slack import SlackServer
from tests.fakes.slack_rig import rig

WAYS = Ways(reactions=frozenset({"question"}), every=frozenset({"C0EVERY01"}), apps=frozenset({"A0TRUST01"}))


@pytest.fixture(params=["socket", "http"])
async def talk(request: pytest.FixtureRequest) -> AsyncIterator[Talk]:
    """On both ways in. Nothing may ping a channel, and nothing may be sent that Slack refuses."""
    server = SlackServer(ManualClock(auto=True))
    server.app.use_manifest(manifest(Features(commands=[("clarify", "Clarify it")], reactions=True)))
    server.me.scopes = set(server.app.scopes)
    decide = functools.partial(step, book=book())
    async with rig(server, style=request.param, decide=decide, ways=WAYS) as made:
        yield Talk(made)
    assert not server.broadcasts
    assert not server.silent
    assert not server.sloppy
    assert not server.strays
    assert not server.unseen
