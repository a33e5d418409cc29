"""Plain values for tests of the core: a conversation that is folded step by step, and a step written down whole."""

from __future__ import annotations

import dataclasses
import functools
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.app import load_book
from bot.core.book import Book
from bot.core.effects import Message, Record, Redraw, Say
from bot.core.events import (
    ButtonPressed,
    DeliveryFailed,
    Envelope,
    Event,
    MessageDeleted,
    MessageEdited,
    MessagePosted,
    MessageReceived,
    TimerDue,
)
from bot.core.model import MessageRef, Model, Person, Place
from bot.core.policies import Access
from bot.core.state import Conversation
from bot.core.step import Step, step
from bot.core.view import plain
from config.playbooks_loader import load_playbooks
from config.settings import load_settings

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@functools.cache
def book() -> Book:
    """The program's own book with the short playbooks of the transcripts."""
    playbooks = Path(__file__).parents[1] / "transcripts" / "playbooks"
    return dataclasses.replace(
        load_book(load_settings()),
        playbooks=load_playbooks(playbooks),
        access=Access(allow=("x:ana", "x:ben", "x:guest", "x:robot")),
        bot_names={"x": "askfirst"},
    )


def person(name: str) -> Person:
    return Person(id=f"x:{name}", name=name, outside=name == "guest", kind="bot" if name == "robot" else "person")


class Talk:
    """A conversation on the core alone. Messages are u1, u2 …; every act takes a second unless time is given."""

    def __init__(self, *, shared: bool = False) -> None:
        self.place = Place(conversation="x:room", platform="x", shared=shared)
        self.state: Conversation | None = None
        self.before: Conversation | None = None
        self.at = START
        self.acts = 0

    def envelope(self, event: Event, *, about: str | None = None) -> Envelope:
        return Envelope(
            event_id=f"e{self.acts}",
            place=self.place,
            at=self.at,
            new_id=f"s{self.acts:09d}",
            about=about,
            event=event,
        )

    def happens(self, event: Event, *, about: str | None = None, after: float = 1) -> Step:
        self.acts += 1
        self.at += timedelta(seconds=after)
        return self.takes(self.envelope(event, about=about))

    def takes(self, envelope: Envelope) -> Step:
        made = step(self.state, envelope, book())
        self.before, self.state = self.state, made.state
        return made

    def says(self, name: str, text: str, *, about: str | None = None, **more: Any) -> Step:
        ref = MessageRef(id=f"u{self.acts + 1}", quote=text)
        return self.happens(MessageReceived(person=person(name), text=text, ref=ref, **more), about=about)

    def edits(self, name: str, message: str, text: str) -> Step:
        ref = MessageRef(id=message, quote=text)
        return self.happens(MessageEdited(person=person(name), message=message, text=text, ref=ref))

    def deletes(self, message: str) -> Step:
        return self.happens(MessageDeleted(message=message))

    def presses(self, name: str, token: str, label: str = "a button") -> Step:
        ref = MessageRef(id=f"u{self.acts + 1}", quote=label, card="m1")
        return self.happens(ButtonPressed(person=person(name), token=token, label=label, ref=ref))

    def posted(self, card: str, message: str, order: int) -> Step:
        return self.happens(MessagePosted(card=card, message=message, order=order))

    def undelivered(self, card: str | None, reason: str) -> Step:
        return self.happens(DeliveryFailed(card=card, reason=reason, text="the words"))

    def rings(self, timer: str, after: float = 5) -> Step:
        return self.happens(TimerDue(name=timer), after=after)


# -- a step, written down ------------------------------------------------------------------------------------------


def written(before: Conversation | None, made: Step) -> str:
    """The whole step as text: what changed in the state, every effect and every record with all its fields."""
    lines = [f"= {made.outcome}" + (f": {made.reason}" if made.reason else "")]
    if made.reply is not None:
        lines.append(f"reply {made.reply.text}")
    lines += [line for effect in made.effects for line in _effect(effect)]
    lines += [line for record in made.records for line in _record(record)]
    old = {} if before is None else dict(_flat("", before.model_dump(mode="json")))
    new = dict(_flat("", made.state.model_dump(mode="json")))
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            lines.append(f"state {path}: {old.get(path)} → {new.get(path)}")
    return "\n".join(lines)


def _effect(effect: Any) -> list[str]:
    if not isinstance(effect, Say | Redraw):
        return [f"{effect.kind} {effect.name}" + (f" {_time(effect.at)}" if hasattr(effect, "at") else "")]
    named = effect.model_dump(exclude={"kind", "message"}, exclude_none=True)
    return [f"{effect.kind} {_fields(named)}", *textwrap.indent(_message(effect.message), "  | ").splitlines()]


def _message(message: Message) -> str:
    rows = [" ".join(f"[{b.label}]({b.token})" for b in row) for row in message.buttons]
    files = [f"= {file.name} ({file.media})" for file in message.files]
    return "\n".join([plain(message), *rows, *files])


def _record(record: Record) -> list[str]:
    named = record.model_dump(mode="json", exclude_none=True, exclude={"kind", "options", "result"})
    return [f"{record.kind} {_fields(named)}"]


def _fields(named: dict[str, Any]) -> str:
    parts = []
    for key, value in named.items():
        if isinstance(value, dict):
            parts += [f"{key}.{inner}={worth!r}" for inner, worth in value.items() if worth is not None]
        elif key in ("started_at", "ended_at", "at"):
            parts.append(f"{key}={value[11:19]}")
        else:
            parts.append(f"{key}={value!r}")
    return " ".join(parts)


def _flat(path: str, value: Any) -> list[tuple[str, Any]]:
    """Leaves by path. Questions are left out: they come from the playbook."""
    if isinstance(value, dict):
        pairs = [(key, inner) for key, inner in value.items() if key != "question" or not isinstance(inner, dict)]
        return [leaf for key, inner in pairs for leaf in _flat(f"{path}.{key}" if path else key, inner)]
    if isinstance(value, list):
        return [leaf for n, inner in enumerate(value) for leaf in _flat(f"{path}[{n}]", inner)]
    return [] if value is None or value == "" or value is False else [(path, value)]


def _time(moment: datetime) -> str:
    return f"{moment:%H:%M:%S}"


def models(*modules: Any) -> list[type[Model]]:
    """Every model that these modules define."""
    found = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    return [v for v in found if issubclass(v, Model) and v.__module__ in {m.__name__ for m in modules}]
