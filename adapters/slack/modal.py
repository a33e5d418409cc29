"""A round as a modal, and what people put into it. Pure.

Where a modal belongs is pinned in its `private_metadata`: conversation, round, revision and card come back with it.
A selection is shown only where this person has made it before (RD-9). Limits: docs.slack.dev/surfaces/modals.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.contract import clean
from adapters.slack.text import escape
from bot.core.effects import Field, FormView
from bot.core.events import FormField
from bot.core.model import Option

ROUND_FORM = "round_form"  # callback ids
REQUEST_FORM = "request_form"

MAX_TITLE = 24  # characters, also of submit and close
MAX_OPTION = 75  # text and description of an option
MAX_BLOCKS = 100
MAX_HINT = 2000
MAX_SECTION = 3000
MAX_WORDS = 3000  # of a text field
MAX_FIELDS = 24  # questions: four blocks each, of at most a hundred
CONFIRM = "+"  # the value that confirms a statement

View = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """What a modal says: of which round, and what stands in its fields."""

    round: str
    revision: int
    card: str | None
    fields: dict[int, FormField]

    @property
    def quote(self) -> str:
        """The selections as a line, `1: B, 3: other`: what the person pressed, for the proof (CA-2)."""
        said = ((n, f.chosen or ("words" if f.text else None)) for n, f in sorted(self.fields.items()))
        return "form: " + (", ".join(f"{n}: {what}" for n, what in said if what) or "nothing")


def round_form(form: FormView, conversation: str, card: str | None, draft: Mapping[int, FormField]) -> View:
    """`draft`: what this person had put in before, and not sent."""
    shown = form.fields[:MAX_FIELDS]
    blocks: list[Any] = [_section(escape(line)) for line in form.lead if line]
    if len(shown) < len(form.fields):
        left = f"{len(form.fields) - len(shown)} more do not fit one form; they stay open for a second one."
        blocks.append(_section(escape(left)))
    apart = len(blocks) + 5 * len(shown) <= MAX_BLOCKS
    for field in shown:
        blocks += [{"type": "divider"}] * (apart and field is not shown[0])
        blocks += _question(field, draft.get(field.number))
    pinned = {"c": conversation, "r": form.round, "v": form.revision, "m": card}
    return {
        "type": "modal",
        "callback_id": ROUND_FORM,
        "title": _plain(_cut(form.title, MAX_TITLE)),
        "submit": _plain("Send answers"),
        "close": _plain("Later"),
        "notify_on_close": True,
        "private_metadata": json.dumps(pinned),
        "blocks": blocks[:MAX_BLOCKS],
    }


def _question(field: Field, draft: FormField | None) -> list[Any]:
    """What it asks, the options, words of one's own, a note."""
    number = field.number
    kept = draft or FormField(chosen=field.chosen, text=field.text, note=field.note)
    lines = [f"*{number} · {escape(field.topic)}*", *(escape(words) for words in field.words)]
    whole = [_line(option) for option in field.options if _is_long(option)]
    blocks: list[Any] = [_section(part) for part in _pieces("\n".join([*lines, *map(escape, whole)]))]
    choices = [_option(option) for option in field.options]
    if field.form == "validate":
        choices = [{"text": _plain("Yes, that is right"), "value": CONFIRM}]
    if choices:
        blocks.append(_choice(number, choices, kept.chosen, field.reason))
    if field.form != "choice" or any(option.other for option in field.options):
        label = {"open": "Your answer", "validate": "Or what is right instead"}.get(
            field.form, "Other, in your own words"
        )
        blocks.append(_words(number, "text", label, kept.text))
    if field.form != "open":
        blocks.append(_words(number, "note", "Note", kept.note))
    return blocks


def _choice(number: int, choices: list[Any], chosen: str | None, reason: str) -> Any:
    element: dict[str, Any] = {
        "type": "radio_buttons" if len(choices) <= 10 else "static_select",
        "action_id": "pick",
        "options": choices[:100],
    }
    picked = next((choice for choice in choices if choice["value"] == chosen), None)
    if picked is not None:
        element["initial_option"] = picked
    asked = _input(number, "pick", "Choose one", element)
    return {**asked, "hint": _plain(_cut(reason, MAX_HINT))} if reason else asked


def _words(number: int, what: str, label: str, text: str | None) -> Any:
    element: dict[str, Any] = {
        "type": "plain_text_input",
        "action_id": what,
        "multiline": what == "text",
        "max_length": MAX_WORDS,
    }
    if text:
        element["initial_value"] = text[:MAX_WORDS]
    return _input(number, what, label, element)


