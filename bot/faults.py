"""Reporting our own mistakes and lost parts: where they happened, never what people wrote."""

from __future__ import annotations

import traceback

import structlog

log = structlog.get_logger(__name__)


def report(what: str, error: BaseException, **facts: object) -> None:
    """Log a failure. Its message and locals stay out: both may quote people's words or hold a token."""
    log.error(what, error=type(error).__name__, trace=trace_of(error), **facts)


def trace_of(error: BaseException) -> list[str]:
    """Where an error came from, without the words in it."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
