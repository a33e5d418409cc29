"""What many workers on one PostgreSQL server rely on: races, lost connections, restarts, and what is said of them."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

import asyncpg
import pytest

from bot.bell import ANYTHING
from bot.ports import Commit, DuplicateEvent, Settle, StaleRevision, StoreUnavailable
from storage import named, open_store, postgres_link, postgres_listener, postgres_writer
from storage.copy import shapes
from storage.postgres import PostgresStore
from storage.postgres_writer import Writer
from storage.readers import events
from storage.rows import prepare
from storage.verify import verify
from tests.contracts.test_postgres_store import raw
from tests.fakes.clock import eventually
from tests.fakes.postgres import PostgresServer
from tests.storage.build import (
    ROOM,
    START,
    after,
    claim,
    clarification,
    commit,
    entry,
    recorded,
    redraw,
    say,
    session_row,
    state,
)

Opens = Callable[..., Awaitable[PostgresStore]]


@pytest.fixture
async def opens(postgres_url: str) -> AsyncIterator[Opens]:
    """Opens a worker's store; closed at the end."""
    async with AsyncExitStack() as stack:

        async def open_one(more: str = "") -> PostgresStore:
            store = await open_store(postgres_url + more)
            assert isinstance(store, PostgresStore)
            stack.push_async_callback(store.close)
            return store

        yield open_one


# -- two workers -----------------------------------------------------------------------------------------------------


async def test_of_two_workers_at_one_revision_one_wins_and_the_other_steps_again(opens: Opens) -> None:
    a, b = await opens(), await opens()
    for n in range(10):
        results = await asyncio.gather(
            a.commit(commit(f"a{n}", n, mark=f"a{n}")),
            b.commit(commit(f"b{n}", n, mark=f"b{n}")),
            return_exceptions=True,
        )
        assert sorted(type(result).__name__ for result in results) == ["NoneType", "StaleRevision"]
        winner = state(n + 1, mark=f"{'ab'[results.index(None)]}{n}")
        assert await a.load(ROOM) == await b.load(ROOM) == winner


async def test_workers_share_the_chains(opens: Opens) -> None:
    """AU-2: one chain for the system and one for each session, whoever writes."""
    workers = [await opens() for _ in range(3)]

    async def talk(n: int) -> None:
        place = f"terminal:{n}"
        for revision in range(12):
            worker = workers[(n + revision) % 3]
            rows = (entry(session=None, n=revision), entry(session=f"s{n % 2}"), entry(session=f"of {n}"))
            await worker.commit(commit(f"{place}#{revision}", revision, place, audit=rows))

    await asyncio.gather(*(talk(n) for n in range(8)))
    assert await verify(workers[0]) == []
    counted = await raw(
        workers[0].target.dsn, "SELECT chain, count(*) AS rows, max(seq) AS last FROM audit GROUP BY 1"
    )
    assert {(row["chain"], row["rows"]) for row in counted if row["chain"] in ("system", "s0")} == {
        ("system", 96),
        ("s0", 48),
    }
    assert all(row["rows"] == row["last"] for row in counted)


