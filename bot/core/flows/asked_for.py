"""What a message asks for beside answers: a workflow, by command, token or words; and what came with it."""

from __future__ import annotations

from bot.core.capture import quote
from bot.core.events import MessageReceived
from bot.core.model import Material
from bot.core.routing import Verdict
from bot.core.turn import Turn


def begins_with_command(turn: Turn, text: str) -> bool:
    """Whether it begins with the command of a workflow: that is meant for the bot anywhere (RT-13)."""
    if text.lstrip()[:1] not in ("/", "!"):
        return False
    return turn.routed(text, ()).by == "command"


def begins_with_token(text: str) -> bool:
    return text.lstrip().casefold().startswith("[direct-mode]")


def materials(event: MessageReceived) -> tuple[Material, ...]:
    """What came with the message; forwarded words are material, never an answer (AU-3)."""
    if not event.forwarded:
        return event.materials
    name = f"forwarded from {event.forwarded}: {quote(event.text)}"
    return (*event.materials, Material(kind="named", name=name, caption=event.text or None))


def request_in(turn: Turn, event: MessageReceived) -> Verdict | None:
    verdict = turn.routed(event.text, event.materials)
    return verdict if verdict.outcome == "proceed" and verdict.by == "trigger" else None
