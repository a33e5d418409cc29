"""One step in the making: the state so far, and the orders and records that have gathered.

A `Turn` lives for one call of `step`. Flows change it through these few verbs; nothing else is shared between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal

from bot.core import view
from bot.core.audit import EVENTS, human
from bot.core.book import Book
from bot.core.capture import document
from bot.core.effects import (
    Audit,
    Button,
    ClearTimer,
    Effect,
    Message,
    Record,
    Redraw,
    Reply,
    Say,
    SessionRow,
    SetTimer,
    Step,
    Want,
)
from bot.core.elsewhere import OpenRound, root
from bot.core.events import ButtonPressed, Envelope, Forwarded, MessageEdited, MessageReceived
from bot.core.model import Material, MessageRef, Person
from bot.core.policies import POLICIES, Policy, Settings
from bot.core.replies import read_reply
from bot.core.replies.message import Dated
from bot.core.replies.reading import Reading, Slot
from bot.core.replies.written import Written, written
from bot.core.routing import Pack, Verdict, route
from bot.core.spec_record import spec_state
from bot.core.state import Ancient, Ask, Conversation, Ended, Forward, Pending, Round, Session, Settle

MOST_PEOPLE = 200  # kept of those who write in a shared place, the latest


@dataclass(slots=True)
class Turn:
    """`before` is the state that the step began with; rows of changed sessions are derived from the difference."""

    before: Conversation
    envelope: Envelope
    book: Book
    state: Conversation = field(init=False)
    about: str | None = field(init=False)  # the card that the present message speaks of
    effects: list[Effect] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    reply: Reply | None = None
    outcome: Literal["accepted", "ignored", "refused"] = "accepted"
    reason: str | None = None
    wants: set[Want] = field(default_factory=set)
    belongs: str | None = None
    _documented: tuple[Session, dict[str, Any]] | None = field(init=False, default=None)
    _written: dict[tuple[str, bool], Written] = field(init=False, default_factory=dict)
    _read: list[tuple[tuple[object, ...], Reading]] = field(init=False, default_factory=list)
    _routed: tuple[tuple[object, ...], Verdict] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.state = self.before
        self.about = self.envelope.about

    # -- reading -----------------------------------------------------------------------------------------------

    @property
    def at(self) -> datetime:
        return self.envelope.at

    @property
    def shared(self) -> bool:
        return self.state.place.shared

    @property
    def surface(self) -> str:
        return self.envelope.place.platform

    @property
    def bot_name(self) -> str | None:
        """What a mention of the bot looks like here, without the @; None where it is not known."""
        return self.book.bot_names.get(self.surface)

    @property
    def pack(self) -> Pack:
        return self.book.pack_for(self.surface, self.settings.pack, self.envelope.pack)

    @property
    def settings(self) -> Settings:
        """What people have set for this place; a thread has the settings of the place that it belongs to."""
        return self.envelope.settings or self.state.settings

    @property
    def whole_place(self) -> str | None:
        """The place that this conversation is a thread of; None where it is no thread."""
        conversation = self.envelope.place.conversation
        return root(conversation) if self.shared and root(conversation) != conversation else None

    def policy(self, session: Session) -> Policy:
        return POLICIES[session.policy]

    def document(self, session: Session) -> dict[str, Any]:
        """The session's document; the one that is shown is also the one that is kept, so it is made once."""
        if self._documented is None or self._documented[0] is not session:
            self._documented = session, document(session, self.surface)
        return self._documented[1]

    def written(self, text: str, *, decoded: bool) -> Written:
        """The message as the reply reader wants it; one step reads it with the questions of several rounds."""
        made = self._written.get((text, decoded))
        if made is None:
            made = self._written[text, decoded] = written(text, self.book.phrases, decoded=decoded)
        return made

    def reading(
        self,
        text: str,
        slots: tuple[Slot, ...],
        dated: Dated | None = None,
        *,
        decoded: bool = False,
        attached: bool = False,
    ) -> Reading:
        """What words mean for some questions. More than one flow asks it of the same; they are read once."""
        asked = (text, decoded, attached, slots)
        found = next((reading for before, reading in self._read if before == asked), None)
        if found is None:
            said = self.written(text, decoded=decoded)
            found = read_reply(said, slots, self.book.phrases, attached=attached, dated=dated)
            self._read.append((asked, found))
        return found

    def routed(self, text: str, materials: Sequence[Material]) -> Verdict:
        """Where a first message would go. More than one flow asks before one of them takes the message."""
        asked = (text, tuple(materials), self.pack.name)
        if self._routed is None or self._routed[0] != asked:
            self._routed = asked, route(text, materials, self.pack, bot_name=self.bot_name)
        return self._routed[1]

    def elsewhere(self) -> tuple[OpenRound, ...]:
        """The rounds of other conversations that the present message may mean; wanted, where not here yet."""
        if self.envelope.elsewhere is None:
            self.wants.add("elsewhere")
        return self.envelope.elsewhere or ()

    def fresh_id(self) -> str:
        """The id of a new session. Two messages of one step (RT-11) may each begin one; the envelope has one id."""
        fresh = self.envelope.new_id
        return f"{fresh}2" if self.state.session(fresh) is not None else fresh

    def next_number(self) -> int:
        """The number of a new intake: within its conversation, and in a shared place within the whole of it."""
        if self.shared and self.envelope.numbered is None:
            self.wants.add("numbered")
        return max(self.state.counted, self.envelope.numbered or 0) + 1

    def numbered(self, session: Session) -> bool:
        """Whether people need this session's number to tell it from others (RP-7)."""
        others = [s for s in self.state.sessions if s.id != session.id and s.stage.kind != "ended"]
        return bool(others) or "/" in self.state.place.conversation

    # -- changing the state ------------------------------------------------------------------------------------

    def put(self, session: Session, **changes: Any) -> Session:
        """Keep a changed or new session, marked as touched now."""
        session = session.model_copy(update={**changes, "touched_at": self.at})
        ordered = [s for s in self.state.sessions if s.id != session.id]
        ordered.append(session)
        ordered.sort(key=_by_number)
        self.state = self.state.model_copy(update={"sessions": tuple(ordered)})
        return session

    def put_round(self, session: Session, round_: Round, **changes: Any) -> Session:
        """Keep a changed or new round of a session; `changes` to the session itself come with it."""
        rounds = [r for r in session.rounds if r.id != round_.id]
        rounds.append(round_)
        rounds.sort(key=_by_number)
        return self.put(session, rounds=tuple(rounds), **changes)

    def set(self, **changes: Any) -> None:
        self.state = self.state.model_copy(update=changes)

    # -- saying ------------------------------------------------------------------------------------------------

    def say(
        self,
        message: Message,
        *,
        card: str | None = None,
        about: str | None = None,
        only_to: Person | None = None,
        instead: str | None = None,
        see: str | None = None,
        words_from: Person | None = None,
        session: Session | None = None,
        round_: Round | None = None,
    ) -> None:
        """Post a message, as a reply to the person's own where there is one."""
        event = self.envelope.event
        reply_to = event.ref.id if isinstance(event, MessageReceived | MessageEdited) else None
        if only_to is None and card is None and isinstance(event, MessageReceived) and event.private:
            only_to = event.person
        self.effects.append(
            Say(
                message=message,
                card=card,
                about=about or (round_.id if round_ else session.id if session else None),
                reply_to=reply_to,
                only_to=None if only_to is None else only_to.id,
                instead=None if only_to is None else instead,
                see=see,
                words_from=words_from,
                session=session.id if session else None,
                round=round_.id if round_ else None,
            )
        )

    def redraw(self, card: str, message: Message, session: Session, round_: Round | None = None) -> None:
        self.effects.append(
            Redraw(card=card, message=message, session=session.id, round=round_.id if round_ else None)
        )

    def tell(
        self, *lines: str, session: Session | None = None, round_: Round | None = None, see: str | None = None
    ) -> None:
        """One short message of plain lines. `see`: as in `Say`."""
        self.say(view.says(*lines), session=session, round_=round_, see=see)

    def also(self, *lines: str) -> None:
        """More lines for the last short message of this step, which answers the same words; else one of their own."""
        for at in reversed(range(len(self.effects))):
            said = self.effects[at]
            if isinstance(said, Say) and said.card is None:
                blocks = (*said.message.blocks, *(view.text(line) for line in lines if line))
                self.effects[at] = said.model_copy(
                    update={"message": said.message.model_copy(update={"blocks": blocks})}
                )
                return
        if any(lines):
            self.tell(*lines)

    def refuse(self, person: Person, reason: str, *lines: str, session: Session | None = None) -> None:
        """Say why something does not count, privately where the platform can (RD-12)."""
        self.outcome, self.reason = "refused", reason
        if isinstance(self.envelope.event, MessageReceived | MessageEdited | Forwarded):
            words = " ".join(lines)  # nothing in a refusal is a secret, and silence would look like a broken bot
            self.say(view.says(*lines), only_to=person if self.shared else None, instead=words, session=session)
        else:
            self.notice(" ".join(lines))

    def notice(self, words: str, *, typed: bool = True) -> None:
        """Answer a press through its transport; a button that was typed is answered by a message.

        `typed` False: a message says the same anyway.
        """
        if isinstance(self.envelope.event, ButtonPressed):
            self.reply = Reply(text=words)
        elif typed:
            self.tell(words)

    def pass_by(self, person: Person) -> None:
        """What was asked of this person before the present act is no longer the last thing said to them."""
        asked = {p.id for p in self.before.pending if p.asked_of == person.id}
        passed = (p.model_copy(update={"passed": True}) if p.id in asked else p for p in self.state.pending)
        self.state = self.state.model_copy(update={"pending": tuple(passed)}) if asked else self.state

    def took_part(self, person: Person) -> None:
        """This person writes here. It counts from the next message on: see `Circle.taken_part` (RD-12)."""
        if person.id in self.state.taken_part[-1:]:
            return
        others = tuple(p for p in self.state.taken_part if p != person.id)
        self.set(taken_part=(*others[1 - MOST_PEOPLE :], person.id))

    def ignore(self, reason: str) -> None:
        self.outcome, self.reason = "ignored", reason

    # -- asking for a yes --------------------------------------------------------------------------------------

    def ask(
        self,
        ask: Ask,
        person: Person,
        ref: MessageRef,
        words: tuple[str, ...],
        choices: tuple[tuple[str, str], ...],
        session: Session | None = None,
        round_: Round | None = None,
    ) -> None:
        """Put a question of our own, with `choices` (token end, label) as buttons. A newer one replaces it."""
        name = f"p.{self.state.revision + 1}.{len(self.effects)}"  # the dots: no session's id reads like this
        kept = tuple(p for p in self.state.pending if not (p.asked_of == person.id and _same_subject(p.ask, ask)))
        for old in self.state.pending:
            if old not in kept:
                self._settle_card(old, "– replaced by a newer question")
        pending = Pending(id=name, ask=ask, asked_of=person.id, ref=ref, at=self.at, words=words, choices=choices)
        self.set(pending=(*kept, pending))
        row = tuple(Button(token=f"p:{name}:{end}", label=label) for end, label in choices)
        self.say(view.says(*words, buttons=(row,)), card=name, about=name, session=session, round_=round_)

    def drop_pending(
        self,
        *,
        session: str | None = None,
        name: str | None = None,
        how: str = "– no longer asked",
        disputes: bool = True,
    ) -> None:
        """Forget the questions of our own that concern a session, or one by its name; their buttons go.

        `disputes` False keeps those between two people: they can be settled after the end, too.
        """
        for pending in self.state.pending:
            if not disputes and isinstance(pending.ask, Settle):
                continue
            if pending.id == name or (session is not None and getattr(pending.ask, "session", None) == session):
                self.set(pending=tuple(p for p in self.state.pending if p.id != pending.id))
                self._settle_card(pending, how)

    def _settle_card(self, pending: Pending, how: str) -> None:
        self.effects.append(Redraw(card=pending.id, message=view.says(*pending.words, how)))

    # -- recording ---------------------------------------------------------------------------------------------

    def audit(
        self,
        event: str,
        session: Session | None = None,
        person: Person | None = None,
        round_: Round | None = None,
        **details: Any,
    ) -> None:
        """One row of the audit log; without a person the actor is the system."""
        assert event in EVENTS, event
        self.records.append(
            Audit(
                event=event,
                session=None if session is None else session.id,
                phase=None if round_ is None else round_.phase,
                actor="system" if person is None else human(person.id),
                details=details,
            )
        )

    def timer(self, name: str, at: datetime) -> None:
        self.effects.append(SetTimer(name=name, at=at))

    def forward(self, place: str, event: Forwarded) -> None:
        """Let something happen in another conversation, once this step is committed; `bot.timers` passes it on."""
        name = f"forward:{self.before.revision + 1}.{len(self.state.forwards)}"
        self.set(forwards=(*self.state.forwards, Forward(name=name, place=place, event=event)))
        self.timer(name, self.at)

    def clear_timer(self, name: str) -> None:
        self.effects.append(ClearTimer(name=name))

    # -- the end -----------------------------------------------------------------------------------------------

    def finish(self) -> Step:
        """The step: older ended sessions shrink to a line, changed sessions get their row."""
        if self.outcome == "ignored" and (self.records or any(isinstance(e, Say | Redraw) for e in self.effects)):
            self.outcome, self.reason = "accepted", None  # two messages in one step, and only one was ignored
        for session in self.state.sessions:
            before = self.before.session(session.id)
            if before is session:
                continue
            if before is None or _listed(before) != _listed(session):
                self.records.append(self._row(session))
            elif session.stage.kind == "ended" and self._row(before) != (row := self._row(session)):
                self.records.append(row)
        ended = [s for s in self.state.sessions if s.stage.kind == "ended" and s.id != self.state.active]
        for session in ended[: -self.book.closing_sessions_kept]:
            assert isinstance(session.stage, Ended)
            line = Ancient(
                id=session.id,
                number=session.number,
                workflow=session.workflow,
                how=session.stage.how,
                at=session.stage.at,
            )
            self.set(
                ancient=(*self.state.ancient[-49:], line),
                sessions=tuple(s for s in self.state.sessions if s.id != session.id),
            )
        return Step(
            state=self.state.model_copy(update={"revision": self.before.revision + 1}),
            effects=tuple(self.effects),
            records=tuple(self.records),
            reply=self.reply,
            outcome=self.outcome,
            reason=self.reason,
            wants=frozenset(self.wants),
            belongs=self.belongs,
        )

    def _result(self, session: Session) -> dict[str, Any]:
        """The hand-over document; a specification's holds its whole state beside it."""
        made = self.document(session)
        return made if session.spec is None else {**made, "spec_state": spec_state(session, self.surface)}

    def _row(self, session: Session) -> SessionRow:
        ended = session.stage if isinstance(session.stage, Ended) else None
        return SessionRow(
            session=session.id,
            workflow=session.workflow,
            state=ended.how if ended else session.stage.kind,
            requester=session.requester.id,
            request=session.request.text,
            started_at=session.started_at,
            ended_at=ended.at if ended else None,
            result=self._result(session) if ended else None,
        )


_by_number = attrgetter("number")


def _listed(session: Session) -> tuple[object, ...]:
    """What the row of a session is made of, but for the result of one that has ended."""
    stage = session.stage
    state = (stage.how, stage.at) if stage.kind == "ended" else stage.kind
    return state, session.workflow, session.requester.id, session.request.text, session.started_at


def _same_subject(one: Ask, other: Ask) -> bool:
    """Whether the newer question replaces the older one; disputes about two questions stand side by side."""
    if isinstance(one, Settle) and isinstance(other, Settle):
        return (one.round, one.number) == (other.round, other.number)
    return one.kind == other.kind
