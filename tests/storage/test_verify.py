"""`audit verify`: each kind of tampering, done by hand with sqlite3, is found and named (AU-2)."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from bot.ports import AuditFinding
from storage.chain import REMOVED, digest, entry_hash
from storage.memory import MemorySnapshot, MemoryStore
from storage.migrate import upgrade
from storage.queries import as_dict
from storage.sqlite import SqliteStore, open_sqlite
from storage.verify import checked, verify
from tests.storage.build import after, clarification, commit, entry, recorded, taken_back


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """Two sessions with clarifications, one of them replaced; a chain of five rows and the system's."""
    path = tmp_path / "askfirst.db"
    upgrade(path)
    store = await open_sqlite(path)
    await store.commit(commit("e1", audit=(entry(n=1), entry(session=None))))
    await store.commit(commit("e2", 1, at=after(1), **recorded(clarification(chosen="A"), clarification("clar-2"))))
    await store.commit(commit("e3", 2, at=after(2), **recorded(clarification(chosen="B", revision=2))))
    await store.commit(commit("e4", 3, at=after(3), audit=(entry("session.completed"),)))
    await store.commit(commit("f1", 0, "terminal:other", **recorded(clarification(session="s2"))))
    yield store
    await store.close()


def tamper(store: SqliteStore, *statements: str) -> None:
    with closing(sqlite3.connect(store.path)) as connection, connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0, statement


async def found(store: SqliteStore, *statements: str) -> list[AuditFinding]:
    assert await verify(store) == []
    tamper(store, *statements)
    findings = await verify(store)
    assert {finding.chain for finding in findings} <= {"s1"}
    return findings


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("at = at + 1", "was changed after it was written"),
        ("event = 'route.chosen'", "was changed after it was written"),
        ("phase = 2", "was changed after it was written"),
        ("actor = 'system'", "was changed after it was written"),
        ("details_hash = 'x'", "was changed after it was written"),
        ("prev_hash = 'x'", "was changed after it was written"),
        ("hash = 'x'", "was changed after it was written"),
        ("details = '{}'", "its details were changed"),
    ],
)
async def test_a_changed_row(store: SqliteStore, change: str, said: str) -> None:
    findings = await found(store, f"UPDATE audit SET {change} WHERE chain = 's1' AND seq = 1")
    assert any(said in finding.message and finding.where.startswith("row 1 ") for finding in findings)


async def test_a_changed_row_with_its_hashes_made_anew(store: SqliteStore) -> None:
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.row_factory = as_dict
        row = connection.execute("SELECT * FROM audit WHERE chain = 's1' AND seq = 1").fetchone()
        row["details"] = '{"n":2}'
        row["details_hash"] = digest(row["details"])
        row["hash"] = entry_hash(row)
        connection.execute(
            "UPDATE audit SET details = :details, details_hash = :details_hash, hash = :hash WHERE id = :id", row
        )
    [finding] = await verify(store)
    assert finding.where.startswith("row 2 ")
    assert "does not follow the row before it" in finding.message


async def test_a_removed_row(store: SqliteStore) -> None:
    [finding] = await found(store, "DELETE FROM audit WHERE chain = 's1' AND seq = 1")
    assert finding == AuditFinding(
        "s1", "row 2 (clarification_resolved)", "row 1 before this one are missing: removed or renumbered"
    )


async def test_a_removed_row_with_the_others_moved_up(store: SqliteStore) -> None:
    findings = await found(
        store,
        "DELETE FROM audit WHERE chain = 's1' AND seq = 1",
        "UPDATE audit SET seq = seq + 99 WHERE chain = 's1'",
        "UPDATE audit SET seq = seq - 100 WHERE chain = 's1'",
    )
    assert any("does not follow" in finding.message for finding in findings)


async def test_a_row_put_in(store: SqliteStore) -> None:
    findings = await found(
        store,
        "INSERT INTO audit (chain, seq, at, event, actor, details, details_hash, prev_hash, hash) "
        "SELECT chain, seq + 1, at, event, actor, details, details_hash, hash, 'made up' "
        "FROM audit WHERE chain = 's1' AND seq = 5",
    )
    assert [finding.where for finding in findings] == ["row 6 (session.completed)", "end"]


