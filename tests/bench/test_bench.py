"""The measurements still work and are written in the form that others read. Nothing here looks at a time."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench.figure import Figure, Goal, interleaved, table
from bench.grown import build
from bench.histogram import Histogram
from bench.postgres import ended, go, worker
from bench.replies import LONGEST, NASTY
from bench.start import ASKFIRST
from bench.talk import STEPS
from storage.migrate import upgrade

NAMES = [
    "replies_per_s",
    "reply_4096_ms",
    "steps_1",
    "steps_64",
    "commits_64",
    "latency_p50",
    "latency_p99",
    "latency_p999",
    "steps_vs_async_orm",
    "postgres_steps",
    "postgres_commits",
    "postgres_two_workers",
    "idle_wakeups",
    "idle_wakeups_postgres",
    "slack_http",
    "slack_http_p99",
    "chat_start",
    "growth_start",
    "growth_step_p99",
    "growth_memory",
    "telegram_webhook",
    "telegram_webhook_p99",
    "telegram_polling",
    "cpu_per_message",
]


def test_a_small_run_writes_every_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = bench.measure
    monkeypatch.setattr(bench, "measure", lambda: small(1, people=2, intakes=1, share=0.01, grown=0.0005, rest=0.1))
    results = tmp_path / "results.json"
    assert bench.main(results) == 0
    written = json.loads(results.read_text("utf-8"))
    assert [figure["name"] for figure in written] == NAMES
    for figure in written:
        assert list(figure) == ["name", "ours", "floor", "unit", "ratio", "goal", "met"]
        assert figure["ours"] > 0 < figure["floor"]
        assert figure["ratio"] == pytest.approx(figure["ours"] / figure["floor"], rel=0.02)
        assert type(figure["met"]) is (bool if figure["goal"] is not None else type(None))
        assert figure["unit"] in ("/s", "/min", "ms", "MB")
    printed = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line]
    assert [word for word in printed if word in ("figure", *NAMES)] == ["figure", *NAMES]  # and lines of the log


def test_a_goal_is_at_least_for_rates_and_at_most_for_times() -> None:
    assert Figure("rate", 60, 100, "/s", Goal(0.5, "least")).as_json()["met"] is True
    assert Figure("rate", 40, 100, "/s", Goal(0.5, "least")).as_json()["met"] is False
    assert Figure("time", 60, 100, "ms", Goal(0.5, "most")).as_json()["met"] is False
    assert table([Figure("time", 40, 100, "ms", Goal(0.5, "most"))]).endswith("≤ 0.5    yes")


def test_a_figure_without_a_goal_is_neither_met_nor_missed() -> None:
    figure = Figure("time", 40, 100, "ms", note="of 3")
    assert (figure.as_json()["goal"], figure.as_json()["met"]) == (None, None)
    assert table([figure]).endswith("–        –  (of 3)")


def test_a_histogram_knows_any_share_within_two_percent() -> None:
    taken = Histogram(n / 1000 for n in range(1, 1001))  # 1 ms to 1 s
    for percent, exactly in ((0.1, 0.001), (50, 0.5), (99, 0.99), (99.9, 0.999), (100, 1.0)):
        assert exactly <= taken.at(percent) <= exactly * 1.0201
    taken.record(0.0)
    assert taken.at(0.01) <= 1e-7
    with pytest.raises(ValueError, match="nothing"):
        Histogram().at(50)


def test_a_grown_database_is_one_that_the_program_could_have_written(tmp_path: Path) -> None:
    """Every copy has whole chains, and its events fold to its state."""
    path = tmp_path / "grown.db"
    assert build(str(path), 3) == 3 * 12
    for command, said in (("audit", "verify"), "whole: 9 chains"), (("replay", "c000000002"), "the same state"):
        done = subprocess.run([ASKFIRST, *command, "--db", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert said in done.stdout


def test_a_worker_is_warm_when_it_is_ready_and_counts_what_comes_then(tmp_path: Path) -> None:
    path = tmp_path / "askfirst.db"
    upgrade(path)

    def events() -> int:
        with closing(sqlite3.connect(path)) as connection:
            return int(connection.execute("SELECT count(*) FROM event").fetchone()[0])

    process = worker(str(path), 0, people=2, intakes=2, warm=1)
    assert events() == 2 * STEPS
    [process] = go([process])
    assert ended(process)["steps"] == 2 * 2 * STEPS
    assert events() == 3 * 2 * STEPS


def test_rounds_take_turns_and_the_median_counts() -> None:
    order: list[str] = []
    values = iter([9.0, 1.0, 2.0])

    def ours() -> float:
        order.append("ours")
        return next(values)

    def floor() -> float:
        order.append("floor")
        return 4.0

    assert interleaved(3, ours, floor) == (2.0, 4.0)
    assert order == ["ours", "floor", "floor", "ours", "ours", "floor"]


def test_the_longest_messages_are_as_long_as_a_platform_allows() -> None:
    assert len(NASTY) >= 10
    assert {len((piece * LONGEST)[:LONGEST]) for piece in NASTY.values()} == {4096}
