"""One update, whichever way it came: read, completed from the store, handled. The same behind polling and webhook.

When `take` returns, what the update says is committed, or there is nothing to commit; only then may it be confirmed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import structlog
from telegram import Bot

from adapters.telegram.cards import Cards
from adapters.telegram.codec import event_from_update, move_of, read_update, said_id
from adapters.telegram.hearing import Hearing
from adapters.telegram.places import PLATFORM, Me, Moves
from adapters.telegram.transport import TelegramTransport
from bot.core.effects import Message, Reply
from bot.core.events import ButtonPressed, Envelope, Ignored, MessageEdited, MessageReceived
from bot.ports import Handled, Store
from bot.runner import Runner

MOVED = f"{PLATFORM}:moved:"
PARKED = f"{PLATFORM}:parked:"
MOST_PARKED = 200  # unreadable updates kept for a look; more are only counted
LONGEST_PARKED = 20_000  # characters
GOODBYE = 5.0  # seconds that notices under way get at the end
COPY = "This is a copy of a card. Please answer on the card itself, in its own chat."

log = structlog.get_logger(__name__)


class Intake:
    def __init__(
        self,
        bot: Bot | None,
        me: Me,
        moves: Moves,
        store: Store,
        runner: Runner,
        transport: TelegramTransport,
        cards: Cards,
        hearing: Hearing,
    ) -> None:
        self._bot = bot
        self._me = me
        self._moves = moves
        self._store = store
        self._runner = runner
        self._transport = transport
        self._cards = cards
        self._hearing = hearing
        self._answers: set[asyncio.Task[None]] = set()
        self.ignored = 0
        self.parked = 0

    async def take(self, raw: Any) -> Handled | Ignored:
        update = read_update(raw, self._bot)
        if isinstance(update, Ignored):
            return await self._park(raw, update)
        move = move_of(update)
        if move is not None:
            await self.moved(*move)
        self._hearing.learn(update)
        if (added := self._hearing.added(update)) is not None:
            return await self._runner.handle(added)
        made = event_from_update(update, self._me)
        if isinstance(made, Ignored):
            if made.reason.startswith("unreadable"):
                return await self._park(raw, made)
            self.ignored += 1
            log.info("update_ignored", update=update.update_id, reason=made.reason)
            if update.callback_query is not None:
                self._answer(self._transport.notice(update.callback_query.id, COPY))
            return made
        handled = await self._runner.handle(await self._complete(made))
        if isinstance(made.event, ButtonPressed):
            # Every press is answered, or its button keeps turning; after the commit, and nobody waits for it.
            self._answer(self._transport.reply(made, handled.reply or Reply(text="")))
        return handled

    async def moved(self, old: int, new: int) -> None:
        """A group has become a supergroup: remembered for good."""
        if self._moves.moved(old, new):
            log.info("group_moved", old=old, new=new)
        await self._store.keep(f"{MOVED}{new}", str(self._moves.first[new]))

    async def recall(self) -> None:
        """What earlier runs have learned."""
        for key, first in (await self._store.kept(MOVED)).items():
            self._moves.moved(int(first), int(key.removeprefix(MOVED)))
        self.parked = len(await self._store.kept(PARKED))

    async def finish(self) -> None:
        """Let the notices under way be sent, within bounds."""
        if self._answers:
            _, late = await asyncio.wait(self._answers, timeout=GOODBYE)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    # -- small things --------------------------------------------------------------------------------------------

    async def _complete(self, made: Envelope) -> Envelope:
        """What an update does not say but the store knows."""
        event = made.event
        if isinstance(event, ButtonPressed) and event.label == event.token and event.ref.card is not None:
            drawings = await self._store.drawings(made.place.conversation, event.ref.card)
            label = _label(drawings, event.token)  # on a stub of an old card (b10), or on an older screen
            if label is not None:
                ref = event.ref.model_copy(update={"quote": label})
                return made.model_copy(update={"event": event.model_copy(update={"label": label, "ref": ref})})
        if isinstance(event, MessageReceived) and event.reply_to is not None:
            card = await self._cards.last_of(made.place.conversation, event.reply_to)
            if card is not None:  # a reply to an earlier part of a long card is a reply to the card
                return made.model_copy(update={"event": event.model_copy(update={"reply_to": card})})
        if isinstance(event, MessageEdited):
            before = await self._store.event(said_id(made))
            first = before.event if before is not None else None
            if isinstance(first, MessageReceived) and first.text == event.text:
                return made.model_copy(update={"event": event.model_copy(update={"unchanged": True})})
        return made

    async def _park(self, raw: Any, why: Ignored) -> Ignored:
        """Kept as it came, for a look and a later version; never asked for again, so nobody waits behind it."""
        self.parked += 1
        number = raw.get("update_id") if isinstance(raw, dict) else None
        log.warning("update_parked", update=number if isinstance(number, int) else None, reason=why.reason)
        if self.parked <= MOST_PARKED:
            words = json.dumps({"reason": why.reason, "update": raw}, default=str)[:LONGEST_PARKED]
            await self._store.keep(f"{PARKED}{number if isinstance(number, int) else self.parked}", words)
        return why

    def _answer(self, sending: Any) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(sending)
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)


def _label(drawings: Sequence[Message], token: str) -> str | None:
    buttons = (button for shown in reversed(drawings) for row in shown.buttons for button in row)
    return next((button.label for button in buttons if button.token == token), None)
