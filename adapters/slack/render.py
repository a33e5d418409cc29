"""Messages to what Slack takes: Block Kit, and beside it the whole message as plain text. Pure.

Screen readers and notifications read only the top-level `text` (P71). Words go escaped; where mrkdwn would read
formatting into them, as rich text, in which nothing has a meaning. Limits: docs.slack.dev/reference/block-kit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adapters.limits import block_text, plain, split
from adapters.slack.text import MARKS, escape
from bot.core.effects import Block, Button, File, Message, Span

MAX_BLOCKS = 50
MAX_SECTION = 3000
MAX_CONTEXT = 2000
MAX_HEADER = 150
MAX_TOTAL = 12_000  # over all blocks; about 13,200 are refused (bolt-js #2509)
MAX_UPDATE = 4000  # `text` of chat.update; longer is refused
MAX_ROW = 25  # buttons in a row
MAX_LABEL = 75
MAX_TOKEN = 2000

FORM = "Answer in a form"
SEE = "To the open questions"
AT = "|"  # in a block id: before it what makes the id new, behind it the conversation


@dataclass(frozen=True, slots=True)
class Part:
    """One message as it is sent."""

    text: str
    blocks: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Rendered:
    parts: tuple[Part, ...]
    files: tuple[File, ...] = ()


def render(message: Message, conversation: str, fresh: str, link: str | None = None) -> Rendered:
    """`fresh` makes the block ids new at each drawing: with old ones clients keep what was selected before.

    `link`: the address of the card that the message sends people to; it stands below.
    """
    room = MAX_TOTAL
    while True:
        parts = tuple(
            _part(part, conversation, f"{fresh}.{n}")
            for n, part in enumerate(split(message, room, "characters"))
            if plain(part).strip() or part.buttons
        )
        if room < 500 or all(len(p.blocks) <= MAX_BLOCKS and weight(p.blocks) <= MAX_TOTAL for p in parts):
            return Rendered(_linked(parts, link) if link and parts else parts, message.files)
        room //= 2


def _linked(parts: tuple[Part, ...], link: str) -> tuple[Part, ...]:
    block = {"type": "context", "elements": [{"type": "mrkdwn", "text": f"<{link}|{SEE}>"}]}
    return (*parts[:-1], replace(parts[-1], blocks=(*parts[-1].blocks, block)))


def conversation_in(block_id: Any) -> str | None:
    """Where a pressed button belongs, as it was drawn."""
    _, at, conversation = str(block_id or "").partition(AT)
    return conversation if at and conversation else None


def brief(message: Message) -> str:
    """The text for a redrawing, in which it may not be longer than 4,000: whole questions, the open ones first."""
    whole = escape(plain(message))
    if len(whole) <= MAX_UPDATE:
        return whole
    last = "…\nThe rest stands in the message itself."
    blocks = [b for b in message.blocks if b.kind != "answered"]
    first = split(Message(blocks=tuple(blocks)), (MAX_UPDATE - len(last)) * 3 // 4, "characters")[0]
    text = escape(plain(first))
    return (text if len(text) + len(last) + 1 <= MAX_UPDATE else text[: MAX_UPDATE - len(last) - 1]) + f"\n{last}"


def weight(blocks: Sequence[dict[str, Any]]) -> int:
    """Characters of all texts in the blocks."""
    return sum(_weight(block) for block in blocks)


def _weight(value: Any) -> int:
    if isinstance(value, dict):
        own = len(value["text"]) if isinstance(value.get("text"), str) else 0
        return own + sum(_weight(inner) for key, inner in value.items() if key != "value")
    return sum(map(_weight, value)) if isinstance(value, list | tuple) else 0


# -- one message ---------------------------------------------------------------------------------------------------


def _part(message: Message, conversation: str, fresh: str) -> Part:
    blocks = [*_blocks(message.blocks), *_rows(message)]
    marked = tuple({**block, "block_id": f"{fresh}.{n}{AT}{conversation}"[:255]} for n, block in enumerate(blocks))
    return Part(_text(message), marked)


def _text(message: Message) -> str:
    """Plain words. Only somebody who is to be notified is a mention."""
    lines: list[str] = []
    for block in message.blocks:
        if block.gap and lines:
            lines.append("")
        lines.append("".join(_mention(s) or escape(s.text) for s in block.spans))
    return "\n".join(lines)


def _blocks(blocks: Sequence[Block]) -> Iterator[dict[str, Any]]:
    for group in _groups(blocks):
        first = group[0]
        if first.kind == "heading" and len(block_text(first)) <= MAX_HEADER and len(group) == 1:
            yield {"type": "header", "text": {"type": "plain_text", "text": block_text(first), "emoji": True}}
        elif first.kind == "hint" and not _rich(group) and len(_mrkdwn(group)) <= MAX_CONTEXT:
            yield {"type": "context", "elements": [{"type": "mrkdwn", "text": _mrkdwn(group)}]}
        else:
            yield from _sections(group)


def _groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """A question is one section, and so are plain lines that follow each other."""
    group: list[Block] = []
    for block in blocks:
        if group and (_sort(block) != _sort(group[-1]) or block.kind == "heading"):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _sort(block: Block) -> tuple[str, int | None]:
    if block.kind in ("heading", "hint", "answered"):
        return block.kind, None
    return "text", block.question


def _sections(group: Sequence[Block]) -> Iterator[dict[str, Any]]:
    """As one section, or as several where it is too long: cut between lines, never inside an option that fits."""
    rich = _rich(group)
    for part in split(Message(blocks=tuple(group)), MAX_SECTION, "characters"):
        if rich:
            yield _verbatim(part.blocks)
            continue
        words = _mrkdwn(part.blocks)
        if len(words) <= MAX_SECTION:
            yield {"type": "section", "text": {"type": "mrkdwn", "text": words}, "expand": True}
            continue
        for piece in split(part, MAX_SECTION // 6, "characters"):  # all of it may be `&`, which is sent as five
            yield {"type": "section", "text": {"type": "mrkdwn", "text": _mrkdwn(piece.blocks)}, "expand": True}


STYLES = {"bold": "*", "italic": "_", "code": "`"}


def _mrkdwn(blocks: Sequence[Block]) -> str:
    lines: list[str] = []
    for block in blocks:
        if block.gap and lines:
            lines.append("")
        lines.append("".join(_styled(span) for span in block.spans))
    return "\n".join(lines)


def _styled(span: Span) -> str:
    if (mention := _mention(span)) is not None:
        return mention
    words = escape(span.text)
    mark = STYLES.get(span.style, "")
    stripped = words.strip()
    return words.replace(stripped, f"{mark}{stripped}{mark}", 1) if mark and stripped else words


def _mention(span: Span) -> str | None:
    """Somebody, or a user group (`S…`), who is to be notified."""
    if span.person is None:
        return None
    name = span.person.rpartition(":")[2]
    return f"<!subteam^{name}>" if name.startswith("S") else f"<@{name}>"


def _rich(group: Sequence[Block]) -> bool:
    return any(MARKS.search(block_text(block)) for block in group)


def _verbatim(blocks: Sequence[Block]) -> dict[str, Any]:
    """Rich text: what looks like formatting, a link, a mention or an emoji in it is only words."""
    elements: list[dict[str, Any]] = []
    for n, block in enumerate(blocks):
        if n:
            elements.append({"type": "text", "text": "\n\n" if block.gap else "\n"})
        for span in block.spans:
            if span.person is not None:
                name = span.person.rpartition(":")[2]
                group = {"type": "usergroup", "usergroup_id": name}
                elements.append(group if name.startswith("S") else {"type": "user", "user_id": name})
            elif span.text:
                style = {} if span.style == "plain" else {"style": {span.style: True}}
                elements.append({"type": "text", "text": span.text, **style})
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


# -- buttons -------------------------------------------------------------------------------------------------------


def _rows(message: Message) -> Iterator[dict[str, Any]]:
    """A message is complete without its buttons (CH-1), so one that can not be is left out."""
    rows = [[button for button in row if _possible(button)] for row in message.buttons]
    rows = [row for row in rows if row]
    if message.form is not None:
        form = Button(token=message.form, label=FORM)
        if rows and len(rows) > 1:
            rows[-1].append(form)
        else:
            rows.append([form])
    for row in rows:
        for start in range(0, len(row), MAX_ROW):
            chunk = row[start : start + MAX_ROW]
            yield {"type": "actions", "elements": [_button(button, n) for n, button in enumerate(chunk)]}


def _possible(button: Button) -> bool:
    return bool(button.label.strip()) and 0 < len(button.token) <= MAX_TOKEN


def _button(button: Button, number: int) -> dict[str, Any]:
    label = button.label if len(button.label) <= MAX_LABEL else f"{button.label[: MAX_LABEL - 1]}…"
    return {
        "type": "button",
        "action_id": f"b{number}",
        "text": {"type": "plain_text", "text": label, "emoji": True},
        "value": button.token,
    }
