"""Sending on the fake server: refusals, retries that repeat nothing, private words, moved groups, notices."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.telegram.render import MAX_TEXT
from bot.core.effects import Block, Button, File, Message, Redraw, Reply, Say, Span
from bot.core.events import ButtonPressed, Envelope
from bot.core.model import MessageRef, Person, Place
from bot.ports import CardGone, RateLimited, TryLater, Undeliverable
from tests.fakes.clock import START, ManualClock
from tests.fakes.telegram import TelegramServer
from tests.fakes.telegram_rig import Rig, rig


@pytest.fixture
async def made() -> AsyncIterator[Rig]:
    server = TelegramServer(ManualClock(auto=True), privacy=False)
    async with rig(server) as built:
        yield built


def say(text: str, *labels: str, style: Any = "plain", files: tuple[File, ...] = (), **more: Any) -> Say:
    row = tuple(Button(token=f"t:{label}", label=label) for label in labels)
    block = Block(spans=(Span(text=text, style=style),))
    return Say(message=Message(blocks=(block,), buttons=(row,) if row else (), files=files), **more)


def redraw(text: str, *labels: str) -> Redraw:
    return Redraw(card="c", message=say(text, *labels).message)


def place(chat: Any, topic: Any = None) -> str:
    return f"telegram:{chat.id}" + (f"/{topic.id}" if topic else "")


async def test_what_is_posted_is_what_people_see(made: Rig) -> None:
    ana = made.server.person("Ana", started=True)
    said = ana.say("hi")
    sent = await made.transport.post(
        place(ana.chat), say("pick <one> & _two_", "A", style="bold", reply_to=str(said.id))
    )
    shown = ana.chat.messages[int(sent.message)]
    assert (shown.text, shown.labels, shown.reply_to) == ("pick <one> & _two_", [["A"]], said)
    assert shown.entities == [{"type": "bold", "offset": 0, "length": 18}]
    assert sent.order == shown.id
    [call] = made.server.history.of("sendMessage")
    assert "parse_mode" not in call.params


async def test_what_sends_people_to_a_card_answers_that_card(made: Rig) -> None:
    """RD-14: a tap on what it answers leads there."""
    ana = made.server.person("Ana", started=True)
    said = ana.say("hi")
    card = await made.transport.post(place(ana.chat), say("the card"))
    sent = await made.transport.post(place(ana.chat), say("over", reply_to=str(said.id), see=card.message))
    shown = ana.chat.messages[int(sent.message)]
    assert shown.reply_to is ana.chat.messages[int(card.message)]


async def test_a_refused_formatting_goes_out_plain(made: Rig) -> None:
    """CH-4: no question is lost to formatting."""
    ana = made.server.person("Ana", started=True)
    made.server.faults.fail(400, "Bad Request: can't parse entities: byte offset 3", method="sendMessage")
    sent = await made.transport.post(place(ana.chat), say("words", "A", style="bold"))
    shown = ana.chat.messages[int(sent.message)]
    assert (shown.text, shown.entities, shown.labels) == ("words", [], [["A"]])


async def test_refused_buttons_are_left_out(made: Rig) -> None:
    """CH-1: the message is complete without them."""
    ana = made.server.person("Ana", started=True)
    made.server.faults.fail(400, "Bad Request: BUTTON_DATA_INVALID", method="sendMessage")
    sent = await made.transport.post(place(ana.chat), say("words", "A"))
    assert ana.chat.messages[int(sent.message)].labels == []


async def test_a_deleted_question_does_not_keep_the_answer_from_arriving(made: Rig) -> None:
    ana = made.server.person("Ana", started=True)
    said = ana.say("hi")
    ana.delete(said)
    sent = await made.transport.post(place(ana.chat), say("words", reply_to=str(said.id)))
    assert ana.chat.messages[int(sent.message)].text == "words"


@pytest.mark.parametrize(
    ("trouble", "name"),
    [
        (lambda faults: faults.limit(217), RateLimited),
        (lambda faults: faults.fail(502), TryLater),
        (lambda faults: faults.lose(taken=False), TryLater),
        (lambda faults: faults.lose(taken=False, timeout=True), TryLater),
        (lambda faults: faults.garbage(), TryLater),
        (lambda faults: faults.fail(401), TryLater),
        (lambda faults: faults.fail(403), Undeliverable),
        (lambda faults: faults.fail(400, "Bad Request: TOPIC_CLOSED"), Undeliverable),
    ],
)
async def test_trouble_has_a_name(made: Rig, trouble: Any, name: type[Exception]) -> None:
    ana = made.server.person("Ana", started=True)
    trouble(made.server.faults)
    with pytest.raises(name) as caught:
        await made.transport.post(place(ana.chat), say("words"))
    assert made.server.token not in str(caught.value)


async def test_an_interrupted_long_message_goes_on_where_it_was(made: Rig) -> None:
    """P31: a retry after 429 repeats nothing that has arrived."""
    ana = made.server.person("Ana", started=True)
    blocks = tuple(Block(spans=(Span(text=f"{n} " + "x" * 3000),)) for n in range(3))
    files = (File(name="a.md", media="text/markdown", content="# a"),)
    long = Say(message=Message(blocks=blocks, buttons=((Button(token="t", label="A"),),), files=files))
    sends = 0
    real = made.bot.post_text

    async def second_fails(*args: Any, **keys: Any) -> Any:
        nonlocal sends
        sends += 1
        if sends == 2:
            made.server.faults.limit(3, method="sendMessage")
        return await real(*args, **keys)

    made.transport._bot = _With(made.bot, post_text=second_fails)  # type: ignore[assignment]
    with pytest.raises(RateLimited):
        await made.transport.post(place(ana.chat), long)
    sent = await made.transport.post(place(ana.chat), long)
    mine = [m for m in ana.chat.messages.values() if m.mine]
    assert [m.text.split()[0] for m in mine if m.text] == ["0", "1", "2"]
    assert [m.labels for m in mine] == [[], [], [["A"]], []]
    assert int(sent.message) == mine[2].id  # the part with the buttons is the one that speaks of the card
    assert mine[3].content["document"]["file_name"] == "a.md"


class _With:
    """A bot with one method of a test's own."""

    def __init__(self, bot: Any, **own: Any) -> None:
        self._bot, self._own = bot, own

    def __getattr__(self, name: str) -> Any:
        return self._own.get(name) or getattr(self._bot, name)


