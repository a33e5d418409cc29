"""What a person says to the locked scope: a "y", a described change, its reason, a phase to be done again (SC-3)."""

from __future__ import annotations

import re
from typing import Any, Final

from bot.core import scope, scope_change, spec_view, view
from bot.core.capture import quote, reference
from bot.core.flows import phases, spec, spec_steps
from bot.core.flows.words import carries_on, pleasantry, puts_off, unsure, words_of, yes_or_no
from bot.core.model import MessageRef, Person
from bot.core.replies import read_reply
from bot.core.replies.phrases import PhraseBook
from bot.core.replies.reading import Slot
from bot.core.slots import spec_of
from bot.core.spec import SCOPE_FIELDS, Change, Lock, phase, tier_words
from bot.core.state import Between, Session
from bot.core.turn import Turn

_CHOICE: Final = Slot(number=1, letters=("A", "B"), recommended="A", labels=("one", "two"))


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
    if _of_others(turn, session, said, person):
        return
    if (why := _nothing_of_it(said, word, turn)) is not None:
        turn.tell(f"{why} {_ASK}", session=session)
        return
    read = _read(turn, session, said, state.lock)
    if read is None:
        return
    found, fresh = read
    changes = phases.differences(turn, session, fresh, found.because or "", person, reference(ref))
    if not changes:
        turn.tell("That is the scope already; write y to confirm it.", session=session)
    elif not found.because or any(w.asks for w in found.wanted):
        _ask(turn, session, changes)
    else:
        _change(turn, session, changes, person)


_ASK: Final = "Write what changes and why, e.g. surfaces: 4 because the admin page joins — or: y"


def _nothing_of_it(said: str, word: str | None, turn: Turn) -> str | None:
    """Words that speak of the answer and give none: what they do not do. None = others."""
    book = turn.book.phrases
    if carries_on(said, book, agreeing=True) or _accepts(said, book):
        return "Nothing goes on by that: whether this is still the scope is your word."
    if puts_off(said, book) or unsure(said, book):
        return "It waits here, and nothing is confirmed."
    return "Nothing is confirmed." if word == "no" else None


def _accepts(said: str, book: PhraseBook) -> bool:
    return read_reply(said, (_CHOICE,), book, decoded=True).kind == "accept_all"


def _of_others(turn: Turn, session: Session, said: str, person: Person) -> bool:
    """Whether somebody else is said to have described a change: logged, told, and nothing changes (AU-3)."""
    told = scope_change.of_others(said, spec_of(session), turn.book.phrases)
    if told is None:
        return False
    turn.audit("injection_incident", session, person, source="told in a message", words=quote(told))
    turn.tell(
        f"“{view.shortened(told)}” is what somebody else has said, and changes nothing here. If it is your own "
        "decision, write it as such, e.g. surfaces: 4 because the admin page joins",
        session=session,
    )
    return True


def _read(turn: Turn, session: Session, said: str, lock: Lock) -> tuple[scope_change.Described, Lock] | None:
    """The described change, and the lock with it; None where it can not be made, which is told."""
    found = scope_change.described(said, spec_of(session), turn.book.phrases)
    problems = [f"{SCOPE_FIELDS[w.field]}: {w.problem}." for w in found.wanted if w.problem]
    if not found.wanted or problems:
        named = "tier, surfaces, comparators, in scope, out of scope"
        turn.tell(*(problems or [f"What can change: {named}."]), _ASK, session=session)
        return None
    fresh = scope.applied(lock, ((w.field, w.to) for w in found.wanted))
    conflict = scope.conflicts(fresh)
    if conflict is not None:
        turn.tell(conflict, "Nothing is changed yet.", session=session)
        return None
    if found.unread:
        turn.tell(f"Not used, as it names no part of the scope: {'; '.join(found.unread)}.", session=session)
    return found, fresh


