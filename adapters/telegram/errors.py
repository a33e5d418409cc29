"""What the Bot API refuses, by the names of the contract. The words are compared: there are no codes for them.

`BadRequest` is a `NetworkError` for the library, but nothing that another try would cure.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Literal

from telegram.error import BadRequest, ChatMigrated, Forbidden, NetworkError, RetryAfter, TelegramError

from adapters.telegram.standing import BLOCKED, CLOSED, REMOVED, SILENCED
from bot.ports import CardGone, RateLimited, TryLater, Undeliverable

# What a refusal asks for. "same" is no failure at all; the others are tried again at once, in another form.
Cure = Literal["same", "plain", "no_buttons", "no_reply"]

_CURES: tuple[tuple[str, Cure], ...] = (
    (r"message is not modified", "same"),
    (r"can't parse|entit(y|ies)\b|ENTITY_|ENTITIES_|BOUNDS_INVALID", "plain"),
    (r"BUTTON_|reply markup|inline keyboard|keyboard button|button", "no_buttons"),
    (r"message to (be )?repl(y|ied)( to)? not found|REPLY_MESSAGE_ID_INVALID", "no_reply"),
)

_GONE = re.compile(  # in any case: the library capitalises what it strips of "Bad Request: "
    r"message to edit not found|message can't be edited|MESSAGE_ID_INVALID|MESSAGE_EDIT_TIME_EXPIRED"
    r"|message identifier is not specified|MESSAGE_AUTHOR_REQUIRED|there is no text in the message to edit",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"^(Bad Request|Forbidden):\s*", re.IGNORECASE)

DELETED = "the topic was deleted"
NOBODY = "there is no such chat for the bot: the person has not started it, or the chat is gone"

# What means that nothing else would arrive there either. A deleted topic's words are not said in another one (P37):
# that is another conversation, and perhaps somebody deleted the topic because of them.
_PLACES: tuple[tuple[str, str], ...] = (
    (r"topic_closed", CLOSED),
    (r"message thread not found|topic_deleted|topic_id_invalid", DELETED),
    (r"chat not found|peer_id_invalid|chat_id_invalid|user_deactivated", NOBODY),
    (r"write_forbidden|not enough rights to send|no rights to send|chat_restricted|send_plain_forbidden", SILENCED),
    (r"need administrator rights in the channel", SILENCED),
    (r"bot was blocked", BLOCKED),
    (r"bot was kicked|bot is not a member|group chat was deactivated|channel_private", REMOVED),
)


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
            place = next((named for words, named in _PLACES if re.search(words, error.message, re.IGNORECASE)), None)
            return Undeliverable(place or _words(error), place=place is not None or isinstance(error, Forbidden))
        case NetworkError():
            return TryLater(type(error).__name__)
    return TryLater(f"the Bot API refused the call: {type(error).__name__}")


def is_unreachable(error: TelegramError) -> bool:
    """Whether a person has no private chat with the bot, or wants none."""
    return isinstance(error, Forbidden | BadRequest) and cure_of(error) is None


def _words(error: TelegramError) -> str:
    return _PREFIX.sub("", error.message)
