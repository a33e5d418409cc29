"""A specification from its name to its last phase: what is asked when, and what a person's "go on" does (SP-1, SP-2).

Nothing advances by itself: every function here that begins something is called with a person's message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

from bot.core import spec_view, view
from bot.core.capture import reference
from bot.core.effects import Message
from bot.core.flows import intake, phases
from bot.core.flows.banks import bank, candidates
from bot.core.flows.phases import keep
from bot.core.model import MessageRef, Person, Question
from bot.core.playbook import Playbook
from bot.core.score import Score
from bot.core.slots import in_play, policy_of, rounds_of, spec_of
from bot.core.spec import (
    CONFIRMED_IN,
    SIGNALS_BANK,
    Run,
    Signal,
    Spec,
    phase,
)
from bot.core.spec_evidence import gate_of
from bot.core.state import Between, Round, Session
from bot.core.turn import Turn
from bot.core.words import contains

WORKFLOW = "spec/new"
Trigger = Literal["intake", "ambiguity", "loopback"]


# -- a phase begins ------------------------------------------------------------------------------------------------


def start(turn: Turn, session: Session, number: int, person: Person, ref: MessageRef) -> Session:
    """Begin a phase, or do it again. Phase 3 opens with the scope (SC-3)."""
    spec = spec_of(session)
    old = spec.run(number)
    run = Run(
        phase=number, run=old.run + 1 if old else 1, since=len(session.rounds) + 1, started_at=turn.at,
        escalated_before=old is not None and (old.escalated or old.escalated_before),
    )  # fmt: skip
    dropped = tuple(d for d in session.dropped if d.phase != number)
    spec = spec.with_run(run).model_copy(update={"phase": number})
    session = keep(turn, session, spec, dropped=dropped, stage=Between())
    phase_audit(turn, session, "phase_rerun" if old else "phase_started", person, ref, run=run.run)
    if number == CONFIRMED_IN and spec.lock.locked:
        return ask_scope(turn, session)
    return surface(turn, session, "loopback" if old else "intake")


def enter(turn: Turn, session: Session, number: int, person: Person, ref: MessageRef) -> Session:
    """Go to a phase: one that was left in the middle goes on where it was, with its evidence."""
    spec = spec_of(session)
    run = spec.run(number)
    if run is None or run.status == "completed" or not gate_of(session, number).open:
        return start(turn, session, number, person, ref)
    session = keep(turn, session, spec.model_copy(update={"phase": number}), stage=Between())
    turn.tell(
        f"Back in {spec_view.name_of(number)}; its questions are answered.",
        phases.ahead(turn, session).words,
        session=session,
    )
    return session


def phase_audit(turn: Turn, session: Session, event: str, person: Person, ref: MessageRef, **details: Any) -> None:
    """An entry of the present phase, tied to the message that brought it about."""
    number = spec_of(session).phase
    turn.audit(event, session, person, user_message_ref=reference(ref), **details)
    turn.records[-1] = turn.records[-1].model_copy(update={"phase": number})


def ask_scope(turn: Turn, session: Session) -> Session:
    """Show the locked scope and wait (SC-3)."""
    return show(turn, session, "reconfirm", spec_view.reconfirm)


def show(turn: Turn, session: Session, waits: str, card: Callable[[Session], Message], **stage: Any) -> Session:
    """Put a card that waits for a person's word; `card` draws the session."""
    name = f"{session.id}.w{turn.state.revision + 1}.{len(turn.effects)}"
    session = turn.put(
        session, stage=Between.model_validate({"waits": waits, "card": name, "after": turn.state.newest, **stage})
    )
    turn.say(card(session), card=name, about=session.id, session=session)
    return session


# -- a round -------------------------------------------------------------------------------------------------------


