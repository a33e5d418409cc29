"""`askfirst doctor`, `parked` and `retry` for Slack, on the strict fake."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.installed import askfirst
from tests.e2e.test_serve_slack import Served, says, served, until
from tests.fakes.slack.table import SCOPES


async def run(made: Served, *arguments: str) -> tuple[int, str]:
    """Another command beside the one that serves."""
    ran = await asyncio.to_thread(askfirst, *arguments, cwd=made.database.parent, env=made.environment)
    assert "Traceback" not in ran.err
    return ran.code, ran.out


def of(said: str, level: str) -> dict[str, str]:
    return {c["name"]: f"{c['message']} {c['fix'] or ''}" for c in json.loads(said)["checks"] if c["level"] == level}


@pytest.mark.parametrize("style", ["socket", "http"])
async def test_all_is_well(tmp_path: Path, style: str) -> None:
    async with served(tmp_path, style) as (made, ana, _):
        made.server.me.scopes = set(SCOPES)
        await made.start()
        await made.ready()
        ana.say("lit-review this")
        await until(says(made, ana.dm, "Literature review"), "the round")
        code, said = await run(made, "doctor", "--json")
        assert (code, of(said, "finding")) == (0, {}), said
        heard = {"socket": "slack socket", "http": "slack address"}[style]
        assert {"slack token", "slack scopes", "slack messages tab", heard} <= set(of(said, "ok"))
        ana.say("1: B")  # looking has taken nobody's place on the socket
        await until(lambda: len(made.stored()) == 1, "an answer")
        assert await made.stop() == 0


@pytest.mark.parametrize(
    ("style", "more", "name", "words"),
    [
        ("socket", {"ASKFIRST_SLACK__BOT_TOKEN": "xoxb-of-somebody-else"}, "slack token", "invalid_auth"),
        ("socket", {"ASKFIRST_SLACK__APP_TOKEN": "xapp-of-somebody-else"}, "slack socket", "connections:write"),
        ("http", {"ASKFIRST_SLACK__SIGNING_SECRET": "of-somebody-else"}, "slack address", "signing secret"),
        ("socket", {"ASKFIRST_SLACK__BASE_URL": "http://127.0.0.1:9/api/"}, "slack", "does not answer"),
    ],
)
async def test_what_is_wrong_is_said_and_never_the_token(
    tmp_path: Path, style: str, more: dict[str, str], name: str, words: str
) -> None:
    async with served(tmp_path, style) as (made, _, _):
        made.server.me.scopes = set(SCOPES)
        await made.start()
        await made.ready()
        made.environment |= more
        code, said = await run(made, "doctor", "--json")
        assert code == 1
        assert set(of(said, "finding")) == {name}, said
        assert words in of(said, "finding")[name]
        for secret in ("ASKFIRST_SLACK__BOT_TOKEN", "ASKFIRST_SLACK__APP_TOKEN", "ASKFIRST_SLACK__SIGNING_SECRET"):
            assert made.environment.get(secret, "no secret") not in said
        assert await made.stop() == 0
        assert {call.method for call in made.server.refused} <= {"auth.test", "apps.connections.open"}
        made.server.calls.clear()  # refused on purpose


async def test_permissions_that_are_missing_are_named(tmp_path: Path) -> None:
    async with served(tmp_path, "socket") as (made, _, _):
        made.server.me.scopes = set(SCOPES) - {"im:history", "usergroups:read"}
        code, said = await run(made, "doctor", "--json")
        assert code == 1
        assert "im:history, usergroups:read" in of(said, "finding")["slack scopes"]


async def test_b46_writing_that_is_switched_off_is_named_with_the_switch(tmp_path: Path) -> None:
    """CH-5. Buttons in direct messages and never a word: Slack itself does not tell."""
    async with served(tmp_path, "socket") as (made, ana, _):
        made.server.me.scopes = set(SCOPES)
        await made.start()
        await made.ready()
        ana.shortcut("ask_for")
        await until(lambda: ana.modals, "the form")
        ana.type_in("lit-review this", of="words")
        ana.submit()
        await until(says(made, ana.dm, "Literature review"), "the round")
        await until(lambda: not ana.modals, "the form closed")
        ana.press("Answer in a form")
        await until(lambda: ana.modals, "the round as a form")
        code, said = await run(made, "doctor", "--json")
        assert code == 1
        assert "Allow users to send" in of(said, "finding")["slack messages tab"], said
        ana.say("2: A")
        await until(made.stored, "the words")
        code, said = await run(made, "doctor", "--json")
        assert (code, of(said, "finding")) == (0, {}), said
        assert await made.stop() == 0


async def test_what_was_put_aside_is_listed_and_taken_in_once_more(tmp_path: Path) -> None:
    """b23 for Slack: the answer counts once, and what can still not be read stays."""
    async with served(tmp_path, "socket") as (made, ana, triage):
        made.server.me.scopes = set(SCOPES)
        await made.start()
        await made.ready()
        asked = ana.say("@askfirst lit-review this", triage)
        await until(says(made, triage, "Literature review"), "the round")
        body = {
            "type": "event_callback",
            "team_id": made.server.team.id,
            "event_id": "Ev0PARKED1",
            "event": {
                "type": "message",
                "channel": triage.id,
                "channel_type": "channel",
                "user": ana.id,
                "text": "1: B",
                "ts": f"{int(asked.ts.partition('.')[0]) + 1}.000900",
                "thread_ts": asked.ts,
            },
        }
        odd = {**body, "event_id": "Ev0ODD0001", "event": {**body["event"], "ts": "soon"}}  # type: ignore[dict-item]
        put_aside(made, body)
        put_aside(made, odd)
        code, said = await run(made, "doctor")
        assert code == 1
        assert "FINDING put aside: 2 events" in said
        code, said = await run(made, "parked", "--json")
        assert {one["id"] for one in json.loads(said)} == {"slack:Ev0PARKED1", "slack:Ev0ODD0001"}
        code, said = await run(made, "retry", "--all", "--json")
        assert code == 1
        assert {one["id"]: one["handled"] for one in json.loads(said)} == {
            "slack:Ev0PARKED1": True,
            "slack:Ev0ODD0001": False,
        }, said
        assert [row[1] for row in made.stored()] == ["B"]
        code, said = await run(made, "parked", "--json")
        assert {one["id"] for one in json.loads(said)} == {"slack:Ev0ODD0001"}
        assert await made.stop() == 0


def put_aside(made: Served, body: dict[str, Any]) -> None:
    """As an older version left it."""
    value = json.dumps({"reason": "unreadable: KeyError", "body": body})
    with closing(sqlite3.connect(made.database, isolation_level=None, timeout=10)) as connection:
        connection.execute("INSERT INTO kept (key, value) VALUES (?, ?)", (f"slack:parked:{body['event_id']}", value))
