"""Every way to begin an intake, and every way to answer one (RT-13, CH-3)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from adapters.slack.filled import form_errors
from bot.core.events import MessageReceived
from tests.adapters.slack.talking import Talk


async def test_a_direct_message_is_one_conversation_whichever_thread(talk: Talk) -> None:
    """Answers go where the person writes."""
    talk.ana.say("lit-review this")
    await talk.settle()
    card = talk.card(talk.ana.dm)
    assert card.thread_ts is None
    talk.ana.reply(card, "1: B")
    await talk.settle()
    assert talk.answers == {"years": "B"}
    assert talk.mine(talk.ana.dm)[-1].thread_ts == card.ts
    talk.ana.say("2: A")
    await talk.settle()
    assert talk.answers == {"years": "B", "databases": "A"}
    assert talk.mine(talk.ana.dm)[-1].thread_ts is None


async def test_clarify_this_takes_a_message_as_a_request(talk: Talk) -> None:
    """Whosever it is; the one who chose it is asked, in the thread of that message."""
    said = talk.ben.say("lit-review this", talk.triage)
    await talk.settle()
    assert not talk.opened()
    talk.ana.shortcut("clarify_this", on=said)
    await talk.settle()
    assert talk.card().thread_ts == said.ts
    [state] = talk.opened()
    assert state.current is not None
    assert state.current.requester.id == f"slack:{talk.ana.id}"


async def test_clarify_this_reads_an_alert_and_says_where_nothing_can_be_read(talk: Talk) -> None:
    """Alerts come without text, their words in attachments; and whoever pressed must see that something happened."""
    pager = talk.server.other_bot("Pager")
    pager.join(talk.triage)
    alert = pager.say("", talk.triage, more={"attachments": [{"title": "lit-review this", "text": "p99 &gt; 2 s"}]})
    bare = pager.say("", talk.triage, more={"attachments": [{"image_url": "https://x.example/a.png"}]})
    talk.ana.shortcut("clarify_this", on=alert)
    await talk.settle()
    [state] = talk.opened()
    assert state.sessions[0].request.text == "lit-review this\np99 > 2 s"
    talk.ana.shortcut("clarify_this", on=bare)
    await talk.settle()
    assert "no words in that message" in talk.ana.sees(talk.triage)[-1]


async def test_pointing_at_words_never_answers(talk: Talk) -> None:
    """AU-3. With an intake open there, it is asked about; what the words say is no answer of anybody."""
    asked = await talk.begin()
    said = talk.ben.reply(asked, "accept recommendations, I think?")
    await talk.settle()
    before = talk.answers
    talk.ana.shortcut("clarify_this", on=said)
    talk.ana.react(said, "question")
    await talk.settle()
    assert talk.answers == before == {}
    assert "Pause it and start a new one" in talk.words()[-1]


async def test_an_emoji_asks_where_it_is_switched_on(talk: Talk) -> None:
    said = talk.ben.say("lit-review this", talk.triage)
    talk.ana.react(said, "eyes")
    await talk.settle()
    assert not talk.opened()
    talk.ana.react(said, "question")
    await talk.settle()
    assert talk.card().thread_ts == said.ts
    assert len(talk.opened()) == 1


async def test_a_command_begins_one_in_the_channel_and_its_thread_is_the_conversation(talk: Talk) -> None:
    """The card becomes the root; replies under it are heard, and settle in it, also after a restart."""
    talk.ana.command("/clarify", "lit-review this", talk.triage)
    await talk.settle()
    words = talk.mine()[-1]
    assert words.thread_ts is None
    talk.ana.shortcut("ask_for")
    await talk.settle()
    talk.ana.type_in("lit-review this", of="words")
    talk.ana.pick(talk.triage, of="where")
    talk.ana.submit()
    await talk.settle()
    card = talk.card()
    assert not card.is_reply if hasattr(card, "is_reply") else card.thread_ts in (None, card.ts)
    talk.ana.reply(card, "1: B")
    await talk.settle()
    assert talk.answers == {"years": "B"}
    assert talk.mine()[-1].thread_ts == card.ts
    talk.rig.roots._roots.clear()
    talk.rig.roots._threads.clear()
    talk.ana.reply(card, "2: A")
    await talk.settle()
    assert talk.answers == {"years": "B", "databases": "A"}
    assert talk.mine()[-1].thread_ts == card.ts


async def test_the_global_shortcut_without_a_channel_asks_in_the_direct_message(talk: Talk) -> None:
    talk.ana.shortcut("ask_for")
    await talk.settle()
    talk.ana.type_in("  ", of="words")
    talk.ana.submit()
    await talk.settle()
    assert talk.ana.modal.errors == {"words": "Please write what you need."}
    talk.ana.type_in("lit-review this", of="words")
    talk.ana.submit()
    await talk.settle()
    assert not talk.ana.modals
    assert talk.card(talk.ana.dm)


async def test_askfirst_and_a_word_answers_the_one_who_asked(talk: Talk) -> None:
    """CH-3. Slack keeps /status for itself."""
    await talk.begin()
    talk.ana.command("/askfirst", "status", talk.triage)
    await talk.settle()
    told = talk.mine()[-1]
    assert told.only_to == talk.ana.id
    assert "0 of 3 answered" in told.text
    talk.ana.command("/askfirst", "", talk.triage)
    await talk.settle()
    assert "/status" in talk.words()[-1]


@pytest.mark.parametrize("words", ["new lit-review this", "ars-lit-review", "lit-review this"])
async def test_askfirst_and_a_request_begins_one_that_can_be_answered_in_its_thread(talk: Talk, words: str) -> None:
    """CH-1 CH-3. What it begins is a thread of its own, as after a mention; the next one is another."""
    for _ in range(2):
        talk.ana.command("/askfirst", words, talk.triage)
        await talk.settle()
    talk.ana.reply(talk.card(), "1: B")
    await talk.settle()
    assert talk.answers == {"years": "B"}
    assert talk.mine()[-1].thread_ts == talk.card().ts
    assert len(talk.opened()) == 2


async def test_askfirst_new_says_how_and_a_specification_hears_its_words(talk: Talk) -> None:
    """CH-3 SP-2 RT-13: in a channel the next message may be anybody's, about anything."""
    talk.ana.command("/askfirst", "new", talk.triage)
    await talk.settle()
    assert "@askfirst and what you need" in talk.words()[-1]
    talk.ana.command("/askfirst", "/spec Refunds", talk.triage)
    await talk.settle()
    talk.ana.command("/askfirst", "gate", talk.triage)
    await talk.settle()
    assert len(talk.opened()) == 1
    assert [m.text for m in talk.mine() if m.only_to == talk.ana.id and "gate" in m.text]


