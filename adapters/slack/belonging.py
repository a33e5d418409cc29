"""Which conversation an event belongs to, where its channel and thread alone do not say it (RP-7)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from adapters.slack import codec
from adapters.slack.places import ROOTLESS, Known, address_of, conversation_of
from adapters.slack.roots import Roots
from bot.core.events import Envelope, FormSubmitted, MessageDeleted, MessageEdited, MessageReceived
from bot.ports import Store, readable

SHORT = 40  # characters of a yes or no
LOOKED_AT = 20  # conversations of a channel, when a loose message looks for the open round it means

Body = Mapping[str, Any]


class Belonging:
    def __init__(self, store: Store, roots: Roots, acted: Callable[[str], Awaitable[Sequence[str]]]) -> None:
        """`acted`: the conversations that a person has acted in, the latest first."""
        self._store, self._roots, self._acted = store, roots, acted

    async def where(self, made: Envelope, body: Body, known: Known) -> Envelope:
        """Which conversation a message belongs to, where its thread alone does not say it."""
        event = made.event
        if isinstance(event, MessageEdited | MessageDeleted):
            return await self._as_before(made, body, known)
        if not made.place.shared or isinstance(event, FormSubmitted):
            return made
        address = address_of(made.place.conversation)
        if isinstance(event, MessageReceived) and address.root is not None and not event.private:
            self._roots.said_in(address.channel, event.ref.id, address.root)
        made = await self._in_our_thread(made, known)
        if isinstance(event, MessageReceived) and not event.in_thread and not (event.summons and not event.private):
            return await self._loose(made, event)
        return made

    async def _in_our_thread(self, made: Envelope, known: Known) -> Envelope:
        """A thread that begins with a card of ours is the conversation that the card was posted for."""
        address = address_of(made.place.conversation)
        if address.root is None or address.root.startswith(ROOTLESS):
            return made
        ours = await self._roots.conversation_at(known.me.team, address.channel, address.root)
        return made if ours is None else _moved(made, ours)

    async def _loose(self, made: Envelope, event: MessageReceived) -> Envelope:
        """Said in the channel, outside any thread: meant for the only intake open there, unless it begins its own."""
        if event.addressed and not event.private:
            return made
        address = address_of(made.place.conversation)
        place = conversation_of(address.team, address.channel)
        waiting = [name for name in await self._store.asking(place, LOOKED_AT) if name != made.place.conversation]
        if len(waiting) == 1:
            return _moved(made, waiting[0])
        if not event.private and (asked := await self._asked_in(place, event)) is not None:
            return _moved(made, asked)
        return _moved(made, place) if event.private else made  # a command of the platform is about the channel

    async def _asked_in(self, place: str, event: MessageReceived) -> str | None:
        """The thread of the channel in which a question of ours waits for this person, for words short enough to be
        its answer: several rounds are summed up where they were named, and "yes" is easily said beside it."""
        if len(event.text) > SHORT:
            return None
        found: dict[datetime, str] = {}
        for name in await self._acted(event.person.id):
            state = await readable(self._store, name) if name.startswith(f"{place}/") else None
            for pending in () if state is None else state.pending:
                if pending.asked_of == event.person.id:
                    found[pending.at] = name
        return found[max(found)] if found else None

    async def _as_before(self, made: Envelope, body: Body, known: Known) -> Envelope:
        """Edits and deletions belong where the message did. One that at last names the bot says it anew (b19)."""
        event = made.event
        before = await self._store.event(codec.said_before(made))
        was = before.event if before is not None else None
        if isinstance(event, MessageEdited):
            message, channel = _edited_message(body), address_of(made.place.conversation).channel
            addressed = isinstance(was, MessageReceived) and was.addressed
            heard = addressed or await self._taken_in(made.place.conversation, event.message)
            if codec.names_us(message, known) and not heard and made.place.shared:
                said = codec.as_said(message, channel, known, made.event_id)
                return said if isinstance(said, Envelope) else made
            if before is None:  # the edit has come first, or alone: the words it left count, and the first ones never
                said = codec.as_said(message, channel, known, codec.said_before(made))
                if isinstance(said, Envelope):
                    return await self.where(said.model_copy(update={"platform_at": made.platform_at}), body, known)
            if isinstance(was, MessageReceived) and was.text == event.text:
                made = made.model_copy(update={"event": event.model_copy(update={"unchanged": True})})
        if before is not None:
            return _moved(made, before.place.conversation)
        return await self._in_our_thread(made, known) if made.place.shared else made

    async def _taken_in(self, conversation: str, message: str) -> bool:
        """Whether a message has begun something or answered in its conversation, after an edit that named the bot."""
        state = await readable(self._store, conversation)
        sessions = () if state is None else state.sessions
        items = (item for session in sessions for round_ in session.rounds for item in round_.items)
        answered = any(item.answer is not None and item.answer.ref.id == message for item in items)
        return answered or any(session.request.ref.id == message for session in sessions)


def _moved(made: Envelope, conversation: str) -> Envelope:
    return made.model_copy(update={"place": made.place.model_copy(update={"conversation": conversation})})


def _edited_message(body: Body) -> Body:
    event = body.get("event")
    if not isinstance(event, Mapping):
        return {}
    message = event.get("message")
    return message if isinstance(message, Mapping) else event
