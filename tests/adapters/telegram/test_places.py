"""Places that are lost and found again, and voices behind which there is nobody in particular."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

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


def refused(talk: Talk, chat: Any) -> list[Any]:
    return [c for c in talk.server.history.calls if c.chat == chat.id and c.code in (400, 403)]


def audit(talk: Talk) -> list[str]:
    return [row.event for commit in talk.store.commits for row in commit.audit]


# -- lost and found ------------------------------------------------------------------------------------------------


async def test_b41_removed_and_added_again(talk: Talk, ana: Person) -> None:
    """CH-7, CA-4: not one refusal is met; whoever asked learns it; the round is offered again once, compactly."""
    group = talk.server.supergroup("Triage", ana)
    card = await talk.begin(ana, group)
    ana.say("1: B", group)
    await talk.rig.hear()  # the echo and the redraw wait in the outbox
    talk.server.remove_bot(group)
    await talk.settle()
    assert refused(talk, group) == []
    assert talk.answers == {"years": "B"}
    assert talk.session(group).undelivered == "the bot was removed from here"
    [told] = talk.mine(ana.chat)
    assert "the bot was removed from here" in told
    assert "1 of 3 answered" in told
    assert await talk.store.waiting() == 0
    before = len(talk.mine(group))
    talk.server.add_bot(group, ana)
    await talk.settle()
    fresh = talk.mine(group)[before:]
    assert len(fresh) == 1
    assert "I can write here again." in fresh[0]
    assert "2 of 3 open" in fresh[0]
    assert card.labels == []
    assert talk.session(group).undelivered is None
    assert audit(talk).count("delivery.restored") == 1
    ana.press("A ✅", talk.card(group))
    await talk.settle()
    assert talk.answers == {"years": "B", "databases": "A"}


async def test_blocked_and_unblocked(talk: Talk, ana: Person) -> None:
    await talk.begin(ana)
    ana.block()
    await talk.settle()
    assert talk.session(ana.chat).undelivered == "the person has blocked the bot"
    talk.clock.advance(timedelta(hours=2))
    ana.unblock()
    await talk.settle()
    assert "I can write here again." in talk.card(ana.chat).text
    assert talk.session(ana.chat).undelivered is None
    assert refused(talk, ana.chat) == []


async def test_blocked_while_the_result_was_on_its_way(talk: Talk, ana: Person) -> None:
    """CH-7 RT-15: unblocked, the result is handed over once more, though nothing is open any more."""
    await talk.begin(ana)
    ana.say("accept recommendations")
    await talk.settle()
    ana.block()
    talk.clock.advance(10)  # the grace is over
    await talk.settle()
    ana.unblock()
    await talk.settle()
    assert [m for m in talk.mine(ana.chat) if "This did not arrive when it was ready." in m] != []
    before = len(talk.mine(ana.chat))
    ana.block()
    ana.unblock()
    await talk.settle()
    assert len(talk.mine(ana.chat)) == before


async def test_b41_reminders_stop_where_nothing_arrives(talk: Talk, ana: Person) -> None:
    """CH-6 b41: removed while a reminder was due; back again, the open round is offered once, and no more."""
    group = talk.server.supergroup("Triage", ana)
    await talk.begin(ana, group)
    ana.say("@askfirst_bot /settings reminders every 1 hour", group)
    ana.say("@askfirst_bot remind me in 5 minutes", group)
    await talk.settle()
    assert "I ask you again" in talk.mine(group)[-1]
    talk.server.remove_bot(group)
    await talk.settle()
    before = len(talk.mine(group))
    talk.clock.advance(timedelta(hours=2))
    await talk.settle()
    assert refused(talk, group) == []
    talk.server.add_bot(group, ana)
    await talk.settle()
    assert [m.splitlines()[0] for m in talk.mine(group)[before:]] == ["I can write here again."]
    talk.clock.advance(timedelta(hours=1, minutes=1))
    await talk.settle()
    assert "A reminder, 1 of 3" in talk.mine(group)[-1]
    ana.press("No more reminders", group.last)
    await talk.settle()
    talk.clock.advance(timedelta(hours=12))
    await talk.settle()
    assert "A reminder, 1 of 3" in talk.mine(group)[-1]


async def test_restricted_and_let_go(talk: Talk, ana: Person) -> None:
    """Messages still come in; each is worth one try, and the person is told once."""
    group = talk.server.supergroup("Triage", ana)
    await talk.begin(ana, group)
    before = len(talk.mine(group))
    talk.server.restrict_bot(group, ana)
    await talk.settle()
    assert talk.session(group).undelivered == "the bot may not write here"
    ana.say("1: B", group)
    await talk.settle()
    assert talk.answers == {"years": "B"}
    assert len(talk.mine(group)) == before
    assert len(talk.mine(ana.chat)) == 1
    talk.server.demote_bot(group, ana)  # an ordinary member again
    await talk.settle()
    assert "2 of 3 open" in talk.card(group).text
    assert talk.session(group).undelivered is None


async def test_being_made_an_administrator_changes_nothing(talk: Talk, ana: Person) -> None:
    group = talk.server.supergroup("Triage", ana)
    await talk.begin(ana, group)
    before = len(talk.mine(group))
    talk.server.promote_bot(group, ana)
    talk.server.demote_bot(group, ana)
    await talk.settle()
    assert len(talk.mine(group)) == before


async def test_the_whole_forum_is_lost_and_found_with_its_topics(talk: Talk, ana: Person) -> None:
    forum = talk.server.supergroup("Triage", ana, forum=True)
    topics = [talk.server.topic(forum, name) for name in ("One", "Two")]
    for topic in topics:
        await talk.begin(ana, forum, topic=topic)
    talk.server.remove_bot(forum, ana)
    await talk.settle()
    assert {talk.session(forum, topic).undelivered for topic in topics} == {"the bot was removed from here"}
    talk.server.add_bot(forum, ana)
    await talk.settle()
    for topic in topics:
        mine = [m for m in forum.messages.values() if m.mine and m.topic == topic.id and "write here again" in m.text]
        assert len(mine) == 1


async def test_b35_a_topic_is_closed_and_reopened(talk: Talk, ana: Person) -> None:
    """The card that had not arrived goes out whole, once, in its topic; not in General, and nothing is reopened."""
    forum = talk.server.supergroup("Triage", ana, bot="administrator", forum=True)
    topic = talk.server.topic(forum, "Intake")
    ana.say("@askfirst_bot lit-review this", forum, topic=topic)
    await talk.rig.hear()
    talk.server.close_topic(forum, topic, ana)
    before = len(talk.mine(forum))
    await talk.settle()
    assert len(talk.mine(forum)) == before
    assert talk.session(forum, topic).undelivered == "the topic is closed"
    talk.server.reopen_topic(forum, topic, ana)
    await talk.settle()
    [card] = [m for m in forum.messages.values() if m.mine and "Literature review ·" in m.text]
    assert card.topic == topic.id
    assert "Sets the search filters" in card.text  # whole: nobody has seen it yet
    assert talk.session(forum, topic).undelivered is None
    assert {c.method for c in talk.server.history.calls} & {"reopenForumTopic", "closeForumTopic"} == set()


async def test_p37_a_deleted_topic_is_told_in_private(talk: Talk, ana: Person) -> None:
    """No update tells of it. The refusal does; General hears nothing."""
    forum = talk.server.supergroup("Triage", ana, forum=True)
    topic = talk.server.topic(forum, "Intake")
    ana.say("@askfirst_bot lit-review this", forum, topic=topic)
    await talk.rig.hear()
    talk.server.delete_topic(forum, topic)
    await talk.settle()
    assert not [m for m in forum.messages.values() if m.mine and m.topic is None]
    assert talk.session(forum, topic).undelivered == "the topic was deleted"
    assert "the topic was deleted" in talk.mine(ana.chat)[0]
    assert len(refused(talk, forum)) == 1


async def test_a_group_is_left_for_good(talk: Talk, ana: Person) -> None:
    group = talk.server.group("Lab", ana)
    await talk.begin(ana, group)
    talk.server._bot_becomes(group, "left", ana.json())
    await talk.settle()
    assert talk.session(group).undelivered == "the bot was removed from here"


async def test_the_account_is_deleted(talk: Talk, ana: Person) -> None:
    """No update tells of it: the first refusal does, and the rest is not tried."""
    await talk.begin(ana)
    ana.say("1: B")
    ana.say("2: A")
    await talk.rig.hear()
    ana.deactivate()
    await talk.settle()
    assert len(refused(talk, ana.chat)) == 1
    assert talk.session(ana.chat).undelivered


async def test_a_place_with_nothing_open_is_not_written_to(talk: Talk, ana: Person) -> None:
    group = talk.server.supergroup("Triage", ana)
    talk.server.remove_bot(group, ana)
    talk.server.add_bot(group, ana)
    ana.block()
    ana.unblock()
    await talk.settle()
    assert talk.mine(ana.chat) == []
    assert [words.partition(".")[0] for words in talk.mine(group)] == ["Hello"]  # as in any group that it is added to
    assert set(talk.store.states) == {f"telegram:{group.id}"}


async def test_a_redelivered_change_is_told_once(talk: Talk, ana: Person) -> None:
    group = talk.server.supergroup("Triage", ana)
    await talk.begin(ana, group)
    talk.server.remove_bot(group, ana)
    talk.server.add_bot(group, ana)
    await talk.settle()
    before = len(talk.mine(group))
    changes = [u.json() for u in talk.server.updates.log if u.kind == "my_chat_member"]
    for raw in changes:
        await talk.rig.intake.take(raw)
    await talk.settle()
    assert len(talk.mine(group)) == before


# -- a stub in a forum ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["topic", "elsewhere"])
async def test_b10_a_press_on_a_stub_in_a_forum_lands_in_its_topic(talk: Talk, ana: Person, where: str) -> None:
    """A stub does not tell its topic; the token's session does. A token of another chat counts for nothing."""
    forum = talk.server.supergroup("Triage", ana, forum=True)
    topic = talk.server.topic(forum, "Intake")
    card = await talk.begin(ana, forum, topic=topic)
    token = card.button("B ✅")["callback_data"]
    talk.clock.advance(timedelta(days=40))
    if where == "elsewhere":
        other = talk.server.supergroup("Other", ana, forum=True)
        ana.say("@askfirst_bot /status", other)
        await talk.settle()
        card = next(m for m in other.messages.values() if m.mine)
        talk.clock.advance(timedelta(days=40))
    query = ana.send_data(token, card)
    await talk.settle()
    assert talk.answers == ({"years": "B"} if where == "topic" else {})
    assert query.answer
    assert "telegram:" + str(forum.id) not in talk.store.states


