"""Lines of JSON to events, messages to lines of JSON. Pure; the format is described in `adapters.terminal.jsonl`."""

from __future__ import annotations

import json
import mimetypes
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from adapters.contract import UNSTAMPED, clean
from adapters.limits import plain
from bot.core.effects import Button, Message
from bot.core.events import ButtonPressed, Envelope, Event, MessageDeleted, MessageEdited, MessageReceived
from bot.core.model import Material, MessageRef, Person, Place

PLATFORM = "terminal"
LONGEST_LINE = 1_000_000  # bytes; a reader must not be made to hold what nobody could have typed
MENTION = re.compile(r"@askfirst\b[:,]?[ \t]*", re.IGNORECASE)


CODES = {
    "not_utf8": "the line is not UTF-8",
    "not_json": "the line is not JSON, or nested too deeply",
    "not_an_object": "the line is JSON, but no object",
    "too_long": f"the line is longer than {LONGEST_LINE} bytes",
    "wrong_type": "a key has a value of another type than it must have; the message names it",
    "nothing_said": "a key that is needed is missing; the message names it",
    "several_acts": "the line asks for more than one of text, press, edit and delete",
    "unreadable": "what is stored of the conversation can not be read here; nothing of the line was stored",
    "internal": "our mistake; nothing of the line was stored, and the log says where it happened",
}


