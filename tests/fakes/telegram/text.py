"""Text as Telegram counts and marks it: UTF-16 offsets, entities that it finds itself, entities as readable text."""

from __future__ import annotations

import re
from typing import Any

from tests.fakes.telegram.errors import bad

Entity = dict[str, Any]

MAX_TEXT = 4096  # sendMessage: "1-4096 characters after entities parsing"; the server counts code points
MAX_CAPTION = 1024  # sendDocument: "0-1024 characters after entities parsing"
MAX_REQUEST_TEXT = 1 << 15  # Client.cpp get_formatted_text: text.size() > (1 << 15) is "Text is too long"
MAX_ENTITIES = 100  # TDLib MAX_USER_ENTITY_COUNT: what is beyond is dropped without a word

FOUND = frozenset({"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number"})
GIVEN = frozenset(
    [
        "bold",
        "italic",
        "underline",
        "strikethrough",
        "spoiler",
        "blockquote",
        "expandable_blockquote",
        "code",
        "pre",
        "text_link",
        "text_mention",
        "custom_emoji",
        "date_time",
    ]
)

# TDLib MessageEntity.cpp match_bot_commands, match_mentions: a hyphen ends a command, a letter beside it spoils it.
_COMMAND = re.compile(r"(?<![\w/<>])/[a-zA-Z0-9_]{1,64}+(?:@[a-zA-Z0-9_]{3,32}+(?![\w/<>])|(?![\w/<>@]))")
_MENTION = re.compile(r"(?<!\w)@[a-zA-Z0-9_]{4,32}+(?!\w)")
_HASHTAG = re.compile(r"(?<!\w)#(?=\w*[^\W\d])\w{1,256}+(?!#)")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*\.[a-z]{2,}(?![\w-])")
_URL = re.compile(r"(?:https?://[^\s<>]+|(?<![\w.@-])(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|me|de|eu)(?:/[^\s<>]*)?)")

_PATTERNS = (
    ("url", _URL),
    ("email", _EMAIL),
    ("bot_command", _COMMAND),
    ("mention", _MENTION),
    ("hashtag", _HASHTAG),
)


def utf16(text: str) -> int:
    """UTF-16 code units: what entity offsets count."""
    return len(text) + sum(1 for c in text if ord(c) > 0xFFFF)


def cut(text: str, offset: int, length: int) -> str:
    """The part of a text that an entity covers."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return raw[offset * 2 : (offset + length) * 2].decode("utf-16-le", "replace")


def found(text: str) -> list[Entity]:
    """What Telegram marks on its own, in order, without overlaps. Links without a scheme: common endings only."""
    spans: list[tuple[int, int, str]] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if kind == "url":
                end = start + len(match.group().rstrip(".,;:!?'\")"))
            if all(end <= low or start >= high for low, high, _ in spans):
                spans.append((start, end, kind))
    return [
        {"type": kind, "offset": utf16(text[:start]), "length": utf16(text[start:end])}
        for start, end, kind in sorted(spans)
    ]


def clean(text: str) -> str:
    """TDLib clean_input_string: no carriage returns, no control characters, no marks that turn the direction."""
    text = text.replace("\r", "")
    text = "".join(" " if c < " " and c != "\n" else c for c in text)
    return re.sub("[\u2028-\u202e]", "", text)


def trimmed(text: str, entities: list[Entity]) -> tuple[str, list[Entity]]:
    """Blanks at both ends go, and entities with them."""
    short = text.lstrip()
    lead = utf16(text[: len(text) - len(short)])
    short = short.rstrip()
    end = utf16(short)
    kept = []
    for entity in entities:
        start = max(0, entity["offset"] - lead)
        stop = min(end, entity["offset"] + entity["length"] - lead)
        if stop > start and cut(short, start, stop - start).strip():
            kept.append(entity | {"offset": start, "length": stop - start})
    return short, kept


def check_bounds(text: str, entities: list[Entity]) -> None:
    """TDLib fix_entities: every entity lies in the text and cuts no surrogate pair in two."""
    edges, at = {0}, 0
    for character in text:
        at += 2 if ord(character) > 0xFFFF else 1
        edges.add(at)
    for entity in entities:
        start, length = entity["offset"], entity["length"]
        if start < 0 or length < 0:
            raise bad(f"receive an entity with incorrect {'offset' if start < 0 else 'length'}")
        stop = start + length
        if stop > at:
            what = f"entity beginning at UTF-16 offset {start}"
            raise bad(f"{what} ends after the end of the text at UTF-16 offset {stop}")
        if start not in edges:
            raise bad(f"entity begins in a middle of a UTF-16 symbol at UTF-16 offset {start}")
        if stop not in edges:
            raise bad(f"entity beginning at UTF-16 offset {start} ends in a middle of a UTF-16 symbol at {stop}")


_MARKS = {
    "bold": ("**", "**"),
    "italic": ("_", "_"),
    "underline": ("__", "__"),
    "strikethrough": ("~~", "~~"),
    "spoiler": ("||", "||"),
    "code": ("`", "`"),
    "pre": ("```", "```"),
    "blockquote": ("> ", ""),
    "expandable_blockquote": (">> ", ""),
}


def readable(text: str, entities: list[Entity]) -> str:
    """The text with its entities drawn as marks, for people and for assertions."""
    marks: list[tuple[int, int, int, str]] = []
    for number, entity in enumerate(entities):
        start, stop = entity["offset"], entity["offset"] + entity["length"]
        before, after = _MARKS.get(entity["type"], ("", ""))
        if entity["type"] == "text_link":
            before, after = "[", f"]({entity['url']})"
        elif entity["type"] == "text_mention":
            before, after = "[", f"](user {entity['user']['id']})"
        if before:
            marks += [(start, 1, number, before), (stop, 0, -number, after)]
    drawn, at = "", 0
    for position, _, _, mark in sorted(marks):
        drawn += cut(text, at, position - at) + mark
        at = position
    return drawn + cut(text, at, utf16(text) - at)
