"""Rounds that the tests of the reader use, and the shipped phrases, read once."""

from __future__ import annotations

from bot.core.replies.reading import Slot
from config.phrases_loader import load_phrases

BOOK = load_phrases()


def four() -> list[Slot]:
    """Four choice questions A to D, D being Other; recommended B, A, B, C."""
    return [Slot(number=n, letters=tuple("ABCD"), other="D", recommended="BABC"[n - 1]) for n in range(1, 5)]


def three() -> list[Slot]:
    """Three choice questions A to D; recommended B, A, C."""
    return [Slot(number=n, letters=tuple("ABCD"), other="D", recommended="BAC"[n - 1]) for n in range(1, 4)]