def _ask(turn: Turn, session: Session, changes: tuple[Change, ...]) -> None:
    """What would be recorded, and what is missing for it: the reason, or a yes (SC-3)."""
    spec.show(turn, session, "rationale", spec_view.described_change, changes=changes)


def rationale(turn: Turn, session: Session, stage: Between, said: str, person: Person, ref: MessageRef) -> None:
    """The reason of a change that was described without one, or the yes to one that was described with it."""
    book = turn.book.phrases
    word = yes_or_no(said, book)
    why = stage.changes[0].rationale if stage.changes else ""
    if word == "no" or said == "n" or said.casefold().strip(" .!") in ("cancel", "never mind"):
        spec_steps.close_card(turn, session, "✔ Nothing is changed.")
        session = turn.put(session, stage=Between())
        turn.tell("Nothing is changed.", session=session)
        spec.ask_scope(turn, session)
        return
    if why and (word == "yes" or said == "y"):
        _change(turn, session, _proven(stage.changes, why, ref), person)
        return
    begins = scope_change.says_why(said, book)
    if not begins and (
        _of_others(turn, session, said, person) or _describes(turn, session, stage, said, person, ref)
    ):
        return
    reason = scope_change.reason(said, book)
    nothing = pleasantry(said, book) or carries_on(said, book) or word == "yes" or len(reason) < 4
    if nothing or puts_off(said, book) or said.endswith(("?", "？")) or unsure(said, book) or (why and not begins):
        how = "Write y to record it" if why else "A reason is needed, in your words"
        turn.tell(f"{how}; or: no, to leave the scope as it is.", session=session)
        return
    _change(turn, session, _proven(stage.changes, reason, ref), person)


def _describes(turn: Turn, session: Session, stage: Between, said: str, person: Person, ref: MessageRef) -> bool:
    """Words that were to be a reason, or a yes, and describe a change as well: it joins the others, and all are asked
    about again, or it is the reason, and has to say so. Nothing is recorded meanwhile."""
    book = turn.book.phrases
    found = scope_change.described(said, spec_of(session), book)
    if not found.wanted or any(w.problem for w in found.wanted):
        return False
    why = stage.changes[0].rationale if stage.changes else ""
    if (
        not why and not found.because and all(w.asks for w in found.wanted)
    ):  # "we drop the old page" may be the reason
        named = "; ".join(f"{SCOPE_FIELDS[w.field]}: {w.to}" for w in found.wanted)
        turn.tell(
            f"Is that the reason, or another change ({named})? As the reason write: because {view.shortened(said)}",
            "For another change write: no — and then all that changes, in one message.",
            session=session,
        )
        return True
    lock = _with(spec_of(session).lock, stage.changes)
    read = _read(turn, session, said, lock)
    if read is not None:
        _, fresh = read
        spec_steps.close_card(turn, session, "✔ Asked again below, with what you have added.")
        _ask(turn, session, phases.differences(turn, session, fresh, found.because or why, person, reference(ref)))
    return True


def _proven(changes: tuple[Change, ...], reason: str, ref: MessageRef) -> tuple[Change, ...]:
    """The changes with their reason, proved by the message that described them and the one that settles them."""
    return tuple(
        c.model_copy(update={"rationale": reason, "user_message_ref": f"{c.user_message_ref}; {reference(ref)}"})
        for c in changes
    )


def _with(lock: Lock, changes: tuple[Change, ...]) -> Lock:
    """The lock as the changes leave it; of a list they hold the whole."""
    update: dict[str, Any] = {}
    for change in changes:
        whole = tuple(w for w in change.to.split("; ") if w and w != "nothing")
        update[change.field] = whole if change.field in ("in_scope", "out_of_scope") else int(change.to)
    return lock.model_copy(update=update)


def _change(turn: Turn, session: Session, changes: tuple[Change, ...], person: Person) -> None:
    """Record it, show the scope again for its "y", and offer to do again what it touches."""
    state = spec_of(session)
    fresh = _with(state.lock, changes)
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
