"""Phrases: the lines of words that a playbook looks for, read once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from bot.core.patterns import regex
from bot.core.words import words

_MOST_STEPS = 16  # words that may be missing are tried both ways

NUMBERS = frozenset(
    """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty few couple""".split()  # noqa: SIM905
)
YEAR = regex(r"(?:19|20)\d\d")
DIGITS = regex(r"\d{1,7}k?")
SUBJECT, CLAIM = "{subject}", "{claim}"


class Step(NamedTuple):
    """One place of a phrase: any of these runs of words (or "{year}", "{number}")."""

    choices: tuple[tuple[str, ...], ...]
    optional: bool = False
    repeated: bool = False


class Phrase(NamedTuple):
    steps: tuple[Step, ...]
    ends_clause: bool = False
    begins_clause: bool = False
    in_topic: bool = False
    unless: frozenset[str] = frozenset()
    needs: tuple[frozenset[str], ...] = ()  # of each set at least one must be in `said`, or nothing can match
    starts: frozenset[str] = frozenset()  # the words that a match begins with; empty where it may be any


@lru_cache(maxsize=2048)
def phrase(line: str) -> Phrase:
    """Read one phrase. Raises ValueError when nothing could ever match it, or anything would."""
    tokens = [token for token in line.split() if not token.startswith("-")]
    barred = [token for token in line.split() if token.startswith("-")]
    if tokens in ([SUBJECT], [CLAIM]):
        return Phrase(())
    in_topic, begins, ends = tokens[:1] == ["+"], tokens[:1] == ["^"], tokens[-1:] == ["$"]
    steps: list[Step] = []
    for token in tokens[1 if in_topic or begins else 0 : -1 if ends else None]:
        optional, repeated = token.endswith("?"), token.endswith("+")
        bare = token[:-1] if optional or repeated else token
        choices = tuple(
            (choice,) if choice in ("{year}", "{number}") else tuple(w.text for w in words(choice))
            for choice in bare.split("|")
        )
        if not all(choices) or any(c in "{}?+$*^" for c in re.sub(r"\{(?:year|number)\}", "", bare)):
            raise ValueError(f'"{token}" can not be read as words, {{year}} or {{number}}')
        steps.append(Step(choices, optional, repeated))
    if len(steps) > _MOST_STEPS:
        raise ValueError(f"it is longer than {_MOST_STEPS} words; split it")
    if all(step.optional for step in steps):
        raise ValueError("it would match any text; at least one word must not be optional")
    unless = frozenset(word.text for token in barred for word in words(token.replace("|", " ")))
    needs = tuple(frozenset(choice[0] for choice in step.choices) for step in steps if not step.optional)
    return Phrase(tuple(steps), ends, begins, in_topic, unless, needs, _starts(steps))


def _starts(steps: Sequence[Step]) -> frozenset[str]:
    found: set[str] = set()
    for step in steps:
        found |= {choice[0] for choice in step.choices}
        if not step.optional:
            break
    return frozenset() if any(word.startswith("{") for word in found) else frozenset(found)


class _Sought(NamedTuple):
    """Phrases by the words of which one must be said for them to match."""

    by_word: Mapping[str, tuple[str, ...]]
    always: bool  # a subject or a claim is among them, for which there is no such word


@lru_cache(maxsize=2048)  # the phrases of a playbook are looked for again and again
def indexed(lines: tuple[str, ...]) -> _Sought:
    by_word: dict[str, tuple[str, ...]] = {}
    always = False
    for line in lines:
        if line in (SUBJECT, CLAIM):
            always = True
            continue
        for word in phrase(line).needs[0]:
            by_word[word] = (*by_word.get(word, ()), line)
    return _Sought(by_word, always)
