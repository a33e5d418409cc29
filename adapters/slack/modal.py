"""A round as a modal, and what people put into it. Pure.

Where a modal belongs is pinned in its `private_metadata`: conversation, round, revision and card come back with it.
A selection is shown only where this person has made it before (RD-9). Limits: docs.slack.dev/surfaces/modals.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.slack.filled import Kept
from adapters.slack.text import MARKS, escape
from bot.core.effects import Field, FormView
from bot.core.events import FormField
from bot.core.model import Option

ROUND_FORM = "round_form"  # callback ids
REQUEST_FORM = "request_form"

MAX_TITLE = 24  # characters, also of submit and close
MAX_OPTION = 75  # text and description of an option
MAX_BLOCKS = 100
MAX_HINT = 2000
MAX_HEADING = 300
MAX_SECTION = 3000
MAX_WORDS = 3000  # of a text field
MAX_VIEW = 200_000  # characters as JSON; more than 250 KB are refused
MAX_FIELDS = 24  # questions: four blocks each, of at most a hundred
WHOLE = "Your words are longer than this field. Left as they are, they stay whole."
CONFIRM = "+"  # the value that confirms a statement

View = dict[str, Any]


def round_form(
    form: FormView, conversation: str, card: str | None, draft: Mapping[int, Kept], link: str | None = None
) -> View:
    """`draft`: what this person had put in before, and not sent. An answer recorded since then comes before it."""
    bases = {field.number: _base(field) for field in form.fields}
    unsent = {n: draft[n].field for n, base in bases.items() if n in draft and draft[n].base == base}
    lead = [section for line in form.lead if line for section in _sections(line)]
    shown = _fitting(form.fields, unsent, MAX_BLOCKS - len(lead) - 1)
    if len(shown) < len(form.fields):
        left = f"{len(form.fields) - len(shown)} more do not fit one form; they stay open for a second one."
        lead.append(_section(left))
    apart = len(lead) + sum(1 + len(blocks) for blocks in shown.values()) <= MAX_BLOCKS
    blocks = [*lead]
    for number, question in enumerate(shown.values()):
        blocks += [{"type": "divider"}] * (apart and number > 0)
        blocks += question
    bases = {n: base for n, base in bases.items() if n in shown}
    pinned = {
        "c": conversation,
        "r": form.round,
        "v": form.revision,
        "m": card,
        "k": link,
        "b": bases,
        "d": [n for n in unsent if n in shown],
        "l": [n for n, said in unsent.items() if n in shown and said.left],
    }
    return {
        "type": "modal",
        "callback_id": ROUND_FORM,
        "title": _plain(_cut(form.title, MAX_TITLE)),
        "submit": _plain("Send answers"),
        "close": _plain("Later"),
        "notify_on_close": True,
        "private_metadata": json.dumps(pinned),
        "blocks": blocks,
    }


def _fitting(fields: Sequence[Field], unsent: Mapping[int, FormField], most: int) -> dict[int, list[Any]]:
    """The questions that fit one form, each whole; those without an answer first: a second form has the rest."""
    made = {field.number: _question(field, unsent.get(field.number)) for field in fields}
    taken: set[int] = set()
    room = MAX_VIEW
    for field in sorted(fields, key=lambda one: (one.chosen or one.text) is not None):
        blocks = made[field.number]
        size = len(json.dumps(blocks))
        if len(blocks) > most or size > room or len(taken) == MAX_FIELDS:
            break
        taken.add(field.number)
        most, room = most - len(blocks), room - size
    return {n: blocks for n, blocks in made.items() if n in taken}


def _question(field: Field, draft: FormField | None) -> list[Any]:
    """What it asks, the options, words of one's own, a note."""
    number = field.number
    kept = draft or FormField(chosen=field.chosen, text=field.text, note=field.note)
    whole = [_line(option) for option in field.options if _is_long(option)]
    blocks: list[Any] = _sections("\n".join([*field.words, *whole]), f"{number} · {_cut(field.topic, MAX_HEADING)}")
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
    asked = _input(number, what, label, element)
    return {**asked, "hint": _plain(WHOLE)} if text and len(text) > MAX_WORDS else asked


def _base(field: Field) -> str:
    """A sign of a question and of what is recorded of it: another one when either has changed."""
    said = repr((field.words, field.chosen, field.text, field.note))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:8]


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


# -- small things ------------------------------------------------------------------------------------------------


def _plain(words: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": words, "emoji": True}


def _section(words: str) -> Any:
    return {"type": "section", "text": {"type": "mrkdwn", "text": words}}


def _cut(words: str, room: int) -> str:
    return words if len(words) <= room else f"{words[: room - 1]}…"


def _sections(words: str, heading: str = "") -> list[Any]:
    """Lines together as long as they fit one section. Where they look like formatting, they are shown as they are."""
    room = MAX_SECTION - len(escape(heading)) - 3
    parts: list[str] = []
    for line in words.split("\n"):
        step = MAX_SECTION // 6 if len(escape(line)) > room else max(1, len(line))  # all of it may be `&`
        for piece in [line[i : i + step] for i in range(0, len(line), step)]:
            if parts and len(escape(parts[-1])) + 1 + len(escape(piece)) <= room:
                parts[-1] += f"\n{piece}"
            else:
                parts.append(piece)
    made = []
    for part in parts or [""]:
        if MARKS.search(heading + part):
            shown = _plain(f"{heading}\n{part}".strip())
            shown["emoji"] = False
            made.append({"type": "section", "text": shown})
        else:
            bold = f"*{escape(heading)}*\n" if heading else ""
            made.append(_section(f"{bold}{escape(part)}".strip()))
        heading = ""
    return made
