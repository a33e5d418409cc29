"""The installed `askfirst serve` on the fake Bot API server: killed -9 in the middle, and stopped politely."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import httpx
import pytest

from tests.e2e.serving import SECRET, free_port, mine, says, served, until


@pytest.mark.parametrize("style", ["polling", "webhook"])
async def test_a_conversation_killed_in_the_middle(tmp_path: Path, style: str) -> None:
    async with served(tmp_path, style) as (made, ana):
        await made.start()
        ana.say("I have an abstract and a set of papers.")
        await until(says(ana, "What shall come out of it?"), "the menu")
        ana.press("b")
        await until(says(ana, "Literature review"), "the round")
        # Killed before it knew that the card had arrived, it would post it again, after the words that answer it.
        await until(made.all_sent, "the round, settled")
        await made.stop(signal.SIGKILL)
        ana.say("1: B, 2: A")  # while nobody is there
        await made.start()
        await until(lambda: len(made.stored()) >= 2, "the answers")
        await made.stop(signal.SIGKILL)
        await made.start()
        ana.say("accept recommendations")
        await until(says(ana, "Handed to"), "the end")
        await until(lambda: made.server.history.of("sendDocument"), "the documents")
        assert await made.stop() == 0
        stored = made.stored()
        assert len(stored) == 5
        assert {via for _, _, via in stored} == {"user_response", "accept_recommendations_bulk"}
        assert sum("Literature review ·" in text for text in mine(ana)) == 1
        log = made.log.read_text()
        assert made.server.token.partition(":")[2] not in log
        assert SECRET not in log
        assert "Traceback" not in log


async def test_it_says_how_it_is_and_stops_when_asked(tmp_path: Path) -> None:
    async with served(tmp_path, "webhook") as (made, _):
        await made.start()
        state = await made.ready()
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{made.port}", trust_env=False) as client:
            assert state["ok"]
            assert state["telegram"]["by"] == "webhook"
            assert state["telegram"]["privacy_mode"] is True
            assert (await client.get("/healthz")).json() == {"ok": True}
            assert (await client.post("/telegram/webhook", json={})).status_code == 401
        await until(lambda: ("group", "de") in made.menus(), "the menus")
        names = [command["command"] for command in made.menus()["private", ""]]
        assert {"help", "status", "cancel", "ars_lit_review"} <= set(names)
        assert await made.stop() == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"ASKFIRST_TELEGRAM__TOKEN": ""}, "nothing to serve"),
        ({"ASKFIRST_TELEGRAM__TOKEN": "hello"}, "no bot token"),
        ({"ASKFIRST_TELEGRAM__TOKEN": "123:wrong"}, "refuses the bot token"),
        ({"ASKFIRST_TELEGRAM__WEBHOOK_URL": "https://x.example"}, "needs a secret"),
        ({"ASKFIRST_TELEGRAM__BASE_URL": "http://127.0.0.1:1"}, "end in /bot"),
    ],
)
async def test_what_can_not_work_is_said_and_never_the_token(
    tmp_path: Path, more: dict[str, str], words: str
) -> None:
    """Never with the token in it. b44: no webhook without a secret."""
    async with served(tmp_path, "polling") as (made, _):
        made.environment |= more
        await made.start()
        assert made.process is not None
        assert await asyncio.wait_for(made.process.wait(), 30) == 1
        log = made.log.read_text()
        assert words in log
        assert "Traceback" not in log
        token = made.environment["ASKFIRST_TELEGRAM__TOKEN"]
        assert not token or token not in log


async def test_a_name_that_is_not_found_at_the_start(tmp_path: Path) -> None:
    """It is said in words and tried again; whoever watches is told; the program still ends when asked to."""
    async with served(tmp_path, "polling") as (made, _):
        made.port = free_port()
        made.environment["ASKFIRST_HTTP__PORT"] = str(made.port)
        made.environment["ASKFIRST_TELEGRAM__BASE_URL"] = "http://bot-api.invalid/bot"  # never found: RFC 2606
        await made.start()
        assert (await made.ready(code=503))["telegram"] == {"ready": False, "state": "not reached yet"}
        assert "the name of the host is not found" in made.log.read_text()
        assert made.process is not None
        assert made.process.returncode is None
        assert await made.stop() == 0
