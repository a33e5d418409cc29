"""`askfirst chat` for a person: type answers, or press a button by its number.

Buttons have numbers; typing `#2` presses the second one, and so do Alt-2 and F2. Plain digits stay text, because
"2" may be an answer. `/quit`, Ctrl-D and Ctrl-C on an empty line leave.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass

from prompt_toolkit import PromptSession
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output
from prompt_toolkit.patch_stdout import patch_stdout
from rich.console import Console

from adapters.terminal.board import Board
from adapters.terminal.chat import Chat, Parts
from adapters.terminal.codec import Line, Press, Shown
from bot.core.codec import UnreadableState
from bot.faults import report
from bot.outbox import TransportBroken
from bot.ports import StoreUnavailable

GREETING = (
    "Say what you need; name your files. A button is pressed by its number: #2. /help says more, Ctrl-D leaves."
)


@dataclass(frozen=True, slots=True)
class Pressed:
    number: int
    typed: str = ""  # what stood in the input line; it is there again afterwards


class Interrupted(Exception):
    """Ctrl-C. A KeyboardInterrupt inside a task would end the whole loop, and with it what is being stored."""


async def run_interactive(
    make_parts: Callable[[Callable[[Shown], None]], Parts],
    *,
    person: str = "you",
    history: History | None = None,
    terminal: tuple[Input, Output] | None = None,
    console: Console | None = None,
) -> int:
    """Talk with one person until they leave. `terminal` and `console` are handed in by tests only."""
    into, out = terminal or (None, None)
    session: PromptSession[str | Pressed] = PromptSession(
        history=history or InMemoryHistory(),
        key_bindings=_keys(),
        interrupt_exception=Interrupted,
        erase_when_done=True,  # the card above the input stands once, not once for each line typed
        input=into,
        output=out,
    )
    board = Board(
        # A console writes where standard output goes now: above the input line, while that is patched.
        console=lambda: console or Console(highlight=False, soft_wrap=False),
        size=lambda: (session.output.get_size().rows, session.output.get_size().columns),
        redraw=session.app.invalidate,
        person=person,
    )
    with patch_stdout(raw=True):
        chat = Chat(make_parts(board.show))
        try:
            board.hint(GREETING)
            await chat.begin()
            await _stand_again(chat, board)
            await _talk(chat, board, session, person)
            await chat.end()
        except TransportBroken:
            return 1
        board.leave()
    return 0


async def _stand_again(chat: Chat, board: Board) -> None:
    """After a restart the card that waits for an answer is there, as it was."""
    place = Line()
    found = await chat.standing(place.conversation) if board.message is None else None
    if found is not None:
        board.show(Shown(found[0], place.place, found[1], edits=found[0]))


async def _talk(chat: Chat, board: Board, session: PromptSession[str | Pressed], person: str) -> None:
    typed = ""
    while True:
        prompt = asyncio.ensure_future(session.prompt_async(board.prompt, default=typed))
        typed = ""
        try:
            entered = await chat.wait_for(prompt)
        except Interrupted:
            if session.default_buffer.text:
                continue
            return
        except EOFError:
            return
        finally:
            prompt.cancel()
        if isinstance(entered, str) and entered.strip() == "/quit":
            return
        if isinstance(entered, Pressed):
            typed = entered.typed
        line = _line(entered, board, person)
        if line is not None:
            board.echo(line)
            await _take(chat, board, line)


async def _take(chat: Chat, board: Board, line: Line) -> None:
    try:
        await chat.take(line, await chat.name(line))
    except (TransportBroken, StoreUnavailable, UnreadableState):
        raise
    except Exception as error:  # noqa: BLE001 - one line's failure must not end the chat
        report("line_failed", error)
        board.say("That was our mistake: nothing of it was stored. Please say it in other words.")


def _line(entered: str | Pressed, board: Board, person: str) -> Line | None:
    number = _number(entered)
    if number is not None and board.message is not None and 1 <= number <= len(board.buttons):
        return Line(person=person, press=Press(board.message, board.buttons[number - 1].token))
    if isinstance(entered, Pressed) or not entered.strip():
        return None
    return Line(person=person, text=entered)


def _number(entered: str | Pressed) -> int | None:
    if isinstance(entered, Pressed):
        return entered.number
    typed = re.fullmatch(r"\s*#(\d{1,2})\s*", entered)
    return None if typed is None else int(typed[1])


def _keys() -> KeyBindings:
    keys = KeyBindings()

    def bind(number: int) -> None:
        def press(event: KeyPressEvent) -> None:
            event.app.exit(result=Pressed(number, event.app.current_buffer.text))

        keys.add("escape", str(number))(press)
        keys.add(f"f{number}")(press)

    for number in range(1, 10):
        bind(number)
    return keys
