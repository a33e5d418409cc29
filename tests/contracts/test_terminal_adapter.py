"""The terminal keeps the adapter's promises. Its acknowledgement is the `done` line."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from adapters.limits import plain
from adapters.terminal.chat import Chat
from adapters.terminal.codec import Shown, read_line
from bot.ports import StoreUnavailable
from tests.contracts.adapter_contract import AdapterPromises
from tests.fakes.clock import ManualClock, turns
from tests.fakes.envelopes import said
from tests.fakes.store import FakeStore
from tests.fakes.terminal import terminal_parts


class TerminalHarness:
    can = frozenset({"delete", "album"})

    def __init__(self) -> None:
        self.store, self.clock = FakeStore(), ManualClock()
        self.shown: list[Shown] = []
        parts = terminal_parts(self.store, self.clock, self.shown.append)
        self.outbox, self.chat = parts.outbox, Chat(parts)
        self.count = 0

    def _act(self, room: str, **keys: Any) -> dict[str, Any]:
        self.count += 1
        shared = {"shared": True} if room == "group" else {}
        return {"id": f"k{self.count}", "place": room} | shared | keys

    def say(self, person: str, text: str, *, room: str = "a", files=(), forwarded: str | None = None) -> Any:
        keys: dict[str, Any] = {"from": person, **({"forwarded": forwarded} if forwarded else {})}
        if files:
            album = f"album{self.count}"
            parts = [("" if n else text, name) for n, name in enumerate(files)]
            return [self._act(room, text=t, files=[{"name": f}], album=album, **keys) for t, f in parts]
        return self._act(room, text=text, **keys)

    def edit(self, person: str, act: dict, text: str) -> dict:
        return self._act(act["place"], **{"from": person, "edit": act["id"], "text": text})

    def delete(self, act: dict) -> dict:
        return self._act(act["place"], delete=act["id"])

    def press(self, person: str, room: str, label: str) -> dict:
        card = next(s for s in reversed(self.shown) if s.place == room and s.content.buttons)
        return self._act(room, **{"from": person, "press": {"message": card.message, "button": label}})

    async def deliver(self, *acts: dict) -> list[bool]:
        done = []
        for act in acts:
            line = read_line(json.dumps(act).encode())
            try:
                await self.chat.take(line, await self.chat.name(line))
                done.append(True)
            except StoreUnavailable:
                done.append(False)
        await self.chat.settle()
        return done

    def texts(self, room: str) -> list[str]:
        posts = [s for s in self.shown if s.place == room and not s.edits and not s.message.endswith(".reply")]
        return [plain(s.content) + (f" (only to {s.only_to})" if s.only_to else "") for s in posts]

    def last_parts(self, room: str, count: int) -> list[tuple[str, bool]]:
        return [(plain(s.content), bool(s.content.buttons)) for s in self.shown if s.place == room][-count:]


class TestTerminal(AdapterPromises):
    can = TerminalHarness.can

    @pytest.fixture
    def harness(self) -> TerminalHarness:
        return TerminalHarness()

    async def test_rows_that_a_server_is_to_send_do_not_keep_the_chat_awake(self, harness: TerminalHarness) -> None:
        await harness.chat._parts.runner.handle(said("hello", conversation="telegram:1"))
        line: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = asyncio.create_task(harness.chat.wait_for(line))
        await turns()
        assert harness.clock.slept == []
        line.set_result(None)
        await waiting
        assert harness.store.rows[0].waiting
