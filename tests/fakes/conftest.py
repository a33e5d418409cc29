"""A server on a clock that stands still, and some people."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes import slack
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Person, TelegramServer


@pytest.fixture
def server() -> Iterator[TelegramServer]:
    """Afterwards, all that the server said is held against the published types."""
    made = TelegramServer(ManualClock())
    yield made
    made.verify()


@pytest.fixture
def ana(server: TelegramServer) -> Person:
    return server.person("Ana", username="ana_t", started=True)


@pytest.fixture
def ben(server: TelegramServer) -> Person:
    return server.person("Ben")


@dataclass
class Acme:
    """A Slack workspace with Ana, Ben and a channel; our bot is in it. `client` is slack_sdk's, over HTTP."""

    server: slack.SlackServer
    clock: ManualClock
    base_url: str
    client: AsyncWebClient
    ana: slack.Person
    ben: slack.Person
    triage: slack.Channel


@pytest.fixture
async def acme() -> AsyncIterator[Acme]:
    """Afterwards nothing may have been used that the fake does not know."""
    clock = ManualClock()
    made = slack.SlackServer(clock)
    ana, ben = made.person("Ana"), made.person("Ben")
    async with made.serve() as base_url:
        client = AsyncWebClient(made.token, base_url=base_url, retry_handlers=[])
        yield Acme(made, clock, base_url, client, ana, ben, made.channel("triage", ana, ben))
    made.verify()
