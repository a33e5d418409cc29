"""The nouns of the product, as plain frozen values.

Everything here is data that may be stored for days and read by a later version of the program: no behaviour
beyond small look-ups, no platform word, no clock. `docs/glossary.md` has one line per noun.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict

# What pydantic keeps of a value. Through the slots themselves a value is put together faster than by `setattr`.
_new = object.__new__
_fields = BaseModel.__dict__["__dict__"].__set__
_fields_set = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_extra = BaseModel.__dict__["__pydantic_extra__"].__set__
_private = BaseModel.__dict__["__pydantic_private__"].__set__


class Model(BaseModel):
    """A frozen value. Unknown keys are refused, but where a state is read that a newer program has written.

    What such a program has added (`bot.core.passed_on`) goes along in copies, and makes no two values differ.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.__dict__, other.__dict__
        if mine == theirs:
            return True
        fields = type(self).model_fields
        if mine.keys() == theirs.keys() == fields.keys():
            return False
        return all(mine[name] == theirs[name] for name in fields)  # one of them keeps something worked out as well

    @classmethod
    def made_of(cls, fields: dict[str, Any]) -> Self:
        """As `cls(**fields)`, with less around the same checks; a value within may be given as its fields, too."""
        made: Self = cls.__pydantic_validator__.validate_python(fields)
        return made

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic's, in less than half its time: these values hold nothing but their fields; a step copies many.

        `update` is not validated: only values that are already of the field's type.
        """
        if deep:
            return super().model_copy(update=update, deep=True)
        changed = update or {}
        copied = _new(type(self))
        _fields(copied, {**self.__dict__, **changed})
        _fields_set(copied, self.__pydantic_fields_set__.union(changed))
        _extra(copied, self.__pydantic_extra__)
        _private(copied, None)
        return copied


def unknown(value: Model) -> Mapping[str, Any] | None:
    """What was read with a value that this program does not know. None: it was read as one that is known whole."""
    return value.__pydantic_extra__


def without_unknown(value: Model) -> None:
    """For a value that has just been read, and nobody else has."""
    _extra(value, None)


# -- people and places ---------------------------------------------------------------------------------------

PersonId = str  # "platform:person", e.g. "telegram:7512345678"
ConversationId = str  # "platform:place" or "platform:place/thread"


class Person(Model):
    """Somebody who acts. `kind` is what the platform says of the sender; only a `person` can ever answer.

    An `app` is a person's account used by a program that may not speak for them here (b13).
    """

    id: PersonId
    name: str
    kind: Literal["person", "bot", "channel", "app"] = "person"
    through: str | None = None  # the program that posted in their name
    handle: str | None = None  # how others mention them here, without the @; it can change hands, the id can not
    outside: bool = False  # a guest, or somebody from another organisation (RD-12)
    member: bool = False  # the platform says that they belong to this place
    groups: tuple[str, ...] = ()  # "platform:group": groups that they are in, where the platform knows any
    zone: str | None = None  # their time zone, where the platform knows it


class Place(Model):
    """Where a conversation happens. `shared` places hold talk that is not meant for the bot (CH-2).

    In a `read_only` one nobody in particular speaks, so nobody can be asked (a channel).
    """

    conversation: ConversationId
    platform: str
    shared: bool = False
    read_only: bool | None = None


class MessageRef(Model):
    """Proof of an act: the platform's id of the message or act, and what was said or pressed (CA-2)."""

    id: str
    quote: str
    link: str | None = None
    card: str | None = None  # the card's platform message id, for an act without a message
    verbatim: str | None = None  # an imported reference, as the file has it
    confirms: str | None = None  # the message that this act said yes to, where it was asked back (RP-3)
    deleted_at: datetime | None = None  # the message is gone since; what it decided stands (RD-13)


class Material(Model):
    """Something handed in with a request: a file, a link, or an artefact named in the text (RT-3)."""

    kind: Literal["file", "link", "named"]
    name: str
    media: str | None = None  # media type, as the sender's platform claims
    size: int | None = None  # bytes
    caption: str | None = None
    handle: str | None = None  # by which the platform finds a file again; no address
    digest: str | None = None  # SHA-256 of the content, where a playbook wanted it checked
    problem: str | None = None  # why it can not be used, in words


# -- questions -----------------------------------------------------------------------------------------------

Form = Literal["choice", "open", "validate"]
Via = Literal["user_response", "accept_recommendations_bulk"]  # CA-2: nothing else exists


class Option(Model):
    """One lettered line of a choice question. The last one is Other (RD-2)."""

    key: str
    label: str
    tradeoff: str = ""
    recommended: bool = False
    other: bool = False
    value: str | None = None  # what the state holds when it is chosen, where that is not its label


class Grounding(Model):
    """What a recommendation rests on (RD-2). `best_guess` says openly that there is nothing better."""

    kind: Literal[
        "approved_artefact",
        "design_principle",
        "convention",
        "user_impact",
        "constraint",
        "compliance",
        "best_guess",
    ]
    reference: str


class Question(Model):
    """One decision. Shown as topic, why, options, recommendation and its reason, in that order (RD-8)."""

    id: str  # stable within its playbook or round, e.g. "years"
    form: Form = "choice"
    topic: str
    text: str = ""  # the question itself, or for `validate` the statement to confirm
    why: str
    options: tuple[Option, ...] = ()
    rationale: str | None = None
    grounding: Grounding | None = None
    stakes: Literal["critical", "minor"] = "minor"
    optional: bool = False
    field: str = ""  # the empty state field that it fills (RD-5)
    artefact: str = ""  # the artefact that changes with the answer (RD-5)

    def __hash__(self) -> int:
        """Of what tells questions apart; what is prepared of one is looked up at every step."""
        return hash((self.id, self.topic, self.why))

    def option(self, key: str) -> Option | None:
        for option in self.options:
            if option.key == key:
                return option
        return None

    @property
    def recommended(self) -> Option | None:
        for option in self.options:
            if option.recommended:
                return option
        return None

    @property
    def other(self) -> Option | None:
        for option in self.options:
            if option.other:
                return option
        return None


Status = Literal[
    "open", "resolved", "skipped", "declined", "expired", "cancelled", "force_quit", "deferred", "withdrawn"
]  # CA-4: every end of a question, told apart everywhere


class Answer(Model):
    """What a person decided on one question. Selection, words and note are three fields (RP-5).

    `chosen` is an option key or None (open and validate questions); `text` holds the words of Other, of an open
    answer, or of a correction.
    """

    chosen: str | None = None
    text: str | None = None
    note: str | None = None
    via: Via
    by: PersonId
    by_name: str
    ref: MessageRef
    at: datetime
    said_at: datetime | None = None  # by the platform's clock: events may overtake each other on their way
    claimed_at: datetime | None = None  # of an imported answer: the time that the file claims (AU-1)
