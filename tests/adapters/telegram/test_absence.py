"""Away for longer than Telegram keeps messages: noticed, said where something is open, shown again once (P29)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.ports import StoreUnavailable
from tests.adapters.telegram.talking import Talk, core
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import TelegramServer
from tests.fakes.telegram_rig import Rig, rig

STYLES = pytest.mark.parametrize("style", ["polling", "webhook"])


@pytest.fixture
def server() -> TelegramServer:
    return TelegramServer(ManualClock(auto=True), privacy=False)


def again(server: TelegramServer, style: str, store: Any = None) -> Any:
    return rig(server, store, style=style, decide=core())


async def back(made: Rig) -> None:
    """What the part of the program does that takes updates in, as far as nothing comes."""
    if made.style == "webhook":
        await made.attendance.begin()
        await made.settle()
        await made.hook.look()
    await made.settle()


async def left(server: TelegramServer, style: str, talk_: Any) -> Any:
    """A round is open, and the program has gone. Gives its store."""
    async with again(server, style) as made:
        if style == "webhook":
            await made.attendance.begin()
        talk = Talk(made)
        await talk_(talk)
        await talk.settle()
        if style == "webhook":
            await made.hook.look()
        server.webhook.answer_with(None)
        return made.store


@STYLES
async def test_after_three_days_it_is_said_and_the_round_is_shown_again(server: TelegramServer, style: str) -> None:
    """P29, EX-6: one compact card for the same round; the old one loses its buttons; both count."""
    ana = server.person("Ana", started=True)
    store = await left(server, style, lambda talk: talk.begin(ana))
    [old] = cards(ana)
    ana.say("1: C")  # Telegram drops it before anybody asks
    server.clock.advance(timedelta(days=3))
    async with again(server, style, store) as made:
        talk = Talk(made)
        await back(made)
        assert talk.answers == {}
        assert len(talk.cards(ana.chat)) == 2
        new = talk.card(ana.chat)
        assert new is not old
        assert "I was away from" in new.text
        assert "did not reach me" in new.text
        assert len(new.text) < len(old.versions[0].text)
        assert (bool(old.labels), bool(new.labels)) == (False, True)
        assert "newer card below" in old.text
        assert "Sets the search filters" in old.text  # its words are still there
        ana.reply(old, "1: B")
        await talk.settle()
        ana.press("A ✅", new)
        await talk.settle()
        ana.say("3: A")
        await talk.settle()
        assert len(talk.answers) == 3
        session = next(iter(store.states[f"telegram:{ana.id}"].sessions))
        assert [r.number for r in session.rounds] == [1]
    server.clock.advance(2)  # setWebhook: at most one a second
    async with again(server, style, store) as third:  # not again at the next start
        await back(third)
        assert len(Talk(third).cards(ana.chat)) == 2


def cards(who: Any) -> list[Any]:
    return [m for m in who.chat.messages.values() if m.mine and "Literature review ·" in m.text]


@STYLES
async def test_killed_while_it_is_being_said(server: TelegramServer, style: str) -> None:
    """Half of the places have been told: the other half is told at the next start, and nobody twice."""
    people = [server.person(f"P{n}", started=True) for n in range(4)]

    async def all_begin(talk: Talk) -> None:
        for person in people:
            await talk.begin(person)

    store = await left(server, style, all_begin)
    server.clock.advance(timedelta(days=2))

    async def fine() -> None: ...

    async def away() -> None:
        raise StoreUnavailable("killed")

    store.before["commit"].extend([fine, fine, away])
    async with again(server, style, store) as made:
        with pytest.raises(StoreUnavailable):
            await back(made)
    store.before["commit"].clear()
    server.clock.advance(2)  # setWebhook: at most one a second
    async with again(server, style, store) as made:
        await back(made)
        await made.outbox.drain()
    for person in people:
        assert len([m for m in person.chat.messages.values() if m.mine and "I was away" in m.text]) == 1
    assert store.notes.keys() & {f"telegram:gap:{made.me.id}"} == set()


@STYLES
async def test_what_was_answered_within_the_day_is_heard_first(server: TelegramServer, style: str) -> None:
    """A round that the kept messages complete is not shown again; RD-6."""
    ana, ben = server.person("Ana", started=True), server.person("Ben", started=True)

    async def both(talk: Talk) -> None:
        await talk.begin(ana)
        await talk.begin(ben)

    store = await left(server, style, both)
    server.clock.advance(timedelta(hours=20))
    server.clock.advance(timedelta(hours=10))
    ana.say("1: B, 2: A, 3: A")
    async with again(server, style, store) as made:
        talk = Talk(made)
        await back(made)
        assert len(talk.answers) == 3
        assert len(talk.cards(ana.chat)) == 1
        assert len(talk.cards(ben.chat)) == 2


async def test_more_than_one_batch_waits(server: TelegramServer) -> None:
    """All of it is heard before anything is said."""
    ana, ben = server.person("Ana", started=True), server.person("Ben", started=True)
    store = await left(server, "polling", lambda talk: talk.begin(ana))
    server.clock.advance(timedelta(days=2))
    for _ in range(120):
        ben.say("/status")
    ana.say("1: B, 2: A, 3: A")
    async with again(server, "polling", store) as made:
        talk = Talk(made)
        await made.hear()
        await made.outbox.drain()
        assert len(talk.answers) == 3
        assert len(talk.cards(ana.chat)) == 1


@STYLES
async def test_a_gap_of_twenty_hours_is_none(server: TelegramServer, style: str) -> None:
    ana = server.person("Ana", started=True)
    store = await left(server, style, lambda talk: talk.begin(ana))
    server.clock.advance(timedelta(hours=20))
    ana.say("1: B")
    async with again(server, style, store) as made:
        await back(made)
        assert Talk(made).answers == {"years": "B"}
        assert len(Talk(made).cards(ana.chat)) == 1


async def test_telegram_out_of_reach_for_two_days_is_an_absence_too(server: TelegramServer) -> None:
    """The process lived all the time; the messages are lost all the same."""
    ana = server.person("Ana", started=True)
    async with again(server, "polling") as made:
        talk = Talk(made)
        await talk.begin(ana)
        server.clock.advance(timedelta(days=2))
        await made.settle()
        assert "I was away from" in talk.card(ana.chat).text


async def test_after_a_quiet_week_the_ids_may_begin_anew(server: TelegramServer) -> None:
    """ "If there are no new updates for at least a week": an offset above them would hide all of them."""
    ana = server.person("Ana", started=True)
    async with again(server, "polling") as made:
        ana.say("/status")
        await made.settle()
        assert made.polling.offset is not None
        for _ in range(8):
            for _ in range(3):
                server.clock.advance(timedelta(hours=8))
                await made.polling.look()
        assert made.polling.offset is None
        server.updates.next_id = 17
        ana.say("/help")
        await made.settle()
        assert len(Talk(made).mine(ana.chat)) == 2


async def test_the_menu_is_shown_again_too(server: TelegramServer) -> None:
    ana = server.person("Ana", started=True)

    async def menu(talk: Talk) -> None:
        ana.say("I have an abstract and a set of papers.")

    store = await left(server, "polling", menu)
    server.clock.advance(timedelta(days=2))
    async with again(server, "polling", store) as made:
        talk = Talk(made)
        await back(made)
        shown = talk.mine(ana.chat)
        assert "I was away from" in shown[-2]
        assert "What shall come out of it?" in shown[-1]
        ana.say("b")
        await talk.settle()
        assert len(talk.cards(ana.chat)) == 1


async def test_several_rounds_in_one_place_and_a_moved_card(server: TelegramServer) -> None:
    """Three at most; the rest is named. A card that is gone is not posted anew as a farewell."""
    ana = server.person("Ana", started=True)

    async def five(talk: Talk) -> None:
        for _ in range(5):
            ana.say("/new lit-review this")
            await talk.settle()
        for card in talk.cards(ana.chat):
            card.gone = True

    store = await left(server, "polling", five)
    before = len(cards(ana))
    server.clock.advance(timedelta(days=2))
    async with again(server, "polling", store) as made:
        talk = Talk(made)
        await back(made)
        fresh = talk.cards(ana.chat)[before:]
        assert len(fresh) == 3
        assert not any("newer card below" in m.text for m in fresh)
        assert "Also waiting: #2" in "\n".join(talk.mine(ana.chat))
        assert "/resume 1" in talk.mine(ana.chat)[-1]
