"""What a newer program has written that this one does not know: it is kept beside what is known, and written back.

While a new version is being brought in, both are at work on one database, and people go on answering at either. A
field that is new to this program stays where it was read, in the value that it belongs to, through every copy of that
value (`Model.model_copy`); only a value that gives way to another one takes it along. Whether a program may go on
without knowing a field is for whoever adds it to decide: if not, the form gets a new number (`state.SCHEMA`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.core.model import Model, unknown, without_unknown
from bot.core.state import Conversation


def read(written: str | Mapping[str, Any]) -> Conversation:
    """A state with everything in it. Raises `ValidationError` where what is known is not as it should be."""
    if isinstance(written, str):
        state = Conversation.model_validate_json(written, extra="allow")
    else:
        state = Conversation.model_validate(written, extra="allow")
    within = [value for value, _ in values_within(state, None)]
    if not any(map(unknown, within)):
        without_unknown(state)  # or it would be written the long way for as long as it is remembered
    for value in within:
        if value is not state and not unknown(value):
            without_unknown(value)
    return state


def holds_unknown(state: Conversation) -> bool:
    """Whether the state was read from one that holds more than this program knows."""
    return unknown(state) is not None


def as_data(state: Conversation) -> dict[str, Any]:
    """The state as JSON's own values, with what was passed on."""
    data: dict[str, Any] = state.model_dump(mode="json", exclude_none=True)
    for value, part in values_within(state, data):
        part.update({name: kept for name, kept in (unknown(value) or {}).items() if name not in part})
    return data


def values_within(value: Any, data: Any) -> Iterator[tuple[Model, Any]]:
    """Every value in a value, itself included; each with its own part of `data`, where that is given."""
    if isinstance(value, Model):
        yield value, data
        for name in type(value).model_fields:
            held = getattr(value, name)
            if held is not None:
                yield from values_within(held, None if data is None else data[name])
    elif isinstance(value, tuple | list):
        for index, held in enumerate(value):
            yield from values_within(held, None if data is None else data[index])
    elif isinstance(value, Mapping):
        for name, held in value.items():
            yield from values_within(held, None if data is None else data.get(str(name)))
