"""Messages to what the Bot API takes: text with entities, inline keyboards, documents. Pure.

Formatting goes as entities, never as markup: there is nothing to escape, so no word of a person can break a message
(core.telegram.org/bots/api#messageentity). Offsets are UTF-16 units.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from telegram import ForceReply, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, User

from adapters.limits import block_text, length, plain, split
from bot.core.effects import Block, Button, File, Message, Span
from bot.core.model import Person
from bot.core.view import isolate

MAX_TEXT = 4096  # after entity parsing: core.telegram.org/bots/api#sendmessage; counted in UTF-16, the stricter way
MAX_ENTITIES = 100  # what is beyond is dropped by the server, in silence
MAX_FILE = 50_000_000  # bytes of a document: core.telegram.org/bots/api#senddocument
MAX_ROW = 8  # buttons in a row that clients show; more are refused or unreadable
MAX_BUTTONS = 100
COLUMNS = {1: 36, 2: 17}  # of a label that a phone shows whole, by how many buttons stand side by side
MAX_TOKEN = 64  # bytes: core.telegram.org/bots/api#inlinekeyboardbutton

STYLES = {"bold": MessageEntity.BOLD, "italic": MessageEntity.ITALIC, "code": MessageEntity.CODE}
# Telegram would make a link of `/ars` in it, and a tap would send just that; as code a tap copies the whole.
COMMAND = re.compile(r"(?<![\w/])/[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)+(?![\w/])")
FIRST = ("heading", "topic", "answered")  # what keeps its formatting when there is too much of it

BY_REPLY = "To answer by typing, reply to this message: in this group I can't read others."


@dataclass(frozen=True, slots=True)
class Part:
    """One message as it is sent."""

    text: str
    entities: tuple[MessageEntity, ...] = ()
    keyboard: InlineKeyboardMarkup | ForceReply | None = None
    upto: int = 0  # the last question in it

    @property
    def sum(self) -> str:
        """A fingerprint of all that it shows."""
        shown = [(e.type, e.offset, e.length) for e in self.entities]
        rows = self.keyboard.inline_keyboard if isinstance(self.keyboard, InlineKeyboardMarkup) else ()
        buttons = [[(b.text, b.callback_data) for b in row] for row in rows]
        return hashlib.sha256(repr((self.text, shown, buttons)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Rendered:
    parts: tuple[Part, ...]
    files: tuple[File, ...] = ()


def render(
    message: Message, *, by_reply: bool = False, upto: Sequence[int] = (), words_from: Person | None = None
) -> Rendered:
    """`by_reply`: the place shows the bot only direct replies, and a card has to say so.

    `upto`: how a card of several messages was divided, as the last question of each but the last. It stays so while
    it needs as many messages, so that a tap redraws only the messages in which something has changed.

    `words_from`: asked for their own words in a group. Their program opens a reply to the message, which arrives in
    privacy mode too. Such a message can never be edited, and has no buttons, so cards are never sent like that.
    """
    if by_reply and message.buttons:
        hint = Block(kind="hint", spans=(Span(text=BY_REPLY),))
        message = message.model_copy(update={"blocks": (*message.blocks, hint)})
    parts = tuple(
        Part(plain(part), tuple(_entities(part)), _keyboard(part.buttons), _last_question(part))
        for part in _divided(message, upto)
        if plain(part).strip()
    )
    if words_from is not None and parts and not message.buttons:
        parts = (_asking(parts[0], words_from), *parts[1:])
    return Rendered(parts, message.files)


def _asking(part: Part, person: Person) -> Part:
    """`selective` means who is mentioned in the text: core.telegram.org/bots/api#forcereply."""
    name = isolate(person.name, person.id)
    user = User(int(person.id.rpartition(":")[2]), name, is_bot=False)
    mention = MessageEntity(MessageEntity.TEXT_MENTION, 0, length(name), user=user)
    text = f"{name}, {part.text}"
    if length(text) > MAX_TEXT:
        return part
    moved = (MessageEntity(e.type, e.offset + length(f"{name}, "), e.length) for e in part.entities)
    entities = (mention, *list(moved)[: MAX_ENTITIES - 1])
    reply = ForceReply(selective=True, input_field_placeholder="In your own words")
    return Part(text, entities, reply, part.upto)


