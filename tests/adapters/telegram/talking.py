"""The real core behind the adapter, on the fake Bot API server, and a few words to talk about it."""

from __future__ import annotations

import dataclasses
import functools
from datetime import timedelta
from typing import Any

from bot.app import load_book
from bot.core.book import Book
from bot.core.effects import Clarification
from bot.core.policies import Access
from bot.core.state import Session
from bot.core.step import step
from bot.runner import Decide
from config.playbooks_loader import load_playbooks
from config.settings import load_settings
from tests.fakes.telegram import Chat, Person
from tests.fakes.telegram import Message as Shown
from tests.fakes.telegram_rig import Rig
from tests.transcripts.conftest import PLAYBOOKS


@functools.cache
def book() -> Book:
    made = load_book(load_settings())
    names = {**made.bot_names, "telegram": "askfirst_bot"}
    answerers = {"*": "anyone"}
    return dataclasses.replace(
        made,
        playbooks=load_playbooks(PLAYBOOKS),
        access=Access(allow=("*",)),
        bot_names=names,
        default_answerers=answerers,
        tap_pause={"*": timedelta(0)},
    )


def core() -> Decide:
    return functools.partial(step, book=book())


class Talk:
    """One conversation: `settle` hears, rings and sends."""

    def __init__(self, rig: Rig) -> None:
        self.rig, self.server, self.clock, self.store = rig, rig.server, rig.clock, rig.store

    async def settle(self) -> None:
        await self.rig.settle()

    async def begin(self, who: Person, where: Chat | None = None, **how: Any) -> Shown:
        """A round of three questions is on the table; gives its card."""
        words = "lit-review this" if where is None else "@askfirst_bot lit-review this"
        who.say(words, where, **how)
        await self.settle()
        return self.card(where or who.chat)

    def card(self, chat: Chat) -> Shown:
        return next(m for m in reversed(chat.messages.values()) if m.mine and "Literature review" in m.text)

    def cards(self, chat: Chat) -> list[Shown]:
        return [m for m in chat.messages.values() if m.mine and "Literature review ·" in m.text]

    @property
    def recorded(self) -> dict[str, Clarification]:
        return {c.question: c for commit in self.store.commits for c in commit.clarifications}

    @property
    def answers(self) -> dict[str, str | None]:
        return {question: c.chosen for question, c in self.recorded.items()}

    def mine(self, chat: Chat) -> list[str]:
        return [m.text for m in chat.messages.values() if m.mine]

    def session(self, chat: Chat, topic: Any = None) -> Session:
        state = self.store.states[f"telegram:{chat.id}" + (f"/{topic.id}" if topic else "")]
        session = state.current
        assert session is not None
        return session
