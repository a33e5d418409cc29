"""Slack's adapter keeps the promises on the strict fake, over the socket and by signed HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.contracts.adapter_contract import AdapterPromises
from tests.fakes.clock import ManualClock
from tests.fakes.slack import Channel, Message, SlackServer, escape
from tests.fakes.slack_rig import Rig, rig


class SlackHarness:
    """Room "a" is one thread, since a thread is a conversation; "group" is a channel. An act is its delivery."""

    can = frozenset({"own", "fail", "delete", "thread", "shared", "edit_same"})

    def __init__(self, rig: Rig) -> None:
        self.rig, self.server, self.store, self.clock, self.outbox = rig, rig.server, rig.store, rig.clock, rig.outbox
        self.people = {name: self.server.person(name) for name in ("ana", "ben", "other")}
        members = (self.people["ana"], self.people["ben"])
        self.rooms = {name: self.server.channel(name, *members) for name in ("a", "group")}
        self.root = self.people["other"]
        self.rooms["a"].members.append(self.root.id)
        self.thread = self.root.say("the root of the thread", self.rooms["a"])
        self.server.outgoing.waiting.clear()

    def say(self, person: str, text: str, *, room: str = "a", files=(), forwarded: str | None = None, **how) -> Any:
        who, place = self.people[person], self.rooms[room]
        thread = {"thread": self.thread} if room == "a" else {}
        if forwarded is not None:
            author = self.server.person(forwarded)
            elsewhere = self.server.channel("elsewhere", author, who, bot=False)
            return self._sent(lambda: who.forward(author.say(text, elsewhere), place, **thread))
        shared = [who.file(name) for name in files]
        words = text.replace("@askfirst", self.server.me.bot.mention) if "<none>" not in text else escape(text)
        raw = words != text or "\0" in text
        return self._sent(lambda: who.say(words, place, raw=raw, files=shared, **thread))

    def edit(self, person: str, act: Any, text: str) -> Any:
        return self._sent(lambda: self.people[person].edit(self._message(act), text))

    def delete(self, act: Any) -> Any:
        message = self._message(act)
        return self._sent(lambda: self.server.users[message.user].delete(message))

    def press(self, person: str, room: str, label: str) -> Any:
        return self._sent(lambda: self.people[person].press(label))

    def _sent(self, act: Any) -> Any:
        before = len(self.server.outgoing.log)
        act()
        return next(d for d in self.server.outgoing.log[before:] if d.event.get("type") != "file_shared")

    def _message(self, act: Any) -> Message:
        event = act.event
        place = next(room for room in self.rooms.values() if room.id == event["channel"])
        return place.messages[event["ts"]]

    async def deliver(self, *acts: Any) -> list[bool]:
        if not acts:
            await self.rig.hear()
        done = []
        for act in acts:
            one = act if act.state == "waiting" and not act.tries else self.server.outgoing.again(act)
            await self.rig.hear(one)
            done.append(one.state == "acknowledged")
            one.state = "lost" if one.state == "waiting" else one.state
        await self.outbox.drain()
        return done

    def _mine(self, room: str) -> list[Message]:
        return _posted(self.rooms[room], self.server)

    def texts(self, room: str) -> list[str]:
        names = {one.id: name for name, one in self.people.items()}
        return [
            self._first(m) + (f" (only to {names[m.only_to]})" if m.only_to else "")
            for m in self._mine(room)
            if not m.only_to or m.blocks
        ]

    def _first(self, message: Message) -> str:
        calls = [c for c in self.server.calls if c.answer.get("ts") == message.ts and c.method == "chat.postMessage"]
        return calls[0].args["text"] if calls else message.text

    def last_parts(self, room: str, count: int) -> list[tuple[str, bool]]:
        return [(m.text, any(b["type"] == "actions" for b in m.blocks)) for m in self._mine(room)[-count:]]

    def fail(self, how: str) -> None:
        faults = self.server.faults
        if how == "limit":
            faults.limit(3, method="chat.postMessage")
        elif how == "refused":
            faults.broken(503, method="chat.postMessage")
        else:  # the sdk tries once more by itself
            faults.lose(taken=False, method="chat.postMessage")
            faults.lose(taken=how == "lost after", method="chat.postMessage")

    def block(self, room: str) -> None:
        """Archived, after people have written there last."""
        self.server.faults.fail("is_archived", method="chat.postMessage", channel=self.rooms[room], times=-1)

    def remove_card(self, room: str) -> None:
        [card] = [m for m in self._mine(room) if any(b["type"] == "actions" for b in m.blocks)]
        self.server.take_away(card)


def _posted(room: Channel, server: SlackServer) -> list[Message]:
    bot = server.me.bot.id
    return [m for m in room.messages.values() if m.user == bot]


class TestSlackAdapter(AdapterPromises):
    can = SlackHarness.can

    @pytest.fixture(params=["socket", "http"])
    async def harness(self, request: pytest.FixtureRequest) -> AsyncIterator[SlackHarness]:
        clock = ManualClock(auto=True)
        async with rig(SlackServer(clock), style=request.param) as made:
            yield SlackHarness(made)
