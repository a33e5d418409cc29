"""Small words around the grammar: a typed yes or no, thanks after the end, a command of CH-3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bot.core.replies.phrases import PhraseBook
from bot.core.replies.tokens import Token, tokenize
from bot.core.routing.pack import GENERAL_COMMANDS

WITH_WORDS = ("new", "resume", "export", "settings")  # after a mention these may have words behind them
LONGEST = 60  # characters; a longer message says more than yes or thanks


_SMALL = frozenset(("polite", "filler"))
_AROUND_PLACE = _SMALL | {"article", "option", "lead", "suffix"}
_OPTIONS = frozenset("ABCDE")
_AGREEING = _SMALL | {"agree", "lead"}
_DENYING = frozenset(("disagree", "negate"))
_ANSWERING = _DENYING | {"agree"}
_PUTS_OFF = frozenset(("later", "put_off"))
_UNSURE = frozenset(("unsure", "unknowing"))
_HALTS = _PUTS_OFF | {"undo", "retract", "correct", "stop", "disagree"}


def _classes(text: str, book: PhraseBook, known: frozenset[str]) -> list[frozenset[str]] | None:
    """The word classes along the message, or None when some word belongs to none of those `known`."""
    if len(text) > LONGEST:
        return None
    tokens = tokenize(text)
    found: list[frozenset[str]] = []
    at = 0
    while at < len(tokens):
        matches = book.at(tokens, at)
        if matches:
            longest = max(length for length, _ in matches.values())
            names = frozenset(name for name, (length, _) in matches.items() if length == longest)
            if known.isdisjoint(names) or (longest == 1 and _picks(text, tokens, at, names)):
                return None
            found.append(names)
            at += longest
        elif tokens[at].kind in ("mark", "line", "para"):
            at += 1
        else:
            return None
    return found


def _picks(text: str, tokens: Sequence[Token], at: int, names: frozenset[str]) -> bool:
    """Whether a letter that some language has as a small word may be an option: "ok A", "take A", "nimm a"."""
    letter = text[tokens[at].start : tokens[at].end]
    last = at + 1 == len(tokens)
    return names.isdisjoint(_ANSWERING) and (letter in _OPTIONS or (last and letter.upper() in _OPTIONS))


def yes_or_no(text: str, book: PhraseBook) -> Literal["yes", "no"] | None:
    """A plain yes or no to a question of our own; anything more is neither ("accept" alone is for the round)."""
    if "?" in text or "？" in text:
        return None
    classes = _classes(text, book, _AGREEING | _DENYING | {"all", "accept", "recommended"}) or ()
    no = any(names & _DENYING for names in classes)
    yes = any("agree" in names and not names & _DENYING for names in classes)
    if yes == no:
        return None
    return "yes" if yes else "no"


def puts_off(text: str, book: PhraseBook) -> bool:
    """ "not yet", "ok, later", and nothing else."""
    return any(names & _PUTS_OFF for names in _classes(text, book, _PUTS_OFF | _SMALL | {"agree"}) or ())


def unsure(text: str, book: PhraseBook) -> bool:
    """ "no idea", "I don't know", and nothing else."""
    known = _UNSURE | _SMALL | {"speaker", "opener"}
    return any(names & _UNSURE for names in _classes(text, book, known) or ())


def carries_on(text: str, book: PhraseBook, *, agreeing: bool = False) -> bool:
    """ "continue", "go on", "keep moving": decides nothing while a round is open (RD-6).

    `agreeing`: "ok, go on" too, where nothing is open that the "ok" could be about.
    """
    beside = _AGREEING | {"opener"} if agreeing else _SMALL
    return any("carry_on" in names for names in _classes(text, book, beside | {"carry_on"}) or ())


def second_thought(text: str, book: PhraseBook) -> bool:
    """ "undo", "hm wait", "oops", and nothing else: it is about what has just been said, nothing new (RD-13)."""
    return any(names & _HALTS for names in _classes(text, book, _HALTS | _SMALL) or ())


def words_of(text: str, book: PhraseBook, *classes: str) -> str | None:
    """Which one of these word classes a message consists of, beside small words; None when of none, or of two."""
    found = _classes(text, book, _SMALL | {"article", "lead", *classes}) or ()
    named = {name for names in found for name in classes if name in names}
    return named.pop() if len(named) == 1 else None


def place_of(text: str, book: PhraseBook) -> int:
    """The place in a list, where that is all a message says: "the second one", "2nd please". Else 0."""
    if len(text) > LONGEST:
        return 0
    tokens = tokenize(text)
    places: set[int] = set()
    at = 0
    while at < len(tokens):
        found = book.at(tokens, at) or {}
        named = found.get("ordinal") or found.get("last")
        beside = [length for name, (length, _) in found.items() if name in _AROUND_PLACE]
        if named is not None:
            places.add(named[1])
            at += named[0]
        elif beside or tokens[at].kind in ("mark", "line", "para"):
            at += max(beside, default=1)
        else:
            return 0
    return places.pop() if len(places) == 1 else 0


def pleasantry(text: str, book: PhraseBook) -> bool:
    """Thanks, ok, a smiley, nothing at all: no request (RT-14)."""
    return _classes(text, book, _SMALL | {"agree"}) is not None


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
