"""The runner: in order, once, and never half."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta

import pytest
import structlog

from bot.core.effects import Reply, Withdrawal
from bot.core.events import ButtonPressed, Envelope, TimerDue
from bot.core.model import MessageRef, Person
from bot.core.state import Conversation
from bot.core.step import Step
from bot.ports import Settle, StaleRevision, StoreUnavailable
from bot.runner import ATTEMPTS, Runner, fresh_id
from tests.fakes.clock import START, ManualClock, until
from tests.fakes.envelopes import said
from tests.fakes.store import FakeStore
from tests.fakes.toy import toy


def runner(store: FakeStore, clock: ManualClock | None = None, decide=toy) -> Runner:
    return Runner(store, decide, clock or ManualClock(auto=True), lambda: "0123456789", jitter=lambda: 0.5)


async def test_writes_state_rows_and_timers_in_one_commit() -> None:
    store = FakeStore()
    handled = await runner(store).handle(said("grace"))
    assert handled.outcome == "accepted"
    [commit] = store.commits
    assert (commit.expected_revision, commit.state.revision, commit.state.counted) == (0, 1, 1)
    assert commit.timers_set == (("grace:s", START + timedelta(seconds=5)),)
    assert commit.envelope.new_id == "0123456789"


async def test_stamps_the_time_of_receipt_whatever_the_adapter_said() -> None:
    store, clock = FakeStore(), ManualClock()
    clock.advance(90)
    await runner(store, clock).handle(said("hello"))
    assert store.commits[0].envelope.at == START + timedelta(seconds=90)


async def test_the_same_event_again_changes_nothing() -> None:
    store = FakeStore()
    subject = runner(store)
    await subject.handle(said("hello", "e1"))
    again = await subject.handle(said("hello", "e1"))
    assert (again.outcome, len(store.commits), len(store.rows)) == ("duplicate", 1, 1)


async def test_an_event_that_another_worker_has_taken_meanwhile_is_a_duplicate() -> None:
    store = FakeStore()

    async def other_worker() -> None:
        store.events.add("e1")

    store.before["commit"].append(other_worker)
    assert (await runner(store).handle(said("hello", "e1"))).outcome == "duplicate"
    assert store.commits == []


async def test_one_event_many_times_at_once_is_handled_once() -> None:
    store = FakeStore()
    subject = runner(store)
    outcomes = [h.outcome for h in await asyncio.gather(*(subject.handle(said("hello", "e1")) for _ in range(20)))]
    assert sorted(set(outcomes)) == ["accepted", "duplicate"]
    assert outcomes.count("accepted") == 1


async def test_messages_of_a_conversation_keep_their_order() -> None:
    """A slow first commit does not let the second message overtake it."""
    store = FakeStore()
    subject = runner(store)
    gate = asyncio.Event()
    store.before["load"].append(lambda: _wait(gate))
    calls = [asyncio.create_task(subject.handle(said(str(n)))) for n in range(20)]
    await until(lambda: not store.before["load"])
    gate.set()
    await asyncio.gather(*calls)
    assert [kept.workflow for kept in store.states["test:1"].ancient] == [str(n) for n in range(20)]


async def test_one_slow_conversation_does_not_hold_up_another() -> None:
    store = FakeStore()
    subject = runner(store)
    gate = asyncio.Event()
    store.before["load"].append(lambda: _wait(gate))
    slow = asyncio.create_task(subject.handle(said("slow")))
    await until(lambda: not store.before["load"])
    await subject.handle(said("quick", conversation="test:2"))
    assert list(store.states) == ["test:2"]
    gate.set()
    await slow


async def test_locks_do_not_pile_up() -> None:
    store = FakeStore()
    subject = runner(store)
    await asyncio.gather(*(subject.handle(said("x", conversation=f"test:{n}")) for n in range(200)))
    assert len(subject._queues) == 0


async def test_who_gives_up_waiting_holds_up_nobody() -> None:
    """Cancelled while waiting, cancelled at the moment when it was their turn, and the next one."""
    queues = runner(FakeStore())._queues
    assert queues.enter("test:1") is None
    gone, struck, last = (queues.enter("test:1") for _ in range(3))
    assert gone is not None
    assert struck is not None
    assert last is not None
    gone.cancel()
    queues.leave("test:1", None)
    assert struck.done()
    assert not last.done()
    queues.leave("test:1", gone)
    assert not last.done()
    queues.leave("test:1", struck)  # cancelled before it could do anything
    assert last.done()
    late = queues.enter("test:1")
    assert late is not None
    late.cancel()
    queues.leave("test:1", late)
    queues.leave("test:1", last)
    assert len(queues) == 0
    assert queues.enter("test:1") is None


async def test_steps_again_when_another_worker_was_first() -> None:
    """Two workers, one database: both answers are in, each decided on the state that it was written to."""
    store = FakeStore()
    ours, theirs = runner(store), runner(store)

    async def other_worker() -> None:
        await theirs.handle(said("theirs"))

    store.before["commit"].append(other_worker)
    assert (await ours.handle(said("ours"))).outcome == "accepted"
    state = store.states["test:1"]
    assert ([kept.workflow for kept in state.ancient], state.revision) == (["theirs", "ours"], 2)


async def test_gives_up_after_losing_too_often_and_says_so() -> None:
    store, clock = FakeStore(), ManualClock(auto=True)

    async def lose() -> None:
        raise StaleRevision

    store.before["commit"].extend([lose] * ATTEMPTS)
    with pytest.raises(StaleRevision):
        await runner(store, clock).handle(said("hello"))
    assert len(clock.slept) == ATTEMPTS - 1
    assert max(clock.slept) <= 0.25


async def test_a_cancelled_caller_does_not_undo_what_it_began() -> None:
    store = FakeStore()
    subject = runner(store)
    gate, heard = asyncio.Event(), subject.bell.listen()
    noise: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: noise.append(context))
    store.before["commit"].append(lambda: _wait(gate))
    call = asyncio.create_task(subject.handle(said("hello")))
    await until(lambda: not store.before["commit"])
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    gate.set()
    await subject.finish()
    assert len(store.commits) == 1
    assert heard.is_set()
    assert noise == []


async def test_an_event_that_the_core_fails_on_is_kept_as_refused_and_logged_without_words() -> None:
    """It would fail at every delivery, and hold up what a platform delivers in order."""
    store = FakeStore()
    subject = runner(store)
    await subject.handle(said("hello", "e0"))
    before = store.states["test:1"]
    with structlog.testing.capture_logs() as logs:
        handled = await subject.handle(said("break my password is hunter2", "e1"))
    assert (handled.outcome, handled.reason) == ("refused", "our mistake: ZeroDivisionError")
    assert "hunter2" not in repr(logs)
    assert [(entry["event"], entry["event_id"], entry["error"]) for entry in logs] == [
        ("step_failed", "e1", "ZeroDivisionError")
    ]
    kept = store.commits[-1]
    assert (kept.envelope.event.text, kept.outcome) == ("break my password is hunter2", "refused")
    assert (kept.audit, kept.timers_set, kept.clarifications) == ((), (), ())
    [told] = kept.out
    assert told.message.blocks[0].spans[0].text == "That was our mistake, and it has been logged."
    assert store.states["test:1"] == before.model_copy(update={"revision": 2})
    assert (await subject.handle(said("break", "e1"))).outcome == "duplicate"
    assert (await subject.handle(said("hello", "e2"))).outcome == "accepted"


async def test_a_press_that_the_core_fails_on_is_answered() -> None:
    press = ButtonPressed(
        person=Person(id="test:ana", name="ana"), token="x", label="x", ref=MessageRef(id="p", quote="x")
    )
    handled = await runner(FakeStore(), decide=_fails).handle(said("x").model_copy(update={"event": press}))
    assert handled.reply is not None
    assert "our mistake" in handled.reply.text


@pytest.mark.parametrize(("addressed", "told"), [(True, ["test:ana"]), (False, [])])
async def test_in_a_shared_place_only_who_spoke_to_us_is_told(addressed: bool, told: list[str]) -> None:
    store, heard = FakeStore(), said("break")
    place = heard.place.model_copy(update={"shared": True})
    event = heard.event.model_copy(update={"addressed": addressed})
    await runner(store).handle(heard.model_copy(update={"place": place, "event": event}))
    assert [say.only_to for say in store.commits[0].out] == told


def _fails(state: Conversation | None, envelope: Envelope) -> Step:
    raise ZeroDivisionError


async def test_the_core_may_fail_on_the_first_event_of_a_place() -> None:
    store = FakeStore()
    assert (await runner(store).handle(said("break"))).outcome == "refused"
    assert store.states["test:1"] == Conversation(place=said("break").place, revision=1)


def _timer_due() -> Envelope:
    return said("x").model_copy(update={"event": TimerDue(name="grace:s")})


@pytest.mark.parametrize(("envelope", "error"), [(said("x"), MemoryError), (_timer_due(), ValueError)])
async def test_what_may_go_well_another_time_is_raised_and_nothing_is_written(
    envelope: Envelope, error: type[Exception]
) -> None:
    def fails(state: Conversation | None, envelope: Envelope) -> Step:
        raise error

    store = FakeStore()
    with structlog.testing.capture_logs() as logs, pytest.raises(error):
        await runner(store, decide=fails).handle(envelope)
    assert [entry["event"] for entry in logs] == ["step_failed"]
    assert store.commits == []
    assert not await store.seen(envelope.event_id)


async def test_a_store_that_is_away_is_the_callers_business() -> None:
    store = FakeStore()

    async def away() -> None:
        raise StoreUnavailable("disk full")

    store.before["commit"].append(away)
    subject = runner(store)
    with pytest.raises(StoreUnavailable):
        await subject.handle(said("hello", "e1"))
    assert (await subject.handle(said("hello", "e1"))).outcome == "accepted"


async def test_says_what_the_message_replied_to_speaks_of() -> None:
    """RP-7: a direct reply is bound to the card it answers."""
    store = FakeStore()
    subject = runner(store)
    await subject.handle(said("card"))
    await store.settle(Settle(1, "77"))
    await subject.handle(said("first", reply_to="77"))
    await subject.handle(said("second", reply_to="78"))
    assert [commit.envelope.about for commit in store.commits] == [None, "card", None]


async def test_the_answer_to_a_press_runs_once_and_after_the_commit() -> None:
    store = FakeStore()
    order: list[str] = []

    class Answers:
        platform = "test"

        async def reply(self, envelope: Envelope, reply: Reply) -> None:
            order.append(f"{reply.text} after {len(store.commits)} commit")

    press = said("x").model_copy(
        update={
            "event": ButtonPressed(
                person=Person(id="test:ana", name="ana"),
                token="toy:A",
                label="A",
                ref=MessageRef(id="p1", quote="A", card="77"),
            )
        }
    )
    subject = runner(store)
    await subject.receive(press, Answers())
    await subject.receive(press, Answers())
    assert order == ["noted, ana after 1 commit"]


async def test_ignored_and_refused_are_outcomes_with_reasons() -> None:
    def refuses(state: Conversation | None, envelope: Envelope) -> Step:
        return Step(state or Conversation(place=envelope.place), outcome="refused", reason="not let in")

    store = FakeStore()
    assert (await runner(store).handle(said("chatter"))).reason == "not meant for the bot"
    assert (await runner(store, decide=refuses).handle(said("hello"))).outcome == "refused"
    assert [commit.outcome for commit in store.commits] == ["ignored", "refused"]


async def test_a_withdrawal_goes_to_the_store() -> None:
    taken = Withdrawal(id="clar-1", session="s", revision=1)

    def withdraws(state: Conversation | None, envelope: Envelope) -> Step:
        return Step(Conversation(place=envelope.place), records=(taken,))

    store = FakeStore()
    await runner(store, decide=withdraws).handle(said("undo"))
    assert store.commits[0].withdrawn == (taken,)


def test_ids_are_ten_characters_that_can_not_be_mistaken_for_each_other() -> None:
    ids = {fresh_id() for _ in range(500)}
    assert len(ids) == 500
    assert all(re.fullmatch("[0-9a-hjkmnp-tv-z]{10}", value) for value in ids)


async def _wait(gate: asyncio.Event) -> None:
    await gate.wait()
