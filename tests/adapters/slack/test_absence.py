"""What was said while nobody listened is read from history, all of it, and in the order it was said (P58)."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from adapters.slack.absence import Absence
from bot.ports import StoreUnavailable
from tests.adapters.slack.talking import Talk


def unheard(talk: Talk) -> None:
    """Nobody listened: Slack has given up on what waits."""
    talk.server.outgoing.waiting.clear()


async def caught_up(talk: Talk) -> list[tuple[str, str]]:
    again = await talk.rig.history.read(talk.clock.now() - timedelta(minutes=5))
    await talk.settle()
    return again


async def test_a_thread_the_channel_around_it_and_a_new_request(talk: Talk) -> None:
    asked = await talk.begin()
    talk.ana.say("1: C", talk.triage)  # loose, for the only intake open here
    talk.ana.reply(asked, "1: B, 2: A")
    talk.ana.say("3: A", talk.triage)
    talk.ben.say("3: B", talk.triage)
    talk.ben.say("@askfirst lit-review this", talk.triage)
    unheard(talk)
    assert await caught_up(talk) == []
    assert talk.answers == {"years": "B", "databases": "A", "access": "A"}  # the later word of one's own holds
    recorded = [c.question for commit in talk.store.commits for c in commit.clarifications]
    assert recorded.count("access") == 1  # and the first one's among several, as it was said
    assert len(talk.opened()) == 2
    before = len(talk.store.commits)
    assert await caught_up(talk) == []
    assert len(talk.store.commits) == before


async def test_a_menu_waits_too(talk: Talk) -> None:
    asked = talk.ana.say("@askfirst I have an abstract and a set of papers.", talk.triage)
    await talk.settle()
    assert "What shall come out of it?" in talk.words()[-1]
    talk.ana.reply(asked, "b")
    unheard(talk)
    await caught_up(talk)
    assert talk.card()


async def test_a_direct_message_in_whichever_of_its_threads(talk: Talk) -> None:
    """Replies are not in the history of a place: only their roots tell of them."""
    talk.ana.say("lit-review this")
    await talk.settle()
    card = talk.card(talk.ana.dm)
    talk.clock.advance(timedelta(days=1))
    talk.ana.reply(card, "1: B")
    talk.ana.say("2: A")
    unheard(talk)
    await caught_up(talk)
    assert talk.answers == {"years": "B", "databases": "A"}


async def test_a_thread_whose_root_is_gone_hides_none_of_the_others(talk: Talk) -> None:
    gone, stays = await talk.begin(), await talk.begin()
    talk.ana.reply(stays, "1: B")
    unheard(talk)
    talk.server.faults.fail("thread_not_found", method="conversations.replies").when = {"ts": gone.ts}
    assert await caught_up(talk) == []
    assert talk.answers == {"years": "B"}


@pytest.mark.parametrize("trouble", ["slack", "store"])
async def test_what_can_not_be_read_yet_is_read_later_and_the_note_waits_for_it(talk: Talk, trouble: str) -> None:
    """A Slack that answers late, a store that is away, a kill in the middle: the gap stays until it is read."""
    asked = await talk.begin()
    key, gone = "slack:heard:T", talk.clock.now()
    await talk.store.keep(key, gone.isoformat())
    talk.clock.advance(timedelta(minutes=3))
    talk.ana.reply(asked, "1: B")
    unheard(talk)

    async def away() -> None:
        raise StoreUnavailable("restarting")

    if trouble == "slack":
        talk.server.faults.broken(503, method="conversations.replies", times=4)  # more than one reading's tries
    else:
        talk.store.before["commit"].append(away)
    absence = Absence("T", talk.rig.history, talk.store, talk.clock, lambda: True)
    absence.over(None)
    noted = []
    keep = talk.store.keep

    async def note(name: str, value: str | None) -> None:
        if name == key:
            noted.append((dict(talk.answers), datetime.fromisoformat(str(value))))
        await keep(name, value)

    talk.store.keep = note  # type: ignore[method-assign]
    running = asyncio.ensure_future(absence.run())
    async with asyncio.timeout(10):
        while not talk.answers or not noted or noted[-1][1] == gone:  # noqa: ASYNC110 - other tasks bring it about
            await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert talk.answers == {"years": "B"}
    assert all(at == gone for answers, at in noted if not answers)
    assert noted[-1][1] > gone