def _input(number: int, what: str, label: str, element: dict[str, Any]) -> Any:
    return {
        "type": "input",
        "block_id": f"q{number}.{what}",
        "label": _plain(label),
        "element": element,
        "optional": True,  # partial answers are kept (RD-10)
        "dispatch_action": what == "pick",  # tells what stands in all fields, so that a closed form is not lost
    }


def _option(option: Option) -> Any:
    """The letter stays whole whatever the label; a long label stands above in full."""
    mark = " ✅" if option.recommended else ""
    made: dict[str, Any] = {
        "text": _plain(_cut(f"{option.key}  {option.label}", MAX_OPTION - len(mark)) + mark),
        "value": option.key,
    }
    if option.tradeoff:
        made["description"] = _plain(_cut(option.tradeoff, MAX_OPTION))
    return made


def _is_long(option: Option) -> bool:
    return len(option.key) + 2 + len(option.label) + 2 > MAX_OPTION or len(option.tradeoff) > MAX_OPTION


def _line(option: Option) -> str:
    mark = "  ✅ Recommended" if option.recommended else ""
    return f"{option.key}  {option.label}" + (f" — {option.tradeoff}" if option.tradeoff else "") + mark


# -- the form of the global shortcut -------------------------------------------------------------------------------


def request_form(home: str | None) -> View:
    """Asks what is needed and where; a global shortcut has no channel. `home` is the person's own DM with the app."""
    return {
        "type": "modal",
        "callback_id": REQUEST_FORM,
        "title": _plain("Clarify something"),
        "submit": _plain("Start"),
        "close": _plain("Not now"),
        "private_metadata": home or "",
        "blocks": [
            {
                "type": "input",
                "block_id": "words",
                "label": _plain("What do you need?"),
                "element": {
                    "type": "plain_text_input",
                    "action_id": "words",
                    "multiline": True,
                    "max_length": MAX_WORDS,
                },
            },
            {
                "type": "input",
                "block_id": "where",
                "optional": True,
                "label": _plain("Where shall I ask?"),
                "hint": _plain("Without a channel I ask you here, in our own conversation."),
                "element": {
                    "type": "conversations_select",
                    "action_id": "where",
                    "filter": {"include": ["public", "private", "mpim"], "exclude_bot_users": True},
                },
            },
        ],
    }


# -- the way back ------------------------------------------------------------------------------------------------


def pinned_by(view: Any) -> str | None:
    """The conversation that a modal belongs to."""
    where = _pinned(view).get("c")
    return where if isinstance(where, str) and where else None


def round_of(view: Any) -> str | None:
    found = _pinned(view).get("r")
    return found if isinstance(found, str) else None


def fields_of(view: Mapping[str, Any]) -> Sent:
    pinned = _pinned(view)
    found: dict[int, dict[str, str]] = {}
    state = view.get("state")
    values = state.get("values") if isinstance(state, Mapping) else None
    for block, actions in (values if isinstance(values, Mapping) else {}).items():
        number, _, what = str(block).removeprefix("q").partition(".")
        if not number.isdigit() or what not in ("pick", "text", "note") or not isinstance(actions, Mapping):
            continue
        for element in actions.values():
            value = _value(element)
            if value:
                found.setdefault(int(number), {})["chosen" if what == "pick" else what] = value
    fields = {number: FormField(**said) for number, said in found.items()}
    return Sent(str(pinned.get("r")), int(pinned.get("v") or 0), pinned.get("m"), fields)


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


# -- small things ------------------------------------------------------------------------------------------------


def _plain(words: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": words, "emoji": True}


def _section(words: str) -> Any:
    return {"type": "section", "text": {"type": "mrkdwn", "text": words}}


def _cut(words: str, room: int) -> str:
    return words if len(words) <= room else f"{words[: room - 1]}…"


def _pieces(words: str) -> list[str]:
    """Lines together as long as they fit one section."""
    parts = [""]
    for line in words.split("\n"):
        for piece in [line[i : i + MAX_SECTION] for i in range(0, len(line), MAX_SECTION)] or [""]:
            joined = f"{parts[-1]}\n{piece}" if parts[-1] else piece
            if len(joined) <= MAX_SECTION:
                parts[-1] = joined
            else:
                parts.append(piece)
    return [part for part in parts if part]
