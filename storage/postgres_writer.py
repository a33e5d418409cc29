"""What the writer does with a batch of commits: one transaction, one `executemany` per table.

Before it writes, it locks the places and chain ends that it will change, in one order for everybody, and leaves out
the commits that are known or stale: with several workers such conflicts are ordinary, and one of them must not undo
the batch. A constraint that is violated all the same undoes it; then each commit is written alone.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import Any

from bot.ports import DuplicateEvent, StaleRevision
from storage.chain import EMPTY, Head, linked
from storage.postgres_errors import CROSSED, DATABASE, GUILTY, LOST, RACED, unavailable
from storage.postgres_link import Link
from storage.postgres_queries import many, rows
from storage.postgres_url import Target
from storage.rows import STATEMENTS, Prepared, Row, Unstorable

CHANNEL = "askfirst"
LONGEST_NEWS = 7000  # bytes; a notification takes 8000 (postgresql.org/docs/15/sql-notify.html)
TRIES = (
    6  # at a batch while connections are lost; with the pauses about three seconds, less than a webhook's patience
)
PAUSE = 0.1  # seconds, doubled each time
STIRS = ("add_outbox", "set_timer")  # what gives other workers something to do

Outcome = BaseException | None


class Writer:
    """Runs one batch at a time, on a connection of its own."""

    def __init__(self, target: Target, name: str) -> None:
        self._target = target
        self._name = name  # of this worker, in its notifications
        self._link = Link(target)
        self._begin: dict[int, str] = {}  # by connection: how its transactions begin

    async def run(self, commits: Sequence[Prepared]) -> list[Outcome]:
        """One outcome per commit; None when it is durable. Raises when the database can not be used."""
        outcomes: list[Outcome] = [None] * len(commits)
        for wave in waves(commits):
            numbers = [number for number, _ in wave]
            for number, outcome in zip(numbers, await self._wave([commit for _, commit in wave]), strict=True):
                outcomes[number] = outcome
        return outcomes

    async def close(self) -> None:
        await self._link.close()

    # -- one wave: at most one commit of each place ----------------------------------------------------------------

    async def _wave(self, commits: list[Prepared]) -> list[Outcome]:
        try:
            return await self._surely(commits)
        except (*GUILTY, *CROSSED):
            pass  # one of them: which?
        except DATABASE as error:
            return [unavailable(error, self._target.name) for _ in commits]  # each its own: they get tracebacks
        return [await self._alone(commit) for commit in commits]

    async def _alone(self, commit: Prepared) -> Outcome:
        outcome: Outcome = None
        for attempt in range(TRIES):
            try:
                [outcome] = await self._surely([commit])
            except (*RACED, *CROSSED) as error:  # somebody was faster; the next look shows it
                outcome = _refused(error) if isinstance(error, GUILTY) else unavailable(error, self._target.name)
                await asyncio.sleep(PAUSE * 2**attempt)
                continue
            except GUILTY as error:
                return _refused(error)
            except DATABASE as error:
                return unavailable(error, self._target.name)
            return outcome
        return outcome

    async def _surely(self, commits: list[Prepared]) -> list[Outcome]:
        """Written, also where the connection was lost: the next one shows whether the commit had been taken."""
        for attempt in range(TRIES):
            try:
                return await self._together(await self._link.get(), commits, again=attempt > 0)
            except LOST:
                self._link.drop()
                if attempt + 1 == TRIES:
                    raise
                await asyncio.sleep(PAUSE * 2**attempt)
            except BaseException:
                await self._roll_back()
                raise
        raise AssertionError("unreachable")

    async def _together(self, connection: Any, commits: list[Prepared], again: bool) -> list[Outcome]:
        await connection.execute(await self._beginning(connection))
        outcomes, heads = await _look(connection, commits, again)
        fresh = sorted(
            (c for c, outcome in zip(commits, outcomes, strict=True) if outcome is FRESH),
            key=lambda commit: commit.conversation,
        )
        await _write(connection, fresh, heads)
        await connection.execute(f"{self._news(fresh)}COMMIT")
        return [None if outcome is FRESH else outcome for outcome in outcomes]

    async def _beginning(self, connection: Any) -> str:
        """An acknowledged commit is on the disk, whatever the server's default is."""
        known = self._begin.get(id(connection))
        if known is None:
            off = await connection.fetchval("SHOW synchronous_commit") == "off"
            known = "BEGIN; SET LOCAL synchronous_commit = on" if off else "BEGIN"
            self._begin = {id(connection): known}
        return known

    def _news(self, commits: Sequence[Prepared]) -> str:
        """For the other workers: which places have changed, and whether there is something to do."""
        if not commits:
            return ""
        stirs = any(commit.rows.get(name) for commit in commits for name in STIRS)
        news = json.dumps([self._name, stirs, [commit.conversation for commit in commits]])
        if len(news) > LONGEST_NEWS:
            news = json.dumps([self._name, stirs, None])
        quoted = news.replace("'", "''")
        return f"NOTIFY {CHANNEL}, '{quoted}'; "

    async def _roll_back(self) -> None:
        try:
            connection = await self._link.get()
            if connection.is_in_transaction():
                await connection.execute("ROLLBACK")
        except DATABASE:
            self._link.drop()


