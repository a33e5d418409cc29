"""`parse_mode` HTML and MarkdownV2, with the refusals of TDLib's parsers (MessageEntity.cpp)."""

from __future__ import annotations

import html
import re
from typing import Any

from tests.fakes.telegram.errors import Refusal, bad
from tests.fakes.telegram.text import Entity, utf16

_TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "code": "code",
    "pre": "pre",
    "a": "text_link",
    "blockquote": "blockquote",
    "tg-emoji": "custom_emoji",
    "tg-time": "date_time",
}
_CHARACTER = re.compile(r"&(?:lt|gt|amp|quot|#\d{1,7}|#x[0-9a-fA-F]{1,6});?")
_ATTRIBUTE = re.compile(r"""\s*([^\s=>]+)(?:\s*=\s*("[^"]*"|'[^']*'|[\w.-]+))?""")


def parse(text: str, mode: str) -> tuple[str, list[Entity]]:
    """The text without markup, and its entities."""
    match mode.lower():
        case "html":
            return _Html(text).read()
        case "markdownv2":
            return _MarkdownV2(text).read()
        case _:
            raise bad("unsupported parse_mode")


def _cannot(why: str) -> Refusal:
    return bad(f"can't parse entities: {why}")


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.out: list[str] = []
        self.size = 0
        self.entities: list[Entity] = []

    def put(self, piece: str) -> None:
        self.out.append(piece)
        self.size += utf16(piece)

    def byte(self, at: int) -> int:
        return len(self.text[:at].encode())

    def mark(self, kind: str, start: int, more: dict[str, Any]) -> None:
        if self.size > start:
            self.entities.append({"type": kind, "offset": start, "length": self.size - start} | more)

    def done(self) -> tuple[str, list[Entity]]:
        return "".join(self.out), sorted(self.entities, key=lambda e: (e["offset"], -e["length"]))


class _Html(_Reader):
    def read(self) -> tuple[str, list[Entity]]:
        open_tags: list[tuple[str, int, dict[str, Any]]] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "&" and (known := _CHARACTER.match(self.text, self.at)):
                self.put(html.unescape(known.group().removesuffix(";") + ";"))
                self.at = known.end()
            elif character != "<":
                self.put(character)
                self.at += 1
            elif self.text.startswith("</", self.at):
                self._close(open_tags)
            else:
                open_tags.append(self._open())
        if open_tags:
            raise _cannot(f'Can\'t find end tag corresponding to start tag "{open_tags[-1][0]}"')
        return self.done()

    def _open(self) -> tuple[str, int, dict[str, Any]]:
        begin, end = self.at, self.text.find(">", self.at)
        if end < 0:
            raise _cannot(f"Unclosed start tag at byte offset {self.byte(begin)}")
        name, _, rest = re.sub(r"\s", " ", self.text[begin + 1 : end]).partition(" ")
        name = name.lower()
        if name not in _TAGS:
            raise _cannot(f'Unsupported start tag "{name}" at byte offset {self.byte(begin)}')
        pairs = {key: html.unescape((value or "").strip("\"'")) for key, value in _ATTRIBUTE.findall(rest)}
        if name == "span" and pairs.get("class") != "tg-spoiler":
            raise _cannot(f'Tag "span" must have class "tg-spoiler" at byte offset {self.byte(begin)}')
        self.at = end + 1
        return name, self.size, pairs

    def _close(self, open_tags: list[tuple[str, int, dict[str, Any]]]) -> None:
        begin, end = self.at, self.text.find(">", self.at)
        if not open_tags:
            raise _cannot(f"Unexpected end tag at byte offset {self.byte(begin)}")
        if end < 0:
            raise _cannot(f"Unclosed end tag at byte offset {self.byte(begin)}")
        name, start, pairs = open_tags.pop()
        ending = self.text[begin + 2 : end].strip().lower()
        if ending and ending != name:
            where = f"at byte offset {self.byte(begin)}"
            raise _cannot(f'Unmatched end tag {where}, expected "</{name}>", found "</{ending}>"')
        self.at = end + 1
        self._mark_tag(name, start, pairs)

    def _mark_tag(self, name: str, start: int, pairs: dict[str, Any]) -> None:
        kind, more = _TAGS[name], {}
        if name == "a":
            url = pairs.get("href") or _tail("".join(self.out), start)
            if user := re.fullmatch(r"tg://user\?id=(\d+)", url):
                kind, more = "text_mention", {"user": {"id": int(user.group(1)), "is_bot": False, "first_name": ""}}
            elif "." in url or "://" in url:
                more = {"url": url}
            else:
                return  # no link: the words stay
        elif name == "blockquote" and "expandable" in pairs:
            kind = "expandable_blockquote"
        elif name == "tg-emoji":
            more = {"custom_emoji_id": pairs.get("emoji-id", "")}
        elif name == "code" and pairs.get("class", "").startswith("language-"):
            more = {"language": pairs["class"].removeprefix("language-")}
        last = self.entities[-1] if self.entities else {}
        if name == "pre" and last.get("type") == "code" and last["offset"] == start and "language" in last:
            self.entities.pop()
            more = {"language": last["language"]}
        elif name == "code":
            self.mark(kind, start, more)
            return
        self.mark(kind, start, more)

    def done(self) -> tuple[str, list[Entity]]:
        for entity in self.entities:
            if entity["type"] == "code":
                entity.pop("language", None)
        return super().done()


