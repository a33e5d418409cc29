"""Updates to events, as a table of data: updates.jsonl. A line names what it shows, and its field case if any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.telegram.codec import event_from_update, move_of, queue_of, read_update, said_id
from adapters.telegram.places import AFTER_MOVE, Me, Moves, conversation_of, message_at, name_of, order_of
from bot.core.codec import decode_envelope, encode_envelope
from bot.core.events import ButtonPressed, Envelope, Ignored, MessageReceived
from tests.fakes.telegram import Schema

CASES = [json.loads(line) for line in (Path(__file__).parent / "updates.jsonl").read_text("utf-8").splitlines()]
ME = Me(7_000_000_001, "askfirst_bot")

ANA = {"id": 5000000001, "is_bot": False, "first_name": "Ana", "last_name": "Ta", "username": "ana_t"}
CHATS: dict[str, dict[str, Any]] = {
    "private": {"id": 5000000001, "type": "private", "first_name": "Ana"},
    "group": {"id": -4000000001, "type": "group", "title": "Lab"},
    "supergroup": {"id": -1001500000001, "type": "supergroup", "title": "Triage"},
    "forum": {"id": -1001500000001, "type": "supergroup", "title": "Triage", "is_forum": True},
}
KEYBOARD = {"inline_keyboard": [[{"text": "B ✅", "callback_data": "a:s.1:1:B"}]]}


def grown(value: Any) -> Any:
    """`x*4096` is a long text."""
    if isinstance(value, str) and value.rpartition("*")[2].isdigit() and len(value.partition("*")[0]) == 1:
        letter, _, count = value.partition("*")
        return letter * int(count)
    return value


def update_of(case: dict[str, Any]) -> dict[str, Any]:
    """The case's own fields over an ordinary message in an ordinary place."""
    where = case.get("in", "private")
    topic = where == "topic"
    chat = CHATS["forum" if topic else where]
    base: dict[str, Any] = {"message_id": 77, "from": ANA, "chat": chat, "date": 1796119260}
    if topic:
        base |= {"message_thread_id": 240, "is_topic_message": True}
    body = {"update_id": 900000001}
    for kind, name in (("message", "message"), ("edited", "edited_message")):
        if kind in case:
            own = {key: grown(value) for key, value in case[kind].items()}
            if "reply_to_message" in own:
                own["reply_to_message"] = {"chat": chat, "date": 1796119200} | own["reply_to_message"]
            body[name] = base | own
    if "press" in case:
        card = base | {"message_id": 70, "from": {"id": ME.id, "is_bot": True, "first_name": "Askfirst"}}
        press = {"id": "cb1", "from": ANA, "chat_instance": "-37", "message": card | {"reply_markup": KEYBOARD}}
        press |= case["press"]
        body["callback_query"] = {key: value for key, value in press.items() if value is not None}
    return body | case.get("update", {})


def made_of(raw: Any, me: Me = ME) -> Envelope | Ignored:
    update = read_update(raw)
    return update if isinstance(update, Ignored) else event_from_update(update, me)


def seen(made: Envelope, path: str) -> Any:
    if path in ("conversation", "shared"):
        return getattr(made.place, path)
    if path in ("event_id", "platform_at"):
        return getattr(made, path)
    value: Any = made.event
    for part in path.split("."):
        value = getattr(value, part)
    if path == "materials":
        return [[m.kind, m.name, m.media, m.size, m.caption] for m in value]
    return value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_an_update_is_the_event_that_the_table_says(case: dict[str, Any]) -> None:
    made = made_of(json.loads(json.dumps(update_of(case))))
    expect = dict(case["expect"])
    ignored = expect.pop("ignored", None)
    if ignored is not None:
        assert isinstance(made, Ignored)
        assert ignored in made.reason
        return
    assert isinstance(made, Envelope), made
    begins = expect.pop("event_id", made.event_id)
    assert made.event_id.startswith(begins)
    assert {path: seen(made, path) for path in expect} == {path: grown(value) for path, value in expect.items()}
    assert decode_envelope(encode_envelope(made)) == made  # what is stored is what was made


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 60
    assert len({case["case"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", [c for c in CASES if "message" in c], ids=lambda case: case["case"])
def test_the_same_act_delivered_again_is_the_same_event(case: dict[str, Any]) -> None:
    update = update_of(case)
    again = update | {"update_id": 999}
    assert made_of(update) == made_of(again)


def edit(text: str, at: int = 1796120100) -> str:
    made = made_of(update_of({"edited": {"text": text, "edit_date": at}}))
    assert isinstance(made, Envelope)
    return made.event_id


def test_two_edits_in_one_second_are_two_and_a_reaction_to_an_edited_message_is_none() -> None:
    """b20: a reaction repeats the text and the moment of the last edit."""
    assert edit("2: C") != edit("2: B")
    assert edit("2: C") == edit("2: C")
    assert edit("2: C") != edit("2: C", 1796120101)


def test_an_edit_knows_the_message_that_it_changes() -> None:
    said = made_of(update_of({"message": {"text": "2: B"}}))
    edited = made_of(update_of({"edited": {"text": "2: C", "edit_date": 1}}))
    assert isinstance(said, Envelope)
    assert isinstance(edited, Envelope)
    assert said_id(edited) == said.event_id


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["message", "chat", "id", "from", "text", "date", "callback_query", "update_id", "message_id", "type", "data"]), x), max_leaves=20))  # fmt: skip  # noqa: E501
def test_whatever_comes_is_an_event_or_has_a_reason(raw: Any) -> None:
    """Promise 2: never an exception."""
    made = made_of(raw if not isinstance(raw, dict) else {"update_id": 1} | raw)
    assert isinstance(made, Envelope) or made.reason
    if isinstance(raw, dict):
        queue_of(raw)


