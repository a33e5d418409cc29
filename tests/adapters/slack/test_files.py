"""Files are fetched where Slack says they lie, with the token, up to a limit."""

from __future__ import annotations

import pytest

from adapters.slack.files import SlackFiles
from bot.core.events import MessageReceived
from bot.ports import TryLater, Undeliverable
from tests.adapters.slack.talking import Talk


async def handle(talk: Talk, content: bytes = b"content") -> str:
    talk.ana.say("", files=[talk.ana.file("plan.md", content)])
    await talk.settle()
    event = talk.store.commits[0].envelope.event
    assert isinstance(event, MessageReceived)
    assert event.materials[0].handle
    return event.materials[0].handle


def fetcher(talk: Talk) -> SlackFiles:
    return SlackFiles(talk.rig.connection.workspaces, talk.rig.connection.session)


async def test_a_file_is_fetched_by_its_handle(talk: Talk) -> None:
    found = await handle(talk, b"a plan")
    assert talk.server.token not in found
    assert await fetcher(talk).fetch(found, 1000) == b"a plan"


async def test_no_more_than_the_limit_and_a_little_is_read(talk: Talk) -> None:
    content = await fetcher(talk).fetch(await handle(talk, b"x" * 300_000), 1000)
    assert 1000 < len(content) <= 70_000


async def test_a_page_to_sign_in_is_no_content(talk: Talk) -> None:
    """Slack answers 200 where the permission is missing."""
    found = await handle(talk)
    talk.server.me.scopes.discard("files:read")
    with pytest.raises(Undeliverable, match="permission"):
        await fetcher(talk).fetch(found, 1000)


async def test_what_is_gone_and_what_may_come_are_told_apart(talk: Talk) -> None:
    found = await handle(talk)
    talk.server.faults.fail("internal_error", method="files.info")
    with pytest.raises(TryLater):
        await fetcher(talk).fetch(found, 1000)
    talk.server.faults.fail("file_deleted", method="files.info")
    with pytest.raises(Undeliverable, match="no longer"):
        await fetcher(talk).fetch(found, 1000)
