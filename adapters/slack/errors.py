"""What Slack's refusals mean: https://docs.slack.dev/reference/methods/chat.postMessage#errors and its kin."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Literal

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.ports import CardGone, RateLimited, TryLater, Undeliverable

Cure = Literal["plain", "no_thread"]  # without a thread: only in direct messages, elsewhere it is the channel's (P64)

CURES: dict[str, Cure] = {
    "invalid_blocks": "plain",
    "invalid_blocks_format": "plain",
    "msg_blocks_too_long": "plain",
    "invalid_attachments": "plain",
    "thread_not_found": "no_thread",
    "cannot_reply_to_message": "no_thread",
    "message_not_in_thread": "no_thread",
}
GONE = {"message_not_found", "cant_update_message", "edit_window_closed", "not_found"}
BUSY = {
    "internal_error",
    "fatal_error",
    "service_unavailable",
    "request_timeout",
    "team_added_to_org",
    "http_request_failed",
    "accesslimited",
    "invalid_auth",  # these three are an operator's or a renewal's to cure; nobody could be told without a token
    "not_authed",
    "token_expired",
}
NAMES = {
    "is_archived": "the channel is archived",
    "channel_not_found": "there is no such channel for the app",
    "not_in_channel": "the app is not in this channel; invite it there",
    "account_inactive": "the app was removed from the workspace",
    "token_revoked": "the app's token was revoked",
    "team_access_not_granted": "the app was not given access to this workspace",
    "user_disabled": "the person's account was deactivated",
    "user_not_found": "there is no such person",
    "user_not_in_channel": "the person is not in this channel",
    "cannot_dm_bot": "bots can not be asked",
    "restricted_action": "the workspace does not let the app write here",
    "restricted_action_read_only_channel": "only some people may write in this channel",
    "missing_scope": "the app lacks a permission; install it anew from its manifest",
    "msg_too_long": "the message is too long",
    "messages_tab_disabled": "messages to this app are switched off",
}
PLACES = {  # nothing else would arrive there either
    "is_archived",
    "channel_not_found",
    "not_in_channel",
    "account_inactive",
    "token_revoked",
    "team_access_not_granted",
    "user_disabled",
    "user_not_in_channel",  # told to messages for one person only
    "cannot_dm_bot",
    "restricted_action",
    "restricted_action_read_only_channel",
    "messages_tab_disabled",
}
LATER = timedelta(seconds=1)


def code_of(error: BaseException) -> str:
    """Slack's own name of a refusal; "" for anything else."""
    if not isinstance(error, SlackApiError):
        return ""
    data = getattr(error.response, "data", None)
    return str(data.get("error") or "") if isinstance(data, dict) else ""


def cure_of(error: BaseException) -> Cure | None:
    """What form of the same message Slack may take after this refusal."""
    return CURES.get(code_of(error))


def named(error: BaseException, *, editing: bool = False) -> Exception:
    """The contract's name of a failure."""
    if isinstance(error, SlackApiError):
        status = getattr(error.response, "status_code", 200)
        code = code_of(error)
        if status == 429 or code in ("ratelimited", "rate_limited"):
            return RateLimited(_wait(error))
        if status >= 500 or code in BUSY:
            return TryLater(code or f"Slack answered {status}")
        if editing and code in GONE:
            return CardGone(code)
        words = NAMES.get(code, code.replace("_", " ") or "Slack refuses the message")
        return Undeliverable(words, place=code in PLACES)
    if isinstance(error, SlackClientError | aiohttp.ClientError | asyncio.TimeoutError | OSError | ValueError):
        return TryLater(type(error).__name__)
    return TryLater(f"the call failed: {type(error).__name__}")


def _wait(error: SlackApiError) -> timedelta:
    headers = getattr(error.response, "headers", None) or {}
    given = next((value for name, value in headers.items() if str(name).lower() == "retry-after"), None)
    raw = given[0] if isinstance(given, list) else given
    try:
        return max(LATER, timedelta(seconds=float(raw))) if raw is not None else timedelta(seconds=30)
    except (TypeError, ValueError):
        return timedelta(seconds=30)
