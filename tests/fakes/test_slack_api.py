"""The Web API, through slack_sdk's AsyncWebClient over HTTP: what it does, and Slack's own word for each no."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.conftest import Acme
from tests.fakes.slack import ClientRefused, Refusal

SECTION = {"type": "section", "block_id": "s", "text": {"type": "mrkdwn", "text": "Which one?"}}


async def refused(call: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    return str(caught.value.response["error"])


async def test_a_message_comes_back_as_it_stands(acme: Acme) -> None:
    sent = await acme.client.chat_postMessage(channel=acme.triage.id, text="Which one?", blocks=[SECTION])
    assert sent["message"]["blocks"] == [SECTION]
    assert (sent["message"]["bot_id"], sent["message"]["user"]) == ("B0BOT0001", "U0BOT0001")
    history = await acme.client.conversations_history(channel=acme.triage.id)
    assert [m["ts"] for m in history["messages"]] == [sent["ts"]]
    assert acme.server.what_people_see(acme.triage) == ["Askfirst> Which one?"]


async def test_blocks_and_elements_without_ids_get_some(acme: Acme) -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}}
    sent = await acme.client.chat_postMessage(
        channel=acme.triage.id, text="t", blocks=[{"type": "actions", "elements": [button]}, {"type": "divider"}]
    )
    actions, divider = sent["message"]["blocks"]
    assert actions["block_id"] != divider["block_id"]
    assert actions["elements"][0]["action_id"]


async def test_a_thread_its_root_and_a_broadcast(acme: Acme) -> None:
    root = acme.ana.say("a bug", acme.triage)
    await acme.client.chat_postMessage(channel=acme.triage.id, text="hidden", thread_ts=root.ts)
    await acme.client.chat_postMessage(channel=acme.triage.id, text="shown", thread_ts=root.ts, reply_broadcast=True)
    replies = await acme.client.conversations_replies(channel=acme.triage.id, ts=root.ts)
    assert [m["text"] for m in replies["messages"]] == ["a bug", "hidden", "shown"]
    assert replies["messages"][0]["reply_count"] == 2
    assert [m.get("parent_user_id") for m in replies["messages"]] == [None, acme.ana.id, acme.ana.id]
    history = await acme.client.conversations_history(channel=acme.triage.id)
    assert [m["text"] for m in history["messages"]] == ["shown", "a bug"]


async def test_a_reply_into_a_deleted_thread_lands_in_the_channel(acme: Acme) -> None:
    """Field case b25: `ok`, but without thread_ts."""
    root = acme.ana.say("a bug", acme.triage)
    acme.ben.reply(root, "me too")
    acme.ana.delete(root)
    sent = await acme.client.chat_postMessage(channel=acme.triage.id, text="echo", thread_ts=root.ts)
    assert "thread_ts" not in sent["message"]
    assert [m.ts for m in acme.server.strays] == [sent["ts"]]


async def test_the_ts_of_a_reply_is_no_thread(acme: Acme) -> None:
    reply = acme.ben.reply(acme.ana.say("a bug", acme.triage), "me too")
    await acme.client.chat_postMessage(channel=acme.triage.id, text="echo", thread_ts=reply.ts)
    assert "is a reply" in acme.server.complaints.pop()


async def test_update_with_text_alone_takes_the_blocks_away(acme: Acme) -> None:
    """chat.update: "(edited)" only without blocks; metadata stays."""
    meta = {"event_type": "round", "event_payload": {"id": "r1"}}
    sent = await acme.client.chat_postMessage(channel=acme.triage.id, text="one", blocks=[SECTION], metadata=meta)
    kept = await acme.client.chat_update(channel=acme.triage.id, ts=sent["ts"], text="two", blocks=[SECTION])
    assert kept["message"]["blocks"]
    assert "edited" not in kept["message"]
    bare = await acme.client.chat_update(channel=acme.triage.id, ts=sent["ts"], text="three")
    assert "blocks" not in bare["message"]
    assert bare["message"]["edited"]
    assert bare["message"]["metadata"] == meta


async def test_what_was_chosen_stays_under_the_same_block_id(acme: Acme) -> None:
    """platform: a card that starts afresh needs fresh block ids, whatever initial_option says."""

    def card(block_id: str) -> list[dict[str, Any]]:
        options = [{"text": {"type": "plain_text", "text": t}, "value": t} for t in "AB"]
        radio = {"type": "radio_buttons", "action_id": "r", "options": options, "initial_option": options[0]}
        return [{"type": "actions", "block_id": block_id, "elements": [radio]}]

    sent = await acme.client.chat_postMessage(channel=acme.triage.id, text="t", blocks=card("one"))
    acme.ana.choose("B")
    await acme.client.chat_update(channel=acme.triage.id, ts=sent["ts"], text="t", blocks=card("one"))
    assert acme.ana.sees(acme.triage)[-1].strip() == "(•) B"
    await acme.client.chat_update(channel=acme.triage.id, ts=sent["ts"], text="t", blocks=card("two"))
    assert acme.ana.sees(acme.triage) == ["Askfirst> (•) A", "    ( ) B"]


@pytest.mark.parametrize(
    ("words", "error"),
    [("", "no_text"), ("  ", "no_text"), ("x" * 4001, "msg_too_long")],
)
async def test_an_update_has_between_1_and_4000_characters(acme: Acme, words: str, error: str) -> None:
    sent = await acme.client.chat_postMessage(channel=acme.triage.id, text="one")
    args = {"channel": acme.triage.id, "ts": sent["ts"], "text": words}
    assert await refused(acme.client.api_call("chat.update", json=args)) == error


async def test_only_own_messages_can_be_changed_or_deleted(acme: Acme) -> None:
    theirs = acme.ana.say("mine", acme.triage)
    at = {"channel": acme.triage.id, "ts": theirs.ts}
    assert await refused(acme.client.chat_update(**at, text="x")) == "cant_update_message"
    assert await refused(acme.client.chat_delete(**at)) == "cant_delete_message"
    gone = {"channel": acme.triage.id, "ts": "1772442000.999999"}
    assert await refused(acme.client.chat_update(**gone, text="x")) == "message_not_found"
    assert await refused(acme.client.chat_delete(**gone)) == "message_not_found"


async def test_what_is_too_long_for_a_post_is_cut(acme: Acme) -> None:
    sent = await acme.client.chat_postMessage(channel=acme.triage.id, text="x" * 40_001)
    assert len(sent["message"]["text"]) == 40_000
    assert len(acme.server.truncated) == 1


async def test_an_ephemeral_message_is_seen_by_one_until_a_reload(acme: Acme) -> None:
    sent = await acme.client.chat_postEphemeral(channel=acme.triage.id, user=acme.ana.id, text="only you")
    assert acme.ana.sees(acme.triage) == ["Askfirst (only to you)> only you"]
    assert acme.ben.sees(acme.triage) == []
    ts = sent["message_ts"]
    assert await refused(acme.client.chat_update(channel=acme.triage.id, ts=ts, text="x")) == "message_not_found"
    assert (await acme.client.conversations_history(channel=acme.triage.id))["messages"] == []
    acme.ana.reload()
    assert acme.ana.sees(acme.triage) == []
    outside = acme.server.person("Eve")
    call = acme.client.chat_postEphemeral(channel=acme.triage.id, user=outside.id, text="x")
    assert await refused(call) == "user_not_in_channel"


async def test_an_ephemeral_message_in_a_thread_without_replies_is_seen_by_nobody(acme: Acme) -> None:
    root = acme.ana.say("a bug", acme.triage)
    at = {"channel": acme.triage.id, "user": acme.ana.id, "thread_ts": root.ts}
    await acme.client.chat_postEphemeral(**at, text="lost")
    assert len(acme.server.unseen) == 1
    acme.ben.reply(root, "me too")
    await acme.client.chat_postEphemeral(**at, text="found")
    assert acme.ana.sees(thread=root)[-1] == "Askfirst (only to you)> found"


async def test_places_that_a_bot_cannot_write_to(acme: Acme) -> None:
    server, client = acme.server, acme.client
    other = server.channel("other", acme.ana, bot=False)
    secret = server.channel("secret", acme.ana, private=True, bot=False)
    old = server.channel("old", acme.ana)
    server.archive(old, acme.ana)
    for channel, error in [(other, "not_in_channel"), (secret, "channel_not_found"), (old, "is_archived")]:
        assert await refused(client.chat_postMessage(channel=channel.id, text="x")) == error
    assert await refused(client.chat_postMessage(channel="C0NOPE", text="x")) == "channel_not_found"
    await client.conversations_join(channel=other.id)
    await client.chat_postMessage(channel="#other", text="by name")
    server.me.scopes.add("chat:write.public")
    other.members.remove(server.me.bot.id)
    assert (await client.chat_postMessage(channel=other.id, text="x"))["ok"]
    sent = await client.chat_postMessage(channel=acme.triage.id, text="x")
    server.archive(acme.triage, acme.ana)
    call = client.chat_update(channel=acme.triage.id, ts=sent["ts"], text="y")
    assert await refused(call) == "is_inactive"


async def test_a_direct_message_opens_by_the_id_of_a_person(acme: Acme) -> None:
    sent = await acme.client.chat_postMessage(channel=acme.ana.id, text="hi")
    opened = await acme.client.conversations_open(users=acme.ana.id)
    assert sent["channel"] == opened["channel"]["id"] == acme.ana.dm.id
    acme.ben.deactivate()
    assert await refused(acme.client.conversations_open(users=acme.ben.id)) == "user_disabled"
    assert (await acme.client.chat_postMessage(channel=acme.ben.id, text="hi"))["ok"]  # b40: reported as sent
    acme.server.app.messages_tab = False
    assert await refused(acme.client.chat_postMessage(channel=acme.ana.dm.id, text="hi")) == "messages_tab_disabled"
    with pytest.raises(ClientRefused, match="turned off"):
        acme.ana.say("hi")


async def test_tokens_and_scopes(acme: Acme) -> None:
    def other(token: str | None) -> AsyncWebClient:
        return AsyncWebClient(token, base_url=acme.base_url)

    assert await refused(other(None).auth_test()) == "not_authed"
    assert await refused(other("xoxb-wrong").auth_test()) == "invalid_auth"
    assert await refused(other(acme.server.app.app_token).auth_test()) == "not_allowed_token_type"
    assert await refused(acme.client.apps_connections_open(app_token=acme.server.token)) == "not_allowed_token_type"
    acme.server.me.scopes.discard("chat:write")
    with pytest.raises(SlackApiError) as caught:
        await acme.client.chat_postMessage(channel=acme.triage.id, text="x")
    assert caught.value.response["error"] == "missing_scope"
    assert caught.value.response["needed"] == "chat:write"
    acme.server.me.scopes.discard("groups:history")
    secret = acme.server.channel("secret", acme.ana, private=True)
    assert await refused(acme.client.conversations_history(channel=secret.id)) == "missing_scope"
    answer = await acme.client.auth_test()
    assert "chat:write" not in answer.headers["x-oauth-scopes"]


async def test_what_the_fake_does_not_know_is_never_passed_over(acme: Acme) -> None:
    assert await refused(acme.client.api_call("pins.add", json={"channel": acme.triage.id})) == "unknown_method"
    await acme.client.chat_postMessage(channel=acme.triage.id, text="x", colour="red")
    await acme.client.api_call("chat.postMessage", json={"channel": acme.triage.id, "text": "x", "thread_ts": None})
    assert await refused(acme.client.api_call("users.info", json={"user": acme.ana.id})) == "invalid_arguments"
    with pytest.raises(AssertionError) as caught:
        acme.server.verify()
    said = str(caught.value).splitlines()
    assert len(said) == 4
    for line, words in zip(said, ["pins.add", "colour", "is null", "does not read JSON"], strict=True):
        assert words in line
    acme.server.complaints.clear()


async def test_the_pace_of_the_tiers(acme: Acme) -> None:
    """About one a second in a channel, with short bursts; tiers by the minute."""
    acme.server.enforce_pace = True
    for _ in range(4):
        await acme.client.chat_postMessage(channel=acme.triage.id, text="x")
    with pytest.raises(SlackApiError) as caught:
        await acme.client.chat_postMessage(channel=acme.triage.id, text="x")
    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "1"
    await acme.client.chat_postMessage(channel=acme.ana.id, text="another place")
    acme.clock.advance(1)
    await acme.client.chat_postMessage(channel=acme.triage.id, text="x")
    for _ in range(50):  # tier 3
        await acme.client.reactions_get(channel=acme.triage.id, timestamp=acme.server.last(acme.triage).ts)
    with pytest.raises(Refusal, match="ratelimited"):
        await acme.server.call("reactions.get", channel=acme.triage.id, timestamp="1.1")


async def test_people_groups_and_places_can_be_asked_for(acme: Acme) -> None:
    server, client = acme.server, acme.client
    eve = server.stranger("Eve")
    server.channel("shared", acme.ana, eve)
    guest = server.person("Guest", guest="ultra")
    group = server.user_group("oncall", acme.ana, acme.ben)
    shown = (await client.users_info(user=eve.id))["user"]
    assert shown["is_stranger"]
    assert shown["team_id"] != server.team.id
    assert (await client.users_info(user=guest.id))["user"]["is_ultra_restricted"]
    assert await refused(client.users_info(user="U0NOBODY1")) == "user_not_found"
    assert (await client.usergroups_users_list(usergroup=group.id))["users"] == [acme.ana.id, acme.ben.id]
    assert await refused(client.usergroups_users_list(usergroup="S0NOPE")) == "no_such_subteam"
    listed = await client.conversations_list(limit=1)
    assert len(listed["channels"]) == 1
    assert listed["response_metadata"]["next_cursor"]
    names = [c["name"] async for page in await client.conversations_list(limit=1) for c in page["channels"]]
    assert names == ["triage", "shared"]
    members = await client.conversations_members(channel=acme.triage.id)
    assert members["members"] == [acme.ana.id, acme.ben.id, server.me.bot.id]
    talk = server.group_dm(acme.ana, acme.ben)
    told = (await client.conversations_info(channel=talk.id))["channel"]
    assert (talk.id[0], told["is_mpim"], told["is_channel"]) == ("C", True, True)  # b31


async def test_what_another_workspace_has_is_not_seen(acme: Acme) -> None:
    beta = acme.server.workspace("Beta")
    bob = acme.server.person("Bob", team=beta)
    assert await refused(acme.client.users_info(user=bob.id)) == "user_not_found"
    assert await refused(acme.client.users_info(user=acme.ana.id, team_id=beta.id)) == "team_access_not_granted"
    assert (await acme.client.users_info(user=acme.ana.id, team_id="T0AAAAAA1"))["ok"]
    place = acme.server.channel("theirs", bob, team=beta)
    assert await refused(acme.client.chat_postMessage(channel=place.id, text="x")) == "channel_not_found"


async def test_bots_can_be_asked_for(acme: Acme) -> None:
    jenkins = acme.server.other_bot("Jenkins")
    told = (await acme.client.bots_info(bot=jenkins.bot_id))["bot"]
    assert (told["name"], told["app_id"], told["user_id"]) == ("Jenkins", jenkins.app_id, jenkins.id)
    assert (await acme.client.bots_info())["bot"]["id"] == "B0BOT0001"
    assert await refused(acme.client.bots_info(bot="B0NOPE")) == "bot_not_found"


async def test_reactions_and_permalinks(acme: Acme) -> None:
    root = acme.ana.say("a bug", acme.triage)
    reply = acme.ben.reply(root, "me too")
    at = {"channel": acme.triage.id, "timestamp": root.ts}
    await acme.client.reactions_add(**at, name="eyes")
    assert await refused(acme.client.reactions_add(**at, name="eyes")) == "already_reacted"
    acme.ana.react(root, "white_check_mark")
    got = await acme.client.reactions_get(**at)
    assert [r["name"] for r in got["message"]["reactions"]] == ["eyes", "white_check_mark"]
    link = await acme.client.chat_getPermalink(channel=acme.triage.id, message_ts=reply.ts)
    assert link["permalink"].endswith(f"p{reply.ts.replace('.', '')}?thread_ts={root.ts}&cid={acme.triage.id}")


async def test_who_is_pinged_and_who_is_not(acme: Acme) -> None:
    """Escapes are not pings; edits ring no phone but are mentions all the same."""
    group = acme.server.user_group("oncall", acme.ana)

    async def post(text: str, **more: Any) -> Any:
        return await acme.client.chat_postMessage(channel=acme.triage.id, text=text, **more)

    await post("put &lt;!channel&gt; and &lt;@U0BEN0001&gt; in the title")
    verbatim = {"type": "section", "text": {"type": "plain_text", "text": "<!channel>"}}
    await post("quiet", blocks=[verbatim])
    assert not acme.server.pings
    await post(f"<@{acme.ana.id}>, please")
    assert [(p.kind, p.target) for p in acme.server.pings] == [("user", acme.ana.id)]
    assert not acme.server.broadcasts
    loud = {"type": "section", "text": {"type": "mrkdwn", "text": f"<!here> <!subteam^{group.id}|@oncall>"}}
    sent = await post("quiet", blocks=[loud])
    await post("@channel", link_names=True)
    assert [p.kind for p in acme.server.broadcasts] == ["here", "group", "channel"]
    before = len(acme.server.pings)
    await acme.client.chat_update(channel=acme.triage.id, ts=sent["ts"], text="<!everyone>")
    assert len(acme.server.pings) == before
    assert acme.server.broadcasts[-1].kind == "everyone"


async def test_silence_and_sloppiness_are_noted(acme: Acme) -> None:
    """P71: blocks without a text. And `&`, `<`, `>` as they are."""
    with pytest.warns(UserWarning, match="text"):
        await acme.client.chat_postMessage(channel=acme.triage.id, blocks=[SECTION])
    assert len(acme.server.silent) == 1
    await acme.client.chat_postMessage(channel=acme.triage.id, text="R&D < Ops; <https://a.b|fine> &amp; <nonsense>")
    assert [wrong for _, wrong in acme.server.sloppy] == [["<nonsense>", "&", "<"]]


async def test_forms_json_and_where_the_token_goes(acme: Acme) -> None:
    url, token = f"{acme.base_url}chat.postMessage", acme.server.token
    form = {"channel": acme.triage.id, "text": "t", "blocks": json.dumps([SECTION]), "unfurl_links": "false"}
    bearer = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession() as session:

        async def post(**how: Any) -> Any:
            async with session.post(how.pop("url", url), **how) as answer:
                return await answer.json()

        assert (await post(data=form, headers=bearer))["message"]["blocks"] == [SECTION]
        assert (await post(data=form | {"token": token}))["ok"]
        assert acme.server.complaints == []
        assert (await post(url=f"{url}?token={token}", data=form))["error"] == "not_authed"
        assert "query string" in acme.server.complaints.pop()
        assert (await post(json={"channel": acme.triage.id, "text": "t"}, headers=bearer))["ok"]
        assert "charset" in acme.server.complaints.pop()
        assert (await post(data=form | {"unfurl_links": "perhaps"}, headers=bearer))["error"] == "invalid_arguments"