def _tail(text: str, start: int) -> str:
    return text.encode("utf-16-le")[start * 2 :].decode("utf-16-le")


_NAMES = {
    "bold": "Bold",
    "italic": "Italic",
    "underline": "Underline",
    "strikethrough": "Strikethrough",
    "spoiler": "Spoiler",
    "code": "Code",
    "pre": "Pre",
    "text_link": "TextUrl",
    "blockquote": "BlockQuote",
}


class _MarkdownV2(_Reader):
    """Every one of `_ * [ ] ( ) ~ ` > # + - = | { } . !` that is no markup has to be escaped."""

    def read(self) -> tuple[str, list[Entity]]:
        self.stack: list[tuple[str, int, int]] = []  # kind, offset in the text, byte offset of the mark
        quote: int | None = None
        while self.at < len(self.text):
            character = self.text[self.at]
            first = self.at == 0 or self.text[self.at - 1] == "\n"
            if first and character == ">":
                quote = self.size if quote is None else quote
                self.at += 1
                continue
            if first and quote is not None:
                self.mark("blockquote", quote, {})
                quote = None
            self._step(character)
        if self.stack:
            kind, _, byte = self.stack[-1]
            raise _cannot(f"Can't find end of {_NAMES[kind]} entity at byte offset {byte}")
        if quote is not None:
            self.mark("blockquote", quote, {})
        return self.done()

    def _step(self, character: str) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if character == "\\" and following and ord(following) <= 126:
            self.put(following)
            self.at += 2
        elif character == "`":
            self._code()
        elif character in "*~_" or self.text.startswith("||", self.at):
            self._toggle(character)
        elif character == "[":
            self.stack.append(("text_link", self.size, self.byte(self.at)))
            self.at += 1
        elif character == "]" and self.stack and self.stack[-1][0] == "text_link":
            self._link()
        elif character in "]()>#+-=|{}.!":
            raise _cannot(f"Character '{character}' is reserved and must be escaped with the preceding '\\'")
        else:
            self.put(character)
            self.at += 1

    def _toggle(self, character: str) -> None:
        double = self.text.startswith(character * 2, self.at)
        kind = {"*": "bold", "~": "strikethrough", "|": "spoiler"}.get(character, "underline" if double else "italic")
        if character == "_" and double and self.stack and self.stack[-1][0] == "italic":
            kind = "italic"  # the nearest mark is closed first
        width = 2 if kind in {"underline", "spoiler"} else 1
        if self.stack and self.stack[-1][0] == kind:
            _, start, _ = self.stack.pop()
            self.mark(kind, start, {})
        else:
            self.stack.append((kind, self.size, self.byte(self.at)))
        self.at += width

    def _code(self) -> None:
        begin, start = self.at, self.size
        fence = "```" if self.text.startswith("```", begin) else "`"
        kind, more = ("pre", {}) if fence == "```" else ("code", {})
        self.at += len(fence)
        if kind == "pre" and (language := re.match(r"([^\s`]+)\n", self.text[self.at :])):
            more = {"language": language.group(1)}
            self.at += language.end()
        while self.at < len(self.text) and not self.text.startswith(fence, self.at):
            if self.text[self.at] == "\\" and self.text[self.at + 1 : self.at + 2] in ("`", "\\"):
                self.at += 1
            elif kind == "code" and self.text[self.at] == "`":
                break
            self.put(self.text[self.at])
            self.at += 1
        if self.at >= len(self.text):
            raise _cannot(f"Can't find end of {_NAMES[kind]} entity at byte offset {self.byte(begin)}")
        self.at += len(fence)
        self.mark(kind, start, more)

    def _link(self) -> None:
        _, start, _ = self.stack.pop()
        self.at += 1
        url = _tail("".join(self.out), start)
        if self.text[self.at : self.at + 1] == "(":
            begin, url = self.at + 1, ""
            self.at = begin
            while self.at < len(self.text) and self.text[self.at] != ")":
                if self.text[self.at] == "\\" and self.at + 1 < len(self.text):
                    self.at += 1
                url += self.text[self.at]
                self.at += 1
            if self.at >= len(self.text):
                raise _cannot(f"Can't find end of a URL at byte offset {self.byte(begin)}")
            self.at += 1
        if user := re.fullmatch(r"tg://user\?id=(\d+)", url):
            self.mark("text_mention", start, {"user": {"id": int(user.group(1)), "is_bot": False, "first_name": ""}})
        elif "." in url or "://" in url:
            self.mark("text_link", start, {"url": url})
