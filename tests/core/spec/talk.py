"""A conversation about a specification on the core alone, with the bundled banks or the short ones."""

from __future__ import annotations

import dataclasses
import functools

from bot.core.book import Book
from bot.core.effects import Audit, Clarification, Say, Step
from bot.core.events import Envelope, Event, MessageReceived
from bot.core.model import MessageRef
from bot.core.spec import Spec
from bot.core.state import Session
from bot.core.step import step
from bot.core.view import plain
from tests.core import builders


@functools.cache
def book(*, short: bool) -> Book:
    from bot.app import load_book
    from config.settings import load_settings

    whole = builders.book()
    playbooks = whole.playbooks if short else load_book(load_settings()).playbooks
    return dataclasses.replace(whole, playbooks=playbooks, default_pack={"*": "triage"})


class SpecTalk(builders.Talk):
    """Keeps every record, so that what was written can be compared with what is remembered."""

    def __init__(self, *, short: bool = True, shared: bool = False) -> None:
        super().__init__(shared=shared)
        self.short = short
        self.records: list[Audit | Clarification] = []
        self.last: Step | None = None
        self.log: list[Envelope] = []

    def happens(self, event: Event, *, about: str | None = None, after: float = 1) -> Step:
        self.acts += 1
        self.at += builders.timedelta(seconds=after)
        envelope = Envelope(
            event_id=f"e{self.acts}",
            place=self.place,
            at=self.at,
            new_id=f"s{self.acts:09d}",
            about=about,
            event=event,
        )
        made = step(self.state, envelope, book(short=self.short))
        self.before, self.state, self.last = self.state, made.state, made
        self.log.append(envelope)
        self.records += [r for r in made.records if isinstance(r, Audit | Clarification)]
        return made

    def ana(self, *texts: str) -> Step:
        """She says these, one after the other; the last step."""
        for text in texts:
            made = self.says("ana", text)
        return made

    def forwards(self, text: str, source: str = "boss") -> Step:
        self.happens(
            MessageReceived(
                person=builders.person("ana"),
                text=text,
                ref=MessageRef(id=f"u{self.acts + 1}", quote=text),
                forwarded=source,
            )
        )
        return self.rings("gather:parts")

    @property
    def session(self) -> Session:
        assert self.state is not None
        return next(s for s in reversed(self.state.sessions) if s.spec is not None)

    @property
    def spec(self) -> Spec:
        assert self.session.spec is not None
        return self.session.spec

    @property
    def heard(self) -> str:
        """What the last step said."""
        assert self.last is not None
        return "\n".join(plain(e.message) for e in self.last.effects if isinstance(e, Say))

    def audited(self, event: str) -> list[Audit]:
        return [r for r in self.records if isinstance(r, Audit) and r.event == event]

    def clarified(self) -> list[Clarification]:
        return [r for r in self.records if isinstance(r, Clarification)]


DISCOVERED = ("/spec Refunds", "accept recommendations")
