"""First stage: what reached us becomes what the person wrote.

    entities (only where no adapter has decoded them) -> platform tokens -> ticks, emphasis, struck-out words
    -> quoted, forwarded and signature lines -> one normalised character for each written one

Two texts come out. `text` is for people: notes and own answers are cut from it, so smart quotes, accents and full
width brackets stay as typed. `norm` is for the grammar: NFKC, keycaps and letter emoji as plain characters,
invisible signs gone. `origin` maps an offset in `norm` to one in `text`; None means that they are the same.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from typing import Final, NamedTuple

from bot.core.patterns import regex
from bot.core.replies.phrases import PhraseBook
from bot.core.replies.quoted import Paste, find_paste
from bot.core.replies.tokens import fold

_ENTITY: Final = regex(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8}\d{0,2});")
_ANGLE: Final = regex(r"<([@#!][^<>\n]{1,80}|(?:https?|mailto|tel)[^<>\n]{1,2000})>")
_FILLED_IN: Final = regex(r"<([A-Za-z]|\d{1,3})>")  # "1: <B>", as a manual writes what to fill in
_UNTICKED: Final = regex(r"(?m)^[ \t]*(?:[-*•][ \t]*)?\[[ \t]?\][^\n]*\n?")
_TICK: Final = regex(r"(?m)^[ \t]*(?:[-*•][ \t]*)?\[[xX]\][ \t]*")
_PROMPT_LINE: Final = regex(r"(?m)^[ \t]*(\d{1,3})[.):][^\n]{2,300}\?[ \t]*$")
_LINK: Final = regex(r"\[([^\[\]\n]{1,200})\]\(([^()\s]{1,500})\)")
_FENCE: Final = regex(r"```(?:[a-z]{1,12}\n)?")
_STRUCK: Final = regex(r"~~[^~\n]+~~|(?<![\w~])~(?=\S)[^~\n]+~(?![\w~])")
_BOLD: Final = regex(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]{1,300})(?<=\S)\1(?![\w*])")
_ITALIC: Final = regex(r"(?<!\w)(_{1,2})(?=[^\s_])([^\n]{1,300}?)(?<=[^\s_])\1(?!\w)")
_BULLET: Final = regex(r"(?m)^[ \t]*(?:[•·▪◦‣●]|[*+\-–](?=[ \t]))[ \t]*(?:\[[ xX]\][ \t]+)?(?=\S)")
_STAR: Final = regex(r"(?m)^[ \t]*\*(?=[\w#])|(?<=\w)\*[ \t]*$")
_COMMAND: Final = regex(r"\A\s*[/!][A-Za-z][\w\-]{0,31}(?:@\w{1,32})?(?=[ \t]+\S)")
_QUOTE: Final = regex(r"[ \t\u200e\u200f\u2066-\u2069\ufeff]*(?:>|❯)[> \t]*(.*)")
_PROMPT: Final = regex(r"(?:[*_\[(]*(?:Q|#|№)?\s?)(\d{1,3})\s?[.:)\]]\s*\S")
_TRAILER: Final = regex(r"[ \t]*(?:--|__+)[ \t]*\Z")
_ATTRIBUTION: Final = regex(r"[^\n]{4,200}(?:wrote|schrieb|a écrit|escribió|escreveu|пишет|写道)\s?:\s*\Z")

_SHORT_CODES: Final = {
    ":zero:": "0", ":one:": "1", ":two:": "2", ":three:": "3", ":four:": "4", ":five:": "5", ":six:": "6",
    ":seven:": "7", ":eight:": "8", ":nine:": "9", ":keycap_ten:": "10", ":a:": "A", ":b:": "B",
    ":o2:": "O", ":thumbsup:": "👍", ":+1:": "👍", ":ok_hand:": "👌", ":white_check_mark:": "✅",
    ":thumbsdown:": "👎", ":-1:": "👎",
}  # fmt: skip
_SHORT_CODE: Final = regex(r":(?:[a-z][a-z0-9_]{0,24}|\+1|-1):(?::skin-tone-\d:)?")

_DROPPED: Final = frozenset(
    "\u00ad\u034f\u061c\u200b\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
    "\u2066\u2067\u2068\u2069\ufeff\ufe0e\ufe0f\u20e3\u3164\x00"
)
_EMOJI_LETTERS: Final = {"🅰": " A ", "🅱": " B ", "🅾": " O ", "🔟": " 10 ", "🆎": " AB "}


class Clean(NamedTuple):
    """A cleaned message. See the module text for the two texts and the map between them."""

    text: str
    norm: str
    origin: Sequence[int] | None
    starred: bool = False  # an asterisk marked the line as a correction ("*2: C")
    struck: bool = False  # something was struck out
    quoted: bool = False  # quoted or forwarded lines were set aside
    paste: Paste = ""  # how much of it is somebody else's words

    def cut(self, start: int, end: int) -> str:
        """The written words between two offsets of `norm`."""
        if self.origin is not None:
            start, end = self.origin[start], self.origin[end]
        return self.text[start:end]


def clean(raw: str, book: PhraseBook, *, decoded: bool = False) -> Clean:
    text = raw.replace("¯\\_(ツ)_/¯", "🤷") if "ツ" in raw else raw
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\u2028" in text or "\u2029" in text:
        text = text.replace("\u2028", "\n").replace("\u2029", "\n")
    if not decoded:
        text = _platform_tokens(text)
    if "[x]" in text or "[X]" in text:
        text = _ticked(text)
    if "](" in text:
        text = _LINK.sub(_label, text)
    if "`" in text:
        text = _FENCE.sub("\n", text).replace("`", "")
    struck = False
    if "~" in text:
        text, count = _STRUCK.subn(" ", text)
        struck = count > 0
    starred = False
    if "*" in text:
        text = _BOLD.sub(r"\2", text)
        text, count = _STAR.subn("", text)
        starred = count > 0
    if "_" in text:
        text = _ITALIC.sub(r"\2", text)
    text, paste = _own_part(text, book)
    text, quoted = _own_lines(text, book)
    text = _BULLET.sub("", text)
    if text.lstrip()[:1] in ("/", "!"):
        text = _COMMAND.sub("", text)
    norm, origin = (text, None) if text.isascii() and ":" not in text else _normalise(text)
    return Clean(text, norm, origin, starred, struck, quoted, paste)


def _ticked(text: str) -> str:
    """A copied list with one of its boxes ticked: the boxes left empty are not what was chosen."""
    if not _UNTICKED.search(text):
        return text
    return _PROMPT_LINE.sub(r"\1:", _TICK.sub("", _UNTICKED.sub("", text)))


def _platform_tokens(text: str) -> str:
    if "<" in text:
        text = _ANGLE.sub(_angle, text)
        text = _FILLED_IN.sub(r"\1", text)
    if "&" in text:
        text = _ENTITY.sub(lambda found: html.unescape(found.group()), text)
    return text


def _angle(found: re.Match[str]) -> str:
    """Slack's links and mentions (docs.slack.dev, formatting message text): the label is what was typed."""
    target, _, label = found.group(1).partition("|")
    if target[0] in "@#!":
        return " "
    bare = re.sub(r"\A(?:mailto:|tel:|https?://)", "", target)
    if not label:
        return target if target.startswith("http") else bare
    if label.strip("/") == bare.strip("/") or target.startswith(("mailto:", "tel:")):
        return label
    return f"[{label}]({target})" if any(c.isdigit() for c in label) else f"{label} ({target})"


