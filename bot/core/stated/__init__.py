"""What a request already says, by the phrases of a playbook (RD-5). Never invents: when in doubt, it says nothing.

A phrase is a line of words:

    papers|studies published? since {year}      one of several words; a word that may be missing; a year
    {number} words                              digits, "5,000", "5k", or a number up to twenty in words
    only? pubmed|scopus+                        one or several of these, listed with commas or "and"
    last five years $                           only at the end of a clause
    ^ last five years $                         only at its beginning: after a comma, or after a topic
    + in apa 7? style|format                    counts inside a topic too ("a paper on sleep in APA style")
    about {number} words -abstract              not where the sentence also says "abstract"
    {subject}                                   what the text shall be about, named in any of the usual ways
    {claim}                                     what shall be checked: "fact-check this: …"

A match counts unless its sentence negates it, doubts it, asks it, or names it as the topic of a text.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.own_words import own_words
from bot.core.stated.matching import Match, matches
from bot.core.stated.named import claimed, subject
from bot.core.stated.phrases import CLAIM, SUBJECT, indexed, phrase
from bot.core.stated.sentences import sentences

__all__ = ["CLAIM", "SUBJECT", "Statement", "phrase"]


class Statement:
    """A request, read once, to be searched for many phrases."""

    def __init__(self, text: str) -> None:
        self.text = text
        parts = own_words(text)
        self.pasted, self.introduced = parts.pasted, parts.introduced
        own, self._claim = claimed(parts.own, text)
        self._sentences = tuple(sentences(own))
        self._said = frozenset[str]().union(*(sentence.said for sentence in self._sentences))
        self._found: dict[str, tuple[Match, ...]] = {}  # by phrase: each is looked for with others, and alone

    def may_hold(self, phrases: Sequence[str]) -> bool:
        """Whether any of the phrases may match: an exact and quick "no"."""
        sought = indexed(tuple(phrases))
        return sought.always or not sought.by_word.keys().isdisjoint(self._said)

    def find(self, phrases: Sequence[str]) -> tuple[Match, ...]:
        """Every match of the phrases; of those that overlap only the longest."""
        sought = indexed(tuple(phrases))
        lines = {line for word in self._said for line in sought.by_word.get(word, ())}
        if not lines and not sought.always:
            return ()
        found = [match for line in lines for match in self._of(line)]
        if SUBJECT in phrases:
            found += subject(self.text, self._sentences)
        if CLAIM in phrases and self._claim is not None:
            found.append(self._claim)
        found.sort(key=lambda m: (m.start - m.end, m.start))
        kept: list[Match] = []
        for match in found:
            if all(match.end <= other.start or other.end <= match.start for other in kept):
                kept.append(match)
        return tuple(sorted(kept))

    def _of(self, line: str) -> tuple[Match, ...]:
        known = self._found.get(line)
        if known is None:
            sought = phrase(line)
            known = self._found[line] = tuple(m for s in self._sentences for m in matches(s, sought))
        return known
