"""Slack as a part of `askfirst serve`, and the app as Slack has to know it, from the settings."""

from __future__ import annotations

from pydantic import SecretStr

from adapters.slack import surface as slack
from adapters.slack.installs import OAuthKeys
from adapters.slack.intake import Ways
from adapters.slack.manifest import Features, manifest
from bot.app import Program, load_book
from bot.cli.platforms import Connected, Surface
from bot.clock import SystemClock
from config.settings import BadSettings, Settings, SlackSettings


async def connect(given: SlackSettings) -> Connected:
    try:
        connection = await slack.connect(keys(given), SystemClock())
    except slack.TokenRefused as error:
        raise BadSettings(str(error)) from None

    async def build(running: Program) -> Surface:
        return slack.SlackSurface(connection, running.store, running.runner, running.clock, ways(given))

    return Connected(slack.SlackSurface.platform, connection.bot_name, build, connection.close)


def keys(given: SlackSettings) -> slack.Keys:
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


def ways(given: SlackSettings) -> Ways:
    return Ways(frozenset(given.reactions), frozenset(given.every_message), frozenset(given.trusted_apps))


def _shown(secret: SecretStr | None) -> str:
    return "" if secret is None else secret.get_secret_value()


def app(settings: Settings, url: str | None) -> dict[str, object]:
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
