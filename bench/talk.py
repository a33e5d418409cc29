"""People for the measurements: each has a place of their own and goes through whole intakes, typing and tapping."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterator

from bot.clock import SystemClock
from bot.core.events import ButtonPressed, Envelope, Event, MessageReceived, TimerDue
from bot.core.model import MessageRef, Person, Place
from bot.core.state import Conversation, Round
from bot.ports import Handled

Handle = Callable[[Envelope], Awaitable[Handled]]
See = Callable[[str], Conversation]  # the state of a place as it is now: a tap needs the names on the buttons

STEPS = 7  # events of one intake


class Talker:
    """One person in one place. `intakes` is how many they go through, one after the other."""

    def __init__(self, number: int, intakes: int, see: See) -> None:
        self.intakes = intakes
        self.place = Place(conversation=f"terminal:person{number:04d}", platform="terminal")
        self._person = Person(id=f"terminal:person{number:04d}", name="Ana")
        self._see = see
        self._counted = itertools.count(1)
        self._clock = SystemClock()

    def events(self) -> Iterator[Envelope]:
        """To be handled one by one: each is made from what the one before has led to."""
        for intake in range(self.intakes):
            yield self._says(f"/ars-lit-review how moss changes flat roofs, take {intake}")
            yield self._taps(1, "A")
            yield self._taps(2, "B")
            yield self._says("3: A, 4: B because the other one is behind a paywall")
            yield self._says("hm, what would the last one change for me?")
            yield self._taps(5, "A")
            session = self._see(self.place.conversation).sessions[-1]
            yield self._envelope(TimerDue(name=f"grace:{session.id}"))

    def done(self) -> bool:
        """Whether every intake has come to its end: a step that only refuses would be cheap."""
        state = self._see(self.place.conversation)
        ended = [s.stage.how for s in state.sessions if s.stage.kind == "ended"] + [a.how for a in state.ancient]
        return ended == ["completed"] * self.intakes

    def _says(self, text: str) -> Envelope:
        number = next(self._counted)
        ref = MessageRef(id=f"m{number}", quote=text)
        return self._envelope(MessageReceived(person=self._person, text=text, ref=ref, order=number), number)

    def _taps(self, question: int, letter: str) -> Envelope:
        number = next(self._counted)
        round_ = self._round()
        ref = MessageRef(id=f"p{number}", quote=letter, card=f"card of {round_.id}")
        token = f"a:{round_.id}:{question}:{letter}"
        return self._envelope(ButtonPressed(person=self._person, token=token, label=letter, ref=ref), number)

    def _round(self) -> Round:
        session = self._see(self.place.conversation).sessions[-1]
        return session.rounds[-1]

    def _envelope(self, event: Event, number: int | None = None) -> Envelope:
        name = f"{self.place.conversation}:{next(self._counted) if number is None else number}"
        return Envelope(event_id=name, place=self.place, at=self._clock.now(), event=event)
