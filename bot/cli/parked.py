"""What could not be handled: looking at it, and having it handled once more after a new version is installed.

Two kinds. An *update* that could not be read, or that an adapter failed on, is kept as it came. An *event* that the
core failed on is in the event log, refused. Each is handled at most once: the second time it is known already, and an
answer in it never replaces one that was given since.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass

import typer

from adapters.parked import Parked, parked, shelf
from adapters.slack.places import PLATFORM as SLACK
from adapters.telegram.places import PLATFORM as TELEGRAM
from bot.app import load_book, set_up_logging
from bot.cli.records import opened
from bot.clock import SystemClock
from bot.core.codec import decode_envelope
from bot.core.events import Envelope
from bot.core.step import step
from bot.runner import OUR_MISTAKE, Runner
from config.settings import Settings
from storage.marks import marked
from storage.records import RecordStore

AGAIN = ":again:"
PAYLOADS = {TELEGRAM: "update", SLACK: "body"}  # what the platforms call what they send


@dataclass(frozen=True, slots=True)
class Failure:
    """An event that the core failed on. `tries` counts how often it has been handled once more, in vain."""

    envelope: Envelope
    reason: str
    tries: int

    @property
    def id(self) -> str:
        return self.envelope.event_id


async def failures(store: RecordStore) -> list[Failure]:
    """Those that have not been handled since."""
    found: dict[str, tuple[Envelope, str]] = {}
    tries: dict[str, int] = {}
    async with store.snapshot() as snapshot:
        async for row in snapshot.failures(OUR_MISTAKE):
            base, again, _ = row["event_id"].partition(AGAIN)
            failed = row["outcome"] == "refused" and (row["reason"] or "").startswith(OUR_MISTAKE)
            if not again:
                found[base] = decode_envelope(row["envelope"]), row["reason"]
            elif failed:
                tries[base] = tries.get(base, 0) + 1
            else:
                found.pop(base, None)
    return [Failure(envelope, reason, tries.get(base, 0)) for base, (envelope, reason) in found.items()]


async def waiting(store: RecordStore) -> tuple[list[Parked], list[Failure]]:
    updates = [
        one
        for platform, payload in PAYLOADS.items()
        for one in parked(await store.kept(shelf(platform)), platform, payload)
    ]
    return updates, await failures(store)


async def list_parked(settings: Settings, as_json: bool) -> int:
    async with opened(settings) as store:
        updates, events = await waiting(store)
    if as_json:
        listed = [{"id": u.id, "kind": "update", "reason": u.reason, "update": u.update} for u in updates]
        listed += [
            {
                "id": e.id,
                "kind": "event",
                "reason": e.reason,
                "conversation": e.envelope.place.conversation,
                "event": e.envelope.event.kind,
                "at": e.envelope.at.isoformat(),
            }
            for e in events
        ]
        typer.echo(json.dumps(listed, ensure_ascii=False))
        return 0
    for update in updates:
        typer.echo(marked(f"{update.id}  update  {update.reason}"))
    for event in events:
        where = event.envelope.place.conversation
        typer.echo(marked(f"{event.id}  {event.envelope.event.kind} in {where}  {event.reason}"))
    if not updates and not events:
        typer.echo("nothing was put aside")
    return 0


async def retry(settings: Settings, ids: Sequence[str], everything: bool, as_json: bool) -> int:
    """Exit 1 when something named is not there, or failed again."""
    from adapters.telegram.again import bot_name

    set_up_logging(at_once=True)  # adapters log by themselves, and what is printed may be JSON
    async with opened(settings) as store:
        updates, events = await waiting(store)
        unknown = sorted(set(ids) - {u.id for u in updates} - {e.id for e in events})
        book = load_book(settings)
        name = bot_name(await store.kept("telegram:me"))
        if name is not None:
            book = dataclasses.replace(book, bot_names={**book.bot_names, "telegram": name})
        clock = SystemClock()
        runner = Runner(store, functools.partial(step, book=book), clock)
        done = [
            (update.id, *await _update_again(update, settings, store, runner, clock))
            for update in updates
            if everything or update.id in ids
        ]
        done += [(event.id, *await _event_again(event, runner)) for event in events if everything or event.id in ids]
    if as_json:
        listed = [{"id": one, "handled": well, "result": result} for one, well, result in done]
        listed += [{"id": one, "handled": False, "result": "not there"} for one in unknown]
        typer.echo(json.dumps(listed, ensure_ascii=False))
    else:
        for one, _, result in done:
            typer.echo(marked(f"{one}  {result}"))
        for one in unknown:
            typer.echo(f"there is no {marked(one)} to retry; `askfirst parked` lists what there is", err=True)
        if not done and not unknown:
            typer.echo("nothing was put aside")
    return 0 if all(well for _, well, _ in done) and not unknown else 1


async def _update_again(
    one: Parked, settings: Settings, store: RecordStore, runner: Runner, clock: SystemClock
) -> tuple[bool, str]:
    if one.platform == TELEGRAM:
        from adapters.telegram import again as telegram

        return await telegram.handle_again(one, store, runner, clock)
    given = settings.slack
    if given.bot_token is None and given.client_id is None:
        return False, "Slack is not set up here: set ASKFIRST_SLACK__BOT_TOKEN"
    from adapters.slack import again as slack
    from bot.cli.on_slack import keys, ways

    return await slack.handle_again(one, keys(given), ways(given), store, runner, clock)


async def _event_again(one: Failure, runner: Runner) -> tuple[bool, str]:
    envelope = one.envelope.model_copy(update={"event_id": f"{one.id}{AGAIN}{one.tries + 1}", "again": True})
    handled = await runner.handle(envelope)
    well = not (handled.reason or "").startswith(OUR_MISTAKE)
    return well, handled.outcome if handled.reason is None else f"{handled.outcome}: {handled.reason}"
