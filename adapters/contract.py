"""What an adapter promises. The promises are tested in tests/contracts/adapter_contract.py, for every adapter.

An adapter is three parts. A **codec**, pure: `event_from_update(update) -> Envelope | Ignored(reason)` and the way
back, message to payload. A **transport** (`bot.ports.Transport`). An **ingress**: a loop or a route that takes what
the platform delivers, hands it to `Runner.handle` and acknowledges.

In
 1. The same act has the same event id, whichever way and however often it is delivered. Key it on what the platform
    says of the *act* (place and message id; the edit's moment; the press's own id), not of the delivery.
 2. Nothing of the bot's own is an event: own messages, echoes of own edits. What is left out is `Ignored`, with a
    reason; an update that can not be read at all is `Ignored` too, never an exception.
 3. A typed answer is a `MessageReceived`, a press a `ButtonPressed` with the token unchanged. Neither is interpreted.
 4. `text` is what the person wrote, with the platform's escapes undone (`decoded=True`) and a leading mention of the
    bot taken off (`addressed=True`). NUL and lone surrogates become U+FFFD (`clean`). Forwarded words are marked.
 5. An edit that leaves the text as it was is no event (unfurls, pins, reactions), where the platform lets us see it.
 6. Parts of an album are separate events with the same `album`, each file with its own caption.
 7. `order` grows with the platform's message ids in a place, for people's messages and for ours alike.
 8. Events of one conversation are handed on in the order of their delivery.
 9. The platform's acknowledgement follows the commit. When `handle` raises, nothing is acknowledged, and the platform
    delivers again. What is `Ignored` is acknowledged.

Out
10. A message that is too long is split (`adapters.limits.split`), never cut; buttons go with the last part, whose id
    is the one reported as sent. A token of up to 64 bytes comes back unchanged.
11. Failures have four names: `RateLimited`, `TryLater`, `Undeliverable`, `CardGone`. "Not modified" is success.
    A refusal of the *formatting* is answered by sending the plain text (CH-4).
12. `only_to` is private where the platform can do that. Where it can not, `instead` is said to
    all, and nothing where there is none.
13. `reply` never raises.
"""

from __future__ import annotations

from datetime import UTC, datetime

# Codecs are pure and have no clock. The runner stamps every envelope with its own at receipt.
UNSTAMPED = datetime(1970, 1, 1, tzinfo=UTC)


def clean(text: str) -> str:
    """Text that every database can hold: PostgreSQL refuses NUL, and no encoding has lone surrogates."""
    if text.isascii() and "\0" not in text:
        return text
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)
