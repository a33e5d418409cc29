"""The document as a whole: its parts, and what they say of the phases together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bot.core.score import LEVELS, BadSignal, of_agent
from bot.core.spec import CONFIRMED_IN, FIRST, LAST, LOCKED_IN, Decision, Signal
from bot.core.spec_file.clarifications import read_clarifications
from bot.core.spec_file.fields import Fields
from bot.core.spec_file.points import read_points
from bot.core.spec_file.scope import read_lock
from bot.core.spec_file.told import Document, Mistake, Told, ToldLock, ToldRun
from bot.core.spec_record import FORM


def read(data: object, now: datetime) -> Document | list[Mistake]:
    """The document, or everything that is wrong with it."""
    fields = Fields(now)
    found = _document(fields, data)
    return fields.mistakes if fields.mistakes or found is None else found


def proven(data: Mapping[str, Any]) -> bool:
    """Whether the file has an audit log, by which its answers are held (CA-6)."""
    return bool(_listed(data.get("audit_log")))


def _document(fields: Fields, data: object) -> Document | None:
    if not isinstance(data, Mapping):
        told = "this is no specification: an object with meta, scope_lock, gates and context"
        fields.wrong("", "not_a_specification", told)
        return None
    if data.get("schema_version") != FORM:
        said = data.get("schema_version")
        fields.wrong(
            "schema_version", "other_form", f"this is form {said!r}; form {FORM} can be read. Export it anew."
        )
        return None
    meta, context, gates = (fields.part(data, key) for key in ("meta", "context", "gates"))
    answers = read_clarifications(fields, context, data.get("audit_log"))
    runs = {n: run for n in range(1, LAST + 1) if (run := _run(gates, n)) is not None}
    left, answered = _unanswered(gates, answers, runs, _asked(data.get("audit_log"))), {t.phase for t in answers}
    lock = read_lock(fields, fields.part(data, "scope_lock"))
    held_back = set(left)
    if lock is None:  # what locks the scope is not done without the lock
        held_back.add(LOCKED_IN)
    if (
        lock is None or lock.reconfirmed_ref is None
    ):  # the phase that confirms the scope is not done without it (SC-3)
        held_back.add(CONFIRMED_IN)
    count = context.get("injection_incidents", 0)
    phase = _phase(fields.phase(fields.part(data, "phase").get("current", 1), "phase.current"), lock)
    return Document(
        proven=not answers or proven(data),
        name=fields.text(meta, "meta.feature_name"),
        tier=fields.tier(meta.get("complexity_tier"), "meta.complexity_tier"),
        request=fields.text(meta, "meta.request", empty=True),
        phase=phase,
        requester=fields.text(meta, "meta.requester"),
        requester_name=fields.text(meta, "meta.requester_name", empty=True),
        clarifications=answers,
        lock=lock,
        done=tuple(n for n in range(1, LAST + 1) if _approved(gates, n) and n in answered and n not in held_back),
        runs=runs,
        unanswered=left,
        settled=_settled(fields, context),
        inherited=_inherited(fields, context),
        signals=tuple(signal for _, signal in _signals(fields, context, "context.signals")),
        notes=_signals(fields, context, "context.ambiguity_notes"),
        open_points=read_points(fields, context),
        earlier_requests=fields.texts(context, "context.earlier_requests"),
        incidents=count if isinstance(count, int) and count > 0 else 0,
        escalated=_escalated(gates, phase, data.get("audit_log")),
        was=meta.get("session") if isinstance(meta.get("session"), str) else None,
    )


# -- phases ----------------------------------------------------------------------------------------------------------


def _gate(gates: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    value = gates.get(f"phase_{number}", {})
    return value if isinstance(value, Mapping) else {}


def _approved(gates: Mapping[str, Any], number: int) -> bool:
    return _gate(gates, number).get("status") == "approved"


def _escalated(gates: Mapping[str, Any], number: int | None, log: object) -> bool:
    """Told by the phase's gate, or by the file's own log, in which a way out has to follow (RD-7)."""
    told = [v for v in _listed(_gate(gates, number or 1).get("violations")) if isinstance(v, Mapping)]
    closed = any(violation.get("code") == "escalated" for violation in told)
    rows = [row for row in _listed(log) if isinstance(row, Mapping) and row.get("phase") == number]
    ways = [row.get("details") for row in rows if row.get("event") == "clarification_escalation"]
    details = ways[-1] if ways else None
    return closed or (isinstance(details, Mapping) and details.get("way") in (None, "revise"))


def _run(gates: Mapping[str, Any], number: int) -> ToldRun | None:
    run, since = (_gate(gates, number).get(key) for key in ("run", "run_since"))
    if not isinstance(run, int) or isinstance(run, bool) or run < 1:
        return None
    carried = _gate(gates, number).get("carried_on") is True
    return ToldRun(run=run, since=since if isinstance(since, int) else None, carried=carried)


def _unanswered(
    gates: Mapping[str, Any], told: Sequence[Told], runs: Mapping[int, ToldRun], logged: Mapping[int, Sequence[str]]
) -> dict[int, tuple[str, ...]]:
    """What a phase's last run has asked and nobody has answered: it is asked again (CA-6)."""
    left: dict[int, tuple[str, ...]] = {}
    for number in range(1, LAST + 1):
        since = runs[number].since if number in runs else None
        missing: list[str] = []
        for row in _listed(_gate(gates, number).get("rounds")):
            nth = row.get("run_round") if isinstance(row, Mapping) else None
            if not isinstance(row, Mapping) or (isinstance(nth, int) and since is not None and nth < since):
                continue
            here = {t.question for t in told if t.phase == number and (nth is None or t.run_round in (None, nth))}
            missing += [q for q in _listed(row.get("questions")) if isinstance(q, str) and q not in here]
        here = {t.question for t in told if t.phase == number}
        missing += [q for q in logged.get(number, ()) if q not in here]
        if missing:
            left[number] = tuple(dict.fromkeys(missing))
    return left


