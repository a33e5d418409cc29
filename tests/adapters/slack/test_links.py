"""The proof of an answer can be followed: every message of a workspace has an address (CA-2)."""

from __future__ import annotations

import pytest

from adapters.slack.places import link_to
from tests.adapters.slack.talking import Talk


def link_in(reference: str) -> str:
    return reference.partition(" <")[2].partition(">")[0]


async def test_an_answer_in_a_thread_has_the_address_that_slack_gives_it(talk: Talk) -> None:
    """CA-2: as chat.getPermalink. An edit is found where the message is, a request where the thread begins."""
    asked = await talk.begin()
    said = talk.ana.reply(asked, "1: B")
    await talk.settle()
    assert talk.recorded["years"].user_message_ref == f'{said.ts} <{said.link}>: "1: B"'
    talk.ana.edit(said, "1: C")
    await talk.settle()
    assert talk.recorded["years"].user_message_ref == f'{said.ts} <{said.link}>: "1: C"'
    [session] = [state.sessions[0] for state in talk.opened()]
    assert session.request.ref.link == asked.link


async def test_a_tap_and_a_form_have_the_address_of_the_card(talk: Talk) -> None:
    """CA-2: an act without a message is found at its card."""
    await talk.begin()
    card = talk.card()
    talk.ana.press("A", on=card)
    await talk.settle()
    talk.ana.press("Answer in a form")
    await talk.settle()
    talk.ana.choose("A", of="q2.pick")
    talk.ana.submit()
    await talk.settle()
    for question in ("years", "databases"):
        reference = talk.recorded[question].user_message_ref
        assert f" <{card.link}> on {card.ts}: pressed " in reference


async def test_a_bulk_accept_and_its_event_say_the_same(talk: Talk) -> None:
    """CA-3: one message reference for all of them, with the address."""
    asked = await talk.begin()
    said = talk.ana.reply(asked, "1: C, accept the rest")
    await talk.settle()
    [bulk] = [entry for entry in talk.audit if entry.event == "bulk_accept_recommended"]
    said_of = {c.user_message_ref for c in talk.recorded.values()}
    assert said_of == {bulk.details["user_message_ref"]} == {f'{said.ts} <{said.link}>: "1: C, accept the rest"'}


async def test_a_confirmed_reading_says_where_both_messages_are(talk: Talk) -> None:
    """RP-3, CA-2: what was confirmed, and the yes to it."""
    asked = await talk.begin()
    first = talk.ana.reply(asked, "sounds good")
    await talk.settle()
    yes = talk.ana.reply(asked, "yes")
    await talk.settle()
    confirming = f'"yes", confirming {first.ts} <{first.link}>: "sounds good"'
    assert talk.recorded["databases"].user_message_ref == f"{yes.ts} <{yes.link}>: {confirming}"


@pytest.mark.parametrize("threaded", [False, True])
async def test_in_a_direct_message(talk: Talk, threaded: bool) -> None:
    """CA-2: an address names the thread there, too, though the whole is one conversation."""
    asked = talk.ana.say("lit-review this")
    await talk.settle()
    said = talk.ana.reply(talk.card(talk.ana.dm), "1: B") if threaded else talk.ana.say("1: B")
    await talk.settle()
    assert link_in(talk.recorded["years"].user_message_ref) == said.link
    assert said.link != asked.link


async def test_a_message_that_somebody_points_at_has_its_address(talk: Talk) -> None:
    """RT-13, CA-2: the shortcut's and the reaction's request; a command is said nowhere."""
    talk.ana.shortcut("clarify_this", on=(one := talk.ben.say("please lit-review this", talk.triage)))
    talk.ana.react((other := talk.ben.say("lit-review that too", talk.triage)), "question")
    talk.ana.command("/askfirst", "lit-review it all", talk.triage)
    await talk.settle()
    links = {s.request.ref.link for state in talk.opened() for s in state.sessions}
    assert links == {one.link, other.link, None}


@pytest.mark.parametrize("url", ["", "javascript:alert(1)//", "http://acme.slack.com/"])
def test_where_the_workspace_has_no_address_neither_has_a_message(url: str) -> None:
    assert link_to(url, "C1", "1700000000.000100", None) is None
