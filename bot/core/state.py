"""What is remembered of a conversation, as data with a version. States are conditions, not steps.

A conversation (a place) holds its sessions; one of them is active, the others are paused or ended. Whatever a
person is asked outside a round's own questions ("shall I take that as …?") waits in `pending`.

    Routing --workflow known--> Asking --all questions ended--> Closing --grace over--> Ended
       \\------- no playbook, or an agent named ------------------------------------------^

A specification has many rounds: Asking --all questions ended--> Between --a person's word--> Asking … --> Ended.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from bot.core.events import Forwarded, MessageReceived
from bot.core.model import Answer, Material, MessageRef, Model, Person, PersonId, Place, Question, Status
from bot.core.policies import PolicyName, Settings
from bot.core.replies.reading import Proposal, Reading
from bot.core.spec import Change, Signal, Spec

SCHEMA = 2  # version of this shape; bot.core.codec brings older ones up


class Request(Model):
    """What was asked for. `text` is what is passed on (token stripped); `original` is as typed."""

    text: str
    original: str
    materials: tuple[Material, ...] = ()
    ref: MessageRef
    direct_mode: bool = False


class Item(Model):
    """A question on the table and what became of it.

    `rivals` are different answers by other allowed people, waiting for the requester's call (RD-12).
    `tries` counts failed attempts to answer (RD-10). `words` keeps what was said at the end of an item that ended
    without a clarification. `said` is what each message, by its id, has said of it.
    """

    number: int
    question: Question
    status: Status = "open"
    answer: Answer | None = None
    rivals: tuple[Answer, ...] = ()
    tries: int = 0
    words: str | None = None
    clarification: str | None = None  # its id, once resolved
    said: dict[str, str] = Field(default_factory=dict)  # by message: an edit that says it again is nothing new
    revision: int = 0  # of the clarification


class Round(Model):
    """A batch of questions. `revision` counts changes to what is asked, not to what is answered (RD-15).

    `number` counts the session's rounds; `nth` those of its phase's present run, where there are phases.
    """

    id: str  # "<session>.<number>"
    number: int
    nth: int | None = None
    phase: int | None = None
    trigger: Literal["intake", "ambiguity", "loopback"] = "intake"
    of: int | None = None  # how many rounds the phase may have (RD-7)
    title: str
    purpose: str
    revision: int = 1
    items: tuple[Item, ...]
    card: str  # name of the card; equals `id` until it is posted anew
    message: str | None = None  # platform id of the card, once posted; of the newest, where there are several
    order: int | None = None  # of the first card: loose messages before it do not answer (RP-7)
    after: int | None = None  # the newest message known when the round was opened: none up to it answers
    opened_at: datetime
    closed_at: datetime | None = None
    notes: tuple[str, ...] = ()  # remarks outside the items that must be kept (corpus `note`)
    bulk_used: bool = False
    signals: tuple[Signal, ...] = ()  # what an ambiguity pause asks about (SC-1)
    escalated: bool = False  # an escalation followed it (RD-7)
    tapped: tuple[PersonId, int, datetime] | None = None  # the last tap: who, on which question, when (b50)
    undo: tuple[
        int, ...
    ] = ()  # questions whose answers one tap takes back (RP-3, RP-11), until the next word on them
    undo_by: PersonId | None = None

    def item(self, number: int) -> Item | None:
        for item in self.items:
            if item.number == number:
                return item
        return None

    @property
    def open_items(self) -> tuple[Item, ...]:
        return tuple([item for item in self.items if item.status == "open"])

    @property
    def stock(self) -> bool:
        """Whether its questions are a playbook's as they stand, the same for everybody: what is made of them may be
        kept for the next round. Those of a phase may hold people's words, which only the state keeps."""
        return self.phase is None


class Settled(Model):
    """A question not asked because the request, or what was decided before, answers it (RD-5). No clarification.

    `phase`, `field` and `holds` (the value in the words of the state) are those of a specification.
    """

    question: str
    topic: str
    value: str
    source: str  # the words, verbatim
    phase: int | None = None
    field: str | None = None
    holds: str | None = None


class Dropped(Model):
    """A candidate question that was not asked, and why (RD-5); `later` marks one deferred by a ceiling (RD-4)."""

    question: str
    topic: str
    reason: str
    later: bool = False
    phase: int | None = None


