"""The half of the store contract that is about the outbox and the timers; `store_contract.py` takes it in."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from bot.ports import Settle, StaleRevision
from storage.line import EVERY
from storage.records import RecordStore
from tests.storage.build import LEASE, ROOM, START, after, claim, commit, redraw, say, texts, timer_due, words

Row = dict[str, Any]


class RawRows:
    async def raw_rows(self, store: Any, table: str) -> list[Row]:
        """All rows of a table as they lie, in the order in which they came. Given by each store's test class."""
        raise NotImplementedError


class OutboxContract(RawRows):
    # -- outbox --------------------------------------------------------------------------------------------------

    async def test_only_the_oldest_row_of_a_place_is_given_out(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("one"), say("two"))))
        await store.commit(commit("e2", 1, out=(say("three"),)))
        await store.commit(commit("e3", 0, "terminal:other", out=(say("other"),)))
        taken = await claim(store)
        assert texts(taken) == ["one", "other"]
        assert (taken[0].conversation, taken[0].platform, taken[0].attempts) == (ROOM, "terminal", 0)
        assert taken[0].created_at == START
        assert await claim(store) == []
        for expected in ("two", "three"):
            await store.settle(Settle(taken[0].row, f"m-{expected}"))
            taken = await claim(store)
            assert texts(taken) == [expected]
        assert await store.waiting() == 2

    async def test_a_restart_lets_go_of_what_was_claimed(self, store: RecordStore) -> None:
        """Killed between sending and settling: the row is at hand at once, and not after its lease."""
        await store.commit(commit("e1", out=(say("one"),)))
        await claim(store)
        await store.release(["elsewhere"])
        assert await claim(store) == []
        await store.release(["terminal"])
        again = await claim(store)
        assert texts(again) == ["one"]
        assert [row.attempts for row in again] == [1]  # how the first try ended nobody knows

    async def test_a_restart_lets_go_of_timers(self, store: RecordStore) -> None:
        await store.commit(commit("e1", timers_set=(("a", START),)))
        assert len(await store.due(START, 10, LEASE)) == 1
        await store.release(())
        assert len(await store.due(START, 10, LEASE)) == 1

    async def test_a_claim_takes_the_oldest_first_up_to_its_limit(self, store: RecordStore) -> None:
        for n in range(5):
            await store.commit(commit(f"e{n}", 0, f"terminal:{n}", out=(say(str(n)),)))
        assert texts(await claim(store, limit=2)) == ["0", "1"]
        assert texts(await claim(store, limit=2)) == ["2", "3"]

    async def test_a_claim_hides_a_row_until_its_lease_ends(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("one"), say("two"))))
        [first] = await claim(store)
        assert await claim(store, START + LEASE - timedelta(microseconds=1)) == []
        assert await store.next_due() == START + LEASE
        [again] = await claim(store, START + LEASE)
        assert (again.row, again.attempts) == (first.row, 1)  # how the first try ended nobody knows

    async def test_a_lease_is_extended_while_the_row_is_being_sent(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("one"),)))
        await store.commit(commit("e2", 0, "terminal:other", out=(say("other"),)))
        taken = [row.row for row in await claim(store)]
        await store.extend(taken[:1], START + 3 * LEASE)
        assert texts(await claim(store, START + LEASE)) == ["other"]
        assert texts(await claim(store, START + 3 * LEASE - timedelta(microseconds=1))) == ["other"]
        assert texts(await claim(store, START + 3 * LEASE)) == ["one"]

    async def test_what_is_settled_or_put_off_is_not_extended(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("one"), say("two"))))
        [first] = await claim(store)
        await store.retry_at(first.row, after(5), "asked for a pause")
        await store.extend([first.row, 999], START + 3 * LEASE)
        [first] = await claim(store, after(5))
        await store.settle(Settle(first.row, "m1"))
        await store.extend([first.row], START + 3 * LEASE)
        assert texts(await claim(store, after(6))) == ["two"]

    async def test_concurrent_claims_never_share_a_row(self, store: RecordStore) -> None:
        for n in range(40):
            await store.commit(commit(f"e{n}", 0, f"terminal:{n}", out=(say(str(n)),)))
        batches = await asyncio.gather(*(claim(store, limit=7) for _ in range(10)))
        numbers = [row.row for batch in batches for row in batch]
        assert len(numbers) == len(set(numbers)) == 40

    async def test_a_row_to_be_tried_again_waits_and_keeps_the_ones_behind_it_waiting(
        self, store: RecordStore
    ) -> None:
        await store.commit(commit("e1", out=(say("one"), say("two"))))
        [row] = await claim(store)
        await store.retry_at(row.row, after(60), "asked for a pause")
        assert await claim(store, after(59)) == []
        assert await store.next_due() == after(60)
        [again] = await claim(store, after(60))
        assert (texts([again]), again.attempts) == (["one"], 1)

    async def test_a_crowd_behind_rows_that_were_put_off_is_not_read_again_and_comes_in_its_order(
        self, store: RecordStore
    ) -> None:
        """Told apart by looking often; and whatever becomes of the first row, the next one follows."""
        rooms = ["terminal:ana", "terminal:ben", "terminal:cleo"]
        for room in rooms:
            out = (redraw("0", "c"), *(say(str(n)) for n in range(1, 5)))
            await store.commit(commit(f"{room} 1", 0, room, out=out))
        for row in await claim(store):
            await store.retry_at(row.row, after(60), "the platform is down")
        for _ in range(3 * EVERY):
            assert await claim(store, after(1)) == []
        free = [row["effect"] for row in await self.raw_rows(store, "outbox") if row.get("behind", 1) is None]
        assert len(free) in (0, len(rooms))  # the store in memory reads all
        assert await store.next_due() == after(60)
        await store.commit(commit("again", 1, rooms[2], at=after(2), out=(redraw("5", "c"),)))  # instead of the first
        sent: dict[str, list[str]] = {room: [] for room in rooms}
        for n in range(6):
            for row in await claim(store, after(60 + n)):
                sent[row.conversation] += texts([row])
                if len(sent[row.conversation]) == 3:
                    await store.give_up(row.row, "refused")
                else:
                    await store.settle(Settle(row.row, None))
        assert list(sent.values()) == [list("01234"), list("01234"), list("12345")]
        assert await store.waiting() == 0

    async def test_a_row_that_is_given_up_lets_the_next_one_go(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("one"), say("two"))))
        [row] = await claim(store)
        await store.give_up(row.row, "blocked")
        assert texts(await claim(store)) == ["two"]
        kept = (await self.raw_rows(store, "outbox"))[0]
        assert (kept["state"], kept["attempts"], kept["error"]) == ("given_up", 1, "blocked")

    async def test_a_settled_row_is_found_by_its_message(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("a", about="s1.1", card="c"), say("b", card="s1.2"), say("c"))))
        for message in ("m1", "m2", "m3"):
            [row] = await claim(store)
            await store.settle(Settle(row.row, message, 5))
        assert await store.about(ROOM, "m1") == "s1.1"
        assert await store.about(ROOM, "m2") == "s1.2"
        assert await store.about(ROOM, "m3") is None
        assert await store.about(ROOM, "m4") is None
        assert await store.about("terminal:other", "m1") is None
        assert await store.waiting() == 0

    async def test_what_a_message_shows_now_is_its_last_posting_or_redrawing(self, store: RecordStore) -> None:
        shown = [say("first", card="c"), redraw("second", "c"), redraw("never sent", "d"), say("other")]
        await store.commit(commit("e1", out=tuple(shown)))
        await store.commit(commit("e2", 0, "terminal:other", out=(say("elsewhere", card="c"),)))
        assert await store.shown(ROOM, "m1") is None
        first, elsewhere = await claim(store)
        await store.settle(Settle(first.row, "m1"))
        await store.settle(Settle(elsewhere.row, "m1"))
        assert await store.shown(ROOM, "m1") == words("first")
        for message in ("m1", None, "m2"):
            [row] = await claim(store)
            await store.settle(Settle(row.row, message))
        assert await store.shown(ROOM, "m1") == words("second")
        assert await store.shown(ROOM, "m2") == words("other")
        assert await store.shown("terminal:other", "m1") == words("elsewhere")
        assert await store.shown(ROOM, "m3") is None

    async def test_a_claim_takes_the_rows_of_the_platforms_it_is_for(self, store: RecordStore) -> None:
        await store.commit(commit("e1", 0, "telegram:1", out=(say("far"),)))
        await store.commit(commit("e2", 0, "terminal:1", out=(say("near"), say("next"))))
        await store.commit(commit("e3", 0, "term:1", out=(say("part of the name"),)))
        before = await self.raw_rows(store, "outbox")
        for none in ((), ("slack",), ("", "termina", "erminal")):
            assert await store.claim(START, 10, LEASE, none) == []
            assert await store.next_due(none) is None
        assert await self.raw_rows(store, "outbox") == before
        # The limit counts what may be taken: an older row of a platform that is not spoken here is in nobody's way.
        assert texts(await store.claim(START, 1, LEASE, ("slack", "terminal"))) == ["near"]
        assert await store.next_due(("terminal",)) == START + LEASE
        assert await store.next_due(("telegram", "terminal")) == await store.next_due() == START
        kept = {row["conversation"]: row for row in await self.raw_rows(store, "outbox") if row["attempts"] == 0}
        assert (kept["telegram:1"]["lease_until"], kept["term:1"]["lease_until"]) == (None, None)
        assert texts(await store.claim(START, 10, LEASE)) == ["far", "part of the name"]

    async def test_timers_are_anybodys(self, store: RecordStore) -> None:
        await store.commit(commit("e1", 0, "telegram:1", out=(say("far"),), timers_set=(("t", after(9)),)))
        assert await store.next_due(("terminal",)) == await store.next_due(()) == after(9)

    async def test_the_first_report_of_a_row_counts(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("a", card="c"), say("b"))))
        [row] = await claim(store)
        await store.settle(Settle(row.row, "m1"))
        await store.settle(Settle(row.row, "m2"))
        await store.commit(commit("e2", 1, settle=Settle(row.row, "m3")))
        await store.retry_at(row.row, START, "late")
        await store.give_up(row.row, "later")
        assert await store.about(ROOM, "m1") == "c"
        assert texts(await claim(store)) == ["b"]

    async def test_a_commit_settles_in_the_same_transaction(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("a", card="c"), say("b"))))
        [row] = await claim(store)
        with pytest.raises(StaleRevision):
            await store.commit(commit("posted", 5, settle=Settle(row.row, "m1", 9)))
        assert await store.about(ROOM, "m1") is None
        await store.commit(commit("posted", 1, settle=Settle(row.row, "m1", 9)))
        assert await store.about(ROOM, "m1") == "c"
        assert texts(await claim(store)) == ["b"]

    async def test_a_redraw_knows_where_its_card_stands(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("card", card="c"), say("card anew", card="c"))))
        for message in ("m1", "m2"):
            [row] = await claim(store)
            assert row.card_message is None
            await store.settle(Settle(row.row, message))
        await store.commit(commit("e2", 1, out=(redraw("new", "c"),)))
        [row] = await claim(store)
        assert row.card_message == "m2"
        await store.settle(Settle(row.row, "m2"))
        assert await store.posted_count("terminal") == 2
        assert await store.posted_count("telegram") == 0

    async def test_a_redraw_of_a_card_never_posted_has_no_place(self, store: RecordStore) -> None:
        await store.commit(commit("e1", 0, "terminal:other", out=(say("card", card="c"),)))
        [row] = await claim(store)
        await store.settle(Settle(row.row, "m1"))
        await store.commit(commit("e2", out=(redraw("new", "c"),)))
        [row] = await claim(store)
        assert row.card_message is None

    async def test_a_waiting_redraw_is_superseded_by_a_later_one(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("card", card="c"), redraw("1", "c"), redraw("other", "d"))))
        await store.commit(commit("e2", 1, out=(redraw("2", "c"), redraw("3", "c"))))
        await store.commit(commit("e3", 0, "terminal:other", out=(redraw("elsewhere", "c"),)))
        sent = []
        for _ in range(5):
            for row in await claim(store):
                sent += texts([row])
                await store.settle(Settle(row.row, None))
        assert sent == ["card", "elsewhere", "other", "3"]
        assert await store.waiting() == 0

    async def test_a_claimed_redraw_is_not_superseded(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(redraw("1", "c"),)))
        [row] = await claim(store)
        await store.commit(commit("e2", 1, at=after(1), out=(redraw("2", "c"),)))
        assert await claim(store, after(2)) == []
        await store.settle(Settle(row.row, "m1"))
        assert texts(await claim(store, after(2))) == ["2"]

    async def test_a_redraw_whose_claim_ran_out_is_superseded(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(redraw("1", "c"),)))
        await claim(store)
        late = START + LEASE
        await store.commit(commit("e2", 1, at=late, out=(redraw("2", "c"),)))
        assert texts(await claim(store, late)) == ["2"]

    # -- clocks that jump ----------------------------------------------------------------------------------------

    async def test_a_clock_that_was_a_day_ahead_delays_no_message(self, store: RecordStore) -> None:
        """Written, and taken, while the clock was wrong; then it was set right."""
        day = 86_400
        await store.commit(commit("e1", at=after(day), out=(say("one"),)))
        await store.commit(commit("e2", 0, "terminal:other", at=after(day), out=(say("other"),)))
        assert texts(await claim(store, after(day), limit=1)) == ["one"]
        assert texts(await claim(store)) == ["one", "other"]
        assert await claim(store) == []
        [again] = await claim(store, START + LEASE, limit=1)
        await store.settle(Settle(again.row, "m1"))
        assert await store.about(ROOM, "m1") is None

    async def test_what_was_put_off_while_the_clock_was_a_day_ahead_is_not_waited_for(
        self, store: RecordStore
    ) -> None:
        """Written before the jump, tried and put off during it; then the clock was set right."""
        day = 86_400
        await store.commit(commit("e1", out=(say("one"),)))
        [row] = await claim(store, after(day))
        await store.retry_at(row.row, after(day + 5), "no route")
        assert texts(await claim(store, after(1))) == ["one"]
        await store.retry_at(row.row, after(3601), "the platform asks for a pause of an hour")
        assert await claim(store, after(3600)) == []

    async def test_a_clock_that_jumps_ahead_ends_leases_and_loses_nothing(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("one"), say("two")), timers_set=(("t", after(5)),)))
        await claim(store)
        assert texts(await claim(store, after(86_400))) == ["one"]
        assert [timer.name for timer in await store.due(after(86_400), 5, LEASE)] == ["t"]

    async def test_a_timer_taken_while_the_clock_was_ahead_is_free_again(self, store: RecordStore) -> None:
        await store.commit(commit("e1", timers_set=(("t", after(-5)),)))
        assert len(await store.due(after(86_400), 5, LEASE)) == 1
        assert len(await store.due(START, 5, LEASE)) == 1
        assert await store.due(after(1), 5, LEASE) == []

    async def test_workers_whose_clocks_differ_a_little_respect_each_others_leases(self, store: RecordStore) -> None:
        await store.commit(commit("e1", out=(say("one"),)))
        assert len(await claim(store, after(120))) == 1
        assert await claim(store) == []

    # -- timers --------------------------------------------------------------------------------------------------

    async def test_timers_come_due_in_order(self, store: RecordStore) -> None:
        await store.commit(commit("e1", timers_set=(("late", after(20)), ("soon", after(10)))))
        await store.commit(commit("e2", 0, "terminal:other", timers_set=(("soon", after(5)),)))
        await store.commit(commit("e3", 0, "terminal:third", timers_set=(("soon", after(10)),)))
        assert await store.next_due() == after(5)
        assert await store.due(after(4), 10, LEASE) == []
        assert [(t.conversation, t.name, t.at) for t in await store.due(after(10), 2, LEASE)] == [
            ("terminal:other", "soon", after(5)),
            (ROOM, "soon", after(10)),
        ]
        assert [timer.conversation for timer in await store.due(after(10), 2, LEASE)] == ["terminal:third"]
        assert [timer.name for timer in await store.timers("lat")] == ["late"]
        assert await store.timers("%") == []
        assert len(await store.timers()) == 4

    async def test_a_timer_that_was_taken_is_hidden_until_its_lease_ends(self, store: RecordStore) -> None:
        """A worker that dies with it delays it by the lease; it is never lost."""
        await store.commit(commit("e1", timers_set=(("a", after(1)),)))
        assert len(await store.due(after(1), 10, LEASE)) == 1
        assert await store.timer_at(ROOM, "a") == after(1)
        assert await store.timer_at(ROOM, "b") is None
        over = after(1) + LEASE
        assert await store.next_due() == over
        assert await store.due(over - timedelta(microseconds=1), 10, LEASE) == []
        assert [timer.at for timer in await store.due(over, 10, LEASE)] == [after(1)]

    async def test_a_timer_set_anew_is_nobodys(self, store: RecordStore) -> None:
        await store.commit(commit("e1", timers_set=(("a", after(1)),)))
        await store.due(after(1), 10, LEASE)
        await store.commit(commit("e2", 1, timers_set=(("a", after(2)),)))
        assert [timer.at for timer in await store.due(after(2), 10, LEASE)] == [after(2)]

    async def test_concurrent_looks_never_share_a_timer(self, store: RecordStore) -> None:
        for n in range(40):
            await store.commit(commit(f"e{n}", 0, f"terminal:{n}", timers_set=(("t", START),)))
        batches = await asyncio.gather(*(store.due(START, 7, LEASE) for _ in range(10)))
        places = [timer.conversation for batch in batches for timer in batch]
        assert len(places) == len(set(places)) == 40

    async def test_a_turn_is_one_owners_until_it_ends(self, store: RecordStore) -> None:
        assert await store.take_turn("poll", "a", START, after(10))
        assert not await store.take_turn("poll", "b", after(9), after(20))
        assert await store.take_turn("other", "b", after(9), after(20))
        assert await store.take_turn("poll", "a", after(9), after(30))  # it goes on having it
        assert not await store.take_turn("poll", "b", after(29), after(40))
        assert await store.take_turn("poll", "b", after(30), after(40))  # a dead owner's turn ends by itself
        await store.end_turn("poll", "a")  # no longer its turn to end
        assert not await store.take_turn("poll", "a", after(31), after(50))
        await store.end_turn("poll", "b")
        assert await store.take_turn("poll", "a", after(31), after(50))

    async def test_a_turn_taken_while_the_clock_was_a_day_ahead_is_nobodys(self, store: RecordStore) -> None:
        day = 86_400
        assert await store.take_turn("poll", "dead", after(day), after(day + 10))
        assert await store.take_turn("poll", "b", START, after(10))
        assert not await store.take_turn("poll", "c", START, after(10))

    async def test_a_timer_set_while_the_clock_was_a_day_ahead_is_due_at_once_unless_it_is_for_later(
        self, store: RecordStore
    ) -> None:
        """It is given out with its own moment, which the core knows it by."""
        day = 86_400
        set_ = (("grace", after(day + 3)), ("soon", after(day + 600)), ("later", after(day + 601)))
        await store.commit(commit("e1", at=after(day), timers_set=set_))
        await store.commit(commit("e2", 1, at=after(2), timers_set=(("now", after(4)),)))
        assert [timer.name for timer in await store.due(after(day - 60), 1, LEASE)] == ["now"]
        taken = await store.due(after(3), 9, LEASE)
        assert [(timer.name, timer.at) for timer in taken] == [("grace", after(day + 3)), ("soon", after(day + 600))]
        assert await store.due(after(3), 9, LEASE) == []  # taken
        due = timer_due("grace", "t1", at=after(day + 3))
        await store.commit(commit("t1", 2, at=after(day + 3), event=due.event))
        assert [timer.name for timer in await store.due(after(40), 9, LEASE)] == ["now", "soon"]
        assert [timer.name for timer in await store.due(after(day + 601), 9, LEASE)] == ["now", "soon", "later"]

    async def test_a_timer_set_again_with_the_right_clock_is_waited_for(self, store: RecordStore) -> None:
        day = 86_400
        await store.commit(commit("e1", at=after(day), timers_set=(("grace", after(day + 3)),)))
        await store.commit(commit("e2", 1, at=after(2), timers_set=(("grace", after(5)),)))
        assert await store.due(after(3), 9, LEASE) == []
        assert [timer.name for timer in await store.due(after(5), 9, LEASE)] == ["grace"]

    async def test_setting_a_timer_again_moves_it_and_clearing_removes_it(self, store: RecordStore) -> None:
        await store.commit(commit("e1", timers_set=(("a", after(1)), ("b", after(2)))))
        await store.commit(commit("e2", 1, timers_set=(("a", after(9)),), timers_cleared=("b", "never set")))
        assert [(t.name, t.at) for t in await store.timers()] == [("a", after(9))]

    async def test_a_timer_ends_with_the_commit_of_its_own_event(self, store: RecordStore) -> None:
        await store.commit(commit("e1", timers_set=(("a", after(1)), ("b", after(1)))))
        due = timer_due("a", "t1", at=after(2))
        await store.commit(commit("t1", 1, at=after(2), event=due.event))
        assert [timer.name for timer in await store.timers()] == ["b"]

    async def test_a_timer_moved_while_it_came_due_stays(self, store: RecordStore) -> None:
        await store.commit(commit("e1", timers_set=(("a", after(1)),)))
        await store.commit(commit("e2", 1, timers_set=(("a", after(50)),)))
        await store.commit(commit("t1", 2, at=after(2), event=timer_due("a", "t1").event))
        assert [timer.at for timer in await store.timers()] == [after(50)]

    async def test_a_timer_set_by_its_own_event_is_set(self, store: RecordStore) -> None:
        await store.commit(commit("e1", timers_set=(("a", after(1)),)))
        more: dict[str, Any] = {"timers_set": (("a", after(50)),), "timers_cleared": ("a",)}
        await store.commit(commit("t1", 1, at=after(2), event=timer_due("a", "t1").event, **more))
        assert [timer.at for timer in await store.timers()] == [after(50)]
