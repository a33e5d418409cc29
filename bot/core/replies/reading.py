"""What goes into the reply reader and what comes out of it. `bot.core.replies.read_reply` is the reader.

The reader knows nothing of sessions: it gets the questions on the table as slots and one message, and says what
the message means. Recording, echoing and asking again are the flow's business.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import Field

from bot.core.model import Form, Model
from bot.core.replies.tokens import Labels, folded_labels

Kind = Literal[
    "answers",
    "accept_all",
    "accept_all_except",
    "needs_confirmation",
    "question_back",
    "force_quit",
    "cancel",
    "unparsed",
    "put_off",  # CH-6 "ask me tomorrow"; only where the grammar of the corpus leaves `unparsed`
    "hand_over",  # CH-6 "@maria please"; likewise
]

Code = Literal[
    "out_of_range",
    "unknown_question",
    "conflict",
    "multiple",
    "other_without_text",
    "unsure",
    "deferred",
    "question",
    "unclear",
    "ambiguous_agreement",
    "tentative",
    "needs_answer",
    "negative_only",
    "reference",
    "conditional",
]


class Slot(Model):
    """One question of the round as the reader sees it. `number` is the number shown to the person."""

    number: int
    form: Form = "choice"
    letters: tuple[str, ...] = ()  # upper case, in order; () for open and validate questions
    other: str | None = None  # the letter that means Other, where there is one
    recommended: str | None = None
    labels: tuple[str, ...] = ()  # option texts beside `letters`; () where unknown
    topic: str = ""
    text: str = ""  # of an open or validate question
    held: str | None = None  # what is already held: a letter, "other", "skip" or "text"; None = open

    @cached_property
    def folded(self) -> Labels:
        """The labels as they are compared."""
        return folded_labels(self.labels)


class ItemReading(Model):
    """What was said on one question.

    `key`: a letter, "other", "skip", or for open and validate questions "answer", "confirm", "correct".
    """

    key: str
    text: str | None = None
    note: str | None = None
    recommended: bool = False  # taken by name as recommended ("2: recommended")


class ItemError(Model):
    """Why something said on an item counts for nothing. `item` is "3", "5-9", "1a" or "?"."""

    item: str
    code: Code
    message: str  # for the person: what was wrong and what to do


class Proposal(Model):
    """One reading that needs a yes before anything is recorded (RP-3, RP-8)."""

    kind: Literal["accept_all", "answers", "force_quit", "cancel", "put_off", "take_back"]
    answers: dict[int, ItemReading] = Field(default_factory=dict)  # for accept_all: explicit items that override
    numbers: tuple[
        int, ...
    ] = ()  # for accept_all: the questions meant, () = every unanswered one; for take_back: whose
    until: str | None = None  # put_off: the words that name the time, verbatim
    label: str = ""  # short words for a button, e.g. "Question 2" or "Option B"


class Reading(Model):
    """The meaning of one message. `answers` are certain; `proposals` are not and record nothing."""

    kind: Kind
    answers: dict[int, ItemReading] = Field(default_factory=dict)
    accepted: tuple[int, ...] = ()  # questions whose recommendation is accepted in bulk (CA-3)
    errors: tuple[ItemError, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    note: str | None = None  # a remark or request outside the items that must be kept
    correction: bool = False  # the person marked it as a change ("change 2 to C", "EDIT:", "I meant")
    asked_about: tuple[int, ...] = ()  # question_back: the questions meant, () = the round
    delegation: bool = False  # accept_all through "you decide" (RP-3: safe defaults only, one-tap Undo)
    until: str | None = None  # put_off: the words that name the time, verbatim
    named: str | None = None  # hand_over: the person named, verbatim
    shaped: bool = False  # answer-shaped: grammar used the whole message; counts in a shared place (RP-7)
