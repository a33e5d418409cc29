"""The words of wishes about asking: `times/`, with the kinds of `bot.core.moments.words`."""

from __future__ import annotations

from pathlib import Path

from bot.core.moments.words import LISTS, VALUES, TimeWords
from config.word_files import Kinds, read_languages

FOLDER = Path(__file__).parent / "times"


def load_times(folder: Path = FOLDER) -> TimeWords:
    """Raises PhraseFileError."""
    return TimeWords(read_languages(folder, KINDS))


def _value(_: str, said: str) -> int | None:
    return int(said) if said.removeprefix("-").isdecimal() and said.isascii() and len(said) < 7 else None


KINDS = Kinds(
    kind="kind",
    files="file of time words",
    example="ask: [ask me]",
    listed="bot/core/moments/words.py",
    lists=LISTS,
    values=VALUES,
    value=_value,
)
