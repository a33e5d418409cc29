"""The installed `askfirst serve` while things go wrong: Telegram, the network, the database, the process itself."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import httpx
import pytest

from tests.e2e.serving import BUSY, SECRET, Served, free_port, mine, says, served, until
from tests.fakes.postgres import PostgresServer
from tests.fakes.telegram import Person

STYLES = pytest.mark.parametrize("style", ["polling", "webhook"])
HEADER = {"X-Telegram-Bot-Api-Secret-Token": SECRET}


def round_cards(ana: Person) -> list[str]:
    return [text for text in mine(ana) if "Literature review ·" in text]


async def asked(made: Served, ana: Person) -> None:
    """The round is on the table, and the program knows that it is."""
    await made.start()
    ana.say("lit-review this")
    await until(lambda: round_cards(ana), "the round")
    await until(made.all_sent, "the round, settled")


@asynccontextmanager
async def locked(database: Path) -> AsyncIterator[None]:
    """Another program holds the write lock: our commits wait, and then fail."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")


@STYLES
async def test_killed_between_sending_and_settling(tmp_path: Path, style: str) -> None:
    """P26, RP-7: the answer to the first copy counts, whichever of answer and second copy is seen first."""
    async with served(tmp_path, style) as (made, ana):
        await made.start()
        gate = made.server.faults.hold(method="sendMessage", taken=True)
        ana.say("lit-review this")
        await asyncio.wait_for(gate.reached(), BUSY)  # Telegram has it; the program does not know
        assert len(round_cards(ana)) == 1
        await made.stop(signal.SIGKILL)
        gate.open()
        ana.say("1: B, 2: A")
        await made.start()
        await until(lambda: len(made.stored()) == 2, "the answers")
        await until(lambda: len(round_cards(ana)) == 2, "the second copy")
        await until(made.all_sent, "everything sent")
        assert [(chosen, via) for _, chosen, via in made.stored()] == [("B", "user_response"), ("A", "user_response")]
        assert not says(ana, "crossed")()


@STYLES
async def test_a_conversation_through_every_kind_of_trouble(tmp_path: Path, style: str) -> None:
    """429, 5xx, garbage, dropped connections before and after, a refused format: nothing lost, nothing invented."""
    async with served(tmp_path, style) as (made, ana):
        faults = made.server.faults
        await asked(made, ana)
        faults.limit(1, method="sendMessage")
        faults.fail(502, method="editMessageText")
        faults.fail(409, method="getUpdates")
        ana.say("1: B")
        await until(lambda: len(made.stored()) == 1, "the first answer")
        faults.lose(method="sendMessage", taken=False)
        faults.lose(method="getUpdates", taken=True)
        faults.garbage(method="editMessageText")
        ana.say("2: A")
        await until(lambda: len(made.stored()) == 2, "the second answer")
        faults.fail(400, "Bad Request: can't parse entities: byte offset 7", method="sendMessage")
        faults.fail(500, method="sendDocument")
        faults.lose(method="sendMessage", taken=True)
        ana.say("accept recommendations")
        await until(says(ana, "Handed to"), "the end")
        await until(lambda: len(made.server.history.of("sendDocument")) >= 3, "the documents")
        await until(made.all_sent, "everything sent")
        assert await made.stop() == 0
        stored = made.stored()
        assert len(stored) == 5
        assert [chosen for _, chosen, _ in stored[:2]] == ["B", "A"]
        log = made.log.read_text()
        assert made.server.token.partition(":")[2] not in log
        assert "Traceback" not in log


async def test_killed_again_and_again(tmp_path: Path) -> None:
    """Ten kills at arbitrary moments of a conversation: five answers, each of them once."""
    async with served(tmp_path, "polling") as (made, ana):
        await asked(made, ana)
        for number, words in enumerate(("1: B", "2: A", "3: A", "4: A", "5: A")):
            ana.say(words)
            await asyncio.sleep(0.05 * number)  # a different moment each time; what is waited for comes below
            await made.stop(signal.SIGKILL)
            await made.start()
            await until(lambda n=number: len(made.stored()) >= n + 1, f"answer {number + 1}")  # type: ignore[misc]
            await made.stop(signal.SIGKILL)
            await made.start()
        await until(says(ana, "Handed to"), "the end")
        assert [chosen for _, chosen, _ in made.stored()] == ["B", "A", "A", "A", "A"]
        assert made.rows("SELECT count(*) FROM clarification_history") == [(0,)]
        assert await made.stop() == 0
        code, said = await made.run("audit", "verify")
        assert (code, "whole" in said) == (0, True)


