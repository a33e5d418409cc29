"""What was said while nobody listened: open threads and direct messages are read again from their history (P58).

What was heard already is a duplicate by its key, and changes nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import structlog

from adapters.slack.codec import said_id
from adapters.slack.errors import named
from adapters.slack.intake import Intake
from adapters.slack.places import PLATFORM, Address, address_of
from adapters.slack.workspaces import Workspace
from bot.ports import Clock, RateLimited, Store, TryLater

MOST = 200  # conversations with something open, the newest
PAGE = 100
PAGES = 5
MARGIN = timedelta(minutes=2)  # clocks differ, and an event may have been on its way
TRIES = 3

log = structlog.get_logger(__name__)


class History:
    def __init__(self, intake: Intake, store: Store, clock: Clock) -> None:
        self._intake, self._store, self._clock = intake, store, clock

    async def read(self, since: datetime) -> int:
        """Everything said since then in what is open; how many messages were looked at."""
        seen = 0
        oldest = f"{(since - MARGIN).timestamp():.6f}"
        for conversation in await self._store.asking(PLATFORM, MOST):
            address = address_of(conversation)
            workspace = await self._intake.workspaces.of(address.team)
            if workspace is None:
                continue
            root = await self._intake.roots.root_of(conversation)
            if root is None and address.root is not None:
                continue  # its first card is not posted yet
            try:
                seen += await self._place(workspace, address, root, oldest)
            except Exception as error:  # noqa: BLE001 - one that can not be read must not hide the others
                log.warning("history_not_read", channel=address.channel, why=str(named(error)))
        log.info("history_read", messages=seen)
        return seen

    async def _place(self, workspace: Workspace, address: Address, root: str | None, oldest: str) -> int:
        found: list[dict[str, Any]] = []
        cursor = None
        for _ in range(PAGES):
            answer = await self._page(workspace, address.channel, root, oldest, cursor)
            found += answer.get("messages") or []
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
        news = [one for one in found if one.get("ts") and one["ts"] != root]
        for message in sorted(news, key=lambda one: str(one["ts"])):
            await self._intake.take(await self._event(workspace, address.channel, message))
        return len(news)

    async def _page(
        self, workspace: Workspace, channel: str, root: str | None, oldest: str, cursor: str | None
    ) -> Any:
        more: dict[str, Any] = {"cursor": cursor} if cursor else {}
        for attempt in range(1, TRIES + 1):
            try:
                if root is None:
                    return await workspace.client.conversations_history(
                        channel=channel, oldest=oldest, limit=PAGE, **more
                    )
                return await workspace.client.conversations_replies(
                    channel=channel, ts=root, oldest=oldest, limit=PAGE, **more
                )
            except Exception as error:
                failure = named(error)
                if attempt == TRIES or not isinstance(failure, RateLimited | TryLater):
                    raise
                wait = failure.retry_after.total_seconds() if isinstance(failure, RateLimited) else 2.0**attempt
                await self._clock.sleep(wait)
        raise AssertionError("the last try returns or raises")

    async def _event(self, workspace: Workspace, channel: str, message: dict[str, Any]) -> dict[str, Any]:
        """As it would have come. An edited message that was never heard is said with the words it has now."""
        me = workspace.me
        said = dict(message)
        if said.get("edited") and not await self._store.seen(said_id(me.team, channel, str(said["ts"]))):
            said.pop("edited")
        event = {**said, "type": "message", "channel": channel}
        return {"type": "event_callback", "team_id": me.team, "event": event}
