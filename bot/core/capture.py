"""From an answer to its clarification and audit rows (CA-1…CA-4, AU-2), and the document of a session (RT-15)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from bot.core.audit import human
from bot.core.effects import Audit, Clarification
from bot.core.model import Answer, MessageRef, Option
from bot.core.policies import POLICIES
from bot.core.state import Item, Round, Session

QUOTE = 120  # characters of a message kept as its quote; the whole text is in the event log


def quote(text: str) -> str:
    """The text on one line, cut at `QUOTE` characters with a mark."""
    line = " ".join(text.split())
    return line if len(line) <= QUOTE else line[: QUOTE - 1] + "…"


def reference(ref: MessageRef) -> str:
    """A reference as one line: the platform's id, the link where there is one, what was said or pressed (CA-2)."""
    if ref.verbatim is not None:
        return ref.verbatim
    act = f'{found_at(ref)}: "{ref.quote}"' if ref.card is None else f'{found_at(ref)}: pressed "{ref.quote}"'
    return act if ref.deleted_at is None else f"{act} (message deleted {iso(ref.deleted_at)})"


def found_at(ref: MessageRef) -> str:
    """Where somebody finds it again. The link of an act without a message is its card's."""
    act = ref.id if ref.link is None else f"{ref.id} <{ref.link}>"
    return act if ref.card is None else f"{act} on {ref.card}"


def confirmed(act: MessageRef, first: MessageRef) -> MessageRef:
    """The reference of a confirmed reading: the confirmation, quoting both messages."""
    quoted = f'{act.quote}", confirming {found_at(first)}: "{first.quote}'
    return act.model_copy(update={"quote": quoted, "confirms": first.id})


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def clarification_id(moment: datetime, counted: int) -> str:
    return f"clar-{moment.astimezone(UTC).date().isoformat()}-{counted:03d}"


def chosen_text(item: Item, answer: Answer) -> str | None:
    """The words of Other or of an open answer; a confirmed statement is its own words."""
    if answer.text is None and answer.chosen is None and item.question.form == "validate":
        return item.question.text
    return answer.text


def clarification(
    session: Session, round_: Round, item: Item, surface: str, *, platform_at: datetime | None = None
) -> Clarification:
    """The record of a resolved item; `platform_at` is the platform's time of the act that resolves it."""
    fields = _resolved(session, round_, item, surface)
    fields["question"], fields["platform_at"] = item.question.id, platform_at
    del fields["chosen_at"]  # the store stamps it
    return Clarification.made_of(fields)


def _resolved(session: Session, round_: Round, item: Item, surface: str) -> dict[str, Any]:
    """A resolved item under exactly the names of CA-1, then the product's own."""
    answer, question = item.answer, item.question
    assert answer is not None
    assert item.clarification is not None
    return {
        "id": item.clarification,
        "phase": round_.phase,
        "round": round_.nth or round_.number,
        "trigger": round_.trigger,
        "topic": question.topic,
        "why_it_matters": question.why,
        "options": question.options,
        "recommendation_rationale": question.rationale,
        "chosen": answer.chosen,
        "chosen_at": answer.at,
        "chosen_via": answer.via,
        "user_message_ref": reference(answer.ref),
        "user_note": answer.note,
        "chosen_text": chosen_text(item, answer),
        "answered_by": answer.by,
        "surface": surface,
        "protocol": POLICIES[session.policy].protocol,
        "session": session.id,
        "revision": item.revision,
    }


def audit_of(record: Clarification, event: str, details: dict[str, Any] | None = None) -> Audit:
    """The audit row of one clarification; `event` says whether it is new, replaced or amended."""
    return Audit(
        event=event,
        session=record.session,
        phase=record.phase,
        actor=human(record.answered_by),
        details={
            "clarification_id": record.id,
            "revision": record.revision,
            "question": record.question,
            "topic": record.topic,
            "chosen": record.chosen,
            "chosen_text": record.chosen_text,
            "chosen_via": record.chosen_via,
            "user_message_ref": record.user_message_ref,
            "user_note": record.user_note,
            **(details or {}),
        },
    )


