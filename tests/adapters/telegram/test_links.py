"""The proof of an answer can be followed where Telegram knows addresses of messages (CA-2)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.adapters.telegram.talking import Talk, core
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Person, TelegramServer
from tests.fakes.telegram_rig import rig


@pytest.fixture
async def talk() -> AsyncIterator[Talk]:
    async with rig(TelegramServer(ManualClock(auto=True), privacy=False), decide=core()) as made:
        yield Talk(made)


@pytest.fixture
def ana(talk: Talk) -> Person:
    return talk.server.person("Ana", started=True)


@pytest.mark.parametrize(("username", "name"), [(None, "c/{}"), ("lab_talk", "lab_talk")])
async def test_in_a_group_the_message_and_the_card_have_their_address(
    talk: Talk, ana: Person, username: str | None, name: str
) -> None:
    """CA-2. A reply is no thread of a topic. The press of a card says where the card is."""
    group = talk.server.supergroup("Lab", ana)
    group.username = username
    at = f"https://t.me/{name.format(str(group.id).removeprefix('-100'))}"
    card = await talk.begin(ana, group)
    said = ana.say("1: B", reply_to=card)
    await talk.settle()
    query = ana.press("A", group)
    await talk.settle()
    assert {q: c.user_message_ref for q, c in talk.recorded.items()} == {
        "years": f'{said.id} <{at}/{said.id}>: "1: B"',
        "databases": f'{query.id} <{at}/{card.id}> on {card.id}: pressed "A · Two broad indexes ✅"',
    }


async def test_in_a_topic_the_address_names_it(talk: Talk, ana: Person) -> None:
    """CA-2. An edit is found where the message is."""
    group = talk.server.supergroup("Lab", ana, forum=True)
    topic = talk.server.topic(group, "Reviews")
    card = await talk.begin(ana, group, topic=topic)
    said = ana.say("1: B", reply_to=card)
    await talk.settle()
    ana.edit(said, "1: C")
    await talk.settle()
    at = f"https://t.me/c/{str(group.id).removeprefix('-100')}/{said.id}?thread={topic.id}"
    assert talk.recorded["years"].user_message_ref == f'{said.id} <{at}>: "1: C"'


async def test_a_card_of_which_only_the_id_is_told_has_its_address(talk: Talk, ana: Person) -> None:
    """CA-2, b10: a stub says neither the topic nor anything else."""
    group = talk.server.supergroup("Lab", ana)
    card = await talk.begin(ana, group)
    talk.clock.advance(timedelta(days=4))
    ana.press("B", card)
    await talk.settle()
    at = f"https://t.me/c/{str(group.id).removeprefix('-100')}/{card.id}"
    assert f" <{at}> on {card.id}: " in talk.recorded["years"].user_message_ref


@pytest.mark.parametrize("group", [False, True])
async def test_private_chats_and_basic_groups_have_no_addresses(talk: Talk, ana: Person, group: bool) -> None:
    """CA-2: the platform's id and the quote are the proof."""
    card = await talk.begin(ana, talk.server.group("Lab", ana) if group else None)
    said = ana.say("1: B", reply_to=card)
    await talk.settle()
    assert talk.recorded["years"].user_message_ref == f'{said.id}: "1: B"'
