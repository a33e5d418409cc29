"""Which events there are, in which form, and when there are none. Shapes as in the field cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.conftest import Acme
from tests.fakes.slack import App, ClientRefused, SlackServer


def events(acme: Acme) -> list[dict[str, Any]]:
    """What has been told since the last look."""
    told = [delivery.event for delivery in acme.server.outgoing.log]
    acme.server.outgoing.log.clear()
    return told


def kinds(acme: Acme) -> list[str]:
    return [".".join(filter(None, (e["type"], e.get("subtype")))) for e in events(acme)]


def test_what_is_typed_and_what_arrives(acme: Acme) -> None:
    """b04, b17: links, escapes once, mentions."""
    for typed, text in [
        (
            "1: B, 2: other ask ops@example.com, 3: C",
            "1: B, 2: other ask <mailto:ops@example.com|ops@example.com>, 3: C",
        ),
        ("run worker.py", "run <http://worker.py|worker.py>"),
        ("1: other MSc & MBA", "1: other MSc &amp; MBA"),
        ("show &lt;b&gt; literally", "show &amp;lt;b&amp;gt; literally"),
        ("put <!channel> in the title", "put &lt;!channel&gt; in the title"),
        ("@ben please", "<@U0BEN0001> please"),
        ("@channel please", "<!channel> please"),
        ("see https://a.b/c?x=1&y=2.", "see <https://a.b/c?x=1&amp;y=2>."),
    ]:
        acme.ana.say(typed, acme.triage)
        (event,) = events(acme)
        assert event["text"] == text
        assert event["blocks"][0]["type"] == "rich_text"


def test_a_mention_is_two_events_and_its_edit_two_more(acme: Acme) -> None:
    """P57, b19: one message, one ts."""
    said = acme.ana.say("@askfirst /spec checkot", acme.triage)
    message, mention = events(acme)
    assert (message["type"], mention["type"]) == ("message", "app_mention")
    assert message["ts"] == mention["ts"] == said.ts
    assert "channel_type" not in mention
    acme.ana.edit(said, "@askfirst /spec checkout")
    changed, again = events(acme)
    assert (changed["subtype"], changed["hidden"]) == ("message_changed", True)
    assert changed["message"]["edited"]["user"] == acme.ana.id
    assert changed["previous_message"]["text"].endswith("checkot")
    assert "user" not in changed
    assert (again["type"], again["ts"], again["edited"]) == ("app_mention", said.ts, changed["message"]["edited"])


def test_unfurls_and_touches_are_changes_that_nobody_made(acme: Acme) -> None:
    """P68."""
    said = acme.ana.say("@askfirst see https://a.b/c", acme.triage)
    events(acme)
    acme.server.unfurl(said, "https://a.b/c")
    acme.server.touch(said)
    told = events(acme)
    assert [event["type"] for event in told] == ["message", "message"]  # and no mention once more
    for event in told:
        assert event["subtype"] == "message_changed"
        assert "edited" not in event["message"]
        assert event["message"]["text"] == event["previous_message"]["text"]


async def test_the_bots_own_links_are_unfurled_unless_both_switches_are_off(acme: Acme) -> None:
    """platform: a preview is a message_changed of the bot's own message."""
    args = {"channel": acme.triage.id, "text": "see https://a.b/c"}
    await acme.client.chat_postMessage(**args, unfurl_links=False)
    assert kinds(acme) == ["message", "message.message_changed"]
    await acme.client.chat_postMessage(**args, unfurl_links=False, unfurl_media=False)
    assert kinds(acme) == ["message"]
    assert len(acme.server.unfurled) == 1


async def test_the_bots_own_words_come_back(acme: Acme) -> None:
    sent = await acme.client.chat_postMessage(channel=acme.triage.id, text="hi @all")
    await acme.client.chat_update(channel=acme.triage.id, ts=sent["ts"], text="ho")
    await acme.client.chat_delete(channel=acme.triage.id, ts=sent["ts"])
    await acme.client.chat_postEphemeral(channel=acme.triage.id, user=acme.ana.id, text="psst")
    first, changed, deleted = events(acme)
    assert (first["user"], first["bot_id"], first["app_id"]) == ("U0BOT0001", "B0BOT0001", "A0APP0001")
    assert (changed["subtype"], changed["message"]["text"]) == ("message_changed", "ho")
    assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", sent["ts"])


def test_a_root_with_replies_leaves_a_tombstone(acme: Acme) -> None:
    """b25, b28."""
    root = acme.ana.say("a bug", acme.triage)
    reply = acme.ben.reply(root, "me too")
    events(acme)
    acme.ana.delete(root)
    acme.ben.delete(reply)
    stone, gone = events(acme)
    assert (stone["subtype"], stone["message"]["subtype"]) == ("message_changed", "tombstone")
    assert stone["message"]["reply_count"] == 1
    assert (gone["subtype"], gone["deleted_ts"]) == ("message_deleted", reply.ts)


def test_a_broadcast_reply_has_its_root(acme: Acme) -> None:
    """b01."""
    root = acme.ana.say("a bug", acme.triage)
    acme.ben.reply(root, "1: B", broadcast=True)
    event = events(acme)[-1]
    assert (event["subtype"], event["thread_ts"], event["root"]["reply_count"]) == ("thread_broadcast", root.ts, 1)


