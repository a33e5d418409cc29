"""Words of a message, folded so that one phrase in a pack meets all the ways people type it.

`tokenise(text)` gives `Token(form, start, end, gap)`; `start:end` is the place in the text as typed. A script
without blanks (Han, kana, Hangul) gives one token a character, because there blanks carry no meaning.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from bot.core.patterns import regex

# What stands between a token and the one before it.
NOTHING, BLANK, CLAUSE, SENTENCE, PARAGRAPH = range(5)

_CLAUSE_MARKS = frozenset(",;:()[]{}—–，、；：（）［］〔〕【】…|•*")
_LONGEST_TAG = 20
_SENTENCE_MARKS = frozenset(".!?。？！｡\u061f\u0964")
_APOSTROPHES = frozenset("'’ʼ`´‘")
# Written beside letters and never seen: zero-width and bidi marks, the soft hyphen, emoji presentation (RP-6).
UNSEEN = frozenset(
    "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\u00ad\ufe0f"
)
_PLAIN_WORD = regex("[a-z0-9]+")
_PLAIN_TOKEN = regex("[A-Za-z0-9]{3}[A-Za-z0-9'`]*|[A-Za-z0-9]{1,2}")  # apostrophes as in `_tokens`
_ONE_FORM = regex("[\u4e00-\u9fff\uac00-\ud7a3\u3041-\u3096]+")  # as in `fold_char`; a word each
_SINGLE = {"đ": "d", "ł": "l", "ø": "o", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe"}
MAX_WORD = 64  # nobody's trigger word is longer; a longer one is cut, which keeps each step bounded


class Token(NamedTuple):
    form: str
    start: int
    end: int
    gap: int


def dense(char: str) -> bool:
    """Written without blanks between words: Han, kana, Hangul, Thai."""
    return (
        "\u3040" <= char <= "\u30ff"
        or "\u3400" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7a3"
        or "\uf900" <= char <= "\ufaff"
        or "\u0e00" <= char <= "\u0e7f"
        or char in "々〆ー"
    )


def fold_char(char: str, variants: Mapping[str, str]) -> str:
    """Lower case, without accents, in one width. Accents are often left out on phones (é, ё, ắ)."""
    if char < "\u0080":
        return char.lower()
    if char in variants:
        return variants[char]
    if "\u4e00" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3" or "\u3041" <= char <= "\u3096":
        return char  # most characters of Chinese, Korean and Japanese have one form only
    plain = unicodedata.normalize("NFKC", char)
    if len(plain) == 1 and dense(plain):
        return variants.get(plain, plain)
    return _bare(plain)


@lru_cache(maxsize=4096)  # more than the letters of the languages that packs are written in
def _bare(plain: str) -> str:
    parts = unicodedata.normalize("NFD", plain.lower())
    kept = "".join(c for c in parts if unicodedata.category(c) != "Mn")
    return "".join(_SINGLE.get(c, c) for c in kept)


def fold(text: str, variants: Mapping[str, str]) -> str:
    if text.isascii():
        return text.lower()
    return "".join(fold_char(c, variants) for c in text if c not in UNSEEN)


def tokenise(text: str, variants: Mapping[str, str]) -> list[Token]:
    return list(_plain_tokens(text) if text.isascii() else _tokens(text, variants))


def _plain_tokens(text: str) -> Iterator[Token]:
    """As `_tokens`, for the letters that need no folding."""
    at, gap = 0, PARAGRAPH
    for found in _PLAIN_TOKEN.finditer(text):
        start, end = found.span()
        if at:
            gap = BLANK if text[at:start] == " " else _gap(text, at, start)
        form = text[start:end].lower()
        if "'" in form or "`" in form:
            form = form.replace("'", "").replace("`", "")
        yield Token(form[:MAX_WORD], start, end, gap)
        at = end


def _gap(text: str, start: int, end: int) -> int:
    """What stands between two tokens, at its weightiest."""
    gap, newlines = NOTHING, 0
    for at in range(start, end):
        char = text[at]
        if char in "\n\r":
            newlines += char == "\n"
            gap = max(gap, PARAGRAPH if newlines > 1 else CLAUSE)
        else:
            gap = max(gap, _weight(text, at, char))
    return gap


def _tokens(text: str, variants: Mapping[str, str]) -> Iterator[Token]:
    gap, start, form, newlines = PARAGRAPH, -1, "", 0
    for at, char in enumerate(text):
        if "\u4e00" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3" or "\u3041" <= char <= "\u3096":
            if form:
                yield Token(form[:MAX_WORD], start, at, gap)
                gap, form = NOTHING, ""
            yield Token(variants.get(char, char), at, at + 1, gap)  # dense, and of one form, as in `fold_char`
            gap, newlines = NOTHING, 0
            continue
        if char in UNSEEN:
            continue
        if char.isalnum() or unicodedata.category(char) == "Mn":
            if dense(char):
                if form:
                    yield Token(form[:MAX_WORD], start, at, gap)
                    gap, form = NOTHING, ""
                yield Token(fold_char(char, variants), at, at + 1, gap)
                gap, newlines = NOTHING, 0
                continue
            if not form:
                start = at
            form += fold_char(char, variants) if len(form) < MAX_WORD else ""
            newlines = 0
            continue
        if char in _APOSTROPHES and len(form) > 2:
            continue  # don't, supervisor's: one word. l'article, j'ai, I'm: two.
        if form:
            yield Token(form[:MAX_WORD], start, at, gap)
            gap, form = NOTHING, ""
        if char in "\n\r\u2028":
            newlines += char != "\r"
            gap = max(gap, PARAGRAPH if newlines > 1 else CLAUSE)
        else:
            gap = max(gap, _weight(text, at, char))
    if form:
        yield Token(form[:MAX_WORD], start, len(text), gap)


def _weight(text: str, at: int, char: str) -> int:
    if char in _SENTENCE_MARKS:
        after = text[at + 1 : at + 2]
        inside = char == "." and after and not after.isspace() and after not in "\"'»”)."
        return NOTHING if inside else SENTENCE
    if char in "-–—" and text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum():
        return NOTHING  # a joint within a word, also with the long dashes of phone keyboards
    if char == "-" and text[at - 1 : at].isspace() and text[at + 1 : at + 2].isspace():
        return CLAUSE  # the dash of ordinary keyboards
    if char == ":" and text[at + 1 : at + 2].isdigit():
        return NOTHING  # 10:30
    if char == ">" and "<" in text[max(at - _LONGEST_TAG, 0) : at].rpartition(" ")[2]:
        return CLAUSE  # <direct-mode> and <b> are brackets (RT-6), unlike the arrow of "docx -> tex"
    return CLAUSE if char in _CLAUSE_MARKS else BLANK


def words(text: str, variants: Mapping[str, str]) -> tuple[str, ...]:
    """The folded words alone, for phrases in a pack: some 20 000 of them at each start, most in plain ASCII or of
    characters that have one form."""
    if text.isascii() and "'" not in text and "`" not in text:
        return tuple(found[:MAX_WORD] for found in _PLAIN_WORD.findall(text.lower()))
    if _ONE_FORM.fullmatch(text):
        return tuple([variants.get(char, char) for char in text])
    return tuple(token.form for token in _tokens(text, variants))


class Span(NamedTuple):
    start: int
    end: int


_QUOTES = {
    "«": "»",
    "“": "”",
    "„": "“”",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
    '"': '"',
    "＂": "＂",
    "‹": "›",
}


_OPENING = regex("[`'‘" + "".join(_QUOTES) + "]")


def paragraphs(text: str) -> list[Span]:
    """Stretches between blank lines, without them."""
    found: list[Span] = []
    start, at = -1, 0
    end = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            start = at if start < 0 else start
            end = at + len(line)
        elif start >= 0:
            found.append(Span(start, end))
            start = -1
        at += len(line)
    if start >= 0:
        found.append(Span(start, end))
    return found


def lines(text: str, within: Span) -> list[Span]:
    found: list[Span] = []
    at = within.start
    for line in text[within.start : within.end].splitlines(keepends=True):
        found.append(Span(at, at + len(line)))
        at += len(line)
    return found


def quoted(text: str) -> list[Span]:
    """Quotation marks, code ticks and `>` lines: somebody else's words, or words not meant (RT-2)."""
    found: list[Span] = []
    taken = bytearray()
    if ">" in text or "&gt;" in text or "＞" in text:
        everything = lines(text, Span(0, len(text)))
        found = [s for s in everything if text[s.start : s.end].lstrip().startswith((">", "&gt;", "＞"))]
        taken = bytearray(len(text))
        for start, end in found:
            taken[start:end] = b"1" * (end - start)
    at = 0
    never: dict[str, int] = {}  # a closing mark that was not found from here on is not looked for again
    while (opens := _OPENING.search(text, at)) is not None:
        at = opens.start()
        end = -1 if taken and taken[at] else _closing(text, at, never)
        if end > at:
            found.append(Span(at, end))
            at = end
        else:
            at += 1
    return found


def _closing(text: str, at: int, never: dict[str, int]) -> int:
    """Where the quotation or code that opens at `at` ends, or -1."""
    char = text[at]
    if char == "`":
        fence = "```" if text.startswith("```", at) else "`"
        return _find(text, fence, at + len(fence), never)
    if char in _QUOTES:
        ends = [_find(text, close, at + 1, never) for close in _QUOTES[char]]
        return min((e for e in ends if e > at), default=-1)
    if char in "'‘" and not text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum():
        close = "'" if char == "'" else "’"
        end = _find(text, close, at + 1, never)
        for _ in range(8):  # apostrophes inside; bounded, so that a row of them stays linear
            if end < 0 or not text[end : end + 1].isalnum():
                break
            end = _find(text, close, end, never)
        else:
            return -1
        return end if end - at > 3 and "\n" not in text[at:end] else -1
    return -1


def _find(text: str, close: str, start: int, never: dict[str, int]) -> int:
    if close in never and start >= never[close]:
        return -1
    end = text.find(close, start)
    if end < 0:
        never[close] = start
        return -1
    return end + len(close)
