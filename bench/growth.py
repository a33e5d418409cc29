"""The same on a database with nothing in it and on one with years in it: start, steps and memory.

The full one has 100,000 open sessions, each in the middle of its round, and 1,000,000 clarifications; one real
session is recorded and its rows are written again under other names.
"""

from __future__ import annotations

import functools
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median

from bench.figure import Figure, Goal, interleaved
from bench.postgres import ended, go, worker
from bench.start import ASKFIRST, first_answer
from storage.migrate import upgrade

OPEN = 100_000
CLARIFIED = 1_000_000
PEOPLE, INTAKES = 32, 2
MEGABYTES = 50  # that a program on the full database may take more

START = Goal(1.5, "most")
STEP = Goal(1.5, "most")


def figures(rounds: int, *, share: float = 1.0) -> list[Figure]:
    """`share` is the part of the full database that is built."""
    with tempfile.TemporaryDirectory() as folder:
        empty, full = Path(folder) / "empty.db", Path(folder) / "full.db"
        upgrade(empty)
        build(full, max(1, int(OPEN * share)), max(10, int(CLARIFIED * share)))
        begun, floor = interleaved(
            rounds, functools.partial(first_answer, full), functools.partial(first_answer, empty)
        )
        worked: dict[str, list[dict[str, float]]] = {"full": [], "empty": []}
        for number in range(rounds):
            for name, path in (("full", full), ("empty", empty)):
                worked[name].append(_work(path, 2_000_000 + number * PEOPLE))
    late, usual = (median(one["p99"] for one in worked[name]) * 1000 for name in ("full", "empty"))
    more, plain = (median(one["megabytes"] for one in worked[name]) for name in ("full", "empty"))
    return [
        Figure("growth_start", begun, floor, "ms", START),
        Figure("growth_step_p99", late, usual, "ms", STEP),
        Figure("growth_memory", more, plain, "MB", Goal(round(1 + MEGABYTES / plain, 2), "most")),
    ]


def _work(path: Path, first: int) -> dict[str, float]:
    """Steps of some people who are new there, then the export of everything; the most memory of both."""
    [process] = go([worker(str(path), first, PEOPLE, INTAKES)])
    found = ended(process)
    program = (
        "import sys; sys.argv = ['askfirst', 'export', '--format', 'jsonl', '--db', sys.argv[1]]\n"
        "from bench.worker import peak\n"
        "from bot.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(peak(), file=sys.stderr)\n"
    )
    exported = subprocess.run(
        [sys.executable, "-c", program, path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True
    )
    return {**found, "megabytes": max(found["megabytes"], float(exported.stderr.split()[-1]))}


def build(path: Path, open_sessions: int, clarifications: int) -> None:
    """One person's session in the middle of its round, written again for many."""
    upgrade(path)
    with _middle_of_a_round() as template, closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for setting in ("journal_mode = WAL", "synchronous = OFF", "cache_size = -200000"):
            connection.execute(f"PRAGMA {setting}").fetchall()
        connection.execute("ATTACH DATABASE ? AS one", (str(template),))
        person, session = connection.execute("SELECT conversation, session FROM one.session").fetchone()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TEMP TABLE n (n INTEGER PRIMARY KEY)")
        count = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?) SELECT n FROM c"
        connection.execute(f"INSERT INTO n {count}", (open_sessions,))
        for table, columns in _columns(connection).items():
            renamed = ", ".join(_renamed(column, kind) for column, kind in columns.items())
            names = ", ".join(f'"{column}"' for column in columns)
            connection.execute(
                f'INSERT INTO main."{table}" ({names}) SELECT {renamed} FROM one."{table}" AS t, n',
                {"person": person, "session": session},
            )
        each = clarifications // open_sessions
        columns = _columns(connection)["clarification"]
        names = ", ".join(f'"{column}"' for column in columns)
        values = ", ".join("'clar-2026-01-01-' || (200 + k.n)" if c == "id" else f'c."{c}"' for c in columns)
        connection.execute(
            f"INSERT INTO clarification ({names}) SELECT {values} FROM clarification AS c, n AS k "
            "WHERE k.n <= ? AND c.id = (SELECT min(id) FROM clarification)",
            (max(0, each - 2),),
        )
        connection.execute("COMMIT")
        connection.execute("ANALYZE")


@contextmanager
def _middle_of_a_round() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.db"
        lines = b'{"text": "/ars-lit-review how moss changes flat roofs"}\n{"text": "1: A, 2: B"}\n'
        command = [ASKFIRST, "chat", "--jsonl", "--db", path]
        subprocess.run(command, input=lines, stdout=subprocess.DEVNULL, check=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        yield path


def _columns(connection: sqlite3.Connection) -> dict[str, dict[str, str]]:
    tables = ("conversation", "event", "session", "clarification", "audit", "audit_head", "outbox", "timer")
    unnumbered = {("audit", "id"), ("outbox", "row")}
    return {
        table: {
            row[1]: row[2]
            for row in connection.execute(f'PRAGMA main.table_info("{table}")')
            if (table, row[1]) not in unnumbered
        }
        for table in tables
    }


def _renamed(column: str, kind: str) -> str:
    """The names of the person and the session stand in keys, and in the JSON of states, events and messages."""
    if kind != "TEXT":
        return f't."{column}"'
    if column == "event_id":
        return "t.event_id || '@' || n.n"
    mine = f"replace(t.\"{column}\", :person, 'terminal:many' || n.n)"
    return f"replace({mine}, :session, printf('s%09d', n.n))"