def test_files_forwards_other_bots_and_other_apps(acme: Acme) -> None:
    """b08, b13, b58."""
    clip = acme.ana.file("audio.m4a", b"..", "audio/mp4", subtype="slack_audio", duration_ms=4100)
    hidden = acme.ana.file("old", mode="hidden_by_limit")
    stub = acme.ana.file("theirs", file_access="check_file_info")
    acme.ana.say("", acme.triage, files=[clip, hidden, stub])
    said, *shared = events(acme)
    assert (said["subtype"], said["text"], len(shared)) == ("file_share", "", 3)
    assert said["files"][0]["subtype"] == "slack_audio"
    assert said["files"][1:] == [
        {"id": hidden.id, "mode": "hidden_by_limit"},
        {"id": stub.id, "file_access": "check_file_info"},
    ]
    words = acme.ben.say("@askfirst accept recommendations", acme.triage)
    events(acme)
    acme.ana.forward(words, acme.triage)
    (event,) = events(acme)
    assert event["text"] == ""
    assert event["attachments"][0]["text"] == words.text
    jenkins = acme.server.other_bot("Jenkins")
    acme.triage.members.append(jenkins.id)
    jenkins.say("build failed", acme.triage)
    jenkins.say("build failed", acme.triage, legacy=True)
    modern, old = events(acme)
    assert ("subtype" in modern, modern["bot_id"], modern["user"]) == (False, jenkins.bot_id, jenkins.id)
    assert (old["subtype"], old["username"], "user" in old) == ("bot_message", "Jenkins", False)
    acme.ana.say("1: B", acme.triage, through=jenkins)
    (event,) = events(acme)
    assert (event["user"], event["bot_id"]) == (acme.ana.id, jenkins.bot_id)


def test_nothing_is_heard_without_being_there_subscribed_or_allowed(acme: Acme) -> None:
    server = acme.server
    away = server.channel("away", acme.ana, bot=False)
    acme.ana.say("@askfirst hello", away)
    assert kinds(acme) == []
    acme.ana.invite_bot(away)
    assert kinds(acme) == ["member_joined_channel", "message.channel_join"]
    server.app.events.discard("message.channels")
    acme.ana.say("@askfirst hello", away)
    assert kinds(acme) == ["app_mention"]
    server.me.scopes.discard("app_mentions:read")
    acme.ana.say("@askfirst hello", away)
    assert kinds(acme) == []
    acme.ana.remove_bot(away)
    assert kinds(acme) == ["member_left_channel"]


def test_places_and_people_change(acme: Acme) -> None:
    server = acme.server
    message = acme.ana.say("a bug", acme.triage)
    events(acme)
    acme.ben.react(message, "eyes")
    acme.ben.unreact(message, "eyes")
    server.rename(acme.triage, "triage-2")
    server.archive(acme.triage, acme.ana)
    with pytest.raises(ClientRefused, match="archived"):
        acme.ana.say("hello?", acme.triage)
    server.unarchive(acme.triage, acme.ana)
    server.person("Cat").arrive()
    acme.ben.deactivate()
    server.change_group(server.user_group("oncall", acme.ana), acme.ana, acme.ben)
    acme.ana.open_home()
    assert kinds(acme) == [
        "reaction_added", "reaction_removed", "channel_rename", "channel_archive", "channel_unarchive", "team_join",
        "user_change", "subteam_updated", "app_home_opened",
    ]  # fmt: skip
    with pytest.raises(ClientRefused, match="deactivated"):
        acme.ben.say("hello?", acme.triage)


def test_people_of_other_companies(acme: Acme) -> None:
    """Slack Connect: the user's team is another than the installation's."""
    eve = acme.server.stranger("Eve")
    shared = acme.server.channel("shared", acme.ana, eve)
    eve.say("hello", shared)
    body = acme.server.outgoing.log[-1].payload
    assert body["is_ext_shared_channel"]
    assert body["team_id"] == "T0AAAAAA1"
    assert body["event"]["user_team"] == body["event"]["source_team"] == eve.team.id != "T0AAAAAA1"


def test_an_org_wide_installation_names_no_team(acme: Acme) -> None:
    """b34."""
    org = acme.server.workspace("Grid", enterprise="E0ORG00001", org_wide=True)
    wendy = acme.server.person("Wendy", team=org, id="W0ANA0001")
    place = acme.server.channel("same", wendy, team=org)
    wendy.say("1: B", place)
    body = acme.server.outgoing.log[-1].payload
    assert body["authorizations"][0] == {
        "enterprise_id": "E0ORG00001", "team_id": None, "user_id": "U0BOT0002", "is_bot": True,
        "is_enterprise_install": True,
    }  # fmt: skip
    acme.server.app.shortcuts["ask"] = "message"
    pressed = wendy.shortcut("ask", on=acme.server.last(place))
    assert (pressed.payload["team"], pressed.payload["enterprise"]["id"]) == (None, "E0ORG00001")


def test_the_manifest_decides() -> None:
    manifest = {
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": True,
            },
            "slash_commands": [{"command": "/clarify", "should_escape": True}],
            "shortcuts": [{"type": "message", "callback_id": "ask", "name": "Clarify this"}],
        },
        "oauth_config": {"scopes": {"bot": ["chat:write", "channels:history"]}},
        "settings": {
            "event_subscriptions": {"bot_events": ["message.channels"]},
            "interactivity": {"is_enabled": True},
        },
    }
    app = App()
    app.use_manifest(manifest)
    server = SlackServer(app=app)
    ana = server.person("Ana")
    assert server.me.scopes == {"chat:write", "channels:history"}
    assert ana.command("/clarify", "ask @ana").payload["text"] == "ask <@U0ANA0001|ana>"
    with pytest.raises(ClientRefused, match="not a valid command"):
        ana.command("/askfirst")
    with pytest.raises(ClientRefused, match="turned off"):  # b46
        ana.say("hello")
    with pytest.raises(AssertionError, match=r"pins\.read"):
        app.use_manifest({"oauth_config": {"scopes": {"bot": ["pins.read"]}}})
