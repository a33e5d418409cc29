"""Transcripts through the Telegram adapter, on the fake Bot API server: by polling, and as a webhook."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from adapters.telegram.transport import TelegramTransport
from bot.core.effects import Message, Redraw, Say
from bot.ports import Handled
from bot.runner import Decide
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Chat, Person, TelegramServer
from tests.fakes.telegram import Message as Shown
from tests.fakes.telegram_rig import Rig, rig
from tests.transcripts.script import Act, Noted, Said
from tests.transcripts.stages import CannotPlay, Happened, Shell, counted, find_button, possible, with_card


class Breathless(ManualClock):
    """Pauses between the parts of a message take no time here: a transcript's clock is its own."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


class TelegramStage(Shell):
    style = "polling"

    def __init__(self, decide: Decide) -> None:
        super().__init__()
        self.clock = Breathless()
        self._decide = decide
        self._server = TelegramServer(self.clock, username="askfirst", privacy=False)
        self._stack = AsyncExitStack()
        self._rig: Rig | None = None
        self._people: dict[str, Person] = {}
        self._rooms: dict[str, Chat] = {}
        self._messages: dict[int, Shown] = {}  # act -> its message
        self._updates: dict[int, list[Any]] = {}  # act -> what was delivered of it
        self._outcomes: list[Any] = []

    async def play(self, act: Act) -> Happened:
        made = await self._ready()
        noting = made.transport
        assert isinstance(noting, _Noting)
        noting.happened.clear()
        self._outcomes.clear()
        possible(act, noting.drawn)
        if act.kind == "clock":
            self.clock.advance(act.by)
            await made.attendance.note(made.polling.offset)  # time passes with the bot in its place
        else:
            for update in self._delivered(act, noting):
                await self._deliver(made, update, act.kind == "again")
                await made.outbox.drain()
        await made.timers.fire_due()
        await made.outbox.drain()
        duplicates = [Noted("duplicate") for one in self._outcomes if one == "duplicate"]
        return [*noting.happened, *duplicates, *self.stored()]

    async def close(self) -> None:
        await self._stack.aclose()

    async def _ready(self) -> Rig:
        if self._rig is None:
            made = await self._stack.enter_async_context(
                rig(
                    self._server,
                    self.store,
                    self.clock,
                    style=self.style,
                    decide=self._decide,
                    new_id=counted(),
                    transport=_Noting,
                )
            )
            take = made.intake.take

            async def noted(raw: Any) -> Any:
                taken = await take(raw)
                self._outcomes.append(taken.outcome if isinstance(taken, Handled) else None)
                return taken

            made.intake.take = noted  # type: ignore[method-assign]
            noting = made.transport
            assert isinstance(noting, _Noting)
            noting.stage = self
            self._rig = made
        return self._rig

    async def _deliver(self, made: Rig, update: Any, again: bool) -> None:
        if self.style == "polling":
            if again:
                self._server.updates.again(update)
                made.polling.offset = min(made.polling.offset or update.id, update.id)
            await made.attendance.note(made.polling.offset)  # it has polled all the while: the clock jumps here
            while await made.polling.look():  # the next look confirms the one before
                pass
        else:
            await self._server.webhook.deliver(update)
        await made.intake.finish()

    def _delivered(self, act: Act, noting: _Noting) -> list[Any]:
        if act.kind == "again":
            self._updates[act.number] = self._updates[act.target]
            return self._updates[act.target]
        before = len(self._server.updates.log)
        who = self._person(act.person)
        if act.kind == "edit":
            who.edit(self._messages[act.target], act.text)
        elif act.kind == "delete":
            raise CannotPlay("Telegram does not tell bots of deletions")
        elif act.kind == "press":
            acted = with_card(act, noting.drawn)
            button = find_button(acted.button, noting.drawn[f"m{acted.message}"])
            token = acted.button if button is None else button.token
            who.send_data(token, noting.posted[f"m{acted.message}"])
        else:
            self._messages[act.number] = self._said(act, who, noting)
        self._updates[act.number] = self._server.updates.log[before:]
        return self._updates[act.number]

    def _said(self, act: Act, who: Person, noting: _Noting) -> Shown:
        room = self._room(act, who)
        how = {"reply_to": noting.posted[f"m{act.message}"]} if act.kind == "reply" else {}
        if len(act.files) > 1:
            return who.album(act.files, act.text, room, **how)[0]
        if act.files:
            return who.file(act.files[0], act.text, room, **how)
        if act.source:
            return who.forward(act.text, act.source, room, **how)
        return who.say(act.text, room, **how)

    def _person(self, name: str) -> Person:
        if name not in self._people:
            self._people[name] = self._server.person(name, username=name, started=True)
        return self._people[name]

    def _room(self, act: Act, who: Person) -> Chat:
        if act.room not in self._rooms:
            self._rooms[act.room] = self._server.supergroup(act.room) if act.shared else who.chat
        room = self._rooms[act.room]
        room.members.setdefault(who.id, "member")
        return room

    def name_of(self, chat: int) -> str:
        return next(name for name, room in self._rooms.items() if room.id == chat)

    def called(self, person: int) -> str:
        return next(name for name, one in self._people.items() if one.id == person)

    def shown(self, chat: int, message: int) -> Shown:
        return self._server.chats[chat].messages[message]


