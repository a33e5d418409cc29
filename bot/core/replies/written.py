"""A message cleaned and cut into tokens: what each of its readers begins with."""

from __future__ import annotations

from typing import NamedTuple

from bot.core.replies.clean import Clean, clean
from bot.core.replies.phrases import PhraseBook
from bot.core.replies.tokens import Token, tokenize


class Written(NamedTuple):
    """Made once for a message that several flows read (`Turn.written`)."""

    raw: str
    clean: Clean
    tokens: list[Token]


def written(text: str, book: PhraseBook, *, decoded: bool = False) -> Written:
    """`decoded`: an adapter has already decoded entities and platform tokens, so `&lt;` is what was typed."""
    cleaned = clean(text, book, decoded=decoded)
    return Written(text, cleaned, tokenize(cleaned.norm))
