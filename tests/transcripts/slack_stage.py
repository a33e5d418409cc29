"""Transcripts through the Slack adapter, on the strict fake: over the socket, and by signed HTTP.

A shared place is a channel. What is said there is said loose in the channel, a reply in the thread of its message.
"""

from __future__ import annotations

import re
from typing import Any

from adapters.slack.places import user_of
from adapters.slack.render import FORM
from adapters.slack.text import undo
from adapters.slack.transport import SlackTransport
from bot.core.effects import Button, Redraw, Reply, Say
from bot.core.events import Envelope
from bot.ports import Handled
from bot.runner import Decide
from tests.fakes.clock import ManualClock
from tests.fakes.slack import Channel, Person, SlackServer
from tests.fakes.slack import Message as Shown
from tests.fakes.slack.text import escape
from tests.fakes.slack_rig import Rig, rig
from tests.transcripts.script import Act, Said
from tests.transcripts.server_stage import Noting, ServerStage


class _Noting(Noting, SlackTransport):
    stage: SlackStage

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
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
        said = Said(name, text, tuple(rows), tuple((one, media[one]) for one in shared), only_to=only_to)
        label = self.note_post(said, told[-1] if told else None, say.message)
        self.blocks[label] = [told[-1].blocks] if told else [[]]
        return sent

    async def redraw(self, conversation: str, message: str, redraw: Redraw):  # type: ignore[no-untyped-def]
        sent = await super().redraw(conversation, message, redraw)
        name, room = self.stage.room_of(conversation)
        shown = room.messages[message.rpartition("/")[2]]
        said = Said(name, self.stage.read(shown.text, room), _rows(shown), redrawn=True)
        label = self.note_redraw(said, shown, redraw.message)
        self.blocks[label].append(shown.blocks)
        return sent

    async def reply(self, envelope: Envelope, reply: Reply) -> None:
        await super().reply(envelope, reply)
        self.note_notice(envelope, reply)

    def note_notice(self, envelope: Envelope, reply: Reply) -> None:
        event: Any = envelope.event
        name, _ = self.stage.room_of(envelope.place.conversation)
        self.happened.append(Said(name, reply.text, only_to=self.stage.called(user_of(event.person.id))))

    def thread_of(self, room: Channel) -> str:
        return next(m.thread_ts or m.ts for m in reversed(list(room.messages.values())) if m.thread_ts)


class SlackStage(ServerStage):
    style = "http"
    rig = staticmethod(rig)
    transport = _Noting

    def __init__(self, decide: Decide) -> None:
        clock = ManualClock()
        super().__init__(decide, SlackServer(clock), clock)

    @property
    def _log(self) -> list[Any]:
        return self._server.outgoing.log

    def _listen(self, made: Rig) -> None:
        handle, noting = made.runner.handle, made.transport
        assert isinstance(noting, _Noting)

        async def noted(envelope: Envelope, **how: Any) -> Handled:
            handled = await handle(envelope, **how)
            self._outcomes.append(handled.outcome if not how else None)
            if handled.reply is not None and handled.reply.form is not None and handled.reply.text:
                noting.note_notice(envelope, handled.reply)  # a form is opened instead of these words
            return handled

        made.runner.handle = noted  # type: ignore[method-assign]

    async def _hears(self, made: Rig, act: Act, noting: Noting) -> None:
        for delivery in self._delivered(act, noting):
            await made.hear(delivery)
            await made.outbox.drain()
        await made.hear()  # Slack tells us of our own messages too

    def _is_news(self, act: Act) -> bool:
        return act.kind == "again"  # a mention comes twice, as a message and as a mention

    def _once_more(self, sent: list[Any]) -> list[Any]:
        return [self._server.outgoing.again(one) for one in sent]

    def _of(self, act: Act, delivered: list[Any]) -> list[Any]:
        return delivered[:1] if act.kind != "press" else delivered

    def _edits(self, act: Act, who: Person) -> None:
        who.edit(self._messages[act.target], _typed(act.text, self), raw=True)

    def _deletes(self, act: Act, who: Person) -> None:
        who.delete(self._messages[act.target])

    def _presses(self, act: Act, who: Person, name: str, button: Button | None, noting: _Noting) -> None:
        token = act.button if button is None else button.token
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


def _rows(message: Shown) -> tuple[tuple[str, ...], ...]:
    """The rows of buttons, without the one that opens a form: others have no forms."""
    rows = []
    for block in message.blocks:
        if block["type"] == "actions":
            row = tuple(one["text"]["text"] for one in block["elements"] if one["text"]["text"] != FORM)
            rows += [row] if row else []
    return tuple(rows)
