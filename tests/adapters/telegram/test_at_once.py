"""P19–P21, P25: people, taps and texts at once, over the real SQLite store: right by the store, not by memory."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.core.codec import encode_state
from bot.core.state import Conversation
from bot.core.step import step
from storage import open_store
from storage.readers import events
from storage.records import RecordStore
from storage.verify import verify
from tests.adapters.telegram.talking import book, core
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Chat, TelegramServer
from tests.fakes.telegram import Message as Shown
from tests.fakes.telegram_rig import HOOK, SECRET, Rig, rig

HEADER = {"X-Telegram-Bot-Api-Secret-Token": SECRET}


@asynccontextmanager
async def workers(server: TelegramServer, database: Path, count: int) -> AsyncIterator[list[Rig]]:
    """Each with a store, a cache and a queue of its own: nothing is shared but the file and Telegram."""
    async with AsyncExitStack() as stack:
        made = []
        for _ in range(count):
            store = await open_store(str(database))
            stack.push_async_callback(store.close)
            server.clock.advance(2)  # setWebhook: at most one a second
            made.append(await stack.enter_async_context(rig(server, store, style="webhook", decide=core())))
        yield made


async def delivered(rigs: list[Rig], updates: list[Any]) -> None:
    """All of them at once, to whichever worker; what is refused is delivered again, as Telegram does."""
    turn = itertools.cycle(rigs)

    async def post(update: Any) -> None:
        for _ in range(20):
            made = next(turn)
            async with httpx.AsyncClient(transport=httpx.ASGITransport(made.app)) as client:
                if (await client.post(HOOK, json=update, headers=HEADER)).status_code == 200:
                    return
        raise AssertionError("never taken")

    await asyncio.gather(*(post(update) for update in updates))
    for made in rigs:
        await made.intake.finish()


def card_of(chat: Chat) -> Shown:
    return next(m for m in reversed(chat.messages.values()) if m.mine and "Literature review ·" in m.text)


async def clarified(store: RecordStore) -> dict[str, tuple[str, str, int]]:
    async with store.snapshot() as snapshot:
        found = [row async for row in snapshot.clarifications()]
    assert len({row["question"] for row in found}) == len(found)
    return {row["question"]: (row["chosen"], row["answered_by"], row["revision"]) for row in found}


async def folded(store: RecordStore, conversation: str) -> Conversation | None:
    state: Conversation | None = None
    async for event in events(store, conversation):
        state = step(state, event.envelope, book()).state
    return state


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("seed", range(3))
async def test_twelve_people_answer_one_round_at_once(tmp_path: Path, count: int, seed: int) -> None:
    """RD-12, RD-14: the first valid answer of each question stands; every tap is answered; redelivery is nothing."""
    server = TelegramServer(ManualClock(auto=True), privacy=False)
    people = [server.person(f"P{n}", started=True) for n in range(12)]
    group = server.supergroup("Triage", *people)
    async with workers(server, tmp_path / "askfirst.db", count) as rigs:
        people[0].say("@askfirst_bot lit-review this", group)
        await rigs[0].settle()
        card = card_of(group)
        queries = []
        for number, person in enumerate(people):
            if number % 3 == 0:
                queries += [person.press("B ✅", card), person.press("B ✅", card)]  # a double tap
            elif number % 3 == 1:
                person.say("1: B, 2: A", group)
            else:
                person.reply(card, "3: A")
        acts = [update.json() for update in server.updates.log[1:]]
        acts += random.Random(seed).sample(acts, 10)  # delivered again
        random.Random(seed).shuffle(acts)
        await delivered(rigs, acts)
        for made in rigs:
            await made.outbox.drain()
        store = rigs[0].store
        place = f"telegram:{group.id}"
        stored = await clarified(store)
        assert {question: chosen for question, (chosen, _, _) in stored.items()} == {
            "years": "B",
            "databases": "A",
            "access": "A",
        }
        assert {revision for _, _, revision in stored.values()} == {1}
        answers = [call.params for call in server.history.of("answerCallbackQuery")]
        told = {str(answer["callback_query_id"]) for answer in answers if answer.get("text")}
        assert {query.id for query in queries} <= told
        if count == 1:
            assert len(answers) == len(queries)
        assert await verify(store) == []
        fresh = await open_store(str(tmp_path / "askfirst.db"))
        try:
            kept, again = await fresh.load(place), await folded(fresh, place)
        finally:
            await fresh.close()
        assert kept is not None
        assert again is not None
        assert encode_state(kept) == encode_state(again)


@pytest.mark.parametrize("count", [1, 2])
async def test_two_that_differ_are_not_overwritten(tmp_path: Path, count: int) -> None:
    """RD-12: whichever came first stands; the other is a conflict for the requester, whatever worker saw it."""
    server = TelegramServer(ManualClock(auto=True), privacy=False)
    ana, ben, kim = (server.person(name, started=True) for name in ("Ana", "Ben", "Kim"))
    group = server.supergroup("Triage", ana, ben, kim)
    async with workers(server, tmp_path / "askfirst.db", count) as rigs:
        ana.say("@askfirst_bot lit-review this", group)
        await rigs[0].settle()
        card = card_of(group)
        ben.reply(card, "1: A")
        kim.press("C", card)
        await delivered(rigs, [update.json() for update in server.updates.log[-2:]])
        for made in rigs:
            await made.outbox.drain()
        chosen, by, revision = (await clarified(rigs[0].store))["years"]
        assert (chosen, by) in {("A", f"telegram:{ben.id}"), ("C", f"telegram:{kim.id}")}
        assert revision == 1
        told = "\n".join(m.text for m in group.messages.values() if m.mine)
        assert "differ" in told or "Keep" in str([m.labels for m in group.messages.values() if m.mine])


async def test_taps_after_a_restart_and_texts_that_overtake_them(tmp_path: Path) -> None:
    """The second process knows the round from the file alone: a tap made before, a text sent after, either first."""
    server = TelegramServer(ManualClock(auto=True), privacy=False)
    ana = server.person("Ana", started=True)
    async with workers(server, tmp_path / "askfirst.db", 1) as [first]:
        ana.say("lit-review this")
        await first.settle()
        tap = ana.press("B ✅", card_of(ana.chat))
    async with workers(server, tmp_path / "askfirst.db", 1) as [second]:
        said = ana.say("2: A")
        assert said.update is not None
        assert tap.update is not None
        await delivered([second], [said.update.json(), tap.update.json()])
        await second.outbox.drain()
        assert {q: c for q, (c, _, _) in (await clarified(second.store)).items()} == {"years": "B", "databases": "A"}
        assert "✔ 1" in card_of(ana.chat).text
        assert "✔ 2" in card_of(ana.chat).text
        state = await second.store.load(f"telegram:{ana.id}")
        assert state is not None
        assert state.current is not None
        late = ana.send_data(f"a:{state.current.id}.1:9:Z", card_of(ana.chat))
        await second.settle()
        assert late.answer == "This button does not fit the questions any more. /resume shows what is asked."
