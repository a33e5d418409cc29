"""Open points of a specification: shown, settled, handed to a later phase, opened again (RD-7, AU-1).

A point is something carried on undecided. Settling one records a person's words, and decides no question: it is
never a clarification, and no gate counts it.
"""

from __future__ import annotations

import re
from typing import Literal

from bot.core import spec_view, view
from bot.core.capture import reference
from bot.core.flows import injection, spec
from bot.core.flows.phases import keep
from bot.core.model import MessageRef, Person
from bot.core.own_words import unquoted
from bot.core.patterns import regex
from bot.core.slots import spec_of
from bot.core.spec import LAST, OpenPoint, PointAct, phase
from bot.core.state import Session
from bot.core.turn import Turn

NAME = regex(r"\s*(?:v-?)?0*(\d{1,3})\b[\s:,.–—-]*", re.IGNORECASE)
TYPED = regex(r"\s*v-\d{3}\b", re.IGNORECASE)  # without the command; anything shorter could be an answer
_DONE = regex(r"(?:done|resolved?|settled?|closed?|answer(?:ed)?)\b[\s:,.–—-]*([\s\S]*)", re.IGNORECASE)
_AGAIN = regex(r"(?:re-?open(?:ed)?|open(?: again)?)\b[\s:,.–—-]*([\s\S]*)", re.IGNORECASE)
_MOVED = regex(r"(?:moved?\s+)?(?:to\s+)?(?:phase\s+)?(\w+)\b[\s:,.–—-]*([\s\S]*)", re.IGNORECASE)
_BECAUSE = regex(r"because\b[\s:,]*", re.IGNORECASE)
SHORTEST = 4  # characters of a reason

Kind = Literal["resolved", "moved", "reopened"]
_EVENTS = {"resolved": "verify_item_resolved", "moved": "verify_item_moved", "reopened": "verify_item_raised"}


def run(turn: Turn, session: Session, rest: str, person: Person, ref: MessageRef) -> None:
    """`/point`, and after a point's name nothing, `done: …`, `phase 5 because …` or `reopen: …`."""
    points = spec_of(session).open_points
    if not rest or not points:
        listed = [spec_view.point_line(p) for p in points]
        how = ("/point V-001 done: how it was settled — or: /point V-001 phase 5 because …",) if points else ()
        turn.tell(*(listed or ["There are no open points."]), *how, session=session)
        return
    found = NAME.match(rest)
    point = next((p for p in points if found and int(p.id[2:]) == int(found[1])), None)
    if found is None or point is None:
        turn.outcome, turn.reason = "refused", "no such open point"
        known = ", ".join(p.id for p in points)
        turn.tell(f"There is no open point “{view.shortened(rest, 30)}”. There are: {known}.", session=session)
        return
    said = unquoted(rest[found.end() :])
    if not said:
        turn.tell(*spec_view.point_lines(point), session=session)
        return
    if (done := _DONE.fullmatch(said)) is not None:
        _act(turn, session, point, "resolved", done[1], person, ref)
    elif (again := _AGAIN.fullmatch(said)) is not None:
        _act(turn, session, point, "reopened", again[1], person, ref)
    elif (moved := _MOVED.fullmatch(said)) is not None and (number := _phase(moved[1])) is not None:
        _act(turn, session, point, "moved", moved[2], person, ref, to=number)
    else:
        turn.outcome, turn.reason = "refused", "nothing to do with the open point"
        turn.tell(
            f"{point.id} stays as it is. To settle it: /point {point.id} done: how — to hand it on: "
            f"/point {point.id} phase {min(LAST, point.due + 1)} because …",
            session=session,
        )


def _phase(word: str) -> int | None:
    if word.isascii() and word.isdigit():
        return int(word)
    return next((n for n in range(1, LAST + 1) if phase(n).name.casefold() == word.casefold()), None)


def _act(
    turn: Turn, session: Session, point: OpenPoint, kind: Kind, words: str, person: Person, ref: MessageRef,
    *, to: int | None = None,
) -> None:  # fmt: skip
    """Record it with the person's words, or say why not."""
    words = _BECAUSE.sub("", words, count=1).strip()
    refusal = _refusal(session, point, kind, words, to)
    if refusal is not None:
        turn.outcome, turn.reason = "refused", refusal
        turn.tell(refusal, session=session)
        return
    session = injection.note(turn, session, person, words, ())
    act = PointAct(kind=kind, words=words, to=to, at=turn.at, by=person.id, user_message_ref=reference(ref))
    status = {"resolved": "resolved", "reopened": "open", "moved": point.status}[kind]
    changed = point.model_copy(update={"status": status, "acts": (*point.acts, act)})
    state = spec_of(session)
    points = tuple(changed if p.id == point.id else p for p in state.open_points)
    session = keep(turn, session, state.model_copy(update={"open_points": points}))
    details = {"to": to, "from": point.due} if kind == "moved" else {"again": True} if kind == "reopened" else {}
    spec.phase_audit(turn, session, _EVENTS[kind], person, ref, id=point.id, text=point.text, words=words, **details)
    left = sum(1 for p in points if p.status == "open")
    still = f"{spec_view.plural(left, 'open point')} left." if left else "No open point is left."
    turn.tell(spec_view.point_line(changed), still, session=session)


def _refusal(session: Session, point: OpenPoint, kind: Kind, words: str, to: int | None) -> str | None:
    if kind == "reopened" and point.status == "open":
        return f"{point.id} is open already."
    if kind != "reopened" and point.status == "resolved":
        done = view.shortened(point.resolution.words) if point.resolution else ""
        return f"{point.id} is settled: “{done}”. /point {point.id} reopen: why"
    if to is not None:
        if not 1 <= to <= LAST:
            listed = ", ".join(f"{n} {phase(n).name}" for n in range(1, LAST + 1))
            return f"There is no phase {to}; the phases are {listed}."
        if to == point.due:
            return f"{point.id} belongs to {spec_view.name_of(to)} already."
        if to < spec_of(session).phase:
            return f"{spec_view.name_of(to, first=True)} is behind you; {point.id} can go to a later one."
    if len(words) < SHORTEST:
        how = {
            "resolved": f"How was it settled? /point {point.id} done: your words",
            "moved": f"Why then? /point {point.id} phase {to} because …",
            "reopened": f"Why? /point {point.id} reopen: your words",
        }[kind]
        return f"{how}. It goes into the record; {point.id} stays as it is."
    return None
