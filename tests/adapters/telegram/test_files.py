"""Files that a playbook asks for: fetched, held against what they claim to be, and never executed or kept.

`fetch: [pdf, …]` in the playbook; without it nothing is downloaded.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.telegram.files import TelegramFiles
from bot import fetching
from bot.core import files
from bot.core.book import Book
from bot.core.model import Material
from bot.core.step import step
from bot.fetching import Fetching
from config.playbooks_loader import read_playbook
from storage.memory import MemoryStore
from tests.adapters.telegram.talking import book
from tests.fakes.clock import ManualClock
from tests.fakes.telegram import Person, TelegramServer
from tests.fakes.telegram_rig import Rig, rig
from tests.transcripts.conftest import PLAYBOOKS

WORKFLOW = "academic-paper/lit-review"
PDF = b"%PDF-1.7 words"


def asking(*kinds: files.FileKind) -> Book:
    made = book()
    playbook = made.playbooks[WORKFLOW].model_copy(update={"fetch": kinds})
    return dataclasses.replace(made, playbooks={**made.playbooks, WORKFLOW: playbook})


class Room:
    def __init__(self, rig: Rig, ana: Person) -> None:
        self.rig, self.ana, self.server, self.clock = rig, ana, rig.server, rig.clock
        self.fetching = Fetching(rig.store, rig.runner, {"telegram": TelegramFiles(rig.bot)}, rig.clock)

    async def settle(self) -> None:
        await self.rig.settle()
        await self.fetching.fetch_ordered()
        await self.rig.settle()

    async def materials(self) -> dict[str, Material]:
        state = await self.rig.store.load(f"telegram:{self.ana.id}")
        return {m.name: m for m in state.sessions[-1].request.materials}


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    decide = functools.partial(step, book=asking("pdf", "image", "text"))
    server = TelegramServer(ManualClock(auto=True), privacy=False)
    async with rig(server, MemoryStore(), decide=decide) as made:
        yield Room(made, server.person("Ana", started=True))


async def test_a_file_that_is_asked_for_is_fetched_and_checked(room: Room) -> None:
    room.ana.file("paper.pdf", "lit-review this", content=PDF)
    await room.settle()
    paper = (await room.materials())["paper.pdf"]
    assert (paper.digest, paper.size, paper.problem) == (hashlib.sha256(PDF).hexdigest(), len(PDF), None)
    assert not [text for text in room.ana.chat.texts if "could not use" in text]
    before = len(room.server.history.of("getFile"))
    await room.settle()
    assert len(room.server.history.of("getFile")) == before == 1
    room.ana.file("notes.md", "1: B", content="# ü".encode())  # in the middle of the round
    await room.settle()
    assert (await room.materials())["notes.md"].digest
    await room.rig.settle()
    room.ana.say("/export")
    await room.settle()
    assert b"file-" not in (room.ana.chat.last.file or b"")  # the handle is nobody's business


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("paper.pdf", b"MZ\x90\x00\x03 a program", "its content is not what its name says"),
        ("paper.pdf", b"#!/bin/sh\nrm -rf /", "its content is not what its name says"),
        ("notes.md", b"\xff\xd8\xff\xe0 a photo", "its content is not what its name says"),
        ("paper.pdf", PDF + b"x" * (20 << 20), "larger than 20 MB"),
    ],
)
async def test_what_can_not_be_used_is_said_kindly_and_once(
    room: Room, name: str, content: bytes, words: str
) -> None:
    room.ana.file(name, "lit-review this", content=content)
    await room.settle()
    await room.settle()
    told = [text for text in room.ana.chat.texts if "could not use" in text]
    assert len(told) == 1
    assert words in told[0]
    kept = (await room.materials())[name]
    assert kept.digest is None
    assert words in (kept.problem or "")
    room.ana.say("1: B")
    await room.settle()
    assert any("Still open" in text for text in room.ana.chat.texts)  # the questions go on


@pytest.mark.parametrize("kinds", [(), ("image",)])
async def test_nothing_is_downloaded_unless_a_playbook_asks(kinds: tuple[files.FileKind, ...]) -> None:
    decide = functools.partial(step, book=asking(*kinds))
    async with rig(None, MemoryStore(), decide=decide) as made:
        room = Room(made, made.server.person("Ana", started=True))
        room.ana.file("paper.pdf", "lit-review this", content=PDF)
        await room.settle()
        assert not room.server.history.of("getFile")


async def test_trouble_on_the_way_is_tried_again_within_bounds(room: Room) -> None:
    room.server.faults.lose(taken=True, method="getFile", times=fetching.TRIES - 1)
    room.ana.file("paper.pdf", "lit-review this", content=PDF)
    await room.settle()
    assert (await room.materials())["paper.pdf"].digest
    room.server.faults.fail(500, method="getFile", times=fetching.TRIES)
    room.ana.file("other.pdf", "2: A", content=PDF)
    await room.settle()
    assert (await room.materials())["other.pdf"].problem == "it could not be downloaded"


async def test_an_order_outlives_a_restart_and_ends_by_itself(room: Room) -> None:
    room.ana.file("paper.pdf", "lit-review this", content=PDF)
    await room.rig.settle()  # ordered; then the machine is gone
    again = Room(room.rig, room.ana)
    await again.settle()
    assert (await room.materials())["paper.pdf"].digest
    room.ana.file("late.pdf", "1: A", content=PDF)
    await room.rig.settle()
    room.clock.advance(timedelta(minutes=6))
    await room.rig.settle()
    assert (await room.materials())["late.pdf"].problem == "it did not arrive in time"
    assert list(await room.rig.store.timers("fetch:")) == []


def test_the_key_is_linted(tmp_path: Path) -> None:
    text = (PLAYBOOKS / "lit-review.yaml").read_text()
    path = tmp_path / "lit-review.yaml"
    path.write_text(text.replace("questions:", "fetch: [pdf, program]\nquestions:", 1))
    [problem] = read_playbook(path).problems
    assert "there are pdf, document, image, text" in problem.message
    path.write_text(text.replace("questions:", "fetch: [text, pdf]\nquestions:", 1))
    read: Any = read_playbook(path).playbook
    assert read.fetch == ("pdf", "text")
