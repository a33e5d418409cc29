"""May the artefact of a phase be made? Two stages: a round was surfaced; every item of it has evidence (CA-6).

Pure, over plain values: the chat asks about a session in memory (`of_session`), the command and programs about what
was stored (`of_record`), an import about what a file claims. Evidence of one phase never serves another's gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, get_args

from bot.core.model import Model, Via
from bot.core.spec import CONFIRMED_IN, LAST, LOCKED_IN, phase

VIAS: Final = get_args(Via)
# Entries that tie a clarification to the person's act.
TIES: Final = ("clarification_resolved", "answer.replaced", "answer.amended", "answer.message_deleted")


class Violation(Model):
    """One reason why the gate is closed. `code` is stable; `message` says what to do."""

    code: str
    message: str
    question: str | None = None


class Asked(Model):
    """One question of a surfaced round and what answers it, as far as anything does."""

    question: str
    topic: str = ""
    clarification: str | None = None
    chosen_via: str | None = None
    user_message_ref: str | None = None
    audited: bool = False  # an entry names this clarification, and the same way of choosing


class Surfaced(Model):
    """One surfaced round of the phase's present run. `confirmed`: its "y", where it holds no question (RD-5)."""

    round: int
    asked: tuple[Asked, ...] = ()
    confirmed: bool = False


class Evidence(Model):
    """All that a gate looks at. `bulk`: recommendations of the phase were accepted in bulk."""

    phase: int
    rounds: tuple[Surfaced, ...] = ()
    bulk: bool = False
    scope_locked: bool = False
    missing: tuple[str, ...] = ()  # what keeps the scope from being locked, where that is known
    reconfirmed: bool = False
    escalated: bool = False  # an escalation waits for one of its ways out


class Gate(Model):
    """What the check says. Shape of the command's JSON (`as_json`)."""

    session: str
    phase: int
    violations: tuple[Violation, ...] = ()

    @property
    def open(self) -> bool:
        return not self.violations

    def as_json(self) -> dict[str, Any]:
        listed = [v.model_dump(exclude_none=True) for v in self.violations]
        return {"session": self.session, "phase": self.phase, "open": self.open, "violations": listed}


def check(session: str, evidence: Evidence) -> Gate:
    """Every violation at once, in the order in which they are to be dealt with."""
    number = evidence.phase
    found: list[Violation] = []
    if not evidence.rounds and not evidence.bulk:
        text = f"Phase {number} has not asked anything yet: its round has to be put to a person, at every tier."
        found.append(Violation(code="no_round", message=text))
    for round_ in evidence.rounds:
        if not round_.asked and not round_.confirmed:
            text = "What the phase takes as settled waits for a person's “y”."
            found.append(Violation(code="not_confirmed", message=text))
        for item in round_.asked:
            found += _item(item)
    if evidence.escalated:
        text = "The phase was escalated; a person has to choose how it goes on."
        found.append(Violation(code="escalated", message=text))
    if number == LOCKED_IN and not evidence.scope_locked:
        why = "; ".join(evidence.missing) or "tier, what is in and out, surfaces and comparators have to be decided"
        text = f"The scope is not locked: {why}."
        found.append(Violation(code="scope_not_locked", message=text))
    if number == CONFIRMED_IN and not evidence.reconfirmed:
        text = "The locked scope has not been confirmed again in this phase."
        found.append(Violation(code="scope_not_reconfirmed", message=text))
    return Gate(session=session, phase=number, violations=tuple(found))


def _item(item: Asked) -> Iterable[Violation]:
    def violation(code: str, text: str) -> Violation:
        return Violation(code=code, question=item.question, message=f"{item.topic or item.question}: {text}")

    if item.clarification is None:
        yield violation("unanswered", "no person has answered it.")
        return
    if item.chosen_via not in VIAS:
        said = item.chosen_via or "nothing"
        yield violation("illegal_via", f"chosen by “{said}”; only a person's answer counts.")
    if not (item.user_message_ref or "").strip():
        yield violation("no_message", "no message of a person is named as proof.")
    if not item.audited:
        yield violation("no_audit", "the audit log has no entry of that answer.")


