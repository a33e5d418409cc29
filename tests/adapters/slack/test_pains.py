"""Pains of other bots (P54–P71 of the collected reports), each as a test that would have caught it."""

from __future__ import annotations

import asyncio
import functools
import json
from datetime import timedelta

import pytest

from bot.core.events import DeliveryFailed
from bot.core.step import step
from bot.ports import StoreUnavailable
from tests.adapters.slack.talking import Talk, book
from tests.fakes.slack_rig import rig


async def test_p54_the_answer_waits_for_the_commit_and_for_nothing_else(talk: Talk) -> None:
    """Sending may take for ever: Slack has its answer, and tells of nothing twice."""
    gate = talk.server.faults.hold(method="chat.postMessage")
    talk.ana.say("@askfirst lit-review this", talk.triage)
    await talk.rig.hear()
    assert all(d.state == "acknowledged" for d in talk.server.outgoing.of("message", "app_mention"))
    sending = asyncio.ensure_future(talk.rig.outbox.drain())
    await gate.reached()
    gate.open()
    await sending
    assert len(talk.mine()) == 1


async def test_p55_what_slack_sends_again_is_heard(talk: Talk) -> None:
    """A retry of an event that was never committed is the first of it."""

    async def away() -> None:
        raise StoreUnavailable("restarting")

    asked = await talk.begin()
    talk.store.before["commit"].append(away)
    talk.ana.reply(asked, "1: B")
    patience, talk.server.sockets.patience = talk.server.sockets.patience, 0.1
    await talk.rig.hear()
    talk.server.sockets.patience = patience
    assert talk.answers == {}
    talk.clock.advance(timedelta(minutes=1))
    await talk.settle()
    assert talk.answers == {"years": "B"}


async def test_p56_p57_one_message_many_events(talk: Talk) -> None:
    """With other event ids, as a mention and as a message, in either order."""
    asked = talk.ana.say("@askfirst lit-review this", talk.triage)
    log = [d for d in talk.server.outgoing.log if d.event.get("ts") == asked.ts]
    assert {d.event["type"] for d in log} == {"message", "app_mention"}
    talk.server.outgoing.reverse()
    for _ in range(5):
        again = talk.server.outgoing.again(log[0])
        again.payload = {**again.payload, "event_id": f"Ev{id(again)}"}
    await talk.settle()
    assert len(talk.opened()) == 1
    assert len(talk.mine()) == 1


async def test_p59_any_process_takes_any_event(talk: Talk) -> None:
    """Two programs on one store hear each their share of the sockets; nothing is lost or doubled."""
    if talk.rig.style != "socket":
        return
    asked = await talk.begin()
    decide = functools.partial(step, book=book())
    async with rig(talk.server, talk.store, style="socket", decide=decide) as other:
        await talk.server.sockets.connected(4)
        for words in ("1: B", "2: A", "3: B"):
            talk.ana.reply(asked, words)
            await talk.settle()
            await other.outbox.drain()
    assert talk.answers == {"years": "B", "databases": "A", "access": "B"}
    assert sum("Done: 3 answers" in text for text in talk.words()) == 1


async def test_p60_a_trigger_that_has_expired_is_said_and_lost_is_nothing(talk: Talk) -> None:
    await talk.begin()
    press = talk.ana.press("Answer in a form")
    assert press is not None
    talk.server.faults.fail("expired_trigger_id", method="views.open")
    await talk.settle()
    assert not talk.ana.modals
    assert "press it once more" in talk.words()[-1]
    assert talk.mine()[-1].only_to == talk.ana.id
    talk.ana.press("Answer in a form")
    await talk.settle()
    assert talk.ana.modals


async def test_p61_the_longest_round_is_within_every_limit(talk: Talk) -> None:
    """The fake refuses what Slack refuses; nothing was cut short."""
    talk.ana.say("@askfirst " + "lit-review of " + "très long & <b>wide</b> " * 400, talk.triage)
    await talk.settle()
    assert talk.mine()
    assert not talk.server.refused
    assert not talk.server.truncated


async def test_p62_a_message_that_met_429_comes_later(talk: Talk) -> None:
    talk.server.faults.limit(7, method="chat.postMessage")
    talk.ana.say("@askfirst lit-review this", talk.triage)
    await talk.rig.hear()
    await talk.rig.outbox.drain()
    assert not talk.mine()
    talk.clock.advance(7)
    await talk.settle()
    assert talk.card()


async def test_p63_commands_work_in_threads_without_a_slash(talk: Talk) -> None:
    """CH-3. `!word`, and a mention with the word."""
    asked = await talk.begin()
    for words in ("!status", "@askfirst status"):
        talk.ana.reply(asked, words)
        await talk.settle()
        assert "0 of 3 answered" in talk.words()[-1]
        assert talk.mine()[-1].thread_ts == asked.ts


