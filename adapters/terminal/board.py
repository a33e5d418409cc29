"""What a person sees: finished messages scroll by, and the card that waits for an answer stays above the input line.

A card that is redrawn changes where it stands. When it has no buttons left it scrolls by like everything else.
"""

from __future__ import annotations

import io
from collections.abc import Callable

from prompt_toolkit.formatted_text import ANSI, FormattedText, to_formatted_text
from rich.cells import cell_len
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from adapters.limits import plain
from adapters.terminal.codec import Line, Shown
from bot.core.effects import Button, File, Message

STYLES = {"plain": "", "bold": "bold", "italic": "italic", "code": "cyan"}
KINDS = {"heading": "bold", "topic": "bold", "answered": "green", "hint": "dim"}
ROOM = 4  # rows kept for the input line, the buttons and what was said last


class Board:
    def __init__(
        self,
        console: Callable[[], Console],
        size: Callable[[], tuple[int, int]],
        redraw: Callable[[], None],
        person: str = "you",
    ) -> None:
        self._console = console
        self._size = size
        self._redraw = redraw
        self._person = person
        self._card: Shown | None = None
        self._above: tuple[str, str] | None = None  # the card that has scrolled by last, and what it said
        self._painted: dict[tuple[Message, int], str] = {}  # the standing card, by the width it was painted for

    @property
    def message(self) -> str | None:
        """The id of the card that stands."""
        return None if self._card is None else self._card.message

    @property
    def buttons(self) -> list[Button]:
        return [] if self._card is None else [button for row in self._card.content.buttons for button in row]

    def show(self, shown: Shown) -> None:
        standing = self._card
        if shown.content.buttons:
            if standing is not None and standing.message != shown.message:
                self._lift(standing)
            self._card = shown
            if self._too_tall(shown):
                self._lift(shown)
        else:
            if standing is not None and standing.message == shown.message:
                self._card = None
            self._scroll(shown)
        self._redraw()

    def prompt(self) -> FormattedText:
        """The standing card, its buttons by number, and the mark before the input."""
        parts: list[tuple[str, str]] = []
        if self._card is not None:
            if self._too_tall(self._card):  # perhaps only now: the window may have become smaller
                self._lift(self._card)
            else:
                parts += [(part[0], part[1]) for part in to_formatted_text(ANSI(self._paint(self._card.content)))]
            parts.append(("ansicyan", f"{self._keys()}\n"))
        parts.append(("bold", "> "))
        return FormattedText(parts)

    def echo(self, line: Line) -> None:
        """What the person said or pressed, as it scrolls by."""
        label = next((b.label for b in self.buttons if line.press and b.token == line.press.button), "")
        self._console().print(Text(visible(f"> [{label}]" if line.press else f"> {line.text}"), style="dim"))

    def hint(self, text: str) -> None:
        """How this terminal is used."""
        self._console().print(Text(text, style="dim"))

    def say(self, text: str) -> None:
        """Words of the terminal itself; they are no message."""
        self._console().print(Text(text, style="red"))

    def leave(self) -> None:
        """The person goes: what stood above the input stays readable."""
        if self._card is not None:
            self._lift(self._card)
            self._card = None

    def _too_tall(self, shown: Shown) -> bool:
        return self._paint(shown.content).count("\n") > max(1, self._size()[0] - ROOM)

    def _paint(self, content: Message) -> str:
        """A card as it stands above the input line, which cuts what is wider than the screen: hence wrapped here."""
        key = content, self._columns
        if key not in self._painted:
            into = io.StringIO()
            _print_blocks(Console(file=into, width=key[1], force_terminal=True, color_system="standard"), content)
            self._painted = {key: into.getvalue()}
        return self._painted[key]

    @property
    def _columns(self) -> int:
        return max(1, self._size()[1])

    def _keys(self) -> str:
        """The buttons by number, in as many lines as they take."""
        lines = [""]
        for number, button in enumerate(self.buttons, 1):
            key = f"#{number} {visible(button.label)}"
            longer = f"{lines[-1]}   {key}" if lines[-1] else key
            lines[-1:] = [longer] if cell_len(longer) <= self._columns else [*filter(None, lines[-1:]), key]
        return "\n".join(lines)

    def _lift(self, shown: Shown) -> None:
        """Let a card scroll by, once for each of its texts."""
        text = plain(shown.content)
        if (shown.message, text) != self._above:
            self._above = shown.message, text
            self._scroll(shown)

    def _scroll(self, shown: Shown) -> None:
        console = self._console()
        if shown.only_to not in (None, self._person):
            console.print(Text(f"(only to {visible(shown.only_to or '')})", style="dim"))
        _print_blocks(console, shown.content)
        for file in shown.content.files:
            # Documents for programs are named only: pages of JSON are not what a person came for.
            is_text = file.media.startswith("text/")
            console.print(_document(file) if is_text else Text(f"({visible(file.name)}, {file.media})", style="dim"))
        console.print()


def _document(file: File) -> Panel:
    return Panel(Text(visible(file.content)), title=Text(visible(file.name)), title_align="left")


def _print_blocks(console: Console, content: Message) -> None:
    for number, block in enumerate(content.blocks):
        if block.gap and number:
            console.print()
        line = Text()
        for span in block.spans:
            line.append(visible(span.text), style=f"{STYLES[span.style]} {KINDS.get(block.kind, '')}".strip())
        console.print(line, highlight=False)


def visible(text: str) -> str:
    """Control characters can rewrite a screen or a title; they become marks. Line ends and tabs stay."""
    return "".join("\ufffd" if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f" else c for c in text)
