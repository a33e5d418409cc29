"""What can not be read is kept, whatever it was and whenever it came."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.adapters.slack.talking import Talk

SHELF = "slack:parked:"


def broken(talk: Talk, value: str) -> dict[str, Any]:
    """A tap whose time is not what Slack documents."""
    where = {"id": talk.triage.id}
    action = {"action_id": "b0", "value": value, "action_ts": "1.soon"}
    user, team = {"id": talk.ana.id}, {"id": talk.server.team.id}
    return {
        "type": "block_actions",
        "user": user,
        "team": team,
        "channel": where,
        "container": {},
        "actions": [action],
        "token": talk.server.app.verification,
    }


async def test_acts_without_an_id_do_not_take_each_others_place(talk: Talk) -> None:
    """Taps and forms carry no event id: a count would begin anew after a restart and write over the first one."""
    intake = talk.rig.intake
    await intake.take(broken(talk, "a:one"))
    intake.parked = 0  # as in the next process
    await intake.take(broken(talk, "a:two"))
    kept = await talk.store.kept(SHELF)
    assert sorted("a:one" in words for words in kept.values()) == [False, True]
    assert not any(talk.server.app.verification in words for words in kept.values())
    await intake.take(broken(talk, "a:two"))  # delivered again: the same one
    assert len(await talk.store.kept(SHELF)) == 2


ODD: tuple[Any, ...] = (
    None,
    7,
    {"type": "event_callback", "event": 7},
    {"type": "event_callback", "event": {"type": "message", "channel": {"id": 1}}},
    {
        "type": "event_callback",
        "event": {"type": "message", "channel": "C0TRIAGE1", "ts": "x", "user": "U1", "text": 7},
    },
    {"type": "event_callback", "authorizations": "x", "event": {"type": "app_home_opened", "user": 5, "tab": []}},
    {"type": "event_callback", "event": {"type": "user_change", "user": "U1"}},
    {
        "type": "event_callback",
        "event": {"type": "reaction_added", "reaction": "question", "item": {"type": "message"}},
    },
    {"type": "event_callback", "event": {"type": "member_joined_channel", "channel": [], "user": {}}},
    {"type": "event_callback", "event": {"type": "channel_archive"}},
    {"type": "event_callback", "event": {"type": ["message"]}},
    {"type": "event_callback", "authorizations": 7, "event": {"type": "message", "attachments": 7}},
    {"type": "block_actions", "team": 7},
    {"type": "block_actions", "user": {"id": "U0ANA0001"}, "actions": "none"},
    {"type": "view_submission", "user": [], "view": []},
    {"type": "view_submission", "user": {"id": "U0ANA0001"}, "view": {"callback_id": "round_form", "state": []}},
    {"type": "message_action", "user": {"id": "U0ANA0001"}, "callback_id": "clarify_this"},
    {"command": "/clarify"},
)


async def test_odd_payloads_over_the_socket_are_acknowledged_and_answer_nothing(talk: Talk) -> None:
    """What can not be read would be the same the next time: nobody waits behind it, and nothing is recorded."""
    if talk.rig.style != "socket":
        return
    await talk.begin()
    before = len(talk.store.commits)
    sockets = talk.server.sockets
    for number, payload in enumerate(ODD):
        kind = "events_api" if isinstance(payload, dict) and "event" in payload else "interactive"
        frame = {"type": kind, "envelope_id": f"odd-{number}", "payload": payload, "accepts_response_payload": True}
        await sockets.connections[0].socket.send_json(frame)
    async with asyncio.timeout(10):
        while len(sockets.late) < len(ODD):  # noqa: ASYNC110 - sockets of the real network
            await asyncio.sleep(0.002)
    assert (len(talk.store.commits), talk.answers) == (before, {})


@pytest.mark.parametrize("method", ["usergroups.list", "views.open"])
async def test_a_short_pause_that_slack_asks_for_costs_nothing(talk: Talk, method: str) -> None:
    talk.server.user_group("owners", talk.ben)
    talk.ana.say("@askfirst settings answers listed @owners", talk.triage)
    await talk.settle()
    await talk.begin()
    talk.rig.directory._groups.clear()
    talk.server.faults.limit(1, method=method)
    talk.ben.press("Answer in a form")
    await talk.settle()
    talk.clock.advance(30)
    if not talk.ben.modals:  # refused while nobody knew who is in the group; half an hour later would be too late
        talk.ben.press("Answer in a form")
        await talk.settle()
    talk.ben.choose("B", of="q1.pick")
    talk.ben.submit()
    await talk.settle()
    assert talk.answers == {"years": "B"}
