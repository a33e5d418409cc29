"""A file without an audit log proves none of its answers: they come in as known, not as anybody's decisions.

A gate needs an entry tied to each answer (CA-6), and here nothing but the row itself says that a person gave it. So
no clarification is made of one. What it says stands like a parent's decision (RD-5): it is not asked again, each
phase lists it with the file as its source, and a person's "y" or correction is what counts. Nothing is lost: each row
is kept whole with the entry of the import.
"""

from __future__ import annotations

from typing import Any

from bot.core import scope, spec_view, view
from bot.core.capture import iso
from bot.core.slots import held, spec_of
from bot.core.spec import FIRST, Decision, Lock, OpenPoint, Run
from bot.core.spec_file import Document
from bot.core.state import Between, Session
from bot.core.turn import Turn

_MOST = 12  # topics that are named


def known_only(turn: Turn, session: Session) -> Session:
    """The session with what the file says as known, before its first phase; nothing answered, locked or done."""
    state = spec_of(session)
    spec = state.model_copy(
        update={
            "phase": FIRST,
            "runs": (Run(phase=FIRST, started_at=turn.at),),
            "lock": Lock(),
            "inherited": (*state.inherited, *_decisions(session)),
            "ambiguity_notes": (),
            "open_points": tuple(_open(point) for point in state.open_points),
        }
    )
    return session.model_copy(update={"spec": spec, "rounds": (), "dropped": (), "counted": 0, "stage": Between()})


def _decisions(session: Session) -> tuple[Decision, ...]:
    """By field, the last word of the file: an answer, or a change of the scope."""
    tier = spec_of(session).tier
    found = []
    for field, known in held(session).items():
        if known.item is None and known.at is None:  # inherited, or settled by the request: it has its source
            continue
        if field == scope.TIER and (tier is None or scope.tier_in(known.value) != tier):
            continue
        answer = known.item.answer if known.item is not None else None
        by = f"{known.source}, said to be of {answer.by}" if answer is not None else known.source
        found.append(
            Decision(field=field, value=known.value, words=known.words, source=f"the file, without proof: {by}")
        )
    return tuple(found)


def _open(point: OpenPoint) -> OpenPoint:
    """An open point counts as settled with a person's act alone; what the file tells of one stays readable."""
    return point.model_copy(update={"status": "open"})


def rows(found: Document) -> list[dict[str, Any]]:
    """The answers as the file tells them, for the entry of the import."""
    keys = {"id", "phase", "round", "question", "topic", "chosen", "chosen_text", "chosen_via", "user_note"}
    return [
        {
            **told.model_dump(mode="json", include=keys | {"user_message_ref", "answered_by"}),
            "claimed_at": iso(told.chosen_at),
        }
        for told in found.clarifications
    ]


def words(found: Document) -> tuple[str, ...]:
    """For the person who reads it in: which answers have no proof, and what follows."""
    topics = [told.topic for told in found.clarifications]
    count = spec_view.plural(len(topics), "answer")
    listed = "; ".join(topics[:_MOST]) + (f"; and {len(topics) - _MOST} more" if len(topics) > _MOST else "")
    lead = f"⚠ The file has no audit log, so nothing proves that a person gave its {count}"
    return (
        f"{lead}: {view.shortened(listed, 600)}.",
        "They count as known, not as decided.",
        "Phase 1 begins anew: each phase lists what it takes from the file, and goes on with your y or a correction.",
    )
