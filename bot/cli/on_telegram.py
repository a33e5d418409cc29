"""Telegram as a part of `askfirst serve`, from the settings."""

from __future__ import annotations

from adapters.telegram import surface as telegram
from adapters.telegram.hook import Webhook
from adapters.telegram.menus import Menu, menus
from bot.app import Program, load_menu_words
from bot.cli.platforms import Connected, Surface
from bot.clock import SystemClock
from bot.core.book import Book
from config.settings import BadSettings, Settings, TelegramSettings


async def connect(settings: Settings) -> Connected:
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
