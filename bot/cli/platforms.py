"""The platforms of `askfirst serve`: connected first, built into the program once the store is open."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from starlette.routing import BaseRoute

from bot.app import Program
from bot.pace import Pace
from bot.ports import Fetcher, Transport
from config.settings import BadSettings, Settings

NOTHING = (
    "there is nothing to serve: set ASKFIRST_TELEGRAM__TOKEN to the token of a Telegram bot, "
    "or ASKFIRST_SLACK__BOT_TOKEN to that of a Slack app."
)


class Surface(Protocol):
    """A platform as a part of the program."""

    platform: str
    pace: Pace
    alone: bool  # whether the platform gives what people do to one listener only

    @property
    def transport(self) -> Transport: ...

    @property
    def files(self) -> Fetcher | None: ...

    @property
    def routes(self) -> Sequence[BaseRoute]: ...

    async def run(self) -> None:
        """Take in what people do, until cancelled."""
        ...

    async def finish(self) -> None: ...

    def status(self) -> Mapping[str, object]: ...


@dataclass(frozen=True, slots=True)
class Connected:
    """A platform that has answered. `bot_name`: how mentions of the bot read there."""

    platform: str
    bot_name: str
    build: Callable[[Program], Awaitable[Surface]]
    close: Callable[[], Awaitable[None]]


Connect = Callable[[], Awaitable[Connected]]


def wanted(settings: Settings) -> dict[str, Connect]:
    """Those that have a token, by name. Others' libraries are not loaded: each is a fifth of the start and memory."""
    found: dict[str, Connect] = {}
    if settings.telegram.token is not None:
        from bot.cli import on_telegram

        found["telegram"] = lambda: on_telegram.connect(settings)
    if wants_slack(settings):
        from bot.cli import on_slack

        found["slack"] = lambda: on_slack.connect(settings.slack)
    if not found:
        raise BadSettings(NOTHING)
    return found


def wants_slack(settings: Settings) -> bool:
    return settings.slack.bot_token is not None or settings.slack.client_id is not None
