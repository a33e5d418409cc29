"""Puts the program together: the only place that knows all parts and reads settings."""

from __future__ import annotations

import functools
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import structlog

from bot.clock import SystemClock
from bot.core.book import Book
from bot.core.playbook import Playbook
from bot.core.policies import Access
from bot.core.routing import Pack
from bot.core.step import step
from bot.outbox import Outbox, Patience
from bot.ports import Transport
from bot.runner import Runner
from bot.timers import Timers
from config.packs_loader import load_pack
from config.phrases_loader import load_phrases
from config.playbooks_loader import load_playbooks
from config.settings import BUNDLED, BadSettings, Settings
from storage import open_store
from storage.records import RecordStore


def set_up_logging() -> None:
    """Logs go to stderr, one line each; tracebacks never show local variables, which may hold secrets."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"]),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def load_book(settings: Settings) -> Book:
    """Every pack, playbook and phrase, read and checked; raises with all mistakes, file and line."""
    folder = settings.config
    packs_folder = folder / "packs" if (folder / "packs").is_dir() else BUNDLED / "packs"
    phrases_folder = folder / "phrases" if (folder / "phrases").is_dir() else BUNDLED / "phrases"
    if folder != BUNDLED and not folder.is_dir():
        raise BadSettings(f"there is no folder {folder}. Give --config a folder with packs/ or phrases/ in it.")
    packs: dict[str, Pack] = {}
    playbooks: dict[str, Playbook] = {}
    for place in sorted(p for p in packs_folder.iterdir() if (p / "pack.yaml").is_file()):
        pack = load_pack(place)
        packs[pack.name] = pack
        playbooks |= load_playbooks(place / "playbooks")
    default = {"*": "research", "slack": "triage"}
    if settings.pack is not None:
        if settings.pack not in packs:
            raise BadSettings(f"there is no pack {settings.pack}. There are: {', '.join(sorted(packs))}.")
        default = {"*": settings.pack}
    elif default["*"] not in packs:
        default = {"*": next(iter(sorted(packs)), "")}
    return Book(
        packs=packs,
        playbooks=playbooks,
        phrases=load_phrases(phrases_folder),
        access=Access(allow=settings.access.allow),
        default_pack=default,
        grace=timedelta(seconds=settings.grace_seconds),
    )


@dataclass(frozen=True, slots=True)
class Program:
    """The running parts. `book` and `store` are shared by all of them."""

    book: Book
    store: RecordStore
    clock: SystemClock
    runner: Runner
    timers: Timers

    def outbox(self, *transports: Transport, patience: Patience | None = None) -> Outbox:
        by_platform = {transport.platform: transport for transport in transports}
        return Outbox(self.store, self.runner, by_platform, self.clock, patience=patience or Patience())


@asynccontextmanager
async def program(settings: Settings, *, book: Book | None = None) -> AsyncIterator[Program]:
    """Open the store and put the parts together; closes the store at the end."""
    book = book or load_book(settings)
    store = await open_store(settings.database)
    try:
        clock = SystemClock()
        runner = Runner(store, functools.partial(step, book=book), clock)
        yield Program(book=book, store=store, clock=clock, runner=runner, timers=Timers(store, runner, clock))
    finally:
        await store.close()


def database_path(settings: Settings) -> Path:
    return Path(settings.database.removeprefix("sqlite:///"))
