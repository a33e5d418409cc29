"""What can be wrong between the app and Slack, looked at from outside of `askfirst serve`.

Nothing of it disturbs a running `serve`: no socket is opened (an address for one is asked for, and not used), and
nothing is posted.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

import httpx
from cryptography.fernet import Fernet

from adapters.outside import Api, Unanswered, clocks, unreached
from adapters.slack.absence import HEARD, LONGEST_GAP
from adapters.slack.http import PATH
from adapters.slack.installs import INSTALL, uncovered
from adapters.slack.intake import Ways
from adapters.slack.manifest import SCOPES
from adapters.slack.places import PLATFORM, address_of
from adapters.slack.surface import Keys
from adapters.slack.workspaces import BASE_URL
from bot.checks import Check
from bot.ports import Clock

SKEW = timedelta(
    minutes=4
)  # Slack's own bound for signatures is five: docs.slack.dev/authentication/verifying-requests
ANEW = "Print the manifest with `askfirst slack-manifest`, paste it into the app's page, install the app anew."
COPY_BOT = "Copy it anew from the app's page, OAuth & Permissions, into ASKFIRST_SLACK__BOT_TOKEN."
COPY_APP = (
    "Make one with the scope connections:write at the app's page, Basic Information, App-Level Tokens, "
    "and copy it into ASKFIRST_SLACK__APP_TOKEN."
)
TAB = (
    'At api.slack.com/apps, App Home, Show Tabs: switch "Messages Tab" on, and "Allow users to send Slash commands '
    'and messages from the messages tab". A new manifest does not reach an app that exists already.'
)


def is_direct(conversation: str) -> bool:
    """Whether it is somebody's direct messages with the app. Group ones have ids of channels."""
    if not conversation.startswith(f"{PLATFORM}:"):
        return False
    address = address_of(conversation)
    return address.root is None and address.channel.startswith("D")


async def examine(
    keys: Keys, ways: Ways, kept: Mapping[str, str], here: str, heard: Collection[str], clock: Clock
) -> list[Check]:
    """`kept` is what the store keeps under "slack:"; `here` the address at which `serve` would listen; `heard` the
    kinds of events that direct messages have brought ("message", "press")."""
    checks: list[Check] = []
    async with httpx.AsyncClient(timeout=15.0, trust_env=False) as client:
        api = _Api(client, f"{(keys.base_url or BASE_URL).rstrip('/')}/")
        try:
            if keys.oauth is not None:
                checks += await _installed(api, Fernet(keys.oauth.token_key), kept)
            else:
                checks += await _token(api, keys.bot_token or "", ways)
            if keys.app_token is not None:
                checks.append(await _app_token(api, keys.app_token))
        except Unanswered as error:
            return [*checks, unreached("slack", "Web API", error, "slack.com", "ASKFIRST_SLACK__BASE_URL")]
        if keys.app_token is None:
            refused = ": all that comes is refused"
            checks += clocks("slack clock", api.date, clock.now(), SKEW, "Slack", refused)
            checks.append(await _listens(client, here, keys.signing_secret or "", clock))
    return [*checks, *_messages_tab(heard), *_absence(kept, clock.now())]


class _Api(Api):
    scopes: frozenset[str] | None = None  # as the last answer told them

    async def call(self, method: str, token: str) -> dict[str, Any]:
        how = {"headers": {"authorization": f"Bearer {token}"}}
        answer, body = await self.ask(method, **how)
        if not isinstance(body, dict):
            raise Unanswered("no JSON object")
        if answer.status_code == 429 or body.get("error") == "ratelimited":
            raise Unanswered("too many calls; try again in a minute")
        given = answer.headers.get("x-oauth-scopes")
        self.scopes = None if given is None else frozenset(word.strip() for word in given.split(",") if word.strip())
        return body


# -- tokens --------------------------------------------------------------------------------------------------------


async def _token(api: _Api, token: str, ways: Ways) -> list[Check]:
    who = await api.call("auth.test", token)
    if not who.get("ok"):
        return [Check("slack token", "finding", f"Slack refuses the bot token ({who.get('error')})", COPY_BOT)]
    told = f"@{who.get('user', '?')} in {who.get('team', '?')} ({who.get('team_id') or who.get('enterprise_id')})"
    return [Check("slack token", "ok", told), *_scopes(api.scopes, ways)]


