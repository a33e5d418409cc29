"""Telegram's rates, on a server that enforces them: one a second in a chat, twenty a minute in a group (P30)."""

from __future__ import annotations

import asyncio

from tests.fakes.clock import ManualClock
from tests.fakes.telegram import TelegramServer
from tests.fakes.telegram_rig import rig


async def test_no_limit_is_ever_met() -> None:
    server = TelegramServer(ManualClock(auto=True), privacy=False, enforce_pace=True)
    async with rig(server, paced=True) as made:
        ana = server.person("Ana", started=True)
        group = server.supergroup("Triage", ana)
        for n in range(6):
            ana.say(f"private {n}")
            ana.say("file")
        for n in range(45):
            ana.say(f"group {n}", group)
        await made.hear()
        async with asyncio.timeout(30):
            while await made.store.waiting():
                await made.outbox.drain()
                due = await made.store.next_due(("telegram",))
                if due is not None and due > made.clock.now():
                    made.clock.advance(due - made.clock.now())
        assert server.history.pace() == []
        assert {call.code for call in server.history.of("sendMessage")} == {200}
        assert sum(m.mine for m in group.messages.values()) == 45