def small_enough(file: File) -> tuple[str, bytes]:
    """A document's name and content within what a bot may send; what is longer goes packed, or is said not to fit."""
    content = file.content.encode("utf-8", "replace") or b" "  # empty ones are refused
    if len(content) <= MAX_FILE:
        return file.name, content
    packed = gzip.compress(content, mtime=0)
    if len(packed) <= MAX_FILE:
        return f"{file.name}.gz", packed
    words = f"{file.name} has {len(content):,} bytes, more than can be sent here. The operator can: askfirst export"
    return f"{file.name}.txt", words.encode()


def _divided(message: Message, upto: Sequence[int]) -> tuple[Message, ...]:
    made = split(message, MAX_TEXT)
    if not upto or len(made) != len(upto) + 1:
        return made
    parts: list[list[Block]] = [[]]
    for block in message.blocks:
        if block.question is not None and len(parts) <= len(upto) and block.question > upto[len(parts) - 1]:
            parts.append([])
        parts[-1].append(block)
    again = [Message(blocks=tuple(part)) for part in parts]
    if len(again) != len(made) or any(not 0 < length(plain(part)) <= MAX_TEXT for part in again):
        return made
    again[-1] = again[-1].model_copy(update={"buttons": message.buttons, "files": message.files})
    return tuple(again)


def _last_question(message: Message) -> int:
    return max((block.question for block in message.blocks if block.question is not None), default=0)


def _entities(message: Message) -> list[MessageEntity]:
    found: list[tuple[bool, int, MessageEntity]] = []
    at = 0
    for number, block in enumerate(message.blocks):
        at += (2 if block.gap else 1) if number else 0  # as `plain` joins them
        here = at
        for span in block.spans:
            long = length(span.text)
            if span.person is not None and span.text.strip():  # a name alone notifies nobody (CH-6)
                user = User(int(span.person.rpartition(":")[2]), span.text, is_bot=False)
                mention = MessageEntity(MessageEntity.TEXT_MENTION, here, long, user=user)
                found.append((False, len(found), mention))
            style = "italic" if block.kind == "hint" and span.style == "plain" else span.style
            if style in STYLES and span.text.strip():
                entity = MessageEntity(STYLES[style], here, long)
                found.append((block.kind not in FIRST, len(found), entity))
            elif "/" in span.text:
                for word in COMMAND.finditer(span.text):
                    start, long_word = here + length(span.text[: word.start()]), length(word[0])
                    found.append((True, len(found), MessageEntity(MessageEntity.CODE, start, long_word)))
            here += long
        at += length(block_text(block))
    kept = sorted(found, key=lambda one: one[:2])[:MAX_ENTITIES]
    return [entity for _, _, entity in sorted(kept, key=lambda one: one[1])]


def _keyboard(buttons: tuple[tuple[Button, ...], ...]) -> InlineKeyboardMarkup | None:
    """Rows of at most eight. A message is complete without its buttons (CH-1), so one that can not be is left out."""
    rows: list[list[InlineKeyboardButton]] = []
    left = MAX_BUTTONS
    for row in buttons:
        fit = [b for b in row if 0 < len(b.token.encode()) <= MAX_TOKEN and b.label.strip()]
        for chunk in _lines(fit):
            rows.append([InlineKeyboardButton(label, callback_data=token) for label, token in chunk[:left]])
            left -= len(rows[-1])
    shown = [row for row in rows if row]
    return InlineKeyboardMarkup(shown) if shown else None


def _lines(row: list[Button]) -> Iterator[list[tuple[str, str]]]:
    """The buttons of a row, with their longer labels where all of them can be read on a phone."""
    longer = [b.long or b.label for b in row]
    widest = max(map(columns, longer), default=0)
    if any(b.long for b in row) and widest <= COLUMNS[1]:
        most, labels = (2 if widest <= COLUMNS[2] else 1), longer
    else:
        most, labels = MAX_ROW, [b.label for b in row]
    made = [(label, b.token) for label, b in zip(labels, row, strict=True)]
    return _chunks(made, most)


def _chunks(row: list[tuple[str, str]], most: int) -> Iterator[list[tuple[str, str]]]:
    """As few lines as can be, as even as can be: nine buttons are five and four, not eight and one."""
    lines = -(-len(row) // most)
    for line in range(lines):
        yield row[line * len(row) // lines : (line + 1) * len(row) // lines]


def columns(text: str) -> int:
    """How wide a text is: letters of Chinese, Japanese and Korean, and signs like ✅, take two columns."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