async def test_a_question_of_our_own_on_a_stub_in_a_forum(talk: Talk, ana: Person) -> None:
    forum = talk.server.supergroup("Triage", ana, forum=True)
    topic = talk.server.topic(forum, "Intake")
    card = await talk.begin(ana, forum, topic=topic)
    ana.say("yes", forum, reply_to=card)
    await talk.settle()
    asked = next(m for m in reversed(forum.messages.values()) if m.mine and "Shall I take" in m.text)
    token = asked.buttons[0]["callback_data"]
    talk.clock.advance(timedelta(days=40))
    ana.send_data(token, asked)
    await talk.settle()
    assert len(talk.answers) == 3


# -- nobody in particular ------------------------------------------------------------------------------------------


async def test_rd12_anonymous_admins_are_told_kindly(talk: Talk, ana: Person) -> None:
    group = talk.server.supergroup("Triage", ana)
    card = await talk.begin(ana, group)
    ana.say("lunch?", group, as_="anonymous")
    await talk.settle()
    before = len(talk.mine(group))
    ana.reply(card, "1: B", as_="anonymous")
    await talk.settle()
    [told] = talk.mine(group)[before:]
    assert "whose decision" in told
    assert "your own name" in told
    assert talk.answers == {}
    assert talk.mine(ana.chat) == []  # nothing is sent to where the identity leads
    ana.press("B ✅", card)  # a press shows who it is
    await talk.settle()
    assert talk.answers == {"years": "B"}


