"""The Bot API, as far as it is used: python-telegram-bot's `Bot` without its updater, which confirms too early."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from telegram import Bot, MessageEntity
from telegram.request import BaseRequest

from adapters.telegram.codec import WANTED
from adapters.telegram.http import Connections
from adapters.telegram.places import Me, Moves

BASE_URL = "https://api.telegram.org/bot"  # the token follows
PATIENCE = 5.0  # seconds beyond the long poll's own timeout
CONNECTIONS = 64


class TelegramBot(Bot):
    """`Bot`, with updates as they lie in the JSON: `get_updates` raises for ever on one that can not be read."""

    def __init__(
        self, token: str, base_url: str | None = None, requests: tuple[BaseRequest, BaseRequest] | None = None
    ) -> None:
        """`requests`: other ways to the server, for updates and for all other calls."""
        updates, calls = requests or (Connections(2), Connections(CONNECTIONS))
        base = base_url or BASE_URL
        files = f"{base.removesuffix('bot')}file/bot"  # core.telegram.org/bots/api#getfile
        super().__init__(token, base, files, get_updates_request=updates, request=calls)

    def __repr__(self) -> str:
        return "TelegramBot[…]"  # the library's own shows the token

    async def raw_updates(self, offset: int | None, seconds: int, limit: int) -> list[Any]:
        """What has come since. Asking from an offset confirms everything before it."""
        asked = {"offset": offset, "timeout": seconds, "limit": limit, "allowed_updates": WANTED}
        updates = await self._post("getUpdates", asked, read_timeout=seconds + PATIENCE)
        return updates if isinstance(updates, list) else []

    async def post_text(self, endpoint: str, *, entities: Sequence[MessageEntity] = (), **data: Any) -> int:
        """sendMessage or editMessageText; the message's id. The answer is not read further: nothing asks for it."""
        marks: list[dict[str, Any]] = [{"type": e.type, "offset": e.offset, "length": e.length} for e in entities]
        for mark, entity in zip(marks, entities, strict=True):
            if entity.user is not None:
                mark["user"] = entity.user.to_dict()
        answer = await self._post(endpoint, data | {"entities": marks or None})
        return int(answer["message_id"]) if isinstance(answer, Mapping) else 0

    async def open(self) -> None:
        """Make ready for calls. `initialize` would call getMe and put the token into its error."""
        await self._request[0].initialize()
        await self._request[1].initialize()

    async def close_connections(self) -> None:
        await self._request[0].shutdown()
        await self._request[1].shutdown()

    async def who(self, moves: Moves) -> Me:
        user = await self.get_me()
        reads_all = user.can_read_all_group_messages
        return Me(user.id, user.username or "", reads_all is not False, moves.first)


def keep_token_out_of_logs() -> None:
    """httpx logs each address at INFO, and the token is in it.

    The library logs every answer that is no JSON whole, with a traceback, and some proxies put the address into their
    error pages. What fails is raised as well, and we log it by its name.
    """
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("telegram").setLevel(logging.CRITICAL)
