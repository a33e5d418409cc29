"""What can be wrong between the app and Slack, looked at from outside of `askfirst serve` and not in its way."""

from __future__ import annotations

from collections.abc import Awaitable

from adapters.slack.errors import code_of
from adapters.slack.surface import REFUSED, Keys
from adapters.slack.workspaces import http_session, web_client
from bot.checks import Check

UNREACHED = "See that this machine reaches slack.com, or that ASKFIRST_SLACK__BASE_URL is right."


async def examine(keys: Keys) -> list[Check]:
    """The tokens, each with the one call that shows whether Slack takes it."""
    examined: list[Check] = []
    async with http_session() as session:
        if keys.bot_token is None:
            examined.append(Check("slack", "note", "workspaces install the app themselves; no token to look at here"))
        else:
            client = web_client(keys.bot_token, keys.base_url, session)
            examined.append(await _token("slack bot token", client.auth_test(), "SLACK__BOT_TOKEN"))
        if keys.app_token is not None:
            # Only the address of a socket: until somebody connects to it, events go to the program that serves.
            opened = web_client(keys.app_token, keys.base_url, session).apps_connections_open(
                app_token=keys.app_token
            )
            examined.append(await _token("slack app token", opened, "SLACK__APP_TOKEN"))
    return examined


async def _token(name: str, asked: Awaitable[object], setting: str) -> Check:
    try:
        await asked
    except Exception as error:  # noqa: BLE001 - a refusal, or one of many ways not to be reached; none is repeated whole
        code = code_of(error)
        if code in REFUSED:
            return Check(name, "finding", f"Slack refuses it ({code})", f"Copy it anew into ASKFIRST_{setting}.")
        return Check(name, "finding", f"Slack does not answer: {code or type(error).__name__}", UNREACHED)
    return Check(name, "ok", "taken")
