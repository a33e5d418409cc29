"""The text of a transcript: what people do, what is expected, and how what happened is written down.

Pure: no pytest, no core. The format is described in README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal

Kind = Literal["say", "press", "edit", "reply", "delete", "again", "clock"]

NAME = r"[\w.-]+"
HEAD = re.compile(rf"(?P<who>{NAME})(?P<mark>>|\|) ?(?P<rest>.*)")
PRESS = re.compile(rf"({NAME}) (.+?)(?: on m(\d+)(?:\.(\d+))?)?")
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class BadTranscript(Exception):
    """The file can not be read. The message begins with the line number."""


@dataclass(frozen=True, slots=True)
class Act:
    """Something that happens. `number` counts the acts of people, from 1; the clock has none (0)."""

    kind: Kind
    room: str
    shared: bool
    person: str = ""
    text: str = ""
    files: tuple[str, ...] = ()
    number: int = 0
    target: int = 0  # the act that is edited, deleted or delivered again
    message: int = 0  # the bot's message replied to or pressed on; 0 = the last card
    drawing: int = 0  # which drawing of it, from 1, as an older screen shows it; 0 = the present one
    button: str = ""
    source: str = ""  # whose words a forwarded message holds
    by: timedelta = timedelta(0)


@dataclass(slots=True)
class Part:
    """An act as written, what is expected after it, and the lines that follow (blank, comments, directives)."""

    act: Act | None
    source: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Transcript:
    directives: dict[str, str]
    parts: list[Part]

    @property
    def acts(self) -> list[Act]:
        return [part.act for part in self.parts if part.act is not None]


def read(text: str) -> Transcript:
    return _Reader().read(text.splitlines())


class _Reader:
    def __init__(self) -> None:
        self.parts = [Part(None)]
        self.directives: dict[str, str] = {}
        self.room, self.shared = "chat", False
        self.acts = 0
        self.messages: set[int] = set()  # the acts that are messages: only these can be edited or deleted

    def read(self, lines: Sequence[str]) -> Transcript:
        number = 0
        while number < len(lines):
            line, number = lines[number], number + 1
            part = self.parts[-1]
            if not line.strip() or line.startswith("#"):
                part.rest.append(line)
            elif line.startswith("!"):
                part.rest.append(line)
                self._directive(line[1:].split(), number)
            elif line.startswith("bot"):
                if part.act is None or part.rest:
                    raise BadTranscript(f"{number}: an expectation must follow the act that causes it")
                part.expected.append(line)
                while number < len(lines) and lines[number].startswith("  "):
                    part.expected.append(lines[number])
                    number += 1
            else:
                more: list[str] = []
                first = number
                while number < len(lines) and re.match(r" +\|", lines[number]):
                    more.append(lines[number])
                    number += 1
                act = self._act(line, [re.sub(r"^ +\| ?", "", item) for item in more], first)
                self.parts.append(Part(act, [line, *more]))
        return Transcript(self.directives, self.parts)

    def _directive(self, words: list[str], number: int) -> None:
        if not words:
            raise BadTranscript(f"{number}: a directive needs a name")
        name, *values = words
        if name == "place":
            if not values or values[1:] not in ([], ["shared"]):
                raise BadTranscript(f"{number}: write `! place NAME` or `! place NAME shared`")
            self.room, self.shared = values[0], values[1:] == ["shared"]
        elif self.acts:
            raise BadTranscript(f"{number}: `! {name}` must come before the first act")
        else:
            self.directives[name] = " ".join(values)

    def _act(self, line: str, more: list[str], number: int) -> Act:
        match = HEAD.fullmatch(line)
        if match is None or (match["mark"] == "|") != (match["who"] == "clock"):
            raise BadTranscript(f"{number}: not an act: {line}")
        who, rest = match["who"], match["rest"]
        if who == "clock":
            return Act("clock", self.room, self.shared, by=_duration(rest, number))
        self.acts += 1
        act = Act("say", self.room, self.shared, number=self.acts)
        head, bar, tail = rest.partition("|")
        body = "\n".join([tail.removeprefix(" "), *more])
        words = head.split()
        try:
            if who == "press":
                person, button, card, drawing = re.fullmatch(PRESS, rest).groups()  # type: ignore[union-attr]
                return _with(
                    act, kind="press", person=person, button=button, message=int(card or 0), drawing=int(drawing or 0)
                )
            if who == "edit" and bar:
                return _with(act, kind="edit", person=words[0], target=self._message(words[1]), text=body)
            if who == "reply" and bar:
                self.messages.add(act.number)
                return _with(act, kind="reply", person=words[0], message=int(words[1].removeprefix("m")), text=body)
            if who == "forward" and bar:
                self.messages.add(act.number)
                return _with(act, person=words[0], source=words[1], text=body)
            if who == "delete":
                return _with(act, kind="delete", person=words[0], target=self._message(words[1]))
            if who == "again":
                return _with(act, kind="again", target=self._number(words[0]))
        except (AttributeError, IndexError, ValueError) as error:
            raise BadTranscript(f"{number}: can not read this `{who}>`: {line}") from error
        if who in ("edit", "reply"):
            raise BadTranscript(f"{number}: `{who}>` needs a `|` before the text")
        return self._said(act, who, rest, more)

    def _said(self, act: Act, person: str, rest: str, more: list[str]) -> Act:
        files: tuple[str, ...] = ()
        if rest.startswith("@file "):
            names, _, rest = rest.removeprefix("@file ").partition("|")
            files = tuple(name.strip() for name in names.split(","))
        text = "\n".join([rest.removeprefix(" ") if files else rest, *more])
        self.messages.add(act.number)
        return _with(act, person=person, text=text, files=files)

    def _message(self, word: str) -> int:
        number = self._number(word)
        if number not in self.messages:
            raise ValueError("that act is no message")
        return number

    def _number(self, word: str) -> int:
        number = int(word)
        if not 0 < number < self.acts:
            raise ValueError("no such act before this one")
        return number


def _with(act: Act, **changes: object) -> Act:
    return replace(act, **changes)  # type: ignore[arg-type]


def _duration(text: str, number: int) -> timedelta:
    match = re.fullmatch(r"\+(\d+)([smhd])", text.strip())
    if match is None:
        raise BadTranscript(f"{number}: the clock moves like `clock| +6s` (s, m, h, d)")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


# -- what happened, written down ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Said:
    """Something people see: posted, redrawn in place, or a notice (which reads like a private message)."""

    room: str
    text: str
    rows: tuple[tuple[str, ...], ...] = ()  # button labels
    files: tuple[tuple[str, str], ...] = ()  # (name, media)
    redrawn: bool = False
    only_to: str | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """Something stored."""

    text: str


def written(act: Act, happened: Iterable[Said | Noted]) -> list[str]:
    """By room, then what was stored: places are independent, and their order among each other is no promise."""
    happened = list(happened)
    said = sorted((h for h in happened if isinstance(h, Said)), key=lambda h: (h.room != act.room, h.room))
    lines: list[str] = []
    for one in said:
        lines += _said_lines(act, one)
    return lines + [f"bot! {note.text}" for note in happened if isinstance(note, Noted)]


def _said_lines(act: Act, said: Said) -> list[str]:
    head = (
        "bot" + (f"@{said.only_to}" if said.only_to else "") + (f" in {said.room}" if said.room != act.room else "")
    )
    first, *more = said.text.split("\n")
    lines = [f"{head}{'~' if said.redrawn else '<'} {first}".rstrip()]
    lines += [f"   | {line}".rstrip() for line in more]
    lines += ["   " + "  ".join(f"[ {label} ]" for label in row) for row in said.rows]
    return lines + [f"   = {name} ({media})" for name, media in said.files]


def text_of(transcript: Transcript, happened: Sequence[Sequence[str]] | None = None) -> str:
    """The file again; with what happened in place of what was expected."""
    actual = iter(happened or ())
    lines: list[str] = []
    for part in transcript.parts:
        expected = part.expected if happened is None or part.act is None else list(next(actual))
        lines += [*part.source, *expected, *part.rest]
    return "".join(f"{line}\n" for line in lines)
