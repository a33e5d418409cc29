"""Which questions of a phase earn their slot, given all that the specification holds already (RD-4, RD-5, RD-11).

What is held comes from the parent specification, from the request, and from every answer, whatever its phase; the
evidence of a phase stays its own (CA-6), its answers are known everywhere.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from bot.core import view
from bot.core.model import Grounding, Question
from bot.core.playbook import Entry, Playbook
from bot.core.policies import SPEC, Policy
from bot.core.rounds import Built, build_round
from bot.core.spec import CARRIED, TIERS, Spec, tier_words
from bot.core.state import Dropped, Item, Round, Session, Settled


class Held(NamedTuple):
    """What the state holds for a field. `phase` None = known before the specification began."""

    value: str
    words: str
    source: str
    phase: int | None = None
    at: datetime | None = None
    item: Item | None = None


def spec_of(session: Session) -> Spec:
    assert session.spec is not None
    return session.spec


def policy_of(session: Session) -> Policy:
    """The policy of spec intake at this specification's tier (RD-4)."""
    return SPEC.model_copy(update={"tier": spec_of(session).working_tier})


def rounds_of(session: Session, phase: int, *, whole: bool = False) -> tuple[Round, ...]:
    """The rounds of a phase's present run; `whole`: of all its runs."""
    run = spec_of(session).run(phase)
    since = 1 if whole or run is None else run.since
    return tuple(r for r in session.rounds if r.phase == phase and r.number >= since)


LOCKED: Final[Mapping[str, str]] = {  # a field of the lock, and the field whose answer it was made from
    "complexity_tier": "meta.complexity_tier",
    "surface_count": "scope_lock.surface_count",
    "comparator_count": "scope_lock.comparator_count",
    "in_scope": "scope_lock.boundary",
    "out_of_scope": "scope_lock.boundary",
}


def held(session: Session) -> dict[str, Held]:
    """By field; the later word stands, an answer or a deliberate change of the scope (SC-3)."""
    found: dict[str, Held] = {}
    for decision in spec_of(session).inherited:
        found[decision.field] = Held(decision.value, decision.words, decision.source)
    for known in session.settled:
        if known.field and known.field not in found:
            found[known.field] = Held(known.holds or known.value, known.value, f"“{known.source}”", known.phase)
    tier, tier_at = spec_of(session).tier, spec_of(session).tier_at
    for round_ in session.rounds:
        for item in round_.items:
            value = value_of(item)
            if value is not None and item.answer is not None and item.question.field:
                words = view.answer_words(item.question, item.answer)
                found[item.question.field] = Held(
                    value,
                    words,
                    item.clarification or "",
                    round_.phase,
                    item.answer.claimed_at or item.answer.at,
                    item,
                )
    said = found.get(LOCKED["complexity_tier"])
    if tier is not None and tier_at is not None and (said is None or said.at is None or said.at < tier_at):
        found[LOCKED["complexity_tier"]] = Held(str(tier), tier_words(tier), f"/tier {tier}", at=tier_at)
    lock = spec_of(session).lock
    for change in lock.changes:
        field = LOCKED[change.field]
        before = found.get(field)
        at = change.claimed_at or change.at
        if before is not None and before.at is not None and at <= before.at:
            continue
        value = words = change.to
        if field == LOCKED["in_scope"]:
            value = "; ".join((*(f"in: {w}" for w in lock.in_scope), *(f"out: {w}" for w in lock.out_of_scope)))
            words = value
        source = f"the change of scope in phase {change.at_phase}"
        found[field] = Held(value, words, source, change.at_phase, at)
    return found


def value_of(item: Item) -> str | None:
    """What a resolved item puts into the state: its option's value, or the words of Other."""
    if item.status != "resolved" or item.answer is None:
        return None
    option = None if item.answer.chosen is None else item.question.option(item.answer.chosen)
    if option is None or option.other:
        return item.answer.text or ""
    return option.value or option.label


class Given(NamedTuple):
    """A resolved item, and the number of the session's round that it stands in."""

    item: Item
    round: int


def answered(session: Session, phase: int) -> dict[str, Given]:
    """The latest resolved item of each question that this phase has asked, in any of its runs."""
    rounds = rounds_of(session, phase, whole=True)
    return {i.question.id: Given(i, r.number) for r in rounds for i in r.items if i.status == "resolved"}


def in_play(playbook: Playbook, tier: int) -> tuple[Entry, ...]:
    return tuple(e for e in playbook.entries if not e.tiers or tier in e.tiers)


def stale(entry: Entry, given: Given, spec: Spec) -> str | None:
    """The changed field of the scope that makes an earlier answer doubtful, or None.

    In a round that was open at the change, what was answered after it rests on the changed scope.
    """
    answer = given.item.answer
    at = None if answer is None else answer.claimed_at or answer.at
    later = {
        c.field for c in spec.lock.changes
        if given.round <= c.rounds and (at is None or at <= (c.claimed_at or c.at))
    }  # fmt: skip
    return next((field for field in entry.depends if field.removeprefix("scope_lock.") in later), None)


