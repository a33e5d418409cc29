"""`/tier`: how much specification. Before the scope is locked it is set; afterwards the scope changes (SC-3)."""

from __future__ import annotations

from bot.core import scope, spec_view, view
from bot.core.capture import reference
from bot.core.flows import intake, phases, recording, spec, spec_steps
from bot.core.flows.banks import look_again
from bot.core.flows.words import pleasantry
from bot.core.model import MessageRef, Person
from bot.core.replies.reading import ItemReading
from bot.core.slots import rounds_of, spec_of
from bot.core.spec import CONFIRMED_IN, TIERS, tier_words
from bot.core.state import Between, Session
from bot.core.turn import Turn


def set_tier(turn: Turn, session: Session, rest: str, person: Person, ref: MessageRef) -> None:
    """Before the scope is locked the tier is set; after it a change of scope, which needs its reason (SC-3)."""
    state = spec_of(session)
    head, _, because = rest.partition(" ")
    tier = scope.tier_in(head)
    if tier is None:
        turn.outcome, turn.reason = "refused", "no such tier"
        listed = ", ".join(f"/tier {t} {name}" for t, name in TIERS.items())
        now = "none is set" if state.tier is None else f"it is {tier_words(state.tier)}"
        said = f"There is no tier “{view.shortened(rest, 30)}”; {now}." if rest else f"The tier: {now}."
        turn.tell(f"{said} {listed}.", session=session)
        return
    if state.tier == tier:
        turn.tell(f"The tier is {tier_words(tier)} already.", session=session)
        return
    if state.lock.locked:
        _of_lock(turn, session, tier, scope.reason(because), person, ref)
        return
    round_ = session.round
    item = None
    if round_ is not None and session.stage.kind in ("asking", "between"):
        item = next((i for i in round_.items if i.question.field == scope.TIER), None)
    session = phases.keep(turn, session, state.model_copy(update={"tier": tier, "tier_at": turn.at}))
    turn.audit("tier_set", session, person, tier=tier, user_message_ref=reference(ref))
    option = next((o for o in item.question.options if o.value == str(tier)), None) if item else None
    if item is None or round_ is None or option is None:
        if rounds_of(session, state.phase):
            session = look_again(turn, session)
        turn.tell(
            f"Tier {tier_words(tier)}. It holds for the rounds that are still to come.",
            phases.left_words(session),
            session=session,
        )
        return
    reading = {item.number: ItemReading(key=option.key)}  # the question is on the table: this is its answer
    session, round_, done = recording.record(turn, session, round_, reading, (), person, ref)
    intake.echo(turn, session, round_, done, None)


def _of_lock(turn: Turn, session: Session, tier: int, because: str, person: Person, ref: MessageRef) -> None:
    state = spec_of(session)
    if session.stage.kind == "asking":
        turn.outcome, turn.reason = "refused", "questions are open"
        turn.tell(
            "The scope is locked, and questions are open under it; answer these first.",
            *spec_steps.still_open(turn, session),
            session=session,
        )
        return
    if len(because) < 4 or pleasantry(because, turn.book.phrases):
        turn.outcome, turn.reason = "refused", "no reason"
        turn.tell(
            f"The scope is locked with tier {tier_words(state.lock.complexity_tier)}. A change needs its reason, "
            f"e.g. /tier {tier} because the parent covers most of it",
            session=session,
        )
        return
    fresh = state.lock.model_copy(update={"complexity_tier": tier})
    conflict = scope.conflicts(fresh)
    if conflict is not None:
        turn.outcome, turn.reason = "refused", "the scope would not fit together"
        turn.tell(conflict, f"/jump {CONFIRMED_IN} opens the re-confirm, where both can change.", session=session)
        return
    changes = phases.differences(turn, session, fresh, because, person, reference(ref))
    session = phases.change_scope(turn, session, fresh, changes, person)
    told = spec_view.change_lines(spec_of(session).lock, len(state.lock.changes))
    shown = session.stage.waits if isinstance(session.stage, Between) else None
    touched = ", ".join(f"/jump {n}" for n in phases.doubtful(turn, session))
    again = f"Done under the old tier, to be done again if need be: {touched}." if touched else ""
    left = phases.left_words(session)
    turn.tell("Recorded as a deliberate change of scope.", *told, left, again, session=session)
    if shown == "reconfirm":  # what is on the table is no longer what was shown (RD-15)
        spec.ask_scope(turn, session)