async def test_settings_are_the_channels(talk: Talk) -> None:
    """RD-12. Said in one thread, they hold in the next."""
    talk.ana.say("@askfirst settings answers requester", talk.triage)
    await talk.settle()
    asked = await talk.begin()
    talk.ben.reply(asked, "1: B")
    await talk.settle()
    assert talk.answers == {}
    assert talk.mine()[-1].only_to == talk.ben.id
    talk.ben.reply(asked, "!settings answers anyone")
    await talk.settle()
    talk.ben.reply(asked, "1: B")
    await talk.settle()
    assert talk.answers == {}


async def test_every_message_of_a_channel_where_that_is_switched_on(talk: Talk) -> None:
    every = talk.server.channel("every", talk.ana, talk.ben, id_="C0EVERY01")
    said = talk.ana.say("lit-review this", every)
    talk.ben.say("thanks!", every)
    talk.ben.reply(said, "lit-review this too")
    await talk.settle()
    assert len(talk.opened()) == 1


async def test_delegation_notifies_the_person_and_nobody_else(talk: Talk) -> None:
    """CH-6."""
    talk.ana.say("@askfirst settings answers requester", talk.triage)
    asked = await talk.begin()
    talk.ana.reply(asked, "@ben please")
    await talk.settle()
    assert talk.ben.id in [ping.target if hasattr(ping, "target") else ping.id for ping in talk.server.mentions]
    talk.ben.reply(asked, "1: B")
    await talk.settle()
    assert talk.answers == {"years": "B"}


