"""The real core behind the Slack adapter, on the strict fake: what the tests of field cases and pains play on."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from bot.app import load_book
from bot.core.book import Book
from bot.core.effects import Audit, Clarification
from bot.core.policies import Access
from bot.core.state import Conversation
from config.playbooks_loader import load_playbooks
from config.settings import load_settings
from tests.fakes.slack import Channel, Message, Person
from tests.fakes.slack_rig import Rig
from tests.transcripts.conftest import PLAYBOOKS


@functools.cache
def book() -> Book:
    made = load_book(load_settings())
    return dataclasses.replace(
        made,
        playbooks=load_playbooks(PLAYBOOKS),
        access=Access(allow=("*",)),
        bot_names={**made.bot_names, "slack": "askfirst"},
        default_pack={"*": "research"},
    )


class Talk:
    """`settle` hears, rings and sends. Ana and Ben are in the channel; a round of three questions is in a thread."""

    def __init__(self, rig: Rig) -> None:
        self.rig, self.server, self.clock, self.store = rig, rig.server, rig.clock, rig.store
        self.ana, self.ben = self.server.person("Ana"), self.server.person("Ben")
        self.triage = self.server.channel("triage", self.ana, self.ben, id_="C0TRIAGE1")

    async def settle(self, *only: Any) -> None:
        await self.rig.hear(*only)
        await self.rig.timers.fire_due()
        await self.rig.outbox.drain()
        await self.rig.hear()

    async def begin(self, who: Person | None = None, where: Channel | None = None) -> Message:
        """Gives the message that asked: the root of the thread."""
        place = where or self.triage
        asked = (who or self.ana).say("@askfirst lit-review this", place)
        await self.settle()
        assert self.card(place)
        return asked

    def card(self, where: Channel | None = None) -> Message:
        return next(m for m in reversed(self.mine(where)) if "Literature review" in m.text)

    def mine(self, where: Channel | None = None) -> list[Message]:
        bot = self.server.me.bot.id
        return [m for m in (where or self.triage).messages.values() if m.user == bot and not m.gone]

    def words(self, where: Channel | None = None) -> list[str]:
        return [m.text for m in self.mine(where)]

    @property
    def recorded(self) -> dict[str, Clarification]:
        return {c.question: c for commit in self.store.commits for c in commit.clarifications}

    @property
    def answers(self) -> dict[str, str | None]:
        return {question: c.chosen for question, c in self.recorded.items()}

    @property
    def audit(self) -> list[Audit]:
        return [entry for commit in self.store.commits for entry in commit.audit]

    def opened(self) -> list[Conversation]:
        return [state for state in self.store.states.values() if state.counted]

    def tap(self, who: Person, label: str, on: Message) -> Any:
        """The delivery of a press."""
        return who.press(label, on=on)
