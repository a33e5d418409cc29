"""`askfirst doctor`, `parked` and `retry`: what is wrong is said with what to do, and what failed is handled once."""

from __future__ import annotations

import functools
import json
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.clock import SystemClock
from bot.core.events import Envelope, MessageReceived
from bot.core.model import MessageRef, Person, Place
from bot.core.step import step
from bot.runner import Runner
from storage import open_store
from tests.adapters.telegram.talking import book
from tests.e2e.installed import askfirst
from tests.e2e.serving import Served, mine, says, served, until

ANA = Person(id="telegram:5000000001", name="Ana")


def findings(said: str) -> dict[str, str]:
    return {c["name"]: c["message"] for c in json.loads(said)["checks"] if c["level"] == "finding"}


async def test_all_is_well(tmp_path: Path) -> None:
    async with served(tmp_path, "polling") as (made, ana):
        await made.start()
        ana.say("/status")
        await until(lambda: mine(ana), "an answer")
        code, said = await made.run("doctor", "--json")
        assert (code, findings(said)) == (0, {}), said
        names = {c["name"] for c in json.loads(said)["checks"]}
        assert {"settings", "database", "telegram token", "telegram webhook", "clock", "put aside"} <= names
        ana.say("/help")  # looking has confirmed nothing and stopped nobody
        await until(lambda: len(mine(ana)) == 2, "another answer")


async def test_before_anything_was_started(tmp_path: Path) -> None:
    ran = askfirst("doctor", cwd=tmp_path)
    assert ran.code == 0, ran
    assert "there is none yet" in ran.out
    assert "no token" in ran.out


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"ASKFIRST_TELEGRAM__TOKEN": "123:wrong-token-of-somebody"}, "telegram token"),
        ({"ASKFIRST_TELEGRAM__BASE_URL": "http://127.0.0.1:9/bot"}, "telegram"),
        ({"ASKFIRST_TELEGRAM__TOKEN": "hello"}, "settings"),
        ({"ASKFIRST_ACCESS__ALLOW": '["telegram:@ana_t"]'}, "settings"),  # b16
        ({"ASKFIRST_PACK": "no-such"}, "packs"),
    ],
)
async def test_what_is_wrong_is_said_and_never_the_token(tmp_path: Path, more: dict[str, str], name: str) -> None:
    async with served(tmp_path, "polling") as (made, _):
        made.environment |= more
        code, said = await made.run("doctor", "--json")
        assert code == 1
        assert set(findings(said)) == {name}
        token = made.environment["ASKFIRST_TELEGRAM__TOKEN"].partition(":")[2]
        assert not token or token not in said
        assert "Traceback" not in said


async def test_a_webhook_that_is_not_ours_and_a_delivery_that_fails(tmp_path: Path) -> None:
    async with served(tmp_path, "polling") as (made, _):
        await made.server.call("setWebhook", url="https://elsewhere.example/hook")
        code, said = await made.run("doctor", "--json")
        assert code == 1
        assert "elsewhere.example" in findings(said)["telegram webhook"]


async def test_somebody_else_polls(tmp_path: Path) -> None:
    """Noticed also where no `serve` is running that could have been told."""
    async with served(tmp_path, "polling") as (made, _):
        made.server.updates.rival = True
        code, said = await made.run("doctor", "--json")
        assert code == 1
        assert "polls" in findings(said)["telegram second program"]


async def test_a_clock_that_is_wrong(tmp_path: Path) -> None:
    from adapters.telegram.doctor import examine

    class Late(SystemClock):
        def now(self) -> datetime:
            return super().now() - timedelta(minutes=5)

    async with served(tmp_path, "polling") as (made, _):
        base = made.environment["ASKFIRST_TELEGRAM__BASE_URL"]
        [clock] = [c for c in await examine(made.server.token, base, None, {}, Late()) if c.name == "clock"]
        assert clock.level == "finding"
        assert "behind" in clock.message


