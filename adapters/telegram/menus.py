"""The menu of commands, by scope and by the language of the person's Telegram.

Set only where it has changed since the last time: there are dozens of menus, and each is a call.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import structlog
from telegram import (
    Bot,
    BotCommand,
    BotCommandScope,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeDefault,
)
from telegram.error import RetryAfter, TelegramError

from adapters.telegram.cards import Keeping
from adapters.telegram.places import PLATFORM
from bot.ports import Clock

MAX_COMMANDS = 100  # in a menu: core.telegram.org/bots/api#setmycommands
MAX_NAME, MAX_WORDS = 32, 256
Scope = Literal["default", "private", "group"]
SCOPES: Mapping[Scope, BotCommandScope] = {
    "default": BotCommandScopeDefault(),
    "private": BotCommandScopeAllPrivateChats(),
    "group": BotCommandScopeAllGroupChats(),
}

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Menu:
    """`language`: two letters, or "" for everybody whose own language has no menu."""

    scope: Scope
    language: str
    commands: tuple[tuple[str, str], ...]


def menus(general: Mapping[str, Mapping[str, str]], workflows: Sequence[tuple[str, str]]) -> list[Menu]:
    """`general`: words by command by language, `en` for all the others; `workflows`: command and title.

    Telegram knows no hyphens in commands, so they are written with underscores. In chats of neither kind (before a
    person has begun) only the general ones are shown.
    """
    own = [(name.replace("-", "_")[:MAX_NAME], words[:MAX_WORDS] or name) for name, words in workflows]
    made = []
    for language in ("", *(code for code in sorted(general) if code != "en")):
        words = tuple(general[language or "en"].items())
        made.append(Menu("default", language, words[:MAX_COMMANDS]))
        made += [Menu(scope, language, (*words, *own)[:MAX_COMMANDS]) for scope in ("private", "group")]
    return made


async def set_menus(bot: Bot, me: int, store: Keeping, clock: Clock, wanted: Sequence[Menu]) -> None:
    """Bring Telegram's menus up to date. Nothing depends on it: a failure ends it until the next start."""
    prefix = f"{PLATFORM}:menu:{me}:"
    kept = dict(await store.kept(prefix))
    try:
        for menu in wanted:
            key = f"{prefix}{menu.scope}:{menu.language}"
            sum_ = hashlib.sha256(json.dumps(menu.commands).encode()).hexdigest()[:16]
            if kept.pop(key, None) != sum_:
                await _patiently(bot, clock, menu)
                await store.keep(key, sum_)
        for key in kept:  # of a language or a version that is no more
            scope, _, language = key.removeprefix(prefix).partition(":")
            where = next((of for name, of in SCOPES.items() if name == scope), SCOPES["default"])
            await bot.delete_my_commands(scope=where, language_code=language or None)
            await store.keep(key, None)
    except TelegramError as error:
        log.warning("menus_not_set", error=type(error).__name__)


async def _patiently(bot: Bot, clock: Clock, menu: Menu) -> None:
    commands = [BotCommand(name, words) for name, words in menu.commands]
    scope, language = SCOPES[menu.scope], menu.language or None
    try:
        await bot.set_my_commands(commands, scope=scope, language_code=language)
    except RetryAfter as error:
        wait = error.retry_after
        await clock.sleep(wait.total_seconds() if isinstance(wait, timedelta) else wait)
        await bot.set_my_commands(commands, scope=scope, language_code=language)