async def test_a_redraw_changes_the_card_in_place(made: Rig) -> None:
    """P39: what it shows already is no failure."""
    ana = made.server.person("Ana", started=True)
    sent = await made.transport.post(place(ana.chat), say("one", "A"))
    again = await made.transport.redraw(place(ana.chat), sent.message, redraw("two"))
    shown = ana.chat.messages[int(sent.message)]
    assert (again.message, shown.text, shown.labels) == (sent.message, "two", [])
    assert await made.transport.redraw(place(ana.chat), sent.message, redraw("two"))  # not modified: a success


@pytest.mark.parametrize("words", ["message to edit not found", "message can't be edited"])
async def test_a_card_that_can_not_be_edited_is_said_to_be_gone(made: Rig, words: str) -> None:
    ana = made.server.person("Ana", started=True)
    sent = await made.transport.post(place(ana.chat), say("one", "A"))
    made.server.faults.fail(400, f"Bad Request: {words}", method="editMessageText")
    with pytest.raises(CardGone):
        await made.transport.redraw(place(ana.chat), sent.message, redraw("two"))


async def test_a_card_that_has_outgrown_a_message_loses_its_buttons_and_is_posted_anew(made: Rig) -> None:
    ana = made.server.person("Ana", started=True)
    sent = await made.transport.post(place(ana.chat), say("one", "A"))
    with pytest.raises(CardGone):
        await made.transport.redraw(place(ana.chat), sent.message, redraw("x " * MAX_TEXT, "A"))
    assert ana.chat.messages[int(sent.message)].labels == []


# -- topics --------------------------------------------------------------------------------------------------------


async def test_an_answer_stays_in_its_topic(made: Rig) -> None:
    """P37."""
    forum = made.server.supergroup("Triage", forum=True)
    topic = made.server.topic(forum, "Intake")
    sent = await made.transport.post(
        place(forum, topic), say("words", files=(File(name="a", media="x", content="y"),))
    )
    mine = [m for m in forum.messages.values() if m.mine and m.id >= int(sent.message)]
    assert [m.topic for m in mine] == [topic.id, topic.id]


async def test_a_closed_topic_is_undeliverable_and_is_not_reopened(made: Rig) -> None:
    """b35: no post in General, no use of the admin's right."""
    forum = made.server.supergroup("Triage", forum=True)
    topic = made.server.topic(forum, "Intake")
    made.server.close_topic(forum, topic)
    before = len(forum.messages)
    with pytest.raises(Undeliverable, match="topic is closed"):
        await made.transport.post(place(forum, topic), say("words"))
    assert len(forum.messages) == before
    assert {call.method for call in made.server.history.calls} & {"reopenForumTopic", "editForumTopic"} == set()


async def test_the_words_of_a_deleted_topic_are_not_said_in_another_one(made: Rig) -> None:
    """P37: General is another conversation; an answer there would belong to nothing."""
    forum = made.server.supergroup("Triage", forum=True)
    topic = made.server.topic(forum, "Intake")
    made.server.delete_topic(forum, topic)
    before = len(forum.messages)
    with pytest.raises(Undeliverable, match="topic was deleted") as caught:
        await made.transport.post(place(forum, topic), say("words"))
    assert caught.value.place
    assert len(forum.messages) == before


# -- for one person ------------------------------------------------------------------------------------------------


async def test_a_private_word_goes_to_the_persons_own_chat(made: Rig) -> None:
    """RD-12."""
    ben = made.server.person("Ben", started=True)
    group = made.server.supergroup("Triage", ben)
    sent = await made.transport.post(place(group), say("for you", only_to=f"telegram:{ben.id}", reply_to="1"))
    assert ben.chat.messages[int(sent.message)].text == "for you"
    assert not any(m.mine for m in group.messages.values())