@pytest.mark.parametrize("damage", ["no database at all", "nothing may be written"])
async def test_a_database_that_can_not_be_used(tmp_path: Path, damage: str) -> None:
    async with served(tmp_path, "polling") as (made, _):
        if damage == "no database at all":
            made.database.write_text("a letter to somebody " * 100)
            code, said = await made.run("doctor", "--json")
        else:
            assert (await made.run("db", "upgrade"))[0] == 0
            with closing(sqlite3.connect(made.database, isolation_level=None)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                code, said = await made.run("doctor", "--json")
        assert code == 1
        assert "database" in findings(said)


# -- what was put aside --------------------------------------------------------------------------------------------


async def put_aside(made: Served, update: dict[str, Any], reason: str = "failed 3 times: KeyError") -> None:
    """As an older version left it."""
    key = f"telegram:parked:{made.server.me['id']}:{update['update_id']}"
    value = json.dumps({"reason": reason, "update": update})
    with closing(sqlite3.connect(made.database, isolation_level=None, timeout=10)) as connection:
        connection.execute("INSERT INTO kept (key, value) VALUES (?, ?)", (key, value))


async def test_an_update_is_handled_once_more_and_the_running_program_answers(tmp_path: Path) -> None:
    """b23: the answer is stored once, however often it is asked for; the echo is sent by the program that serves."""
    async with served(tmp_path, "polling") as (made, ana):
        await made.start()
        ana.say("lit-review this")
        await until(says(ana, "Literature review ·"), "the round")
        await until(made.all_sent, "the round, settled")
        update = {
            "update_id": 899_000_001,
            "message": {
                "message_id": 700,
                "date": int(SystemClock().now().timestamp()),
                "chat": ana.chat.json(),
                "from": ana.json(),
                "text": "2: A",
            },
        }
        await put_aside(made, update)
        made.server.updates.malformed()
        await until(lambda: len(made.rows("SELECT 1 FROM kept WHERE key LIKE 'telegram:parked:%'")) == 2, "both")
        code, said = await made.run("doctor")
        assert code == 1
        assert "FINDING put aside: 2 events" in said
        code, said = await made.run("parked", "--json")
        assert code == 0
        ids = [one["id"] for one in json.loads(said)]
        mended = next(one for one in ids if one.endswith("899000001"))
        code, said = await made.run("retry", mended)
        assert (code, "accepted" in said) == (0, True), said
        await until(says(ana, "Still open:"), "the echo")
        assert [chosen for _, chosen, _ in made.stored()] == ["A"]
        code, said = await made.run("retry", mended)
        assert (code, "there is no" in said) == (1, True)
        code, said = await made.run("retry", "--all")  # the other can still not be read, and stays
        assert (code, "unreadable" in said) == (1, True)
        assert len(made.stored()) == 1


async def test_an_event_that_the_core_failed_on_is_handled_once_more(tmp_path: Path) -> None:
    """b23: a bug of our own. It is kept, refused; after the upgrade the answer counts, once; a later word stands."""
    database = tmp_path / "askfirst.db"
    store = await open_store(str(database))
    try:
        decide = functools.partial(step, book=book())

        def failing(state: Any, envelope: Envelope) -> Any:
            if isinstance(envelope.event, MessageReceived) and envelope.event.text in ("2: A", "1: C"):
                raise ZeroDivisionError
            return decide(state, envelope)

        runner = Runner(store, failing, SystemClock())
        for number, words in enumerate(("lit-review this", "2: A", "1: C", "1: B")):
            event = MessageReceived(person=ANA, text=words, ref=MessageRef(id=f"{number}", quote=words))
            place = Place(conversation=ANA.id, platform="telegram")
            at = SystemClock().now()
            await runner.handle(Envelope(event_id=f"e{number}", place=place, at=at, event=event))
    finally:
        await store.close()
    env = {"ASKFIRST_DATABASE": str(database), "ASKFIRST_ACCESS__ALLOW": '["*"]'}
    assert {one["id"] for one in askfirst("parked", "--json", env=env).json()} == {"e1", "e2"}
    ran = askfirst("retry", "--all", "--json", env=env)
    assert (ran.code, {one["handled"] for one in ran.json()}) == (0, {True}), ran
    assert askfirst("parked", env=env).out == "nothing was put aside\n"
    assert askfirst("retry", "--all", env=env).out == "nothing was put aside\n"
    exported = askfirst("export", "--format", "json", env=env).json()
    assert {(e["topic"], e["chosen"]) for e in exported if e["topic"] == "Years to cover"} == {
        ("Years to cover", "B")
    }
    assert len(exported) == 2
    session = exported[0]["session"]
    assert askfirst("audit", "verify", env=env).code == 0
    assert session


def test_retry_wants_to_know_what(tmp_path: Path) -> None:
    assert askfirst("retry", cwd=tmp_path).code == 2
    assert askfirst("retry", "x", "--all", cwd=tmp_path).code == 2
