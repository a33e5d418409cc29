"""The fake platform's adapter keeps the promises, with an offset and as a webhook."""

from __future__ import annotations

from typing import Any

import pytest

from bot.outbox import Outbox
from bot.ports import StoreUnavailable
from bot.runner import Runner
from tests.contracts.adapter_contract import AdapterPromises
from tests.fakes.adapter import FakeTransport, Hook, Polling, event_from_update
from tests.fakes.clock import ManualClock
from tests.fakes.platform import BOT, FakePlatform, Update
from tests.fakes.store import FakeStore
from tests.fakes.toy import toy


class FakeHarness:
    can = frozenset({"own", "fail", "delete", "thread", "edit_same", "album"})

    def __init__(self, style: str) -> None:
        self.server = FakePlatform()
        self.store, self.clock = FakeStore(), ManualClock()
        self.runner = Runner(self.store, toy, self.clock)
        self.transport = FakeTransport(self.server)
        self.outbox = Outbox(self.store, self.runner, {"fake": self.transport}, self.clock, jitter=lambda: 1.0)
        self.polling = Polling(self.server, self.runner, self.transport, self.clock)
        self.hook = Hook(self.runner, self.transport)
        self.style = style
        self.server.room("a")
        self.server.room("group", "group")

    def _last(self, before: int) -> Any:
        new = self.server.updates[before:]
        return new[0] if len(new) == 1 else new

    def say(self, person: str, text: str, *, room: str = "a", files=(), forwarded: str | None = None, **keys) -> Any:
        before = len(self.server.updates)
        self.server.write(room, person, text, files=files, forwarded_from=forwarded, **keys)
        return self._last(before)

    def edit(self, person: str, act: Update, text: str) -> Update:
        self.server.edit(act["room"], act["id"], text)
        return self.server.updates[-1]

    def delete(self, act: Update) -> Update:
        self.server.delete(act["room"], act["id"])
        return self.server.updates[-1]

    def press(self, person: str, room: str, label: str) -> Update:
        for post in reversed(self.server.rooms[room].posts.values()):
            for token, name in (pair for row in post.buttons for pair in row):
                if name == label:
                    self.server.press(room, person, post.id, token, label)
                    return self.server.updates[-1]
        raise AssertionError(f"no button {label}")

    async def deliver(self, *acts: Update) -> list[bool]:
        if self.style == "webhook":
            acknowledged = [await self.hook.deliver(act) == 200 for act in acts]
        else:
            acknowledged = [await self._confirmed(act) for act in acts]
        await self.outbox.drain()
        return acknowledged

    async def _confirmed(self, act: Update) -> bool:
        """Delivered again when it was confirmed before: the offset was lost with the machine."""
        self.polling.offset = min(self.polling.offset, act["update"])
        try:
            await self.polling.look()
        except StoreUnavailable:
            return self.polling.offset > act["update"]
        return True

    def texts(self, room: str) -> list[str]:
        mine = [post for post in self.server.rooms[room].log if post.version == 1]
        return [post.text + (f" (only to {post.only_to})" if post.only_to else "") for post in mine]

    def last_parts(self, room: str, count: int) -> list[tuple[str, bool]]:
        return [(post.text, bool(post.buttons)) for post in self.server.rooms[room].log[-count:]]

    def fail(self, how: str) -> None:
        self.server.faults.append(how)

    def block(self, room: str) -> None:
        self.server.blocked.add(room)

    def remove_card(self, room: str) -> None:
        [card] = [post for post in self.server.rooms[room].posts.values() if post.sender == BOT and post.buttons]
        self.server.delete(room, card.id)


class TestFakeAdapter(AdapterPromises):
    can = FakeHarness.can

    @pytest.fixture(params=["polling", "webhook"])
    def harness(self, request: pytest.FixtureRequest) -> FakeHarness:
        return FakeHarness(request.param)

    async def test_a_thread_is_a_conversation_of_its_own(self, harness: FakeHarness) -> None:
        said = harness.say("ana", "card", room="group", thread=7)
        await harness.deliver(said, harness.edit("ana", said, "other"), harness.delete(said))
        await harness.deliver(harness.press("ana", "group", "A first"))
        assert {c.envelope.place.conversation for c in harness.store.commits} == {"fake:group/7"}
        assert {post.thread for post in harness.server.rooms["group"].log} == {7}

    async def test_a_message_of_another_bot_says_so(self, harness: FakeHarness) -> None:
        await harness.deliver(harness.say("other", "accept all", sender_kind="bot"))
        assert harness.store.commits[0].envelope.event.person.kind == "bot"

    async def test_a_message_that_is_refused_for_good_is_undeliverable(self, harness: FakeHarness) -> None:
        harness.server.rooms.pop("a", None)
        harness.server.room("a")
        act = harness.say("ana", "card")
        del harness.server.rooms["a"]
        await harness.deliver(act)
        assert harness.store.rows[0].given_up == "400 chat not found"[4:]

    def test_an_unreadable_update_is_ignored_with_a_reason(self, harness: FakeHarness) -> None:
        for update in ({"kind": "message", "room": "a"}, {"room": "a", "kind": "poll"}, {}):
            assert event_from_update(update).reason

    async def test_polling_goes_on_after_an_unreadable_update(self, harness: FakeHarness) -> None:
        harness.server.updates.append({"update": 1, "room": "a", "kind": "message"})
        harness.say("ana", "hello")
        await harness.polling.look()
        assert (harness.polling.ignored, len(harness.store.commits)) == (["unreadable update: KeyError"], 1)

    async def test_polling_confirms_what_is_stored_and_no_more(self, harness: FakeHarness) -> None:
        async def away() -> None:
            raise StoreUnavailable("restarting")

        harness.say("ana", "one")
        harness.say("ana", "two")
        harness.store.before["commit"].extend([_nothing, away])
        with pytest.raises(StoreUnavailable):
            await harness.polling.look()
        assert harness.polling.offset == 2
        await harness.polling.look()
        assert (harness.polling.offset, len(harness.store.commits)) == (3, 2)


async def _nothing() -> None: ...
