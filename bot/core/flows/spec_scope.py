"""What a person says to the locked scope: a "y", a described change, its reason, a phase to be done again (SC-3)."""

from __future__ import annotations

import re

from bot.core import scope, spec_view, view
from bot.core.capture import quote, reference
from bot.core.flows import phases, spec, spec_steps
from bot.core.flows.words import carries_on, pleasantry, puts_off, unsure, words_of, yes_or_no
from bot.core.model import MessageRef, Person
from bot.core.slots import spec_of
from bot.core.spec import SCOPE_FIELDS, Change, phase, tier_words
from bot.core.state import Between, Session
from bot.core.turn import Turn


def reconfirm(turn: Turn, session: Session, said: str, word: str | None, person: Person, ref: MessageRef) -> None:
    """ "y", or a described change, field by field (SC-3)."""
    state = spec_of(session)
    if word == "yes" or words_of(said, turn.book.phrases, "keeps") is not None:
        proof = {"reconfirmed_at": turn.at, "reconfirmed_by": person.id, "reconfirmed_ref": reference(ref)}
        lock = state.lock.model_copy(update=proof)
        spec_steps.close_card(turn, session, "✔ The scope is confirmed.")
        session = phases.keep(turn, session, state.model_copy(update={"lock": lock}), stage=Between())
        spec.phase_audit(turn, session, "scope_locked", person, ref, reconfirmed=True, **phases.lock_details(lock))
        spec.surface(turn, session, "loopback" if state.present.run > 1 else "intake")
        return
    told = scope.of_others(said, state)
    if told is not None:
        turn.audit("injection_incident", session, person, source="told in a message", words=quote(told))
        turn.tell(
            f"“{view.shortened(told)}” is what somebody else has said, and changes nothing here. If it is your own "
            "decision, write it as such, e.g. surfaces: 4 because the admin page joins",
            session=session,
        )
        return
    found = scope.described(said, state)
    problems = [f"{SCOPE_FIELDS[w.field]}: {w.problem}." for w in found.wanted if w.problem]
    wanted = tuple(w for w in found.wanted if not w.problem)
    if not wanted or problems:
        ask = "Write what changes and why, e.g. surfaces: 4 because the admin page joins — or: y"
        named = "tier, surfaces, comparators, in scope, out of scope"
        turn.tell(*(problems or [f"What can change: {named}."]), ask, session=session)
        return
    fresh = scope.applied(state.lock, wanted)
    conflict = scope.conflicts(fresh)
    if conflict is not None:
        turn.tell(conflict, "Nothing is changed yet.", session=session)
        return
    changes = phases.differences(turn, session, fresh, found.because or "", person, reference(ref))
    if not changes:
        turn.tell("That is the scope already; write y to confirm it.", session=session)
        return
    if found.unread:
        turn.tell(f"Not used, as it names no part of the scope: {'; '.join(found.unread)}.", session=session)
    if not found.because:
        turn.put(session, stage=Between(waits="rationale", changes=changes))
        turn.tell(
            *(f"{SCOPE_FIELDS[c.field]}: {c.was} → {c.to}." for c in changes),
            "Why? One sentence; it goes into the record.",
            session=session,
        )
        return
    _change(turn, session, changes, person)


def rationale(turn: Turn, session: Session, stage: Between, said: str, person: Person, ref: MessageRef) -> None:
    """The reason of a change that was described without one."""
    book = turn.book.phrases
    if yes_or_no(said, book) == "no" or said.casefold().strip(" .!") in ("cancel", "never mind"):
        session = turn.put(session, stage=Between())
        turn.tell("Nothing is changed.", session=session)
        spec.ask_scope(turn, session)
        return
    nothing = pleasantry(said, book) or carries_on(said, book) or yes_or_no(said, book) == "yes"
    nothing = nothing or len(scope.reason(said)) < 4
    if nothing or puts_off(said, book) or said.endswith(("?", "？")) or unsure(said, book):
        turn.tell("A reason is needed, in your words; or write: no, to leave the scope as it is.", session=session)
        return
    reason = scope.reason(said)
    changes = tuple(
        c.model_copy(update={"rationale": reason, "user_message_ref": f"{c.user_message_ref}; {reference(ref)}"})
        for c in stage.changes
    )
    _change(turn, session, changes, person)


def _change(turn: Turn, session: Session, changes: tuple[Change, ...], person: Person) -> None:
    """Record it, show the scope again for its "y", and offer to do again what it touches."""
    state = spec_of(session)
    wanted = tuple(scope.Wanted(c.field, c.to) for c in changes)
    fresh = state.lock
    for change in wanted:
        if change.field in ("in_scope", "out_of_scope"):
            value = tuple(w for w in change.to.split("; ") if w and w != "nothing")
            fresh = fresh.model_copy(update={change.field: value})
        else:
            fresh = scope.applied(fresh, (change,))
    spec_steps.close_card(turn, session, "✔ The scope was changed; see below.")
    session = phases.change_scope(turn, session, fresh, changes, person)
    told = spec_view.change_lines(spec_of(session).lock, len(state.lock.changes))
    tiers = [f"The tier is now {tier_words(fresh.complexity_tier)}."] if fresh.complexity_tier != state.tier else []
    turn.tell("Recorded as a deliberate change of scope.", *told, *tiers, session=session)
    spec_steps.offer_rerun(turn, session)


def rerun(turn: Turn, session: Session, said: str, word: str | None, person: Person, ref: MessageRef) -> None:
    """Do a phase again, or go on to the re-confirm."""
    stage = session.stage
    doubtful = stage.doubtful if isinstance(stage, Between) else ()
    found = re.fullmatch(r"r(\d)", said.strip())
    number = int(found[1]) if found else None
    if number is None and len(said) <= 60:
        number = next((n for n in doubtful if phase(n).name.casefold() in said.casefold()), None)
    if number in doubtful and number is not None:
        spec_steps.close_card(turn, session, f"✔ {spec_view.name_of(number)} again.")
        session = turn.put(session, stage=Between())
        spec.start(turn, session, number, person, ref)
    elif word == "no" or said == "n" or carries_on(said, turn.book.phrases):
        spec_steps.close_card(turn, session, "✔ Left as it is.")
        spec.ask_scope(turn, session)
    else:
        turn.tell("Press a phase, name it, or write: go on", session=session)
