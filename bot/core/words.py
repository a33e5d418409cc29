"""Text as it is compared: width, case and invisible characters folded; words cut out, whichever the script.

Scripts that write no spaces have no words to cut, so each of their characters stands alone; a phrase of them is
then found as a run of characters, and a phrase of any other script only as whole words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

# Han, Kana, Bopomofo, Thai, Lao, Khmer, Myanmar, Yi, halfwidth Kana: https://unicode.org/reports/tr14/ (SA, ID)
SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3040-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua000-\ua4cf\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_LETTER = rf"(?![{SPACELESS}])(?:[^\W_]|[\u0300-\u036f])"  # combining marks belong to their letter
_PLAIN_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*", re.ASCII)
_BLANKS = re.compile(r"\s+")


# Made when they are first needed: large character classes take milliseconds to compile.
@cache
def _word() -> re.Pattern[str]:
    return re.compile(rf"[{SPACELESS}]|(?:{_LETTER})+(?:['’](?:{_LETTER})+)*")


@cache
def _spaceless() -> re.Pattern[str]:
    return re.compile(f"[{SPACELESS}]")


class Word(NamedTuple):
    """A folded word and where it stands in the text that it was cut from."""

    text: str
    start: int
    end: int


def fold(text: str) -> str:
    """The form in which two texts are compared: NFKC, case folded, format characters dropped, blanks single."""
    if text.isascii() and text.isprintable():  # most of a pack: nothing to normalise or to drop
        return _BLANKS.sub(" ", text.lower()).strip()
    plain = unicodedata.normalize("NFKC", text)
    visible = "".join(c for c in plain if unicodedata.category(c) not in ("Cf", "Cc", "Cs") or c.isspace())
    folded = unicodedata.normalize("NFKC", visible.casefold())
    return _BLANKS.sub(" ", folded).strip()


_folded = lru_cache(maxsize=4096)(fold)  # for the phrases of playbooks, which come again and again
_folded_word = lru_cache(maxsize=256)(fold)  # a text repeats its words; those of people are not to stay in memory


def words(text: str) -> tuple[Word, ...]:
    """The words of `text`, folded one by one so that their places in the original are known."""
    if text.isascii():  # nothing invisible in it, and folding changes no length
        return tuple([Word(m.group(), m.start(), m.end()) for m in _PLAIN_WORD.finditer(text.lower())])
    return tuple(_cut(text))


def _cut(text: str) -> Iterator[Word]:
    # Folding can change lengths (ﬁ, ß), so it happens per word; only invisible characters glue words together.
    shown = "".join(" " if unicodedata.category(c) == "Cs" else c for c in text)
    joined = [(i, c) for i, c in enumerate(shown) if unicodedata.category(c) != "Cf"]
    packed = "".join(c for _, c in joined)
    for found in _word().finditer(packed):
        first, last = joined[found.start()][0], joined[found.end() - 1][0]
        yield Word(_folded_word(found.group()).replace("’", "'"), first, last + 1)


def plain_words(text: str) -> tuple[str, ...]:
    if text.isascii():
        return tuple(_PLAIN_WORD.findall(text.lower()))
    return tuple([word.text for word in words(text)])


def spaceless(text: str) -> bool:
    """Whether most letters of the text belong to scripts that are written without spaces."""
    letters = [c for c in unicodedata.normalize("NFKC", text) if c.isalnum()]
    return bool(letters) and 2 * sum(1 for c in letters if not c.isascii() and _spaceless().match(c)) > len(letters)


def contains(text: str, phrase: str) -> bool:
    """Whether the phrase stands in the text as whole words; symbols inside it ("R&D") count as written."""
    return first_of(text, (phrase,)) is not None


def first_of(text: str, phrases: Iterable[str]) -> str | None:
    """The first of the phrases that stands in the text as whole words. The text is folded once."""
    where = fold(text)
    return next((phrase for phrase in phrases if _stands_in(where, _folded(phrase))), None)


def all_of(text: str, phrases: Iterable[str]) -> list[str]:
    """Those of the phrases that stand in the text as whole words."""
    where = fold(text)
    return [phrase for phrase in phrases if _stands_in(where, _folded(phrase))]


def begins(folded: str, phrases: Iterable[str]) -> bool:
    """Whether a folded text begins with one of the phrases, as whole words."""
    return any(
        folded.startswith(phrase) and (len(folded) == len(phrase) or not _goes_on(phrase[-1], folded[len(phrase)]))
        for phrase in phrases
    )


def _goes_on(last: str, following: str) -> bool:
    return _spaced_letter(last) and following.isalnum()


def _stands_in(where: str, sought: str) -> bool:
    if not sought or sought not in where:
        return False
    before = r"(?<![^\W_])" if _spaced_letter(sought[0]) else ""
    after = r"(?![^\W_])" if _spaced_letter(sought[-1]) else ""
    return re.search(before + re.escape(sought) + after, where) is not None


def _spaced_letter(char: str) -> bool:
    return char.isalnum() and (char.isascii() or not _spaceless().match(char))
