"""The questions that a phase of a specification could ask now (RD-4, RD-5)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core import scope
from bot.core.model import Question
from bot.core.playbook import Playbook
from bot.core.rounds import Built
from bot.core.routing import route
from bot.core.slots import answered, build, spec_of
from bot.core.spec import LOCKED_IN, phase, tier_words
from bot.core.state import Dropped, Session
from bot.core.turn import Turn


def bank(turn: Turn, number: int) -> Playbook:
    found = turn.book.playbooks.get(phase(number).bank)
    if found is not None:
        return found
    return Playbook(workflow=phase(number).bank, title=phase(number).name, purpose="", policy="spec", entries=())


def candidates(turn: Turn, session: Session, extra: Sequence[Question] = ()) -> Built:
    """The present phase's next round, as `slots.build` judges it. `extra`: what ambiguity signals lead to."""
    number = spec_of(session).phase
    sent = tuple(m for m in session.request.materials if m.kind != "named")
    materials = route("", sent, turn.book.packs[session.pack]).phases
    unusable = scope.inputs(session).missing if number == LOCKED_IN else {}
    return build(bank(turn, number), session, number, materials, extra, unusable)


def look_again(turn: Turn, session: Session) -> Session:
    """The tier may have changed since the phase asked: what it brings into play waits for the next round (RD-4)."""
    spec = spec_of(session)
    built = candidates(turn, session)
    on_the_table = session.round.open_items if session.round is not None else ()
    known = {*answered(session, spec.phase), *(i.question.id for i in on_the_table)}
    carried = [d for d in session.dropped if d.phase != spec.phase]
    reason = f"It is in play at tier {tier_words(spec.working_tier)}, and waits for the next round."
    fresh = (
        Dropped(question=q.id, topic=q.topic, reason=reason, later=True, phase=spec.phase)
        for q in built.asked
        if q.id not in known
    )
    return turn.put(session, dropped=(*carried, *fresh, *built.dropped))
