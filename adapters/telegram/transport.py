"""Sends through the Bot API. Everything that it may refuse has one of the contract's four names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar, cast

import structlog
from telegram import InputFile, LinkPreviewOptions, ReplyParameters
from telegram.error import BadRequest, ChatMigrated, TelegramError

from adapters.interrupted import Interrupted
from adapters.telegram.bot import TelegramBot
from adapters.telegram.cards import Cards, Piece
from adapters.telegram.errors import Cure, cure_of, is_unreachable, named
from adapters.telegram.hearing import Hearing
from adapters.telegram.pace import pace_of
from adapters.telegram.places import (
    PLATFORM,
    Address,
    Me,
    Moves,
    message_at,
    name_of,
    order_of,
    person_of,
)
from adapters.telegram.render import Part, Rendered, render, small_enough
from bot.core.effects import File, Message, Redraw, Reply, Say
from bot.core.events import ButtonPressed, Envelope, MessageReceived
from bot.core.view import says
from bot.pace import Pacer
from bot.ports import CardGone, Clock, RateLimited, Sent, TryLater, Undeliverable

T = TypeVar("T")

MAX_NOTICE = 200  # characters: core.telegram.org/bots/api#answercallbackquery
ALERT = 100  # a longer notice needs a window: the line at the top is gone after a few seconds
BELOW = "↓"  # what is left of a part of a card that can not be deleted
PATIENT = 50  # looks for a turn; others may take it first
NO_TEXT = Part("")
NO_PREVIEW = LinkPreviewOptions(is_disabled=True)

log = structlog.get_logger(__name__)

# Told when a refused call shows that a group has moved: (first id, new id).
OnMove = Callable[[int, int], Awaitable[None]]


class TelegramTransport:
    """Sends one message at a time a place; the outbox sees to order and pace."""

    platform = PLATFORM

    def __init__(
        self,
        bot: TelegramBot,
        me: Me,
        moves: Moves,
        clock: Clock,
        cards: Cards,
        hearing: Hearing,
        on_move: OnMove | None = None,
        pacer: Pacer | None = None,
    ) -> None:
        """`pacer`: the outbox's, which has counted the first call of each message."""
        self._bot = bot
        self._me = me
        self._moves = moves
        self._clock = clock
        self._cards = cards
        self._hearing = hearing
        self._on_move = on_move
        self._counted = pacer is not None
        self._pacer = pacer or Pacer()
        self._budgets = pace_of(moves)
        self._interrupted: Interrupted[int] = Interrupted()

    # -- the three calls of the port -----------------------------------------------------------------------------

    async def post(self, conversation: str, say: Say) -> Sent:
        if say.only_to is not None:
            home = self._moves.address(conversation).home
            if person_of(say.only_to) != home:
                to_one = await self._privately(say, person_of(say.only_to))
                if to_one.message or say.instead is None:
                    return to_one
                say = say.model_copy(update={"only_to": None, "message": says(say.instead)})
        shared = self._moves.address(conversation).chat < 0
        words_from = say.words_from if shared else None
        by_reply = await self._by_reply(conversation, say.message)
        rendered = render(say.message, by_reply=by_reply, words_from=words_from)
        count = len(rendered.parts)
        sent = self._interrupted.sent_of(conversation, say, count + len(rendered.files))
        try:
            address, sent = await self._whole(conversation, rendered, say.see or say.reply_to, sent)
            if count and (say.card or say.about):
                await self._drawn(conversation, address, sent[:count], rendered)
        except Undeliverable:
            self._interrupted.forget(sent)
            raise
        self._interrupted.forget(sent)
        return self._sent(address, sent[max(0, count - 1)])

    async def redraw(self, conversation: str, message: str, redraw: Redraw) -> Sent:
        """Each message of a card in place, where its content has changed. The last one keeps the buttons.

        A card that needs fewer messages than it has is drawn in the last of them, and the first go.
        """
        address = self._moves.address(conversation)
        last = message_at(message, address)
        if last is None:
            raise CardGone("it stayed behind in the group that became a supergroup")
        pieces = await self._cards.pieces(conversation, message) or (Piece(message, 0, ""),)
        upto = [piece.upto for piece in pieces[:-1]]
        by_reply = await self._by_reply(conversation, redraw.message)
        rendered = render(redraw.message, by_reply=by_reply, upto=upto)
        spare = len(pieces) - len(rendered.parts)
        try:
            if spare < 0:
                await self._disarm(address.chat, last)
                raise CardGone("it needs more messages than it has")
            await self._in_place(conversation, address, pieces, spare, rendered)
        except _Moved as moved:
            await self._learn(address.home, moved.chat)
            raise CardGone("the group has become a supergroup") from None
        return Sent(message, order_of(address.chat, last, self._moves.first))

    async def _in_place(
        self, conversation: str, address: Address, pieces: Sequence[Piece], spare: int, rendered: Rendered
    ) -> None:
        """From the last message up: it has the buttons, and what moves down is there before it goes above."""
        drawn = list(pieces)
        calls: list[int] = []
        index = len(pieces)
        try:
            while index:
                index -= 1
                number = message_at(pieces[index].message, address)
                if number is None:
                    raise CardGone("a part of it stayed behind")
                if index < spare:
                    await self._breathe(conversation, calls)
                    await self._vanish(address.chat, number)
                    del drawn[index]
                else:
                    part = rendered.parts[index - spare]
                    if part.sum == pieces[index].sum:
                        continue
                    await self._breathe(conversation, calls)
                    await self._edit(address.chat, number, part)
                    drawn[index] = Piece(pieces[index].message, part.upto, part.sum)
                calls.append(number)
        except CardGone:
            if index < len(pieces) - 1 and (last := message_at(pieces[-1].message, address)) is not None:
                await self._disarm(address.chat, last)
            raise
        finally:
            if len(pieces) > 1 and calls:
                await self._cards.put(conversation, drawn)

    async def _edit(self, chat: int, number: int, part: Part) -> None:
        async def edit(form: _Form) -> None:
            await self._bot.post_text(
                "editMessageText",
                chat_id=chat,
                message_id=number,
                text=form.part.text,
                entities=form.part.entities,
                reply_markup=form.part.keyboard,
                link_preview_options=NO_PREVIEW,
            )

        await self._cured(edit, _Form(part), editing=True)

    async def _vanish(self, chat: int, number: int) -> None:
        """What stood here stands in the message below now. Bots can delete for 48 hours; later it is only said."""
        try:
            await self._bot.delete_message(chat, number)
        except BadRequest as error:
            log.info("part_not_deleted", reason=error.message)
            with suppress(CardGone):  # gone already
                await self._edit(chat, number, Part(BELOW))

    async def reply(self, envelope: Envelope, reply: Reply) -> None:
        """Answer a press: a line at the top of the screen, or nothing but the end of the waiting.

        A message is answered by a message.
        """
        event = envelope.event
        if isinstance(event, ButtonPressed):
            await self.notice(event.ref.id, reply.text)
        elif isinstance(event, MessageReceived):
            say = Say(message=says(reply.text), reply_to=event.ref.id)
            try:
                await self.post(envelope.place.conversation, say)
            except Exception as error:  # noqa: BLE001 - nothing else can be said there
                log.info("reply_not_sent", error=type(error).__name__)

    async def notice(self, query: str, words: str) -> None:
        """Never raises. Telegram forgets a press within minutes, and then there is nobody to answer."""
        text = words if len(words) <= MAX_NOTICE else f"{words[: MAX_NOTICE - 1]}…"
        try:
            await self._bot.answer_callback_query(query, text=text or None, show_alert=len(text) > ALERT)
        except TelegramError as error:
            log.info("notice_not_shown", error=type(error).__name__)
        except Exception as error:  # noqa: BLE001 - the press is stored; a failing notice must not undo that
            log.warning("notice_failed", error=type(error).__name__)

    # -- sending -------------------------------------------------------------------------------------------------

    async def _privately(self, say: Say, person: int) -> Sent:
        """To the person's own chat with the bot, if there is one. Never to all instead (RD-12)."""
        try:
            address, sent = await self._whole(f"{PLATFORM}:{person}", render(say.message), None, [], strict=True)
        except _Unreachable as error:
            log.info("no_private_chat", person=say.only_to, reason=str(error))
            return Sent("")
        return self._sent(address, sent[-1])

    async def _whole(
        self, conversation: str, rendered: Rendered, reply_to: str | None, sent: list[int], *, strict: bool = False
    ) -> tuple[Address, list[int]]:
        """Every part, then every file. `sent` are the ids of what an earlier, interrupted try has sent."""
        if not rendered.parts and not rendered.files:
            raise Undeliverable("the message is empty")
        for attempt in (1, 2):
            address = self._moves.address(conversation)
            try:
                for part in rendered.parts[len(sent) :]:
                    await self._breathe(conversation, sent)
                    sent.append(await self._text(address, part, None if sent else reply_to))
                while (done := len(sent) - len(rendered.parts)) < len(rendered.files):
                    await self._breathe(conversation, sent)
                    sent.append(await self._file(address, rendered.files[done]))
            except _Moved as moved:
                await self._learn(address.home, moved.chat)
                sent.clear()
                if attempt == 2:
                    raise Undeliverable("the group keeps moving") from None
            except _Refused as refused:
                if strict and is_unreachable(refused.error):
                    raise _Unreachable(refused.error.message) from None
                raise named(refused.error) from None
            else:
                return address, sent
        raise AssertionError("two attempts end one way or the other")

    async def _breathe(self, conversation: str, sent: list[int]) -> None:
        """The outbox paces messages; what one of them is made of draws on the same budgets here."""
        budgets = self._budgets(conversation)
        for _ in range(PATIENT if sent else 0):
            wait = self._pacer.wait(budgets, self._clock.now())
            if wait <= timedelta(0):
                break
            await self._clock.sleep(wait.total_seconds())
        if sent or not self._counted:
            self._pacer.take(budgets, self._clock.now())

    async def _text(self, address: Address, part: Part, reply_to: str | None) -> int:
        async def send(form: _Form) -> int:
            return await self._bot.post_text(
                "sendMessage",
                chat_id=address.chat,
                message_thread_id=form.topic,
                text=form.part.text,
                entities=form.part.entities,
                reply_markup=form.part.keyboard,
                reply_parameters=form.reply,
                link_preview_options=NO_PREVIEW,
            )

        replied = None if reply_to is None else message_at(reply_to, address)
        reply = None if replied is None else ReplyParameters(replied, allow_sending_without_reply=True)
        return cast(int, await self._cured(send, _Form(part, address.topic, reply)))

    async def _file(self, address: Address, file: File) -> int:
        name, content = small_enough(file)

        async def send(form: _Form) -> int:
            document = InputFile(content, filename=name)
            message = await self._bot.send_document(
                chat_id=address.chat, message_thread_id=form.topic, document=document
            )
            return message.message_id

        return cast(int, await self._cured(send, _Form(NO_TEXT, address.topic)))

    async def _cured(self, call: Callable[[_Form], Awaitable[T]], form: _Form, *, editing: bool = False) -> T | None:
        """The call; after a refusal of its form, without what was refused (CH-4). None: it was so already."""
        tried: set[Cure] = set()
        while True:
            try:
                return await call(form)
            except ChatMigrated as error:
                raise _Moved(error.new_chat_id) from None
            except TelegramError as error:
                cure = cure_of(error)
                if cure == "same" and editing:
                    return None
                if cure is None or cure == "same" or cure in tried:
                    raise self._refused(error, editing=editing) from None
                log.info("sent_in_another_form", cure=cure)
                tried.add(cure)
                form = form.without(cure)

    def _refused(self, error: TelegramError, *, editing: bool) -> Exception:
        """While sending, what to make of it is decided where it is known for whom."""
        made = named(error, editing=editing)
        return _Refused(error) if not editing and not isinstance(made, RateLimited | TryLater) else made

    async def _drawn(self, conversation: str, address: Address, sent: Sequence[int], rendered: Rendered) -> None:
        first = self._moves.first
        names = [name_of(address.chat, number, first) for number in sent]
        pieces = [Piece(name, part.upto, part.sum) for name, part in zip(names, rendered.parts, strict=True)]
        await self._cards.put(conversation, pieces)

    async def _disarm(self, chat: int, message: int) -> None:
        """Take the buttons off a card that is about to be posted anew; a late press on them would be told so."""
        try:
            await self._bot.edit_message_reply_markup(chat_id=chat, message_id=message, reply_markup=None)
        except TelegramError as error:
            log.info("buttons_left", error=type(error).__name__)

    # -- small things --------------------------------------------------------------------------------------------

    def _sent(self, address: Address, message: int) -> Sent:
        first = self._moves.first
        return Sent(name_of(address.chat, message, first), order_of(address.chat, message, first))

    async def _by_reply(self, conversation: str, message: Message) -> bool:
        """Whether a card has to say that it is answered by replying to it."""
        return bool(message.buttons) and await self._hearing.only_replies(self._moves.address(conversation).chat)

    async def _learn(self, old: int, new: int) -> None:
        if self._moves.moved(old, new) and self._on_move is not None:
            await self._on_move(old, new)


@dataclass(frozen=True, slots=True)
class _Form:
    """A message and all that the platform may refuse about it."""

    part: Part
    topic: int | None = None
    reply: ReplyParameters | None = None

    def without(self, cure: Cure) -> _Form:
        match cure:
            case "plain":
                return replace(self, part=replace(self.part, entities=()))
            case "no_buttons":
                return replace(self, part=replace(self.part, keyboard=None))
            case _:
                return replace(self, reply=None)


class _Moved(Exception):
    def __init__(self, chat: int) -> None:
        super().__init__(str(chat))
        self.chat = chat


class _Refused(Exception):
    def __init__(self, error: TelegramError) -> None:
        super().__init__(error.message)
        self.error = error


class _Unreachable(Exception): ...