async def test_b07_two_channels_in_one_group_are_two_voices_and_neither_answers(talk: Talk, ana: Person) -> None:
    group = talk.server.supergroup("B", ana)
    await talk.begin(ana, group)
    red, blue = talk.server.channel("Red"), talk.server.channel("Blue")
    ana.say("2: A", group, as_=red)
    ana.say("2: B", group, as_=blue)
    ana.say("1: A", group)
    await talk.settle()
    assert talk.answers == {"years": "A"}
    told = "\n".join(talk.mine(group))
    assert "“Red”" in told
    assert "“Blue”" in told


async def test_a_channel_is_told_once_that_nobody_can_be_asked_there(talk: Talk, ana: Person) -> None:
    """Read-only notice: only where the bot is spoken to, and once. What is not meant for it is not even kept."""
    channel = talk.server.channel("News", ana)
    ana.say("Version 3 is out", channel)
    await talk.settle()
    assert talk.mine(channel) == []
    assert talk.store.states == {}
    for _ in range(2):
        ana.say("@askfirst_bot lit-review this", channel)
        await talk.settle()
    [notice] = talk.mine(channel)
    assert "can't ask in a channel" in notice
    assert not talk.store.states[f"telegram:{channel.id}"].sessions


# -- copies --------------------------------------------------------------------------------------------------------