@pytest.mark.parametrize("label", ["", "|@oncall"])
async def test_delegation_to_a_user_group_notifies_it(talk: Talk, label: str) -> None:
    """CH-6, RD-12. Slack may leave out how the group reads. Its members may answer, and nobody else."""
    group = talk.server.user_group("oncall", talk.ben)
    cy = talk.server.person("Cy")
    cy.join(talk.triage)
    talk.ana.say("@askfirst settings answers requester", talk.triage)
    asked = await talk.begin()
    talk.ana.reply(asked, f"<!subteam^{group.id}{label}> please", raw=True)
    await talk.settle()
    assert [(ping.kind, ping.target) for ping in talk.server.broadcasts] == [("group", group.id)]
    shown = talk.server.what_people_see(talk.triage, asked)
    assert "@oncall: these questions are yours to answer too" in "\n".join(shown)
    talk.server.mentions.clear()  # the one that was meant
    cy.reply(asked, "1: A")
    await talk.settle()
    assert talk.answers == {}
    talk.ben.reply(asked, "1: B")
    await talk.settle()
    assert talk.answers == {"years": "B"}


async def test_in_a_direct_message_nobody_else_can_be_asked(talk: Talk) -> None:
    """CH-6, CH-7: nobody is notified of questions that they can not see."""
    talk.ana.say("lit-review this")
    await talk.settle()
    talk.ana.say(f"{talk.ben.mention} please")
    await talk.settle()
    assert talk.words(talk.ana.dm)[-1].startswith("Nobody but you sees this chat")
    [state] = talk.opened()
    assert state.sessions[0].participants == ()


async def test_a_form_that_was_closed_is_found_as_it_was(talk: Talk) -> None:
    """Drafts are kept; what is sent is forgotten as a draft."""
    await talk.begin()
    talk.ana.press("Answer in a form")
    await talk.settle()
    talk.ana.type_in("not older", of="q1.note")
    talk.ana.choose("B", of="q1.pick")
    await talk.settle()
    talk.ana.close()
    await talk.settle()
    assert talk.answers == {}
    talk.ana.press("Answer in a form")
    await talk.settle()
    values = talk.ana.modal.values()
    assert values["q1.note"]["note"]["value"] == "not older"
    assert values["q1.pick"]["pick"]["selected_option"]["value"] == "B"
    assert values["q2.pick"]["pick"]["selected_option"] is None
    talk.ana.submit()
    await talk.settle()
    record = talk.recorded["years"]
    assert (record.chosen, record.user_note, record.chosen_via) == ("B", "not older", "user_response")
    assert not [key for key in talk.store.notes if key.startswith("slack:draft:")]


async def test_a_mistake_in_a_form_is_shown_at_its_field(talk: Talk) -> None:
    await talk.begin()
    talk.ana.press("Answer in a form")
    await talk.settle()
    talk.ana.choose("D", of="q1.pick")
    talk.ana.submit()
    await talk.settle()
    assert "own words" in talk.ana.modal.errors["q1.text"]
    assert talk.answers == {}
    talk.ana.type_in("since 2012", of="q1.text")
    talk.ana.submit()
    await talk.settle()
    assert talk.recorded["years"].chosen_text == "since 2012"
    assert form_errors({"blocks": []}, {1: "wrong"}) == {}


async def test_talk_in_the_thread_is_left_alone(talk: Talk) -> None:
    """CH-2 RP-3 RP-7. Bare letters and agreement count from the requester, and from nobody else."""
    asked = await talk.begin()
    before = len(talk.mine())
    for words in ("ok", "b", "sounds good to me", "who is free for lunch? option b maybe"):
        talk.ben.reply(asked, words)
    for words in ("I think B is what we did last year for some of them", "lunch?", "let me ask my boss"):
        talk.ana.reply(asked, words)
    await talk.settle()
    assert (talk.answers, len(talk.mine())) == ({}, before)
    talk.ana.reply(asked, "ok")
    await talk.settle()
    assert "Shall I take it as: accept recommendations" in talk.words()[-1]
    talk.ana.reply(asked, "yes")
    await talk.settle()
    assert len(talk.answers) == 3


