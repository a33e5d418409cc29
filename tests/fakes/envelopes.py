"""Envelopes by the dozen."""

from __future__ import annotations

from bot.core.events import Envelope, MessageReceived
from bot.core.model import MessageRef, Person, Place
from tests.fakes.clock import START


def said(text: str, event: str = "", *, conversation: str = "test:1", reply_to: str | None = None) -> Envelope:
    return Envelope(
        event_id=event or f"{conversation}:{text}",
        place=Place(conversation=conversation, platform=conversation.split(":", 1)[0]),
        at=START,
        event=MessageReceived(
            person=Person(id="test:ana", name="ana"),
            text=text,
            ref=MessageRef(id=event or text, quote=text),
            reply_to=reply_to,
        ),
    )
