"""Small words around the grammar: a typed yes or no, thanks after the end, a command of CH-3."""

from __future__ import annotations

from typing import Literal

from bot.core.replies.phrases import PhraseBook
from bot.core.replies.tokens import tokenize
from bot.core.routing.pack import GENERAL_COMMANDS

WITH_WORDS = ("new", "resume", "export", "settings")  # after a mention these may have words behind them
LONGEST = 60  # characters; a longer message says more than yes or thanks


def _classes(text: str, book: PhraseBook) -> list[frozenset[str]] | None:
    """The word classes along the message, or None when some word belongs to none."""
    if len(text) > LONGEST:
        return None
    tokens = tokenize(text)
    found: list[frozenset[str]] = []
    at = 0
    while at < len(tokens):
        matches = book.at(tokens, at)
        if matches:
            longest = max(length for length, _ in matches.values())
            found.append(frozenset(name for name, (length, _) in matches.items() if length == longest))
            at += longest
        elif tokens[at].kind in ("mark", "line", "para"):
            at += 1
        else:
            return None
    return found


def yes_or_no(text: str, book: PhraseBook) -> Literal["yes", "no"] | None:
    """A plain yes or no to a question of our own; anything more is neither ("accept" alone is for the round)."""
    if "?" in text or "？" in text:
        return None
    classes = _classes(text, book)
    if not classes:
        return None
    yes = no = False
    for names in classes:
        if "disagree" in names or "negate" in names:
            no = True
        elif "agree" in names:
            yes = True
        elif not names & {"polite", "filler", "lead", "all", "accept", "recommended"}:
            return None
    if yes == no:
        return None
    return "yes" if yes else "no"


def puts_off(text: str, book: PhraseBook) -> bool:
    """ "not yet", "later", and nothing else."""
    classes = _classes(text, book)
    return (
        bool(classes)
        and all(names & {"later", "put_off", "polite", "filler"} for names in classes or ())
        and any(names & {"later", "put_off"} for names in classes or ())
    )


def unsure(text: str, book: PhraseBook) -> bool:
    """ "no idea", "I don't know", and nothing else."""
    classes = _classes(text, book) or []
    named = {"unsure", "unknowing"}
    return any(names & named for names in classes) and all(
        names & (named | {"polite", "filler", "speaker", "opener"}) for names in classes
    )


def carries_on(text: str, book: PhraseBook, *, agreeing: bool = False) -> bool:
    """ "continue", "go on", "keep moving": decides nothing while a round is open (RD-6).

    `agreeing`: "ok, go on" too, where nothing is open that the "ok" could be about.
    """
    classes = _classes(text, book)
    beside = {"carry_on", "polite", "filler", *(("agree", "lead", "opener") if agreeing else ())}
    return (
        bool(classes)
        and any("carry_on" in names for names in classes or ())
        and all(names & beside for names in classes or ())
    )


def second_thought(text: str, book: PhraseBook) -> bool:
    """ "undo", "hm wait", "oops", and nothing else: it is about what has just been said, nothing new (RD-13)."""
    classes = _classes(text, book)
    return (
        bool(classes)
        and any(names & _HALTS for names in classes or ())
        and all(names & (_HALTS | {"polite", "filler"}) for names in classes or ())
    )


_HALTS = {"undo", "retract", "correct", "stop", "later", "put_off", "disagree"}


def words_of(text: str, book: PhraseBook, *classes: str) -> str | None:
    """Which one of these word classes a message consists of, beside small words; None when of none, or of two."""
    found = _classes(text, book) or []
    named = {name for names in found for name in classes if name in names}
    small = {"polite", "filler", "article", "lead", *classes}
    return named.pop() if len(named) == 1 and all(names & small for names in found) else None


def pleasantry(text: str, book: PhraseBook) -> bool:
    """Thanks, ok, a smiley, nothing at all: no request (RT-14)."""
    classes = _classes(text, book)
    return classes is not None and all(names & {"polite", "filler", "agree"} for names in classes)


def without_mention(text: str, bot_name: str | None) -> str:
    """The text without a leading mention of the bot, which is transport and no part of what is said (RT-6)."""
    head, _, rest = text.lstrip().partition(" ")
    if bot_name and head.rstrip(":,").casefold() == f"@{bot_name}".casefold():
        return rest.lstrip()
    return text


def command(text: str, bot_name: str | None, *, mentioned: bool = False) -> tuple[str, str] | None:
    """A general command and the words after it: `/help`, `!help`, `/help@bot`. None for anything else.

    `mentioned`: it followed a mention of the bot, where the bare word does the same (CH-3).
    """
    stripped = text.strip()
    if mentioned:
        first, _, rest = stripped.partition(" ")
        if first.casefold() in (GENERAL_COMMANDS if not rest else WITH_WORDS):
            return first.casefold(), rest.strip()
    if not stripped or stripped[0] not in "/!":
        return None
    head, _, rest = stripped[1:].partition(" ") if " " in stripped.split("\n", 1)[0] else stripped[1:].partition("\n")
    word, _, name = head.partition("@")
    if name and bot_name and name.casefold() != bot_name.casefold():
        return None
    word = word.casefold()
    return (word, rest.strip()) if word in GENERAL_COMMANDS else None
