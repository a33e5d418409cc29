"""Socket Mode: renewed before it ends, given up when dead, and nothing acknowledged that is not committed (P58)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from bot.ports import StoreUnavailable
from tests.fakes.clock import ManualClock
from tests.fakes.slack import SlackServer
from tests.fakes.slack_rig import Rig, rig


async def come(condition: Callable[[], Any]) -> None:
    """Wait, in bounded real time, for what the network brings."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - sockets know nothing of the test
            await asyncio.sleep(0.002)


@pytest.fixture
async def made() -> AsyncIterator[Rig]:
    async with rig(SlackServer(ManualClock(auto=True)), style="socket") as one:
        await come(lambda: one.sockets.connected == 2)
        one.wire_clock.advance(6)  # they have been there for a while
        yield one


async def test_a_warning_brings_a_new_connection_before_the_old_one_ends(made: Rig) -> None:
    sockets, seen = made.server.sockets, []
    old = sockets.connections[0]
    await sockets.recycle(old, reason="warning")
    await come(lambda: seen.append(made.sockets.connected) or sockets.opened == 3)
    await come(lambda: old not in sockets.connections and made.sockets.connected == 2)
    assert min(seen) >= 1
    made.server.person("Ana").say("hello")
    await made.hear()
    assert len(made.store.commits) == 1


async def test_all_sockets_recycled_at_once_come_again_and_the_gap_is_told(made: Rig) -> None:
    before = len(made.heard)
    await made.server.sockets.recycle()
    await come(lambda: made.server.sockets.opened >= 4 and made.sockets.connected == 2)
    made.server.faults.fail("internal_error", method="apps.connections.open", times=2)  # for both lines
    made.server.sockets.drop()
    async with asyncio.timeout(10):
        while made.server.faults.orders:
            made.wire_clock.advance(2)  # the pause before each try
            await asyncio.sleep(0.005)
    await settle_pauses(made)
    await come(lambda: made.sockets.connected == 2)
    await come(lambda: len(made.heard) > before)
    assert made.heard[-1] is not None


@pytest.mark.parametrize("reason", ["link_disabled", "too_many_websockets"])
async def test_a_socket_that_slack_does_not_want_is_not_asked_for_again_at_once(made: Rig, reason: str) -> None:
    """Socket Mode switched off, or ten connections already: each line waits, and waits longer each time."""
    before = made.server.sockets.opened
    await made.server.sockets.recycle(reason=reason)
    await come(lambda: made.sockets.state == reason)
    asked = len(made.server.called("apps.connections.open"))
    assert (made.sockets.connected, made.server.sockets.opened) == (0, before)
    made.server.faults.fail("link_disabled", method="apps.connections.open", times=2)
    made.wire_clock.advance(1)
    await come(lambda: len(made.server.called("apps.connections.open")) == asked + 2)
    made.wire_clock.advance(1)
    assert len(made.server.called("apps.connections.open")) == asked + 2
    await settle_pauses(made)


async def test_what_was_taken_is_acknowledged_before_a_socket_is_renewed(made: Rig) -> None:
    """The mistakes of a form come back over the socket that it came by."""
    ana = made.server.person("Ana")
    sockets = made.server.sockets
    old = sockets.connections[0]
    gate = asyncio.Event()
    made.store.before["commit"].append(gate.wait)
    ana.say("hello")
    hearing = asyncio.ensure_future(made.hear())
    await come(lambda: made.sockets._under_way)
    await sockets.recycle(old if old.acks else sockets.connections[1], reason="warning")
    await come(lambda: sockets.opened == 3)
    gate.set()
    await hearing
    [delivery] = made.server.outgoing.of("message")
    assert [one.ok for one in delivery.tries] == [True]


async def settle_pauses(made: Rig) -> None:
    """The pause after a lost connection is of the wire's clock."""
    async with asyncio.timeout(10):
        while made.sockets.connected < 2:
            made.wire_clock.advance(2)
            await asyncio.sleep(0.005)


async def test_a_silent_socket_is_given_up(made: Rig) -> None:
    server = made.server.sockets
    for connection in server.connections:
        connection.frozen = True
    async with asyncio.timeout(10):
        while server.opened < 4:  # pings go out, and nothing comes back
            made.wire_clock.advance(10)
            await asyncio.sleep(0.005)
    await come(lambda: made.sockets.connected == 2)


async def test_pings_are_answered_and_sent(made: Rig) -> None:
    await made.server.sockets.ping()
    made.wire_clock.advance(10)
    await come(lambda: all(connection.pings for connection in made.server.sockets.connections))
    assert made.sockets.connected == 2


async def test_what_was_not_committed_is_not_acknowledged(made: Rig) -> None:
    async def away() -> None:
        raise StoreUnavailable("restarting")

    made.store.before["commit"].append(away)
    made.server.person("Ana").say("hello")
    await made.server.deliver()
    [delivery] = made.server.outgoing.of("message")
    assert delivery.state == "waiting"
    made.clock.advance(60)
    await made.hear()
    assert delivery.state == "acknowledged"
    assert len(made.store.commits) == 1


async def test_a_lost_acknowledgement_changes_nothing(made: Rig) -> None:
    made.server.person("Ana").say("hello")
    made.server.sockets.drop_next = "after"
    await made.server.deliver()
    await settle_pauses(made)
    made.clock.advance(60)
    await made.hear()
    assert len(made.store.commits) == 1


async def test_frames_of_one_socket_keep_their_order(made: Rig) -> None:
    """Slack gives the payloads to its sockets in turn; among these there is no order."""
    ana = made.server.person("Ana")
    for n in range(12):
        ana.say(str(n))
    await made.server.deliver(together=True)
    texts = [c.envelope.event.text for c in made.store.commits]
    for share in (range(0, 12, 2), range(1, 12, 2)):
        assert [text for text in texts if int(text) in share] == [str(n) for n in share]
