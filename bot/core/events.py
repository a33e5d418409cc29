"""Everything that can happen. Events are facts in the past; `step` takes one at a time in an `Envelope`.

The envelope carries what the core may not fetch: the time and fresh ids. Adapters make events, the runner stamps
and completes the envelope, and both are logged as they went in, so that `askfirst replay` can fold them again.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from bot.core.elsewhere import OpenRound
from bot.core.model import ConversationId, Material, MessageRef, Model, Person, PersonId, Place
from bot.core.policies import Settings
from bot.core.replies.reading import Reading


class MessageReceived(Model):
    """A person (or a bot, or a channel) wrote something or sent files."""

    kind: Literal["message"] = "message"
    person: Person
    text: str = ""
    ref: MessageRef
    materials: tuple[Material, ...] = ()
    reply_to: str | None = None  # platform id of the message that this one directly answers
    addressed: bool = False  # mentions the bot, or a command that names it
    decoded: bool = False  # the adapter has already decoded entities (field case b17)
    forwarded: str | None = None  # whose words these are, when forwarded: quoted words (AU-3)
    quoted: str | None = None  # text quoted or forwarded beside the person's own words
    album: str | None = None  # parts that belong to one act share this (RT-11)
    partial: bool = False  # as long as the platform allows: more of the same paste may follow (RT-11)
    order: int | None = None  # position among the platform's message ids in this place (RP-7)
    declared: str | None = None  # the workflow that a program declares for its request: explicit intent (RT-16)
    named: tuple[PersonId, ...] = ()  # people and groups mentioned in the text, where the platform gives their ids
    # Who of these can not be asked, and why.
    absent: dict[PersonId, Literal["left", "outside", "bot"]] = Field(default_factory=dict)
    unreadable: str | None = None  # what came instead of text, in words: "a voice message"
    in_thread: bool = False  # said in the session's own thread, among others (RP-7)
    summons: bool = False  # asks for an intake of these words, whose they may be: a request, never an answer (RT-13)
    private: bool = False  # came by a way that shows it to nobody else: what it is told goes to this person alone


class MessageEdited(Model):
    """The text of an earlier message was replaced. `message` is that message's platform id."""

    kind: Literal["edit"] = "edit"
    person: Person
    message: str
    text: str
    ref: MessageRef
    decoded: bool = False
    order: int | None = None  # of the message, as in `MessageReceived`
    unchanged: bool = False  # as first written: a reaction or a link's preview, which some platforms send as an edit


class MessageDeleted(Model):
    """A message was deleted. It withdraws nothing; its reference is marked (RD-13)."""

    kind: Literal["deleted"] = "deleted"
    message: str


class ButtonPressed(Model):
    """Somebody pressed a button. `token` is what we put on it; it is not to be trusted further than that."""

    kind: Literal["press"] = "press"
    person: Person
    token: str
    label: str
    ref: MessageRef


class FormField(Model):
    """What stands in one question's fields. Nothing here is prose to be read: a selection is a selection (RP-5)."""

    chosen: str | None = None  # option key; "+" confirms a statement
    text: str | None = None  # the words of Other, of an open answer, or of a correction
    note: str | None = None
    left: bool = False  # selection and words stand as the form was filled in with them: only the note is said now


class FormSubmitted(Model):
    """A round's form was sent. `fields` by question number; a question without any field set was left alone."""

    kind: Literal["form"] = "form"
    person: Person
    round: str
    revision: int  # of the round that was seen (RD-15)
    fields: dict[int, FormField]
    ref: MessageRef


class MessagePosted(Model):
    """One of our cards reached its place. `order` as in `MessageReceived`."""

    kind: Literal["posted"] = "posted"
    card: str
    message: str
    order: int | None = None
    unsure: bool | None = None  # an earlier try, whose end is unknown, may have brought a first copy there


class DeliveryFailed(Model):
    """A message of ours can not be delivered and will not be tried again (CH-7)."""

    kind: Literal["undelivered"] = "undelivered"
    card: str | None = None
    reason: str
    text: str = ""  # the plain words that did not arrive
    place: bool | None = None  # nothing else would arrive there either
    session: str | None = None  # what it was about


class PlaceLost(Model):
    """The bot can not write to this place any more: removed, blocked, restricted, the topic closed (CH-7)."""

    kind: Literal["lost"] = "lost"
    reason: str