class PutOff(Model):
    """Somebody wants to be asked later (CH-6). It is no answer, and no question ends by it.

    `at`: when they are asked again (UTC); None where no moment could be read. `local`: that on the wall clock of
    `zone`, where a day or an hour was said; `assumed`: nobody has told this person's zone, it is the program's.
    """

    by: Person
    words: str
    ref: str  # the message that says it
    at: datetime | None = None
    local: datetime | None = None
    zone: str
    assumed: bool = False


class Reminded(Model):
    """The reminders of a round so far; `muted`: somebody wants no more of them."""

    round: str
    count: int = 0
    last: datetime
    muted: bool = False


class Owed(Model):
    """What is open would have been shown again in quiet hours; it is when they are over."""

    lead: str
    why: str


# -- stages of a session -----------------------------------------------------------------------------------------


class Routing(Model):
    """The menu is on the table. `asked` = the one open question after (d) has been asked (RT-9)."""

    kind: Literal["routing"] = "routing"
    options: tuple[str, ...]
    asked: bool = False
    spent: bool = False  # re-routed once already: the examples have been shown
    order: int | None = (
        None  # of the menu with these options, once posted: loose letters before it pick nothing (RP-7)
    )
    after: int | None = None  # the newest message known when it was shown: none up to it picks anything
    shown_at: datetime | None = None


class Asking(Model):
    """A round is on the table; nothing goes on until people answer (RD-6).

    `describing` maps a person who pressed Other to the question whose words they owe.
    """

    kind: Literal["asking"] = "asking"
    describing: dict[PersonId, int] = Field(default_factory=dict)


class Closing(Model):
    """Everything is resolved; within the grace a change needs no confirmation (RD-16)."""

    kind: Literal["closing"] = "closing"
    until: datetime


class Between(Model):
    """No round is open, and nothing goes on before a person's word (SP-2). What the word is about:

    `name` what it is about; `go` the next step; `settled` a round without questions; `reconfirm` the locked scope;
    `rationale` the reason for `changes`; `rerun` what a change has made doubtful; `escalation` one of its ways out;
    `input` the revised input.
    """

    kind: Literal["between"] = "between"
    waits: Literal["go", "settled", "reconfirm", "rationale", "rerun", "escalation", "input", "name"] = "go"
    changes: tuple[Change, ...] = ()
    doubtful: tuple[int, ...] = ()  # phases that rest on what has changed
    card: str | None = None  # what it is asked on, where it is asked
    order: int | None = None  # of that card, once posted
    after: int | None = None  # the newest message known when it was asked: none up to it answers (RP-7)


class Ended(Model):
    kind: Literal["ended"] = "ended"
    how: Literal["completed", "cancelled", "replaced"]
    at: datetime


Stage = Annotated[Routing | Asking | Closing | Between | Ended, Field(discriminator="kind")]


