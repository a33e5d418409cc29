"""The installed `askfirst serve` on the strict fake of Slack: killed -9 in the middle, and beside Telegram."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from tests.e2e.serving import SLOWER, Serving, free_port, until
from tests.fakes.slack import Channel, Interaction, Person, SlackServer, WallClock
from tests.fakes.telegram import TelegramServer


class Served(Serving):
    def __init__(self, server: SlackServer, base: str, folder: Path, style: str) -> None:
        self.server = server
        server.slower = SLOWER
        port = free_port()
        given = {
            "SLACK__BOT_TOKEN": server.token,
            "SLACK__SIGNING_SECRET": server.app.signing_secret,
            "SLACK__BASE_URL": base,
            "ACCESS__ALLOW": '["slack:*", "telegram:*"]',
            "PACK": "research",
        }
        if style == "socket":
            given["SLACK__APP_TOKEN"] = server.app.app_token
        else:
            server.hooks.url = f"http://127.0.0.1:{port}/slack/events"
        super().__init__(folder, port, given)
        self.environment |= {
            "SLACK_CLIENT_ID": "of somebody else",
            "SLACK_CLIENT_SECRET": "switches Bolt to another way of working",
        }


@asynccontextmanager
async def served(folder: Path, style: str) -> AsyncIterator[tuple[Served, Person, Channel]]:
    server = SlackServer(WallClock())
    ana = server.person("Ana")
    async with server.serve() as base:
        made = Served(server, base, folder, style)
        delivering = asyncio.ensure_future(server.outgoing.run())
        try:
            yield made, ana, server.channel("triage", ana)
        finally:
            if made.process is not None and made.process.returncode is None:
                await made.stop(signal.SIGKILL)
            delivering.cancel()
            await asyncio.gather(delivering, return_exceptions=True)
    server.verify()
    assert not server.broadcasts
    assert not server.refused


def says(made: Served, channel: Channel, words: str) -> Callable[[], bool]:
    bot = made.server.me.bot.id
    return lambda: any(words in m.text for m in channel.messages.values() if m.user == bot)


@pytest.mark.parametrize("style", ["socket", "http"])
async def test_a_conversation_killed_in_the_middle(tmp_path: Path, style: str) -> None:
    """What is said while nobody is there is found in the thread's history (P58)."""
    async with served(tmp_path, style) as (made, ana, triage):
        await made.start()
        await made.ready()
        asked = ana.say("@askfirst I have an abstract and a set of papers.", triage)
        await until(says(made, triage, "What shall come out of it?"), "the menu")
        ana.press("b")
        await until(says(made, triage, "Literature review"), "the round")
        await until(made.all_sent, "the round, settled")
        await made.stop(signal.SIGKILL)
        ana.reply(asked, "1: B, 2: A")  # while nobody is there
        await made.start()
        await until(lambda: len(made.stored()) >= 2, "the answers")
        await made.stop(signal.SIGKILL)
        await made.start()
        await made.ready()
        ana.reply(asked, "accept recommendations")
        await until(says(made, triage, "Handed to"), "the end")
        await until(lambda: made.server.called("files.completeUploadExternal"), "the documents")
        assert await made.stop() == 0
        stored = made.stored()
        assert len(stored) == 5
        assert {via for _, _, via in stored} == {"user_response", "accept_recommendations_bulk"}
        posted = [c.args["text"] for c in made.server.called("chat.postMessage")]
        assert sum("Literature review ·" in text for text in posted) == 1
        log = made.log.read_text()
        for secret in (made.server.token, made.server.app.signing_secret, made.server.app.app_token):
            assert secret not in log
        assert "Traceback" not in log


async def test_a_round_answered_in_a_form(tmp_path: Path) -> None:
    async with served(tmp_path, "socket") as (made, ana, _):
        await made.start()
        await made.ready()
        ana.say("lit-review this")
        await until(says(made, ana.dm, "Literature review"), "the round")
        ana.press("Answer in a form")
        await until(lambda: ana.modals, "the form")
        ana.choose("B", of="q1.pick")
        ana.type_in("but not older", of="q1.note")
        ana.submit()
        await until(lambda: not ana.modals, "the form's end")
        await until(made.stored, "the answer")
        assert made.stored()[0][1:] == ("B", "user_response")
        assert await made.stop() == 0


async def test_a_trigger_that_has_expired_on_the_way_costs_a_second_press(tmp_path: Path) -> None:
    """P60. Slack refuses the form; the words about it are for the presser only, and the next press opens it."""
    async with served(tmp_path, "http") as (made, ana, triage):
        await made.start()
        await made.ready()
        ana.say("@askfirst lit-review this", triage)
        await until(says(made, triage, "Literature review"), "the round")
        await until(made.all_sent, "the round, settled")
        on_its_way_for(ana.press("Answer in a form"), seconds=4 * SLOWER)
        await until(says(made, triage, "press it once more"), "the words about it")
        assert [call.error for call in made.server.called("views.open")] == ["expired_trigger_id"]
        assert [m.only_to for m in triage.messages.values() if "press it once more" in m.text] == [ana.id]
        assert not ana.modals
        ana.press("Answer in a form")
        await until(lambda: ana.modals, "the form")
        ana.choose("B", of="q1.pick")
        ana.submit()
        await until(made.stored, "the answer")
        assert made.stored()[0][1:] == ("B", "user_response")
        assert await made.stop() == 0
        made.server.calls.clear()  # with the refusal that this is about


