"""What a message is as plain text, and how a long one is split. Nothing is ever cut off (CH-4, RD-8).

Pure: adapters hand in their platform's limit and get whole messages back.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

from bot.core.effects import Block, Message, Span

Unit = Literal["utf16", "characters"]


def plain(message: Message) -> str:
    """The whole message without its buttons, as people read it."""
    return _joined(message.blocks)


def block_text(block: Block) -> str:
    return "".join(span.text for span in block.spans)


def length(text: str, unit: Unit = "utf16") -> int:
    """UTF-16 code units (Telegram counts entities in them, Slack's clients count in them) or code points."""
    if unit == "characters":
        return len(text)
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(message: Message, limit: int, unit: Unit = "utf16") -> tuple[Message, ...]:
    """Parts that each fit `limit`. Splits between questions, else between blocks; inside a block only if it alone
    is too long, and then between lines, words, and at last characters. Buttons and files go with the last part.
    """
    if _fits(message.blocks, limit, unit):
        return (message,)
    parts: list[tuple[Block, ...]] = [()]
    for group in _groups(message.blocks):
        if _fits(parts[-1] + group, limit, unit):
            parts[-1] += group
        elif _fits(group, limit, unit):
            parts.append(group)
        else:
            for block in group:
                for piece in _pieces(block, limit, unit):
                    if _fits((*parts[-1], piece), limit, unit):
                        parts[-1] = (*parts[-1], piece)
                    else:
                        parts.append((piece,))
    texts = [part for part in parts if _joined(part).strip()] or [parts[-1]]
    *first, last = texts
    return (
        *(Message(blocks=part) for part in first),
        message.model_copy(update={"blocks": last}),
    )


def _joined(blocks: Sequence[Block]) -> str:
    lines: list[str] = []
    for block in blocks:
        if block.gap and lines:
            lines.append("")
        lines.append(block_text(block))
    return "\n".join(lines)


def _fits(blocks: Sequence[Block], limit: int, unit: Unit) -> bool:
    return length(_joined(blocks), unit) <= limit


def _groups(blocks: Sequence[Block]) -> Iterator[tuple[Block, ...]]:
    """Blocks of one question stay together. A heading stays with what it heads."""
    group: tuple[Block, ...] = ()
    for block in blocks:
        together = bool(group) and (
            group[-1].kind == "heading" or (block.question is not None and block.question == group[-1].question)
        )
        if group and not together:
            yield group
            group = ()
        group = (*group, block)
    if group:
        yield group


def _pieces(block: Block, limit: int, unit: Unit) -> Iterator[Block]:
    rest = block
    while not _fits((rest,), limit, unit):
        at, skip = _cut(block_text(rest), limit, unit)
        head, tail = _slice(rest, 0, at), _slice(rest, at + skip, None)
        yield head
        rest = tail.model_copy(update={"gap": False})
    yield rest


def _cut(text: str, limit: int, unit: Unit) -> tuple[int, int]:
    """Where to cut, and how many blanks vanish at the cut."""
    room = _room(text, limit, unit)
    for blank in ("\n", " "):
        at = text.rfind(blank, room // 2, room + 1)
        if at > 0 and text[:at].strip():
            return at, 1
    at = room
    while at > 1 and _joins(text, at):
        at -= 1
    return (at if at > 1 or not _joins(text, 1) else room), 0


def _room(text: str, limit: int, unit: Unit) -> int:
    """How many characters of the text fit."""
    used = 0
    for index, character in enumerate(text):
        used += length(character, unit)
        if used > limit:
            return max(1, index)
    return len(text)


def _joins(text: str, at: int) -> bool:
    """Whether a cut here would tear one visible character apart (accents, joined emoji, skin tones)."""
    before, after = text[at - 1], text[at]
    return (
        unicodedata.combining(after) != 0
        or after in "\u200d\ufe0e\ufe0f\u20e3"
        or before == "\u200d"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )


def _slice(block: Block, start: int, stop: int | None) -> Block:
    spans: list[Span] = []
    at = 0
    for span in block.spans:
        low = max(0, start - at)
        high = len(span.text) if stop is None else max(0, stop - at)
        if text := span.text[low:high]:
            spans.append(span.model_copy(update={"text": text}))
        at += len(span.text)
    return block.model_copy(update={"spans": tuple(spans)})