def _refused(error: BaseException) -> Unstorable:
    problem = Unstorable(f"the database refuses this change: {error}")
    problem.__cause__ = error
    return problem


class _Fresh(Exception):
    """Stands for a commit that is to be written."""


FRESH = _Fresh()


def waves(commits: Sequence[Prepared]) -> Iterable[list[tuple[int, Prepared]]]:
    """The first commits of all places, then the second ones, and so on: no place comes twice in a transaction."""
    left = list(enumerate(commits))
    while left:
        places: set[str] = set()
        wave, later = [], []
        for number, commit in left:
            if commit.conversation in places:
                later.append((number, commit))
            else:
                places.add(commit.conversation)
                wave.append((number, commit))
        yield wave
        left = later


async def _look(connection: Any, commits: Sequence[Prepared], again: bool) -> tuple[list[Outcome], dict[str, Head]]:
    """Which commits can be written, and the ends of the chains that they go on with."""
    chains = {row["chain"] for commit in commits for row in commit.rows.get("add_audit", ())}
    found = await rows(
        "look",
        connection,
        places=[commit.conversation for commit in commits],
        events=[commit.event_id for commit in commits],
        chains=list(chains),
    )
    places = {row["name"]: row["number"] for row in found if row["what"] == "place"}
    events = {row["name"]: row["words"] for row in found if row["what"] == "event"}
    heads = {row["name"]: Head(row["number"], row["words"]) for row in found if row["what"] == "chain"}
    return [_judged(commit, places, events, again) for commit in commits], heads


def _judged(commit: Prepared, places: dict[str, int], events: dict[str, str], again: bool) -> Outcome:
    known = events.get(commit.event_id)
    if known is not None:
        # After a lost connection it may be our own first try. Its envelope tells: the time and the fresh id in it are
        # of this very commit.
        ours = again and known == commit.rows["add_event"][0]["envelope"]
        return None if ours else DuplicateEvent(f"event {commit.event_id} was committed before")
    revision = places.get(commit.conversation, 0)
    if revision != commit.expected_revision:
        return StaleRevision(
            f"{commit.conversation} is at revision {revision}, the commit was made for {commit.expected_revision}"
        )
    return FRESH


async def _write(connection: Any, commits: Sequence[Prepared], heads: dict[str, Head]) -> None:
    """All rows of some commits of different places."""
    by_statement: dict[str, list[Row]] = {}
    for commit in commits:
        for name, found in commit.rows.items():
            if found:
                by_statement.setdefault(name, []).extend(found)
    if "add_event" in by_statement:  # a known event is waited for in one order, too
        by_statement["add_event"].sort(key=lambda row: row["event_id"])
    moved: dict[str, Head] = {}
    for row in by_statement.get("add_audit", ()):
        chain = row["chain"]
        moved[chain] = linked(row, moved.get(chain) or heads.get(chain) or EMPTY)
    if moved:
        by_statement["put_head"] = [
            {"chain": chain, "seq": head.seq, "hash": head.hash} for chain, head in sorted(moved.items())
        ]
    for name in STATEMENTS:
        if name in by_statement:
            await many(name, connection, by_statement[name])
