"""`askfirst replay` and `askfirst audit verify` on whole conversations: what is stored is the fold of the events."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from bot.app import load_book
from bot.cli.records import replay_session, verify_audit
from bot.core.effects import Step
from bot.core.events import Envelope, Event, MessageReceived
from bot.core.model import MessageRef, Person, Place
from bot.core.state import Conversation
from bot.core.step import step
from bot.runner import Runner
from config.settings import Settings, load_settings
from storage import open_store
from tests.fakes.clock import ManualClock

ROOM = Place(conversation="terminal:terminal", platform="terminal")
ANA = Person(id="terminal:you", name="you")


class Boom(Exception):
    """A mistake in the core."""


async def talk(settings: Settings, *lines: str) -> str:
    """Say some lines, one after the other; `boom` meets a mistake. The session that came of them."""
    right = functools.partial(step, book=load_book(settings))

    def decide(state: Conversation | None, envelope: Envelope) -> Step:
        event: Event = envelope.event
        if isinstance(event, MessageReceived) and event.text == "boom":
            raise Boom
        return right(state, envelope)

    store = await open_store(settings.database)
    runner = Runner(store, decide, ManualClock(auto=True), lambda: "0123456789", pack=settings.pack)
    for number, line in enumerate(lines):
        said = MessageReceived(person=ANA, text=line, ref=MessageRef(id=f"u{number}", quote=line), order=number)
        await runner.handle(Envelope(event_id=f"e{number}", place=ROOM, at=ManualClock().now(), event=said))
    async with store.snapshot() as snapshot:
        sessions = [row["session"] async for row in snapshot.sessions()]
    await store.close()
    return str(sessions[0])


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(database=str(tmp_path / "askfirst.db"))


@pytest.mark.parametrize(
    ("lines", "earlier"),
    [
        (("boom", "/ars-lit-review moss", "boom", "1: A", "boom"), 0),
        (
            (
                "/ars-lit-review moss",
                "1: C",
                "you decide",
                "undo",
                "2: B",
                "up to you",
                "undo",
                "accept recommendations",
            ),
            9,  # what was left to the bot and taken back: five answers, then the four that were open again
        ),
    ],
    ids=["a mistake of ours", "undo and change"],
)
async def test_a_conversation_folds_to_its_stored_state(
    settings: Settings, lines: tuple[str, ...], earlier: int, capsys: pytest.CaptureFixture[str]
) -> None:
    session = await talk(settings, *lines)
    store = await open_store(settings.database)
    async with store.snapshot() as snapshot:
        assert len([row async for row in snapshot.history(session)]) == earlier
    await store.close()
    assert await replay_session(settings, session, as_json=False) == 0, capsys.readouterr().out
    assert await verify_audit(settings, as_json=False) == 0, capsys.readouterr().out


async def test_the_pack_that_was_named_then_is_folded_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`chat --pack triage`: whoever replays it later need not know, and may have named another one."""
    database = str(tmp_path / "askfirst.db")
    session = await talk(load_settings(database=database, pack="triage"), "/spec Refunds", "1: C", "accept all mine")
    for pack in (None, "research"):
        later = load_settings(database=database, pack=pack)
        assert await replay_session(later, session, as_json=False) == 0, capsys.readouterr().out