async def test_blocked_by_the_person(tmp_path: Path) -> None:
    """CH-7: 403 ends the tries; doctor tells; unblocked, the round is offered again."""
    async with served(tmp_path, "polling") as (made, ana):
        await asked(made, ana)
        ana.block()
        await until(lambda: made.rows("SELECT 1 FROM audit WHERE event = 'delivery.failed'"), "the loss")
        code, said = await made.run("doctor")
        assert code == 1
        assert "FINDING undelivered" in said
        assert "the person has blocked the bot" in said
        ana.unblock()
        await until(says(ana, "I can write here again."), "the round, again")
        await until(made.all_sent, "everything sent")
        code, said = await made.run("doctor")
        assert (code, "FINDING" in said) == (0, False), said
        assert not [c for c in made.server.history.calls if c.code == 403]


async def test_no_200_while_the_store_can_not_be_written(tmp_path: Path) -> None:
    """The delivery is refused, /readyz says so, and when the store is back the same update is stored once."""
    async with served(tmp_path, "webhook") as (made, ana):
        await asked(made, ana)
        await made.ready()
        async with locked(made.database):
            ana.say("1: B")
            attempts = made.server.webhook.attempts
            before = len(attempts)
            await until(lambda: len(attempts) > before, "a refused delivery")
            assert attempts[before].status == 503
            assert not (await made.ready(code=503))["database"]
            assert made.stored() == []
        await until(lambda: len(made.stored()) == 1, "the answer")
        assert (await made.ready())["ok"]
        assert attempts[-1].status == 200


async def test_what_is_under_way_at_sigterm_is_finished(tmp_path: Path) -> None:
    """A delivery that waits for the store when the signal comes is written and confirmed; then the program ends."""
    async with served(tmp_path, "webhook") as (made, ana):
        await asked(made, ana)
        await made.ready()
        made.server.webhook.answer_with(None)
        update = {
            "update_id": 999_000_001,
            "message": {
                "message_id": 900,
                "date": 1_790_000_000,
                "chat": ana.chat.json(),
                "from": ana.json(),
                "text": "1: B",
            },
        }
        async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
            async with locked(made.database):
                url = f"http://127.0.0.1:{made.port}/telegram/webhook"
                delivery = asyncio.ensure_future(client.post(url, json=update, headers=HEADER))
                # The socket is read once the update is under way: the program has nothing else to wait for.
                await until(lambda: made.log.exists(), "the log")
                done, _ = await asyncio.wait({delivery}, timeout=1.0)
                assert not done
                assert made.process is not None
                made.process.send_signal(signal.SIGTERM)
                await until(lambda: "stopping" in made.log.read_text(), "the signal, heard")
            assert (await delivery).status_code == 200
        assert await made.stop() == 0
        assert [chosen for _, chosen, _ in made.stored()] == ["B"]


async def test_asked_to_stop_under_load(tmp_path: Path) -> None:
    """Within its bound, with 0: what was confirmed is stored, and what was not sent goes out after the next start."""
    async with served(tmp_path, "polling") as (made, ana):
        people = [ana, *(made.server.person(f"Ben{n}", started=True) for n in range(24))]
        for one in people:
            one.say("lit-review this")
        gate = made.server.faults.hold(method="sendMessage", taken=True)
        await made.start()
        await asyncio.wait_for(gate.reached(), BUSY)
        assert made.process is not None
        made.process.send_signal(signal.SIGTERM)
        await until(lambda: "stopping" in made.log.read_text(), "the signal, heard")
        gate.open()
        assert await made.stop() == 0
        confirmed = len(made.server.updates.log) - len(made.server.updates.pending)
        assert made.rows("SELECT count(*) FROM event WHERE kind = 'message'")[0][0] >= confirmed
        waiting = made.rows("SELECT count(*) FROM outbox WHERE state = 'waiting'")[0][0]
        said = sum(len(round_cards(one)) for one in people)
        await made.start()
        await until(lambda: made.log.read_text().count("event='serving'") == 2, "the second start")
        await until(lambda: all(round_cards(one) for one in people), "everybody's round")
        await until(made.all_sent, "everything sent")
        assert await made.stop() == 0
        assert [len(round_cards(one)) for one in people] == [1] * len(people)
        assert (said, said + waiting > 0) == (min(said, len(people)), True)
        assert "Traceback" not in made.log.read_text()


