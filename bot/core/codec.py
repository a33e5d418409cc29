"""The JSON form of everything that is stored, and the way up from older versions.

Absent keys mean None or the default, so a field added with a default needs no new version, as long as the program
before may go on without knowing it: it passes on what it does not know (`bot.core.passed_on`). A change of meaning
does: raise `state.SCHEMA` and add the step to `UPCASTS`. People are mid-conversation across deploys.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bot.core.effects import Message, Redraw, Say
from bot.core.events import Envelope
from bot.core.model import Model
from bot.core.passed_on import as_data, holds_unknown, read
from bot.core.state import SCHEMA, Conversation, Round, Session

_OUT: TypeAdapter[Say | Redraw] = TypeAdapter(Say | Redraw)


def _several_rivals(state: dict[str, Any]) -> dict[str, Any]:
    """1 → 2: a question keeps every answer that differs, not the last one only."""
    for session in state.get("sessions", ()):
        for round_ in session.get("rounds", ()):
            for item in round_["items"]:
                if (rival := item.pop("rival", None)) is not None:
                    item["rivals"] = [rival]
    for pending in state.get("pending", ()):
        ask = pending["ask"]
        if ask["kind"] == "settle":
            ask["by"] = [
                rival["by"]
                for session in state.get("sessions", ())
                for round_ in session.get("rounds", ())
                for item in round_["items"]
                if (round_["id"], item["number"]) == (ask["round"], ask["number"])
                for rival in item.get("rivals", ())
            ]
    return state


# version -> the function that turns that version's JSON object into the next version's
UPCASTS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _several_rivals}


class UnreadableState(Exception):
    """What is stored of a conversation can not be read. It is left as it is, and holds up no other one."""


class NewerState(UnreadableState):
    """A conversation was stored by a newer program. Upgrade this program, or use the one that wrote it."""


# What a state is made of: where each value holds the next smaller ones. What holds none is written as a whole.
_WITHIN: dict[type[Model], str] = {Conversation: "sessions", Session: "rounds", Round: "items"}

# Values with their JSON, by `id`, which nobody else gets as long as the value is kept here.
Parts = Mapping[int, tuple[Model, str]]
NOTHING: Parts = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Written:
    """A state as JSON, and its parts. `new`: the JSON that was not known before."""

    text: str
    parts: Parts
    new: Sequence[str]


def encode_state(state: Conversation) -> str:
    return write_state(state).text


def write_state(state: Conversation, known: Parts = NOTHING) -> Written:
    """As `encode_state`. `known` are the parts of the state before: a step leaves most of them as they are."""
    if holds_unknown(state):
        text = json_of(as_data(state))
        text.encode()  # which says whether it can be stored, as `_made` does
        return Written(text, NOTHING, (text,))
    parts: dict[int, tuple[Model, str]] = {}
    new: list[str] = []
    return Written(_made(state, known, parts, new), parts, new)


def _made(value: Model, known: Parts, parts: dict[int, tuple[Model, str]], new: list[str]) -> str:
    """The JSON of a value; of those within it, what is known already is not made again."""
    name = _WITHIN.get(type(value))
    if name is None:
        text = _json(value)
        new.append(text)
        return text
    text = value.__pydantic_serializer__.to_json(value, exclude_none=True, exclude={name}).decode()
    new.append(text)
    within = []
    for one in getattr(value, name):
        part = known.get(id(one))
        if part is None:
            part = one, _made(one, known, parts, new)
        parts[id(one)] = part
        within.append(part[1])
    return f'{text[:-1]},"{name}":[{",".join(within)}]}}'


def _json(value: Model) -> str:
    """As `model_dump_json`, which looks through a dozen options first."""
    return value.__pydantic_serializer__.to_json(value, exclude_none=True).decode()


def json_of(data: dict[str, Any]) -> str:
    """The JSON of what `as_data` gives."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def decode_state(text: str) -> Conversation:
    if f'"schema_version":{SCHEMA},' in text[:40]:  # the common case, without a second pass over the text
        try:
            return Conversation.model_validate_json(text)
        except ValidationError:
            return _known(text)
    try:
        raw: dict[str, Any] = json.loads(text)
        version = raw.get("schema_version", 0)
    except (ValueError, AttributeError, RecursionError):
        raise UnreadableState("what is stored of this conversation is damaged. It was left as it is.") from None
    if not isinstance(version, int) or version > SCHEMA:
        raise NewerState(
            f"this conversation was stored in form {version}; this program knows up to {SCHEMA}. "
            "Upgrade askfirst, or start the version that wrote it."
        )
    try:
        while version < SCHEMA:
            raw = UPCASTS[version](raw)
            version += 1
            raw["schema_version"] = version
    except (LookupError, TypeError, ValueError, AttributeError):
        raise UnreadableState("what is stored of this conversation is damaged. It was left as it is.") from None
    return _known(raw)


def _known(stored: str | dict[str, Any]) -> Conversation:
    """What a newer version has added is passed on. A kind of thing that this one does not know is refused.

    While a new version is being brought in, both are at work on one database. The event is not taken, so it is
    delivered again, until it comes to a worker of the newer version.
    """
    try:
        return read(stored)
    except ValidationError as error:
        raise NewerState(
            f"this conversation holds what this version can not read ({_where(error)}). "
            "It was left as it is. Upgrade askfirst, or start the version that wrote it."
        ) from None


def _where(error: ValidationError) -> str:
    """The fields, without what is in them: those may be people's words."""
    fields = sorted({".".join(map(str, problem["loc"])) for problem in error.errors(include_input=False)})
    return ", ".join(fields)[:200]


def encode_envelope(envelope: Envelope) -> str:
    return _json(envelope)


def decode_envelope(text: str) -> Envelope:
    """What a newer version has noted of the event, and this one's adapter would not have, is left out.

    A kind of event that only that one has is refused: what follows from it is not known here.
    """
    try:
        return Envelope.model_validate_json(text, extra="ignore")
    except ValidationError as error:
        raise NewerState(
            f"an event of this conversation holds what this version can not read ({_where(error)}). "
            "It was left as it is. Upgrade askfirst, or start the version that wrote it."
        ) from None


def encode_effect(effect: Say | Redraw) -> str:
    return _json(effect)


def decode_effect(text: str) -> Say | Redraw:
    return _OUT.validate_json(text)


def decode_shown(text: str) -> Message | None:
    """What of a message is known here, for a look at what people see; it is never sent. None: it can not be read."""
    try:
        return _OUT.validate_json(text, extra="ignore").message
    except ValidationError:
        return None
