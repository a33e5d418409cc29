"""What can not be read is kept, whatever it was and whenever it came."""

from __future__ import annotations

from typing import Any

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
    }


async def test_acts_without_an_id_do_not_take_each_others_place(talk: Talk) -> None:
    """Taps and forms carry no event id: a count would begin anew after a restart and write over the first one."""
    intake = talk.rig.intake
    await intake.take(broken(talk, "a:one"))
    intake.parked = 0  # as in the next process
    await intake.take(broken(talk, "a:two"))
    kept = await talk.store.kept(SHELF)
    assert sorted("a:one" in words for words in kept.values()) == [False, True]
    await intake.take(broken(talk, "a:two"))  # delivered again: the same one
    assert len(await talk.store.kept(SHELF)) == 2