def _label(found: re.Match[str]) -> str:
    label, target = found.group(1), found.group(2)
    if any(c.isdigit() for c in label) and not label.startswith("@"):
        return f"[{label}]({target})"  # "[2a](…)" names a place, it answers nothing
    return " " if label.startswith("@") else f"{label} ({target})"


def _own_part(text: str, book: PhraseBook) -> tuple[str, Paste]:
    """Without a paste of somebody else's words below the sender's own items."""
    lines = text.split("\n")
    start, paste = find_paste(lines, book.pasted, book.roles)
    return ("\n".join(lines[:start]) if paste == "below" else text), paste


def _own_lines(text: str, book: PhraseBook) -> tuple[str, bool]:
    """Set aside quoted and forwarded lines, mail trailers and signatures.

    The quote of one prompt opens the scope of its number: what follows answers it. If everything is quoted, the
    quoted text is what was meant.
    """
    if "\n" not in text:
        found = _QUOTE.match(text)
        if found:
            return found.group(1), True
        return text, False
    kept: list[str] = []
    quoted: list[str] = []
    written = False
    may_quote = ">" in text or "❯" in text
    for line in text.split("\n"):
        found = _QUOTE.match(line) if may_quote else None
        if found:
            quoted.append(found.group(1))
            prompt = _PROMPT.match(found.group(1))
            kept.append(f"{prompt.group(1)}:" if prompt else "")
            continue
        if book.forwarded and line and fold(line.strip()[:24]).startswith(book.forwarded):
            quoted.append(line)
            continue
        if written and (_TRAILER.match(line) or _is_signature(line, book)):
            break
        if ":" in line and _ATTRIBUTION.match(line):
            continue
        written = written or bool(line.strip())
        kept.append(line)
    if not quoted:
        return "\n".join(kept), False
    return "\n".join(kept if written else quoted), True


