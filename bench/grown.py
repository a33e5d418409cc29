"""A database with years in it, built quickly: real rows of one person, written again under many other names.

The person has gone through two intakes and is in the middle of a third one: three sessions, one of them open, and
twelve clarifications. The program itself has written these rows. Copies differ in the names of the place, the
sessions and the events; the hashes over them are made anew, so `audit verify` finds each copy whole. Messages are
kept of the open session only: they are half of all bytes, and nobody reads those of ended sessions again.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.start import ASKFIRST
from storage import is_postgres, upgrade
from storage.chain import FIRST, clarification_hash, digest, entry_hash
from storage.copy import Shape, shapes

OPEN = 100_000
CLARIFIED = 10  # of a person at least: a million in all
PORTION = 500  # people whose rows are written together

SAID = (
    "/ars-lit-review how moss changes flat roofs",
    "1: A, 2: B, 3: A, 4: B, 5: A",
    "/ars-lit-review how snow changes flat roofs",
    "1: A, 2: B, 3: A, 4: B, 5: A",
    "/ars-lit-review how rain changes flat roofs",
    "1: A, 2: B",
)

Row = dict[str, Any]
Names = Mapping[str, str]


def build(url: str, open_sessions: int) -> int:
    """Fill an empty database; the number of clarifications in it."""
    asyncio.run(upgrade(url))
    person = recorded()
    if len(person.hashes) < CLARIFIED:
        raise RuntimeError("the recorded person has not said what was planned: the playbook has changed")
    if is_postgres(url):
        asyncio.run(_fill_postgres(url, person, open_sessions))
    else:
        _fill_sqlite(Path(url), person, open_sessions)
    return open_sessions * len(person.hashes)


@dataclass(frozen=True, slots=True)
class Written:
    """A row as recorded; texts that hold names are cut at them, so that every second piece is a name."""

    columns: tuple[str, ...]
    values: tuple[Any, ...]

    def row(self, new: Names) -> Row:
        return {
            column: "".join([new.get(piece, piece) for piece in value]) if isinstance(value, list) else value
            for column, value in zip(self.columns, self.values, strict=True)
        }


@dataclass(frozen=True, slots=True)
class Recorded:
    """The rows of one person, by table, and the names in them that differ from one copy to the next."""

    rows: Mapping[str, Sequence[Written]]
    conversation: str
    sessions: tuple[str, ...]
    events: tuple[str, ...]
    hashes: tuple[str, ...]  # of the clarifications

    def copies(self, first: int, count: int) -> dict[str, list[tuple[Any, ...]]]:
        """The rows of some copies, in the order of the tables' columns."""
        made: dict[str, list[tuple[Any, ...]]] = {shape.name: [] for shape in shapes()}
        for n in range(first, first + count):
            for name, rows in self._copy(n).items():
                made[name].extend(tuple(row.values()) for row in rows)
        return made

    def _copy(self, n: int) -> dict[str, list[Row]]:
        new = {self.conversation: f"terminal:many{n:07d}"}
        new |= {session: f"{chr(97 + number)}{n:09d}" for number, session in enumerate(self.sessions)}
        new |= {event: f"{event}@{n}" for event in self.events}
        made: dict[str, list[Row]] = {}
        for name in sorted(self.rows, key="audit".__eq__):  # its entries name the hashes of the clarifications
            made[name] = [row.row(new) for row in self.rows[name]]
            if name == "clarification":
                new |= zip(self.hashes, map(clarification_hash, made[name]), strict=True)
        for row in made["session"]:  # one after the other: the newest are looked for
            row["started_at"] += n
        for row in made["outbox"]:
            row["row"] += n * 100
        _link(made["audit"], made["audit_head"], n)
        return made


def _link(entries: list[Row], heads: list[Row], n: int) -> None:
    last: dict[str, Row] = {}
    for row in entries:
        row["id"] += n * 1000
        row["details_hash"] = digest(row["details"])
        row["prev_hash"] = last[row["chain"]]["hash"] if row["chain"] in last else FIRST
        row["hash"] = entry_hash(row)
        last[row["chain"]] = row
    for head in heads:
        head["hash"] = last[head["chain"]]["hash"]


def recorded() -> Recorded:
    """What the installed chat has written of one person."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.db"
        lines = "".join(f'{{"text": "{said}"}}\n' for said in SAID)
        command = [ASKFIRST, "chat", "--jsonl", "--db", path]
        subprocess.run(
            command, input=lines.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
        )
        with closing(sqlite3.connect(path)) as connection:
            connection.row_factory = sqlite3.Row
            rows = {shape.name: [dict(row) for row in connection.execute(shape.select)] for shape in shapes()}
    rows["kept"] = []
    [place] = rows["conversation"]
    [asking] = [row for row in rows["session"] if row["ended_at"] is None]
    rows["outbox"] = [row for row in rows["outbox"] if asking["session"] in row["effect"]]
    sessions = tuple(row["session"] for row in sorted(rows["session"], key=lambda row: int(row["started_at"])))
    events = tuple(row["event_id"] for row in rows["event"])
    hashes = tuple(map(clarification_hash, rows["clarification"]))
    # An event's name may hold the place's, so the longer ones are looked for first.
    names = sorted((place["id"], *sessions, *events, *hashes), key=len, reverse=True)
    cut = re.compile(f"({'|'.join(map(re.escape, names))})")
    written = {name: [_written(row, cut) for row in found] for name, found in rows.items()}
    return Recorded(written, place["id"], sessions, events, hashes)


def _written(row: Row, cut: re.Pattern[str]) -> Written:
    pieces = ((value, cut.split(value)) if isinstance(value, str) else (value, ()) for value in row.values())
    return Written(tuple(row), tuple(found if len(found) > 1 else value for value, found in pieces))


def _portions(person: Recorded, people: int) -> Iterator[dict[str, list[tuple[Any, ...]]]]:
    for first in range(0, people, PORTION):
        yield person.copies(first, min(PORTION, people - first))


def _insert(shape: Shape) -> str:
    return f'INSERT INTO "{shape.name}" ({shape.listed}) VALUES ({", ".join("?" * len(shape.columns))})'


def _fill_sqlite(path: Path, person: Recorded, people: int) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for setting in ("journal_mode = WAL", "synchronous = OFF", "cache_size = -400000"):
            connection.execute(f"PRAGMA {setting}").fetchall()
        for portion in _portions(person, people):
            connection.execute("BEGIN IMMEDIATE")
            for shape in shapes():
                connection.executemany(_insert(shape), portion[shape.name])
            connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


async def _fill_postgres(url: str, person: Recorded, people: int) -> None:
    from storage.postgres_link import connect, end
    from storage.postgres_url import target

    connection = await connect(target(url))
    try:
        await connection.execute("SET synchronous_commit = off; SET statement_timeout = 0")
        for portion in _portions(person, people):
            async with connection.transaction():
                for shape in shapes():
                    await connection.copy_records_to_table(
                        shape.name, records=portion[shape.name], columns=shape.columns
                    )
        for table, column in (("outbox", "row"), ("audit", "id")):
            await connection.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), max(\"{column}\")) FROM {table}"
            )
        await connection.execute("ANALYZE")
    finally:
        await end(connection)
