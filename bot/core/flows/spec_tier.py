"""`/tier`: how much specification. Before the scope is locked it is set; afterwards the scope changes (SC-3).

An open round follows: what a lower tier does not ask is withdrawn unanswered, and what is recommended for the tier is
recommended. What is answered stays.
"""

from __future__ import annotations

from bot.core import scope, scope_change, spec_view, view
from bot.core.capture import reference
from bot.core.flows import intake, phases, recording, spec, spec_steps
from bot.core.flows.banks import bank, look_again
from bot.core.flows.words import pleasantry
from bot.core.model import MessageRef, Person
from bot.core.replies.reading import ItemReading
from bot.core.slots import adjusted, held, rounds_of, spec_of
from bot.core.spec import CONFIRMED_IN, TIERS, tier_words
from bot.core.spec_evidence import withdrawn
from bot.core.state import Asking, Between, Item, Session
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
        _of_lock(turn, session, tier, scope_change.reason(because, turn.book.phrases), person, ref)
        return
    round_ = session.round
    item = None
    if round_ is not None and session.stage.kind in ("asking", "between"):
        item = next((i for i in round_.items if i.question.field == scope.TIER), None)
    option = next((o for o in item.question.options if o.value == str(tier)), None) if item else None
    done = recording.Recorded()
    if item is not None and round_ is not None and option is not None:
        reading = {item.number: ItemReading(key=option.key)}  # the question is on the table: this is its answer
        session, round_, done = recording.record(turn, session, round_, reading, (), person, ref)
        if done.conflicts:  # somebody else has answered it: the requester settles that (RD-12)
            intake.echo(turn, session, round_, done, None)
            return
    state = spec_of(session)
    session = phases.keep(turn, session, state.model_copy(update={"tier": tier, "tier_at": turn.at}))
    turn.audit("tier_set", session, person, tier=tier, user_message_ref=reference(ref))
    session, told = _follow(turn, session, person, ref)
    if done.lines and session.round is not None:
        intake.echo(turn, session, session.round, done, None, lead=told)
        return
    if rounds_of(session, state.phase):
        session = look_again(turn, session)
    set_to = f"Tier {tier_words(tier)}."
    if told:
        _go_on(turn, session, (set_to, *told))
    else:
        turn.tell(
            f"{set_to} It holds for the rounds that are still to come.", phases.left_words(session), session=session
        )


def _follow(turn: Turn, session: Session, person: Person, ref: MessageRef) -> tuple[Session, tuple[str, ...]]:
    """The open round at its new tier (RD-4, CA-4), and what is to be told of it: nothing, where nothing differs."""
    round_ = session.round
    if round_ is None or round_.phase is None or not isinstance(session.stage, Asking):
        return session, ()
    tier = spec_of(session).working_tier
    entries = {entry.question.id: entry for entry in bank(turn, round_.phase).entries}
    fields = held(session)
    gone: list[Item] = []
    items: list[Item] = []
    for item in round_.items:
        entry = entries.get(item.question.id)  # none: a signal's question, which every tier asks
        if item.status != "open" or entry is None:
            items.append(item)
        elif entry.tiers and tier not in entry.tiers:
            gone.append(item)
            items.append(item.model_copy(update={"status": "withdrawn", "words": ref.quote}))
        elif entry.by_tier and (question := adjusted(entry, fields, tier).question) != item.question:
            items.append(item.model_copy(update={"question": question}))
        else:
            items.append(item)
    if all(one is other for one, other in zip(items, round_.items, strict=True)):
        return session, ()
    fresh = round_.model_copy(update={"items": tuple(items), "revision": round_.revision + 1})  # RD-15
    numbers = {item.number for item in gone}
    owed = {who: number for who, number in session.stage.describing.items() if number not in numbers}
    session = turn.put_round(session, fresh, stage=Asking(describing=owed))
    told: list[str] = []
    if gone:
        named = "; ".join(f"{i.number} {i.question.topic}" for i in gone)
        told.append(f"Withdrawn, as tier {tier} does not ask {'it' if len(gone) == 1 else 'them'}: {named}.")
    moved = [str(now.number) for was, now in zip(round_.items, items, strict=True) if was.question != now.question]
    if moved:
        told.append(f"Recommended otherwise at this tier: {', '.join(moved)}. Look again before you accept.")
    if gone:
        turn.audit(
            "round.withdrawn", session, person, fresh,
            round=fresh.nth or fresh.number, questions=[i.question.id for i in gone], tier=tier,
            revision=fresh.revision, user_message_ref=reference(ref),
        )  # fmt: skip
    return session, tuple(told)


def _go_on(turn: Turn, session: Session, told: tuple[str, ...]) -> None:
    """The round that has followed the tier: still open, closed with its answers, or empty, and then asked anew."""
    round_ = session.round
    assert round_ is not None
    intake.show_card(turn, session, round_)
    if round_.open_items:
        turn.tell(*told, *spec_steps.still_open(turn, session), session=session, round_=round_)
        return
    if not withdrawn(round_):
        intake.close(turn, session, round_, told)
        return
    round_ = round_.model_copy(update={"closed_at": turn.at})
    session = turn.put_round(session, round_, stage=Between())
    turn.drop_pending(session=session.id)
    turn.audit(
        "round.closed", session, round_=round_, round=round_.nth or round_.number, resolved=0, asked=len(round_.items)
    )
    if any(not withdrawn(r) for r in rounds_of(session, spec_of(session).phase)):
        turn.tell(*told, phases.ahead(turn, session).words, session=session)
    else:
        turn.tell(*told, session=session)
        spec.surface(turn, session, round_.trigger)


def _of_lock(turn: Turn, session: Session, tier: int, because: str, person: Person, ref: MessageRef) -> None:
    state = spec_of(session)
    if session.stage.kind == "asking" and tier < state.lock.complexity_tier:
        turn.outcome, turn.reason = "refused", "questions are open"
        turn.tell(
            "The scope is locked, and questions are open under it; answer these first.",
            *spec_steps.still_open(turn, session),
            session=session,
        )
        return
    if isinstance(session.stage, Between) and session.stage.waits == "rationale":
        turn.outcome, turn.reason = "refused", "a described change waits"
        turn.tell("A change of the scope that you have described waits for your word first.", session=session)
        spec_steps.again(turn, session)
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
    session, followed = _follow(turn, session, person, ref)
    if followed:
        _go_on(turn, session, ("Recorded as a deliberate change of scope.", *told, *followed))
        return
    shown = session.stage.waits if isinstance(session.stage, Between) else None
    touched = ", ".join(f"/jump {n}" for n in phases.doubtful(turn, session))
    again = f"Done under the old tier, to be done again if need be: {touched}." if touched else ""
    left = phases.left_words(session)
    turn.tell("Recorded as a deliberate change of scope.", *told, left, again, session=session)
    if shown == "reconfirm":  # what is on the table is no longer what was shown (RD-15)
        spec.ask_scope(turn, session)
