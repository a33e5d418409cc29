"""Installing, rotating, revoking, leaving."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.conftest import Acme
from tests.fakes.slack import ClientRefused

# slack_sdk 3.48 uses aiohttp's BasicAuth, which aiohttp 3.14 warns of
pytestmark = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")
BACK = "https://bot.example/slack/oauth_redirect"


async def exchange(acme: Acme, **args: Any) -> Any:
    app = acme.server.app
    known = {"client_id": app.client_id, "client_secret": app.client_secret} | args
    return await AsyncWebClient(base_url=acme.base_url).oauth_v2_access(**known)


async def refused(acme: Acme, **args: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        await exchange(acme, **args)
    return str(caught.value.response["error"])


def with_token(acme: Acme, token: str) -> AsyncWebClient:
    return AsyncWebClient(token, base_url=acme.base_url)


async def test_a_workspace_is_added(acme: Acme) -> None:
    beta = acme.server.workspace("Beta", installed=False)
    bob = acme.server.person("Bob", team=beta)
    acme.server.app.redirect_urls = [BACK]
    asked = {
        "client_id": acme.server.app.client_id,
        "scope": "chat:write,commands",
        "state": "s1",
        "redirect_uri": BACK,
    }
    back = acme.server.consent(bob, f"https://slack.com/oauth/v2/authorize?{urlencode(asked)}")
    given = {key: values[0] for key, values in parse_qs(urlsplit(back).query).items()}
    assert (back.partition("?")[0], given["state"]) == (BACK, "s1")
    assert await refused(acme, code=given["code"], client_secret="wrong") == "bad_client_secret"
    assert await refused(acme, code="nope") == "invalid_code"
    assert await refused(acme, code=given["code"], redirect_uri="https://evil.example") == "bad_redirect_uri"
    made = await exchange(acme, code=given["code"], redirect_uri=BACK)
    assert (made["team"]["id"], made["scope"], made["authed_user"]["id"]) == (beta.id, "chat:write,commands", bob.id)
    assert await refused(acme, code=given["code"]) == "code_already_used"
    who = await with_token(acme, made["access_token"]).auth_test()
    assert (who["team_id"], who["user_id"]) == (beta.id, made["bot_user_id"])
    with pytest.raises(SlackApiError, match="channel_not_found"):
        await with_token(acme, made["access_token"]).chat_postMessage(channel=acme.triage.id, text="x")


def test_what_a_person_is_not_shown_at_all(acme: Acme) -> None:
    acme.server.app.redirect_urls = [BACK]
    good = {"client_id": acme.server.app.client_id, "scope": "chat:write", "redirect_uri": BACK}
    for wrong, words in [
        ({"client_id": "9"}, "invalid_client_id"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"redirect_uri": "https://evil.example"}, "bad_redirect_uri"),
    ]:
        with pytest.raises(ClientRefused, match=words):
            acme.server.consent(acme.ana, f"https://slack.com/oauth/v2/authorize?{urlencode(good | wrong)}")


async def test_a_code_lives_ten_minutes(acme: Acme) -> None:
    code = acme.server.code(acme.server.team)
    acme.clock.advance(601)
    assert await refused(acme, code=code) == "invalid_code"


async def test_rotation(acme: Acme) -> None:
    """12 hours; a refresh token works once."""
    acme.server.app.rotation = True
    made = await exchange(acme, code=acme.server.code(acme.server.team))
    assert made["expires_in"] == 43_200
    assert made["access_token"].startswith("xoxe.xoxb-1-")
    acme.clock.advance(12 * 3600)
    with pytest.raises(SlackApiError, match="token_expired"):
        await with_token(acme, made["access_token"]).auth_test()
    fresh = await exchange(acme, grant_type="refresh_token", refresh_token=made["refresh_token"])
    assert (await with_token(acme, fresh["access_token"]).auth_test())["ok"]
    again = await refused(acme, grant_type="refresh_token", refresh_token=made["refresh_token"])
    assert again == "invalid_refresh_token"


async def test_revoked_and_uninstalled(acme: Acme) -> None:
    await acme.client.auth_revoke(test=True)
    await acme.client.auth_revoke()
    with pytest.raises(SlackApiError, match="token_revoked"):
        await acme.client.auth_test()
    beta = acme.server.workspace("Beta")
    assert beta.app is not None
    acme.server.uninstall(beta)
    with pytest.raises(SlackApiError, match="account_inactive"):
        await with_token(acme, beta.app.token).auth_test()
    told = [(d.payload["team_id"], d.event["type"]) for d in acme.server.outgoing.log]
    assert told == [
        (acme.server.team.id, "tokens_revoked"),
        (beta.id, "tokens_revoked"),
        (beta.id, "app_uninstalled"),
    ]
    acme.ana.say("anybody there?", acme.triage)
    assert len(acme.server.outgoing.log) == 3


async def test_installed_again_the_old_token_is_dead(acme: Acme) -> None:
    acme.server.uninstall()
    acme.server.install(acme.server.team)
    with pytest.raises(SlackApiError, match="account_inactive"):
        await acme.client.auth_test()
    assert (await with_token(acme, acme.server.token).auth_test())["user_id"] == "U0BOT0001"