@pytest.mark.parametrize("how", ["never started", "blocked"])
async def test_without_a_private_chat_a_private_word_is_not_said_to_all(made: Rig, how: str) -> None:
    """Promise 12. The session is not undeliverable for that."""
    ben = made.server.person("Ben", started=how == "blocked")
    ben.blocked = how == "blocked"
    group = made.server.supergroup("Triage", ben)
    sent = await made.transport.post(place(group), say("for you", only_to=f"telegram:{ben.id}"))
    assert sent.message == ""
    assert not any(m.mine for chat in (group, ben.chat) for m in chat.messages.values())


@pytest.mark.parametrize("started", [True, False])
async def test_what_may_be_said_to_all_is_said_where_there_is_no_private_chat(made: Rig, started: bool) -> None:
    """RD-12 CH-2, promise 12: in private where it can be, else in the group, never both."""
    ben = made.server.person("Ben", started=started)
    group = made.server.supergroup("Triage", ben)
    await made.transport.post(place(group), say("for you", only_to=f"telegram:{ben.id}", instead="for all"))
    words = {chat.id: [m.text for m in chat.messages.values() if m.mine] for chat in (ben.chat, group)}
    assert words == {ben.chat.id: ["for you"] if started else [], group.id: [] if started else ["for all"]}


async def test_trouble_on_the_way_to_one_person_is_still_trouble(made: Rig) -> None:
    ben = made.server.person("Ben", started=True)
    group = made.server.supergroup("Triage", ben)
    made.server.faults.limit(3)
    with pytest.raises(RateLimited):
        await made.transport.post(place(group), say("for you", only_to=f"telegram:{ben.id}"))


async def test_in_a_private_chat_the_person_is_there_already(made: Rig) -> None:
    ana = made.server.person("Ana", started=True)
    said = ana.say("hi")
    sent = await made.transport.post(place(ana.chat), say("x", only_to=f"telegram:{ana.id}", reply_to=str(said.id)))
    assert ana.chat.messages[int(sent.message)].reply_to is said


# -- moved groups --------------------------------------------------------------------------------------------------


async def test_a_refusal_tells_of_a_move_and_the_message_follows(made: Rig) -> None:
    """P38: the error's parameter alone is enough, and it is remembered."""
    group = made.server.group("Lab")
    moved = made.server.migrate(group)
    sent = await made.transport.post(place(group), say("words", reply_to="1"))
    assert sent.message == f"{moved.id}:{max(moved.messages)}"
    assert moved.messages[max(moved.messages)].text == "words"
    assert made.store.notes == {f"telegram:moved:{moved.id}": str(group.id)} | {
        key: value for key, value in made.store.notes.items() if "moved" not in key
    }
    again = await made.transport.redraw(place(group), sent.message, redraw("two"))
    assert again.message == sent.message
    assert [call.method for call in made.server.history.calls if call.chat == group.id] == ["sendMessage"]


async def test_an_old_card_of_a_moved_group_is_gone(made: Rig) -> None:
    group = made.server.group("Lab")
    sent = await made.transport.post(place(group), say("one", "A"))
    made.server.migrate(group)
    with pytest.raises(CardGone):
        await made.transport.redraw(place(group), sent.message, redraw("two"))
    with pytest.raises(CardGone):
        await made.transport.redraw(place(group), sent.message, redraw("two"))


# -- notices -------------------------------------------------------------------------------------------------------


def pressed(query: Any) -> Envelope:
    person = Person(id=f"telegram:{query.person.id}", name="Ana")
    event = ButtonPressed(person=person, token="t", label="A", ref=MessageRef(id=query.id, quote="A", card="1"))
    where = Place(conversation=f"telegram:{query.person.id}", platform="telegram")
    return Envelope(event_id="x", place=where, at=START, event=event)


async def test_a_notice_is_shown_and_a_long_one_in_a_window(made: Rig) -> None:
    ana = made.server.person("Ana", started=True)
    sent = await made.transport.post(place(ana.chat), say("one", "A"))
    card = ana.chat.messages[int(sent.message)]
    for words, alert in (("noted", False), ("x" * 150, True)):
        query = ana.press("A", card)
        await made.transport.reply(pressed(query), Reply(text=words))
        assert (query.answer, query.alert) == (words, alert)
    query = ana.press("A", card)
    await made.transport.reply(pressed(query), Reply(text="x" * 250))
    assert query.answer is not None
    assert len(query.answer) == 200
    query = ana.press("A", card)
    await made.transport.reply(pressed(query), Reply(text=""))
    assert made.server.history.of("answerCallbackQuery")[-1].code == 200


async def test_a_notice_that_is_too_late_does_no_harm(made: Rig) -> None:
    """P23."""
    ana = made.server.person("Ana", started=True)
    sent = await made.transport.post(place(ana.chat), say("one", "A"))
    query = ana.press("A", ana.chat.messages[int(sent.message)])
    made.clock.advance(60)
    await made.transport.reply(pressed(query), Reply(text="late"))
    assert query.answer is None
    assert made.server.history.of("answerCallbackQuery")[-1].code == 400
