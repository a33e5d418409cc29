"""Everything that a store promises. Each store's test file is a short subclass and what is special to it.

A subclass says how to open a store and how to look at its rows *past* the store: a broken `commit` must not be able
to hide behind a broken `load` (after zarr's store tests).
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from bot.core.codec import decode_envelope, decode_state, encode_state
from bot.core.effects import Audit
from bot.ports import DuplicateEvent, Settle, StaleRevision, StoreUnavailable
from storage import rows
from storage.records import RecordStore
from storage.rows import Unstorable
from storage.verify import verify
from tests.contracts.outbox_contract import OutboxContract
from tests.storage.build import (
    ROOM,
    START,
    after,
    claim,
    clarification,
    commit,
    entry,
    recorded,
    say,
    session_row,
    state,
    taken_back,
    texts,
)


class StoreContract(OutboxContract):
    # -- given by the subclass, with `raw_rows` -------------------------------------------------------------------

    async def raw_put_state(self, store: Any, conversation: str, revision: int, written: str) -> None:
        """Store a state past the store, as another process would."""
        raise NotImplementedError

    # -- conversations -------------------------------------------------------------------------------------------

    async def test_a_place_where_nothing_happened_has_no_state(self, store: RecordStore) -> None:
        assert await store.load(ROOM) is None
        assert await store.seen("e1") is False
        assert await store.conversation_of("s1") is None
        assert await store.next_due() is None

    async def test_a_commit_is_there_for_load_and_past_the_store(self, store: RecordStore) -> None:
        await store.commit(commit("e1", mark="first", outcome="refused", reason="no access"))
        assert await store.load(ROOM) == state(1, mark="first")
        assert await store.seen("e1") is True
        [kept] = await self.raw_rows(store, "conversation")
        assert (kept["id"], kept["revision"], decode_state(kept["state"])) == (ROOM, 1, state(1, mark="first"))
        [event] = await self.raw_rows(store, "event")
        assert (event["event_id"], event["conversation"], event["revision"]) == ("e1", ROOM, 1)
        assert (event["kind"], event["outcome"], event["reason"]) == ("message", "refused", "no access")
        assert decode_envelope(event["envelope"]) == commit("e1").envelope
        assert event["at"] == 1_796_119_200_123_456

    async def test_load_gives_what_is_stored_not_what_was_handed_in(self, store: RecordStore) -> None:
        await self.raw_put_state(store, ROOM, 4, encode_state(state(4, mark="by another process")))
        assert await store.load(ROOM) == state(4, mark="by another process")

    async def test_the_same_event_twice_is_a_duplicate_and_writes_nothing(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("one"),), audit=(entry(),)))
        for expected in (0, 1, 7):  # told even where the revision is stale as well
            with pytest.raises(DuplicateEvent):
                await store.commit(commit("e1", expected, mark="again", out=(say("two"),), audit=(entry(),)))
        assert await store.load(ROOM) == state(1)
        assert len(await self.raw_rows(store, "outbox")) == 1
        assert len(await self.raw_rows(store, "audit")) == 1

    async def test_the_same_event_in_another_place_is_a_duplicate(self, store: RecordStore) -> None:
        await store.commit(commit("e1"))
        with pytest.raises(DuplicateEvent):
            await store.commit(commit("e1", 0, "terminal:other"))
        assert await store.load("terminal:other") is None

    @pytest.mark.parametrize("expected", [0, 1, 3, 9])
    async def test_a_commit_for_another_revision_is_stale_and_writes_nothing(
        self, store: RecordStore, expected: int
    ) -> None:
        await store.commit(commit("e1"))
        await store.commit(commit("e2", 1))
        with pytest.raises(StaleRevision):
            await store.commit(
                commit(
                    "late", expected, mark="late", out=(say("late"),), timers_set=(("t", START),), audit=(entry(),)
                )
            )
        assert await store.load(ROOM) == state(2)
        assert await store.seen("late") is False
        for table in ("outbox", "timer", "audit"):
            assert await self.raw_rows(store, table) == []

    async def test_a_place_that_never_was_can_only_begin_at_revision_1(self, store: RecordStore) -> None:
        with pytest.raises(StaleRevision):
            await store.commit(commit("e5", 5))
        assert await self.raw_rows(store, "conversation") == []
        assert await self.raw_rows(store, "event") == []

    async def test_a_write_by_another_process_is_noticed_and_then_seen(self, store: RecordStore) -> None:
        await store.commit(commit("e1"))
        assert await store.load(ROOM) == state(1)
        await self.raw_put_state(store, ROOM, 2, encode_state(state(2, mark="elsewhere")))
        with pytest.raises(StaleRevision):
            await store.commit(commit("e2", 1))
        assert await store.load(ROOM) == state(2, mark="elsewhere")
        await store.commit(commit("e2", 2, mark="here"))
        assert await store.load(ROOM) == state(3, mark="here")

    async def test_of_many_at_the_same_revision_one_wins(self, store: RecordStore) -> None:
        results = await asyncio.gather(
            *(store.commit(commit(f"e{n}", mark=str(n))) for n in range(20)), return_exceptions=True
        )
        assert sorted(type(result).__name__ for result in results) == ["NoneType"] + ["StaleRevision"] * 19
        winner = results.index(None)
        assert await store.load(ROOM) == state(1, mark=str(winner))
        assert [event["event_id"] for event in await self.raw_rows(store, "event")] == [f"e{winner}"]

    async def test_one_guilty_commit_of_a_crowd_fails_alone(self, store: RecordStore) -> None:
        await store.commit(commit("old", 0, "terminal:old"))
        crowd = [commit(f"e{n}", 0, f"terminal:{n}", audit=(entry(session=f"s{n}"),)) for n in range(30)]
        crowd[7] = commit("old", 0, "terminal:7")
        crowd[11] = commit("stale", 3, "terminal:11")
        # Refused late: its place and its event are written by then, and have to go again.
        crowd[13] = commit("gap", 0, "terminal:13", **recorded(clarification(revision=3)))
        results = await asyncio.gather(*(store.commit(one) for one in crowd), return_exceptions=True)
        assert isinstance(results[7], DuplicateEvent)
        assert isinstance(results[11], StaleRevision)
        assert isinstance(results[13], Exception)
        assert [result for n, result in enumerate(results) if n not in (7, 11, 13)] == [None] * 27
        assert len(await self.raw_rows(store, "event")) == 28
        assert await store.load("terminal:13") is None
        assert await verify(store) == []

    async def test_commits_of_one_place_asked_for_at_once_are_written_in_order(self, store: RecordStore) -> None:
        earlier = clarification(revision=1, chosen="A")
        later = clarification(revision=2, chosen="B")
        await asyncio.gather(
            store.commit(commit("e1", 0, **recorded(earlier))),
            store.commit(commit("e2", 1, **recorded(later))),
            store.commit(commit("e3", 2, mark="last")),
        )
        assert await store.load(ROOM) == state(3, mark="last")
        assert [row["chosen"] for row in await self.raw_rows(store, "clarification")] == ["B"]
        assert [row["chosen"] for row in await self.raw_rows(store, "clarification_history")] == ["A"]
        assert await verify(store) == []

    async def test_two_places_never_mix(self, store: RecordStore) -> None:
        """Field case b07: the same message id in two chats is two messages."""
        chats = ("telegram:7512345678", "telegram:-1002512345678")
        for chat in chats:
            await store.commit(commit(f"{chat}/77", 0, chat, mark=chat, out=(say("card", card=f"card of {chat}"),)))
        for row in await claim(store):
            await store.settle(Settle(row.row, "70", 4_503_599_627_370_495))
        for chat in chats:
            assert await store.load(chat) == state(1, chat, mark=chat)
            assert await store.about(chat, "70") == f"card of {chat}"
        orders = {row["message_order"] for row in await self.raw_rows(store, "outbox")}
        assert orders == {4_503_599_627_370_495}

    # -- what can not be stored ----------------------------------------------------------------------------------

    async def test_nul_and_half_characters_are_replaced_and_never_fail(self, store: RecordStore) -> None:
        evil = "a\x00b\ud800c"
        await store.commit(
            commit(
                "e1",
                mark=evil,
                reason=evil,
                out=(say(evil, card=evil),),
                audit=(entry(said=evil),),
                clarifications=(clarification(chosen_text=evil),),
                sessions=(session_row(result={evil: evil}),),
                timers_set=((evil, START),),
            )
        )
        good = "a\ufffdb\ufffdc"
        assert await store.load(ROOM) == state(1, mark=good)
        [row] = await self.raw_rows(store, "clarification")
        assert row["chosen_text"] == good
        assert texts(await claim(store)) == [good]
        assert [timer.name for timer in await store.timers()] == [good]
        await store.commit(commit(evil, 1))
        assert await store.seen(evil) is True

    async def test_the_closed_vocabularies_are_kept(self, store: RecordStore) -> None:
        """AU-1, CA-2."""
        wrong: list[dict[str, Any]] = [
            {"audit": (entry("made_up"),)},
            {"clarifications": (clarification().model_copy(update={"chosen_via": "bot_guess"}),)},
            {"clarifications": (clarification(user_message_ref=" "),)},
            {"clarifications": (clarification(answered_by=""),)},
            {"clarifications": (clarification(), clarification())},
        ]
        for more in wrong:
            with pytest.raises(Unstorable):
                await store.commit(commit("e1", **more))
        assert await self.raw_rows(store, "event") == []

    async def test_a_state_must_follow_the_revision_it_was_made_from(self, store: RecordStore) -> None:
        whole = commit("e1")
        for wrong in (
            type(whole)(whole.envelope, 0, state(2), "accepted"),
            type(whole)(whole.envelope, 0, state(1, "terminal:elsewhere"), "accepted"),
        ):
            with pytest.raises(Unstorable):
                await store.commit(wrong)

    # -- records -------------------------------------------------------------------------------------------------

    async def test_a_clarification_is_kept_whole_and_stamped_with_the_commits_time(self, store: RecordStore) -> None:
        """CA-1"""
        record = clarification(user_note="a note", phase=2, platform_at=after(-5))
        await store.commit(commit("e1", **recorded(record)))
        [row] = await self.raw_rows(store, "clarification")
        assert row["chosen_at"] == 1_796_119_200_123_456
        assert row["platform_at"] == 1_796_119_195_123_456
        assert json.loads(row["options"])[1] == {
            "key": "B",
            "label": "Postgres server",
            "tradeoff": "many writers",
            "recommended": True,
        }
        plain = record.model_dump(exclude={"kind", "options", "platform_at", "decided_at"})
        assert {name: row[name] for name in plain} == plain

    async def test_a_decision_keeps_its_time_when_only_its_reference_changes(self, store: RecordStore) -> None:
        """CA-1, RD-13: the message was deleted; nobody decided anew."""
        await store.commit(commit("e1", **recorded(clarification())))
        marked = clarification(revision=2, decided_at=after(0))
        await store.commit(commit("e2", 1, at=after(60), **recorded(marked)))
        [row] = await self.raw_rows(store, "clarification")
        assert row["revision"] == 2
        assert row["chosen_at"] == 1_796_119_200_123_456

    async def test_a_new_revision_takes_the_place_and_the_earlier_ones_are_kept(self, store: RecordStore) -> None:
        for n, letter in enumerate("ABC"):
            record = clarification(revision=n + 1, chosen=letter)
            await store.commit(commit(f"e{n}", n, at=after(n), **recorded(record)))
        assert [row["chosen"] for row in await self.raw_rows(store, "clarification")] == ["C"]
        earlier = [(row["revision"], row["chosen"]) for row in await self.raw_rows(store, "clarification_history")]
        assert earlier == [(1, "A"), (2, "B")]
        with pytest.raises(Unstorable):
            await store.commit(commit("again", 3, **recorded(clarification(revision=3))))
        assert await store.seen("again") is False

    async def test_a_clarification_taken_back_goes_to_the_history_and_keeps_its_count(
        self, store: RecordStore
    ) -> None:
        """RP-3: Undo."""
        await store.commit(commit("e1", **recorded(clarification(chosen="A"), clarification("other"))))
        await store.commit(commit("e2", 1, at=after(1), **taken_back()))
        assert [row["id"] for row in await self.raw_rows(store, "clarification")] == ["other"]
        [kept] = await self.raw_rows(store, "clarification_history")
        assert (kept["id"], kept["revision"], kept["chosen"]) == ("clar-2026-12-01-001", 1, "A")
        assert await verify(store) == []
        for wrong in (1, 3):
            with pytest.raises(Unstorable):
                await store.commit(commit("wrong", 2, **recorded(clarification(revision=wrong))))
        await store.commit(commit("e3", 2, at=after(2), **recorded(clarification(chosen="B", revision=2))))
        await store.commit(commit("e4", 3, at=after(3), **taken_back(revision=2)))
        earlier = [(row["revision"], row["chosen"]) for row in await self.raw_rows(store, "clarification_history")]
        assert earlier == [(1, "A"), (2, "B")]
        assert await verify(store) == []

    async def test_one_event_may_take_back_and_answer_anew(self, store: RecordStore) -> None:
        await store.commit(commit("e1", **recorded(clarification(chosen="A"))))
        back, anew = taken_back(), recorded(clarification(chosen="B", revision=2))
        both = {"withdrawn": back["withdrawn"], **anew, "audit": (*back["audit"], *anew["audit"])}
        await store.commit(commit("e2", 1, at=after(1), **both))
        assert [row["chosen"] for row in await self.raw_rows(store, "clarification")] == ["B"]
        assert [row["chosen"] for row in await self.raw_rows(store, "clarification_history")] == ["A"]
        entries = [json.loads(row["details"]) for row in await self.raw_rows(store, "audit")]
        assert [(entry["revision"], "clarification_hash" in entry) for entry in entries] == [
            (1, True),
            (1, False),
            (2, True),
        ]
        assert await verify(store) == []

    @pytest.mark.parametrize(
        "wrong", [("clar-2026-12-01-001", "s1", 2), ("clar-2026-12-01-001", "s2"), ("clar-9", "s1")]
    )
    async def test_what_is_not_there_can_not_be_taken_back(self, store: RecordStore, wrong: tuple[Any, ...]) -> None:
        await store.commit(commit("e1", **recorded(clarification())))
        with pytest.raises(Unstorable):
            await store.commit(commit("e2", 1, **taken_back(*wrong)))
        twice = taken_back()
        with pytest.raises(Unstorable):
            await store.commit(commit("e2", 1, withdrawn=twice["withdrawn"] * 2, audit=twice["audit"]))
        assert await store.seen("e2") is False
        assert len(await self.raw_rows(store, "clarification")) == 1
        assert await self.raw_rows(store, "clarification_history") == []

    @pytest.mark.parametrize("first", [2, 7])
    async def test_a_clarification_begins_at_revision_1(self, store: RecordStore, first: int) -> None:
        with pytest.raises(Unstorable):
            await store.commit(commit("e1", **recorded(clarification(revision=first))))
        assert await store.load(ROOM) is None

    async def test_the_same_clarification_id_in_two_sessions_is_two_clarifications(self, store: RecordStore) -> None:
        await store.commit(commit("e1", **recorded(clarification(session="s1"), clarification(session="s2"))))
        assert len(await self.raw_rows(store, "clarification")) == 2
        assert await verify(store) == []

    async def test_audit_rows_are_chained_by_session_and_stamped(self, store: RecordStore) -> None:
        """AU-1, AU-2"""
        await store.commit(commit("e1", audit=(entry(n=1), entry(n=2), entry(session=None))))
        await store.commit(commit("e2", 1, at=after(1), audit=(entry(n=3), entry(session="s2"))))
        rows = await self.raw_rows(store, "audit")
        placed = [(row["chain"], row["seq"], row["at"] - rows[0]["at"]) for row in rows]
        assert placed == [("s1", 1, 0), ("s1", 2, 0), ("system", 1, 0), ("s1", 3, 1_000_000), ("s2", 1, 1_000_000)]
        chain = [row for row in rows if row["chain"] == "s1"]
        assert [row["prev_hash"] for row in chain[1:]] == [row["hash"] for row in chain[:-1]]
        heads = {row["chain"]: (row["seq"], row["hash"]) for row in await self.raw_rows(store, "audit_head")}
        assert heads["s1"] == (3, chain[-1]["hash"])
        assert await verify(store) == []

    async def test_an_audit_row_keeps_its_details(self, store: RecordStore) -> None:
        row = Audit(
            event="route.chosen",
            session="s1",
            phase=3,
            actor="human:terminal:ana",
            details={"z": [1, None], "a": "ü"},
        )
        await store.commit(commit("e1", audit=(row,)))
        [kept] = await self.raw_rows(store, "audit")
        assert (kept["event"], kept["phase"], kept["actor"]) == ("route.chosen", 3, "human:terminal:ana")
        assert kept["details"] == '{"a":"ü","z":[1,null]}'

    async def test_a_session_row_is_replaced(self, store: RecordStore) -> None:
        await store.commit(commit("e1", sessions=(session_row(),)))
        await store.commit(
            commit("e2", 1, sessions=(session_row("s1", "completed", ended_at=after(9), result={"a": 1}),))
        )
        [row] = await self.raw_rows(store, "session")
        assert (row["state"], row["ended_at"] - row["started_at"], row["result"]) == (
            "completed",
            9_000_000,
            '{"a":1}',
        )
        assert await store.conversation_of("s1") == ROOM

    # -- looking beyond one conversation -------------------------------------------------------------------------

    async def test_sessions_are_counted_in_a_place_and_its_threads(self, store: RecordStore) -> None:
        """RP-7: intakes are numbered per place, whichever thread they are in."""
        for n, name in enumerate(("x:team", "x:team/1", "x:team/2", "x:team2", "y:team", "x:te_m"), start=1):
            row = session_row(session=f"s{n}", started_at=after(n))
            await store.commit(commit(f"e{n}", 0, name, sessions=(row,)))
        assert await store.sessions_begun("x:team") == 3
        assert await store.sessions_begun("x:team/1") == 1
        assert await store.sessions_begun("x:te") == 0

    @pytest.mark.parametrize("few", [rows.FEW, 0])
    async def test_conversations_that_wait_for_answers_are_found(
        self, store: RecordStore, few: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """RP-4 RD-16: the newest first, each once, in a place and its threads or on a platform; in grace too.

        A platform that has many is asked in another way than one that has few.
        """
        monkeypatch.setattr(rows, "FEW", few)
        places = (("x:team", "asking"), ("x:team/1", "closing"), ("x:team/2", "completed"), ("x:desk", "asking"))
        for n, (name, kind) in enumerate(places, start=1):
            both = tuple(session_row(f"s{n}{k}", kind, after(n)) for k in "ab")
            await store.commit(commit(f"e{n}", 0, name, sessions=both))
        assert await store.asking("x:team", 10) == ["x:team/1", "x:team"]
        assert await store.asking("x", 10) == ["x:desk", "x:team/1", "x:team"]
        assert await store.asking("x", 2) == ["x:desk", "x:team/1"]
        assert await store.asking("y", 10) == []
        between = session_row("s5", "between", after(5))
        await store.commit(commit("e5", 0, "x:spec", sessions=(between,)))
        assert list(await store.open_conversations("x")) == ["x:desk", "x:spec", "x:team", "x:team/1"]
        for n, name in enumerate(("x:team2", "x:team:9", "x:tea", "x:team0/1", "xx:team"), start=9):
            await store.commit(commit(f"e{n}", 0, name, sessions=(session_row(f"s{n}", "asking", after(1)),)))
        assert await store.asking("x:team", 10) == ["x:team/1", "x:team", "x:team:9"]
        assert (await store.asking("x", 10))[2:] == ["x:tea", "x:team", "x:team0/1", "x:team2", "x:team:9"]

    # -- the end -------------------------------------------------------------------------------------------------

    async def test_a_cancelled_commit_is_written_whole_or_not_at_all(self, store: RecordStore) -> None:
        tasks = [
            asyncio.create_task(store.commit(commit(f"e{n}", 0, f"terminal:{n}", out=(say("x"),)))) for n in range(20)
        ]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await store.commit(commit("after", 0))  # the queue is in order: what was asked for before is done
        events = {row["conversation"] for row in await self.raw_rows(store, "event")}
        assert events == {row["conversation"] for row in await self.raw_rows(store, "outbox")} | {ROOM}
        for n in range(20):
            known = await store.load(f"terminal:{n}")
            assert (known is not None) == (f"terminal:{n}" in events)

    async def test_an_event_is_found_by_its_id(self, store: RecordStore) -> None:
        made = commit("e1")
        await store.commit(made)
        assert await store.event("e1") == made.envelope
        assert await store.event("e2") is None

    async def test_what_is_kept_is_found_by_its_prefix_and_can_be_forgotten(self, store: RecordStore) -> None:
        for key, value in (("a:1", "x"), ("a:2", "y\0"), ("b_1", "z"), ("a:1", "new")):
            await store.keep(key, value)
        assert await store.kept("a:") == {"a:1": "new", "a:2": "y\ufffd"}
        assert await store.kept("b%") == {}
        await store.keep("a:1", None)
        await store.keep("a:3", None)
        assert await store.kept("a") == {"a:2": "y\ufffd"}

    async def test_after_close_the_store_says_so(self, store: RecordStore) -> None:
        await store.close()
        with pytest.raises(StoreUnavailable):
            await store.commit(commit("e1"))
        with pytest.raises(StoreUnavailable):
            await store.seen("e1")
