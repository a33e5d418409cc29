"""b38: a new version is brought in while people are in the middle of a round, and for a while both versions run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from bot.core import codec
from bot.core.codec import (
    NewerState,
    UnreadableState,
    decode_envelope,
    decode_state,
    encode_envelope,
    encode_state,
)
from bot.core.model import Model
from bot.core.state import SCHEMA, Conversation
from bot.ports import Settle, StaleRevision
from bot.runner import Runner
from bot.timers import Timers
from storage import open_store
from storage.records import RecordStore
from storage.sqlite import SqliteStore
from tests.contracts.test_postgres_store import raw
from tests.fakes.clock import START, ManualClock
from tests.fakes.envelopes import said
from tests.fakes.toy import toy
from tests.storage.build import ROOM, after, claim, commit, say, state, texts, words

Put = Callable[[str], Any]


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RecordStore]:
    url = str(tmp_path / "askfirst.db")
    if request.param == "postgres":
        url = await request.getfixturevalue("postgres").emptied()
    store = await open_store(url)
    yield store
    await store.close()


async def written_by_the_newer(store: RecordStore, revision: int, **more: Any) -> None:
    """The newer version's commit of a state with a field that this one does not know."""
    await put(store, revision, json.dumps({**json.loads(encode_state(state(revision))), **more}))


async def put(store: RecordStore, revision: int, written: str) -> None:
    if isinstance(store, SqliteStore):
        await store._writer.ask(
            lambda connection: connection.execute(
                "UPDATE conversation SET state = ?, revision = ?", (written, revision)
            )
        )
    else:
        url: str = store.target.dsn  # type: ignore[attr-defined]
        await raw(url, "UPDATE conversation SET state = $1, revision = $2", written, revision)


async def stored(store: RecordStore) -> str:
    if isinstance(store, SqliteStore):
        rows = await store._reader.ask(
            lambda connection: connection.execute("SELECT state FROM conversation").fetchall()
        )
        return str(rows[0]["state"])
    return str((await raw(store.target.dsn, "SELECT state FROM conversation"))[0]["state"])  # type: ignore[attr-defined]


UNKNOWN = {"forwards": [{"name": "f", "place": ROOM, "event": {"kind": "dreamt"}}]}  # a kind of event


async def test_any_worker_serves_what_the_newer_version_has_written(store: RecordStore) -> None:
    """In turns: the older one has the conversation in memory from before, and hears an answer after the newer one."""
    await store.commit(commit("e1"))
    assert await store.load(ROOM) == state(1)
    place = {**json.loads(encode_state(state(2)))["place"], "floor": 3}
    await written_by_the_newer(store, 2, mood="curious", place=place)
    with pytest.raises(StaleRevision):
        await store.commit(commit("e2", 1))
    runner = Runner(store, toy, ManualClock(auto=True))
    for revision, reply in enumerate(("1: B", "2: A"), start=3):
        assert (await runner.handle(said(reply, conversation=ROOM))).outcome == "accepted"
        left = json.loads(await stored(store))
        assert (left["mood"], left["place"]["floor"], left["revision"]) == ("curious", 3, revision)
    again = await open_store(str(store.path) if isinstance(store, SqliteStore) else store.target.dsn)  # type: ignore[attr-defined]
    try:
        assert await again.load(ROOM) == await store.load(ROOM)
    finally:
        await again.close()


async def test_what_can_not_be_stored_is_cleaned_and_the_rest_passed_on(store: RecordStore) -> None:
    await store.commit(commit("e1"))
    await written_by_the_newer(store, 2, mood="curious")
    known = decode_state(await stored(store))
    following = known.model_copy(update={"revision": 3, "refused": ("nul \0", "half \ud800")})
    await store.commit(dataclasses.replace(commit("e3", 2), state=following))
    left = json.loads(await stored(store))
    assert (left["mood"], left["refused"]) == ("curious", ["nul \ufffd", "half \ufffd"])
    assert await store.load(ROOM) == known.model_copy(
        update={"revision": 3, "refused": ("nul \ufffd", "half \ufffd")}
    )