async def test_a_crowd_of_two_workers_in_the_same_places_never_deadlocks(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both lock places in one order, whatever order the events came in; and no conflict undoes a batch."""
    a, b = await opens(), await opens()
    alone: list[str] = []
    plain = Writer._alone

    async def watched(writer: Writer, one: Any) -> Any:
        alone.append(one.event_id)
        return await plain(writer, one)

    places = [f"terminal:{n}" for n in range(30)]
    await asyncio.gather(*(a.commit(commit(f"first {place}", 0, place)) for place in places))
    monkeypatch.setattr(Writer, "_alone", watched)
    won = 0
    for turn in range(1, 6):
        results = await asyncio.gather(
            *(a.commit(commit(f"a{turn} {p}", turn, p, audit=(entry(session=p),))) for p in places),
            *(b.commit(commit(f"b{turn} {p}", turn, p, audit=(entry(session=p),))) for p in reversed(places)),
            return_exceptions=True,
        )
        won += sum(result is None for result in results)
        assert {type(result) for result in results} == {type(None), StaleRevision}
    assert won == 5 * len(places)
    assert alone == []
    assert await verify(a) == []


async def test_what_another_worker_changes_is_forgotten_and_its_work_is_heard_of(opens: Opens) -> None:
    a, b = await opens(), await opens()
    rung: list[Any] = []
    b.listen(lambda what=ANYTHING: rung.append(what))
    await eventually(lambda: rung)  # the first look
    await a.commit(commit("e1"))
    assert await b.load(ROOM) == state(1)
    rung.clear()
    await a.commit(commit("e2", 1, mark="by a"))
    await eventually(lambda: b._hot.get(ROOM) is None)
    assert await b.load(ROOM) == state(2, mark="by a")
    assert rung == []  # nothing to do
    await a.commit(commit("e3", 2, out=(say("hello"),)))
    await eventually(lambda: rung)
    assert rung == [{"messages"}]
    await b.commit(commit("e4", 3))  # its own news change nothing
    assert b._hot.get(ROOM) is not None


async def test_a_listener_without_news_looks_all_the_same(opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_listener, "LOOK", 0.01)
    a = await opens()
    rung: list[Any] = []
    a.listen(lambda what=ANYTHING: rung.append(what))
    await eventually(lambda: len(rung) > 3)


async def test_news_of_another_version_are_taken_for_any(opens: Opens) -> None:
    """A rolling deploy: an older worker only says that there is something, a newer one may say it otherwise."""
    a = await opens()
    rung: list[Any] = []
    a.listen(lambda what=ANYTHING: rung.append(what))
    await eventually(lambda: rung)
    for news in ('["b", true, null]', '["b", 1]', "what", '["b", {"x": 1}, ["terminal:1"]]'):
        rung.clear()
        await raw(a.target.dsn, f"NOTIFY askfirst, '{news}'")
        await eventually(lambda: rung == [ANYTHING])
    rung.clear()
    await raw(a.target.dsn, """NOTIFY askfirst, '["b", ["timers", ["x"]], null]'""")
    await eventually(lambda: rung == [{"timers", "['x']"}])


async def test_many_places_at_once_are_news_too(opens: Opens) -> None:
    """A notification takes 8000 bytes, and place names can hold anything."""
    a, b = await opens(), await opens()
    rung: list[Any] = []
    b.listen(lambda what=ANYTHING: rung.append(what))
    await eventually(lambda: rung)
    rung.clear()
    places = [f"terminal:it's \\ „{n}“ " + "x" * 90 for n in range(200)]
    await asyncio.gather(*(a.commit(commit(f"e{place}", 0, place, out=(say("x"),))) for place in places))
    await eventually(lambda: rung)
    assert await b.load(places[7]) == state(1, places[7])


async def test_workers_never_claim_the_same_row_or_timer(opens: Opens) -> None:
    a, b = await opens(), await opens()
    for n in range(40):
        await a.commit(commit(f"e{n}", 0, f"terminal:{n}", out=(say(str(n)),), timers_set=(("t", START),)))
    rows = await asyncio.gather(*(claim((a, b)[n % 2], limit=5) for n in range(16)))
    taken = [row.row for batch in rows for row in batch]
    assert len(taken) == len(set(taken)) == 40
    timers = await asyncio.gather(*((a, b)[n % 2].due(START, 5, after(9) - START) for n in range(16)))
    places = [timer.conversation for batch in timers for timer in batch]
    assert len(places) == len(set(places)) == 40


# -- connections that are lost ---------------------------------------------------------------------------------------


class Cut(asyncpg.Connection):  # type: ignore[misc]
    """Loses the connection around what commits a batch, as often as asked."""

    before = 0
    after = 0

    async def execute(self, query: str, *args: Any, **more: Any) -> str:
        return str(await self._cut(query.endswith("COMMIT"), super().execute(query, *args, **more)))

    async def fetchval(self, query: str, *args: Any, **more: Any) -> Any:
        return await self._cut("pg_notify" in query, super().fetchval(query, *args, **more))

    async def _cut(self, commits: bool, asked: Coroutine[Any, Any, Any]) -> Any:
        if commits and Cut.before:
            Cut.before -= 1
            asked.close()
            self.terminate()
            raise asyncpg.ConnectionDoesNotExistError("cut before")
        done = await asked
        if commits and Cut.after:
            Cut.after -= 1
            self.terminate()
            raise asyncpg.ConnectionDoesNotExistError("cut after")
        return done


@pytest.fixture
def cuts(monkeypatch: pytest.MonkeyPatch) -> type[Cut]:
    plain = postgres_link.options
    monkeypatch.setattr(postgres_link, "options", lambda target: plain(target, connection_class=Cut))
    monkeypatch.setattr(postgres_writer, "PAUSE", 0.001)
    Cut.before = Cut.after = 0
    return Cut


@pytest.mark.parametrize("more", ["", "&pgbouncer=true"])  # in one statement, and in a transaction of several
async def test_a_commit_whose_answer_was_lost_is_acknowledged_once(opens: Opens, cuts: type[Cut], more: str) -> None:
    """It had been written; to write it again would be wrong, and to call it a duplicate too."""
    a = await opens(more)
    cuts.after = 1
    await asyncio.gather(
        *(a.commit(commit(f"e{n}", 0, f"terminal:{n}", **recorded(clarification(session=f"s{n}")))) for n in range(5))
    )
    assert cuts.after == 0
    assert len([event async for event in events(a, "terminal:0")]) == 1
    assert await verify(a) == []


async def test_nor_is_it_a_duplicate_where_somebody_was_in_the_way_of_the_second_look(
    opens: Opens, cuts: type[Cut], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then each of the batch is looked at alone, and the first try of all of them is still not forgotten."""
    a, together = await opens(), Writer._together
    cuts.after, crossed = 1, [asyncpg.DeadlockDetectedError("crossed")]

    async def crossing(writer: Writer, *args: Any, **more: Any) -> Any:
        if crossed:
            raise crossed.pop()
        return await together(writer, *args, **more)

    monkeypatch.setattr(Writer, "_together", crossing)
    await asyncio.gather(*(a.commit(commit(f"e{n}", 0, f"terminal:{n}")) for n in range(5)))
    assert (cuts.after, crossed) == (0, [])
    with pytest.raises(DuplicateEvent):
        await a.commit(commit("e1", 0, "terminal:1", at=after(1)))


async def test_a_commit_that_was_lost_on_the_way_is_made_again(opens: Opens, cuts: type[Cut]) -> None:
    a = await opens()
    cuts.before = 3
    await a.commit(commit("e1", out=(say("one"),)))
    assert cuts.before == 0
    assert await a.load(ROOM) == state(1)
    assert await a.waiting() == 1


async def test_when_it_stays_away_that_is_said_and_nothing_is_lost(opens: Opens, cuts: type[Cut]) -> None:
    a = await opens()
    cuts.before = postgres_writer.TRIES
    with pytest.raises(StoreUnavailable, match="connection was lost"):
        await a.commit(commit("e1"))
    await a.commit(commit("e1"))  # delivered again
    assert await a.load(ROOM) == state(1)


async def delivered(store: PostgresStore) -> None:
    """As a platform does: again until it is taken. A recovery may take longer than our patience."""
    async with asyncio.timeout(60):
        while True:
            try:
                await store.commit(commit("e2", 1))
            except StoreUnavailable:
                await asyncio.sleep(0.05)
            except DuplicateEvent:  # the lost answer was a yes
                return
            else:
                return


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
async def test_a_restart_of_the_server_is_survived(opens: Opens, postgres: PostgresServer, number: int) -> None:
    """SIGQUIT is a power cut: what was acknowledged before it is there."""
    a = await opens()
    rung: list[Any] = []
    a.listen(lambda what=ANYTHING: rung.append(what))
    await eventually(lambda: rung)
    await a.commit(commit("e1", out=(say("one"),)))
    rung.clear()
    postgres.stop(number)
    late = asyncio.create_task(delivered(a))
    await asyncio.to_thread(postgres.start)
    await late
    assert await a.seen("e1") is True
    assert await a.load(ROOM) == state(2)
    await eventually(lambda: rung)  # listening again, and what was said meanwhile is taken for granted
    assert await verify(a) == []


async def test_while_the_server_is_away_that_is_said(
    opens: Opens, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_writer, "PAUSE", 0.001)
    monkeypatch.setattr("storage.postgres.PAUSE", 0.001)
    a = await opens()
    postgres.stop()
    try:
        for question in (a.commit(commit("e1")), a.seen("e1"), claim(a)):
            with pytest.raises(StoreUnavailable, match="nobody answers there"):
                await question
        with pytest.raises(StoreUnavailable, match="nobody answers there"):
            await open_store(postgres.url())
    finally:
        postgres.start()
    await a.commit(commit("e1"))


async def test_a_lock_that_somebody_holds_for_long_is_told_as_such(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody's psql with an open transaction; nobody waits for ever."""
    monkeypatch.setitem(postgres_link.SERVER, "lock_timeout", "20")
    monkeypatch.setattr(postgres_writer, "PAUSE", 0.001)
    a = await opens()
    await a.commit(commit("e1"))
    other = await asyncpg.connect(a.target.dsn)
    try:
        await other.execute("BEGIN; SELECT 1 FROM conversation FOR UPDATE")
        results = await asyncio.gather(
            a.commit(commit("e2", 1)), a.commit(commit("f1", 0, "terminal:other")), return_exceptions=True
        )
        assert isinstance(results[0], StoreUnavailable)
        assert results[1] is None  # other places go on
        await other.execute("ROLLBACK")
    finally:
        await other.close()
    await a.commit(commit("e2", 1))


async def test_a_worker_takes_no_more_connections_than_it_was_given(opens: Opens) -> None:
    a = await opens("&pool=3")
    a.listen(lambda what=ANYTHING: None)
    await asyncio.gather(
        *(a.seen(f"e{n}") for n in range(50)), *(a.commit(commit(f"e{n}", 0, f"t:{n}")) for n in range(50))
    )
    mine = "SELECT count(*) AS mine FROM pg_stat_activity WHERE application_name = 'askfirst'"
    [row] = await raw(a.target.dsn, mine)
    assert row["mine"] <= 3 + 2  # the writer's and the listener's


async def test_behind_a_pooler_no_statement_is_prepared_by_name(opens: Opens) -> None:
    a = await opens("&pgbouncer=true&pool=1")
    await a.commit(commit("e1", out=(say("x"),)))
    await claim(a)
    async with a._pool.acquire() as connection:
        assert await connection.fetch("SELECT * FROM pg_prepared_statements WHERE name <> ''") == []


@pytest.mark.parametrize("more", ["", "&pgbouncer=true"])
async def test_an_acknowledged_commit_is_on_the_disk_whatever_the_default(
    opens: Opens, postgres_url: str, more: str
) -> None:
    database = postgres_url.split("/")[3].split("?")[0]
    await raw(postgres_url, f"ALTER DATABASE {database} SET synchronous_commit = off")
    try:
        a = await opens(more)
        await a.commit(commit("e1"))
        connection = await a._writer._link.get()
        async with connection.transaction():
            await connection.execute(
                a._writer._begin[id(connection)].removeprefix("BEGIN").lstrip("; ") or "SELECT 1"
            )
            assert await connection.fetchval("SHOW synchronous_commit") == "on"
    finally:
        await raw(postgres_url, f"ALTER DATABASE {database} RESET synchronous_commit")


# -- how often the server is asked -----------------------------------------------------------------------------------


def everything(n: int, revision: int) -> Commit:
    """A commit with a row for nearly every statement; each clarification is revised in the second one."""
    return commit(
        f"e{n}.{revision}",
        revision,
        f"terminal:{n}",
        **recorded(clarification(session=f"s{n}", revision=revision + 1)),
        sessions=(session_row(f"s{n}"),),
        out=(say("a card", card=f"c{n}"), redraw("anew", card=f"c{n}")),
        timers_set=(("remind", after(60)),) if revision == 0 else (),
        timers_cleared=("remind",) if revision == 2 else (),
        settle=Settle(1, "m1", 1) if revision == 1 and n == 0 else None,
    )


async def test_a_crowds_commits_are_one_statement(opens: Opens) -> None:
    """No BEGIN, no look, no COMMIT: a session that begins has no chain yet, and after that its end is known."""
    a = await opens()
    await a.commit(commit("first", 0, "terminal:other"))
    asked: list[str] = []
    (await a._writer._link.get()).add_query_logger(lambda record: asked.append(record.query))
    for revision in range(3):
        await a._writer.run([prepare(everything(n, revision)) for n in range(1, 31)])
    await asyncio.sleep(0)  # asyncpg tells of a query in the next turn of the loop
    assert len(asked) == 3
    assert await verify(a) == []


async def test_one_statement_writes_what_the_longer_way_writes(
    opens: Opens, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row by row, also where the server's numbers count them."""
    at_once, quick = Writer._at_once, list[bool]()

    async def watched(writer: Writer, *args: Any) -> bool:
        quick.append(await at_once(writer, *args))
        return quick[-1]

    async def never(*_: Any) -> bool:
        return False

    async def written() -> dict[str, Any]:
        url, a = await postgres.emptied(), await opens()
        for revision in range(3):
            await a._writer.run([prepare(everything(n, revision)) for n in range(5)])
        assert await verify(a) == []
        tables = [f'SELECT * FROM "{shape.name}" ORDER BY {", ".join(shape.key)}' for shape in shapes()]
        found = await postgres.asks(*tables, database=url)
        return {shape.name: rows for shape, rows in zip(shapes(), found, strict=True)}

    monkeypatch.setattr(Writer, "_at_once", watched)
    found = await written()
    # The first of `everything(0, 1)` settles a row and redraws a card: that batch must go the longer way.
    assert quick == [True, False, True]
    monkeypatch.setattr(Writer, "_at_once", never)
    assert await written() == found
    assert {name for name, rows in found.items() if not rows} == {"kept", "timer"}


async def test_a_crowds_taps_are_one_question(opens: Opens) -> None:
    a = await opens()
    for n in range(5):
        await a.commit(commit(f"e{n}", 0, f"terminal:{n}", out=(say("a card", card=f"c{n}"),)))
    for row in await claim(a):
        await a.settle(Settle(row.row, f"m of {row.conversation}", 1))
    asked: list[str] = []
    async with a._pool.acquire() as connection:
        connection.add_query_logger(lambda record: asked.append(record.query))
    found = await asyncio.gather(
        *(a.about(f"terminal:{n}", f"m of terminal:{n}") for n in range(5)), a.about("terminal:0", "m of terminal:1")
    )
    await asyncio.sleep(0)
    assert found == ["c0", "c1", "c2", "c3", "c4", None]
    assert len(asked) == 1


# -- what is said ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://ana:s3cret@127.0.0.1:1/askfirst", "nobody answers there"),
        ("postgresql://ana:s3cret@no-such-host.invalid/askfirst", "host is not found"),
        ("postgresql://ana:s3cret@localhost", "names no PostgreSQL database"),
        ("postgresql:askfirst", "names no PostgreSQL database"),
        ("postgresql://ana:s3cret@localhost:port/askfirst", "can not be read"),
        ("postgresql://ana:s3cret@localhost/askfirst?pool=many", "pool .* number from 1 to 100"),
        ("postgresql://ana:s3cret@localhost/askfirst?pgbouncer=maybe", "true or false"),
    ],
)
async def test_an_address_that_can_not_work_is_told_without_its_password(url: str, words: str) -> None:
    with pytest.raises(StoreUnavailable, match=words) as caught:
        await open_store(url)
    assert "s3cret" not in str(caught.value)


async def test_a_database_that_is_not_there_is_told(postgres: PostgresServer) -> None:
    with pytest.raises(StoreUnavailable, match=r"no database of that name.*createdb"):
        await open_store(postgres.url("nothing"))


def test_a_database_is_named_without_its_password() -> None:
    assert named("postgresql://ana:s3cret@db.example:6432/askfirst?sslmode=require") == (
        "postgresql://db.example:6432/askfirst"
    )
    assert "s3cret" not in repr(postgres_link.Target("postgresql://ana:s3cret@x/y", "postgresql://x/y"))
