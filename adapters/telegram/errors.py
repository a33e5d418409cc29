"""What the Bot API refuses, by the names of the contract. The words are compared: there are no codes for them.

`BadRequest` is a `NetworkError` for the library, but nothing that another try would cure.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Literal

from telegram.error import BadRequest, ChatMigrated, Forbidden, NetworkError, RetryAfter, TelegramError

from bot.ports import CardGone, RateLimited, TryLater, Undeliverable

# What a refusal asks for. "same" is no failure at all; the others are tried again at once, in another form.
Cure = Literal["same", "plain", "no_topic", "no_buttons", "no_reply"]

_CURES: tuple[tuple[str, Cure], ...] = (
    (r"message is not modified", "same"),
    (r"can't parse|entit(y|ies)\b|ENTITY_|ENTITIES_|BOUNDS_INVALID", "plain"),
    (r"message thread not found|TOPIC_DELETED|TOPIC_ID_INVALID", "no_topic"),
    (r"BUTTON_|reply markup|inline keyboard|keyboard button|button", "no_buttons"),
    (r"message to (be )?repl(y|ied)( to)? not found|REPLY_MESSAGE_ID_INVALID", "no_reply"),
)

_GONE = re.compile(  # in any case: the library capitalises what it strips of "Bad Request: "
    r"message to edit not found|message can't be edited|MESSAGE_ID_INVALID|MESSAGE_EDIT_TIME_EXPIRED"
    r"|message identifier is not specified|MESSAGE_AUTHOR_REQUIRED|there is no text in the message to edit",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"^(Bad Request|Forbidden):\s*", re.IGNORECASE)

NAMES = {
    "topic_closed": "the topic is closed",
    "topic_deleted": "the topic was deleted",
    "chat_write_forbidden": "the bot may not write here",
    "chat not found": "there is no such chat for the bot: the person has not started it, or the chat is gone",
}


def cure_of(error: TelegramError) -> Cure | None:
    """What form of the same message the platform may take after this refusal."""
    if not isinstance(error, BadRequest):
        return None
    return next((cure for words, cure in _CURES if re.search(words, error.message, re.IGNORECASE)), None)


def named(error: TelegramError, *, editing: bool = False) -> Exception:
    """The contract's name of a failure. Words of a lost connection stay out: an address holds the token."""
    match error:
        case RetryAfter():
            wait = error.retry_after
            return RateLimited(wait if isinstance(wait, timedelta) else timedelta(seconds=wait))
        case BadRequest() if editing and _GONE.search(error.message):
            return CardGone(_words(error))
        case Forbidden() | BadRequest() | ChatMigrated():
            return Undeliverable(_words(error))
        case NetworkError():
            return TryLater(type(error).__name__)
    return TryLater(f"the Bot API refused the call: {type(error).__name__}")


def is_unreachable(error: TelegramError) -> bool:
    """Whether a person has no private chat with the bot, or wants none."""
    return isinstance(error, Forbidden | BadRequest) and cure_of(error) is None


def _words(error: TelegramError) -> str:
    words = _PREFIX.sub("", error.message)
    return NAMES.get(words.casefold(), words)  # the library has changed the case of the letters
