"""Commits a second: this store, and plain sqlite3 writing the same rows in groups of the same size.

    python tests/storage/measure_commits.py [rounds]

Ours includes what a commit costs before it reaches the file: JSON of state, event and message, and the audit hashes.
The floor writes ready-made rows.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from bot.core.effects import Block, Message, Say, Span
from bot.ports import Commit
from storage import open_store
from storage.migrate import upgrade
from storage.queries import statements
from storage.rows import STATEMENTS, prepare
from tests.storage.build import commit, entry

PEOPLE = [f"terminal:person{n:04d}" for n in range(40)]  # makes a state of about 1 kB


def commits(places: int, each: int) -> list[list[Commit]]:
    """By place, in order."""
    card = Message(blocks=tuple(Block(spans=(Span(text="a line of a card " * 3),)) for _ in range(6)))

    def one(place: int, n: int) -> Commit:
        made = commit(
            f"{place}-{n}",
            n,
            f"terminal:{place}",
            out=(Say(message=card, card=f"{place}.1"),),
            audit=(entry(session=f"s{place}", round=n),),
        )
        state = made.state.model_copy(update={"refused": tuple(PEOPLE)})
        return Commit(made.envelope, n, state, "accepted", audit=made.audit, out=made.out)

    return [[one(place, n) for n in range(each)] for place in range(places)]


def rate(count: int, started: float) -> float:
    return count / (time.perf_counter() - started)


async def ours(path: Path, work: Sequence[Sequence[Commit]]) -> float:
    store = await open_store(str(path))

    async def talk(place: Sequence[Commit]) -> None:
        for one in place:
            await store.commit(one)

    started = time.perf_counter()
    await asyncio.gather(*(talk(place) for place in work))
    result = rate(sum(map(len, work)), started)
    await store.close()
    return result


def floor(path: Path, work: Sequence[Sequence[Commit]]) -> float:
    """The same statements over the same rows, one transaction for each group."""
    upgrade(path)
    groups = []
    for together in zip(*work, strict=True):
        group: dict[str, list[tuple[object, ...] | dict[str, object]]] = {}
        for one in together:
            for name, found in prepare(one).rows.items():
                for row in found:
                    if name == "add_audit":
                        row |= {"seq": one.expected_revision + 1, "prev_hash": "0" * 64, "hash": "0" * 64}
                        head = {"chain": row["chain"], "seq": row["seq"], "hash": row["hash"]}
                        group.setdefault("put_head", []).append(head)
                    group.setdefault(name, []).append(row)
        groups.append([(statements()[name].sql, group[name]) for name in STATEMENTS if name in group])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {setting}")
        started = time.perf_counter()
        for ready in groups:
            connection.execute("BEGIN IMMEDIATE")
            for sql, rows in ready:
                connection.executemany(sql, rows)
            connection.execute("COMMIT")
        return rate(sum(map(len, work)), started)


def main() -> None:
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 3):
        for places, each in ((1, 3000), (64, 200)):
            with tempfile.TemporaryDirectory() as folder:
                work = commits(places, each)
                plain = floor(Path(folder) / "floor.db", work)
                found = asyncio.run(ours(Path(folder) / "ours.db", work))
            print(f"{places:2} at once: ours {found:6.0f}/s, plain sqlite3 {plain:6.0f}/s, ratio {found / plain:.2f}")


if __name__ == "__main__":
    main()
