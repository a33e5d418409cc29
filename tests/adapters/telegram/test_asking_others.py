"""Somebody else is asked, who has no username: people choose them from the list that @ opens (RD-12, CH-6)."""

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


async def test_in_a_private_chat_nobody_else_can_be_asked(talk: Talk) -> None:
    """CH-6, CH-7: she would never see the questions, and whoever asked would wait for her."""
    ana = talk.server.person("Ana", username="ana_t", started=True)
    talk.server.person("Maria", username="maria_l", started=True)
    await talk.begin(ana)
    ana.say("@maria_l please")
    await talk.settle()
    assert talk.mine(ana.chat)[-1].startswith("Nobody but you sees this chat, so I can't ask @maria_l.")
    assert talk.session(ana.chat).participants == ()
    assert talk.session(ana.chat).stage.kind == "asking"


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


async def test_ch2_whoever_never_started_the_bot_is_told_in_the_group(talk: Talk) -> None:
    """CH-2 RD-12: a reply that is refused says why and how to fix it, whichever way there is."""
    ana = talk.server.person("Ana", username="ana_t", started=True)
    ben = talk.server.person("Ben", username="ben_o")
    group = talk.server.supergroup("Triage", ana, ben)
    card = await talk.begin(ana, group)
    before = len(talk.mine(group))
    ben.reply(card, "1: B")
    await talk.settle()
    assert talk.mine(group)[before:] == [
        "These questions are Ana's to answer. Ana can let you, by replying to the card: @ben_o please"
    ]
    ben.say("nice weather", group)
    await talk.settle()
    assert len(talk.mine(group)) == before + 1


async def test_ch5_whoever_is_not_let_in_is_asked_to_open_a_chat() -> None:
    """CH-5: no id and no command are said to all; asked once."""
    server = TelegramServer(ManualClock(auto=True), privacy=False)
    closed = dataclasses.replace(book(), access=Access())
    async with rig(server, decide=functools.partial(step, book=closed)) as made:
        ben = server.person("Ben", username="ben_o")
        group = server.supergroup("Triage", ben)
        for _ in range(2):
            ben.say("@askfirst_bot review my paper", group)
            await made.settle()
        [words] = [m.text for m in group.messages.values() if m.mine]
        assert "press Start" in words
        assert str(ben.id) not in words
