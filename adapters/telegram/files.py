"""Files by their handle (`file_id`): where one lies is asked each time, since addresses hold the token and expire."""

from __future__ import annotations

from telegram import Bot
from telegram.error import BadRequest, Forbidden, TelegramError

from bot.ports import TryLater, Undeliverable


class TelegramFiles:
    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    async def fetch(self, handle: str, limit: int) -> bytes:
        """The content, of at most `limit` bytes. Telegram gives bots 20 MB: core.telegram.org/bots/api#getfile."""
        try:
            file = await self._bot.get_file(handle)
            if (file.file_size or 0) > limit:
                raise Undeliverable(f"it is larger than {limit // 1_000_000} MB")
            return bytes(await file.download_as_bytearray())
        except (BadRequest, Forbidden) as error:
            large = "too big" in error.message.casefold()
            raise Undeliverable("it is larger than 20 MB" if large else "Telegram no longer has it") from None
        except TelegramError as error:
            raise TryLater(type(error).__name__) from None