async def test_two_rows_exchanged(store: SqliteStore) -> None:
    findings = await found(
        store,
        "UPDATE audit SET seq = 99 WHERE chain = 's1' AND seq = 1",
        "UPDATE audit SET seq = 1 WHERE chain = 's1' AND seq = 2",
        "UPDATE audit SET seq = 2 WHERE chain = 's1' AND seq = 99",
    )
    assert {"row 1 (clarification_resolved)", "row 2 (intake_round)"} <= {finding.where for finding in findings}


@pytest.mark.parametrize(("from_", "left"), [(5, 4), (1, 0)])
async def test_a_chain_cut_off(store: SqliteStore, from_: int, left: int) -> None:
    findings = await found(store, f"DELETE FROM audit WHERE chain = 's1' AND seq >= {from_}")
    assert AuditFinding("s1", "end", f"the chain ends at row {left}, but 5 were written") in findings


async def test_a_chain_cut_off_with_its_head(store: SqliteStore) -> None:
    [finding] = await found(
        store, "DELETE FROM audit WHERE chain = 's1' AND seq = 5", "DELETE FROM audit_head WHERE chain = 's1'"
    )
    assert finding.where == "head"


async def test_the_heads_can_be_kept_elsewhere(store: SqliteStore) -> None:
    """A forger who sets the head back is not found inside the file; the kept head shows it."""
    before = {one.chain: one.head async for one in checked(store)}
    assert {chain: head and head.seq for chain, head in before.items()} == {"s1": 5, "s2": 1, "system": 1}
    tamper(
        store,
        "DELETE FROM audit WHERE chain = 's1' AND seq = 5",
        "UPDATE audit_head SET (seq, hash) = (SELECT seq, hash FROM audit WHERE chain = 's1' AND seq = 4) "
        "WHERE chain = 's1'",
    )
    assert await verify(store) == []
    assert [one.head.seq async for one in checked(store) if one.head and one.head != before[one.chain]] == [4]