async def test_telegram_is_down_for_a_while(tmp_path: Path) -> None:
    """Connections are refused: both loops wait, /readyz tells, and afterwards everything comes, in order and once."""
    async with served(tmp_path, "polling") as (made, ana):
        port, made.port = free_port(), free_port()
        made.environment["ASKFIRST_HTTP__PORT"] = str(made.port)
        async with made.server.serve(port) as base:
            made.environment["ASKFIRST_TELEGRAM__BASE_URL"] = base
            await asked(made, ana)
            ana.say("accept recommendations")
            await until(lambda: len(made.stored()) == 5, "the answers")
        await until(
            lambda: made.rows("SELECT 1 FROM outbox WHERE state = 'waiting' AND attempts > 0"), "failed tries"
        )
        # A server that closes may first answer the poll under way as another poller's.
        state = (await made.ready(code=503, telegram="unreachable"))["telegram"]
        assert state["ready"] is False
        ana.say("/status")
        async with made.server.serve(port):
            await until(says(ana, "Handed to"), "the end")
            await until(
                lambda: made.rows("SELECT 1 FROM event WHERE envelope LIKE '%/status%'"), "what was said meanwhile"
            )
            await until(made.all_sent, "everything sent")
            assert (await made.ready())["ok"]
            assert await made.stop() == 0
        ends = [text for text in mine(ana) if "Handed to" in text or "Done: 5 answers" in text]
        assert [text.split()[0] for text in ends] == ["Done:", "Handed"]
        assert not made.rows("SELECT 1 FROM outbox WHERE state = 'given_up'")


async def test_postgresql_is_started_anew_meanwhile(tmp_path: Path, postgres: PostgresServer) -> None:
    """The process goes on: what is said while the database is away is stored when it is back, once."""
    async with served(tmp_path, "polling") as (made, ana):
        made.port = free_port()
        made.environment |= {
            "ASKFIRST_HTTP__PORT": str(made.port),
            "ASKFIRST_DATABASE": await postgres.new_database(),
        }
        await made.start()
        ana.say("lit-review this")
        await until(lambda: round_cards(ana), "the round")
        await asyncio.to_thread(postgres.stop, signal.SIGQUIT)
        try:
            ana.say("1: B, 2: A")
            assert not (await made.ready(code=503))["database"]
        finally:
            await asyncio.to_thread(postgres.start)
        await until(says(ana, "Still open"), "the echo")
        assert (await made.ready())["ok"]
        assert len([text for text in mine(ana) if "Still open" in text]) == 1
        assert await made.stop() == 0
        assert "Traceback" not in made.log.read_text()


async def test_a_second_poller(tmp_path: Path) -> None:
    """P27: said in the chat's /status and by doctor; it goes on by itself when the other has gone."""
    async with served(tmp_path, "polling") as (made, ana):
        await asked(made, ana)
        made.server.updates.rival = True
        made.server.updates.interrupt("terminated by other getUpdates request")
        await until(lambda: made.rows("SELECT 1 FROM kept WHERE key LIKE 'telegram:conflict:%'"), "the conflict")
        code, said = await made.run("doctor", "--json")
        assert code == 1
        assert "polls Telegram with this bot's token" in said
        made.server.updates.rival = False
        ana.say("/status")
        await until(says(ana, "polls Telegram with this bot's token"), "the status")


async def test_no_token_in_any_log(tmp_path: Path) -> None:
    """httpx logs addresses, and its errors hold them: neither a refused call nor an unreachable host shows it."""
    async with served(tmp_path, "polling") as (made, ana):
        made.environment["PYTHONASYNCIODEBUG"] = "1"  # as chatty as it gets
        faults = made.server.faults
        faults.lose(method="getMe", taken=False)
        faults.garbage(method="getMe")
        faults.fail(500, method="deleteWebhook")
        faults.garbage(method="getUpdates")
        faults.lose(method="sendMessage", taken=False)
        await asked(made, ana)
        faults.fail(401, method="sendMessage")
        ana.say("1: B")
        await until(lambda: len(made.stored()) == 1, "the answer")
        await until(lambda: made.server.history.of("sendMessage")[-1].code == 200, "the echo")
        assert await made.stop() == 0
        secret = made.server.token.partition(":")[2]
        assert secret not in made.log.read_text()
        _, said = await made.run("doctor")
        assert secret not in said
