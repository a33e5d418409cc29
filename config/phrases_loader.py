"""The words of the reply reader: `phrases/`, with the word classes of `bot.core.replies.phrases`."""

from __future__ import annotations

from pathlib import Path

from bot.core.replies.phrases import TEXT_CLASSES, VALUE_CLASSES, WORD_CLASSES, PhraseBook
from config.word_files import Kinds, read_languages

FOLDER = Path(__file__).parent / "phrases"


def load_phrases(folder: Path = FOLDER) -> PhraseBook:
    """Raises PhraseFileError."""
    return PhraseBook(read_languages(folder, KINDS))


def _value(name: str, said: str) -> int | str | None:
    if said.isascii() and said.isdigit() and 0 < int(said) < 1000:
        return int(said)
    return said.upper() if name == "spoken" and len(said) == 1 and "A" <= said.upper() <= "Z" else None


KINDS = Kinds(
    kind="word class",
    files="phrase file",
    example="skip: [skip, pass]",
    listed="bot/core/replies/phrases.py",
    lists={*WORD_CLASSES, *TEXT_CLASSES},
    values=VALUE_CLASSES,
    value=_value,
)