# -- documents ---------------------------------------------------------------------------------------------------


def exported(record: Clarification, chosen_at: datetime) -> dict[str, Any]:
    """One clarification under exactly the names of CA-1, then the product's own."""
    fields = {**vars(record), "chosen_at": chosen_at}
    return _as_json({name: fields[name] for name in _NAMES})


_NAMES = (  # of `_resolved`, in its order
    *("id", "phase", "round", "trigger", "topic", "why_it_matters", "options", "recommendation_rationale", "chosen"),
    *("chosen_at", "chosen_via", "user_message_ref", "user_note", "chosen_text", "answered_by", "surface"),
    *("protocol", "session", "revision"),
)


def decision(session: Session, round_: Round, item: Item, surface: str) -> dict[str, Any]:
    """As `exported`, of a resolved item."""
    return _as_json(_resolved(session, round_, item, surface))


def _as_json(fields: dict[str, Any]) -> dict[str, Any]:
    options: tuple[Option, ...] = fields["options"]
    fields["options"] = [
        {"key": o.key, "label": o.label, "tradeoff": o.tradeoff, "recommended": o.recommended} for o in options
    ]
    fields["chosen_at"] = iso(fields["chosen_at"])
    return fields


def round_result(session: Session, round_: Round, surface: str) -> dict[str, Any]:
    """What whoever asked gets back of one round (CA-5)."""
    return _round(round_, {"clarifications": _clarifications(session, (round_,), surface)})


def _round(round_: Round, clarifications: dict[str, Any]) -> dict[str, Any]:
    resolved = [item for item in round_.items if item.status == "resolved"]
    asked = [item for item in round_.items if item.status != "withdrawn"]
    ready = bool(asked) and len(resolved) == len(asked) and not round_.escalated
    if not round_.items:  # what is taken as settled waits for its "y" (RD-5)
        ready = round_.closed_at is not None
    return {
        "phase": round_.phase,
        "round": round_.nth or round_.number,
        "trigger": round_.trigger,
        "questions_asked": len(round_.items),
        "questions_resolved": len(resolved),
        **clarifications,
        "bulk_accept_used": round_.bulk_used,
        "ready_to_proceed": ready,
        "escalation_needed": round_.escalated,
    }


def document(session: Session, surface: str) -> dict[str, Any]:
    """The one document in which a session ends (RT-15)."""
    items = [(round_, item) for round_ in session.rounds for item in round_.items]
    return {
        "session": session.id,
        "workflow": session.workflow,
        "pack": session.pack,
        "state": session.stage.how if session.stage.kind == "ended" else session.stage.kind,
        "request": {
            "text": session.request.text,
            "original": session.request.original,
            "materials": [m.model_dump(exclude_none=True, exclude={"handle"}) for m in session.request.materials],
            "direct_mode": session.request.direct_mode,
            "requester": session.requester.id,
            "message_ref": reference(session.request.ref),
        },
        "route": {
            "by": session.routed_by,
            "message_ref": None if session.routed_ref is None else reference(session.routed_ref),
        },
        "clarifications": _clarifications(session, session.rounds, surface),
        "settled": [s.model_dump(exclude_none=True) for s in session.settled],
        "assumptions": list(session.assumptions),
        "open": [
            {"question": i.question.id, "topic": i.question.topic, "state": i.status, "words": i.words}
            for _, i in items
            if i.status != "resolved"
        ],
        "deferred": [d.model_dump(exclude={"later"}, exclude_none=True) for d in session.dropped if d.later],
        "not_asked": [d.model_dump(exclude={"later"}, exclude_none=True) for d in session.dropped if not d.later],
        "notes": [note for round_ in session.rounds for note in round_.notes],
        "rounds": [_round(round_, {}) for round_ in session.rounds],
    }


def _clarifications(session: Session, rounds: Iterable[Round], surface: str) -> list[dict[str, Any]]:
    return [
        decision(session, round_, item, surface)
        for round_ in rounds
        for item in round_.items
        if item.status == "resolved" and item.answer is not None
    ]
