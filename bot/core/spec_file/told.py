"""What a file tells, once it has been read."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from bot.core.model import Model, Option
from bot.core.spec import Decision, Signal

Code = Literal[
    "not_a_specification",  # no such document, or one of its parts is none
    "other_form",  # of another version of the format
    "missing",  # a text that has to be there
    "wrong_type",
    "no_tier",
    "no_phase",
    "no_round",
    "no_trigger",
    "illegal_via",  # chosen in a way in which no person chooses
    "no_person",  # answered by nobody
    "no_message",  # the proof names no message of a person
    "no_time",  # unreadable, or without a zone
    "future_time",
    "no_option",
    "nothing_chosen",
    "two_recommended",
    "duplicate_id",
    "no_audit",  # the file's own audit log does not have it, or has it otherwise
    "scope_incomplete",  # locked without one of its four inputs
    "scope_contradicts",  # locked otherwise than its answers and changes say
    "status_contradicts",
]


class Mistake(Model):
    """`path` in the file, a stable code, and what is wrong and what to do."""

    path: str
    code: Code
    message: str

    def line(self) -> str:
        """On one line; no path holds ": "."""
        return f"{self.path}: {self.code}: {' '.join(self.message.split())}"


class Told(Model):
    """One clarification as the file tells it. `run_round` counts the session's rounds over all phases."""

    id: str
    phase: int
    round: int
    run_round: int | None
    trigger: Literal["intake", "ambiguity", "loopback"]
    question: str
    topic: str
    why_it_matters: str
    options: tuple[Option, ...]
    recommendation_rationale: str | None
    chosen: str | None
    chosen_text: str | None
    chosen_via: Literal["user_response", "accept_recommendations_bulk"]
    chosen_at: datetime
    user_message_ref: str
    user_note: str | None
    answered_by: str
    field: str
    artefact: str
    stakes: Literal["critical", "minor"]


class ToldChange(Model):
    """A deliberate change of the scope. `after_round`: how many rounds there had been."""

    at_phase: int
    field: str
    was: str
    to: str
    rationale: str
    by: str
    user_message_ref: str
    at: datetime
    after_round: int | None


class ToldLock(Model):
    complexity_tier: int
    scope_summary: str
    in_scope: tuple[str, ...]
    out_of_scope: tuple[str, ...]
    surface_count: int
    comparator_count: int
    reconfirmed_by: str | None  # with `reconfirmed_ref`, or None: the file only claims it, and it is asked again
    reconfirmed_ref: str | None
    changes: tuple[ToldChange, ...]
    claimed: dict[str, str]


class ToldAct(Model):
    """What the file says that a person did with an open point."""

    kind: Literal["resolved", "moved", "reopened"]
    words: str
    to: int | None = None
    by: str
    user_message_ref: str


class ToldPoint(Model):
    id: str
    phase: int
    text: str
    words: str
    raised_by: str
    user_message_ref: str
    status: Literal["open", "resolved"] = "open"
    acts: tuple[ToldAct, ...] = ()


class ToldRun(Model):
    """How often a phase was begun, and the first round of the last time (`Told.run_round`).

    `carried`: a person went on with open points in it.
    """

    run: int = 1
    since: int | None = None
    carried: bool = False


class Document(Model):
    """A file that can be read in.

    `done` are the phases that it says are approved and whose answers it holds: a phase that it only claims to be
    approved is asked again. `proven`: it has an audit log, by which its answers were held.
    """

    proven: bool

    name: str
    tier: int | None
    request: str
    phase: int
    requester: str
    requester_name: str
    clarifications: tuple[Told, ...]
    lock: ToldLock | None
    done: tuple[int, ...]
    runs: dict[int, ToldRun]
    unanswered: dict[int, tuple[str, ...]]  # phase -> questions of its last run that were asked and not resolved
    settled: tuple[dict[str, str], ...]
    inherited: tuple[Decision, ...]
    signals: tuple[Signal, ...]  # that agents had raised
    notes: tuple[tuple[int, Signal], ...]  # phase, and the minor signal that was passed over in it
    open_points: tuple[ToldPoint, ...]
    earlier_requests: tuple[str, ...]
    incidents: int
    escalated: bool  # the present phase waits for one of the ways out of an escalation
    was: str | None  # the session that it was exported from