def surface(turn: Turn, session: Session, trigger: Trigger, found: Score | None = None) -> Session:
    """Put the phase's next round on the table: what earns its slot, or what is settled and waits for a "y"."""
    spec = spec_of(session)
    playbook = bank(turn, spec.phase)
    signals = found.signals if found is not None else ()
    extra = tuple(q for q in (asking(turn, session, s) for s in signals) if q is not None)
    built = candidates(turn, session, extra)
    if trigger == "ambiguity":  # a pause asks about what is unclear, and nothing else
        built = built.model_copy(update={"asked": tuple(q for q in built.asked if q in extra)})
    just_said = {i.question.id for r in rounds_of(session, spec.phase) for i in r.items if i.status == "resolved"}
    settled = (*(s for s in session.settled if s.phase != spec.phase), *built.settled)
    dropped = (*(d for d in session.dropped if d.phase != spec.phase), *built.dropped)
    settled = tuple(s for s in settled if s.phase != spec.phase or s.question not in just_said)
    session = turn.put(session, settled=settled, dropped=dropped)
    nth = len(rounds_of(session, spec.phase)) + 1
    of_phase: dict[str, Any] = {
        "phase": spec.phase,
        "nth": nth,
        "of": phases.MOST_ROUNDS,
        "trigger": trigger,
        "signals": signals,
    }
    if not built.asked:
        return _settled_round(turn, session, of_phase)
    over = trigger != "ambiguity" and any(d.later for d in built.dropped)
    purpose = _purpose(playbook, trigger, spec, policy_of(session).ceiling if over else None)
    return intake.open_round(turn, session, built.asked, playbook.title, purpose, full=built.full, **of_phase)


def _purpose(playbook: Playbook, trigger: Trigger, spec: Spec, ceiling: int | None) -> str:
    """Why this round, and what is blocked until it is answered (RD-8). `ceiling`: more earned a slot (RD-4)."""
    made = phase(spec.phase)
    unclear = "rest on; they wait" if made.many else "rests on; it waits"
    line = {
        "intake": playbook.purpose,
        "ambiguity": f"Something is unclear that the {made.artefact} {unclear} for these answers.",
        "loopback": f"Only what is new or has changed since the phase was done; {made.waits} for it.",
    }[trigger]
    if ceiling is not None:
        line += (
            f" More is open than the {ceiling} that tier {spec.working_tier} asks at once: is the request too wide?"
        )
    return line.strip()


def _settled_round(turn: Turn, session: Session, of_phase: dict[str, Any]) -> Session:
    """A round of zero questions: what is taken as settled, and one "y" (RD-5). It counts as surfaced (CA-6)."""
    number = len(session.rounds) + 1
    name = f"{session.id}.{number}"
    made = {
        "id": name, "number": number, "title": phase(spec_of(session).phase).name, "purpose": "", "items": (),
        "card": name, "opened_at": turn.at, "after": turn.state.newest, **of_phase,
    }  # fmt: skip
    round_ = Round.model_validate(made)
    session = turn.put(session, stage=Between(waits="settled", card=name), rounds=(*session.rounds, round_))
    intake.surfaced(turn, session, round_)
    card = spec_view.settled_card(session, view.heading(round_, ""))
    turn.say(card, card=name, session=session, round_=round_)
    return session


def asking(turn: Turn, session: Session, signal: Signal) -> Question | None:
    """The question that asks about a signal: one of the phase's own, or that of its kind with its blanks filled."""
    spec = spec_of(session)
    own = {e.question.id: e.question for e in in_play(bank(turn, spec.phase), spec.working_tier)}
    if signal.question in own:
        return own[signal.question]
    kinds = turn.book.playbooks.get(SIGNALS_BANK)
    entry = next((e for e in kinds.entries if e.question.id == signal.kind), None) if kinds else None
    if entry is None:
        return None
    return filled(entry.question, signal, turn.book.deny_names)


def filled(question: Question, signal: Signal, deny: Sequence[str] = ()) -> Question:
    """A question of a kind of signal, about this one. A name that no question may hold becomes "the customer"."""
    blanks = {"words": "", "where": "", "one": "", "other": "", "source": "", **signal.fill, "said": signal.said}
    short = {k: view.shortened(unnamed(v, deny), 240 if k == "said" else 60) for k, v in blanks.items()}

    def fill(text: str) -> str:
        for key, value in short.items():
            text = text.replace(f"{{{key}}}", value)
        return text

    return question.model_copy(
        update={
            "id": signal.id,
            "topic": fill(question.topic),
            "text": fill(question.text),
            "why": fill(question.why),
            "rationale": fill(question.rationale or "") or None,
            "options": tuple(
                o.model_copy(update={"label": fill(o.label), "tradeoff": fill(o.tradeoff)}) for o in question.options
            ),
            "stakes": signal.level,
        }
    )


def unnamed(text: str, deny: Sequence[str]) -> str:
    for name in deny:
        if name.strip() and contains(text, name):
            text = re.sub(re.escape(name), "the customer", text, flags=re.IGNORECASE)
    return text