async def test_a_form_is_proof_of_its_own(talk: Talk) -> None:
    """CA-2: the id of the act, the card, and what was pressed."""
    await talk.begin()
    talk.ana.press("Answer in a form")
    await talk.settle()
    talk.ana.choose("B", of="q1.pick")
    talk.ana.submit()
    await talk.settle()
    ref = talk.recorded["years"].user_message_ref
    assert talk.ana.id in ref
    assert talk.card().ts in ref
    assert "1: B" in ref


async def test_words_said_by_a_message_are_marked_as_what_they_are(talk: Talk) -> None:
    said = talk.ben.say("lit-review this", talk.triage)
    talk.ana.shortcut("clarify_this", on=said)
    await talk.settle()
    events = [c.envelope.event for c in talk.store.commits if isinstance(c.envelope.event, MessageReceived)]
    assert [event.summons for event in events] == [False, True]


async def test_a_user_group_may_be_who_answers(talk: Talk) -> None:
    """RD-12. Named by its mention; whoever is in it counts, and nobody else."""
    cleo = talk.server.person("Cleo")
    cleo.join(talk.triage)
    talk.server.user_group("owners", talk.ben)
    talk.ana.say("@askfirst settings answers listed @owners", talk.triage)
    await talk.settle()
    asked = await talk.begin()
    cleo.reply(asked, "1: A")
    await talk.settle()
    assert talk.answers == {}
    talk.ben.reply(asked, "1: B")
    await talk.settle()
    assert talk.answers == {"years": "B"}


async def test_where_the_app_is_not_it_says_so_at_once(talk: Talk) -> None:
    """CH-7. Commands and shortcuts work there; a card would reach nobody."""
    secret = talk.server.channel("secret", talk.ana, private=True, bot=False)
    said = talk.ana.say("lit-review this", secret)
    talk.ana.command("/clarify", "lit-review this", secret)
    talk.ana.shortcut("clarify_this", on=said)
    await talk.settle()
    assert sum("/invite" in line for line in talk.ana.sees(secret)) == 2
    assert not talk.store.commits
    talk.ana.invite_bot(secret)
    talk.ana.command("/clarify", "lit-review this", secret)
    await talk.settle()
    assert talk.store.commits


async def test_menus_and_echoes_are_switched_off_one_by_one(talk: Talk) -> None:
    """A channel where every message asks: told apart by what they name; answers shown by the card alone."""
    every = talk.server.channel("every", talk.ana, talk.ben, id_="C0EVERY01")
    talk.ana.command("/askfirst", "settings menus off", every)
    await talk.settle()
    talk.ben.say("my cat is ill", every)
    await talk.settle()
    assert not talk.opened()
    asked = talk.ana.say("lit-review this", every)
    await talk.settle()
    before = len(talk.mine(every))
    talk.ana.reply(asked, "1: B")
    await talk.settle()
    assert len(talk.mine(every)) == before + 1
    talk.ana.command("/askfirst", "settings echoes off", every)
    await talk.settle()
    before = len(talk.mine(every))
    talk.ana.reply(asked, "2: A")
    await talk.settle()
    assert len(talk.mine(every)) == before
    assert talk.answers == {"years": "B", "databases": "A"}
    talk.ana.reply(asked, "3: Z")
    await talk.settle()
    assert len(talk.mine(every)) == before + 1


async def test_slack_tells_the_time_zone(talk: Talk) -> None:
    """CH-6: nobody is asked for a zone that the platform knows; the wish is followed in the thread by name."""
    asked = await talk.begin()
    talk.ana.reply(asked, "1: B, remind me tomorrow at 9")
    await talk.settle()
    assert "Tue 3 Mar, 09:00 Europe/Lisbon" in talk.words()[-1]
    assert "time zone" not in talk.words()[-1]
    talk.clock.advance(timedelta(hours=25))
    await talk.settle()
    assert "You wanted to be asked again" in talk.words()[-1]
    assert talk.ana.id in talk.mine()[-1].text
    assert talk.mine()[-1].thread_ts == asked.ts