def _asked(audit_log: object) -> dict[int, list[str]]:
    """What the file's own audit log says that each phase's last run has asked."""
    asked: dict[int, list[str]] = {}
    for entry in _listed(audit_log):
        number = entry.get("phase") if isinstance(entry, Mapping) else None
        if not isinstance(number, int):
            continue
        if entry.get("event") in ("phase_started", "phase_rerun"):
            asked[number] = []
        elif entry.get("event") == "intake_round" and isinstance(entry.get("details"), Mapping):
            questions = _listed(entry["details"].get("questions"))
            asked.setdefault(number, []).extend(q for q in questions if isinstance(q, str))
        elif entry.get("event") == "round.withdrawn" and isinstance(entry.get("details"), Mapping):
            gone = _listed(entry["details"].get("questions"))
            asked[number] = [q for q in asked.get(number, ()) if q not in gone]
    return asked


def _phase(current: int, lock: ToldLock | None) -> int:
    """Where it goes on: no later phase can begin before the scope is locked, and confirmed again (SC-3)."""
    if lock is None:
        return FIRST
    return min(current, CONFIRMED_IN) if lock.reconfirmed_ref is None else current


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


# -- what is known beside the answers --------------------------------------------------------------------------------


def _settled(fields: Fields, context: Mapping[str, Any]) -> tuple[dict[str, str], ...]:
    kept = []
    for row in fields.rows(context, "context.settled"):
        if isinstance(row, Mapping) and isinstance(row.get("phase"), int) and 1 <= row["phase"] <= LAST:
            texts = {k: v for k, v in row.items() if isinstance(v, str)}
            if {"question", "topic", "value", "source"} <= texts.keys():
                kept.append({**texts, "phase": str(row["phase"])})
    return tuple(kept)


def _inherited(fields: Fields, context: Mapping[str, Any]) -> tuple[Decision, ...]:
    keys = ("field", "value", "words", "source")
    return tuple(
        Decision(**{key: fields.text(row, f"context.inherited[{n}].{key}", empty=True) for key in keys})
        for n, row in enumerate(fields.rows(context, "context.inherited"))
        if isinstance(row, Mapping)
    )


def _signals(fields: Fields, context: Mapping[str, Any], path: str) -> tuple[tuple[int, Signal], ...]:
    """Signals, each with its phase where it has one. The same signal keeps its name."""
    kept: list[tuple[int, Signal]] = []
    for number, row in enumerate(fields.rows(context, path)):
        try:
            source = row.get("source", "detector") if isinstance(row, Mapping) else "detector"
            signal = of_agent(row, str(source))
        except BadSignal as error:
            fields.wrong(f"{path}[{number}]", "wrong_type", str(error))
            continue
        name = row.get("id")
        phase = row.get("phase")
        own = phase if isinstance(phase, int) and 1 <= phase <= LAST else 1
        update = {"level": row.get("level") if row.get("level") in set(LEVELS.values()) else signal.level}
        if isinstance(name, str) and name:
            update["id"] = name
        kept.append((own, signal.model_copy(update=update)))
    return tuple(kept)
