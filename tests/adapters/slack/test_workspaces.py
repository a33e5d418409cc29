"""With a bot token one workspace is served. What comes of others that have the same app is refused, aloud."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

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
