"""Which part of a request are the person's own words, and which part is quoted, pasted, or a title (RT-2, AU-3).

What is not their own is blanked out with line breaks, so that every place in the text keeps its number and no
phrase can reach across. When in doubt a part counts as not their own: then a question is asked once too often.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from bot.core.patterns import regex

_PARAGRAPH = regex(r"(?:[^\n]|\n(?![ \t]*\n))+")
_LONG_PARAGRAPH = 500  # characters; requests in routes are one to three sentences, pasted abstracts start near 600
_QUOTE = 4000  # characters that one pair of quotation marks may span

# What is blanked, each with signs of which one must be in a text for it to match at all.
_BLANKED = tuple(
    (signs, regex(pattern, re.MULTILINE | re.IGNORECASE))
    for signs, pattern in (
        (("```",), r"```[\s\S]*?(?:```|\Z)"),
        (("`",), r"`[^`\n]*`"),
        ((">", "&"), r"^[ \t]*(?:>|&gt;).*$"),  # quoted lines of mail and chat
        (("://", "."), r"\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+"),
        (("@",), r"(?<!\S)\S{1,99}@\S{1,99}\.\S{1,99}"),
        (
            (".",),
            r"(?<!\S)\S{1,250}\.(?:pdf|docx?|odt|rtf|md|txt|tex|bib|ris|ya?ml|json|csv|xlsx?|pptx?|html?|zip)\b",
        ),
        (
            (":", "："),
            r"\b(?:title|topic|subject|research question|rq|thema|titel|título|titre|tema)[ \t]*[:：].*$",
        ),
        ((":", "："), r"(?:题目|標題|标题|题为|主题|テーマ|タイトル|제목|주제)[ ]*[:：].*$"),
        (('"',), rf'"[^"]{{0,{_QUOTE}}}"'),
        (
            tuple("“„«「『"),
            rf"“[^”]{{0,{_QUOTE}}}”|„[^“”]{{0,{_QUOTE}}}[“”]|«[^»]{{0,{_QUOTE}}}»|「[^」]{{0,{_QUOTE}}}」|『[^』]{{0,{_QUOTE}}}』",
        ),
        (
            ("'", "‘"),
            r"(?<![^\s(])'[^'\n]{2,400}'(?![^\s.,;:!?)])|(?<![^\s(])‘[^’\n]{2,400}’(?![^\s.,;:!?)])",
        ),
        (tuple('"“„«'), r"[\"“„«][^\n]*$"),  # opened and never closed
    )
)

_QUOTED = regex(rf'"[^"]{{0,{_QUOTE}}}"|“[^”]{{0,{_QUOTE}}}”|«[^»]{{0,{_QUOTE}}}»|「[^」]{{0,{_QUOTE}}}」')
_QUOTES = tuple('"“«「')
_TELLING = 30  # characters from which a quotation is a text handed in and not a word set off

# A line that ends in a colon and speaks of a text introduces one; "wishes:" introduces the person's own list.
_INTRODUCES = regex(
    r"\b(?:abstract|article|below|chapter|claims?|comments?|decision|draft|email|excerpt|following|forwarded|fwd"
    r"|introduction|letter|manuscript|notes?|paper|paragraph|passage|quote|reports?|reviews?|reviewers?|section"
    r"|summary|text|wrote|writes|says|said|asked)\b|摘要|全文|意见|意見|コメント|原稿|심사|초록",
    re.IGNORECASE,
)
_STARTS_PASTE = regex(
    r"^[ \t]*(?:-{3,}|={3,}|_{3,}|\*{3,}|(?:fwd?|from|von|de|subject|betreff)[ \t]*:|dear\b|sehr geehrte"
    r"|(?:reviewer|referee|editor|gutachter|审稿人)[ \t]*#?[ \t]*(?:\d+|[a-c])?[ \t]*[:：(]"
    r"|abstract[ \t]*[.:]?[ \t]*$|abstract[.:][ \t]+\S.{60})",
    re.IGNORECASE,
)


def unquoted(text: str) -> str:
    """The lines that a person wrote themselves, without those that quote somebody (AU-3)."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith((">", "❯"))).strip()


