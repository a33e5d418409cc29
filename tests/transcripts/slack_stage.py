"""Transcripts through the Slack adapter, on the strict fake: over the socket, and by signed HTTP.

A shared place is a channel. What is said there is said loose in the channel, a reply in the thread of its message.
"""

from __future__ import annotations

import re
from contextlib import AsyncExitStack
from typing import Any

from adapters.slack.places import user_of
from adapters.slack.render import FORM
from adapters.slack.text import undo
from adapters.slack.transport import SlackTransport
from bot.core.effects import Message, Redraw, Reply, Say
from bot.core.events import Envelope
from bot.ports import Handled
from bot.runner import Decide
from tests.fakes.slack import Channel, Person, SlackServer
from tests.fakes.slack import Message as Shown
from tests.fakes.slack.text import escape
from tests.fakes.slack_rig import Rig, rig
from tests.transcripts.script import Act, Noted, Said
from tests.transcripts.stages import Happened, Shell, counted, find_button, possible, with_card


class SlackStage(Shell):
    style = "http"

    def __init__(self, decide: Decide) -> None:
        super().__init__()
        self._decide = decide
        self._server = SlackServer(self.clock)
        self._stack = AsyncExitStack()
        self._rig: Rig | None = None
        self._people: dict[str, Person] = {}
        self._rooms: dict[str, Channel] = {}
        self._messages: dict[int, Shown] = {}  # act -> its message
        self._sent: dict[int, list[Any]] = {}  # act -> what was delivered of it
        self._outcomes: list[str | None] = []

    async def play(self, act: Act) -> Happened:
        made = await self._ready()
        noting = made.transport
        assert isinstance(noting, _Noting)
        noting.happened.clear()
        self._outcomes.clear()
        possible(act, noting.drawn)
        if act.kind == "clock":
            self.clock.advance(act.by)
        else:
            for delivery in self._delivered(act, noting):
                await made.hear(delivery)
                await made.outbox.drain()
            await made.hear()  # Slack tells us of our own messages too
        await made.timers.fire_due()
        await made.outbox.drain()
        # A mention comes twice, as a message and as a mention: that is no news here.
        again = act.kind == "again"
        duplicates = [Noted("duplicate") for one in self._outcomes if again and one == "duplicate"]
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
            handle = made.runner.handle

            async def noted(envelope: Envelope, **how: Any) -> Handled:
                handled = await handle(envelope, **how)
                self._outcomes.append(handled.outcome if not how else None)
                if handled.reply is not None and handled.reply.form is not None and handled.reply.text:
                    noting._noticed(envelope, handled.reply)  # a form is opened instead of these words
                return handled

            made.runner.handle = noted  # type: ignore[method-assign]
            noting = made.transport
            assert isinstance(noting, _Noting)
            noting.stage = self
            self._rig = made
        return self._rig

    def _delivered(self, act: Act, noting: _Noting) -> list[Any]:
        outgoing = self._server.outgoing
        if act.kind == "again":
            self._sent[act.number] = [outgoing.again(one) for one in self._sent[act.target]]
            return self._sent[act.number]
        before = len(outgoing.log)
        who = self._person(act.person)
        if act.kind == "edit":
            who.edit(self._messages[act.target], _typed(act.text, self), raw=True)
        elif act.kind == "delete":
            who.delete(self._messages[act.target])
        elif act.kind == "press":
            self._pressed(act, who, noting)
        else:
            self._messages[act.number] = self._said(act, who, noting)
        wanted = [d for d in outgoing.log[before:] if d.event.get("type") != "file_shared"]
        self._sent[act.number] = wanted[:1] if act.kind != "press" else wanted
        return wanted

    def _pressed(self, act: Act, who: Person, noting: _Noting) -> None:
        acted = with_card(act, noting.drawn)
        name = f"m{acted.message}"
        button = find_button(acted.button, noting.drawn[name])
        token = acted.button if button is None else button.token
        shown = noting.posted[name]
        assert shown is not None
        if who.id not in shown.channel.members:
            shown.channel.members.append(who.id)
        drawings = noting.blocks[name]
        if act.drawing:  # people press what an older screen shows
            drawings = drawings[act.drawing - 1 : act.drawing]
        shown_there = [
            (block, element)
            for drawing in reversed(drawings)
            for block in drawing
            if block["type"] == "actions"
            for element in block["elements"]
            if element.get("value") == token
        ]
        called = [pair for pair in shown_there if button is not None and pair[1]["text"]["text"] == button.label]
        for block, element in called or shown_there:
            who._act(shown, block, element, {"text": element["text"], "value": token})
            return
        block = {"block_id": noting.blocks[name][-1][-1]["block_id"]}
        element = {"type": "button", "action_id": "b0"}
        who._act(shown, block, element, {"text": {"type": "plain_text", "text": token}, "value": token})

    def _said(self, act: Act, who: Person, noting: _Noting) -> Shown:
        room = self._room(act, who)
        how: dict[str, Any] = {}
        if act.kind == "reply":
            replied = noting.posted[f"m{act.message}"]
            how["thread"] = (replied.thread_ts or replied.ts) if replied is not None else noting.thread_of(room)
        if act.source:
            author = self._person(act.source)
            elsewhere = self._server.channel(f"elsewhere-{act.number}", author, who, bot=False)
            original = author.say(_typed(act.text, self), elsewhere, raw=True)
            return who.forward(original, room, **how)
        files = [who.file(name) for name in act.files]
        return who.say(_typed(act.text, self), room, raw=True, files=files, **how)

    def _person(self, name: str) -> Person:
        if name not in self._people:
            self._people[name] = self._server.person(name, tz="")  # as on the other stages, nobody tells it
        return self._people[name]

    def _room(self, act: Act, who: Person) -> Channel:
        if act.room not in self._rooms:
            self._rooms[act.room] = self._server.channel(act.room, who) if act.shared else who.dm
        room = self._rooms[act.room]
        if who.id not in room.members:  # in a transcript somebody else may act in a private place
            room.members.append(who.id)
        return room

    def room_of(self, conversation: str) -> tuple[str, Channel]:
        channel = conversation.partition("/")[0].rpartition(":")[2]
        return next((name, room) for name, room in self._rooms.items() if room.id == channel)

    def called(self, user: str) -> str:
        return next(name for name, one in self._people.items() if one.id == user)

    def read(self, text: str, room: Channel) -> str:
        """As people read it. In a channel each card has its number, since other threads have cards too."""
        words = undo(text, {one.id: one.handle for one in self._people.values()})
        return words if room.kind == "im" else re.sub(r"^#\d+ · ", "", words)