class Session(Model):
    """One intake. `number` names it within its conversation; `counted` numbers its clarifications (CA-1)."""

    id: str
    number: int
    requester: Person
    request: Request
    pack: str
    policy: PolicyName = "playbook"
    workflow: str | None = None
    routed_by: str | None = None
    routed_ref: MessageRef | None = None
    stage: Stage
    spec: Spec | None = None
    rounds: tuple[Round, ...] = ()
    settled: tuple[Settled, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    participants: tuple[str, ...] = ()  # people named or delegated to, beside the requester (`circle.entry`)
    assumptions: tuple[str, ...] = ()
    counted: int = 0
    undelivered: str | None = None  # why the last card did not arrive (CH-7)
    put_off: tuple[PutOff, ...] | None = None  # by person, the latest of each
    reminded: Reminded | None = None
    started_at: datetime
    touched_at: datetime

    @property
    def round(self) -> Round | None:
        return self.rounds[-1] if self.rounds else None


# -- what waits for a yes ----------------------------------------------------------------------------------------


class TakeReading(Model):
    """A reading of a reply that needs one yes, or one pick among several (RP-3, RP-8)."""

    kind: Literal["reading"] = "reading"
    session: str
    round: str
    revision: int
    proposals: tuple[Proposal, ...]


class LeaveSession(Model):
    """Leave the active session and start anew with this message? (RT-7, RT-10)"""

    kind: Literal["leave"] = "leave"
    session: str
    text: str
    materials: tuple[Material, ...] = ()
    declared: str | None = None  # the workflow that a program has declared for it (RT-16)


class Amend(Model):
    """Change an answer of a closed round? (RD-13)"""

    kind: Literal["amend"] = "amend"
    session: str
    round: str
    answers: dict[int, Answer]


class Settle(Model):
    """People differ on one question: keep, or switch? The requester settles it (RD-12).

    `by`: who gave each of the other answers that are offered, in their order.
    """

    kind: Literal["settle"] = "settle"
    session: str
    round: str
    number: int
    by: tuple[PersonId, ...] = ()


class PickRound(Model):
    """A loose reply fits several open rounds; which is meant? (RP-7)"""

    kind: Literal["pick"] = "pick"
    text: str
    rounds: tuple[str, ...]


class Meant(Model):
    """One round of a message about several, and what it says of it. `place` None = in this conversation."""

    place: str | None = None
    session: str
    round: str
    revision: int
    number: int
    title: str
    reading: Reading


class TakeSeveral(Model):
    """Answers for several rounds, summed up before any is recorded; bound to the revisions seen (RP-4, RD-15)."""

    kind: Literal["several"] = "several"
    rounds: tuple[Meant, ...]


class PickNumber(Model):
    """`#2` may be question 2 of this round, or another intake; which is meant? (RP-7)"""

    kind: Literal["number"] = "number"
    text: str
    session: str
    round: str
    revision: int


class TakeWay(Model):
    """A way out of an escalation that may not have been meant (RD-7). `mark`: what it was offered for (RD-15)."""

    kind: Literal["way"] = "way"
    session: str
    choice: str
    mark: str


Ask = Annotated[
    TakeReading | LeaveSession | Amend | Settle | PickRound | TakeSeveral | PickNumber | TakeWay,
    Field(discriminator="kind"),
]


class Pending(Model):
    """A question of our own. `id` also names its card; only `asked_of` may answer it."""

    id: str
    ask: Ask
    asked_of: PersonId
    ref: MessageRef  # the message that led to it, quoted beside the confirmation
    at: datetime
    words: tuple[str, ...] = ()  # as asked, to redraw it without buttons once it is settled
    choices: tuple[tuple[str, str], ...] = ()  # (end of the token, label) of its buttons
    passed: bool = False  # the person has done something else since: a loose "yes" no longer means it (RP-3)
    reminded: bool | None = None  # told where it is answered, after a "yes" that was said elsewhere


class Gathering(Model):
    """Parts of one act that come as several messages (RT-11): an album, a long paste. Joined when the timer ends.

    `event` is the first part with the text and the materials of the later ones added; `about` as in the envelope.
    """

    event: MessageReceived
    about: str | None = None


class Ancient(Model):
    """What is kept of a session that ended long ago, for honest notices (RD-14)."""

    id: str
    number: int
    workflow: str | None = None
    how: str
    at: datetime


class Forward(Model):
    """Something decided here that happens in another conversation. Kept until it has been passed on (`bot.timers`).

    `name` is the name of its timer, and of nothing else in this conversation.
    """

    name: str
    place: str  # the conversation it goes to
    event: Forwarded


class Conversation(Model):
    """All that is remembered of a place. `revision` counts the events that were applied."""

    schema_version: int = SCHEMA
    place: Place
    revision: int = 0
    settings: Settings = Settings()
    active: str | None = None
    sessions: tuple[Session, ...] = ()
    ancient: tuple[Ancient, ...] = ()
    pending: tuple[Pending, ...] = ()
    gathering: Gathering | None = None
    counted: int = 0  # sessions so far
    wordless: dict[PersonId, datetime] = Field(default_factory=dict)  # who sent no words last, when they were told
    refused: tuple[PersonId, ...] = ()  # people already told how to ask for access
    newest: int | None = None  # the highest `order` of any message known here
    unreachable: str | None = None  # why nothing can be brought here, until somebody acts or it is lifted (CH-7)
    told_read_only: datetime | None = None
    taken_part: tuple[PersonId, ...] = ()  # people who have written in this shared place, the latest last (RD-12)
    forwards: tuple[Forward, ...] = ()
    wake: datetime | None = None  # when the timer `wake` rings: something unasked may be to be said then
    owed: Owed | None = None

    def session(self, session: str | None) -> Session | None:
        for one in self.sessions:
            if one.id == session:
                return one
        return None

    @property
    def current(self) -> Session | None:
        return self.session(self.active)
