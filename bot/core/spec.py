"""A specification in seven phases, as data: tiers, phases, the locked scope, open points (SP-1, SC-3, RD-4).

What is decided in a phase are the clarifications of its rounds; here is only what stands beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field

from bot.core.model import Model, PersonId
from bot.core.patterns import regex

TIERS: Final[Mapping[int, str]] = {1: "full", 2: "standard", 3: "incremental"}
USUAL_TIER: Final = 2  # when no tier is known (RD-4)
FEWEST_COMPARATORS: Final[Mapping[int, int]] = {1: 3, 2: 3, 3: 2}  # SC-3
FIRST, LOCKED_IN, CONFIRMED_IN, LAST = 1, 1, 3, 7  # phases: the scope is locked in 1 and confirmed again in 3

PAUSE_AT: Final = 2  # points at which a phase pauses to ask (SC-1)
ESCALATE_AT: Final = 4  # points at which asking is not enough (SC-1, RD-7)


class Phase(Model):
    """`artefact` is what the phase makes, and what its gate holds back; `bank` the playbook of its questions.

    `many`: its name is a plural.
    """

    number: int
    name: str
    artefact: str
    many: bool = False

    @property
    def bank(self) -> str:
        return f"spec/phase-{self.number}"

    @property
    def waits(self) -> str:
        """ "the prototype waits", "the user flows wait"."""
        return f"the {self.artefact} {'wait' if self.many else 'waits'}"


PHASES: Final[tuple[Phase, ...]] = (
    Phase(number=1, name="discovery", artefact="problem statement"),
    Phase(number=2, name="research", artefact="research report"),
    Phase(number=3, name="PRD", artefact="requirements document"),
    Phase(number=4, name="ideation", artefact="compared approaches", many=True),
    Phase(number=5, name="flows", artefact="user flows", many=True),
    Phase(number=6, name="prototype", artefact="prototype"),
    Phase(number=7, name="spec", artefact="specification"),
)
SIGNALS_BANK: Final = "spec/signals"  # how each kind of ambiguity signal is asked about

COMMAND = regex(r"\s*[/!]\w[\w-]*(?:@\w+)?\s*")


def brief(text: str) -> str:
    """What is to be specified, without the command in front of it."""
    return text[hit.end() :].strip() if (hit := COMMAND.match(text)) is not None else text.strip()


CARRIED: Final = "Carried on as an open point, on a person's word."  # why a question is not asked (RD-7)

# The fields of the locked scope that a person can change, and how they are called in chat.
SCOPE_FIELDS: Final[Mapping[str, str]] = {
    "complexity_tier": "tier",
    "surface_count": "surfaces",
    "comparator_count": "comparators",
    "in_scope": "in scope",
    "out_of_scope": "out of scope",
}


# What these lists know. A state of a newer program, whose lists are longer, is refused as a whole (`PolicyName`).
TierNumber = Annotated[int, Field(ge=min(TIERS), le=max(TIERS))]
PhaseNumber = Annotated[int, Field(ge=FIRST, le=LAST)]
ScopeField = Annotated[str, Field(pattern=f"^({'|'.join(SCOPE_FIELDS)})$")]


def phase(number: int) -> Phase:
    return PHASES[number - 1]


def tier_words(tier: int) -> str:
    return f"{tier} ({TIERS[tier]})"


class Change(Model):
    """A deliberate change of the locked scope (SC-3). `was` and `to` are exported as `from` and `to`."""

    at_phase: PhaseNumber
    field: ScopeField
    was: str
    to: str
    rationale: str
    at: datetime
    by: PersonId
    user_message_ref: str
    claimed_at: datetime | None = None  # of an imported change: the time that the file claims (AU-1)
    rounds: int = 0  # how many rounds the session had by then: their answers may rest on what has changed


class Lock(Model):
    """What the specification covers. `locked_at` None = not locked yet."""

    locked_at: datetime | None = None
    complexity_tier: TierNumber = USUAL_TIER
    scope_summary: str = ""
    in_scope: tuple[str, ...] = ()
    out_of_scope: tuple[str, ...] = ()
    surface_count: int = 0
    comparator_count: int = 0
    reconfirmed_at: datetime | None = None
    reconfirmed_by: PersonId | None = None
    reconfirmed_ref: str | None = None  # the message of that "y"
    changes: tuple[Change, ...] = ()

    @property
    def locked(self) -> bool:
        return self.locked_at is not None


class Signal(Model):
    """One sign that the work rests on something unclear, with its evidence (SC-1, SC-2).

    `id` is the same for the same sign; `question` names the question that asks about it, `fill` its blanks.
    `source` is "detector", "agent:<name>" or "model:<name>".
    """

    id: str
    kind: str
    level: Literal["critical", "minor"]
    said: str
    evidence: str
    source: str = "detector"
    field: str = ""
    question: str = ""
    fill: dict[str, str] = {}

    @property
    def points(self) -> int:
        return 2 if self.level == "critical" else 1


class Note(Model):
    """A minor signal that was passed over, with the phase in which it was (SC-1)."""

    phase: int
    signal: Signal
    at: datetime


class PointAct(Model):
    """What a person did with an open point: settled it, handed it to phase `to`, or opened it again."""

    kind: Literal["resolved", "moved", "reopened"]
    words: str
    to: int | None = None
    at: datetime
    by: PersonId
    user_message_ref: str


class OpenPoint(Model):
    """Something carried on undecided, on a person's word (RD-7). `id` as in the source: V-001.

    It decides nothing, and neither does settling it: it is no clarification.
    """

    id: str
    phase: int  # in which it was raised
    text: str
    words: str
    raised_at: datetime
    raised_by: PersonId
    user_message_ref: str
    status: Literal["open", "resolved"] = "open"
    acts: tuple[PointAct, ...] = ()

    @property
    def due(self) -> int:
        """The phase in which it has to be settled: where it was raised, or handed to."""
        return next((a.to for a in reversed(self.acts) if a.to is not None), self.phase)

    @property
    def resolution(self) -> PointAct | None:
        return self.acts[-1] if self.acts and self.status == "resolved" else None


class Run(Model):
    """One phase of the specification. A repeated phase is the same entry with the next `run`.

    `since` is the number of the session's first round in the present run.
    """

    phase: PhaseNumber
    status: Literal["started", "completed"] = "started"
    run: int = 1
    since: int = 1
    started_at: datetime
    completed_at: datetime | None = None
    confirmed: bool = False  # its settled points have their "y" (RD-5)
    escalated: bool = False  # an escalation was raised in this run
    escalated_before: bool = False  # or in an earlier one
    carried: bool = False  # a person went on with named open points (RD-7)
    doubted: tuple[str, ...] = ()  # questions whose settled answer a person rejected: they are asked


class Decision(Model):
    """What a parent specification decided (RD-5): known here, and not asked again."""

    field: str
    value: str
    words: str
    source: str


class Spec(Model):
    """What stands beside the rounds of a specification."""

    name: str
    tier: TierNumber | None = None
    tier_at: datetime | None = None  # when a person's /tier set it; None = an answer did
    phase: PhaseNumber = FIRST
    runs: tuple[Run, ...] = ()
    lock: Lock = Lock()
    parent: str | None = None
    inherited: tuple[Decision, ...] = ()
    signals: tuple[Signal, ...] = ()  # raised by agents or a model
    ambiguity_notes: tuple[Note, ...] = ()
    open_points: tuple[OpenPoint, ...] = ()
    incidents: int = 0
    earlier_requests: tuple[str, ...] = ()  # the words that a revised request took the place of

    @property
    def working_tier(self) -> int:
        return self.tier or USUAL_TIER

    def run(self, number: int) -> Run | None:
        return next((r for r in self.runs if r.phase == number), None)

    @property
    def present(self) -> Run:
        found = self.run(self.phase)
        assert found is not None
        return found

    def with_run(self, run: Run) -> Spec:
        others = [r for r in self.runs if r.phase != run.phase]
        return self.model_copy(update={"runs": tuple(sorted((*others, run), key=lambda r: r.phase))})