async def test_p64_everything_stays_in_the_thread(talk: Talk) -> None:
    """Buttons too: an answer to a press goes where the card is."""
    asked = await talk.begin()
    talk.ana.press("B ✅")
    await talk.settle()
    talk.ana.reply(asked, "accept recommendations")
    await talk.settle()
    talk.clock.advance(10)
    await talk.settle()
    assert "Handed to" in "\n".join(talk.words())
    assert {m.thread_ts for m in talk.mine() if not m.files} == {asked.ts}


async def test_p65_two_people_press_at_once(talk: Talk) -> None:
    """RD-12. The first holds; the other is not swallowed, and nothing is acted on twice."""
    await talk.begin()
    card = talk.card()
    talk.ana.press("A", on=card)
    talk.ben.press("C", on=card)
    await talk.rig.server.deliver(together=True)
    await talk.settle()
    assert len([c for commit in talk.store.commits for c in commit.clarifications]) == 1
    assert "which one holds?" in "\n".join(talk.words())


@pytest.mark.parametrize("way", ["typed", "pressed", "edited", "form"])
async def test_p66_p67_who_may_not_answer_is_told_privately_on_every_way(talk: Talk, way: str) -> None:
    """RD-12 CH-5. A guest, by default; refused, told so, and audited."""
    asked = await talk.begin()
    guest = talk.server.person("Gus", guest="restricted")
    guest.join(talk.triage)
    if way == "pressed":
        guest.press("A", on=talk.card())
    elif way == "form":
        guest.press("Answer in a form", on=talk.card())
    elif way == "edited":
        said = guest.reply(asked, "hello")
        guest.edit(said, "1: B")
    else:
        guest.reply(asked, "1: B")
    await talk.settle()
    assert talk.answers == {}
    if way != "edited":
        assert talk.mine()[-1].only_to == guest.id
        assert "access.answer_refused" in [entry.event for entry in talk.audit]


@pytest.mark.parametrize("way", ["mention", "command", "shortcut", "reaction"])
async def test_p66_p67_who_may_not_begin_is_told_privately_on_every_way(talk: Talk, way: str) -> None:
    """RD-12 CH-5. And may, on each of them, where the channel says so."""
    guest = talk.server.person("Gus", guest="restricted")
    guest.join(talk.triage)
    said = talk.ben.say("lit-review this", talk.triage)

    def begin() -> None:
        match way:
            case "mention":
                guest.say("@askfirst lit-review this", talk.triage)
            case "command":
                guest.command("/clarify", "lit-review this", talk.triage)
            case "shortcut":
                guest.shortcut("clarify_this", on=said)
            case _:
                guest.react(said, "question")

    begin()
    await talk.settle()
    assert not talk.opened()
    assert [m.only_to for m in talk.mine()] == [guest.id]
    assert "access.answer_refused" in [entry.event for entry in talk.audit]
    talk.ana.command("/askfirst", "settings outsiders on", talk.triage)
    await talk.settle()
    if way == "reaction":
        guest.unreact(said, "question")
    begin()
    await talk.settle()
    assert len(talk.opened()) == 1


async def test_p68_previews_and_our_own_redrawings_are_nothing(talk: Talk) -> None:
    asked = await talk.begin()
    said = talk.ana.reply(asked, "1: B, see https://example.com/a")
    await talk.settle()
    before = len(talk.store.commits)
    talk.server.unfurl(said, "https://example.com/a")
    talk.ana.edit(said, said.text, raw=True)
    talk.ben.react(said, "eyes")
    await talk.settle()
    assert len(talk.store.commits) == before


async def test_p69_p70_an_edited_answer_is_a_change(talk: Talk) -> None:
    """RD-13. Before the end it counts at once; after it, it is asked about and then sent on."""
    asked = await talk.begin()
    said = talk.ana.reply(asked, "1: B")
    await talk.settle()
    talk.ana.edit(said, "1: C")
    await talk.settle()
    assert talk.answers == {"years": "C"}
    talk.ana.reply(asked, "accept recommendations")
    await talk.settle()
    talk.clock.advance(10)
    await talk.settle()
    talk.ana.edit(said, "1: A")
    await talk.settle()
    assert talk.answers["years"] == "C"
    talk.ana.press("Yes, change it") if "Yes, change it" in json.dumps(talk.mine()[-1].blocks) else talk.ana.reply(
        asked, "yes"
    )
    await talk.settle()
    assert talk.answers["years"] == "A"


