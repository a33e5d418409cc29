"""Signed HTTP: what is not Slack's is refused, what can not be read stops here, and 200 follows the commit."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest

from bot.ports import StoreUnavailable
from tests.fakes.clock import ManualClock
from tests.fakes.slack import SlackServer
from tests.fakes.slack_rig import Rig, rig

JSON, FORM = "application/json", "application/x-www-form-urlencoded"


@pytest.fixture
async def made() -> AsyncIterator[Rig]:
    async with rig(SlackServer(ManualClock(auto=True)), style="http") as one:
        yield one


async def test_slacks_own_checks_are_answered(made: Rig) -> None:
    hooks = made.server.hooks
    assert await hooks.verify_url()
    assert await hooks.check_ssl() == 200
    assert await hooks.flooded() == 200


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", JSON),
        (b"{", JSON),
        (b"[1, 2]", JSON),
        (b"{" * 100_000, JSON),
        (b"payload=%7Bno", FORM),
        (b"payload=[1]", FORM),
        (b"\xff\xfe", FORM),
        (b'{"type": "event_callback"}', JSON),
        (b'{"type": "event_callback", "event": "no object", "team_id": "T0AAAAAA1"}', JSON),
        (b'{"type": "event_callback", "event": {"type": "message", "channel": 7}, "team_id": "T0AAAAAA1"}', JSON),
        (b'{"type": "event_callback", "event": {"type": "message", "channel": "C1"}, "team_id": []}', JSON),
        (b"payload=%7B%22type%22%3A%22block_actions%22%7D", FORM),
        (b"payload=%7B%22type%22%3A%22view_submission%22%2C%22view%22%3A7%7D", FORM),
        (b"command=%2Fclarify", FORM),
    ],
)
async def test_bad_bodies_lead_to_no_error_and_to_nothing_stored(made: Rig, body: bytes, kind: str) -> None:
    """Signed as Slack would: an error would be delivered again and again."""
    made.server.faults.fail("user_not_found", method="users.info", times=-1)
    answer = await made.server.hooks.post(body, made.server.hooks.signed(body, kind))
    assert answer.status_code in (200, 400, 401)
    assert not made.store.commits


async def test_who_is_not_slack_reaches_nothing(made: Rig) -> None:
    hooks, body = made.server.hooks, b'{"type": "event_callback"}'
    good = hooks.signed(body, JSON)
    old = time.time() - 3600
    hooks.signed_at = lambda: old
    stale = hooks.signed(body, JSON)
    hooks.signed_at = time.time
    hooks.secret = "another"
    forged = hooks.signed(body, JSON)
    without = {"content-type": JSON}
    odd = [good | {"x-slack-request-timestamp": stamp} for stamp in ("soon", "-1", "9" * 5000)]
    for headers in (forged, stale, without, *odd):
        assert (await hooks.post(body, headers)).status_code == 401
    hooks.secret = None
    assert (await hooks.post(body + b" ", good)).status_code == 401
    assert (await hooks.post(b"x" * (3 << 20), good)).status_code == 413
    assert not made.store.commits


async def test_what_was_not_committed_is_asked_for_again(made: Rig) -> None:
    """P55. Slack tries again at once, after a minute, after five."""

    async def away() -> None:
        raise StoreUnavailable("restarting")

    ana = made.server.person("Ana")
    made.store.before["commit"].extend([away, away])
    ana.say("hello")
    for _ in range(3):
        await made.hear()
        made.clock.advance(60)
    [delivery] = made.server.outgoing.of("message")
    assert [one.status for one in delivery.tries] == [503, 503, 200]
    assert len(made.store.commits) == 1