async def test_p26_an_answer_to_the_first_copy_of_a_card_is_not_older_than_the_round(talk: Talk, ana: Person) -> None:
    """RP-7: the connection was lost after Telegram had taken the card. It is sent again, behind the answer."""
    ana.say("lit-review this")
    await talk.rig.hear()
    talk.server.faults.lose(method="sendMessage", taken=True)
    await talk.rig.outbox.drain()
    [first] = talk.cards(ana.chat)
    ana.say("1: B")
    talk.clock.advance(timedelta(minutes=1))
    await talk.rig.outbox.drain()
    assert len(talk.cards(ana.chat)) == 2  # posted before the answer is read
    await talk.settle()
    assert talk.answers == {"years": "B"}
    ana.reply(first, "2: A")  # of a message that the bot never learned of
    await talk.settle()
    assert talk.answers == {"years": "B", "databases": "A"}


async def test_p26_killed_between_sending_and_settling(talk: Talk, ana: Person) -> None:
    """The next process sends the card again before it reads the answer to the first copy."""
    ana.say("lit-review this")
    await talk.rig.hear()

    class Killed(BaseException): ...

    async def killed() -> None:
        raise Killed

    talk.store.before["commit"].append(killed)
    with pytest.raises(Killed):
        await talk.rig.outbox.drain()
    assert len(talk.cards(ana.chat)) == 1
    ana.say("1: B")
    talk.clock.advance(2)
    async with rig(talk.server, talk.store, style=talk.rig.style, decide=core()) as second:
        await second.store.release(["telegram"])
        await second.outbox.drain()
        assert len(talk.cards(ana.chat)) == 2
        await second.settle()
    assert talk.answers == {"years": "B"}


async def test_rp7_after_a_mere_pause_the_first_copy_is_the_only_one(talk: Talk, ana: Person) -> None:
    """Refused with 429, the card has surely not arrived: what was said before it does not answer it."""
    ana.say("lit-review this")
    await talk.rig.hear()
    talk.server.faults.limit(30, method="sendMessage")
    await talk.rig.outbox.drain()
    ana.say("1: B")
    talk.clock.advance(timedelta(minutes=1))
    await talk.rig.outbox.drain()
    assert len(talk.cards(ana.chat)) == 1
    await talk.settle()
    assert talk.answers == {}
    assert "crossed" in talk.mine(ana.chat)[-1]


async def test_rp7_what_waited_behind_the_request_while_nobody_was_there(talk: Talk, ana: Person) -> None:
    """Heard together after an absence: the second was said before anything was asked, and answers nothing."""
    ana.say("lit-review this")
    talk.clock.advance(60)
    ana.say("1: B, 2: A")
    talk.clock.advance(timedelta(minutes=10))
    await talk.settle()
    assert talk.answers == {}
    assert "crossed" in "".join(talk.mine(ana.chat))


async def test_a_reply_to_the_unknown_copy_in_a_group_is_meant_for_the_bot(talk: Talk, ana: Person) -> None:
    """RP-3: a bare letter counts there only as a direct reply, and it is one."""
    group = talk.server.supergroup("Triage", ana)
    ana.say("@askfirst_bot lit-review this", group)
    await talk.rig.hear()
    talk.server.faults.lose(method="sendMessage", taken=True)
    await talk.rig.outbox.drain()
    [first] = talk.cards(group)
    talk.clock.advance(timedelta(minutes=1))
    await talk.rig.outbox.drain()
    before = len(talk.mine(group))
    ana.reply(first, "looks fine to me")
    await talk.settle()
    assert len(talk.mine(group)) > before
