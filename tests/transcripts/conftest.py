"""Collects the transcripts in this folder and plays them on the real core."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.runner import Decide
from tests.transcripts.play import ChatFile, add_option, collect


def pytest_addoption(parser: pytest.Parser) -> None:
    add_option(parser)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ChatFile | None:
    return collect(file_path, parent, core)


def core(directives: dict[str, str]) -> Decide:
    """The core as the program puts it together, open to everybody, with what the transcript asks for."""
    import functools

    from bot.app import load_book
    from bot.core.policies import Access
    from bot.core.step import step
    from config.settings import load_settings

    unknown = sorted(set(directives) - {"pack", "access"})
    if unknown:
        raise pytest.UsageError(f"no such directive: {', '.join(unknown)}")
    book = load_book(load_settings(pack=directives.get("pack")))
    access = Access(allow=tuple(directives.get("access", "*").split()))
    return functools.partial(step, book=book.model_copy(update={"access": access}))
