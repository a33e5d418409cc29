"""Second stage: the cleaned text becomes tokens.

    token := num | word | char | mark | line | para | mention | opaque

`num` is a run of digits, `word` a run of letters of one spaced script, `char` one character of an unspaced or
particle-gluing script (Han, kana, Hangul), `mark` one sign or arrow, `line` a line break, `para` a blank line.
`opaque` is anything whose digits and letters never count: addresses, paths, dates, times, decimals, `10,000`,
`25 %`. A number glued to letters is two tokens (`1A`), and `fold` is what phrases are compared by: case, accents
and apostrophes do not matter to somebody typing on a phone.

Every alternative of the pattern is bounded or excludes its own terminator, so that the stage is linear in the
length of the message. A number or word that what follows it shows to be nothing else is taken before the longer
alternatives are tried.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Final, NamedTuple

_CJK: Final = "\u3005\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_MARKS: Final = "\u0300-\u036f\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0962\u0963\u200c"
_LETTER: Final = rf"[^\W\d_{_CJK}]"
_ANY_LETTER: Final = r"[^\W\d_]"

_CHAR: Final = rf"(?P<char>[{_CJK}])"
_PLAIN_NUM: Final = r"(?P<digits>\d+(?=[^\W\d_]|\n|[ ]\w|$))"
_PLAIN_WORD: Final = r"(?P<letters>[A-Za-z]+(?=[ \n,;?!)]|$))"
_SIGN: Final = r"(?P<sign>[^\w\s\-=~–—>→\[/$€£¥₹+@])"  # what no longer alternative begins with
_MAIL: Final = r"(?<![\w.+\-])[\w.+\-]{1,64}@[\w\-]{1,63}\.[\w.\-]{1,63}"


def _pattern(first: str, mail: str, char: str, begins: str, goes_on: str = _LETTER) -> re.Pattern[str]:
    """`begins` and `goes_on`: the letters with which a word may begin and go on."""
    return re.compile(
        rf"""
    \ ?(?:  # no token begins with a blank: the one before most of them need not be tried on all the alternatives
      {first}
      (?P<line>\n[\s]*)
    | (?P<opaque>
          \[[^\[\]\n]{{1,200}}\]\([^()\s]{{1,500}}\)
        | (?:https?|mailto|mention|ftp)://[^\s<>()|]+ | www\.[^\s<>()|]+
        {mail}
        | (?<![^\W\d_])[A-Za-z]:\\[^\s]*
        | (?<!\S)/[\w.\-]+(?:/[\w.\-]*)*
        | [$€£¥₹][^\S\n]?\d[\d.,]* | \d+[^\S\n]?[%€£₹°]
        | \d{{1,3}}(?:,\d{{3}})+(?!\d) | \d+\.\d[\w.]*
        | \d{{1,4}}[/.\-]\d{{1,2}}[/.\-]\d{{1,4}}(?!\w)(?!\s?[:=]\s?[A-Za-z]\b) | \d{{1,2}}/\d{{1,2}}(?!\s?[:=\w]|/\d)
        | \d{{3,}}-\d{{3,}} | \d{{1,2}}:\d{{2}}(?!\w)
        | (?<![\w+])\+1(?!\w) | \+\d{{4,}}
      )
    | (?P<mention>(?<![\w@])@[^\W\d]\w{{1,40}})
    | (?P<num>\d+)
    | (?P<word>{begins}(?:['’ʼ`´]?{goes_on}|[{_MARKS}])*)
    {char}
    | (?P<mark>[\-=~–—]{{0,3}}[>→]|[^\s])
    )
    """,
        re.VERBOSE,
    )


_SURE: Final = f"{_PLAIN_NUM} | {_PLAIN_WORD} | {_SIGN} |"


@cache
def _plain(ascii_only: bool) -> re.Pattern[str]:
    """For texts without `@`. Made when first needed: the classes of the unspaced scripts take 15 ms to compile."""
    if ascii_only:
        return _pattern(_SURE, "", "", _ANY_LETTER, _ANY_LETTER)
    return _pattern(f"{_CHAR} | {_SURE}", "", "", _ANY_LETTER)


@cache
def _addressed() -> re.Pattern[str]:
    """Only a mail address can begin with a character of the unspaced scripts; elsewhere those are looked at first."""
    return _pattern("", f"| {_MAIL}", f"| {_CHAR}", _LETTER)


_APOSTROPHES: Final = str.maketrans("", "", "'’ʼ`´\u200c")
_STROKES: Final = str.maketrans({"đ": "d", "ı": "i", "ł": "l", "ø": "o", "ς": "σ"})
_ACCENTS: Final = re.compile("[\u0300-\u036f]")

# Look-alikes count as the Latin letter only where an option letter may stand (RP-6).
_SHAPES: Final = dict(zip("АВЕКМНОРСТХΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEKMHOPCTXABEZHIKMNOPTYX", strict=True))
_BY_ORDER: Final = {
    letter: "ABCDEFGH"[i]
    for row in ("АБВГДЕ", "ΑΒΓΔΕΖ", "אבגדהו", "ابجده", "ابتثج", "ابپتث", "कखगघङ")
    for i, letter in enumerate(row)
    if letter not in _SHAPES
}


# Signs that count as one another.
_SIGNS: Final = {**dict.fromkeys("-–—−‐‑‒", "-"), **dict.fromkeys("→⇒➡", "->"), **dict.fromkeys("～〜∼", "~")}


class Token:
    """One token. `start` and `end` are offsets into the normalised text; `spaced` tells of a blank before it.

    `letter` is the option letter that the token can stand for, upper case; "" for none. A letter that can only
    be guessed by its order in another alphabet reads "~" and the guess ("~C" for Γ): it is never taken as said.
    """

    __slots__ = ("end", "fold", "kind", "letter", "lower", "spaced", "start", "value")

    def __init__(self, kind: str, fold: str, start: int, end: int, spaced: bool) -> None:
        self.kind = kind
        self.fold = fold
        self.start = start
        self.end = end
        self.spaced = spaced
        self.letter = ""
        self.lower = False
        self.value = -1

    def __repr__(self) -> str:
        return f"<{self.kind} {self.fold!r}>"


def fold(word: str) -> str:
    """The form that words are compared by: no case, no accents, no apostrophes."""
    if word.isascii():
        return word.lower().replace("'", "").replace("`", "")
    return _plain_form(word)


@lru_cache(maxsize=256)  # a message repeats its words; those of people are not to stay in memory
def _plain_form(word: str) -> str:
    lowered = word.casefold().translate(_APOSTROPHES).translate(_STROKES)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", lowered)))


def tokenize(text: str) -> list[Token]:
    """The tokens of a normalised text, in order."""
    tokens: list[Token] = []
    last = 0
    foreign = False
    for found in (_addressed() if "@" in text else _plain(text.isascii())).finditer(text):
        kind = found.lastgroup
        start, end = found.span(found.lastindex or 0)
        body = text[start:end]
        spaced = start > last
        last = end
        if kind == "letters":  # of ASCII
            token = Token("word", body.lower(), start, end, spaced)
            if end - start == 1:
                token.letter = body.upper()
                token.lower = body == token.fold
        elif kind == "sign" or kind == "mark":
            if body > "\u2190" and len(tokens) > 1 and tokens[-1].fold == tokens[-2].fold == body:
                tokens[-1].end = end  # a long row of one emoji says no more than two of them
                continue
            token = Token("mark", _SIGNS.get(body, "->" if end - start > 1 else body), start, end, spaced)
        elif kind == "digits" or kind == "num":
            token = Token("num", body, start, end, spaced)
            token.value = int(body) if end - start < 6 else 999_999
        elif kind == "char":
            token = Token(kind, body, start, end, spaced)
        elif kind == "word":
            token = Token("word", fold(body), start, end, spaced)
            if end - start == 1:
                token.fold = "é" if body in "éèÉÈ" else token.fold  # Portuguese "is", which "e" (and) is not
                token.lower = body.islower()
                upper = body.upper()
                token.letter = upper if len(upper) == 1 else ""  # ß is SS: no letter of any list
                foreign = foreign or not body.isascii()
        elif kind == "line":
            token = Token("para" if body.count("\n") > 1 else "line", "\n", start, end, True)
        else:
            token = Token(kind or "mark", body.casefold(), start, end, spaced)
        tokens.append(token)
    if foreign:
        _settle_letters(tokens)
    return tokens


class Labels(NamedTuple):
    """The texts of a question's options as they are compared: their words, and each as one word.

    `heads` are the words that they begin with, `heard` also those behind a small first word; `widest` is the length
    of the longest text, in letters.
    """

    texts: tuple[tuple[str, ...], ...]
    joined: tuple[str, ...]
    heads: frozenset[str]
    heard: frozenset[str]
    widest: int


def folded_labels(labels: tuple[str, ...]) -> Labels:
    texts = tuple(tuple(token.fold for token in tokenize(label)) for label in labels)
    joined = tuple("".join(words) for words in texts)
    heads = frozenset(words[0] for words in texts if words)
    heard = heads | {words[1] for words in texts if len(words) > 1}
    return Labels(texts, joined, heads, heard, max(map(len, joined), default=0))


def _settle_letters(tokens: list[Token]) -> None:
    """Decide what single letters of other alphabets stand for, over the whole message.

    By shape, unless a letter that only exists in the Cyrillic row (Б, Г) shows that the person counts in it:
    then В may be the second or the third option and is asked about.
    """
    counts_cyrillic = any(t.letter in ("Б", "Г") for t in tokens if t.letter)
    for token in tokens:
        letter = token.letter
        if not letter or letter.isascii():
            continue
        if letter == "Б":
            token.letter = "B"
        elif letter == "В" and counts_cyrillic:
            token.letter = "~C"
        elif letter in _SHAPES:
            token.letter = _SHAPES[letter]
        elif letter in _BY_ORDER:
            token.letter = "~" + _BY_ORDER[letter]
        else:
            token.letter = ""
