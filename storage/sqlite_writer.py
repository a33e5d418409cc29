"""What the writer's thread does with a batch of jobs: one transaction, one `executemany` per table.

Conflicts are constraint violations. On one, the batch is rolled back and each job is written behind a savepoint
of its own, in one transaction still, so that only the guilty job fails.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bot.ports import DuplicateEvent, StaleRevision
from storage.chain import EMPTY, Head, linked
from storage.queries import many, one
from storage.rows import STATEMENTS, Prepared, Row, Unstorable

# A change outside a commit (claim, retry_at, …); its result goes back to whoever asked.
Change = Callable[[sqlite3.Connection], Any]
Job = Prepared | Change

# What a single job can be guilty of: a constraint, or a value that no column takes. Anything else is the database's.
_GUILTY = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    OverflowError,
    ValueError,
    TypeError,
)

KNOWN = "SELECT event_id FROM event WHERE event_id IN (SELECT value FROM json_each(?))"
MOST_HEADS = 10_000  # about 2 MB


class Writer:
    """Runs on the connection's thread only; holds what it knows of the database between batches."""

    def __init__(self) -> None:
        # The ends of the chains written to lately. Where another process has gone on with a chain, the next row is a
        # conflict (unique chain + seq), and the chains are read again.
        self._heads: dict[str, Head] = {}

    def run(self, connection: sqlite3.Connection, jobs: Sequence[Job]) -> Sequence[Any]:
        """One result per job. Raises only when the database itself fails; then nothing was written."""
        try:
            return self._together(connection, jobs)
        except _GUILTY:
            _roll_back(connection)
        except BaseException:
            _roll_back(connection)
            raise
        try:
            return self._each(connection, jobs)
        except BaseException:
            _roll_back(connection)
            raise

    def _begin(self, connection: sqlite3.Connection) -> None:
        # IMMEDIATE: a transaction that reads first and then writes fails at once, whatever the busy timeout.
        connection.execute("BEGIN IMMEDIATE")
        if len(self._heads) > MOST_HEADS:
            self._heads.clear()

    def _together(self, connection: sqlite3.Connection, jobs: Sequence[Job]) -> list[Any]:
        self._begin(connection)
        results: list[Any] = [None] * len(jobs)
        heads: dict[str, Head] = {}
        for wave in _waves(jobs):
            # A look by the keys costs a hundredth of a commit; to fail on one would undo the whole batch.
            known = _known(connection, [job for _, job in wave if isinstance(job, Prepared)])
            fresh: list[Prepared] = []
            for index, job in wave:
                if not isinstance(job, Prepared):
                    continue
                if job.event_id in known:
                    results[index] = _duplicate(job)
                else:
                    fresh.append(job)
            self._write(connection, fresh, heads)
            for index, job in wave:
                if not isinstance(job, Prepared):
                    results[index] = job(connection)
        connection.execute("COMMIT")
        self._heads.update(heads)
        return results

    def _each(self, connection: sqlite3.Connection, jobs: Sequence[Job]) -> list[Any]:
        self._begin(connection)
        self._heads.clear()
        results: list[Any] = []
        heads: dict[str, Head] = {}
        for job in jobs:
            connection.execute("SAVEPOINT alone")
            tried = dict(heads)
            try:
                if isinstance(job, Prepared):
                    _refuse(connection, job)
                    self._write(connection, [job], tried)
                    results.append(None)
                else:
                    results.append(job(connection))
            except _GUILTY as error:
                connection.execute("ROLLBACK TO alone")
                problem = Unstorable(f"the database refuses this change: {error}")
                problem.__cause__ = error
                results.append(problem)
            except (DuplicateEvent, StaleRevision) as conflict:
                connection.execute("ROLLBACK TO alone")
                results.append(conflict)
            else:
                heads = tried
            connection.execute("RELEASE alone")
        connection.execute("COMMIT")
        self._heads.update(heads)
        return results

    def _write(self, connection: sqlite3.Connection, commits: Sequence[Prepared], heads: dict[str, Head]) -> None:
        """All rows of some commits of different conversations. `heads` gets the chain ends that they lead to."""
        by_statement: dict[str, list[Row]] = {}
        for commit in commits:
            for name, found in commit.rows.items():
                if found:
                    by_statement.setdefault(name, []).extend(found)
        moved: set[str] = set()
        for row in by_statement.get("add_audit", ()):
            chain = row["chain"]
            heads[chain] = linked(row, heads.get(chain) or self._head(connection, chain))
            moved.add(chain)
        if moved:
            by_statement["put_head"] = [
                {"chain": chain, "seq": heads[chain].seq, "hash": heads[chain].hash} for chain in moved
            ]
        for name in STATEMENTS:
            if name in by_statement:
                many(name, connection, by_statement[name])

    def _head(self, connection: sqlite3.Connection, chain: str) -> Head:
        known = self._heads.get(chain)
        if known is not None:
            return known
        stored = one("head", connection, chain=chain)
        return EMPTY if stored is None else Head(stored["seq"], stored["hash"])


def _waves(jobs: Iterable[Job]) -> Iterable[list[tuple[int, Job]]]:
    """Cut a batch so that no conversation comes twice in a wave, and changes see the commits before them.

    Within a wave the tables are written one after the other; a second commit of the same conversation has to find
    the first one whole.
    """
    wave: list[tuple[int, Job]] = []
    places: set[str] = set()
    for index, job in enumerate(jobs):
        if isinstance(job, Prepared):
            if job.conversation in places or (wave and not isinstance(wave[-1][1], Prepared)):
                yield wave
                wave, places = [], set()
            places.add(job.conversation)
        wave.append((index, job))
    if wave:
        yield wave


def _known(connection: sqlite3.Connection, commits: Sequence[Prepared]) -> set[str]:
    """The events of these that are in the database."""
    if not commits:
        return set()
    asked = json.dumps([commit.event_id for commit in commits])
    return {row["event_id"] for row in connection.execute(KNOWN, (asked,))}


def _duplicate(commit: Prepared) -> DuplicateEvent:
    return DuplicateEvent(f"event {commit.event_id} was committed before")


def _refuse(connection: sqlite3.Connection, commit: Prepared) -> None:
    """Say which conflict it is. A duplicate is told first: it needs no second try."""
    if _known(connection, [commit]):
        raise _duplicate(commit)
    stored = one("stored_revision", connection, conversation=commit.conversation)
    revision = 0 if stored is None else stored["revision"]
    if revision != commit.expected_revision:
        raise StaleRevision(
            f"{commit.conversation} is at revision {revision}, the commit was made for {commit.expected_revision}"
        )


def _roll_back(connection: sqlite3.Connection) -> None:
    # Some errors (disk full, I/O) have rolled back already; a ROLLBACK would hide them behind "no transaction".
    if connection.in_transaction:
        connection.execute("ROLLBACK")
