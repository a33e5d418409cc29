"""The terminal as a platform: messages get numbers and go to a screen: lines of JSON, or a person's terminal."""

from __future__ import annotations

from collections.abc import Callable

from adapters.terminal.codec import PLATFORM, Shown, find_button
from bot.core.effects import Block, Button, Message, Redraw, Reply, Say, Span
from bot.core.events import Envelope
from bot.ports import Sent

Screen = Callable[[Shown], None]  # raises bot.outbox.TransportBroken when nobody reads any more


class TerminalTransport:
    """`posted` is the number of messages posted before, by earlier runs on the same database.

    A message gets its number when it is shown, and the count moves on only then: a row that is shown again after a
    crash has the same number, so both copies are seen to be one message.
    """

    platform = PLATFORM

    def __init__(self, screen: Screen, posted: int = 0) -> None:
        self._screen = screen
        self._posted = posted
        self._drawings: dict[tuple[str, str], list[Message]] = {}

    @property
    def posted(self) -> int:
        return self._posted

    async def post(self, conversation: str, say: Say) -> Sent:
        number = self._posted + 1
        message = f"m{number}"
        only_to = None if say.only_to is None else _name(say.only_to)
        self._show(
            conversation, Shown(message, _name(conversation), say.message, None, only_to, say.session, say.round)
        )
        self._posted = number
        return Sent(message, order_of_message(number))

    async def redraw(self, conversation: str, message: str, redraw: Redraw) -> Sent:
        shown = Shown(message, _name(conversation), redraw.message, message, None, redraw.session, redraw.round)
        self._show(conversation, shown)
        return Sent(message, order_of_message(int(message.removeprefix("m"))))

    async def reply(self, envelope: Envelope, reply: Reply) -> None:
        """A notice to the person who pressed. It is not a message of the outbox and takes no number."""
        person = getattr(envelope.event, "person", None)
        act = envelope.event_id.removeprefix(f"{envelope.place.conversation}:")
        text = Message(blocks=(Block(spans=(Span(text=reply.text),)),))
        only_to = None if person is None else person.name
        self._screen(Shown(f"{act}.reply", _name(envelope.place.conversation), text, None, only_to))

    def drawings(self, conversation: str, message: str) -> list[Message]:
        """What a message has shown in this run, oldest first."""
        return self._drawings.get((conversation, message), [])

    def button(self, conversation: str, message: str, wanted: str) -> Button | None:
        return find_button(wanted, self.drawings(conversation, message))

    def _show(self, conversation: str, shown: Shown) -> None:
        self._screen(shown)
        if shown.content.buttons or (conversation, shown.message) in self._drawings:
            self._drawings.setdefault((conversation, shown.message), []).append(shown.content)


def order_of_message(number: int) -> int:
    return 2 * number


def order_of_line(posted: int) -> int:
    """A line comes after every message shown before it was read, and before the next one (RP-7)."""
    return 2 * posted + 1


def _name(whole: str) -> str:
    return whole.removeprefix(f"{PLATFORM}:")