@pytest.mark.parametrize("overtaken", ["message", "edit", "edit that takes it back"])
async def test_an_answer_that_was_overtaken_on_its_way_changes_nothing(talk: Talk, overtaken: str) -> None:
    """RD-13: the later act wins. Slack tells again what was not acknowledged, after a minute or five (P55, P58)."""
    asked = await talk.begin()
    said = talk.ana.reply(asked, "1: A")
    if overtaken == "message":
        talk.ana.reply(asked, "1: C")
    else:
        talk.ana.edit(said, "1: C" if overtaken == "edit" else "I have to think about it")
    talk.server.outgoing.reverse()
    await talk.settle()
    assert talk.answers == ({} if "back" in overtaken else {"years": "C"})
    assert sum(len(commit.clarifications) for commit in talk.store.commits) == len(talk.answers)


async def test_a_change_that_can_not_be_read_is_answered_in_the_thread(talk: Talk) -> None:
    """RD-13 CH-2. From whoever was asked; other people's talk there, after the end, is left alone."""
    asked = await talk.begin()
    talk.ana.reply(asked, "accept recommendations")
    await talk.settle()
    talk.clock.advance(10)
    await talk.settle()
    before = len(talk.mine())
    for words in ("change 2 to Q please, if anybody can find it", "cancel", "ok"):
        talk.ben.reply(asked, words)
    talk.ana.reply(asked, "cancel lunch?")
    await talk.settle()
    assert len(talk.mine()) == before
    talk.ana.reply(asked, "change 2 to Q")
    await talk.settle()
    assert "there is no Q here" in talk.words()[-1].replace("There", "there")


async def test_p71_the_text_beside_the_blocks_is_whole(talk: Talk) -> None:
    """Screen readers and notifications read only that; redrawn, too, and of everything else that has blocks."""
    asked = await talk.begin()
    whole = ("Years to cover", "A  Last 5 years", "✅ Recommended", "Why B:", "accept recommendations")
    assert all(words in talk.card().text for words in whole)
    talk.ana.reply(asked, "2: A")
    await talk.settle()
    assert all(words in talk.card().text for words in (*whole, "✔ 2 · Databases to search: A"))
    talk.ana.say("@askfirst I have an abstract and a set of papers.", talk.triage)
    talk.ana.reply(asked, "ok")
    await talk.settle()
    for message in talk.mine():
        shown = [e["text"]["text"] for b in message.blocks if b["type"] in ("section", "header") for e in [b]]
        plain = message.text.replace("\n", "").replace("*", "")
        assert all(line.replace("*", "") in plain for words in shown for line in words.split("\n"))


@pytest.mark.parametrize("error", ["is_archived", "channel_not_found", "account_inactive", "token_revoked"])
async def test_undeliverable_is_an_outcome(talk: Talk, error: str) -> None:
    """CH-7."""
    talk.server.faults.fail(error, method="chat.postMessage", times=-1)
    talk.ana.say("@askfirst lit-review this", talk.triage)
    await talk.settle()
    failed = [c.envelope.event for c in talk.store.commits if isinstance(c.envelope.event, DeliveryFailed)]
    assert failed
    assert talk.opened()[0].current is not None
    assert talk.opened()[0].current.undelivered


async def test_p58_a_dead_socket_is_given_up_and_what_was_missed_is_read(talk: Talk) -> None:
    if talk.rig.style != "socket":
        return
    asked = await talk.begin()
    rig, server = talk.rig, talk.server
    for connection in server.sockets.connections:
        connection.frozen = True
    talk.ana.reply(asked, "1: B")  # comes nowhere
    opened = server.sockets.opened
    for _ in range(6):
        rig.wire_clock.advance(10)
        await asyncio.sleep(0)
    await server.sockets.connected(2)
    await until_real(lambda: server.sockets.opened >= opened + 2)
    await until_real(lambda: len(rig.heard) >= 2)
    server.outgoing.waiting.clear()
    await rig.history.read(talk.clock.now() - timedelta(hours=1))
    await talk.settle()
    assert talk.answers == {"years": "B"}


async def until_real(condition) -> None:  # type: ignore[no-untyped-def]
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - sockets of the real network
            await asyncio.sleep(0.005)


async def test_p69_what_an_edit_began_is_edited_like_any_other(talk: Talk) -> None:
    """b19. The first edit that names the bot is a request; the next one is an edit of it, and no new one."""
    said = talk.ana.say("lit-review this", talk.triage)
    await talk.settle()
    talk.ana.edit(said, "@askfirst lit-review this")
    await talk.settle()
    talk.ana.edit(said, "@askfirst lit-review this, please")
    await talk.settle()
    [state] = talk.opened()
    assert len(state.sessions) == 1
    assert "as it was" in talk.words()[-1]
