"""A server on a clock that stands still, and some people."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

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