async def test_the_older_version_does_not_write_over_what_it_can_not_read(store: RecordStore) -> None:
    await store.commit(commit("e1"))
    await written_by_the_newer(store, 2, **UNKNOWN)
    with pytest.raises(StaleRevision):
        await store.commit(commit("e2", 1))
    runner = Runner(store, toy, ManualClock(auto=True))
    with pytest.raises(NewerState, match=r"can not read \(forwards.*\).*left as it is.*Upgrade"):
        await runner.handle(said("1: B", conversation=ROOM))  # not taken: the platform delivers it again
    assert json.loads(await stored(store))["forwards"] == UNKNOWN["forwards"]
    assert await store.seen(f"{ROOM}:1: B") is False


async def test_only_that_place_is_held_up(store: RecordStore) -> None:
    await store.commit(commit("e1"))
    await written_by_the_newer(store, 2, **UNKNOWN)
    runner = Runner(store, toy, ManualClock(auto=True))
    assert (await runner.handle(said("hello", conversation="test:2"))).outcome == "accepted"


@pytest.mark.parametrize("damage", [UNKNOWN, {"sessions": "gone"}, {"schema_version": -1}, None])
async def test_how_things_stand_is_said_all_the_same(store: RecordStore, damage: dict[str, Any] | None) -> None:
    """b38 CH-3: what is wrong and what is kept. The row stays as it is, and its timer holds up no other one."""
    await store.commit(commit("e1", timers_set=(("grace:s", START),)))
    written = "{" if damage is None else json.dumps({**json.loads(encode_state(state(2))), **damage})
    await put(store, 2, written)
    before = await stored(store)
    clock = ManualClock(auto=True)
    runner = Runner(store, toy, clock)
    await runner.handle(said("grace", conversation="test:2"))
    handled = await runner.handle(said("/status", conversation=ROOM))
    assert handled.outcome == "refused"
    assert handled.reply is not None
    assert "can't be read" in handled.reply.text
    with pytest.raises(UnreadableState):
        await runner.handle(said("1: B", conversation=ROOM))
    clock.advance(5)
    assert await Timers(store, runner, clock).fire_due() == 1
    assert before in await states(store)


async def states(store: RecordStore) -> list[str]:
    if isinstance(store, SqliteStore):
        rows = await store._reader.ask(lambda raw: raw.execute("SELECT state FROM conversation").fetchall())
        return [str(row["state"]) for row in rows]
    rows = await raw(store.target.dsn, "SELECT state FROM conversation")  # type: ignore[attr-defined]
    return [str(row["state"]) for row in rows]


