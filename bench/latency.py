"""How long one event takes, from the envelope to the durable commit, when nothing else waits: p50, p99 and p99.9.

The floor is plain sqlite3 writing the same rows, one transaction for each event. Ours first decides and makes the
rows.
"""

from __future__ import annotations

import asyncio
import functools

from bench.figure import Figure
from bench.histogram import Histogram
from bench.steps import Rows, file, recorded, talk, written_raw
from bot.app import load_book
from bot.core.book import Book
from config.settings import load_settings

SHARES = {"latency_p50": 50, "latency_p99": 99, "latency_p999": 99.9}


def figures(rounds: int, people: int, intakes: int) -> list[Figure]:
    book = load_book(load_settings(config=None))
    few = max(1, people // 8)
    rows = recorded(book, few, intakes)
    ours, floor = Histogram(), Histogram()
    for number in range(rounds):
        turns = (functools.partial(_ours, book, few, intakes, ours), functools.partial(_floor, rows, floor))
        for turn in turns if number % 2 == 0 else turns[::-1]:
            turn()
    return [Figure(name, 1000 * ours.at(share), 1000 * floor.at(share), "ms") for name, share in SHARES.items()]


def _ours(book: Book, people: int, intakes: int, taken: Histogram) -> None:
    with file() as path:
        asyncio.run(talk(path, book, people, intakes, 1, taken.record))


def _floor(rows: list[list[Rows]], taken: Histogram) -> None:
    written_raw(rows, 1, taken.record)