def test_the_recorded_updates_are_of_the_published_types() -> None:
    """Needs the published schema; what the table leaves out or invents on purpose is not checked."""
    schema = Schema.load()
    invented = ("reply_to_message", "hologram", "rich_message")
    for case in CASES:
        loose = any(name in str(case) for name in invented) or "unreadable" in str(case.get("press"))
        if not loose and "unreadable" not in str(case["expect"].get("ignored")):
            schema.verify("Update", json.loads(json.dumps(update_of(case))))


# -- a group that becomes a supergroup -----------------------------------------------------------------------------


def test_both_updates_tell_of_a_move() -> None:
    to = read_update(update_of({"in": "group", "message": {"migrate_to_chat_id": -1001500000009}}))
    away = {"chat": CHATS["supergroup"], "migrate_from_chat_id": -4000000001}
    come = read_update(update_of({"in": "supergroup", "message": away}))
    assert not isinstance(to, Ignored)
    assert not isinstance(come, Ignored)
    assert move_of(to) == (-4000000001, -1001500000009)
    assert move_of(come) == (-4000000001, -1001500000001)


def test_a_moved_group_stays_the_conversation_that_it_was() -> None:
    """Its message ids begin anew: they are named with the chat, and come after the old ones (RP-7)."""
    moves = Moves()
    assert moves.moved(-4000000001, -1001500000001)
    assert not moves.moved(-4000000001, -1001500000001)
    me = Me(ME.id, ME.username, first=moves.first)
    said = {"message_id": 3, "text": "1: B", "reply_to_message": {"message_id": 2}}
    raw = update_of({"in": "supergroup", "message": said})
    made = made_of(raw, me)
    assert isinstance(made, Envelope)
    assert isinstance(made.event, MessageReceived)
    assert made.place.conversation == "telegram:-4000000001"
    assert (made.event.ref.id, made.event.reply_to) == ("-1001500000001:3", "-1001500000001:2")
    assert made.event.order == 3 + AFTER_MOVE
    address = moves.address("telegram:-4000000001")
    assert address.chat == -1001500000001
    assert message_at("-1001500000001:2", address) == 2
    assert message_at("70", address) is None  # it stayed behind


def test_a_group_that_never_moved_is_where_it_is() -> None:
    address = Moves().address("telegram:-1001500000001/240")
    assert (address.chat, address.topic) == (-1001500000001, 240)
    assert message_at("70", address) == 70
    assert (name_of(-5, 7, {}), order_of(-5, 7, {}), conversation_of(-5, 9, {})) == ("7", 7, "telegram:-5/9")


def test_a_press_on_a_moved_groups_old_card_is_told_apart() -> None:
    moves = Moves()
    moves.moved(-1, CHATS["supergroup"]["id"])
    made = made_of(update_of({"in": "supergroup", "press": {"data": "t"}}), Me(ME.id, "x", first=moves.first))
    assert isinstance(made, Envelope)
    assert isinstance(made.event, ButtonPressed)
    assert made.event.ref.card == f"{CHATS['supergroup']['id']}:70"
