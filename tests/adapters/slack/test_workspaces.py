"""With a bot token one workspace or organisation is served. What comes of others that have the same app is refused,
aloud."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from adapters.slack.workspaces import OneWorkspace
from bot.core.codec import NewerState
from tests.adapters.slack.talking import Talk


@pytest.fixture
def bob(talk: Talk) -> Any:
    """Somebody of another workspace that has the same app, and so the same signing secret and socket."""
    return talk.server.person("Bob", team=talk.server.workspace("Beta"))


async def test_what_another_workspace_says_is_refused_and_logged(talk: Talk, bob: Any) -> None:
    """Nothing of it is stored: answered with our token, its channel would be looked for in the wrong workspace."""
    with capture_logs() as logged:
        bob.say("lit-review this")
        await talk.settle()
    assert not talk.store.states
    assert not talk.server.refused
    assert {"event": "slack_other_workspace", "team": bob.team.id} in [
        {name: line[name] for name in ("event", "team")} for line in logged if line["log_level"] == "warning"
    ]


async def test_who_asks_from_another_workspace_is_told(talk: Talk, bob: Any) -> None:
    """Commands, shortcuts and forms have an answer that can be seen; nothing is recorded."""
    theirs = talk.server.channel("theirs", bob, team=bob.team)
    bob.command("/askfirst", "status", theirs)
    bob.shortcut("clarify_this", on=bob.say("please clarify", theirs))
    await talk.settle()
    assert ["not set up for this workspace" in m.text for m in theirs.messages.values() if m.only_to == bob.id] == [
        True,
        True,
    ]
    view = {"callback_id": "round", "blocks": [{"type": "input", "block_id": "q1.pick"}]}
    form = {"type": "view_submission", "user": {"id": bob.id}, "team": {"id": bob.team.id}, "view": view}
    assert "not set up" in (await talk.rig.intake.take(form))["errors"]["q1.pick"]
    assert not talk.store.states


async def test_a_form_of_somebody_from_outside_is_of_our_workspace(talk: Talk) -> None:
    """Slack Connect: the payload names the sender's workspace; whose app the form is of, the form says."""
    eve = talk.server.person("Eve", team=talk.server.workspace("Gamma", installed=False))
    talk.triage.shared_with.append(eve.team.id)
    eve.join(talk.triage)
    for words in ("settings outsiders on", "settings answers anyone"):
        talk.ana.command("/askfirst", words, talk.triage)
        await talk.settle()
    await talk.begin()
    eve.press("Answer in a form")
    await talk.settle()
    await talk.settle()
    eve.choose("B", of="q1.pick")
    eve.submit()
    await talk.settle()
    assert not eve.modals
    assert talk.answers == {"years": "B"}


# -- a token of an organisation ------------------------------------------------------------------------------------


@pytest.fixture
def grid(talk: Talk) -> Talk:
    """Ours is a workspace of an organisation, and the token is the organisation's."""
    workspace = talk.rig.connection.workspace
    assert workspace is not None
    talk.server.team.enterprise = "E0ORG00001"
    talk.server.me.org_wide = True
    workspace = replace(workspace, me=replace(workspace.me, enterprise="E0ORG00001"))
    talk.rig.intake.workspaces = talk.rig.transport._workspaces = OneWorkspace(workspace, org_wide=True)
    return talk


async def test_an_organisation_is_served_in_each_of_its_ways(grid: Talk) -> None:
    """b34: words, commands, taps and forms, and what was said meanwhile."""
    asked = await grid.begin()
    grid.ana.press("A", on=grid.card())
    await grid.settle()
    grid.ana.press("Answer in a form")
    await grid.settle()
    grid.ana.choose("A", of="q2.pick")
    grid.ana.submit()
    await grid.settle()
    assert grid.answers == {"years": "A", "databases": "A"}
    grid.ana.command("/askfirst", "status", grid.triage)
    await grid.settle()
    assert not any("not set up" in m.text for m in grid.triage.messages.values())
    assert len(grid.opened()) == 1

    since = grid.clock.now()
    grid.ana.reply(asked, "3: A")
    await grid.rig.history.read(since)
    assert grid.answers["access"] == "A"