class WebhookStage(TelegramStage):
    style = "webhook"


class _Noting(TelegramTransport):
    """The adapter's transport, with a note of everything that people see on the server after each call."""

    stage: TelegramStage

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.happened: Happened = []
        self.drawn: dict[str, list[Message]] = {}
        self.posted: dict[str, Shown] = {}

    async def post(self, conversation: str, say: Say):  # type: ignore[no-untyped-def]
        home = int(conversation.partition(":")[2])
        chat = home if say.only_to is None else int(say.only_to.partition(":")[2])
        place = self.stage._server.chats[chat]
        before = place.next_id
        sent = await super().post(conversation, say)
        new = [m for m in place.messages.values() if m.id >= before and m.mine]
        media = {file.name: file.media for file in say.message.files}
        files = [m.content["document"]["file_name"] for m in new if "document" in m.content]
        text = "\n".join(m.text for m in new if "document" not in m.content)
        only_to = None if say.only_to is None else self.stage.called(chat)
        rows = _rows(new, say.message)
        self.happened.append(
            Said(self.stage.name_of(home), text, rows, tuple((name, media[name]) for name in files), only_to=only_to)
        )
        name = f"m{len(self.posted) + 1}"
        self.posted[name] = self.stage.shown(chat, int(sent.message))
        self.drawn[name] = [say.message]
        return sent

    async def redraw(self, conversation: str, message: str, redraw: Redraw):  # type: ignore[no-untyped-def]
        sent = await super().redraw(conversation, message, redraw)
        chat = int(conversation.partition(":")[2])
        shown = self.stage.shown(chat, int(message))
        self.happened.append(Said(self.stage.name_of(chat), shown.text, _rows([shown], redraw.message), redrawn=True))
        name = next(name for name, one in self.posted.items() if one is shown)
        self.drawn[name].append(redraw.message)
        return sent

    async def notice(self, query: str, words: str) -> None:
        await super().notice(query, words)
        shown = self.stage._server.queries[query]
        if shown.answer:
            # Cut where Telegram's room for notices ends; the transcript has the whole.
            assert words.startswith(shown.answer.removesuffix("…"))
            self.happened.append(
                Said(self.stage.name_of(shown.message.chat.id), words, only_to=shown.person.first_name)
            )


def _rows(messages: list[Shown], meant: Message) -> tuple[tuple[str, ...], ...]:
    """Telegram breaks rows and lengthens labels as a phone has room; a transcript's rows are as they were meant."""
    shown = [button["callback_data"] for message in messages for button in message.buttons]
    assert shown == [button.token for row in meant.buttons for button in row]
    return tuple(tuple(button.label for button in row) for row in meant.buttons)