def on_its_way_for(press: Interaction | None, *, seconds: float) -> None:
    """The press reaches the program that long after it was made; its trigger lives three seconds from then on."""
    assert press is not None
    trigger = press.trigger

    def started() -> None:
        trigger.at = WallClock().now() - timedelta(seconds=seconds)

    press.delivery.starts = started


async def test_people_of_another_organisation(tmp_path: Path) -> None:
    """Slack Connect, RD-12: nobody from outside answers unless the channel says so; then by a form as well."""
    async with served(tmp_path, "socket") as (made, ana, triage):
        server = made.server
        eve = server.person("Eve", team=server.workspace("Gamma", installed=False))
        triage.shared_with.append(eve.team.id)
        eve.join(triage)
        await made.start()
        await made.ready()
        ana.say("@askfirst lit-review this with @eve", triage)
        await until(says(made, triage, "Literature review"), "the round")
        await until(made.all_sent, "the round, settled")
        eve.press("B")
        await until(says(made, triage, "from outside"), "the refusal")
        assert [m.only_to for m in triage.messages.values() if "from outside" in m.text] == [eve.id]
        assert made.stored() == []
        ana.command("/askfirst", "settings outsiders on", triage)
        await until(says(made, triage, "People from outside may answer too"), "the setting")
        eve.press("Answer in a form")
        await until(lambda: eve.modals, "the form")
        eve.choose("B", of="q1.pick")
        eve.submit()
        await until(made.stored, "the answer by the form")
        assert {who for (who,) in made.rows("SELECT answered_by FROM clarification")} == {f"slack:{eve.id}"}
        assert await made.stop() == 0
        assert "Traceback" not in made.log.read_text()


async def test_beside_telegram_in_one_process(tmp_path: Path) -> None:
    telegram = TelegramServer(WallClock(), local=True)
    async with telegram.serve() as base, served(tmp_path, "http") as (made, ana, _):
        made.environment |= {"ASKFIRST_TELEGRAM__TOKEN": telegram.token, "ASKFIRST_TELEGRAM__BASE_URL": base}
        ben = telegram.person("Ben", username="ben_t", started=True)
        await made.start()
        state = await made.ready()
        assert state["slack"]["by"] == "http"
        assert state["telegram"]["by"] == "polling"
        ana.say("lit-review this")
        ben.say("lit-review this")
        await until(says(made, ana.dm, "Literature review"), "the round in Slack")
        await until(lambda: any("Literature" in m.text for m in ben.chat.messages.values() if m.mine), "in Telegram")
        assert await made.stop() == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"ASKFIRST_SLACK__BOT_TOKEN": ""}, "nothing to serve"),
        ({"ASKFIRST_SLACK__BOT_TOKEN": "hello"}, "no bot token"),
        ({"ASKFIRST_SLACK__BOT_TOKEN": "xoxb-wrong"}, "refuses the bot token"),
        ({"ASKFIRST_SLACK__APP_TOKEN": "xoxb-1"}, "no app-level token"),
        ({"ASKFIRST_SLACK__SIGNING_SECRET": "", "ASKFIRST_SLACK__APP_TOKEN": ""}, "needs a way to be heard"),
        ({"ASKFIRST_SLACK__EVERY_MESSAGE": '["#triage"]'}, "is no id"),
    ],
)
async def test_what_can_not_work_is_said_and_never_the_token(
    tmp_path: Path, more: dict[str, str], words: str
) -> None:
    server = SlackServer(WallClock())
    async with server.serve() as base:
        made = Served(server, base, tmp_path, "http")
        made.environment |= more
        await made.start()
        assert made.process is not None
        assert await asyncio.wait_for(made.process.wait(), 30) == 1
        log = made.log.read_text()
        assert words in log
        assert "Traceback" not in log
        assert server.token not in log


async def test_a_stop_during_the_start_is_a_stop(tmp_path: Path) -> None:
    """Slack can not be reached; the program still ends when asked to."""
    made = Served(SlackServer(WallClock()), f"http://127.0.0.1:{free_port()}/api/", tmp_path, "http")
    await made.start()
    await until(lambda: made.log.exists() and "slack_unreachable" in made.log.read_text(), "a failed try")
    assert await made.stop() == 0


async def test_a_platform_that_can_not_be_reached_holds_up_none_of_the_others(tmp_path: Path) -> None:
    """And it is served as soon as it answers."""
    telegram = TelegramServer(WallClock(), local=True)
    server, port = SlackServer(WallClock()), free_port()
    async with telegram.serve() as base:
        made = Served(server, f"http://127.0.0.1:{port}/api/", tmp_path, "http")
        made.environment |= {"ASKFIRST_TELEGRAM__TOKEN": telegram.token, "ASKFIRST_TELEGRAM__BASE_URL": base}
        ben, ana = telegram.person("Ben", username="ben_t", started=True), server.person("Ana")
        await made.start()
        try:
            ben.say("lit-review this")
            await until(lambda: any("Literature" in m.text for m in ben.chat.messages.values() if m.mine), "a round")
            assert "slack_unreachable" in made.log.read_text()
            assert (await made.ready(code=503))["slack"] == {"ready": False, "state": "not reached yet"}
            async with server.serve(port):
                delivering = asyncio.ensure_future(server.outgoing.run())
                assert "slack" in await made.ready()
                ana.say("lit-review this")
                await until(says(made, ana.dm, "Literature review"), "the round in Slack")
                ben.say("1: A")
                await until(made.stored, "the answer in Telegram")
                assert await made.stop() == 0
                delivering.cancel()
                await asyncio.gather(delivering, return_exceptions=True)
        finally:
            if made.process is not None and made.process.returncode is None:
                await made.stop(signal.SIGKILL)
    assert "Traceback" not in made.log.read_text()
