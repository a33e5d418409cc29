"""Messages to what the Bot API takes: text with entities, inline keyboards, documents. Pure.

Formatting goes as entities, never as markup: there is nothing to escape, so no word of a person can break a message
(core.telegram.org/bots/api#messageentity). Offsets are UTF-16 units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from telegram import InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity

from adapters.limits import block_text, length, plain, split
from bot.core.effects import Block, Button, File, Message, Span

MAX_TEXT = 4096  # after entity parsing: core.telegram.org/bots/api#sendmessage; counted in UTF-16, the stricter way
MAX_ENTITIES = 100  # what is beyond is dropped by the server, in silence
MAX_ROW = 8  # buttons in a row that clients show; more are refused or unreadable
MAX_BUTTONS = 100
MAX_TOKEN = 64  # bytes: core.telegram.org/bots/api#inlinekeyboardbutton

STYLES = {"bold": MessageEntity.BOLD, "italic": MessageEntity.ITALIC, "code": MessageEntity.CODE}
FIRST = ("heading", "topic", "answered")  # what keeps its formatting when there is too much of it

BY_REPLY = "To answer by typing, reply to this message: in this group I can't read others."


@dataclass(frozen=True, slots=True)
class Part:
    """One message as it is sent."""

    text: str
    entities: tuple[MessageEntity, ...] = ()
    keyboard: InlineKeyboardMarkup | None = None


@dataclass(frozen=True, slots=True)
class Rendered:
    parts: tuple[Part, ...]
    files: tuple[File, ...] = ()


def render(message: Message, *, by_reply: bool = False) -> Rendered:
    """`by_reply`: the place shows the bot only direct replies, and a card has to say so."""
    if by_reply and message.buttons:
        hint = Block(kind="hint", spans=(Span(text=BY_REPLY),))
        message = message.model_copy(update={"blocks": (*message.blocks, hint)})
    parts = tuple(
        Part(plain(part), tuple(_entities(part)), _keyboard(part.buttons))
        for part in split(message, MAX_TEXT)
        if plain(part).strip()
    )
    return Rendered(parts, message.files)


def _entities(message: Message) -> list[MessageEntity]:
    found: list[tuple[bool, int, MessageEntity]] = []
    at = 0
    for number, block in enumerate(message.blocks):
        at += (2 if block.gap else 1) if number else 0  # as `plain` joins them
        here = at
        for span in block.spans:
            long = length(span.text)
            if span.style in STYLES and span.text.strip():
                entity = MessageEntity(STYLES[span.style], here, long)
                found.append((block.kind not in FIRST, len(found), entity))
            here += long
        at += length(block_text(block))
    kept = sorted(found, key=lambda one: one[:2])[:MAX_ENTITIES]
    return [entity for _, _, entity in sorted(kept, key=lambda one: one[1])]


def _keyboard(buttons: tuple[tuple[Button, ...], ...]) -> InlineKeyboardMarkup | None:
    """Rows of at most eight. A message is complete without its buttons (CH-1), so one that can not be is left out."""
    rows: list[list[InlineKeyboardButton]] = []
    left = MAX_BUTTONS
    for row in buttons:
        for chunk in _chunks([b for b in row if 0 < len(b.token.encode()) <= MAX_TOKEN and b.label.strip()]):
            rows.append([InlineKeyboardButton(b.label, callback_data=b.token) for b in chunk[:left]])
            left -= len(rows[-1])
    shown = [row for row in rows if row]
    return InlineKeyboardMarkup(shown) if shown else None


def _chunks(row: list[Button]) -> Iterator[list[Button]]:
    """As few lines as can be, as even as can be: nine buttons are five and four, not eight and one."""
    lines = -(-len(row) // MAX_ROW)
    for line in range(lines):
        yield row[line * len(row) // lines : (line + 1) * len(row) // lines]
