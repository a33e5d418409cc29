"""A round longer than one message: redrawn part by part, folded as it shrinks, found again after a restart."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from adapters.limits import length
from adapters.telegram.render import MAX_TEXT
from bot.core.book import Book
from bot.core.playbook import Entry, Playbook
from bot.core.step import step
from tests.adapters.telegram.talking import Talk, book
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Message, Person, TelegramServer
from tests.fakes.telegram_rig import rig

WORKFLOW = "academic-paper/lit-review"


@functools.cache
def long_book(more: int = 900) -> Book:
    """The short playbook's three questions twice, each with some hundred words of reasons."""
    made = book()
    short = made.playbooks[WORKFLOW]

    def longer(entry: Entry, number: int) -> Entry:
        question = entry.question
        why = f"{question.why} " + f"Reason {number}. " * (more // 10)
        changed = {"id": f"{question.id}{number}", "topic": f"{question.topic} ({number})", "why": why}
        changed["field"] = f"{question.field}{number}"
        return entry.model_copy(update={"question": question.model_copy(update=changed), "known": ()})

    entries = tuple(longer(entry, n) for n in (1, 2) for entry in short.entries)
    playbook: Playbook = short.model_copy(update={"entries": entries})
    return dataclasses.replace(made, playbooks={**made.playbooks, WORKFLOW: playbook})


def rigged(server: TelegramServer, store: Any = None, **more: Any) -> Any:
    return rig(server, store, decide=functools.partial(step, book=long_book()), **more)


@pytest.fixture
async def talk() -> AsyncIterator[Talk]:
    async with rigged(TelegramServer(ManualClock(auto=True), privacy=False)) as made:
        yield Talk(made)


@pytest.fixture
def ana(talk: Talk) -> Person:
    return talk.server.person("Ana", username="ana_t", started=True)


async def parts_of(talk: Talk, ana: Person, words: str = "lit-review this") -> list[Message]:
    ana.say(words)
    await talk.settle()
    return [m for m in ana.chat.messages.values() if m.mine]


def edited(talk: Talk) -> list[int]:
    """The messages that were edited since the last look, in order."""
    calls = talk.server.history.of("editMessageText")
    made = [call.params["message_id"] for call in calls]
    talk.server.history.calls.clear()
    return made


async def test_a_tap_redraws_only_the_messages_in_which_something_changed(talk: Talk, ana: Person) -> None:
    """P33, RD-8, CH-4: posted once, then edited; the buttons stay where the finger is."""
    first, second, *_ = parts = await parts_of(talk, ana)
    last = parts[-1]
    assert [bool(part.buttons) for part in parts] == [False] * (len(parts) - 1) + [True]
    assert all(length(part.text) <= MAX_TEXT for part in parts)
    edited(talk)
    ana.press("B", last)
    await talk.settle()
    assert "✔ 1" in first.text
    assert edited(talk) == [last.id, first.id]
    assert [m for m in ana.chat.messages.values() if m.mine] == parts
    assert "✔" not in second.text
    heads = [line for part in parts for line in part.text.split("\n") if line[:1].isdigit()]
    assert [head[0] for head in heads] == ["2", "3", "4", "5", "6"]
    assert talk.answers == {"years1": "B"}


async def test_after_a_restart_the_parts_are_still_one_card(talk: Talk, ana: Person) -> None:
    """Right by the store, not by memory."""
    parts = await parts_of(talk, ana)
    async with rigged(talk.server, talk.store) as second:
        edited(talk)
        ana.press("A", parts[-1])
        await second.settle()
    assert edited(talk) == [parts[-1].id, parts[0].id]
    assert len([m for m in ana.chat.messages.values() if m.mine]) == len(parts)


async def test_as_the_text_shrinks_the_first_parts_go(talk: Talk, ana: Person) -> None:
    parts = await parts_of(talk, ana)
    assert len(parts) >= 2
    ana.say("1: B, 2: A, 3: A, 4: A, 5: A")
    await talk.settle()
    assert [part.gone for part in parts] == [True] * (len(parts) - 1) + [False]
    assert all(f"✔ {n} ·" in parts[-1].text for n in range(1, 6))
    assert parts[-1].labels[-1] == ["Accept the recommendation"]
    ana.press("A", parts[-1])
    await talk.settle()
    assert parts[-1].labels == []
    assert len(talk.answers) == 6
    assert not [m for m in ana.chat.messages.values() if m.mine and m.id > parts[-1].id and "✔" in m.text]
    assert not [key for key in talk.store.notes if key.startswith(("telegram:card:", "telegram:part:"))]


async def test_a_part_too_old_to_be_deleted_points_down(talk: Talk, ana: Person) -> None:
    """Bots can delete their messages for 48 hours, and edit them for ever."""
    parts = await parts_of(talk, ana)
    talk.clock.advance(timedelta(hours=49))
    ana.say("1: B, 2: A, 3: A, 4: A, 5: A")
    await talk.settle()
    assert [part.text for part in parts[:-1]] == ["↓"] * (len(parts) - 1)
    assert "✔ 5" in parts[-1].text


async def test_a_part_that_somebody_has_deleted_brings_the_card_anew_once(talk: Talk, ana: Person) -> None:
    parts = await parts_of(talk, ana)
    parts[0].gone = True
    ana.press("B", parts[-1])
    await talk.settle()
    anew = [m for m in ana.chat.messages.values() if m.mine and m.id > parts[-1].id]
    assert len(anew) == len(parts)
    assert parts[-1].labels == []
    assert anew[-1].labels
    ana.press("A", anew[-1])
    await talk.settle()
    assert len([m for m in ana.chat.messages.values() if m.mine and m.id > parts[-1].id]) == len(parts)


@pytest.mark.parametrize("fault", ["limit", "lost", "500"])
async def test_trouble_between_two_parts_leaves_nothing_half_drawn(talk: Talk, ana: Person, fault: str) -> None:
    """P30, P31: the last state wins, nothing is posted twice."""
    parts = await parts_of(talk, ana)
    faults = talk.server.faults
    gate = faults.hold(method="editMessageText")  # the first part goes through, the next one does not
    if fault == "limit":
        faults.limit(method="editMessageText")
    elif fault == "lost":
        faults.lose(taken=True, method="editMessageText")
    else:
        faults.fail(500, method="editMessageText")
    ana.press("B", parts[-1])
    settling = asyncio.ensure_future(talk.settle())
    await gate.reached()
    gate.open()
    await settling
    ana.say("2: A")
    for _ in range(4):
        talk.clock.advance(10)
        await talk.settle()
    assert [m for m in ana.chat.messages.values() if m.mine][: len(parts)] == parts
    assert len([m for m in ana.chat.messages.values() if m.mine]) == len(parts) + 1  # and the echo of the second
    assert "✔ 1" in parts[0].text
    assert "✔ 2" in parts[0].text
    assert "Buttons: 3" in parts[-1].text
    assert talk.answers == {"years1": "B", "databases1": "A"}


async def test_a_reply_to_any_part_is_a_reply_to_the_card(talk: Talk, ana: Person) -> None:
    """RP-7, RP-3: in a group a bare letter counts only in reply to the card."""
    group = talk.server.supergroup("Triage", ana)
    ana.say("@askfirst_bot lit-review this", group)
    await talk.settle()
    parts = [m for m in group.messages.values() if m.mine]
    before = len(parts)
    ana.say("yes", group)
    await talk.settle()
    assert len([m for m in group.messages.values() if m.mine]) == before
    ana.say("yes", group, reply_to=parts[0])
    await talk.settle()
    assert "accept recommendations" in [m.text for m in group.messages.values() if m.mine][-1]
