"""Puts the program together: the only place that knows all parts and reads settings."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from bot.clock import SystemClock
from bot.core.book import Book
from bot.core.moments.words import TimeWords
from bot.core.playbook import Playbook
from bot.core.policies import Access
from bot.core.replies.phrases import PhraseBook
from bot.core.routing import Pack
from bot.core.step import step
from bot.faults import log
from bot.outbox import Outbox, Patience
from bot.pace import Pace, Pacer
from bot.ports import Transport
from bot.runner import Runner
from bot.timers import Timers
from config import kept
from config.settings import BUNDLED, BadSettings, Settings
from config.zones import WorldZones
from storage import open_store
from storage.records import RecordStore


def set_up_logging(*, at_once: bool = False) -> None:
    """Logs go to stderr, one line each; tracebacks never show local variables, which may hold secrets.

    Set up with the first line that is logged, or `at_once` in a program that runs for long anyway.
    """
    if at_once:
        _log_to_stderr()
    else:
        log.set_up_with(_log_to_stderr)


def _log_to_stderr() -> None:
    import structlog

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


def phrase_book(settings: Settings) -> PhraseBook:
    """The words of the reply reader, of every language."""
    from config.phrases_loader import load_phrases

    return load_phrases(_folder(settings, "phrases"))


def load_menu_words(settings: Settings) -> dict[str, Mapping[str, str]]:
    """What a menu of commands says, by language and command."""
    from config.commands_loader import load_commands

    return load_commands(_folder(settings, "commands"))


def load_packs(settings: Settings) -> dict[str, Pack]:
    """Every pack by its name."""
    from config import packs_loader

    place = _folder(settings, "packs")
    packs = packs_loader.load_packs(sorted(p for p in place.iterdir() if (p / "pack.yaml").is_file()))
    if not packs:
        raise BadSettings(f"there is no pack in {place}: a pack is a folder with a pack.yaml.")
    return packs


def _folder(settings: Settings, part: str) -> Path:
    """`packs/` or `phrases/` of the chosen folder; what it lacks is taken from the bundled one."""
    if not settings.config.is_dir():
        raise BadSettings(f"there is no folder {settings.config}. Give --config one with packs/ or phrases/ in it.")
    own = settings.config / part
    return own if own.is_dir() else BUNDLED / part


@contextmanager
def _nothing_to_collect() -> Iterator[None]:
    """What is loaded stays for good; the collector would walk it a hundred times, a quarter of the start.

    Nor does it walk it later on.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was:
            gc.enable()


Read = tuple[Mapping[str, Pack], Mapping[str, Playbook], PhraseBook, TimeWords]


def load_book(settings: Settings) -> Book:
    """Every pack, playbook and phrase, checked; raises with all mistakes, file and line."""
    folders = [_folder(settings, part) for part in ("packs", "phrases", "times")]
    name = kept.name_of(folders, settings.deny_names)
    with _nothing_to_collect():
        packs, playbooks, phrases, times = _kept(name) or _read_anew(name, settings)
    if settings.pack is not None and settings.pack not in packs:
        raise BadSettings(f"there is no pack {settings.pack}. There are: {', '.join(sorted(packs))}.")
    fallback = settings.pack or ("research" if "research" in packs else min(packs))
    default = {"*": fallback}
    if settings.pack is None and "triage" in packs:
        default["slack"] = "triage"
    return Book(
        packs=packs,
        playbooks=playbooks,
        phrases=phrases,
        access=Access(allow=settings.access.allow),
        default_pack=default,
        grace=timedelta(seconds=settings.grace_seconds),
        deny_names=settings.deny_names,
        times=times,
        zones=WorldZones(),
        zone=settings.times.zone,
        quiet=settings.times.span,
        reminders=settings.times.hours,
    )


def _kept(name: str) -> Read | None:
    found = kept.load(name)
    if found is None:
        return None
    return found["packs"], found["playbooks"], found["words"]["phrases"], found["words"]["times"]


def _read_anew(name: str, settings: Settings) -> Read:
    packs, playbooks, phrases, times = read_folders(settings)
    words = {"phrases": phrases, "times": times}
    kept.keep(name, {"packs": packs, "playbooks": playbooks, "words": words})
    return packs, playbooks, phrases, times


def read_folders(settings: Settings) -> Read:
    """Packs, playbooks and phrases from their files, each of them read and checked."""
    from config.packs_loader import BUNDLED as BUNDLED_PACKS
    from config.playbooks_loader import load_playbooks
    from config.times_loader import load_times

    packs = load_packs(settings)
    playbooks: dict[str, Playbook] = {}
    places = sorted(p for p in _folder(settings, "packs").iterdir() if (p / "playbooks").is_dir())
    for place in places:
        found = load_playbooks(place / "playbooks", deny=settings.deny_names)
        if twice := playbooks.keys() & found.keys():
            raise BadSettings(
                f"{place / 'playbooks'}: another pack has a playbook for {', '.join(sorted(twice))} too."
            )
        playbooks |= found
    for part in sorted(p.parent for p in BUNDLED_PACKS.glob("*/part.yaml") if p.parent not in places):
        playbooks = load_playbooks(part / "playbooks", deny=settings.deny_names) | playbooks  # for `include`
    return packs, playbooks, phrase_book(settings), load_times(_folder(settings, "times"))


@dataclass(frozen=True, slots=True)
class Program:
    """The running parts. `book` and `store` are shared by all of them."""

    book: Book
    store: RecordStore
    clock: SystemClock
    runner: Runner
    timers: Timers
    pacer: Pacer = field(default_factory=Pacer)

    def outbox(
        self, *transports: Transport, patience: Patience | None = None, paces: Mapping[str, Pace] | None = None
    ) -> Outbox:
        by_platform = {transport.platform: transport for transport in transports}
        return Outbox(
            self.store,
            self.runner,
            by_platform,
            self.clock,
            patience=patience or Patience(),
            paces=paces,
            pacer=self.pacer,
        )


@asynccontextmanager
async def program(settings: Settings, *, book: Book | None = None) -> AsyncIterator[Program]:
    """Open the store and put the parts together; closes the store at the end."""
    book = book or load_book(settings)
    store = await open_store(settings.database)
    try:
        clock = SystemClock()
        runner = Runner(store, functools.partial(step, book=book), clock, pack=settings.pack)
        store.listen(runner.bell.ring)
        if not store.shared:
            await store.release(())  # timers that a process that is no more had taken
        yield Program(book=book, store=store, clock=clock, runner=runner, timers=Timers(store, runner, clock))
    finally:
        await store.close()
