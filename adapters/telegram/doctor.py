"""What can be wrong between the bot and Telegram, looked at from outside of `askfirst serve`.

Nothing of it disturbs a running `serve`: updates are asked for only where none is running, and nothing is confirmed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx

from adapters.outside import Api, Unanswered, clocks, unreached
from adapters.telegram.attendance import KEPT_FOR
from adapters.telegram.bot import BASE_URL, keep_token_out_of_logs
from adapters.telegram.hook import Webhook
from adapters.telegram.places import PLATFORM
from bot.checks import Check
from bot.ports import Clock

SKEW = timedelta(seconds=30)
RUNNING = timedelta(minutes=3)  # since the last note of a program that polls; it writes one a minute
FRESH = timedelta(minutes=15)  # a conflict that is worth speaking of
PROBE = 2  # seconds that a second poller is waited for
COPY_IT = "Copy it anew from @BotFather into ASKFIRST_TELEGRAM__TOKEN."
ONE_ONLY = "Stop the other program, or give it a bot of its own: one program a token."


async def examine(
    token: str, base_url: str | None, webhook: Webhook | None, kept: Mapping[str, str], clock: Clock
) -> list[Check]:
    """`kept` is what the store keeps under "telegram:"; empty where there is no database."""
    keep_token_out_of_logs()
    examined: list[Check] = []
    async with httpx.AsyncClient(timeout=15.0) as client:
        api = _Api(client, f"{base_url or BASE_URL}{token}/")
        try:
            me = await api.call("getMe")
        except Unanswered as error:
            return [unreached("telegram", "Bot API", error, "api.telegram.org", "ASKFIRST_TELEGRAM__BASE_URL")]
        if me is None:
            return [Check("telegram token", "finding", f"Telegram refuses the token ({api.code})", COPY_IT)]
        examined += [_token(me), *clocks("clock", api.date, clock.now(), SKEW, "Telegram"), *_privacy(me)]
        try:
            examined += await _delivery(api, me["id"], webhook, kept, clock.now())
        except Unanswered as error:
            examined.append(Check("telegram updates", "finding", f"the Bot API stopped answering: {error}"))
    return examined


class _Api(Api):
    code = 0  # of the last answer
    words = ""

    async def call(self, method: str, **given: Any) -> Any:
        """The result; None where it was refused, with `code` and `words`."""
        answer, body = await self.ask(method, json=given)
        self.code = answer.status_code
        self.words = str(body.get("description", "")) if isinstance(body, dict) else ""
        return body["result"] if isinstance(body, dict) and body.get("ok") else None


def _token(me: Mapping[str, Any]) -> Check:
    return Check("telegram token", "ok", f"@{me.get('username', '?')} ({me['id']})")


def _privacy(me: Mapping[str, Any]) -> list[Check]:
    if me.get("can_read_all_group_messages"):
        return [Check("telegram privacy mode", "ok", "off: everything said in groups is read")]
    words = "on: in groups only commands, mentions and replies to the bot arrive; the cards say so"
    return [Check("telegram privacy mode", "note", words)]


async def _delivery(
    api: _Api, me: int, webhook: Webhook | None, kept: Mapping[str, str], now: datetime
) -> list[Check]:
    info = await api.call("getWebhookInfo") or {}
    url = str(info.get("url", ""))
    examined = _hooked(url, webhook)
    examined += _waiting(info, now)
    note = _json(kept.get(f"{PLATFORM}:read:{me}"))
    seen = None if note is None else now - datetime.fromisoformat(note["at"])
    conflict = _json(kept.get(f"{PLATFORM}:conflict:{me}"))
    if conflict is not None and now - datetime.fromisoformat(conflict["at"]) <= FRESH:
        message = f"{conflict['what']} (last seen {conflict['at'][:16].replace('T', ' ')} UTC)"
        examined.append(Check("telegram second program", "finding", message, ONE_ONLY))
    elif webhook is None and not url and (seen is None or seen > RUNNING):
        await api.call("getUpdates", timeout=PROBE, limit=1)  # from no offset: confirms nothing
        if api.code == 409:
            examined.append(Check("telegram second program", "finding", "another program polls now", ONE_ONLY))
        else:
            examined.append(Check("telegram second program", "ok", "nobody else polls"))
    else:
        examined.append(Check("telegram second program", "ok", "none has been noticed"))
    if seen is not None and seen > KEPT_FOR:
        hours = seen.total_seconds() / 3600
        message = f"`askfirst serve` was last here {hours:.0f} hours ago; Telegram keeps messages for 24"
        examined.append(
            Check("telegram absence", "finding", message, "Start it: it says so where something is open.")
        )
    return examined


def _hooked(url: str, webhook: Webhook | None) -> list[Check]:
    host = urlsplit(url).netloc
    if webhook is None and url:
        fix = "`askfirst serve` takes it down when it starts; if another program needs it, use another token."
        return [Check("telegram webhook", "finding", f"the settings say polling, but a webhook is set: {host}", fix)]
    if webhook is None:
        return [Check("telegram webhook", "ok", "none, and none is wanted")]
    if url == webhook.address:
        return [Check("telegram webhook", "ok", f"set: {host}")]
    there = f"it is set to {host}" if url else "none is set"
    fix = "Start `askfirst serve`: it sets its own, and sees to it every few minutes."
    return [Check("telegram webhook", "finding", f"{there}, instead of {urlsplit(webhook.address).netloc}", fix)]


def _waiting(info: Mapping[str, Any], now: datetime) -> list[Check]:
    examined = []
    count = int(info.get("pending_update_count") or 0)
    failed = info.get("last_error_date")
    if isinstance(failed, int) and now - datetime.fromtimestamp(failed, UTC) < timedelta(hours=1):
        message = f"Telegram could not deliver: {info.get('last_error_message', 'no reason given')}"
        fix = "See that the address is reached from outside, with a valid certificate, and passed on unchanged."
        examined.append(Check("telegram delivery", "finding", message, fix))
    if count > 100:
        message = f"{count} updates wait at Telegram"
        examined.append(Check("telegram delivery", "finding", message, "Is `askfirst serve` running?"))
    elif count:
        examined.append(Check("telegram delivery", "note", f"{count} updates wait at Telegram"))
    return examined


def _json(text: str | None) -> dict[str, Any] | None:
    return None if text is None else dict(json.loads(text))
