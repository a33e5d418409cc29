"""Everything the core may ask for. Effects are orders; they become rows that commit with the new state.

Messages are neutral: blocks of spans and rows of buttons. Each adapter renders them (entities, Block Kit, plain
text) within its platform's limits. A message is complete without its buttons (CH-1).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field as FieldInfo

from bot.core.model import Form, MessageRef, Model, Option, Person, PersonId, Via
from bot.core.state import Conversation

# -- what a message is made of ---------------------------------------------------------------------------------


class Span(Model):
    text: str
    style: Literal["plain", "bold", "italic", "code"] = "plain"
    person: PersonId | None = None  # a person or a group to be notified, where the platform can; `text` names them


BlockKind = Literal["heading", "text", "topic", "option", "answered", "hint"]


class Block(Model):
    """One paragraph. `question` marks the lines of one question, which must stay together when split (RD-8).

    `gap` says that an empty line goes before it.
    """

    kind: BlockKind = "text"
    spans: tuple[Span, ...]
    question: int | None = None
    gap: bool = False


class Button(Model):
    """`token` is at most 64 bytes of ASCII: the smallest room that a platform gives (Telegram callback data).

    `long` says the same in a few words more, for where there is room: `B · Last 10 years ✅`.
    """

    token: str
    label: str
    long: str = ""


class File(Model):
    """A document sent along, as text."""

    name: str
    media: str
    content: str


class Message(Model):
    blocks: tuple[Block, ...]
    buttons: tuple[tuple[Button, ...], ...] = ()
    files: tuple[File, ...] = ()
    form: str | None = None  # token of a button that opens the round as a form, where the platform has forms


class Field(Model):
    """One question in a form: what it asks, and what this person has said of it so far."""

    number: int
    form: Form
    topic: str
    words: tuple[str, ...]  # the question, why it matters
    options: tuple[Option, ...] = ()
    reason: str = ""  # of the recommendation; it stands below the options
    chosen: str | None = None
    text: str | None = None
    note: str | None = None


class FormView(Model):
    """A round as a form. Nothing is selected but what this person has answered already (RD-9)."""

    round: str
    revision: int
    title: str
    lead: tuple[str, ...] = ()
    fields: tuple[Field, ...]


# -- effects -----------------------------------------------------------------------------------------------------


class Say(Model):
    """Post a message. With `card` it can be redrawn later and its posting is reported back.

    `about` names the round, menu or session that it speaks of, so that a direct reply to it can be bound (RP-7).
    """

    kind: Literal["say"] = "say"
    message: Message
    card: str | None = None
    about: str | None = None
    reply_to: str | None = None
    only_to: PersonId | None = None  # privately where the platform can (RD-12)
    instead: str | None = None  # said to all where it can not; without it, nothing is said then
    see: str | None = None  # platform id of the card that it sends people to: a link or a reply, where there are such
    words_from: Person | None = None  # whose own words are asked for: their next message should reply to this one
    session: str | None = None
    round: str | None = None


class Redraw(Model):
    """Replace the content of a card. Waiting redraws of the same card are superseded: the last state wins.

    `farewell`: a newer copy follows; where the old one is gone, nothing is posted in its stead.
    """

    kind: Literal["redraw"] = "redraw"
    card: str
    message: Message
    session: str | None = None
    round: str | None = None
    farewell: bool | None = None


class SetTimer(Model):
    """Ask for `TimerDue(name)` at a moment. The same name again moves it."""

    kind: Literal["set_timer"] = "set_timer"
    name: str
    at: datetime


class ClearTimer(Model):
    kind: Literal["clear_timer"] = "clear_timer"
    name: str


Effect = Annotated[Say | Redraw | SetTimer | ClearTimer, FieldInfo(discriminator="kind")]


# -- records -----------------------------------------------------------------------------------------------------


class Clarification(Model):
    """One question that a person has resolved (CA-1). The store stamps `chosen_at` from the commit's time.

    `revision` counts replacements and amendments of the same id, from 1.
    """

    kind: Literal["clarification"] = "clarification"
    id: str
    session: str
    protocol: Literal["spec", "playbook", "packet", "exchange", "plan", "agent"]
    phase: int | None
    round: int
    trigger: Literal["intake", "ambiguity", "loopback"]
    question: str  # the question's id
    topic: str
    why_it_matters: str
    options: tuple[Option, ...]
    recommendation_rationale: str | None
    chosen: str | None
    chosen_text: str | None
    chosen_via: Via
    user_message_ref: str
    user_note: str | None
    answered_by: PersonId
    surface: str
    revision: int
    platform_at: datetime | None = None
    decided_at: datetime | None = None  # when only the reference changes: the decision keeps its time


class Withdrawal(Model):
    """A clarification taken back at once by the person it speaks of (the Undo of RP-3): the question is open again.

    Its row leaves the clarifications for the history; a later answer keeps the id and has the next revision.
    """

    kind: Literal["withdrawal"] = "withdrawal"
    id: str
    session: str
    revision: int  # the one taken back


class Audit(Model):
    """One row of the audit log (AU-1, AU-2). `session` None = the system chain. The store stamps time and hash."""

    kind: Literal["audit"] = "audit"
    event: str  # one of bot.core.audit.EVENTS
    session: str | None
    phase: int | None = None
    actor: str  # "human:<platform>:<id>", "agent:<name>", "orchestrator" or "system"
    details: dict[str, Any] = FieldInfo(default_factory=dict)


class SessionRow(Model):
    """The index row of a session, replaced whenever it changes."""

    kind: Literal["session"] = "session"
    session: str
    workflow: str | None
    state: str  # routing | asking | closing | completed | cancelled | replaced
    requester: PersonId
    request: str
    started_at: datetime
    ended_at: datetime | None = None
    result: dict[str, Any] | None = None  # the hand-over document, once there is one (RT-15)


Record = Annotated[Clarification | Withdrawal | Audit | SessionRow, FieldInfo(discriminator="kind")]


class Reply(Model):
    """What goes back to the transport at once, after the commit: a notice to the person who pressed, a form to open,
    or what is wrong in a form that was sent, by question number.

    It is run once, never retried and carries no state.
    """

    text: str
    ref: MessageRef | None = None
    form: FormView | None = None
    errors: dict[int, str] = FieldInfo(default_factory=dict)


Want = Literal["elsewhere", "numbered"]  # fields of the envelope


@dataclass(frozen=True, slots=True)
class Step:
    """What follows from one event. `reason` goes with the outcomes "ignored" and "refused".

    With `wants` it is not to be committed: look these up, put them into the envelope, and step again. Neither is one
    with `belongs`: the event is for that conversation, the place that this one is a thread of.
    """

    state: Conversation
    effects: tuple[Effect, ...] = ()
    records: tuple[Record, ...] = ()
    reply: Reply | None = None
    outcome: Literal["accepted", "ignored", "refused"] = "accepted"
    reason: str | None = None
    wants: frozenset[Want] = frozenset()
    belongs: str | None = None