def build(
    playbook: Playbook,
    session: Session,
    phase: int,
    sent: Sequence[int],
    extra: Sequence[Question] = (),
    unusable: Container[str] = (),
) -> Built:
    """Judge every candidate of a phase's bank; what is not asked is kept with its reason.

    `sent`: phases of the files that came with the request, as in `build_round`. `extra`: questions that ambiguity
    signals lead to; they are asked before the rest of the bank. `unusable`: fields whose value does not do.
    """
    spec = spec_of(session)
    tier, fields, before = spec.working_tier, held(session), answered(session, phase)
    run = spec.run(phase)
    doubted = run.doubted if run else ()
    carried = {p.text for p in spec.open_points if p.phase == phase} if run and run.carried else frozenset[str]()
    settled: list[Settled] = []
    dropped: list[Dropped] = []
    candidates = [Entry(question=question) for question in extra]
    asked = {question.id for question in extra}
    for entry in (_with_parent(e, spec) for e in playbook.entries):
        question = entry.question
        known = fields.get(question.field)
        earlier = before.get(question.id)
        if question.id in asked:
            continue
        if entry.tiers and tier not in entry.tiers:
            named = ", ".join(TIERS[t] for t in entry.tiers)
            reason = f"At tier {tier_words(tier)} it is not in play; it is asked at: {named}."
            dropped.append(Dropped(question=question.id, topic=question.topic, reason=reason))
        elif earlier is None and question.topic in carried:
            dropped.append(Dropped(question=question.id, topic=question.topic, reason=CARRIED))
        elif earlier is not None and question.field in unusable:
            candidates.append(adjusted(entry, fields, tier))
        elif earlier is not None and question.id not in doubted and stale(entry, earlier, spec) is None:
            item = earlier.item
            if known is not None and known.item is None and known.at is not None:  # the scope was changed after it
                settled.append(_settled(question, known.words, known.source, known.value))
                continue
            value = view.answer_words(question, item.answer) if item.answer else ""
            settled.append(_settled(question, value, item.clarification or "", value_of(item)))
        elif known is not None and question.id not in doubted and earlier is None and known.phase != phase:
            settled.append(_settled(question, known.words, known.source, known.value))
        else:
            fresh = adjusted(entry, fields, tier)
            bare = {"known": (), "known_from_phases": (), "known_from_files": False, "known_from_paste": ()}
            certain = question.id in doubted or earlier is not None  # the request has been read, and was not enough
            candidates.append(fresh.model_copy(update=bare) if certain else fresh)
    built = build_round(
        playbook.model_copy(update={"entries": tuple(candidates)}), session.request, sent, policy_of(session)
    )
    told = tuple(_from_request(known, playbook) for known in built.settled)
    return Built(
        asked=built.asked,
        settled=tuple(s.model_copy(update={"phase": phase}) for s in (*settled, *told)),
        dropped=tuple(d.model_copy(update={"phase": phase}) for d in (*dropped, *built.dropped)),
        full=built.full,
    )


def _settled(question: Question, value: str, source: str, holds: str | None) -> Settled:
    return Settled(
        question=question.id, topic=question.topic, value=value, source=source, field=question.field, holds=holds
    )


def _from_request(known: Settled, playbook: Playbook) -> Settled:
    """What the request settles, with the field that it fills and the value that the state holds."""
    question = next(e.question for e in playbook.entries if e.question.id == known.question)
    option = next((o for o in question.options if o.label == known.value), None)
    holds = option.value if option is not None else None
    return known.model_copy(update={"field": question.field, "holds": holds})


def adjusted(entry: Entry, fields: Mapping[str, Held], tier: int) -> Entry:
    """The entry with the recommendation that an earlier decision or the tier leads to."""
    question = entry.question
    if entry.inherits and (earlier := fields.get(entry.inherits)) is not None:
        same = next((o.key for o in question.options if o.value and o.value == earlier.value), None)
        if same is not None:
            because = f"It follows what is decided already: {earlier.words}."
            ground = Grounding(kind="approved_artefact", reference=earlier.source)
            return entry.model_copy(update={"question": _recommending(question, same, because, ground)})
    default = entry.by_tier.get(tier)
    if default is not None:
        ground = Grounding(kind="constraint", reference=f"tier {tier_words(tier)}")
        return entry.model_copy(update={"question": _recommending(question, default.option, default.because, ground)})
    return entry


def _with_parent(entry: Entry, spec: Spec) -> Entry:
    """With a parent that carries the rest, the tier for additions is the one to recommend (RD-2, RD-4)."""
    question = entry.question
    key = next((o.key for o in question.options if o.value == str(max(TIERS))), None)
    if spec.parent is None or question.field != LOCKED["complexity_tier"] or key is None:
        return entry
    name = next((d.source for d in spec.inherited), "its parent").partition(",")[0]
    because = f"It has a parent, {name}; what that decided does not have to be specified again."
    ground = Grounding(kind="approved_artefact", reference=name)
    return entry.model_copy(update={"question": _recommending(question, key, because, ground)})


def _recommending(question: Question, key: str, because: str, ground: Grounding) -> Question:
    options = tuple(o.model_copy(update={"recommended": o.key == key}) for o in question.options)
    return question.model_copy(update={"options": options, "rationale": because, "grounding": ground})
