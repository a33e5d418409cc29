"""Reporting our own mistakes and lost parts: where they happened, never what people wrote."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any


class Log:
    """structlog, loaded and set up when there is something to say: it takes a twentieth of the start-up."""

    def __init__(self) -> None:
        self._set_up: Callable[[], None] | None = None

    def set_up_with(self, configure: Callable[[], None]) -> None:
        self._set_up = configure

    def __getattr__(self, level: str) -> Any:
        import structlog

        configure, self._set_up = self._set_up, None
        if configure is not None:
            configure()
        return getattr(structlog.get_logger(), level)


log = Log()


def report(what: str, error: BaseException, **facts: object) -> None:
    """Log a failure. Its message and locals stay out: both may quote people's words or hold a token."""
    log.error(what, error=type(error).__name__, trace=trace_of(error), **facts)


def trace_of(error: BaseException) -> list[str]:
    """Where an error came from, without the words in it."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
