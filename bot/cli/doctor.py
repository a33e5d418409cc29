"""`askfirst doctor`: what is wrong, or about to be, and what to do about it. Exit 1 when there is a finding."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import typer

from bot.app import load_book
from bot.checks import Check
from bot.cli.parked import waiting
from bot.cli.platforms import wants_slack
from bot.clock import SystemClock
from bot.core.codec import UnreadableState, decode_envelope
from bot.core.events import MessageReceived
from bot.ports import StoreUnavailable
from config.packs_loader import PackRefused
from config.problems import Unloadable
from config.settings import BadSettings, Settings, load_settings
from config.word_files import PhraseFileError
from storage import open_store
from storage.marks import marked
from storage.records import RecordStore
from storage.values import moment

STUCK = timedelta(minutes=10)  # a message that could not be sent for so long
DIRECT = 20  # direct messages looked into for what people did there
LISTED = 5  # of each kind; `parked` and `sessions` list all
MARK = {"ok": "ok     ", "note": "note   ", "finding": "FINDING"}


async def run_doctor(given: Mapping[str, Any], as_json: bool) -> int:
    """`given` are the settings of the command line."""
    checks = await _examine_all(given)
    findings = [check for check in checks if check.level == "finding"]
    if as_json:
        listed = [dataclasses.asdict(check) for check in checks]
        typer.echo(json.dumps({"ok": not findings, "checks": listed}, ensure_ascii=False))
        return 1 if findings else 0
    for check in checks:
        typer.echo(marked(f"{MARK[check.level]} {check.name}: {check.message}"))
        if check.fix is not None:
            typer.echo(marked(f"        {check.fix}"))
    typer.echo(f"{len(findings)} findings" if findings else "all is well")
    return 1 if findings else 0


async def _examine_all(given: Mapping[str, Any]) -> list[Check]:
    try:
        settings = load_settings(**given)
    except BadSettings as error:
        return [Check("settings", "finding", str(error), "Correct them; nothing else can be looked at before.")]
    checks = _settings(settings)
    kept: Mapping[str, str] = {}
    heard: frozenset[str] = frozenset()
    try:
        store = await open_store(settings.database, create=False)
    except StoreUnavailable as error:
        checks.append(_no_database(settings, error))
    else:
        try:
            checks += await _database(store, settings)
            kept = {**await store.kept("telegram:"), **await store.kept("slack:")}
            heard = await _heard_directly(store) if wants_slack(settings) else heard
        except StoreUnavailable as error:
            checks.append(Check("database", "finding", str(error)))
        finally:
            await store.close()
    bot = settings.telegram
    if bot.token is not None:
        from adapters.telegram import doctor as telegram
        from bot.cli.on_telegram import webhook

        token = bot.token.get_secret_value()
        checks += await telegram.examine(token, bot.base_url, webhook(bot), kept, SystemClock())
    app = settings.slack
    if wants_slack(settings):
        from adapters.slack import doctor as slack
        from bot.cli.on_slack import keys, ways

        here = f"http://{settings.http.host}:{settings.http.port}"
        checks += await slack.examine(keys(app), ways(app), kept, here, heard, SystemClock())
    return checks


async def _heard_directly(store: RecordStore) -> frozenset[str]:
    """The kinds of events in the newest direct messages of Slack, without commands and forms for a request."""
    from adapters.slack.doctor import is_direct

    heard: set[str] = set()
    async with store.snapshot() as snapshot:
        seen: set[str] = set()
        async for row in snapshot.sessions():
            conversation = row["conversation"]
            if is_direct(conversation):
                seen.add(conversation)
            if len(seen) == DIRECT:
                break
        for conversation in seen:
            async for row in snapshot.events(conversation):
                event = decode_envelope(row["envelope"]).event
                if not (isinstance(event, MessageReceived) and (event.summons or event.private)):
                    heard.add(event.kind)
    return frozenset(heard)


def _settings(settings: Settings) -> list[Check]:
    try:
        book = load_book(settings)
    except (BadSettings, PackRefused, PhraseFileError, Unloadable) as error:
        fix = "`askfirst check PATH` lists every mistake with file and line."
        return [Check("packs", "finding", str(error), fix)]
    checks = [Check("settings", "ok", "readable"), Check("packs", "ok", ", ".join(sorted(book.packs)))]
    if settings.telegram.token is None and not wants_slack(settings):
        words = "no token: only the terminal works (ASKFIRST_TELEGRAM__TOKEN, ASKFIRST_SLACK__BOT_TOKEN)"
        checks.append(Check("platforms", "note", words))
    elif not settings.access.allow:
        words = "nobody is let in; whoever writes to the bot is told the command that lets them in"
        checks.append(Check("access", "note", words))
    return checks


def _no_database(settings: Settings, error: StoreUnavailable) -> Check:
    path = Path(settings.database.removeprefix("sqlite:///"))
    if "://" not in str(settings.database) and not path.exists():
        return Check("database", "note", f"there is none yet at {path}; it is made at the first use")
    return Check("database", "finding", str(error))


async def _database(store: RecordStore, settings: Settings) -> list[Check]:
    await store.keep("doctor:probe", "can it be written?")
    await store.keep("doctor:probe", None)
    where = "PostgreSQL" if "://" in settings.database else settings.database
    checks = [Check("database", "ok", f"{where}: opened, and written to")]
    updates, events = await waiting(store)
    if updates or events:
        names = [u.id for u in updates] + [e.id for e in events]
        message = f"{len(names)} events could not be handled: {', '.join(names[:LISTED])}"
        fix = "`askfirst parked` says why; after an upgrade `askfirst retry --all` handles them once more."
        checks.append(Check("put aside", "finding", message, fix))
    else:
        checks.append(Check("put aside", "ok", "nothing"))
    checks += await _undelivered(store)
    return checks


async def _undelivered(store: RecordStore) -> list[Check]:
    lost: list[str] = []
    now = SystemClock().now()
    async with store.snapshot() as snapshot:
        open_ = [
            (row["session"], row["conversation"])
            async for row in snapshot.sessions()
            if row["state"] in ("routing", "asking", "closing")
        ]
        stuck = [
            f"{row['conversation']} ({row['error'] or 'no answer'})"
            async for row in snapshot.unsent()
            if row["attempts"] >= 3 and now - moment(row["created_at"]) > STUCK
        ]
    closed: list[str] = []
    for session, conversation in open_:
        try:
            state = await store.load(conversation)
        except UnreadableState as error:
            closed.append(f"{conversation}: {error}")
            continue
        found = None if state is None else state.session(session)
        if found is not None and found.undelivered is not None:
            lost.append(f"{session} in {conversation}: {found.undelivered}")
    checks = []
    if closed:
        fix = "The others go on. Start the version that wrote it, or a newer one; then `askfirst retry --all`."
        checks.append(Check("unreadable", "finding", "; ".join(dict.fromkeys(closed)), fix))
    if lost:
        fix = "Let the bot write there again (it then shows the round again), or ask somebody else."
        checks.append(Check("undelivered", "finding", f"{len(lost)} open: {'; '.join(lost[:LISTED])}", fix))
    if stuck:
        message = f"{len(stuck)} messages have waited for more than {STUCK.seconds // 60} minutes: "
        checks.append(Check("outbox", "finding", message + "; ".join(stuck[:LISTED]), "Is `askfirst serve` running?"))
    return checks or [Check("undelivered", "ok", "nothing")]
