"""A batch of commits as one statement, which is its own transaction: one way to the server and back.

Most batches can go this way. The end of a chain is known from the last time, and a conflict is a violated constraint:
then nothing of the batch was written, and the writer looks first (storage/postgres_writer.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from storage.chain import EMPTY, SYSTEM, Head, linked
from storage.queries import Numbered, Row, named, numbered
from storage.rows import STATEMENTS, Prepared

AT_ONCE = Path(__file__).parent / "sql_at_once"
NUMBER = re.compile(r"\$(\d+)")
MOST_PLACES = 10_000  # whose chains' ends are remembered; about 4 MB


@cache
def parts() -> dict[str, Numbered]:
    return {name: numbered(found.sql) for name, found in named(AT_ONCE).items()}


@dataclass(frozen=True, slots=True)
class Batch:
    """`sql` says $1 for the news of it; `taken` are the statements whose values come from $2 on."""

    sql: str
    taken: tuple[tuple[str, Numbered], ...]

    def values(self, rows: Mapping[str, Sequence[Row]]) -> list[Sequence[Any]]:
        """Column after column."""
        return [column for name, part in self.taken for column in zip(*map(part.values, rows[name]), strict=True)]


@cache
def batch(names: tuple[str, ...], channel: str) -> Batch:
    """The statement for a batch that has rows for these statements, of which there are a few dozen.

    PostgreSQL runs what nobody reads from last to first (`ExecPostprocessPlan`), so places are locked before the
    rest, as by the writer that looks first. That keeps waiting short; what is written does not depend on it.
    """
    begun, count = [], 1
    for name in names:
        part = parts()[name]
        sql = NUMBER.sub(lambda found, past=count: f"${int(found[1]) + past}", part.sql)  # type: ignore[misc]
        begun.append(f"{name} AS ({sql.strip().rstrip(';')})")
        count += len(part.names)
    written = ",\n".join(reversed(begun))
    return Batch(
        f"WITH {written}\nSELECT pg_notify('{channel}', $1)",
        tuple((name, parts()[name]) for name in names),
    )


def gathered(commits: Iterable[Prepared]) -> dict[str, list[Row]]:
    """The rows of all commits, by statement."""
    by_statement: dict[str, list[Row]] = {}
    for commit in commits:
        for name, found in commit.rows.items():
            if found:
                by_statement.setdefault(name, []).extend(found)
    return by_statement


def crosses(commit: Prepared) -> bool:
    """Whether two of its rows may be about one row of a table: which of them counted would be left to chance."""
    rows = commit.rows
    if rows.get("keep_withdrawn") or (rows.get("settle") and rows.get("supersede")):
        return True
    sessions = [row["session"] for row in rows.get("put_session", ())]
    gone = {row["name"] for name in ("end_timer", "clear_timer") for row in rows.get(name, ())}
    set_ = [row["name"] for row in rows.get("set_timer", ())]
    return len(set(sessions)) < len(sessions) or len(set(set_)) < len(set_) or not gone.isdisjoint(set_)


class Ends:
    """The ends of the chains of places that this worker has written to lately."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Head]] = {}

    def forget(self, places: Iterable[str] | None) -> None:
        if places is None:
            self._known.clear()
        else:
            for place in places:
                self._known.pop(place, None)

    def keep(self, commits: Iterable[Prepared], moved: Mapping[str, Head]) -> None:
        if len(self._known) > MOST_PLACES:
            self._known.clear()
        for commit in commits:
            for row in commit.rows.get("add_audit", ()):
                if row["chain"] != SYSTEM:  # everybody writes to it
                    self._known.setdefault(commit.conversation, {})[row["chain"]] = moved[row["chain"]]

    def of(self, commits: Iterable[Prepared]) -> tuple[dict[str, Head], list[str]]:
        """The ends that are known, and the chains whose end must be looked up.

        A session that begins with this commit has none.
        """
        found: dict[str, Head] = {}
        wanted: list[str] = []
        for commit in commits:
            known = self._known.get(commit.conversation, {})
            for row in commit.rows.get("add_audit", ()):
                chain = row["chain"]
                if chain in known:
                    found[chain] = known[chain]
                elif chain == SYSTEM or not _begins(commit, chain):
                    wanted.append(chain)
        return found, wanted


def _begins(commit: Prepared, session: str) -> bool:
    [event] = commit.rows["add_event"]
    return any(
        row["session"] == session and row["started_at"] == event["at"] for row in commit.rows.get("put_session", ())
    )


def chained(by_statement: dict[str, list[Row]], heads: Mapping[str, Head]) -> dict[str, Head]:
    """Gives the audit rows their places; adds the new ends, and gives them back."""
    moved: dict[str, Head] = {}
    for row in by_statement.get("add_audit", ()):
        chain = row["chain"]
        moved[chain] = linked(row, moved.get(chain) or heads.get(chain) or EMPTY)
    if moved:
        by_statement["put_head"] = [
            {"chain": chain, "seq": head.seq, "hash": head.hash} for chain, head in sorted(moved.items())
        ]
    return moved


def ordered(by_statement: Mapping[str, list[Row]]) -> tuple[str, ...]:
    return tuple(name for name in STATEMENTS if name in by_statement)