async def test_the_newer_version_reads_the_older_ones_state(
    store: RecordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A field renamed: the meaning has changed, so the form has a new number and a step up to it."""
    await store.commit(commit("e1"))
    await written_by_the_newer(store, 2, schema_version=0, turned_away=["ana"])

    def step_up(old: dict[str, Any]) -> dict[str, Any]:
        return {**{k: v for k, v in old.items() if k != "turned_away"}, "refused": old["turned_away"]}

    monkeypatch.setitem(codec.UPCASTS, 0, step_up)
    again = await open_store(
        str(store.path) if isinstance(store, SqliteStore) else store.target.dsn  # type: ignore[attr-defined]
    )
    try:
        known = await again.load(ROOM)
        assert known is not None
        assert (known.refused, known.revision) == (("ana",), 2)
        await again.commit(commit("e3", 2))
    finally:
        await again.close()
    assert "turned_away" not in await stored(store)


def test_the_older_version_refuses_a_newer_form() -> None:
    newer = encode_state(state(1)).replace(f'"schema_version":{SCHEMA}', f'"schema_version":{SCHEMA + 1}')
    with pytest.raises(NewerState, match=f"stored in form {SCHEMA + 1}; this program knows up to {SCHEMA}"):
        decode_state(newer)


FIELDS = Path(__file__).parent / "stored_fields.json"


def test_each_new_field_of_a_state_is_decided_on() -> None:
    """A worker of the version before passes on unread what it does not know. May it decide without knowing it?

    If it may, the field is added to the list. If it must not (it says that an answer no longer counts, or who may
    answer), `state.SCHEMA` is raised with it, so that the older worker leaves the conversation alone.
    """
    found = {name: sorted(fields) for name, fields in sorted(reachable(Conversation).items())}
    listed = json.loads(FIELDS.read_text("utf-8"))
    assert {"form": SCHEMA, "fields": found} == listed


def reachable(begin: type[Model]) -> dict[str, set[str]]:
    """The fields of every kind of value that a state may hold."""
    found: dict[str, set[str]] = {}
    waiting: list[Any] = [begin]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, type) and issubclass(kind, Model):
            if kind.__name__ not in found:
                found[kind.__name__] = set(kind.model_fields)
                waiting.extend(field.annotation for field in kind.model_fields.values())
        else:
            waiting.extend(get_args(kind))
    return found


def test_what_a_newer_version_has_noted_of_an_event_is_left_out() -> None:
    envelope = said("1: B", conversation=ROOM)
    raw_envelope = json.loads(encode_envelope(envelope))
    raw_envelope["event"]["person"]["pronouns"] = "they"
    assert decode_envelope(json.dumps({**raw_envelope, "weather": "fine"})) == envelope


def test_a_field_added_with_a_default_needs_no_new_form() -> None:
    """What the older version wrote lacks it; what it means is the default."""
    raw_state = json.loads(encode_state(state(1, mark="x")))
    assert decode_state(json.dumps({k: v for k, v in raw_state.items() if k != "refused"})) == state(1)
    assert isinstance(decode_state(json.dumps(raw_state)), Conversation)


async def effect_becomes(store: RecordStore, old: str, new: str) -> None:
    """The first message waiting or sent is now one of the newer version's."""
    if isinstance(store, SqliteStore):
        change = "UPDATE outbox SET effect = replace(effect, ?, ?) WHERE row = 1"
        await store._writer.ask(lambda connection: connection.execute(change, (old, new)))
    else:
        change = "UPDATE outbox SET effect = replace(effect, $1, $2) WHERE row = 1"
        await raw(store.target.dsn, change, old, new)  # type: ignore[attr-defined]


async def test_a_message_of_the_newer_version_waits_for_it_and_holds_up_nobody_else(store: RecordStore) -> None:
    """b38: it is neither lost nor given up; after a step back to the older version, too."""
    await store.commit(commit("e1", out=(say("new kind"),)))
    await store.commit(commit("e2", 0, "terminal:other", out=(say("old kind"),)))
    await effect_becomes(store, '"kind"', '"sort"')
    assert texts(await claim(store)) == ["old kind"]
    assert await claim(store, after(4)) == []
    await effect_becomes(store, '"sort"', '"kind"')
    assert texts(await claim(store, after(5))) == ["new kind"]


async def test_what_is_known_of_a_message_that_is_shown_can_be_looked_at(store: RecordStore) -> None:
    """A press on it names its button; what else the newer version has written there is not needed for that."""
    await store.commit(commit("e1", out=(say("shown"),)))
    [row] = await claim(store)
    await store.settle(Settle(row.row, "m1"))
    await effect_becomes(store, '{"text"', '{"mood":"curious","text"')
    assert await store.shown(ROOM, "m1") == words("shown")
    assert await store.drawings(ROOM, "m1") == [words("shown")]
    await effect_becomes(store, '"style":"plain"', '"style":"glowing"')
    assert await store.shown(ROOM, "m1") is None
    assert await store.drawings(ROOM, "m1") == []


async def test_the_older_version_goes_on_while_tables_are_added_to(postgres_url: str) -> None:
    """Migrations within a minor version only add: what runs goes on, with its prepared statements."""
    store = await open_store(postgres_url)
    await store.commit(commit("e1", out=(say("one"), say("two"))))
    await claim(store)
    await raw(postgres_url, "ALTER TABLE outbox ADD COLUMN priority BIGINT")
    await raw(postgres_url, "ALTER TABLE conversation ADD COLUMN tag TEXT")
    try:
        await store.commit(commit("e2", 1, out=(say("three"),)))
        await store.give_up(1, "gone")
        assert texts(await claim(store)) == ["two"]
    finally:
        await store.close()
        await raw(postgres_url, "ALTER TABLE outbox DROP COLUMN priority")
        await raw(postgres_url, "ALTER TABLE conversation DROP COLUMN tag")