@pytest.mark.parametrize("enterprise", [None, "E0OTHER001"])
async def test_what_another_organisation_says_is_refused_and_told(grid: Talk, enterprise: str | None) -> None:
    """Nor does a workspace of no organisation: with our token its channel would be looked for in ours."""
    beta = grid.server.workspace("Beta", enterprise=enterprise, org_wide=enterprise is not None)
    bob = grid.server.person("Bob", team=beta)
    theirs = grid.server.channel("theirs", bob, team=beta)
    with capture_logs() as logged:
        bob.say("lit-review this")
        bob.command("/askfirst", "lit-review this", theirs)
        bob.shortcut("clarify_this", on=bob.say("please clarify", theirs))
        await grid.settle()
    assert len([line for line in logged if line["event"] == "slack_other_workspace"]) == 4
    assert ["not set up for this workspace" in m.text for m in theirs.messages.values() if m.only_to == bob.id] == [
        True,
        True,
    ]
    pinned = f'{{"c": "slack:{beta.id}:{theirs.id}/1.1", "r": "s1.1", "v": 1}}'
    view = {"callback_id": "round", "blocks": [{"type": "input", "block_id": "q1.pick"}], "private_metadata": pinned}
    form = {"type": "view_submission", "user": {"id": bob.id}, "team": beta.json(), "view": view}
    form["enterprise"] = {"id": enterprise} if enterprise else None
    assert "not set up" in (await grid.rig.intake.take(form))["errors"]["q1.pick"]
    assert not grid.store.states
    assert not grid.server.refused


@pytest.mark.parametrize("enterprise", [None, "E0OTHER001"])
async def test_a_form_of_ours_counts_whosever_organisation_its_sender_is_of(
    grid: Talk, enterprise: str | None
) -> None:
    """Slack Connect: the payload names the sender's organisation. The form says where we have asked."""
    eve = grid.server.person("Eve", team=grid.server.workspace("Gamma", enterprise=enterprise, installed=False))
    grid.triage.shared_with.append(eve.team.id)
    eve.join(grid.triage)
    for words in ("settings outsiders on", "settings answers anyone"):
        grid.ana.command("/askfirst", words, grid.triage)
        await grid.settle()
    await grid.begin()
    eve.press("Answer in a form")
    await grid.settle()
    await grid.settle()
    eve.choose("B", of="q1.pick")
    eve.submit()
    await grid.settle()
    assert not eve.modals
    assert grid.answers == {"years": "B"}


async def test_a_form_of_ours_is_not_turned_away_where_its_conversation_can_not_be_read(
    grid: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """b38: a newer version has written there; not acknowledged, the answer is not lost."""
    gamma = grid.server.workspace("Gamma", installed=False)
    await grid.begin()
    [state] = grid.opened()
    pinned = json.dumps({"c": state.place.conversation, "r": "s1.1", "v": 1})
    view = {"callback_id": "round", "blocks": [{"type": "input", "block_id": "q1.pick"}], "private_metadata": pinned}
    form = {"type": "view_submission", "user": {"id": grid.ana.id}, "team": gamma.json(), "view": view}

    async def load(_: str) -> None:
        raise NewerState("this conversation holds what this version can not read")

    monkeypatch.setattr(grid.store, "load", load)
    with pytest.raises(NewerState):
        await grid.rig.intake.take(form)


async def test_in_a_shared_channel_the_installation_says_whose_an_event_is(grid: Talk) -> None:
    """b34: the event's own `enterprise_id` is the other organisation's there (bolt-js #935)."""
    said = grid.ana.say("@askfirst lit-review this", grid.triage)
    body = {**grid.server.outgoing.log[-1].payload, "enterprise_id": "E0OTHER001"}
    await grid.rig.intake.take(body)
    assert [state.place.conversation.rpartition("/")[2] for state in grid.opened()] == [said.ts]
