"""The platforms of `askfirst serve`: connected first, built into the program once the store is open."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import SecretStr
from starlette.routing import BaseRoute

from adapters.slack import surface as slack
from adapters.slack.installs import OAuthKeys
from adapters.slack.intake import Ways
from adapters.slack.manifest import Features, manifest
from adapters.telegram import surface as telegram
from adapters.telegram.hook import Webhook
from adapters.telegram.menus import Menu, menus
from bot.app import Program, load_book, load_menu_words
from bot.clock import SystemClock
from bot.core.book import Book
from bot.pace import Pace
from bot.ports import Fetcher, Transport
from config.settings import BadSettings, Settings, SlackSettings, TelegramSettings

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
    """Those that have a token, by name."""
    found: dict[str, Connect] = {}
    if settings.telegram.token is not None:
        found[telegram.TelegramSurface.platform] = lambda: _telegram(settings)
    if wants_slack(settings):
        found[slack.SlackSurface.platform] = lambda: _slack(settings.slack)
    if not found:
        raise BadSettings(NOTHING)
    return found


def wants_slack(settings: Settings) -> bool:
    return settings.slack.bot_token is not None or settings.slack.client_id is not None


# -- Telegram ------------------------------------------------------------------------------------------------------


async def _telegram(settings: Settings) -> Connected:
    given = settings.telegram
    assert given.token is not None
    try:
        connection = await telegram.connect(given.token.get_secret_value(), given.base_url, SystemClock())
    except telegram.TokenRefused as error:
        raise BadSettings(str(error)) from None

    async def build(running: Program) -> Surface:
        surface = telegram.TelegramSurface(
            connection, running.store, running.runner, running.clock, webhook(given), running.pacer
        )
        await surface.prepare(_menus(settings, running.book))
        return surface

    return Connected(telegram.TelegramSurface.platform, connection.me.username, build, connection.close)


def webhook(given: TelegramSettings) -> Webhook | None:
    if given.webhook_url is None or given.secret is None:
        return None
    return Webhook(given.webhook_url, given.secret.get_secret_value())


def _menus(settings: Settings, book: Book) -> list[Menu]:
    """The general commands in every language, and those of the workflows that places begin with."""
    workflows = book.pack_for(telegram.TelegramSurface.platform, None).workflows
    return menus(load_menu_words(settings), [(w.commands[0], w.title) for w in workflows if w.commands])


# -- Slack ---------------------------------------------------------------------------------------------------------


async def _slack(given: SlackSettings) -> Connected:
    try:
        connection = await slack.connect(slack_keys(given), SystemClock())
    except slack.TokenRefused as error:
        raise BadSettings(str(error)) from None

    async def build(running: Program) -> Surface:
        return slack.SlackSurface(connection, running.store, running.runner, running.clock, slack_ways(given))

    return Connected(slack.SlackSurface.platform, connection.bot_name, build, connection.close)


def slack_keys(given: SlackSettings) -> slack.Keys:
    oauth = None
    if given.client_id is not None and given.public_url is not None:
        oauth = OAuthKeys(given.client_id, _shown(given.client_secret), _shown(given.token_key), given.public_url)
    return slack.Keys(
        _shown(given.bot_token) or None,
        _shown(given.app_token) or None,
        _shown(given.signing_secret) or None,
        given.base_url,
        oauth,
    )


def slack_ways(given: SlackSettings) -> Ways:
    return Ways(frozenset(given.reactions), frozenset(given.every_message), frozenset(given.trusted_apps))


def _shown(secret: SecretStr | None) -> str:
    return "" if secret is None else secret.get_secret_value()


def slack_app(settings: Settings, url: str | None) -> dict[str, object]:
    """The manifest for what the settings switch on. `url`: where Slack reaches us; None = by socket."""
    book, given = load_book(settings), settings.slack
    url = url or (given.public_url if given.app_token is None else None)
    workflows = book.pack_for(slack.SlackSurface.platform, None).workflows
    commands = [(word, workflow.title) for workflow in workflows for word in workflow.commands[:1]]
    return manifest(
        Features(
            url=url, commands=commands, reactions=bool(settings.slack.reactions), installs=given.client_id is not None
        )
    )
