"""The statements of every day stay fast as the file grows: each one goes by an index, and none sorts or scans."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from storage.migrate import upgrade
from storage.queries import statements

# What a part of the statement has found already: a few rows.
FOUND = "SCAN (named|served|ready|beyond|due|front|soonest|open_rounds|clarified|CONSTANT ROW|always)"

# statement -> what may be scanned all the same, and why
ALLOWED = {
    # of what was found: no more than the limit
    "claim": {"SCAN ready", "SCAN beyond", "SCAN due", "USE TEMP B-TREE FOR ORDER BY"},
    "line_up": {"SCAN front", "USE TEMP B-TREE FOR ORDER BY"},
    "waiting_on": {"SCAN named"},  # what was found: the platforms
    "keep_withdrawn": {"SCAN CONSTANT ROW", "SCAN always"},  # one row that is always there
    # what was found: the platforms, and a row for each
    "next_due": {"SCAN named", "SCAN served", "SCAN timer", "SCAN soonest"},
    "waiting": {"SCAN outbox"},  # by a partial index: only rows that wait
    # of what was found, and timers of the same microsecond
    "claim_timers": {"SCAN ready", "SCAN beyond", "SCAN due", "USE TEMP B-TREE FOR"},
    "timers": {"USE TEMP B-TREE FOR ORDER BY"},  # of one kind
    "sessions": {"SCAN session"},  # all of them, in the order of an index
    "clarifications": {
        "SCAN clarification",
        "USE TEMP B-TREE FOR RIGHT PART OF ORDER BY",
    },  # one session at a time
    "session_clarifications": {"USE TEMP B-TREE FOR ORDER BY"},  # one session's
    "session_history": {"USE TEMP B-TREE FOR ORDER BY"},
    "card_message": {"USE TEMP B-TREE FOR ORDER BY"},  # one card's rows
    "about": {"USE TEMP B-TREE FOR ORDER BY"},  # one message's rows
    "release": {"SCAN outbox"},  # by a partial index: only rows that wait; at the start
    "asking": {"USE TEMP B-TREE FOR ORDER BY"},  # one place's that wait
    "asking_count": {"SCAN open_rounds"},  # what was counted, up to a thousand
    "asking_few": {"USE TEMP B-TREE FOR ORDER BY"},  # the same
    # by a partial index, from the newest on until there are enough; those of the same microsecond by name
    "asking_on": {"SCAN newest USING INDEX session_asking_newest", "USE TEMP B-TREE FOR RIGHT PART OF ORDER BY"},
    "sessions_of": {"USE TEMP B-TREE FOR ORDER BY"},  # one place's
    "chains": {"SCAN audit_head", "SCAN audit", "SCAN clarification"},  # merged as they come, each in its order
    "unsent": {"SCAN outbox", "USE TEMP B-TREE FOR ORDER BY"},  # only rows that wait; for `doctor`
    "failures": {"SCAN event", "USE TEMP B-TREE FOR ORDER BY"},  # for `doctor`, which may take its time
}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path: Path = tmp_path_factory.mktemp("plans") / "askfirst.db"
    upgrade(path)
    with closing(sqlite3.connect(path)) as connection:
        yield connection


@pytest.mark.parametrize("name", sorted(statements()))
def test_a_statement_goes_by_an_index(connection: sqlite3.Connection, name: str) -> None:
    sql = statements()[name].sql
    values = dict.fromkeys(re.findall(r"(?<!:):(\w+)", sql), 1)
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
    costly = [step for step in plan if step.startswith("SCAN") or "TEMP B-TREE" in step]
    allowed = ALLOWED.get(name, set())
    for step in costly:
        assert any(step.startswith(start) for start in allowed), "\n".join(plan)
        if step.startswith("SCAN") and not re.search(FOUND, step):
            assert "USING" in step or name == "failures", "\n".join(plan)


def test_the_outbox_is_searched_among_waiting_rows_only(connection: sqlite3.Connection) -> None:
    """And of those, what was put off in a long outage is not read, nor what another process is to send."""
    for name, index in (
        ("claim", "SEARCH waiting USING INDEX outbox_due (platform=? AND ready_at<?)"),
        ("claim", "SEARCH waiting USING INDEX outbox_due (platform=? AND ready_at>?)"),
        ("any_due", "SEARCH timer USING INDEX timer_soon (set_at>?)"),
        ("claim_timers", "SEARCH waiting USING INDEX timer_soon (set_at>?)"),
        ("line_up", "SEARCH waiting USING INDEX outbox_due (platform=? AND ready_at<?)"),
        ("next_due", "SEARCH waiting USING INDEX outbox_due (platform=?)"),
        ("next_due", "SEARCH waiting USING INDEX outbox_taken"),
        ("release", "SEARCH outbox USING INDEX outbox_taken"),
        ("waiting", "outbox_"),
    ):
        sql = statements()[name].sql
        values = dict.fromkeys(("now", "until", "jumped", "limit", "platforms", "platform", "front"), 1)
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
        assert any(index in step for step in plan), "\n".join(plan)


@pytest.mark.parametrize("name", ["claim", "line_up", "next_due"])
def test_what_waits_for_another_process_costs_a_look_nothing(connection: sqlite3.Connection, name: str) -> None:
    """Counted in steps of SQLite's machine."""
    values: dict[str, object] = dict.fromkeys(("now", "until", "jumped", "limit", "front"), 50)
    counted: list[int] = []
    try:
        for count in (1, 3000):
            connection.executemany(WAITS, [(f"away:{count}:{n}",) for n in range(count)])
            counted.append(0)

            def step() -> None:
                counted[-1] += 1

            connection.set_progress_handler(step, 10)
            connection.execute(
                statements()[name].sql, {**values, "platforms": " here ", "platform": "here"}
            ).fetchall()
            connection.set_progress_handler(None, 10)
    finally:
        connection.rollback()
    assert counted[1] < 2 * counted[0] + 20, counted


WAITS = """
    INSERT INTO outbox (conversation, platform, kind, effect, created_at, ready_at)
    VALUES (?, 'away', 'say', '', 1, 1)
"""


def test_messages_are_counted_from_the_index_alone(connection: sqlite3.Connection) -> None:
    """Whatever the statistics say: the messages themselves are half of all bytes."""
    plan = [
        row[3]
        for row in connection.execute(
            f"EXPLAIN QUERY PLAN {statements()['posted_count'].sql}", {"platform": "terminal"}
        )
    ]
    assert any("COVERING INDEX outbox_posted" in step for step in plan), "\n".join(plan)