_MARKED = regex(
    r"""[^\w"“„«»‹'‘‚「『`]*(?:"[^"]+"|“[^“”]+”|„[^“”„]+[“”]|«[^«»]+»|»[^«»]+«|‹[^‹›]+›|'[^']+'|‘[^‘’]+’"""
    r"""|‚[^‘’‚]+[‘’]|「[^「」]+」|『[^『』]+』|`[^`]+`|```[\s\S]+```)[\s.!,;…]*"""
)


def only_marked(text: str) -> bool:
    """Whether all of the text stands in quotation marks or is code: somebody else's words alone (AU-3)."""
    return _MARKED.fullmatch(text.strip()) is not None


_EDGES = regex(r"\A\W+|\W+\Z")


def marked(text: str) -> str:
    """The words of a text that is nothing but somebody else's, without the marks; "" of any other."""
    own = unquoted(text)
    return _EDGES.sub("", text) if not own or only_marked(own) else ""


_CODE = regex(r"```[\s\S]*?(?:```|\Z)|`[^`\n]*`")


def coded(text: str) -> str:
    """The text with its code struck out, every place keeping its number: names and numbers in code are the code's."""
    return _CODE.sub(lambda found: "·" * len(found.group()), text)


def code_in(text: str) -> tuple[str, ...]:
    """The pieces of code in a text, without their marks; the longest first."""
    pieces = {piece.strip("`").strip() for piece in _CODE.findall(text)}
    return tuple(sorted((p for p in pieces if len(p) > 1), key=lambda p: (-len(p), p)))


def set_aside(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with one private-use character for each piece of code, and the pieces, for `put_back`."""
    pieces = tuple(_CODE.findall(text))
    numbered = iter(range(0xE000, 0xE000 + len(pieces)))
    return _CODE.sub(lambda _: chr(next(numbered)), text) if len(pieces) < 6400 else text, pieces


def put_back(text: str, pieces: Sequence[str]) -> str:
    for number, piece in enumerate(pieces):
        text = text.replace(chr(0xE000 + number), piece)
    return text


class Parts(NamedTuple):
    """`own` is as long as the text. `pasted` is what was pasted, `introduced` the words that led to it."""

    own: str
    pasted: str
    introduced: str


def own_words(text: str) -> Parts:
    """The person's own words in place, everything else blanked."""
    own, passages, introduced = _parted(text)
    for signs, pattern in _BLANKED:
        for sign in signs:
            if sign in own:
                own = pattern.sub(lambda found: _blank(found.group()), own)
                break
    return Parts(own, _joined(passages), introduced)


def pasted(text: str) -> str:
    """What was pasted, alone: `own_words(text).pasted`."""
    return _joined(_parted(text)[1])


def _joined(passages: Sequence[str]) -> str:
    return "\n".join(p.strip() for p in passages if p.strip())


def _parted(text: str) -> tuple[str, list[str], str]:
    """The text without the paste and long paragraphs, these and quotations, and the words that introduce them."""
    start, introduced = _paste(text)
    own = text[:start] + _blank(text[start:])
    passages = [text[start:]]
    for paragraph in _PARAGRAPH.finditer(own) if len(own) > _LONG_PARAGRAPH else ():
        if len(paragraph.group().strip()) > _LONG_PARAGRAPH:
            passages.insert(0, paragraph.group())
            own = own[: paragraph.start()] + _blank(paragraph.group()) + own[paragraph.end() :]
    for quote in _QUOTED.finditer(own) if any(sign in own for sign in _QUOTES) else ():
        if len(quote.group()) >= _TELLING:
            line = own.rfind("\n", 0, quote.start()) + 1
            passages.append(quote.group())
            introduced = introduced or own[line : quote.start()].strip()
    return own, passages, introduced


def _blank(text: str) -> str:
    return "\n" * len(text)


def _paste(text: str) -> tuple[int, str]:
    """Where a pasted text begins, and the line that introduces it; the end of the text when there is none."""
    place = 0
    for line in text.splitlines(keepends=True):
        if (place or len(text) > len(line)) and _STARTS_PASTE.match(line):
            return place, line.strip()
        bare = line.rstrip()
        place += len(line)
        if bare.endswith((":", "：")) and _INTRODUCES.search(bare) and text[place:].strip():
            return place, bare
    return len(text), ""
