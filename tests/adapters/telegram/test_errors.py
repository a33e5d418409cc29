"""What the Bot API refuses, by the contract's four names."""

from __future__ import annotations

from datetime import timedelta

import pytest
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from adapters.telegram.errors import cure_of, named
from bot.ports import CardGone, RateLimited, TryLater, Undeliverable


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (RetryAfter(7), RateLimited),
        (TimedOut(), TryLater),
        (NetworkError("httpx.ConnectError: https://x/bot123:abc/sendMessage"), TryLater),
        (NetworkError("Bad Gateway"), TryLater),
        (NetworkError("Internal Server Error (500)"), TryLater),
        (InvalidToken("Unauthorized"), TryLater),
        (Conflict("x"), TryLater),
        (Forbidden("Forbidden: bot was blocked by the user"), Undeliverable),
        (Forbidden("Forbidden: user is deactivated"), Undeliverable),
        (Forbidden("Forbidden: bot was kicked from the supergroup chat"), Undeliverable),
        (Forbidden("Forbidden: bot can't initiate conversation with a user"), Undeliverable),
        (BadRequest("Bad Request: chat not found"), Undeliverable),
        (BadRequest("Bad Request: TOPIC_CLOSED"), Undeliverable),
        (BadRequest("Bad Request: not enough rights to send text messages to the chat"), Undeliverable),
        (BadRequest("Bad Request: message is too long"), Undeliverable),
        (ChatMigrated(-100), Undeliverable),
    ],
)
def test_a_refused_message_has_one_of_the_names(error: TelegramError, name: type[Exception]) -> None:
    """A BadRequest is a NetworkError for the library, but no reason to try again (CH-7)."""
    made = named(error)
    assert type(made) is name
    assert "abc" not in str(made)


def test_a_limit_says_how_long() -> None:
    made = named(RetryAfter(217))
    assert isinstance(made, RateLimited)
    assert made.retry_after == timedelta(seconds=217)


def test_reasons_are_words_for_people() -> None:
    assert str(named(BadRequest("Bad Request: TOPIC_CLOSED"))) == "the topic is closed"
    assert str(named(Forbidden("Forbidden: bot was blocked by the user"))) == "the person has blocked the bot"
    assert str(named(BadRequest("Bad Request: message thread not found"))) == "the topic was deleted"
    assert "has not started it" in str(named(BadRequest("Bad Request: chat not found")))


@pytest.mark.parametrize(
    ("error", "place"),
    [
        (Forbidden("Forbidden: bot was kicked from the supergroup chat"), True),
        (Forbidden("Forbidden: something new"), True),
        (BadRequest("Bad Request: TOPIC_CLOSED"), True),
        (BadRequest("Bad Request: message thread not found"), True),
        (BadRequest("Bad Request: not enough rights to send text messages to the chat"), True),
        (BadRequest("Bad Request: message is too long"), False),
    ],
)
def test_it_is_known_whether_anything_else_would_arrive(error: TelegramError, place: bool) -> None:
    """b41: after one refusal of the whole place the rest of its messages is not tried."""
    made = named(error)
    assert isinstance(made, Undeliverable)
    assert made.place is place


@pytest.mark.parametrize(
    "words",
    [
        "Bad Request: message to edit not found",
        "Bad Request: message can't be edited",
        "Bad Request: MESSAGE_ID_INVALID",
    ],
)
def test_a_card_that_can_not_be_edited_is_gone(words: str) -> None:
    """b10: both wordings alike, and only while editing."""
    assert isinstance(named(BadRequest(words), editing=True), CardGone)
    assert isinstance(named(BadRequest(words)), Undeliverable)


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        ("Bad Request: message is not modified: specified new message content …", "same"),
        ("Bad Request: can't parse entities: Unsupported start tag", "plain"),
        ("Bad Request: ENTITY_BOUNDS_INVALID", "plain"),
        ("Bad Request: message thread not found", None),
        ("Bad Request: BUTTON_DATA_INVALID", "no_buttons"),
        ("Bad Request: reply markup is too long", "no_buttons"),
        ("Bad Request: message to be replied not found", "no_reply"),
        ("Bad Request: TOPIC_CLOSED", None),
        ("Bad Request: message is too long", None),
        ("Bad Request: message to edit not found", None),
    ],
)
def test_what_a_refusal_asks_for(words: str, cure: str | None) -> None:
    assert cure_of(BadRequest(words)) == cure
    assert cure_of(Forbidden(words)) is None
