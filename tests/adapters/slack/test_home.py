"""The home tab: what waits for a person, what they asked, what they decided; with buttons."""

from __future__ import annotations

from typing import Any

from tests.adapters.slack.talking import Talk


def words(talk: Talk, who: Any) -> str:
    return str(who.home.body["blocks"])


async def test_a_home_tab_shows_what_waits_and_what_was_decided(talk: Talk) -> None:
    talk.ana.open_home()
    await talk.settle()
    assert "Nothing waits for you" in words(talk, talk.ana)
    asked = await talk.begin()
    talk.ana.reply(asked, "1: other (use *all* of it)")
    await talk.settle()
    talk.ana.open_home()
    talk.ben.open_home()
    await talk.settle()
    shown = words(talk, talk.ana)
    assert "2 of 3 open" in shown
    assert "1 of 3 answered" in shown
    assert "use all of it" in shown
    assert "/archives/C0TRIAGE1/p" in shown
    talk.ana.press("Open the thread", on=talk.ana.home)
    before = len(talk.store.commits)
    await talk.settle()
    assert len(talk.store.commits) == before
    assert "Nothing waits for you" in words(talk, talk.ben)


async def test_a_round_is_answered_from_the_home_tab(talk: Talk) -> None:
    asked = await talk.begin()
    talk.ana.open_home()
    await talk.settle()
    talk.ana.press("Answer in a form", on=talk.ana.home)
    await talk.settle()
    talk.ana.choose("B", of="q1.pick")
    talk.ana.submit()
    await talk.settle()
    assert talk.answers == {"years": "B"}
    assert talk.mine()[-1].thread_ts == asked.ts
    talk.ana.open_home()
    await talk.settle()
    assert "Years to cover" in words(talk, talk.ana)


async def test_somebody_elses_direct_message_is_not_shown(talk: Talk) -> None:
    talk.ana.say("lit-review this")
    await talk.settle()
    talk.ben.open_home()
    await talk.settle()
    assert "Literature" not in words(talk, talk.ben)


async def test_a_home_tab_that_can_not_be_drawn_does_no_harm(talk: Talk) -> None:
    talk.server.faults.fail("fatal_error", method="views.publish")
    talk.ana.open_home()
    await talk.settle()
    assert all(d.state == "acknowledged" for d in talk.server.outgoing.of("app_home_opened"))
