"""What went wrong in other bots, played on this one: the real core behind the adapter, on the fake Bot API server.

The ids (b02, …) are those of the collected field cases; P-numbers are reported pains of other bots.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.adapters.telegram.talking import Talk, core
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Person, TelegramServer
from tests.fakes.telegram_rig import rig


@pytest.fixture(params=["polling", "webhook"])
async def talk(request: pytest.FixtureRequest) -> AsyncIterator[Talk]:
    server = TelegramServer(ManualClock(auto=True), privacy=False)
    async with rig(server, style=request.param, decide=core()) as made:
        yield Talk(made)


@pytest.fixture
def ana(talk: Talk) -> Person:
    return talk.server.person("Ana", username="ana_t", started=True)


@pytest.fixture
def ben(talk: Talk) -> Person:
    return talk.server.person("Ben", started=True)


async def test_b02_in_a_topic_that_the_bot_opened_nothing_is_a_reply_by_itself(
    talk: Talk, ana: Person, ben: Person
) -> None:
    forum = talk.server.supergroup("Triage", ana, ben, forum=True)
    topic = talk.server.topic(forum, "Intake")
    card = await talk.begin(ana, forum, topic=topic)
    before = len(talk.mine(forum))
    ben.say("sounds good, go ahead with that", forum, topic=topic)
    ben.say("who is free for lunch? option b maybe", forum, topic=topic)
    await talk.settle()
    assert (len(talk.mine(forum)), talk.answers) == (before, {})
    ana.say("1: B", forum, topic=topic)
    await talk.settle()
    assert talk.answers == {"years": "B"}
    ana.say("yes", forum, reply_to=card)
    await talk.settle()
    assert talk.answers == {"years": "B"}
    assert "accept recommendations" in talk.mine(forum)[-1]
    assert {m.topic for m in forum.messages.values()} == {topic.id}


async def test_talk_in_a_group_is_not_the_words_of_other(talk: Talk, ana: Person, ben: Person) -> None:
    """RP-11: Ana has pressed Other, and speaks to Ben next; the bot hears everything (privacy mode is off)."""
    group = talk.server.supergroup("Triage", ana, ben)
    card = await talk.begin(ana, group)
    ana.press("Other…", card)
    await talk.settle()
    asked, said = group.last, talk.mine(group)
    ana.say("sounds good Ben, see you at the station then", group)
    await talk.settle()
    assert (talk.answers, talk.mine(group)) == ({}, said)
    ana.say("only what my library has", group, reply_to=asked)
    await talk.settle()
    assert talk.recorded["years"].chosen_text == "only what my library has"


@pytest.mark.parametrize("words", ["message to edit not found", "message can't be edited"])
async def test_b10_a_tap_on_a_card_so_old_that_it_is_a_stub(talk: Talk, ana: Person, words: str) -> None:
    card = await talk.begin(ana)
    talk.clock.advance(timedelta(days=40))
    talk.server.faults.fail(400, f"Bad Request: {words}", method="editMessageText", times=-1)
    tokens = {b["text"].split()[0]: b["callback_data"] for b in card.buttons}
    query = ana.send_data(tokens["A"], card)
    await talk.settle()
    assert talk.answers == {"years": "A"}
    ref = talk.recorded["years"].user_message_ref
    assert query.id in ref
    assert "A" in ref
    assert query.answer
    again = talk.card(ana.chat)
    assert again is not card
    assert "✔ 1" in again.text


async def test_b14_a_copy_of_a_card_outside_its_chat_records_nothing(talk: Talk, ana: Person) -> None:
    card = await talk.begin(ana)
    query = ana.press_inline(card.buttons[0]["callback_data"])
    await talk.settle()
    assert "copy" in (query.answer or "")
    assert talk.answers == {}
    ana.reply(card, "1: B")
    await talk.settle()
    assert talk.answers == {"years": "B"}


async def test_b20_a_reaction_arrives_as_an_edit(talk: Talk, ana: Person) -> None:
    await talk.begin(ana)
    said = ana.say("1: B, 2: A")
    await talk.settle()
    before, first = len(talk.mine(ana.chat)), talk.recorded
    talk.clock.advance(600)
    ana.edit(said, "1: B, 2: A")
    await talk.settle()
    assert (len(talk.mine(ana.chat)), talk.recorded) == (before, first)
    talk.clock.advance(300)
    ana.edit(said, "1: B, 2: B")
    await talk.settle()
    assert talk.answers == {"years": "B", "databases": "B"}
    assert "was A, Two broad indexes, is now B" in talk.mine(ana.chat)[-1]
    reaction = talk.server.updates.log[-1]
    talk.server.updates._queue(dataclasses.replace(reaction, id=reaction.id + 1))
    await talk.settle()
    assert talk.recorded["databases"].revision == 2


async def test_b20_a_heart_on_an_old_message_does_not_make_it_an_answer(talk: Talk, ana: Person) -> None:
    """Said before anything was asked, it answered nothing; the edit that is none must not change that."""
    group = talk.server.supergroup("Triage", ana)
    said = ana.say("1: B", group)
    await talk.settle()
    await talk.begin(ana, group)
    talk.clock.advance(60)
    ana.edit(said, "1: B")
    await talk.settle()
    assert talk.answers == {}
    ana.edit(said, "1: A")  # a real edit counts at the time of the edit (RD-13)
    await talk.settle()
    assert talk.answers == {"years": "A"}


async def test_b26_four_forwards_are_one_act_and_nobodys_answer(talk: Talk, ana: Person, ben: Person) -> None:
    await talk.begin(ana)
    before = len(talk.mine(ana.chat))
    channel = talk.server.channel("Decisions")
    ana.forward("1: B", "K.")
    ana.forward("2: B", ben)
    ana.forward("/cancel", ben)
    ana.forward("accept recommendations", channel)
    await talk.settle()
    talk.clock.advance(3)
    await talk.settle()
    assert (talk.answers, talk.session(ana.chat).stage.kind) == ({}, "asking")
    assert len(talk.mine(ana.chat)) == before + 1


async def test_b32_what_can_not_be_read_is_answered_kindly_and_records_nothing(talk: Talk, ana: Person) -> None:
    card = await talk.begin(ana)
    for send in (ana.sticker, ana.voice, ana.location, ana.contact, ana.dice):
        send(reply_to=card)
    ana.poll("1: B?", ["B", "A"], reply_to=card)
    ana.say("/status")
    await talk.settle()
    assert talk.answers == {}
    told = [words for words in talk.mine(ana.chat) if "I can't read" in words]
    assert len(told) == 1
    names = {m.name for m in talk.session(ana.chat).request.materials}
    assert {
        "voice.ogg",
        "location: 52.52, 13.4",
        "contact: Not Ana (somebody else's)",
        "poll: 1: B? — B / A",
    } <= names
    assert "3 of 3" not in talk.mine(ana.chat)[-1]
    assert "0 of 3 answered" in talk.mine(ana.chat)[-1]
    ana.say("hm, hm")
    ana.voice()  # after words, one more answer; with what to write instead
    await talk.settle()
    assert "1: other (what it says)" in talk.mine(ana.chat)[-1]
    if talk.rig.style == "webhook":
        assert {attempt.status for attempt in talk.server.webhook.attempts} == {200}


async def test_a_voice_message_alone_opens_nothing(talk: Talk, ana: Person) -> None:
    ana.voice()
    await talk.settle()
    [words] = talk.mine(ana.chat)
    assert "I can't read a voice message" in words


async def test_b35_a_topic_closed_before_the_next_card(talk: Talk, ana: Person) -> None:
    forum = talk.server.supergroup("Triage", ana, forum=True)
    topic = talk.server.topic(forum, "Intake")
    ana.say("@askfirst_bot lit-review this", forum, topic=topic)
    await talk.rig.hear()
    talk.server.close_topic(forum, topic, ana)
    before = talk.mine(forum)
    await talk.settle()
    assert talk.mine(forum) == before
    assert talk.session(forum, topic).undelivered == "the topic is closed"


async def test_b41_removed_by_an_anonymous_admin_while_a_card_is_queued(talk: Talk, ana: Person) -> None:
    group = talk.server.supergroup("Triage", ana)
    await talk.begin(ana, group)
    ana.say("1: B", group)
    await talk.rig.hear()  # the echo and the redraw wait in the outbox
    talk.server.remove_bot(group)
    await talk.settle()
    sends = [call for call in talk.server.history.calls if call.chat == group.id and call.code == 403]
    assert len(sends) <= 2  # one for each row; nothing is tried again
    assert talk.answers == {"years": "B"}
    assert talk.session(group).undelivered
    talk.clock.advance(timedelta(hours=2))
    await talk.settle()
    assert [c for c in talk.server.history.calls if c.chat == group.id and c.code == 403] == sends
    talk.server.add_bot(group, ana)
    ana.say("2: A", group)
    await talk.settle()
    assert talk.answers == {"years": "B", "databases": "A"}


async def test_b43_a_long_paste_in_two_parts_whose_second_begins_like_an_answer(talk: Talk, ana: Person) -> None:
    """P34."""
    await talk.begin(ana)
    ana.paste("We log every order. " * 204 + "x" * 16 + "1: B is what we did")
    await talk.settle()
    talk.clock.advance(3)
    await talk.settle()
    assert talk.answers == {}


async def test_b47_commands_that_name_another_bot(talk: Talk, ana: Person, ben: Person) -> None:
    group = talk.server.supergroup("Triage", ana, ben)
    await talk.begin(ana, group)
    before = len(talk.mine(group))
    ben.say("/cancel@OtherQuizBot", group)
    ben.say("/new@OtherQuizBot 1: B", group)
    await talk.settle()
    assert (len(talk.mine(group)), talk.answers) == (before, {})
    ana.say("/STATUS@AskFirst_Bot", group)
    await talk.settle()
    assert len(talk.mine(group)) == before + 1
    ana.say("2: A /cancel@OtherQuizBot", group)
    await talk.settle()
    assert talk.answers == {"databases": "A"}
    assert talk.recorded["databases"].user_note is None
    assert talk.session(group).stage.kind == "asking"


async def test_b52_links_and_commands_while_the_words_of_other_are_owed(talk: Talk, ana: Person) -> None:
    await talk.begin(ana)
    ana.press("Other…")
    await talk.settle()
    ana.start()
    ana.start("r_8f3a-unknown")
    ana.say("/status")
    await talk.settle()
    assert (talk.answers, talk.session(ana.chat).stage.kind) == ({}, "asking")
    ana.say("/tmp is fine, or /var/lib")
    await talk.settle()
    assert talk.answers == {}
    ana.say("yes keep that")
    await talk.settle()
    assert talk.recorded["years"].chosen_text == "/tmp is fine, or /var/lib"


async def test_b59_names_made_of_markup_and_controls(talk: Talk, ana: Person) -> None:
    people = [
        talk.server.person("<b", last_name="Ana/> & _*[x](tg://user?id=1)"),
        talk.server.person("маша >_<", last_name="— '; DROP"),
        talk.server.person("\u202enaB \u2066A nesohc", last_name="\u2800"),
    ]
    group = talk.server.supergroup("Triage", ana, *people)
    card = await talk.begin(ana, group)
    for person, words in zip(people, ("1: B", "2: A", "3: A"), strict=True):
        person.reply(card, words)
        await talk.settle()
    assert len(talk.answers) == 3
    assert not [call for call in talk.server.history.calls if call.code == 400]
    assert "\u202e" not in talk.card(group).text
    assert "_*[x](tg://user?id=1)" in talk.card(group).text


async def test_p19_p39_double_taps_and_taps_after_a_restart_are_told_honestly(talk: Talk, ana: Person) -> None:
    """State is in the store, not in memory; the second of two taps loses no keyboard."""
    card = await talk.begin(ana)
    token = card.buttons[0]["callback_data"]
    ana.send_data(token, card)
    ana.send_data(token, card)
    await talk.settle()
    assert talk.answers == {"years": "A"}
    assert talk.recorded["years"].revision == 1
    assert card.labels
    talk.clock.advance(5)
    again = {"style": talk.rig.style, "decide": core()}
    async with rig(talk.server, talk.store, **again) as second:
        query = ana.press("Accept both recommendations")
        await second.settle()
        assert (query.answer, len(talk.answers)) == ("Accepted: 2.", 3)


async def test_p21_many_people_answer_at_once_and_nothing_is_lost(talk: Talk) -> None:
    people = [talk.server.person(f"P{n}", started=True) for n in range(12)]
    group = talk.server.supergroup("Triage", *people)
    card = await talk.begin(people[0], group)
    token = next(b["callback_data"] for b in card.buttons if b["text"].startswith("B"))
    for number, person in enumerate(people):
        if number % 2:
            person.send_data(token, card)
        else:
            person.say("1: B, 2: A", group)
    await talk.settle()
    assert talk.answers == {"years": "B", "databases": "A"}
    assert talk.recorded["years"].revision == 1


async def test_p35_an_album_keeps_every_caption(talk: Talk, ana: Person) -> None:
    ana.album(["abstract.md", "refs.bib"], ["see what you can do", "the papers"])
    await talk.settle()
    talk.clock.advance(3)
    await talk.settle()
    files = talk.session(ana.chat).request.materials
    assert {(m.name, m.caption) for m in files if m.kind == "file"} == {
        ("abstract.md", "see what you can do"),
        ("refs.bib", "the papers"),
    }
    assert len(talk.mine(ana.chat)) == 1


async def test_p38_a_group_becomes_a_supergroup_in_the_middle_of_a_round(talk: Talk, ana: Person) -> None:
    group = talk.server.group("Lab", ana)
    await talk.begin(ana, group)
    moved = talk.server.migrate(group, ana)
    await talk.settle()
    ana.say("1: B", moved)
    await talk.settle()
    assert talk.answers == {"years": "B"}
    card = talk.card(moved)  # posted anew: the old one stayed behind
    assert "✔ 1" in card.text
    ana.press("A ✅", card)
    await talk.settle()
    ana.reply(card, "3: A")
    await talk.settle()
    assert len(talk.answers) == 3
    assert set(talk.store.states) == {f"telegram:{group.id}"}


async def test_ch7_blocked_by_the_person(talk: Talk, ana: Person) -> None:
    await talk.begin(ana)
    ana.say("1: B")
    await talk.rig.hear()
    ana.block()
    await talk.settle()
    assert talk.session(ana.chat).undelivered == "the person has blocked the bot"
    assert talk.answers == {"years": "B"}
