"""A chat on the terminal, whatever draws it: lines in, events through the runner, messages out, timers in between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from adapters.terminal.codec import PLATFORM, Line, envelope, find_button
from adapters.terminal.transport import TerminalTransport, order_of_line
from bot.bell import heard_or_due
from bot.core.effects import Message
from bot.core.events import MessageReceived
from bot.outbox import Outbox
from bot.ports import Clock, Handled, Store
from bot.runner import Runner
from bot.timers import Timers

T = TypeVar("T")

LOOK_BACK = 30  # messages, for the card that was standing when an earlier run ended
AT_THE_END = ("grace",)  # timers, by the start of their names, that are not waited for at end of input (RD-16)
PAUSE = 0.25  # seconds, when something is due that is not ours to take

# What a message showed last, by conversation and message id: for presses on messages of an earlier run.
Recall = Callable[[str, str], Awaitable[Message | None]]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a chat is made of. The outbox must send through `transport` and hold rows with no lease (one process)."""

    store: Store
    runner: Runner
    outbox: Outbox
    timers: Timers
    transport: TerminalTransport
    clock: Clock
    recall: Recall | None = None
    at_the_end: Sequence[str] = AT_THE_END


class Chat:
    """One line at a time: it is handled, and what it caused is out, before the next one is looked at."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._heard = parts.runner.bell.listen()
        self._next_id = 1

    async def begin(self) -> None:
        """Send what an earlier run had not: messages of the outbox, and timers whose time has come."""
        await self._parts.outbox.drain()
        await self.settle()

    async def standing(self, conversation: str) -> tuple[str, Message] | None:
        """The newest message there that has buttons, and its id: an earlier run may have shown it."""
        newest = self._parts.transport.posted
        for number in range(newest, max(0, newest - LOOK_BACK), -1):
            found = await self._parts.recall(conversation, f"m{number}") if self._parts.recall else None
            if found is not None and found.buttons:
                return f"m{number}", found
        return None

    async def settle(self) -> None:
        """Fire what is due and send what is ready."""
        self._heard.clear()
        await self._parts.timers.fire_due()
        await self._parts.outbox.drain()

    async def wait_for(self, coming: asyncio.Future[T]) -> T:
        """Wait for the next line; meanwhile timers fire and other events' messages go out."""
        parts = self._parts
        while not coming.done():
            due = await parts.store.next_due((PLATFORM,))  # a server may use the database too
            quiet = asyncio.ensure_future(heard_or_due(self._heard, parts.clock, due, least=PAUSE))
            try:
                await asyncio.wait((coming, quiet), return_when=asyncio.FIRST_COMPLETED)
            finally:
                quiet.cancel()
                await asyncio.gather(quiet, return_exceptions=True)
            if not coming.done():
                await self.settle()
        return coming.result()

    async def take(self, line: Line, line_id: str) -> Handled:
        """Handle a line and send everything that follows from it."""
        parts = self._parts
        button = None
        if line.press is not None:
            button = parts.transport.button(line.conversation, line.press.message, line.press.button)
            if button is None and parts.recall is not None:
                before = await parts.recall(line.conversation, line.press.message)
                button = None if before is None else find_button(line.press.button, [before])
        order: int | None = order_of_line(parts.transport.posted)
        if line.edit is not None:  # of the message, not of its change
            said = await parts.store.event(line.event_id(line.edit))
            order = said.event.order if said is not None and isinstance(said.event, MessageReceived) else None
        handled = await parts.runner.receive(envelope(line, line_id, order, button), parts.transport)
        await self.settle()
        return handled

    async def name(self, line: Line) -> str:
        """The line's id, or the next `u<n>` that this place has not seen, so that a restart repeats none."""
        if line.id is not None:
            return line.id
        if await self._seen(line, self._next_id):
            step = 1
            while await self._seen(line, self._next_id + step):
                step *= 2
            low, high = self._next_id + step // 2, self._next_id + step  # seen, not seen
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if await self._seen(line, middle) else (low, middle)
            self._next_id = high
        fresh = f"u{self._next_id}"
        self._next_id += 1
        return fresh

    async def _seen(self, line: Line, number: int) -> bool:
        return await self._parts.store.seen(line.event_id(f"u{number}"))

    async def end(self) -> None:
        """End of input: nobody is left to change an answer within the grace. Other timers wait for the next run."""
        await self.settle()
        for prefix in self._parts.at_the_end:
            await self._parts.timers.fire_now(prefix)
        await self.settle()