def _is_signature(line: str, book: PhraseBook) -> bool:
    words = fold(line.strip()[:48].lstrip("-–—_ \t"))
    return bool(book.signature) and words.startswith(book.signature)


def _normalise(text: str) -> tuple[str, Sequence[int] | None]:
    codes = {found.start(): found for found in _SHORT_CODE.finditer(text)} if ":" in text else {}
    if text.isascii() and not any(found.group() in _SHORT_CODES for found in codes.values()):
        return text, None
    parts: list[str] = []
    origin: list[int] = []
    skip = 0
    plain: dict[str, str] = {}  # one look at each different character
    for at, char in enumerate(text):
        if at < skip:
            continue
        if char == ":" and at in codes:
            code = codes[at].group()
            meant = _SHORT_CODES.get(code.split("::")[0].rstrip(":") + ":")
            if meant is not None:
                parts.append(f" {meant} ")
                origin.extend([at] * (len(meant) + 2))
                skip = at + len(code)
                continue
        if char < "\x80":
            written = char
        else:
            known = plain.get(char)
            written = plain[char] = _plain(char) if known is None else known
        if written:
            parts.append(written)
            origin.extend([at] * len(written))
    origin.append(len(text))
    return "".join(parts), origin


def _plain(char: str) -> str:
    if char in _DROPPED or "\U0001f3fb" <= char <= "\U0001f3ff" or "\ud800" <= char <= "\udfff":
        return ""
    if char in _EMOJI_LETTERS:
        return _EMOJI_LETTERS[char]
    if "\U0001f1e6" <= char <= "\U0001f1ff":  # regional indicators: a lone one is a letter
        return f" {chr(ord(char) - 0x1F1E6 + 65)} "
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.digit(char))
    if category in ("No", "So"):
        folded = unicodedata.normalize("NFKC", char)
        value = unicodedata.numeric(char, -1.0)
        if value.is_integer() and 0 <= value < 100 and category == "No":
            return f" {int(value)} "
        if folded != char and folded.strip("()").isalpha() and folded.isascii():
            return f" {folded.strip('()')} "
        return folded
    if category == "Zs":
        return " "
    if char in "ªº":
        return char
    return unicodedata.normalize("NFKC", char)
