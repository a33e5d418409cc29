"""A specification as one JSON document under the source format's names, and as Markdown (CA-1, CA-5, AU-1).

What the state of the session holds is exported from here; the audit log, which only the store has, is put in by the
command. `bot.core.spec_file` reads the document back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from bot.core import document_view, view
from bot.core.capture import decision, iso, reference, round_result
from bot.core.effects import File, Message
from bot.core.gate import Gate
from bot.core.slots import rounds_of, spec_of
from bot.core.spec import PHASES, TIERS, Lock, Phase, Spec
from bot.core.spec_evidence import gate_of
from bot.core.state import Round, Session

FORM: Final = "2.0.0"  # of the source's format
MADE_BY: Final = "askfirst"


def spec_state(
    session: Session, surface: str, audit_log: Sequence[Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """The document. `audit_log`: the entries of the session's chain, where whoever calls has them."""
    spec = spec_of(session)
    return {
        "schema_version": FORM,
        "made_by": MADE_BY,
        "meta": _meta(session, spec),
        "scope_lock": _lock(spec.lock),
        "phase": _phase(session, spec),
        "gates": {f"phase_{p.number}": _gate(session, p, surface) for p in PHASES},
        "artifacts": {},
        "context": _context(session, spec, surface),
        "audit_log": list(audit_log or ()),
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def _meta(session: Session, spec: Spec) -> dict[str, Any]:
    tier = None if spec.tier is None else f"Tier {spec.tier} — {TIERS[spec.tier]}"
    return {
        "feature_name": spec.name,
        "complexity_tier": tier,
        "related_specs": [spec.parent] if spec.parent else [],
        "session": session.id,
        "requester": session.requester.id,
        "requester_name": session.requester.name,
        "request": session.request.text,
        "request_ref": reference(session.request.ref),
        "started_at": iso(session.started_at),
    }


def _lock(lock: Lock) -> dict[str, Any]:
    return {
        "locked": lock.locked,
        "locked_at": _time(lock.locked_at),
        "complexity_tier": lock.complexity_tier if lock.locked else None,
        "scope_summary": lock.scope_summary,
        "in_scope": list(lock.in_scope),
        "out_of_scope": list(lock.out_of_scope),
        "surface_count": lock.surface_count if lock.locked else None,
        "comparator_count": lock.comparator_count if lock.locked else None,
        "reconfirmed_at_phase_3": lock.reconfirmed_at is not None,
        "reconfirmed_at": _time(lock.reconfirmed_at),
        "reconfirmed_by": lock.reconfirmed_by,
        "reconfirmed_ref": lock.reconfirmed_ref,
        "changes": [
            {
                "at_phase": c.at_phase,
                "field": c.field,
                "from": c.was,
                "to": c.to,
                "rationale": c.rationale,
                "at": iso(c.at),
                "by": c.by,
                "user_message_ref": c.user_message_ref,
                "after_round": c.rounds,
                **({} if c.claimed_at is None else {"imported": True, "claimed_at": iso(c.claimed_at)}),
            }
            for c in lock.changes
        ],
    }


def _phase(session: Session, spec: Spec) -> dict[str, Any]:
    stage = session.stage
    how = stage.how if stage.kind == "ended" else None
    running = {None: "active", "completed": "complete", "cancelled": "abandoned", "replaced": "abandoned"}[how]
    return {
        "current": spec.phase,
        "sub_phase": stage.waits if stage.kind == "between" else stage.kind,
        "status": spec.present.status if spec.runs else "not_started",
        "run_status": running,
        "history": [
            {
                "phase": r.phase,
                "run": r.run,
                "status": r.status,
                "started_at": iso(r.started_at),
                "completed_at": _time(r.completed_at),
            }
            for r in spec.runs
        ],
    }


def _gate(session: Session, shown: Phase, surface: str) -> dict[str, Any]:
    """CA-5: the counts of the phase, and each round's result. A phase done again counts on; its gate looks at the
    present run alone (CA-6), whose first round is `run_since`."""
    spec = spec_of(session)
    run = spec.run(shown.number)
    rounds = rounds_of(session, shown.number, whole=True) if run is not None else ()
    gate: Gate = gate_of(session, shown.number)
    status = "pending" if run is None else "approved" if run.status == "completed" else "in_review"
    items = [item for round_ in rounds for item in round_.items]
    return {
        "status": status,
        "approved_at": _time(run.completed_at) if run else None,
        "open": gate.open,
        "violations": [v.model_dump(exclude_none=True) for v in gate.violations],
        "intake_clarifications": {
            "rounds_completed": sum(1 for r in rounds if r.closed_at is not None),
            "questions_asked": len(items),
            "questions_resolved": sum(1 for i in items if i.status == "resolved"),
            "bulk_accept_used": any(r.bulk_used for r in rounds),
            "escalated": bool(run and (run.escalated or run.escalated_before)),
        },
        "run": run.run if run else 0,
        "run_since": run.since if run else None,
        "carried_on": bool(run and run.carried),
        "rounds": [_round(session, r, surface) for r in rounds],
    }


def _round(session: Session, round_: Round, surface: str) -> dict[str, Any]:
    made = round_result(session, round_, surface)
    made["run_round"] = round_.number
    made["clarifications"] = [entry["id"] for entry in made["clarifications"]]
    made["questions"] = [i.question.id for i in round_.items if i.status != "withdrawn"]
    made["withdrawn"] = [i.question.id for i in round_.items if i.status == "withdrawn"]
    made["signals"] = [s.model_dump(exclude={"fill"}) for s in round_.signals]
    made["opened_at"], made["closed_at"] = iso(round_.opened_at), _time(round_.closed_at)
    return made


def _context(session: Session, spec: Spec, surface: str) -> dict[str, Any]:
    return {
        "clarifications": [
            _clarified(session, round_, surface, number)
            for round_ in session.rounds
            for number, item in enumerate(round_.items)
            if item.status == "resolved" and item.answer is not None
        ],
        "settled": [s.model_dump(exclude_none=True) for s in session.settled],
        "deferred_questions": [
            d.model_dump(exclude={"later"}, exclude_none=True) for d in session.dropped if d.later
        ],
        "dropped_questions": [
            d.model_dump(exclude={"later"}, exclude_none=True) for d in session.dropped if not d.later
        ],
        "injection_incidents": spec.incidents,
        "earlier_requests": list(spec.earlier_requests),
        "inherited": [d.model_dump() for d in spec.inherited],
        "signals": [s.model_dump(exclude={"fill"}) for s in spec.signals],
        "ambiguity_notes": [
            {"phase": n.phase, "noted_at": iso(n.at), **n.signal.model_dump(exclude={"fill"})}
            for n in spec.ambiguity_notes
        ],
        "open_questions": [
            {
                "id": p.id,
                "text": p.text,
                "status": p.status,
                "phase_ref": p.phase,
                "raised_at": iso(p.raised_at),
                "raised_by": p.raised_by,
                "words": p.words,
                "user_message_ref": p.user_message_ref,
                "resolution": p.resolution.words if p.resolution else None,
                "resolved_at": iso(p.resolution.at) if p.resolution else None,
                "acts": [{**a.model_dump(exclude={"at"}, exclude_none=True), "at": iso(a.at)} for a in p.acts],
            }
            for p in spec.open_points
        ],
    }


def _clarified(session: Session, round_: Round, surface: str, number: int) -> dict[str, Any]:
    """CA-1's names, and beside them what an import needs to put the answer back: question, field and value."""
    item = round_.items[number]
    assert item.answer is not None
    made = decision(session, round_, item, surface)
    value = next((o.value for o in item.question.options if o.key == item.answer.chosen), None)
    claimed = item.answer.claimed_at
    return {
        **made,
        **({} if claimed is None else {"imported": True, "claimed_at": iso(claimed)}),
        "run_round": round_.number,
        "question": item.question.id,
        "field": item.question.field,
        "artefact": item.question.artefact,
        "stakes": item.question.stakes,
        "value": value,
    }


# -- for people ----------------------------------------------------------------------------------------------------


def markdown(state: Mapping[str, Any]) -> str:
    """The record for people. Text from people is quoted or on one line, so that it formats nothing."""
    meta, lock = state["meta"], state["scope_lock"]
    lines = [f"# Spec: {_line(meta['feature_name'])}", "", f"Tier: {meta['complexity_tier'] or 'not set'}", ""]
    lines += ["## Request", "", *(f"> {line}" for line in meta["request"].splitlines() or [""]), ""]
    lines += ["## Scope", ""]
    if lock["locked"]:
        lines += [
            f"- Locked {lock['locked_at']}; confirmed again: {lock['reconfirmed_at'] or 'no'}",
            f"- Surfaces: {lock['surface_count']}; comparators: {lock['comparator_count']}",
            f"- In: {_line('; '.join(lock['in_scope'])) or '–'}",
            f"- Out: {_line('; '.join(lock['out_of_scope'])) or '–'}",
        ]
        lines += [
            f"- Changed in phase {c['at_phase']}: {c['field']}, {_line(c['from'])} → {_line(c['to'])} "
            f"(“{_line(c['rationale'])}”, {c['by']})"
            for c in lock["changes"]
        ]
    else:
        lines.append("Not locked.")
    for shown in PHASES:
        lines += _phase_lines(state, shown)
    kinds: tuple[tuple[str, str, Callable[[Mapping[str, Any]], str]], ...] = (
        ("Open points", "open_questions", _point_words),
        ("Noted, not asked", "ambiguity_notes", lambda e: f"phase {e['phase']}: {e['said']}"),
        ("Left for later", "deferred_questions", lambda e: f"phase {e['phase']}: {e['topic']}"),
    )
    for heading, key, words in kinds:
        rows = state["context"][key]
        if rows:
            lines += ["", f"## {heading}", "", *(f"- {_line(words(entry))}" for entry in rows)]
    return "\n".join(lines) + "\n"


def _point_words(entry: Mapping[str, Any]) -> str:
    done = f"; settled: “{entry['resolution']}” ({entry['acts'][-1]['by']})" if entry["resolution"] else ""
    return f"{entry['id']}: {entry['text']} — “{entry['words']}” ({entry['raised_by']}){done}"


def _phase_lines(state: Mapping[str, Any], shown: Phase) -> list[str]:
    gate = state["gates"][f"phase_{shown.number}"]
    context = state["context"]
    lines = ["", f"## Phase {shown.number}: {shown.name} ({gate['status'].replace('_', ' ')})", ""]
    for entry in context["clarifications"]:
        if entry["phase"] == shown.number:
            lines.append(f"- **{_line(entry['topic'])}**: {document_view.decision_words(entry)}")
            lines.append(f"  - {entry['chosen_via']}, {entry['answered_by']}, {entry['chosen_at']}")
            lines.append(f"  - {_line(entry['user_message_ref'])}")
    lines += [
        f"- {_line(s['topic'])}: {_line(s['value'])} (settled: {_line(s['source'])})"
        for s in context["settled"]
        if s.get("phase") == shown.number
    ]
    return lines if len(lines) > 3 else [*lines, "Nothing decided."]


def _line(words: str) -> str:
    return " ".join(str(words).split())


def message(session: Session, surface: str, words: str) -> Message:
    """A few words and the documents: the state, and the same for people."""
    state = spec_state(session, surface)
    return Message(
        blocks=(view.text(words),),
        files=(
            File(name=f"{session.id}.spec.md", media="text/markdown", content=markdown(state)),
            File(
                name=f"{session.id}.spec.json",
                media="application/json",
                content=json.dumps(state, ensure_ascii=False),
            ),
        ),
    )
