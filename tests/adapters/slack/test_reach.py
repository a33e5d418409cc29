"""What can not be brought any more is told to whoever waits for it, and never said elsewhere instead (CH-7, P64)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.core.events import PlaceLost, PlaceRestored
from tests.adapters.slack.talking import Talk


def told_at_home(talk: Talk) -> str:
    return "\n".join(talk.words(talk.ana.dm))


async def test_b25_the_message_that_a_thread_began_with_is_deleted(talk: Talk) -> None:
    """The tombstone is no edit; later words count, and are echoed to their author alone."""
    asked = await talk.begin()
    talk.ana.reply(asked, "1: B")
    await talk.rig.hear()  # the echo is in the outbox
    talk.ana.delete(asked)
    await talk.settle()
    assert talk.answers == {"years": "B"}
    assert talk.opened()[0].current is not None
    assert "lit-review this" in talk.opened()[0].current.request.text
    [echo] = [m for m in talk.mine() if "B, Last 10 years" in m.text and m.only_to]
    assert (echo.only_to, echo.thread_ts) == (talk.ana.id, None)
    talk.ana.reply(asked, "2: A")
    await talk.settle()
    assert talk.answers == {"years": "B", "databases": "A"}
    assert not talk.server.strays
    assert all(m.only_to or m.thread_ts for m in talk.mine())


async def test_b25_where_nobody_has_told_of_it(talk: Talk) -> None:
    """Slack takes the message and shows it in the channel: it is taken back, and the requester told privately."""
    said = talk.ana.say("@askfirst lit-review this", talk.triage)
    await talk.rig.hear()
    talk.ana.delete(said)
    talk.server.outgoing.waiting.clear()
    await talk.settle()
    [stray] = talk.server.strays
    assert stray.gone
    talk.server.strays.clear()
    [told] = [m for m in talk.mine() if m.only_to]
    assert told.only_to == talk.ana.id
    assert "was deleted" in told.text
    session = talk.opened()[0].current
    assert session is not None
    assert "deleted" in (session.undelivered or "")


async def test_an_archived_channel_is_told_at_once_and_shown_again_when_it_is_back(talk: Talk) -> None:
    asked = await talk.begin()
    talk.server.archive(talk.triage, talk.ben)
    await talk.settle()
    assert "the channel was archived" in told_at_home(talk)
    assert f"<#{talk.triage.id}>" in told_at_home(talk)
    before = len(talk.words())
    talk.server.unarchive(talk.triage, talk.ben)
    await talk.settle()
    assert "I can write here again" in "\n".join(talk.words()[before:])
    talk.ana.reply(asked, "1: B")
    await talk.settle()
    assert talk.answers == {"years": "B"}


async def test_an_archive_that_is_met_while_sending(talk: Talk) -> None:
    """The event may come later, or never: then the refusal tells."""
    talk.server.app.events -= {"channel_archive"}
    said = talk.ana.say("@askfirst lit-review this", talk.triage)
    await talk.rig.hear()
    talk.server.archive(talk.triage, talk.ben)
    await talk.settle()
    assert "the channel is archived" in told_at_home(talk)
    assert said.ts in talk.opened()[0].place.conversation


async def test_put_out_of_a_channel_and_invited_again(talk: Talk) -> None:
    secret = talk.server.channel("secret", talk.ana, talk.ben, private=True)
    said = talk.ana.say("@askfirst lit-review this", secret)
    await talk.rig.hear()
    talk.ana.remove_bot(secret)
    await talk.settle()
    assert "no such channel for the app" in told_at_home(talk)
    talk.ana.invite_bot(secret)
    await talk.settle()
    assert talk.card(secret).thread_ts == said.ts
    kinds = [type(c.envelope.event) for c in talk.store.commits]
    assert PlaceRestored in kinds
    talk.ben.join(talk.server.channel("other", talk.ana))  # somebody else comes: nothing to do with us
    before = len(talk.store.commits)
    await talk.settle()
    assert len(talk.store.commits) == before


async def test_b40_somebody_leaves_after_a_restart(talk: Talk) -> None:
    """Whose direct message it is, the conversation itself says."""
    talk.ana.say("lit-review this")
    await talk.settle()
    talk.rig.directory._owners.clear()
    talk.rig.directory._people.clear()
    talk.ana.deactivate()
    await talk.settle()
    assert [c for c in talk.store.commits if isinstance(c.envelope.event, PlaceLost)]
    session = talk.opened()[0].current
    assert session is not None
    assert "deactivated" in (session.undelivered or "")


async def test_a_token_that_is_being_renewed_loses_nothing(talk: Talk) -> None:
    talk.server.faults.fail("token_expired", method="chat.postMessage", times=2)
    talk.ana.say("@askfirst lit-review this", talk.triage)
    for _ in range(3):
        await talk.settle()
        talk.clock.advance(timedelta(seconds=10))
    assert talk.card()


# -- acts that come once ---------------------------------------------------------------------------------------------


async def test_a_tap_counts_while_slack_can_not_say_who_people_are(talk: Talk) -> None:
    """Acts are not told again: what was known of the person half an hour ago is better than nothing."""
    await talk.begin()
    talk.clock.advance(timedelta(hours=1))
    talk.server.faults.limit(60, method="users.info", times=-1)
    talk.ana.press("A")
    await talk.settle()
    assert talk.answers == {"years": "A"}
    talk.server.faults.clear()


def form_of(talk: Talk) -> Any:
    [delivery] = talk.server.outgoing.of("view_submission")
    return delivery


async def test_a_form_that_can_not_be_read_stays_open(talk: Talk) -> None:
    """One that closes looks sent."""
    await talk.begin()
    talk.ana.press("Answer in a form")
    await talk.settle()
    talk.ana.choose("B", of="q1.pick")
    await talk.settle()
    talk.ana.submit()
    form_of(talk).payload["view"]["private_metadata"] = "{"
    await talk.settle()
    assert "nothing of it is recorded" in next(iter(talk.ana.modal.errors.values()))
    assert talk.answers == {}


async def test_a_form_on_which_we_fail_keeps_what_was_put_in(talk: Talk) -> None:
    await talk.begin()
    talk.ana.press("Answer in a form")
    await talk.settle()
    talk.ana.choose("B", of="q1.pick")
    await talk.settle()
    decide = talk.rig.runner._decide

    def fails(state: Any, envelope: Any) -> Any:
        if envelope.event.kind == "form":
            raise RuntimeError
        return decide(state, envelope)

    talk.rig.runner._decide = fails
    talk.ana.submit()
    await talk.settle()
    assert "Nothing was recorded" in next(iter(talk.ana.modal.errors.values()))
    assert [key for key in talk.store.notes if key.startswith("slack:draft:")]
    talk.rig.runner._decide = decide
    talk.ana.submit()
    await talk.settle()
    assert talk.answers == {"years": "B"}


async def test_the_request_form_says_at_once_where_the_app_is_not(talk: Talk) -> None:
    secret = talk.server.channel("secret", talk.ana, private=True, bot=False)
    talk.ana.shortcut("ask_for")
    await talk.settle()
    talk.ana.type_in("lit-review this", of="words")
    talk.ana.pick(secret, of="where")
    talk.ana.submit()
    await talk.settle()
    assert "/invite" in talk.ana.modal.errors["where"]
    assert not talk.store.commits


@pytest.mark.parametrize("error", ["thread_not_found", "not_in_channel", "channel_not_found"])
async def test_a_reaction_on_what_is_not_shown_is_no_failure(talk: Talk, error: str) -> None:
    said = talk.ben.say("lit-review this", talk.triage)
    talk.server.faults.fail(error, method="conversations.replies")
    talk.ana.react(said, "question")
    await talk.settle()
    assert {d.state for d in talk.server.outgoing.of("reaction_added")} == {"acknowledged"}


async def test_acts_of_nobody_are_put_aside(talk: Talk) -> None:
    await talk.begin()
    talk.ana.press("A")
    [delivery] = talk.server.outgoing.of("block_actions")
    delivery.payload.pop("user")
    await talk.settle()
    assert talk.answers == {}
    assert await talk.store.kept("slack:parked:")


async def test_who_can_not_answer_is_not_asked(talk: Talk) -> None:
    """CH-6 CH-7 RD-12. Whoever hands a question over learns at once that nobody will answer, and may name another."""
    eve = talk.server.person("Eve", team=talk.server.workspace("Other", installed=False))
    eve.join(talk.triage)
    asked = await talk.begin()
    talk.ben.deactivate()
    for who, why in ((talk.ben, "deactivated"), (eve, "from outside")):
        talk.ana.reply(asked, f"@{who.handle} please")
        await talk.settle()
        assert why in talk.words()[-1]
    assert not [entry for entry in talk.audit if entry.event == "answer.delegated"]
    [state] = talk.opened()
    assert not state.sessions[0].participants


async def test_a_card_whose_text_is_refused_is_told(talk: Talk) -> None:
    """CH-7: the place is there, the card is not; whoever asked must not wait for it."""
    talk.server.faults.fail("ekm_access_denied", method="chat.postMessage", times=2)
    talk.ana.say("@askfirst lit-review this", talk.triage)
    await talk.settle()
    assert "could not show my message here: ekm access denied" in talk.words()[-1]
    assert talk.mine()[-1].only_to == talk.ana.id
