"""One update, whichever way it came: read, completed from the store, handled. The same behind polling and webhook.

When `take` returns, what the update says is committed, or there is nothing to commit; only then may it be confirmed.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Coroutine, Sequence
from typing import Any

import structlog
from telegram import Bot, Update

from adapters.contract import UNSTAMPED
from adapters.parked import shelf
from adapters.telegram.cards import Cards
from adapters.telegram.codec import event_from_update, is_stub, move_of, read_update, said_id, to_us
from adapters.telegram.hearing import Hearing
from adapters.telegram.places import PLATFORM, Me, Moves
from adapters.telegram.standing import Standing, standing_of
from adapters.telegram.transport import TelegramTransport
from bot.core.effects import Message, Reply
from bot.core.events import (
    ButtonPressed,
    Envelope,
    Ignored,
    MessageEdited,
    MessageReceived,
    PlaceLost,
    PlaceRestored,
)
from bot.core.model import Place
from bot.faults import report
from bot.ports import Clock, Handled, StaleRevision, Store, StoreUnavailable, readable
from bot.runner import Runner

MOVED = f"{PLATFORM}:moved:"
PARKED = shelf(PLATFORM)
MOST_PARKED = 200  # updates kept for a look and a retry; more unreadable ones are only counted
LONGEST_PARKED = 200_000  # characters
TRIES = 3  # at an update that we ourselves fail on, before it is put aside
ANSWERED = 2000  # presses remembered as answered; they expire within minutes
GOODBYE = 5.0  # seconds that notices under way get at the end
COPY = "This is a copy of a card. Please answer on the card itself, in its own chat."

log = structlog.get_logger(__name__)


class Intake:
    """`transport` answers presses; without one, as in a retry long after, nobody waits for an answer.

    `again`: these updates failed before, and what people have said since stands.
    """

    def __init__(
        self,
        bot: Bot | None,
        me: Me,
        moves: Moves,
        store: Store,
        runner: Runner,
        clock: Clock,
        transport: TelegramTransport | None,
        cards: Cards,
        hearing: Hearing | None,
        *,
        again: bool = False,
    ) -> None:
        self._bot = bot
        self._me = me
        self._moves = moves
        self._store = store
        self._runner = runner
        self._clock = clock
        self._again = again
        self._tries: OrderedDict[Any, int] = OrderedDict()
        self._transport = transport
        self._cards = cards
        self._hearing = hearing
        self._answered: OrderedDict[str, None] = OrderedDict()
        self._answers: set[asyncio.Task[None]] = set()
        self.ignored = 0
        self.parked = 0

    async def take(self, raw: Any) -> Handled | Ignored:
        """Raises what is worth another delivery. An update that we fail on again and again is put aside (b23)."""
        key = raw.get("update_id") if isinstance(raw, dict) else None
        try:
            taken = await self.handle(raw)
        except (StoreUnavailable, StaleRevision):
            raise  # nothing is wrong with the update
        except Exception as error:
            tries = self._tries.pop(key, 0) + 1
            if tries < TRIES or self.parked >= MOST_PARKED:
                self._tries[key] = tries
                while len(self._tries) > MOST_PARKED:
                    self._tries.popitem(last=False)
                raise
            report("update_given_up", error, update=key)
            return await self._park(raw, Ignored(reason=f"failed {tries} times: {type(error).__name__}"))
        self._tries.pop(key, None)
        return taken

    async def handle(self, raw: Any) -> Handled | Ignored:
        """One try."""
        update = read_update(raw, self._bot)
        if isinstance(update, Ignored):
            return await self._park(raw, update)
        move = move_of(update)
        if move is not None:
            await self.moved(*move)
        if self._hearing is not None:
            self._hearing.learn(update)
            if (added := self._hearing.added(update)) is not None:
                await self._runner.handle(added)
        standing = standing_of(update, self._me)
        if standing is not None:
            return await self._changed(standing)
        made = event_from_update(update, self._me)
        if isinstance(made, Ignored):
            if made.reason.startswith("unreadable"):
                return await self._park(raw, made)
            self.ignored += 1
            log.info("update_ignored", update=update.update_id, reason=made.reason)
            if update.callback_query is not None and self._transport is not None:
                query = update.callback_query.id
                self._answer(query, self._transport.notice(query, COPY))
            return made
        handled = await self._runner.handle(await self._complete(made, update))
        if isinstance(made.event, ButtonPressed) and self._transport is not None:
            # Every press is answered, or its button keeps turning; after the commit, and nobody waits for it.
            self._answer(made.event.ref.id, self._transport.reply(made, handled.reply or Reply(text="")))
        elif handled.reply is not None and self._transport is not None:  # said at once, since nothing is stored of it
            self._answer(made.event_id, self._transport.reply(made, handled.reply))
        return handled

    async def _changed(self, standing: Standing) -> Ignored:
        """Where the bot may write, or no longer may: told to each conversation there that has something open.

        The place itself learns it also with nothing open: a result may not have arrived there.
        """
        event = PlaceRestored() if standing.lost is None else PlaceLost(reason=standing.lost)
        told = 0
        open_ = await self._store.open_conversations(PLATFORM)
        for conversation in dict.fromkeys((*open_, standing.conversation)):
            if not standing.concerns(conversation):
                continue
            state = await readable(self._store, conversation)
            if state is not None:
                place = Place(conversation=conversation, platform=PLATFORM, shared=state.place.shared)
                event_id = f"{standing.event_id}:{conversation}"
                await self._runner.handle(Envelope(event_id=event_id, place=place, at=UNSTAMPED, event=event))
                told += 1
        log.info("standing_changed", place=standing.conversation, lost=standing.lost, told=told)
        return Ignored(reason="the bot's own standing")

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

    async def _complete(self, made: Envelope, update: Update) -> Envelope:
        """What an update does not say but the store knows."""
        if self._again:
            made = made.model_copy(update={"again": True})
        if is_stub(update):
            made = await self._found(made)
        event = made.event
        if isinstance(event, MessageReceived) and event.reply_to is not None and to_us(update, self._me):
            about = await self._store.about(made.place.conversation, event.reply_to)
            card = None if about else await self._cards.last_of(made.place.conversation, event.reply_to)
            if card is not None:  # a reply to an earlier part of a long card is a reply to the card
                return made.model_copy(update={"event": event.model_copy(update={"reply_to": card})})
            if about is None:  # a copy that was sent just before a crash, or a word of ours outside any session (P26)
                return made.model_copy(update={"event": event.model_copy(update={"addressed": True})})
        if isinstance(event, ButtonPressed) and event.label == event.token and event.ref.card is not None:
            drawings = await self._store.drawings(made.place.conversation, event.ref.card)
            label = _label(drawings, event.token)  # on a stub of an old card (b10), or on an older screen
            if label is not None:
                ref = event.ref.model_copy(update={"quote": label})
                return made.model_copy(update={"event": event.model_copy(update={"label": label, "ref": ref})})
        if isinstance(event, MessageEdited):
            before = await self._store.event(said_id(made))
            first = before.event if before is not None else None
            if isinstance(first, MessageReceived) and first.text == event.text:
                return made.model_copy(update={"event": event.model_copy(update={"unchanged": True})})
        return made

    async def _found(self, made: Envelope) -> Envelope:
        """A press on a stub names the chat, but not the topic; the token's session does. Never another chat."""
        event = made.event
        assert isinstance(event, ButtonPressed)
        kind, _, rest = event.token.partition(":")
        home = made.place.conversation
        if kind == "p":
            name = rest.partition(":")[0]
            inside = [c for c in await self._store.open_conversations(PLATFORM) if c.startswith(f"{home}/")]
            states = [await readable(self._store, c) for c in inside]
            asking = [s.place.conversation for s in states if s and any(p.id == name for p in s.pending)]
            there = asking[0] if len(asking) == 1 else None
        else:
            there = await self._store.conversation_of(rest.partition(":")[0].partition(".")[0])
        if there is None or not there.startswith(f"{home}/"):
            return made
        return made.model_copy(update={"place": made.place.model_copy(update={"conversation": there})})

    async def _park(self, raw: Any, why: Ignored) -> Ignored:
        """Kept as it came, for a look and a later version; never asked for again, so nobody waits behind it."""
        self.parked += 1
        number = raw.get("update_id") if isinstance(raw, dict) else None
        log.warning("update_parked", update=number if isinstance(number, int) else None, reason=why.reason)
        if self.parked <= MOST_PARKED:
            words = json.dumps({"reason": why.reason, "update": raw}, default=str)[:LONGEST_PARKED]
            name = number if isinstance(number, int) else f"x{self._clock.now():%y%m%d%H%M%S}{self.parked}"
            await self._store.keep(f"{PARKED}{self._me.id}:{name}", words)
        return why

    def _answer(self, query: str, sending: Coroutine[Any, Any, None]) -> None:
        """Once a press: a redelivery has nothing to say, and must not take the place of what was said."""
        if query in self._answered:
            sending.close()
            return
        self._answered[query] = None
        while len(self._answered) > ANSWERED:
            self._answered.popitem(last=False)
        task: asyncio.Task[None] = asyncio.ensure_future(sending)
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)


def _label(drawings: Sequence[Message], token: str) -> str | None:
    buttons = (button for shown in reversed(drawings) for row in shown.buttons for button in row)
    return next((button.label for button in buttons if button.token == token), None)
