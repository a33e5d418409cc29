"""Collects the transcripts in this folder and plays them on the real core."""

from __future__ import annotations

import dataclasses
import functools
from datetime import timedelta
from pathlib import Path

import pytest

from bot.app import load_book
from bot.core.book import Book
from bot.core.policies import Access
from bot.core.step import step
from bot.runner import Decide
from config.playbooks_loader import load_playbooks
from config.settings import load_settings
from tests.transcripts.play import ChatFile, add_option, collect


def pytest_addoption(parser: pytest.Parser) -> None:
    add_option(parser)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ChatFile | None:
    return collect(file_path, parent, core)


NAMES = {"terminal": "askfirst", "fake": "askfirst", "telegram": "askfirst", "slack": "askfirst"}
PLAYBOOKS = Path(__file__).parent / "playbooks"  # short ones, so that a transcript is about the conversation


@functools.cache
def bundled() -> Book:
    book = load_book(load_settings())
    return dataclasses.replace(book, playbooks=load_playbooks(PLAYBOOKS))


def core(directives: dict[str, str]) -> Decide:
    """The core as the program puts it together, open to everybody, with what the transcript asks for."""
    unknown = sorted(set(directives) - {"pack", "access"})
    if unknown:
        raise pytest.UsageError(f"no such directive: {', '.join(unknown)}")
    access = Access(allow=tuple(directives.get("access", "*").split()))
    pack = {"*": directives.get("pack", "research")}
    return functools.partial(
        step,
        book=dataclasses.replace(
            bundled(),
            access=access,
            default_pack=pack,
            default_answerers={"*": "requester"},
            bot_names=NAMES,
            tap_pause={"*": timedelta(0)},
        ),
    )