def _scopes(given: frozenset[str] | None, ways: Ways) -> list[Check]:
    if given is None:
        return [Check("slack scopes", "note", "Slack did not say which permissions the app has")]
    wanted = {*SCOPES, *(["reactions:read"] if ways.reactions else [])}
    missing = sorted(wanted - given)
    if missing:
        return [Check("slack scopes", "finding", f"the app lacks permissions: {', '.join(missing)}", ANEW)]
    return [Check("slack scopes", "ok", "all that are needed")]


async def _installed(api: _Api, cipher: Fernet, kept: Mapping[str, str]) -> list[Check]:
    """Every workspace that has installed the app."""
    checks, well = [], 0
    for key, words in kept.items():
        if not key.startswith(INSTALL):
            continue
        team, known = key.removeprefix(INSTALL), uncovered(words, cipher)
        if known is None:
            fix = "Set ASKFIRST_SLACK__TOKEN_KEY to the key it was stored with, or have the app installed once more."
            checks.append(Check("slack token", "finding", f"the token of {team} can not be read with this key", fix))
            continue
        who = await api.call("auth.test", str(known["token"]))
        if who.get("ok"):
            well += 1
        else:
            fix = "Have the app installed there once more, at /slack/install."
            checks.append(
                Check("slack token", "finding", f"Slack refuses the one of {team} ({who.get('error')})", fix)
            )
    if not checks:
        words = f"{well} workspaces" if well else "no workspace has installed the app yet (/slack/install)"
        checks.append(Check("slack token", "ok" if well else "note", words))
    return checks


async def _app_token(api: _Api, token: str) -> Check:
    answer = await api.call("apps.connections.open", token)
    if answer.get("ok"):
        return Check("slack socket", "ok", "Slack gives an address for it")
    return Check("slack socket", "finding", f"Slack refuses the app-level token ({answer.get('error')})", COPY_APP)


# -- being heard ---------------------------------------------------------------------------------------------------


async def _listens(client: httpx.AsyncClient, here: str, secret: str, clock: Clock) -> Check:
    """The question that Slack asks of a new address, signed as Slack would, put to `serve` on this machine."""
    body = json.dumps({"type": "url_verification", "challenge": "askfirst-doctor"})
    stamp = str(int(clock.now().timestamp()))
    signed = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    headers = {"x-slack-request-timestamp": stamp, "x-slack-signature": f"v0={signed}"}
    headers["content-type"] = "application/json"
    try:
        answer = await client.post(f"{here}{PATH}", content=body, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL):
        return Check(
            "slack address", "note", f"nothing listens at {here}{PATH}: `askfirst serve` is not running here"
        )
    if answer.status_code == 200 and "askfirst-doctor" in answer.text:
        return Check(
            "slack address", "ok", f"{PATH} answers here; Slack's requests must be passed on to it unchanged"
        )
    if answer.status_code == 401:
        fix = "Copy the signing secret anew from Basic Information, and start `askfirst serve` again."
        return Check(
            "slack address", "finding", "the program there refuses our signature: its secret is another", fix
        )
    fix = "See which program listens there: ASKFIRST_HTTP__HOST, ASKFIRST_HTTP__PORT."
    return Check("slack address", "finding", f"{here}{PATH} answers {answer.status_code}", fix)


def _messages_tab(heard: Collection[str]) -> list[Check]:
    """Slack tells no app whether people can write to it; buttons alone give it away (b46 of the field cases)."""
    if "message" in heard:
        return [Check("slack messages tab", "ok", "people write to the app")]
    if "press" in heard:
        message = (
            "people press buttons in direct messages and nobody has ever written there: is writing switched off?"
        )
        return [Check("slack messages tab", "finding", message, TAB)]
    return [Check("slack messages tab", "note", f"nobody has written to the app directly yet. {TAB}")]


def _absence(kept: Mapping[str, str], now: datetime) -> list[Check]:
    last = max((datetime.fromisoformat(at) for key, at in kept.items() if key.startswith(HEARD)), default=None)
    if last is None or now - last <= LONGEST_GAP:
        return []
    message = (
        f"`askfirst serve` was last here {(now - last).days} days ago; threads are read back for {LONGEST_GAP.days}"
    )
    return [Check("slack absence", "finding", message, "Start it; who answered before that has to say it again.")]
