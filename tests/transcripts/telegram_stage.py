"""Transcripts through the Telegram adapter, on the fake Bot API server: by polling, and as a webhook."""

from __future__ import annotations

import asyncio
from typing import Any

from adapters.telegram.transport import TelegramTransport
from bot.core.effects import Button, Message, Redraw, Say
from bot.ports import Handled
from bot.runner import Decide
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Chat, Person, TelegramServer
from tests.fakes.telegram import Message as Shown
from tests.fakes.telegram_rig import Rig, rig
from tests.transcripts.script import Act, Said
from tests.transcripts.server_stage import Noting, ServerStage
from tests.transcripts.stages import CannotPlay


class Breathless(ManualClock):
    """Pauses between the parts of a message take no time here: a transcript's clock is its own."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


class _Noting(Noting, TelegramTransport):
    stage: TelegramStage

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
        said = Said(
            self.stage.name_of(home), text, rows, tuple((name, media[name]) for name in files), only_to=only_to
        )
        self.note_post(said, self.stage.shown(chat, int(sent.message)), say.message)
        return sent

    async def redraw(self, conversation: str, message: str, redraw: Redraw):  # type: ignore[no-untyped-def]
        sent = await super().redraw(conversation, message, redraw)
        chat = int(conversation.partition(":")[2])
        shown = self.stage.shown(chat, int(message))
        said = Said(self.stage.name_of(chat), shown.text, _rows([shown], redraw.message), redrawn=True)
        self.note_redraw(said, shown, redraw.message)
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


class TelegramStage(ServerStage):
    style = "polling"
    rig = staticmethod(rig)
    transport = _Noting

    def __init__(self, decide: Decide) -> None:
        clock = Breathless()
        super().__init__(decide, TelegramServer(clock, username="askfirst", privacy=False), clock)

    @property
    def _log(self) -> list[Any]:
        return self._server.updates.log

    def _listen(self, made: Rig) -> None:
        take = made.intake.take

        async def noted(raw: Any) -> Any:
            taken = await take(raw)
            self._outcomes.append(taken.outcome if isinstance(taken, Handled) else None)
            return taken

        made.intake.take = noted  # type: ignore[method-assign]

    async def _passed(self, made: Rig) -> None:
        await made.attendance.note(made.polling.offset)  # time passes with the bot in its place

    async def _hears(self, made: Rig, act: Act, noting: Noting) -> None:
        for update in self._delivered(act, noting):
            await self._deliver(made, update, act.kind == "again")
            await made.outbox.drain()

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

    def _edits(self, act: Act, who: Person) -> None:
        who.edit(self._messages[act.target], act.text)

    def _deletes(self, act: Act, who: Person) -> None:
        raise CannotPlay("Telegram does not tell bots of deletions")

    def _presses(self, act: Act, who: Person, name: str, button: Button | None, noting: Noting) -> None:
        who.send_data(act.button if button is None else button.token, noting.posted[name])

    def _said(self, act: Act, who: Person, noting: Noting) -> Shown:
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

    def shown(self, chat: int, message: int) -> Shown:
        return self._server.chats[chat].messages[message]


class WebhookStage(TelegramStage):
    style = "webhook"


def _rows(messages: list[Shown], meant: Message) -> tuple[tuple[str, ...], ...]:
    """Telegram breaks rows and lengthens labels as a phone has room; a transcript's rows are as they were meant."""
    shown = [button["callback_data"] for message in messages for button in message.buttons]
    assert shown == [button.token for row in meant.buttons for button in row]
    return tuple(tuple(button.label for button in row) for row in meant.buttons)
