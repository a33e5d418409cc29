"""What comes back of a modal: what it is pinned to, and what was put into its fields. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.contract import clean
from bot.core.events import FormField


@dataclass(frozen=True, slots=True)
class Kept:
    """What somebody put into a question and did not send. `base`: what stood there when the form was opened."""

    field: FormField
    base: str


@dataclass(frozen=True, slots=True)
class Sent:
    """What a modal says: of which round, and what was put into its fields.

    A recorded answer that was shown filled in and left as it was is not said again: it may have been changed since.
    With a new note beside it, the note is what is said (`left`).
    """

    round: str
    revision: int
    card: str | None
    link: str | None  # of the card
    fields: dict[int, FormField]

    @property
    def quote(self) -> str:
        """The selections as a line, `1: B, 3: other`: what the person pressed, for the proof (CA-2)."""
        said = (
            (n, "note" if f.left else f.chosen or ("words" if f.text else None))
            for n, f in sorted(self.fields.items())
        )
        return "form: " + (", ".join(f"{n}: {what}" for n, what in said if what) or "nothing")


def pinned_by(view: Any) -> str | None:
    """The conversation that a modal belongs to."""
    where = _pinned(view).get("c")
    return where if isinstance(where, str) and where else None


def round_of(view: Any) -> str | None:
    found = _pinned(view).get("r")
    return found if isinstance(found, str) else None


def bases_of(view: Any) -> dict[int, str]:
    """What stood in each question when the form was opened."""
    found = _pinned(view).get("b")
    return {int(n): str(base) for n, base in found.items()} if isinstance(found, Mapping) else {}


def fields_of(view: Mapping[str, Any]) -> Sent:
    pinned, shown, found = _pinned(view), _shown(view), _filled(view)
    unsent, left = pinned.get("d") or (), pinned.get("l") or ()

    def untouched(n: int) -> bool:
        """Its selection and words are what it was filled in with, and that was an answer recorded before."""
        was, now = ({part: v for part, v in fields.get(n, {}).items() if part != "note"} for fields in (shown, found))
        return bool(was) and was == now and (n not in unsent or n in left)

    fields = {
        n: FormField.model_validate({**said, "left": untouched(n)})
        for n, said in found.items()
        if n in unsent or said != shown.get(n)
    }
    return Sent(str(pinned.get("r")), int(pinned.get("v") or 0), pinned.get("m"), pinned.get("k"), fields)


def is_filled(view: Mapping[str, Any]) -> bool:
    """Whether its state says anything: that of a closed form may be empty."""
    return bool(_filled(view))


def _filled(view: Mapping[str, Any]) -> dict[int, dict[str, str]]:
    """What stands in the fields."""
    found: dict[int, dict[str, str]] = {}
    state = view.get("state")
    values = state.get("values") if isinstance(state, Mapping) else None
    for block, actions in (values if isinstance(values, Mapping) else {}).items():
        for element in actions.values() if isinstance(actions, Mapping) else ():
            _put(found, block, _value(element))
    return found


def _shown(view: Mapping[str, Any]) -> dict[int, dict[str, str]]:
    """What stood in the fields when the form was opened."""
    found: dict[int, dict[str, str]] = {}
    for block in view.get("blocks") or ():
        element = block.get("element") if isinstance(block, Mapping) else None
        if isinstance(element, Mapping):
            was = {"selected_option": element.get("initial_option"), "value": element.get("initial_value")}
            _put(found, block.get("block_id"), _value(was))
    return found


def _put(found: dict[int, dict[str, str]], block: Any, value: str) -> None:
    number, _, what = str(block).removeprefix("q").partition(".")
    if number.isdigit() and what in ("pick", "text", "note") and value:
        found.setdefault(int(number), {})["chosen" if what == "pick" else what] = value


def form_errors(view: Any, errors: Mapping[int, str]) -> dict[str, Any]:
    """The acknowledgement that keeps a form open: what is wrong, by block id, at the field that can be changed.

    Words about a field that is not there stand at the first one; in a form without fields nothing can be shown.
    """
    blocks = view.get("blocks") if isinstance(view, Mapping) else None
    there = [str(b["block_id"]) for b in blocks or () if isinstance(b, Mapping) and b.get("type") == "input"]
    found: dict[str, str] = {}
    for number, words in errors.items():
        names = [f"q{number}.{what}" for what in ("text", "pick", "note") if f"q{number}.{what}" in there]
        for name in (names or there)[:1]:
            found.setdefault(name, words[:300])
    return {"response_action": "errors", "errors": found} if found else {}


def _value(element: Any) -> str:
    if not isinstance(element, Mapping):
        return ""
    picked = element.get("selected_option")
    raw = picked.get("value") if isinstance(picked, Mapping) else element.get("value")
    return clean(str(raw)).strip() if raw else ""


def _pinned(view: Any) -> Mapping[str, Any]:
    raw = view.get("private_metadata") if isinstance(view, Mapping) else None
    try:
        pinned = json.loads(raw) if isinstance(raw, str) and raw.startswith("{") else {}
    except ValueError:
        return {}
    return pinned if isinstance(pinned, Mapping) else {}