@dataclass(frozen=True, slots=True)
class BadLine:
    """Why a line can not be read, and what to do about it. `code` is one of CODES."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Press:
    message: str
    button: str


@dataclass(frozen=True, slots=True)
class Line:
    """One act of one person, as read. `id` is None where the line gave none."""

    text: str = ""
    person: str = "you"
    place: str = "terminal"
    files: tuple[Material, ...] = ()
    reply_to: str | None = None
    press: Press | None = None
    edit: str | None = None
    delete: str | None = None
    id: str | None = None
    shared: bool = False
    addressed: bool = False
    forwarded: str | None = None
    workflow: str | None = None  # declared by a program (RT-16)
    album: str | None = None
    sender: Literal["person", "bot"] = "person"
    outside: bool = False

    @property
    def conversation(self) -> str:
        return f"{PLATFORM}:{self.place}"

    def event_id(self, line_id: str) -> str:
        return f"{self.conversation}:{line_id}"


@dataclass(frozen=True, slots=True)
class Shown:
    """A message as it goes out. `edits` is the message that it replaces."""

    message: str
    place: str
    content: Message
    edits: str | None = None
    only_to: str | None = None
    session: str | None = None
    round: str | None = None


# -- in ----------------------------------------------------------------------------------------------------------


class _Wrong(Exception):
    def __init__(self, code: str, message: str) -> None:
        self.bad = BadLine(code, message)


@dataclass(slots=True)
class _Object:
    """The keys of a line, with their types checked. Unknown keys are ignored; null is as good as absent."""

    keys: dict[str, Any]
    where: str = field(default="")

    def text(self, key: str, *, empty: bool = False) -> str | None:
        value = self.keys.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not (empty or value):
            kind = "a string" if empty else "a string that is not empty"
            raise _Wrong("wrong_type", f'"{self.where}{key}" must be {kind}')
        return clean(value)

    def flag(self, key: str) -> bool:
        value = self.keys.get(key, False)
        if not isinstance(value, bool):
            raise _Wrong("wrong_type", f'"{self.where}{key}" must be true or false')
        return value

    def inner(self, key: str) -> _Object | None:
        value = self.keys.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise _Wrong("wrong_type", f'"{key}" must be an object')
        return _Object(value, f"{key}.")


def read_line(raw: bytes) -> Line | BadLine:
    """A line without its line end."""
    if len(raw) > LONGEST_LINE:
        return BadLine("too_long", f"a line has at most {LONGEST_LINE} bytes; send the text as several messages")
    try:
        value = json.loads(raw.decode("utf-8-sig"))  # some editors begin a file with a byte order mark
    except UnicodeDecodeError:
        return BadLine("not_utf8", "the line is not UTF-8")
    except (ValueError, RecursionError):
        return BadLine("not_json", "the line is not one JSON object")
    if not isinstance(value, dict):
        return BadLine("not_an_object", "the line must be one JSON object")
    try:
        return _line(_Object(value))
    except _Wrong as wrong:
        return wrong.bad


def _line(keys: _Object) -> Line:
    text = keys.text("text", empty=True)
    line = Line(
        text=text or "",
        person=keys.text("from") or "you",
        place=keys.text("place") or "terminal",
        files=_files(keys),
        reply_to=keys.text("reply_to"),
        press=_press(keys),
        edit=keys.text("edit"),
        delete=keys.text("delete"),
        id=keys.text("id"),
        shared=keys.flag("shared"),
        addressed=keys.flag("addressed"),
        forwarded=keys.text("forwarded"),
        workflow=keys.text("workflow"),
        album=keys.text("album"),
        sender="bot" if keys.flag("bot") else "person",
        outside=keys.flag("outside"),
    )
    acts = [name for name, there in (("press", line.press), ("edit", line.edit), ("delete", line.delete)) if there]
    if len(acts) > 1 or (acts and (line.files or (text is not None and acts != ["edit"]))):
        raise _Wrong(
            "several_acts", "a line is one act: text with files, a press, an edit with its text, or a delete"
        )
    if acts == ["edit"] and text is None:
        raise _Wrong("nothing_said", 'an edit needs the new "text"')
    if not acts and not line.files and text is None:
        raise _Wrong("nothing_said", 'one of "text", "press" and "files" is needed')
    return line


def _press(keys: _Object) -> Press | None:
    press = keys.inner("press")
    if press is None:
        return None
    message, button = press.text("message"), press.text("button")
    if message is None or button is None:
        raise _Wrong("nothing_said", '"press" needs "message" and "button"')
    return Press(message, button)


def _files(keys: _Object) -> tuple[Material, ...]:
    value = keys.keys.get("files")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _Wrong("wrong_type", '"files" must be a list of objects')
    return tuple(_file(_Object(item, "files.")) for item in value)


def _file(keys: _Object) -> Material:
    name = keys.text("name")
    if name is None:
        raise _Wrong("nothing_said", 'a file needs a "name"')
    size = keys.keys.get("size")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**63):
        raise _Wrong("wrong_type", '"files.size" must be a number of bytes')
    media = keys.text("media") or mimetypes.guess_type(name, strict=False)[0]
    return Material(kind="file", name=name, media=media, size=size, caption=keys.text("caption"))


def envelope(line: Line, line_id: str, order: int | None, button: Button | None = None) -> Envelope:
    """The event of a line. `order` places its message among the messages shown so far (RP-7)."""
    return Envelope(
        event_id=line.event_id(line_id),
        place=Place(conversation=line.conversation, platform=PLATFORM, shared=line.shared),
        at=UNSTAMPED,
        event=_event(line, line_id, order, button),
    )


def _event(line: Line, line_id: str, order: int | None, button: Button | None) -> Event:
    person = Person(id=f"{PLATFORM}:{line.person}", name=line.person, kind=line.sender, outside=line.outside)
    if line.press is not None:
        pressed = button or Button(token=line.press.button, label=line.press.button)
        ref = MessageRef(id=line_id, quote=pressed.label, card=line.press.message)
        return ButtonPressed(person=person, token=pressed.token, label=pressed.label, ref=ref)
    if line.delete is not None:
        return MessageDeleted(message=line.delete)
    if line.edit is not None:
        ref = MessageRef(id=line.edit, quote=line.text)
        return MessageEdited(person=person, message=line.edit, text=line.text, ref=ref, order=order)
    mention = MENTION.match(line.text)
    return MessageReceived(
        person=person,
        text=line.text[mention.end() :] if mention else line.text,  # a leading mention is transport (RT-6)
        ref=MessageRef(id=line_id, quote=line.text),
        materials=line.files,
        reply_to=line.reply_to,
        addressed=line.addressed or MENTION.search(line.text) is not None,
        forwarded=line.forwarded,
        declared=line.workflow,
        album=line.album,
        order=order,
    )


def find_button(wanted: str, shown: Sequence[Message]) -> Button | None:
    """By id, else label, else letter, on the message as last shown; else as it once was shown.

    People press what their screen still shows, so a button of an earlier drawing is found as well; what it is worth
    now is for the core to say (RD-14).
    """
    for message in reversed(shown):
        buttons = [button for row in message.buttons for button in row]
        for same in (_by_id, _by_label, _by_letter):
            found = next((button for button in buttons if same(button, wanted)), None)
            if found is not None:
                return found
    return None


def _by_id(button: Button, wanted: str) -> bool:
    return button.token == wanted


def _by_label(button: Button, wanted: str) -> bool:
    return button.label.strip().casefold() == wanted.strip().casefold()


LETTER = re.compile(r"\W*([A-Za-z])(?=$|[).:]|\s+\W|\s*$|\s{2,})")  # "B", "(b)", "B. …", "B ✅", "B  Last 10 years"


def _by_letter(button: Button, wanted: str) -> bool:
    """The letter on the label; else the letter that the id ends in (a label such as "Other…" names none)."""
    if len(wanted) != 1 or not wanted.isalpha():
        return False
    letter = LETTER.match(button.label)
    if letter is not None:
        return letter[1].casefold() == wanted.casefold()
    return re.split(r"\W", button.token)[-1].casefold() == wanted.casefold()


# -- out ---------------------------------------------------------------------------------------------------------


def message_line(shown: Shown) -> dict[str, Any]:
    """A message as one JSON object; absent keys are left out."""
    line: dict[str, Any] = {"message": shown.message, "place": shown.place, "text": plain(shown.content)}
    if shown.content.buttons:
        line["buttons"] = [{"id": b.token, "label": b.label} for row in shown.content.buttons for b in row]
    if shown.content.files:
        line["files"] = [{"name": f.name, "media": f.media, "content": f.content} for f in shown.content.files]
    optional = {"edits": shown.edits, "only_to": shown.only_to, "session": shown.session, "round": shown.round}
    return line | {key: value for key, value in optional.items() if value is not None}


def done_line(line_id: str, outcome: str, reason: str | None) -> dict[str, Any]:
    line = {"done": line_id, "outcome": outcome}
    return line if reason is None else line | {"reason": reason}


def error_line(number: int, bad: BadLine) -> dict[str, Any]:
    return {"error": {"line": number, "code": bad.code, "message": bad.message}}


def encode(line: dict[str, Any]) -> bytes:
    return clean(json.dumps(line, ensure_ascii=False)).encode() + b"\n"
