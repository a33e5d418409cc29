"""What the writer does with a batch of commits: nearly always one statement, which finds no conflict.

Where it finds one, nothing was written, and the batch is written in a transaction of several steps. That one first
locks the places and chain ends that it will change, in one order for everybody, and leaves out the commits that
are known or stale: with several workers such conflicts are ordinary, and one of them must not undo the batch. A
constraint that is violated all the same undoes it; then each commit is written alone.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import Any

from bot.ports import DuplicateEvent, StaleRevision
from storage.chain import Head
from storage.postgres_batch import Ends, batch, chained, crosses, gathered, ordered
from storage.postgres_errors import CROSSED, DATABASE, FOUND_OUT, GUILTY, LOST, RACED, unavailable
from storage.postgres_link import Link
from storage.postgres_queries import many, rows
from storage.postgres_url import Target
from storage.rows import Prepared, Unstorable

CHANNEL = "askfirst"
LONGEST_NEWS = 7000  # bytes; a notification takes 8000 (postgresql.org/docs/15/sql-notify.html)
TRIES = (
    6  # at a batch while connections are lost; with the pauses about three seconds, less than a webhook's patience
)
PAUSE = 0.1  # seconds, doubled each time
STIRS = {"add_outbox": "messages", "set_timer": "timers"}  # what gives other workers something to do
# How the writer's connection differs. Its statements go by keys; a plan made while a table was small must not read it
# whole when it has grown, nor be made anew for each batch. States and messages are long texts: pressing them by the
# usual method takes a good part of a commit.
OURS = """
    SELECT set_config(name, value, false)
    FROM pg_settings
    INNER JOIN (VALUES
        ('plan_cache_mode', 'force_generic_plan'), ('jit', 'off'),
        ('enable_seqscan', 'off'), ('enable_bitmapscan', 'off'),
        ('enable_hashjoin', 'off'), ('enable_mergejoin', 'off'),
        ('default_toast_compression', 'lz4')
    ) AS ours (name, value) USING (name)
    WHERE value = ANY(coalesce(enumvals, ARRAY[value]))
    UNION ALL
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""

Outcome = BaseException | None


class Writer:
    """Runs one batch at a time, on a connection of its own."""

    def __init__(self, target: Target, name: str) -> None:
        self._target = target
        self._name = name  # of this worker, in its notifications
        self._link = Link(target)
        self._begin: dict[int, str] = {}  # by connection: how its transactions begin
        self._ends = Ends()
        self._lost = False  # of this wave: a connection, by which it may have been written

    async def run(self, commits: Sequence[Prepared]) -> list[Outcome]:
        """One outcome per commit; None when it is durable. Raises when the database can not be used."""
        outcomes: list[Outcome] = [None] * len(commits)
        for wave in waves(commits):
            numbers = [number for number, _ in wave]
            for number, outcome in zip(numbers, await self._wave([commit for _, commit in wave]), strict=True):
                outcomes[number] = outcome
        return outcomes

    def forget(self, places: Sequence[str] | None) -> None:
        """Another worker has written there (None: anywhere)."""
        self._ends.forget(places)

    async def close(self) -> None:
        await self._link.close()

    # -- one wave: at most one commit of each place ----------------------------------------------------------------

    async def _wave(self, commits: list[Prepared]) -> list[Outcome]:
        self._lost = False
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
                connection = await self._link.get()
                begin = await self._beginning(connection)
                if not self._lost and await self._at_once(connection, commits):
                    return [None] * len(commits)
                return await self._together(connection, commits, begin, again=self._lost)
            except LOST:
                self._lost = True
                self._link.drop()
                if attempt + 1 == TRIES:
                    raise
                await asyncio.sleep(PAUSE * 2**attempt)
            except BaseException:
                await self._roll_back()
                raise
        raise AssertionError("unreachable")

    async def _at_once(self, connection: Any, commits: list[Prepared]) -> bool:
        """Written in one statement; False where it can not be, and then nothing was."""
        if self._target.pgbouncer or any(crosses(commit) for commit in commits):
            return False
        ends, wanted = self._ends.of(commits)
        if wanted:
            found = await rows("heads", connection, chains=wanted)
            ends.update((row["chain"], Head(row["seq"], row["hash"])) for row in found)
        by_statement = gathered(commits)
        moved = chained(by_statement, ends)
        together = batch(ordered(by_statement), CHANNEL)
        try:
            await connection.fetchval(together.sql, self._news(commits), *together.values(by_statement))
        except FOUND_OUT:
            self._ends.forget([commit.conversation for commit in commits])
            return False
        self._ends.keep(commits, moved)
        return True

    async def _together(self, connection: Any, commits: list[Prepared], begin: str, again: bool) -> list[Outcome]:
        await connection.execute(begin)
        outcomes, heads = await _look(connection, commits, again)
        fresh = [commit for commit, outcome in zip(commits, outcomes, strict=True) if outcome is FRESH]
        by_statement = gathered(fresh)
        moved = chained(by_statement, heads)
        for name in ordered(by_statement):
            await many(name, connection, by_statement[name])
        news = self._news(fresh).replace("'", "''")
        await connection.execute(f"NOTIFY {CHANNEL}, '{news}'; COMMIT" if fresh else "COMMIT")
        self._ends.keep(fresh, moved)
        return [None if outcome is FRESH else outcome for outcome in outcomes]

    async def _beginning(self, connection: Any) -> str:
        """How a transaction begins; an acknowledged commit is on the disk, whatever the server's default is."""
        known = self._begin.get(id(connection))
        if known is None:
            known = "BEGIN"
            if self._target.pgbouncer:
                if await connection.fetchval("SHOW synchronous_commit") == "off":
                    known = "BEGIN; SET LOCAL synchronous_commit = on"
            else:
                await connection.execute(OURS)
            self._begin = {id(connection): known}
        return known

    def _news(self, commits: Sequence[Prepared]) -> str:
        """For the other workers: which places have changed, and whether there is something to do."""
        stirs = [what for name, what in STIRS.items() if any(commit.rows.get(name) for commit in commits)]
        news = json.dumps([self._name, stirs, [commit.conversation for commit in commits]])
        if len(news) > LONGEST_NEWS:
            news = json.dumps([self._name, stirs, None])
        return news

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
    """The first commits of all places, then the second ones, and so on: no place comes twice in a transaction.

    Each in the order of their places, in which everybody locks them.
    """
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
        wave.sort(key=lambda numbered: numbered[1].conversation)
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
