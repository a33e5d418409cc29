"""Telegram's adapter keeps the promises on the fake Bot API server, by polling and as a webhook."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.ports import StoreUnavailable
from tests.contracts.adapter_contract import AdapterPromises
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Message, TelegramServer
from tests.fakes.telegram_rig import Rig, rig


class TelegramHarness:
    """Rooms are groups, since several people are in them. An act is the update that it makes."""

    can = frozenset({"own", "fail", "thread", "album"})

    def __init__(self, rig: Rig) -> None:
        self.rig, self.server, self.store, self.clock, self.outbox = rig, rig.server, rig.store, rig.clock, rig.outbox
        names = ("ana", "ben", "other")
        self.people = {name: self.server.person(name, started=True) for name in names}
        members = (self.people["ana"], self.people["ben"])
        self.rooms = {name: self.server.supergroup(name, *members) for name in ("a", "group")}

    def say(self, person: str, text: str, *, room: str = "a", files=(), forwarded: str | None = None, **how) -> Any:
        who, place = self.people[person], self.rooms[room]
        if files:
            return [message.update for message in who.album(files, text, place)]
        if forwarded is not None:
            return who.forward(text, forwarded, place).update
        return who.say(text, place, **how).update

    def edit(self, person: str, act: Any, text: str) -> Any:
        place = self.server.chats[act.body["chat"]["id"]]
        return self.people[person].edit(place.messages[act.body["message_id"]], text)

    def delete(self, act: Any) -> Any:
        raise AssertionError("bots are not told")

    def press(self, person: str, room: str, label: str) -> Any:
        return self.people[person].press(label, self.rooms[room]).update

    async def deliver(self, *acts: Any) -> list[bool]:
        done = [await (self._polled(act) if self.rig.style == "polling" else self._posted(act)) for act in acts]
        await self.rig.intake.finish()
        await self.outbox.drain()
        return done

    async def _posted(self, act: Any) -> bool:
        [attempt] = await self.server.webhook.deliver(act)
        return attempt.confirmed

    async def _polled(self, act: Any) -> bool:
        """Delivered again where it was confirmed before: the offset was lost with the machine."""
        polling = self.rig.polling
        if act.id not in self.server.updates.pending:
            self.server.updates.again(act)
        polling.offset = min(polling.offset or act.id, act.id)
        try:
            await polling.look()
        except StoreUnavailable:
            return polling.offset > act.id
        return True

    def _mine(self, room: str) -> list[Message]:
        return [m for m in self.rooms[room].messages.values() if m.mine]

    def texts(self, room: str) -> list[str]:
        posted = [m.versions[0].text for m in self._mine(room)]
        for name, person in self.people.items():
            posted += [f"{m.text} (only to {name})" for m in person.chat.messages.values() if m.mine]
        return posted

    def last_parts(self, room: str, count: int) -> list[tuple[str, bool]]:
        return [(m.text, bool(m.buttons)) for m in self._mine(room)[-count:]]

    def fail(self, how: str) -> None:
        faults = self.server.faults
        if how == "limit":
            faults.limit(3)
        elif how == "refused":
            faults.fail(500)
        else:
            faults.lose(taken=how == "lost after")

    def block(self, room: str) -> None:
        """The update of its removal has not come yet; the refusals have."""
        words = "Forbidden: bot was kicked from the supergroup chat"
        self.server.faults.fail(403, words, chat=self.rooms[room].id, times=-1)

    def remove_card(self, room: str) -> None:
        [card] = [m for m in self._mine(room) if m.buttons]
        card.gone = True


class TestTelegramAdapter(AdapterPromises):
    can = TelegramHarness.can

    @pytest.fixture(params=["polling", "webhook"])
    async def harness(self, request: pytest.FixtureRequest) -> AsyncIterator[TelegramHarness]:
        clock = ManualClock(auto=True)
        server = TelegramServer(clock, username="askfirst", privacy=False)
        async with rig(server, style=request.param) as made:
            yield TelegramHarness(made)