class SocketStage(SlackStage):
    style = "socket"


def _typed(text: str, stage: SlackStage) -> str:
    """As the client sends it: escaped, names as mentions. A leading slash too: with a blank before it people can."""
    words = escape(text)
    for name, user in stage._server.tokens_of(stage._server.team).items():
        words = words.replace(name, user)
    return words


class _Noting(SlackTransport):
    """The adapter's transport, with a note of everything that people see on the server after each call."""

    stage: SlackStage

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.happened: Happened = []
        self.drawn: dict[str, list[Message]] = {}
        self.posted: dict[str, Shown | None] = {}
        self.blocks: dict[str, list[list[dict[str, Any]]]] = {}

    async def post(self, conversation: str, say: Say):  # type: ignore[no-untyped-def]
        name, room = self.stage.room_of(conversation)
        before = set(room.messages)
        files = set(self.stage._server.files)
        sent = await super().post(conversation, say)
        new = [m for ts, m in room.messages.items() if ts not in before]
        told = [m for m in new if not m.files]
        media = {file.name: file.media for file in say.message.files}
        shared = [f.name for key, f in self.stage._server.files.items() if key not in files]
        text = "\n".join(self.stage.read(m.text, room) for m in told)
        only_to = None if say.only_to is None else self.stage.called(user_of(say.only_to))
        rows = [row for m in told for row in _rows(m)]
        self.happened.append(
            Said(name, text, tuple(rows), tuple((one, media[one]) for one in shared), only_to=only_to)
        )
        label = f"m{len(self.posted) + 1}"
        self.posted[label] = told[-1] if told else None
        self.drawn[label] = [say.message]
        self.blocks[label] = [told[-1].blocks] if told else [[]]
        return sent

    async def redraw(self, conversation: str, message: str, redraw: Redraw):  # type: ignore[no-untyped-def]
        sent = await super().redraw(conversation, message, redraw)
        name, room = self.stage.room_of(conversation)
        shown = room.messages[message.rpartition("/")[2]]
        self.happened.append(Said(name, self.stage.read(shown.text, room), _rows(shown), redrawn=True))
        label = next(name for name, one in self.posted.items() if one is shown)
        self.drawn[label].append(redraw.message)
        self.blocks[label].append(shown.blocks)
        return sent

    async def reply(self, envelope: Envelope, reply: Reply) -> None:
        await super().reply(envelope, reply)
        self._noticed(envelope, reply)

    def _noticed(self, envelope: Envelope, reply: Reply) -> None:
        event: Any = envelope.event
        name, _ = self.stage.room_of(envelope.place.conversation)
        self.happened.append(Said(name, reply.text, only_to=self.stage.called(user_of(event.person.id))))

    def thread_of(self, room: Channel) -> str:
        return next(m.thread_ts or m.ts for m in reversed(list(room.messages.values())) if m.thread_ts)


def _rows(message: Shown) -> tuple[tuple[str, ...], ...]:
    """The rows of buttons, without the one that opens a form: others have no forms."""
    rows = []
    for block in message.blocks:
        if block["type"] == "actions":
            row = tuple(one["text"]["text"] for one in block["elements"] if one["text"]["text"] != FORM)
            rows += [row] if row else []
    return tuple(rows)
