"""What was said while nobody listened: open threads, direct messages, and the channels around them, are read again
from their history (P58).

What was heard already is a duplicate by its key, and changes nothing. A channel is read with all its open threads,
and what it says is taken in the order it was said: a later answer must not be overtaken by an earlier one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

import structlog

from adapters.slack.codec import said_id
from adapters.slack.errors import code_of, named
from adapters.slack.intake import Intake
from adapters.slack.places import PLATFORM, Address, address_of, order_of
from adapters.slack.workspaces import Workspace
from bot.ports import Clock, RateLimited, Store, TryLater

MOST = 200  # conversations with something open; those that ask first, the newest
PAGE = 100
PAGES = 5
MARGIN = timedelta(minutes=2)  # clocks differ, and an event may have been on its way
TRIES = 3

Message = dict[str, Any]
Channel = tuple[str, str]  # team, channel

log = structlog.get_logger(__name__)


class History:
    def __init__(self, intake: Intake, store: Store, clock: Clock) -> None:
        self._intake, self._store, self._clock = intake, store, clock

    async def read(self, since: datetime, only: Collection[Channel] | None = None) -> list[Channel]:
        """Take in everything said since then in what is open; where that has to be tried once more.

        What Slack refuses for good (no permission, no such channel) is not: it would be refused the same again.
        """
        oldest = f"{(since - MARGIN).timestamp():.6f}"
        again: list[Channel] = []
        seen = 0
        for channel, conversations in (await self._open()).items():
            if only is not None and channel not in only:
                continue
            try:
                seen += await self._channel(channel, conversations, oldest)
            except Exception as error:  # noqa: BLE001 - one that can not be read must not hide the others
                log.warning("history_not_read", channel=channel[1], why=code_of(error) or type(error).__name__)
                if isinstance(named(error), RateLimited | TryLater):
                    again.append(channel)
        log.info("history_read", messages=seen, again=len(again))
        return again

    async def _open(self) -> dict[Channel, list[Address]]:
        """Conversations with something open, by their channel."""
        asking = await self._store.asking(PLATFORM, MOST)
        names = list(dict.fromkeys([*asking, *await self._store.open_conversations(PLATFORM)]))
        if len(names) > MOST:
            log.warning("history_left_out", conversations=len(names) - MOST)
        found: dict[Channel, list[Address]] = {}
        for name in names[:MOST]:
            address = address_of(name)
            root = await self._intake.roots.root_of(name)
            found.setdefault((address.team, address.channel), []).append(address._replace(root=root))
        return found

    async def _channel(self, channel: Channel, conversations: Iterable[Address], oldest: str) -> int:
        team, place = channel
        workspace = await self._intake.workspaces.of(team)
        if workspace is None:
            return 0
        roots = {address.root for address in conversations if address.root is not None}
        found = await self._loose(workspace, place, oldest)
        if await self._intake.directory.direct(workspace, place):  # any of its threads is the same conversation
            roots |= {str(one["ts"]) for one in found if _at(one.get("latest_reply")) > _at(oldest)}
        messages = {str(one["ts"]): one for one in found if _at(one["ts"]) > _at(oldest)}
        for root in sorted(roots):
            replies = await self._replies(workspace, place, root, oldest)
            messages |= {str(one["ts"]): one for one in replies if one["ts"] != root}
        for ts in sorted(messages, key=_at):
            await self._intake.take(await self._event(workspace, place, messages[ts]))
        return len(messages)

    async def _loose(self, workspace: Workspace, channel: str, oldest: str) -> list[Message]:
        """What is in no thread, back to that moment; of a direct message a page in any case, since replies to what
        was said earlier are told by their roots only."""
        found: list[Message] = []
        cursor = None
        for _ in range(PAGES):
            more: dict[str, Any] = {"cursor": cursor} if cursor else {}
            answer = await self._asked(workspace.client.conversations_history, channel=channel, limit=PAGE, **more)
            page = [one for one in answer.get("messages") or () if one.get("ts")]
            found += page
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor or not page or _at(page[-1]["ts"]) <= _at(oldest):  # the newest comes first
                break
        return found

    async def _replies(self, workspace: Workspace, channel: str, root: str, oldest: str) -> list[Message]:
        found: list[Message] = []
        cursor = None
        for _ in range(PAGES):
            more: dict[str, Any] = {"cursor": cursor} if cursor else {}
            ask = workspace.client.conversations_replies
            try:
                answer = await self._asked(ask, channel=channel, ts=root, oldest=oldest, limit=PAGE, **more)
            except Exception as error:
                if code_of(error) == "thread_not_found":  # its root was deleted; the other threads are read
                    return found
                raise
            found += [one for one in answer.get("messages") or () if one.get("ts")]
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
        return found

    async def _asked(self, ask: Any, **given: Any) -> Any:
        for attempt in range(1, TRIES + 1):
            try:
                return await ask(**given)
            except Exception as error:
                failure = named(error)
                if attempt == TRIES or not isinstance(failure, RateLimited | TryLater):
                    raise
                wait = failure.retry_after.total_seconds() if isinstance(failure, RateLimited) else 2.0**attempt
                await self._clock.sleep(wait)
        raise AssertionError("the last try returns or raises")

    async def _event(self, workspace: Workspace, channel: str, message: Message) -> dict[str, Any]:
        """As it would have come. An edited message that was never heard is said with the words it has now."""
        me = workspace.me
        said = dict(message)
        if said.get("edited") and not await self._store.seen(said_id(me.team, channel, str(said["ts"]))):
            said.pop("edited")
        event = {**said, "type": "message", "channel": channel}
        through = {"team_id": me.team, "enterprise_id": me.enterprise}
        return {"type": "event_callback", "authorizations": [through], "event": event}


def _at(ts: Any) -> int:
    return order_of(str(ts)) if ts else 0