class PlaceRestored(Model):
    """The bot may write to this place again."""

    kind: Literal["restored"] = "restored"


class BotAway(Model):
    """The bot was away for longer than the platform keeps messages: what was said before `lost_before` is gone."""

    kind: Literal["away"] = "away"
    since: datetime
    until: datetime
    lost_before: datetime


class BotAdded(Model):
    """The bot was added to a shared place. `hears_all`: everything said there reaches it, not only what is for it."""

    kind: Literal["added"] = "added"
    person: Person  # who has added it
    hears_all: bool = True


class FileFetched(Model):
    """A file that was ordered has been looked at. `place` is its position among the session's materials."""

    kind: Literal["fetched"] = "fetched"
    session: str
    place: int
    handle: str
    size: int | None = None
    digest: str | None = None
    problem: str | None = None


class TimerDue(Model):
    """A moment that the core asked for with `SetTimer` has come."""

    kind: Literal["timer"] = "timer"
    name: str


class GateRefused(Model):
    """A program asked whether a phase's artefact may be made, and found its gate closed (CA-6)."""

    kind: Literal["gate"] = "gate"
    session: str
    phase: int
    asked_by: str = "system"  # "agent:<name>", or "system" for a command


class RaisedSignal(Model):
    """A sign of ambiguity as an agent or a model tells it (SC-2); `kind` is one of `bot.core.score.LEVELS`."""

    kind: str
    said: str
    evidence: str
    field: str = ""


class SignalsRaised(Model):
    """An agent or a model says what is unclear in a specification. It decides nothing."""

    kind: Literal["signals"] = "signals"
    session: str
    raised_by: str  # "agent:<name>" or "model:<name>"
    signals: tuple[RaisedSignal, ...]


class SpecImported(Model):
    """An exported specification is handed in again, as a file that has been read (AU-1)."""

    kind: Literal["import"] = "import"
    document: dict[str, Any]
    digest: str  # of the file, so that it can be told again


def import_reference(digest: str) -> str:
    """By which a session names the file that it was read in from."""
    return f"import:{digest[:16]}"


class Forwarded(Model):
    """Somebody answered a round of this conversation from another one, by its number, and confirmed it (RP-4).

    `reading` was made of the questions at `revision`; `ref` names the act and the conversation that it happened in.
    """

    kind: Literal["forwarded"] = "forwarded"
    person: Person
    origin: ConversationId
    session: str
    round: str
    revision: int
    reading: Reading
    ref: MessageRef


Event = Annotated[
    MessageReceived
    | MessageEdited
    | MessageDeleted
    | ButtonPressed
    | FormSubmitted
    | MessagePosted
    | DeliveryFailed
    | BotAdded
    | FileFetched
    | PlaceLost
    | PlaceRestored
    | BotAway
    | TimerDue
    | GateRefused
    | SignalsRaised
    | SpecImported
    | Forwarded,
    Field(discriminator="kind"),
]


class Envelope(Model):
    """One event, where it happened, and what the core needs to decide about it.

    `event_id` is the dedupe key: the same act always has the same id, whichever way it was delivered.
    `at` is the runner's clock at receipt (UTC); `platform_at` is what the platform claims.
    `new_id` is a fresh random id of 10 characters that the step may use once, for a session.
    `about` is the card shown by the message replied to, pressed or edited, looked up by the runner.
    `settings` are those of the place that a thread belongs to, where people have set any.
    `pack` is the one that the operator has named for places without a setting; None = the usual ones.
    `trouble` is what is wrong with the connection to the platform just now, in words for `/status`.
    `again` marks an event that failed before and that an operator has had handled once more.
    `elsewhere` (rounds of other conversations) and `numbered` (the intakes begun so far in this place and its
    threads) are looked up only when a step says that it wants them (`Step.wants`); None = not looked up.
    `unseen`: so many of those conversations could not be read, and what they ask is not in `elsewhere`.
    """

    event_id: str
    place: Place
    at: datetime
    platform_at: datetime | None = None
    new_id: str = ""
    about: str | None = None
    trouble: tuple[str, ...] | None = None
    again: bool | None = None
    elsewhere: tuple[OpenRound, ...] | None = None
    unseen: int | None = None
    numbered: int | None = None
    settings: Settings | None = None
    pack: str | None = None
    event: Event


class Ignored(Model):
    """What an adapter returns instead of an envelope, always with a reason."""

    event_id: str | None = None
    reason: str
