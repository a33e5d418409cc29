"""Somebody else is asked, who has no username: people choose them from the list that @ opens (RD-12, CH-6)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import AsyncIterator

import pytest

from bot.core.step import step
from tests.adapters.telegram.talking import Talk, book
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Person, TelegramServer
from tests.fakes.telegram.text import utf16
from tests.fakes.telegram_rig import rig


@pytest.fixture
async def talk() -> AsyncIterator[Talk]:
    server = TelegramServer(ManualClock(auto=True), privacy=False)
    requester_only = dataclasses.replace(book(), default_answerers={"*": "requester"})
    async with rig(server, decide=functools.partial(step, book=requester_only)) as made:
        yield Talk(made)


@pytest.mark.parametrize(
    ("first", "last", "shown"),
    [("Maria", "López", "@Maria_López"), ("李", None, "@id5000000002"), ("🦄", "9", "@id5000000002")],
)
async def test_somebody_without_a_username(talk: Talk, first: str, last: str | None, shown: str) -> None:
    """A mention by id lets that very person answer, and notifies them; a name alone would be anybody's."""
    ana = talk.server.person("Ana", username="ana_t", started=True)
    maria = talk.server.person(first, last_name=last, started=True)
    twin = talk.server.person(first, last_name=last)
    group = talk.server.supergroup("Triage", ana, maria, twin)
    card = await talk.begin(ana, group)
    maria.reply(card, "1: B")
    await talk.settle()
    assert "choosing your name in the list that @ opens" in talk.mine(maria.chat)[-1]
    name = " ".join(filter(None, (first, last)))
    mention = {"type": "text_mention", "offset": 0, "length": utf16(name), "user": maria.json()}
    ana.say(f"{name} please", group, reply_to=card, entities=[mention])
    await talk.settle()
    assert talk.answers == {}
    told = group.last
    assert told.text.startswith(f"{shown}: these questions are yours to answer too")
    assert [e["user"]["id"] for e in told.entities if e["type"] == "text_mention"] == [maria.id]
    twin.reply(card, "1: A")
    await talk.settle()
    assert talk.answers == {}
    maria.reply(card, "1: B")
    await talk.settle()
    assert talk.answers == {"years": "B"}


async def test_a_name_within_an_answer_stays_as_it_was_written(talk: Talk) -> None:
    """RP-5: the words of Other are the person's."""
    ana = talk.server.person("Ana", username="ana_t", started=True)
    ben: Person = talk.server.person("Ben", last_name="Okri")
    group = talk.server.supergroup("Triage", ana, ben)
    card = await talk.begin(ana, group)
    mention = {"type": "text_mention", "offset": 13, "length": 8, "user": ben.json()}
    ana.say("1: other (as Ben Okri has it)", group, reply_to=card, entities=[mention])
    await talk.settle()
    assert talk.recorded["years"].chosen_text == "as Ben Okri has it"
