"""Privacy mode, own words in groups, and the greeting (P36, RP-5, CH-5)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import AsyncIterator

import pytest

from bot.core.policies import Access
from bot.core.step import step
from tests.adapters.telegram.talking import Talk, book
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Person, TelegramServer
from tests.fakes.telegram_rig import rig

HINT = "reply to this message"


@pytest.fixture
async def talk() -> AsyncIterator[Talk]:
    server = TelegramServer(ManualClock(auto=True), privacy=True)
    async with rig(server, decide=functools.partial(step, book=book())) as made:
        yield Talk(made)


@pytest.fixture
def ana(talk: Talk) -> Person:
    return talk.server.person("Ana", username="ana_t", started=True)


async def test_p36_a_card_says_how_to_answer_where_only_replies_arrive(talk: Talk, ana: Person) -> None:
    group = talk.server.supergroup("Triage", ana)
    card = await talk.begin(ana, group)
    assert HINT in card.text
    ana.say("1: B", group)  # never arrives
    await talk.settle()
    assert talk.answers == {}
    ana.reply(card, "1: B")
    await talk.settle()
    assert talk.answers == {"years": "B"}
    ana.say("@askfirst_bot 2: A", group)
    ana.say("/status@askfirst_bot", group)
    await talk.settle()
    assert talk.answers == {"years": "B", "databases": "A"}
    assert "Still open" in group.texts[-1]


async def test_p36_an_administrator_hears_everything(talk: Talk, ana: Person) -> None:
    """Asked once a group; afterwards the changes of its membership say it."""
    group = talk.server.supergroup("Triage", ana, bot="administrator")
    card = await talk.begin(ana, group)
    assert HINT not in card.text
    ana.say("1: B", group)
    await talk.settle()
    assert talk.answers == {"years": "B"}
    assert len(talk.server.history.of("getChatMember")) == 1
    talk.server.demote_bot(group, ana)
    ana.press("A", group)
    await talk.settle()
    assert HINT in card.text
    talk.server.promote_bot(group, ana)
    ana.say("2: B", group)
    await talk.settle()
    assert HINT not in card.text
    assert len(talk.server.history.of("getChatMember")) == 1


async def test_p36_what_can_not_be_asked_counts_as_privacy(talk: Talk, ana: Person) -> None:
    talk.server.faults.fail(500, method="getChatMember")
    group = talk.server.supergroup("Triage", ana, bot="administrator")
    card = await talk.begin(ana, group)
    assert HINT in card.text
    ana.press("A", card)
    await talk.settle()
    assert HINT not in card.text


async def test_p36_own_words_are_asked_for_so_that_they_arrive(talk: Talk, ana: Person) -> None:
    """The question for the words opens a reply for that person alone; the card keeps its buttons, and its place."""
    ben = talk.server.person("Ben 😀", started=True)
    group = talk.server.supergroup("Triage", ana, ben)
    card = await talk.begin(ana, group)
    ben.press("Other…", card)
    await talk.settle()
    asked = group.last
    assert asked.markup is not None
    assert "in a reply to this message" in asked.text  # what is said loose in a group is talk (CH-2)
    assert asked.markup["force_reply"] is True
    assert asked.markup["selective"] is True
    [mention] = [e for e in asked.entities if e["type"] == "text_mention"]
    assert (mention["user"]["id"], mention["offset"], mention["length"]) == (ben.id, 0, len("Ben 😀") + 1)
    ben.reply(asked, "only reviews in Dutch")
    await talk.settle()
    assert talk.recorded["years"].chosen_text == "only reviews in Dutch"
    assert "✔ 1" in card.text
    assert card.labels


async def test_p36_what_shall_come_out_is_asked_for_so_that_it_arrives(talk: Talk, ana: Person) -> None:
    """RT-9: the open question after "something else", in a group where only replies are heard."""
    group = talk.server.supergroup("Triage", ana)
    ana.say("@askfirst_bot hello", group)
    await talk.settle()
    ana.press("Something else", group)
    await talk.settle()
    asked = group.last
    assert "in a reply to this message" in asked.text
    assert asked.markup is not None
    assert asked.markup["force_reply"] is True
    ana.reply(asked, "a literature review of bees in cities")
    await talk.settle()
    assert talk.card(group)


async def test_alone_with_the_bot_nothing_has_to_be_a_reply(talk: Talk, ana: Person) -> None:
    card = await talk.begin(ana)
    assert HINT not in card.text
    ana.press("Other…", card)
    await talk.settle()
    assert ana.chat.last.markup is None
    assert "in your next message" in ana.chat.last.text
    assert not talk.server.history.of("getChatMember")


# -- the greeting --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["group", "supergroup"])
async def test_a_group_is_greeted_once_in_one_short_message(talk: Talk, ana: Person, style: str) -> None:
    group = getattr(talk.server, style)("Triage", ana, bot="left")
    talk.server.add_bot(group, ana)
    await talk.settle()
    [words] = talk.mine(group)
    assert "@askfirst_bot" in words
    assert "replying to my message" in words
    assert len(words) < 400
    talk.server.promote_bot(group, ana)
    talk.server.demote_bot(group, ana)
    await talk.settle()
    assert talk.mine(group) == [words]


async def test_back_in_a_group_that_knows_it_or_moved_the_bot_says_no_hello(talk: Talk, ana: Person) -> None:
    group = talk.server.group("Lab", ana)
    await talk.begin(ana, group)
    before = len(talk.mine(group))
    talk.server.remove_bot(group, ana)
    talk.server.add_bot(group, ana)
    await talk.settle()
    assert not [words for words in talk.mine(group)[before:] if "Hello" in words]
    talk.server.migrate(group, ana)
    await talk.settle()
    assert not [words for words in talk.mine(group)[before:] if "Hello" in words]


async def test_a_channel_gets_no_greeting(talk: Talk, ana: Person) -> None:
    channel = talk.server.channel("News", ana, bot="left")
    talk.server.add_bot(channel, ana)
    talk.server.promote_bot(channel, ana)
    await talk.settle()
    assert talk.mine(channel) == []


async def test_a_group_that_is_not_let_in_is_told_how_and_no_more() -> None:
    """CH-5."""
    closed = dataclasses.replace(book(), access=Access(allow=()))
    async with rig(TelegramServer(ManualClock(auto=True)), decide=functools.partial(step, book=closed)) as made:
        ana = made.server.person("Ana", started=True)
        group = made.server.supergroup("Triage", ana, bot="left")
        made.server.add_bot(group, ana)
        await made.settle()
        [words] = group.texts
        assert f"telegram:{group.id}" in words
        assert "/help" not in words