# -- what was stored ---------------------------------------------------------------------------------------------


class NoSuchPhase(ValueError):
    """The number names no phase. The message says which there are."""


def phase_number(number: int) -> int:
    if not 1 <= number <= LAST:
        listed = ", ".join(f"{n} {phase(n).name}" for n in range(1, LAST + 1))
        raise NoSuchPhase(f"there is no phase {number}; the phases are {listed}")
    return number


def of_record(record: Mapping[str, Any], number: int) -> Evidence:
    """The evidence in a stored session, as `storage.readers.session_record` gives it: its clarifications and audit.

    Of a phase that was done again only the last run counts.
    """
    audit: Sequence[Mapping[str, Any]] = record["audit"]
    start = max(
        (n for n, e in enumerate(audit) if e["phase"] == number and e["event"] in ("phase_started", "phase_rerun")),
        default=0,
    )
    rows = {row["id"]: row for row in record["clarifications"] if row["phase"] == number}
    ties: dict[tuple[int, str], str] = {}  # (round, question) -> clarification
    vias: dict[str, str] = {}
    rounds: dict[int, list[str]] = {}
    topics: dict[str, str] = {}
    confirmed: set[int] = set()
    locked = reconfirmed = escalated = bulk = False
    for place, entry in enumerate(audit):
        details: Mapping[str, Any] = entry["details"] or {}
        if entry["event"] == "scope_locked":
            locked = locked or not details.get("reconfirmed")
            reconfirmed = reconfirmed or (bool(details.get("reconfirmed")) and place >= start)
        if entry["event"] == "scope_change" and details.get("field") == "locked":
            locked = reconfirmed = False
        if entry["phase"] != number or place < start:
            continue
        match entry["event"]:
            case "intake_round":
                rounds[details["round"]] = list(details.get("questions", ()))
                topics |= details.get("topics", {})
            case "round.withdrawn":
                left = set(rounds.get(details["round"], ())) - set(details["questions"])
                rounds[details["round"]] = [q for q in rounds.get(details["round"], ()) if q in left]
                if not left:  # it proves nothing, and holds nothing back
                    del rounds[details["round"]]
            case "round.closed":
                if details.get("confirmed"):
                    confirmed.add(details["round"])
            case "bulk_accept_recommended":
                bulk = True
            case "clarification_escalation":
                escalated = details.get("way") in (None, "revise")  # until the revised request starts it over
            case event if event in TIES and details.get("clarification_id"):
                row = rows.get(details["clarification_id"])
                if row is not None:
                    ties[row["round"], details["question"]] = row["id"]
                    vias[row["id"]] = details.get("chosen_via", "")
            case "answer.withdrawn":
                ties = {key: name for key, name in ties.items() if name != details.get("clarification_id")}
    return Evidence(
        phase=number,
        rounds=tuple(
            Surfaced(
                round=nth,
                asked=tuple(_asked(q, topics, rows, ties.get((nth, q)), vias) for q in questions),
                confirmed=nth in confirmed,
            )
            for nth, questions in sorted(rounds.items())
        ),
        bulk=bulk,
        scope_locked=locked,
        reconfirmed=reconfirmed,
        escalated=escalated,
    )


def _asked(
    question: str,
    topics: Mapping[str, str],
    rows: Mapping[str, Mapping[str, Any]],
    name: str | None,
    vias: Mapping[str, str],
) -> Asked:
    row = rows.get(name) if name is not None else None
    if row is None or name is None:
        return Asked(question=question, topic=topics.get(question, ""))
    return Asked(
        question=question,
        topic=row["topic"],
        clarification=name,
        chosen_via=row["chosen_via"],
        user_message_ref=row["user_message_ref"],
        audited=vias.get(name) == row["chosen_via"],
    )
