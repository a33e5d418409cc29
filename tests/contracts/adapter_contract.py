"""What every adapter promises (adapters/contract.py), as tests. An adapter's own file subclasses `AdapterPromises`
and gives it a `Harness`: the adapter, its fake server, and the toy core behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar, Protocol, TypeVar

import pytest

from bot.core.events import ButtonPressed, DeliveryFailed, MessageEdited, MessageReceived
from bot.outbox import Outbox
from bot.ports import StoreUnavailable
from tests.fakes.clock import ManualClock
from tests.fakes.store import FakeStore

F = TypeVar("F", bound=Callable[..., Any])

Act = Any  # whatever the harness needs to deliver an act again


class Harness(Protocol):
    store: FakeStore
    clock: ManualClock
    outbox: Outbox
    can: frozenset[str]  # of: own, fail, delete, thread, album, forward, shared, edit_same

    def say(self, person: str, text: str, *, room: str = ..., **keys: Any) -> Act: ...
    def edit(self, person: str, act: Act, text: str) -> Act: ...
    def delete(self, act: Act) -> Act: ...
    def press(self, person: str, room: str, label: str) -> Act:
        """The button of the last message in the room that has it."""
        ...

    async def deliver(self, *acts: Act) -> list[bool]:
        """Hand acts over as the platform does, in order; which were acknowledged. Sends what follows."""
        ...

    def texts(self, room: str) -> list[str]:
        """What the bot has posted in a room."""
        ...

    def last_parts(self, room: str, count: int) -> list[tuple[str, bool]]:
        """The last messages: text, and whether it has buttons."""
        ...

    def fail(self, how: str) -> None:
        """Order trouble for the next send: limit, lost before, lost after, refused."""
        ...

    def block(self, room: str) -> None: ...
    def remove_card(self, room: str) -> None: ...


def needs(ability: str) -> Callable[[F], F]:
    """A promise that only platforms with this ability make; conftest.py leaves it out for the others."""

    def mark(test: F) -> F:
        test.needs = ability  # type: ignore[attr-defined]
        return test

    return mark


class AdapterPromises:
    can: ClassVar[frozenset[str]]  # the abilities of the platform, as its harness has them

    @pytest.fixture
    def harness(self) -> Harness:
        raise NotImplementedError

    # in

    async def test_the_same_act_delivered_again_is_the_same_event(self, harness: Harness) -> None:
        act = harness.say("ana", "hello")
        assert await harness.deliver(act, act) == [True, True]
        assert len(harness.store.commits) == 1
        assert len(harness.texts("a")) == 1

    async def test_equal_words_said_twice_are_two_events(self, harness: Harness) -> None:
        await harness.deliver(harness.say("ana", "hello"), harness.say("ana", "hello"))
        assert len(harness.store.commits) == 2

    @needs("own")
    async def test_the_bot_does_not_hear_itself(self, harness: Harness) -> None:
        await harness.deliver(harness.say("ana", "hello"))
        await harness.deliver()  # the echo of our answer
        assert [c.envelope.event.kind for c in harness.store.commits] == ["message"]

    async def test_a_typed_answer_arrives_as_it_was_typed(self, harness: Harness) -> None:
        """CH-1."""
        await harness.deliver(harness.say("ana", "1: B, 2: other (<none> & *more*)\n3: А"))
        event = harness.store.commits[0].envelope.event
        assert isinstance(event, MessageReceived)
        assert event.text == "1: B, 2: other (<none> & *more*)\n3: А"
        assert (event.person.name, event.ref.quote) == ("ana", event.text)

    async def test_a_press_arrives_with_its_token_and_the_card(self, harness: Harness) -> None:
        """CH-1, CA-2: the reference of a press is the act, the card and the label."""
        await harness.deliver(harness.say("ana", "card"))
        await harness.deliver(harness.press("ben", "a", "B second"))
        envelope = next(c.envelope for c in harness.store.commits if c.envelope.event.kind == "press")
        event = envelope.event
        assert isinstance(event, ButtonPressed)
        assert (event.token, event.ref.quote, event.person.name) == ("toy:B", "B second", "ben")
        assert envelope.about == "card"
        assert event.ref.card is not None
        assert event.ref.id != event.ref.card

    async def test_an_edit_names_the_message_that_it_changes(self, harness: Harness) -> None:
        said = harness.say("ana", "2: B")
        edit = harness.edit("ana", said, "2: C")
        await harness.deliver(said, edit, edit)
        first, second = [c.envelope.event for c in harness.store.commits]
        assert isinstance(first, MessageReceived)
        assert isinstance(second, MessageEdited)
        assert (second.message, second.text) == (first.ref.id, "2: C")

    async def test_two_edits_are_two_events(self, harness: Harness) -> None:
        said = harness.say("ana", "2: B")
        await harness.deliver(said, harness.edit("ana", said, "2: C"), harness.edit("ana", said, "2: B"))
        assert [c.envelope.event.kind for c in harness.store.commits] == ["message", "edit", "edit"]

    @needs("edit_same")
    async def test_an_edit_that_changes_no_word_is_no_event(self, harness: Harness) -> None:
        said = harness.say("ana", "2: B")
        await harness.deliver(said, harness.edit("ana", said, "2: B"))
        assert len(harness.store.commits) == 1

    @needs("delete")
    async def test_a_deletion_names_its_message(self, harness: Harness) -> None:
        """RD-13."""
        said = harness.say("ana", "2: B")
        await harness.deliver(said, harness.delete(said))
        first, second = [c.envelope.event for c in harness.store.commits]
        assert second.message == first.ref.id

    async def test_messages_and_cards_share_one_order(self, harness: Harness) -> None:
        """RP-7: older and younger by number."""
        await harness.deliver(harness.say("ana", "early"))
        await harness.deliver(harness.say("ana", "card"))
        await harness.deliver(harness.say("ana", "late"))
        orders = [c.envelope.event.order for c in harness.store.commits]
        assert [c.envelope.event.kind for c in harness.store.commits] == ["message", "message", "posted", "message"]
        assert orders == sorted(orders)
        assert len(set(orders)) == 4

    async def test_a_mention_addresses_the_bot_and_a_leading_one_is_taken_off(self, harness: Harness) -> None:
        """RT-6."""
        leading = harness.say("ana", "@askfirst [direct-mode] go", room="group")
        inside = harness.say("ana", "could @askfirst help?", room="group")
        await harness.deliver(leading, inside, harness.say("ana", "lunch?", room="group"))
        events = [c.envelope.event for c in harness.store.commits]
        assert [(e.text, e.addressed) for e in events] == [
            ("[direct-mode] go", True),
            ("could @askfirst help?", True),
            ("lunch?", False),
        ]
        assert all(c.envelope.place.shared for c in harness.store.commits)

    @needs("album")
    async def test_an_album_is_parts_of_one_act_each_with_its_file(self, harness: Harness) -> None:
        """RT-11."""
        acts = harness.say("ana", "look", files=["a.pdf", "b.md"])
        await harness.deliver(*acts)
        events = [c.envelope.event for c in harness.store.commits]
        assert [(e.text, [m.name for m in e.materials]) for e in events] == [("look", ["a.pdf"]), ("", ["b.md"])]
        assert events[0].album == events[1].album != None  # noqa: E711 - the chain reads as one fact

    async def test_forwarded_words_are_marked(self, harness: Harness) -> None:
        """AU-3."""
        await harness.deliver(harness.say("ana", "accept all", forwarded="cleo"))
        assert harness.store.commits[0].envelope.event.forwarded == "cleo"

    async def test_text_that_no_database_can_hold_is_mended(self, harness: Harness) -> None:
        await harness.deliver(harness.say("ana", "a\0b\ud800c"))
        assert harness.store.commits[0].envelope.event.text == "a\ufffdb\ufffdc"

    async def test_a_conversation_keeps_its_order(self, harness: Harness) -> None:
        await harness.deliver(*(harness.say("ana", str(n)) for n in range(12)))
        assert [c.envelope.event.text for c in harness.store.commits] == [str(n) for n in range(12)]

    async def test_acknowledges_only_after_the_commit(self, harness: Harness) -> None:
        async def away() -> None:
            raise StoreUnavailable("restarting")

        act = harness.say("ana", "hello")
        harness.store.before["commit"].append(away)
        assert await harness.deliver(act) == [False]
        assert harness.store.commits == []
        assert await harness.deliver(act) == [True]
        assert len(harness.store.commits) == 1

    async def test_a_lost_acknowledgement_changes_nothing(self, harness: Harness) -> None:
        """The commit is written, the answer to the platform is not: it delivers again."""

        async def killed() -> None:
            raise StoreUnavailable("killed")

        act = harness.say("ana", "hello")
        harness.store.before["committed"].append(killed)
        assert await harness.deliver(act) == [False]
        assert await harness.deliver(act) == [True]
        assert (len(harness.store.commits), len(harness.texts("a"))) == (1, 1)

    # out

    async def test_a_long_message_is_whole_and_its_buttons_come_last(self, harness: Harness) -> None:
        """RD-8."""
        await harness.deliver(harness.say("ana", "long"))
        parts = harness.last_parts("a", len(harness.texts("a")))
        numbers = [int(line.split()[0]) for text, _ in parts for line in text.splitlines() if line.strip()]
        assert numbers == list(range(200))
        assert [buttons for _, buttons in parts] == [False] * (len(parts) - 1) + [True]
        await harness.deliver(harness.press("ana", "a", "A"))
        press = next(c.envelope for c in harness.store.commits if c.envelope.event.kind == "press")
        assert press.about == "long"

    async def test_a_private_message_is_for_one_person(self, harness: Harness) -> None:
        """RD-12."""
        await harness.deliver(harness.say("ben", "secret"))
        assert harness.texts("a") == ["for ben only (only to ben)"]

    @needs("fail")
    async def test_a_rate_limit_waits_as_long_as_it_says(self, harness: Harness) -> None:
        harness.fail("limit")
        await harness.deliver(harness.say("ana", "hello"))
        assert harness.texts("a") == []
        assert harness.store.rows[0].ready_at == harness.clock.now() + timedelta(seconds=3)
        harness.clock.advance(3)
        await harness.outbox.drain()
        assert len(harness.texts("a")) == 1

    @pytest.mark.parametrize(("how", "copies"), [("lost before", 1), ("refused", 1), ("lost after", 2)])
    @needs("fail")
    async def test_trouble_on_the_way_is_tried_again(self, harness: Harness, how: str, copies: int) -> None:
        harness.fail(how)
        await harness.deliver(harness.say("ana", "hello"))
        harness.clock.advance(1)
        await harness.outbox.drain()
        assert len(harness.texts("a")) == copies

    @needs("fail")
    async def test_a_blocked_person_is_undeliverable(self, harness: Harness) -> None:
        """CH-7."""
        harness.block("a")
        await harness.deliver(harness.say("ana", "card"))
        failed = harness.store.commits[-1].envelope.event
        assert isinstance(failed, DeliveryFailed)
        assert (failed.card, failed.text) == ("card", "pick one")

    @needs("fail")
    async def test_a_card_that_was_removed_is_posted_anew(self, harness: Harness) -> None:
        await harness.deliver(harness.say("ana", "card"))
        harness.remove_card("a")
        await harness.deliver(harness.say("ana", "redraw"))
        assert harness.texts("a") == ["pick one", "redraw"]

    async def test_a_redraw_to_the_same_is_a_success(self, harness: Harness) -> None:
        await harness.deliver(harness.say("ana", "card"))
        await harness.deliver(harness.say("ana", "redraw"))
        await harness.deliver(harness.say("ben", "redraw"))
        assert await harness.store.waiting() == 0
        assert all(row.given_up is None for row in harness.store.rows)

    @needs("fail")
    async def test_a_failing_notice_does_no_harm(self, harness: Harness) -> None:
        await harness.deliver(harness.say("ana", "card"))
        press = harness.press("ana", "a", "A first")
        harness.fail("lost before")
        assert await harness.deliver(press) == [True]