async def test_one_chain_is_in_memory_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A database may have a million."""
    named = []

    async def chains(self: MemorySnapshot) -> AsyncGenerator[str]:
        while True:
            named.append(f"s{len(named)}")
            assert len(named) < 9
            yield named[-1]

    monkeypatch.setattr(MemorySnapshot, "chains", chains)
    async with aclosing(checked(MemoryStore())) as found:
        async for one in found:
            assert named == [f"s{n}" for n in range(len(named))]
            assert one.chain == named[-1]
            if len(named) == 3:
                break


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("chosen = 'A'", "chosen"),
        ("chosen_via = 'accept_recommendations_bulk'", "chosen_via"),
        ("user_message_ref = 'm9'", "user_message_ref"),
        ("chosen_text = 'other words'", "chosen_text"),
        ("user_note = 'a note'", "user_note"),
        ("chosen_at = chosen_at - 1", "a field that the entry does not repeat"),
        ("options = '[]'", "a field that the entry does not repeat"),
        ("why_it_matters = 'it does not'", "a field that the entry does not repeat"),
        ("answered_by = 'terminal:ben'", "a field that the entry does not repeat"),
        ("phase = 3", "a field that the entry does not repeat"),
    ],
)
async def test_a_clarification_changed_by_hand(store: SqliteStore, change: str, named: str) -> None:
    [finding] = await found(store, f"UPDATE clarification SET {change} WHERE session = 's1' AND revision = 2")
    assert finding.where == "clarification clar-2026-12-01-001 revision 2"
    assert finding.message == f"was changed after it was recorded: {named}"


async def test_an_earlier_revision_changed_by_hand(store: SqliteStore) -> None:
    [finding] = await found(store, "UPDATE clarification_history SET chosen = 'B'")
    assert finding.where == "clarification clar-2026-12-01-001 revision 1"


async def test_a_clarification_put_in(store: SqliteStore) -> None:
    columns = [row for row in (await _columns(store)) if row != "id"]
    names = ", ".join(columns)
    [finding] = await found(
        store,
        f"INSERT INTO clarification (id, {names}) SELECT 'clar-9', {names} FROM clarification WHERE id = 'clar-2'",
    )
    assert finding.where == "clarification clar-9 revision 1"
    assert "has no entry in the audit log" in finding.message


async def test_clarifications_of_a_session_without_a_chain(store: SqliteStore) -> None:
    tamper(store, "UPDATE clarification SET session = 'never was' WHERE session = 's2'")
    assert {(finding.chain, finding.where) for finding in await verify(store)} == {
        ("never was", "clarification clar-2026-12-01-001 revision 1"),
        ("s2", "clarification clar-2026-12-01-001 revision 1"),
    }


@pytest.mark.parametrize("table", ["clarification", "clarification_history"])
async def test_a_clarification_that_is_gone(store: SqliteStore, table: str) -> None:
    [finding] = await found(store, f"DELETE FROM {table} WHERE id = 'clar-2026-12-01-001' AND session = 's1'")
    assert "the clarification is gone" in finding.message


async def test_a_clarification_recorded_without_an_entry(store: SqliteStore) -> None:
    await store.commit(commit("e5", 4, clarifications=(clarification("clar-3"),)))
    [finding] = await verify(store)
    assert "has no entry in the audit log" in finding.message


MOVE = (
    "INSERT INTO clarification_history SELECT * FROM clarification WHERE session = 's1' AND revision = 2",
    "DELETE FROM clarification WHERE session = 's1' AND revision = 2",
)


async def test_a_clarification_moved_to_the_history_by_hand(store: SqliteStore) -> None:
    [finding] = await found(store, *MOVE)
    assert finding.where == "clarification clar-2026-12-01-001 revision 2"
    assert finding.message == "is gone, and no entry says that it was taken back"


async def test_a_clarification_taken_back_is_in_order_and_may_come_again(store: SqliteStore) -> None:
    await store.commit(commit("e5", 4, at=after(4), **taken_back(revision=2)))
    assert await verify(store) == []
    await store.commit(commit("e6", 5, at=after(5), **recorded(clarification(revision=3))))
    assert await verify(store) == []


async def test_a_clarification_taken_back_that_is_put_back_by_hand(store: SqliteStore) -> None:
    await store.commit(commit("e5", 4, at=after(4), **taken_back(revision=2)))
    findings = await found(
        store,
        "INSERT INTO clarification SELECT * FROM clarification_history WHERE revision = 2",
        "DELETE FROM clarification_history WHERE revision = 2",
    )
    assert [finding.message for finding in findings] == ["was taken back, but is still there"]


async def test_a_clarification_taken_back_whose_history_is_gone(store: SqliteStore) -> None:
    await store.commit(commit("e5", 4, at=after(4), **taken_back(revision=2)))
    [finding] = await found(store, "DELETE FROM clarification_history WHERE revision = 2")
    assert finding.message == "is in the audit log, but the clarification is gone"


async def test_a_clarification_taken_back_without_an_entry(store: SqliteStore) -> None:
    await store.commit(commit("e5", 4, withdrawn=taken_back(revision=2)["withdrawn"]))
    [finding] = await verify(store)
    assert finding.message == "is gone, and no entry says that it was taken back"


async def test_an_entry_of_a_withdrawal_that_did_not_happen(store: SqliteStore) -> None:
    await store.commit(commit("e5", 4, audit=taken_back(revision=2)["audit"]))
    [finding] = await verify(store)
    assert finding.message == "was taken back, but is still there"


async def test_an_entry_that_takes_back_what_never_was(store: SqliteStore) -> None:
    await store.commit(commit("e5", 4, audit=taken_back("clar-9")["audit"]))
    [finding] = await verify(store)
    assert finding.message == "takes back clarification clar-9 revision 1, which was never recorded"


async def test_the_details_of_a_withdrawal_may_be_removed(store: SqliteStore) -> None:
    await store.commit(commit("e5", 4, at=after(4), **taken_back(revision=2)))
    tamper(store, "UPDATE audit SET details = NULL WHERE event = 'answer.withdrawn'")
    assert await verify(store) == []


async def test_details_may_be_removed_and_the_chain_still_verifies(store: SqliteStore) -> None:
    tamper(store, "UPDATE audit SET details = NULL WHERE chain = 's1' AND seq IN (1, 5)")
    assert await verify(store) == []


async def test_a_clarification_whose_entry_lost_its_details_must_be_removed_too(store: SqliteStore) -> None:
    tamper(store, "UPDATE audit SET details = NULL WHERE chain = 's2'")
    [finding] = await verify(store)
    assert "can not be compared" in finding.message
    tamper(store, f"UPDATE clarification SET user_message_ref = '{REMOVED}' WHERE session = 's2'")
    assert await verify(store) == []


async def _columns(store: SqliteStore) -> list[str]:
    with closing(sqlite3.connect(store.path)) as connection:
        return [row[1] for row in connection.execute("PRAGMA table_info(clarification)")]
