"""Ids that are not what they seem, people who are not who they were, cards that are gone."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from bot.core.codec import NewerState, UnreadableState
from bot.core.policies import Access
from bot.core.step import step
from tests.adapters.telegram.talking import Talk, book, core
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import TelegramServer
from tests.fakes.telegram_rig import Rig, rig


@pytest.fixture(params=["polling", "webhook"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server() -> TelegramServer:
    return TelegramServer(ManualClock(auto=True), privacy=False)


@pytest.fixture
async def talk(server: TelegramServer, style: str) -> AsyncIterator[Talk]:
    async with rig(server, style=style, decide=core()) as made:
        yield Talk(made)


async def test_b07_the_same_message_id_in_two_chats(talk: Talk, server: TelegramServer) -> None:
    """Keys are chat and message, of up to 52 bits; neither answer is taken for a copy of the other."""
    ana = server.person("Ana", started=True, id=4503599627370495)
    group = server.supergroup("B", ana)
    card = await talk.begin(ana)
    other = await talk.begin(ana, group)
    ana.chat.next_id = group.next_id = 500
    one, two = ana.say("1: B"), ana.say("1: A", group)
    assert one.id == two.id
    await talk.settle()
    by_place = {
        commit.envelope.place.conversation: c.chosen for commit in talk.store.commits for c in commit.clarifications
    }
    assert by_place == {"telegram:4503599627370495": "B", f"telegram:{group.id}": "A"}
    assert card.chat is not other.chat


def closed(*allowed: str) -> Any:
    return functools.partial(step, book=dataclasses.replace(book(), access=Access(allow=allowed)))


async def test_b16_a_name_that_changes_hands(server: TelegramServer, style: str) -> None:
    """CH-5: the stranger with her old name learns how to ask for access and nothing else; Ana keeps hers."""
    ana = server.person("Ana", username="ana_t", started=True)
    decide = closed(f"telegram:{ana.id}")
    async with rig(server, style=style, decide=decide) as made:
        talk = Talk(made)
        await talk.begin(ana)
        ana.username = "ana_new"
        stranger, ben = server.person("Ana", username="ana_t", started=True), server.person("Ben", started=True)
        for who in (stranger, ben):
            who.say("1: B")
        await talk.settle()
        assert talk.answers == {}
        for who in (stranger, ben):
            [words] = talk.mine(who.chat)
            assert f"your id is telegram:{who.id}" in words
            assert "Literature" not in words
        ana.say("1: B")
        await talk.settle()
        assert talk.answers == {"years": "B"}
        refusals = [row for c in talk.store.commits for row in c.audit if row.event == "access.refused"]
        assert {row.actor for row in refusals} == {f"human:telegram:{stranger.id}", f"human:telegram:{ben.id}"}


async def test_b44_a_member_of_the_right_chat_who_may_not_answer(server: TelegramServer, style: str) -> None:
    """RD-14: refused with a reason; the chat's permission is not the person's."""
    one = dataclasses.replace(book(), default_answerers={"*": "requester"})
    async with rig(server, style=style, decide=functools.partial(step, book=one)) as made:
        talk = Talk(made)
        ana, ben = server.person("Ana", started=True), server.person("Ben", started=True)
        group = server.supergroup("Triage", ana, ben)
        card = await talk.begin(ana, group)
        query = ben.press("B ✅", card)
        await talk.settle()
        assert talk.answers == {}
        assert "Ana's to answer" in (query.answer or "")


async def test_b10_two_taps_on_a_card_that_is_gone_bring_one_fresh_card(talk: Talk, server: TelegramServer) -> None:
    """A stub has no date: it is not from 1970. The answers come from the tokens; the card is posted anew once."""
    ana = server.person("Ana", started=True)
    card = await talk.begin(ana)
    tokens = [b["callback_data"] for b in card.buttons]
    talk.clock.advance(timedelta(hours=23))
    card.gone = True
    first = ana.send_data(tokens[0], card)
    await talk.settle()
    second = ana.send_data(tokens[0].replace(":1:", ":2:"), card)
    await talk.settle()
    assert talk.answers == {"years": "A", "databases": "A"}
    assert first.answer
    assert second.answer
    fresh = [m for m in talk.cards(ana.chat) if m is not card]
    assert len(fresh) == 1
    assert "✔ 2" in fresh[0].text


async def pushed(made: Rig) -> None:
    for _ in range(5):
        with contextlib.suppress(UnreadableState):
            await made.settle()
        made.clock.advance(300)


async def test_b38_a_state_that_can_not_be_read_hurts_its_own_chat_only(talk: Talk, server: TelegramServer) -> None:
    """What was said there is kept, not lost; /status says what is wrong (CH-3); everybody else goes on."""
    ana, ben = server.person("Ana", started=True), server.person("Ben", started=True)
    await talk.begin(ana)
    await talk.begin(ben)
    real = talk.store.load

    async def load(conversation: str) -> Any:
        if conversation == f"telegram:{ana.id}":
            raise NewerState("stored by a newer program")
        return await real(conversation)

    talk.store.load = load
    ana.say("1: B")
    ben.say("1: A")
    await pushed(talk.rig)
    ana.say("/status")
    await talk.settle()
    assert "can't be read" in talk.mine(ana.chat)[-1]
    assert "Nothing of it is lost" in talk.mine(ana.chat)[-1]
    assert talk.answers == {"years": "A"}
    [kept] = (await talk.store.kept("telegram:parked:")).values()
    assert "1: B" in kept
    talk.store.load = real
    ana.say("/status")
    await talk.settle()
    assert "0 of 3 answered" in talk.mine(ana.chat)[-1]
