"""Changing one's mind after a round has closed, by words or by editing a message (RD-13)."""

from __future__ import annotations

from collections.abc import Mapping

from bot.core import document_view, scope, view
from bot.core.capture import found_at
from bot.core.flows import disputing, handover, intake, recording
from bot.core.model import Answer, MessageRef, Person
from bot.core.replies.reading import ItemReading, Reading
from bot.core.state import Amend, Ended, Round, Session
from bot.core.turn import Turn


def last_closed(turn: Turn, person: Person, about: str | None) -> tuple[Session, Round] | None:
    """The round replied to, else this person's last closed round here."""
    found: tuple[Session, Round] | None = None
    for session in turn.state.sessions:
        for round_ in session.rounds:
            if round_.closed_at is None or session.stage.kind not in ("ended", "closing"):
                continue
            if about in (round_.id, session.id):
                return session, round_
            mine = session.requester.id == person.id or any(
                i.answer is not None and i.answer.by == person.id for i in round_.items
            )
            newest = found is None or found[1].closed_at is None or round_.closed_at >= found[1].closed_at
            if about is None and mine and newest:
                found = (session, round_)
    return found


LOCKED = (
    "The scope is locked, and that answer is part of it. /jump 3 opens the re-confirm, where you describe the change."
)


def locked(session: Session, round_: Round, answers: Mapping[int, ItemReading]) -> bool:
    """Whether a change would reach into a locked scope: a lock refuses it and says what would lift it (RD-13)."""
    if session.spec is None or not session.spec.lock.locked:
        return False
    return any((i := round_.item(n)) is not None and i.question.field in scope.INPUTS for n in answers)


def worded(reading: Reading) -> Reading | None:
    """What is said of a numbered question where it may be no answer: "1: delete", "1: we'll see". A change is asked
    about anyway, so it is offered as it stands (RP-3, RD-13)."""
    if reading.answers or not any(error.item.isdigit() for error in reading.errors):
        return None
    kept = next((p.answers for p in reading.proposals if p.kind == "answers"), {})
    own = {number: item for number, item in kept.items() if item.text}
    return Reading(kind="answers", answers=own, shaped=True) if own else None


def propose(
    turn: Turn, session: Session, round_: Round, reading: Reading, person: Person, ref: MessageRef, lead: str = ""
) -> bool:
    """Offer the change for confirmation, after `lead`. False when the reading changes nothing that can be changed."""
    if locked(session, round_, reading.answers):
        turn.refuse(person, "the scope is locked", LOCKED, session=session)
        return True
    answers: dict[int, Answer] = {}
    lines: list[str] = [f"{e.item}: {e.message}" if e.item != "?" else e.message for e in reading.errors]
    for number, item_reading in sorted(reading.answers.items()):
        item = round_.item(number)
        if item is None or item_reading.key == "skip" or recording.wordless(item.question, item_reading):
            continue
        answer = recording.answer_from(item.question, item_reading, "user_response", person, ref, turn)
        if item.answer is not None and item.status == "resolved":
            if disputing.same(item.answer, answer):
                lines.append(f"{number} is {view.answer_words(item.question, answer)} already.")
                continue
            was = view.answer_words(item.question, item.answer)
        else:
            was = view.ENDS.get(item.status, "open")
        answers[number] = answer
        lines.append(
            f"{number} · {item.question.topic}: was {was}, would be {view.answer_words(item.question, answer)}."
        )
    if not answers:
        if lines:
            turn.tell(*filter(None, (lead,)), *lines, session=session, round_=round_)
        return bool(lines)
    if intake.turns_away(turn, session, person, round_):
        return True
    turn.ask(
        Amend(session=session.id, round=round_.id, answers=answers),
        person,
        ref,
        (*filter(None, (lead,)), *lines, _question(session)),
        (("y", "Yes, change it"), ("n", "No")),
        session,
        round_,
    )
    return True


def _question(session: Session) -> str:
    if isinstance(session.stage, Ended) and session.stage.how != "completed":
        return f"This intake was {session.stage.how} and nothing was handed on. Change its record all the same?"
    if session.stage.kind != "ended":
        return "That round is closed. Change its answer all the same?"
    return "This round is closed and its result was handed on. Change it, and send the change after it?"


def decide(turn: Turn, ask: Amend, choice: str, person: Person, proof: MessageRef) -> None:
    session = turn.state.session(ask.session)
    round_ = next((r for r in session.rounds if r.id == ask.round), None) if session else None
    if session is None or round_ is None:
        turn.tell(
            "That intake is too old to be changed here; its record stays as it is. Start a new one for the change."
        )
        return
    if choice != "y":
        turn.audit("answer.confirmation_declined", session, person, round_, user_message_ref=found_at(proof))
        turn.tell("Left as it was.", session=session, round_=round_)
        return
    lines = []
    for number, answer in sorted(ask.answers.items()):
        item = round_.item(number)
        if item is None:
            continue
        was = view.answer_words(item.question, item.answer) if item.answer else view.ENDS.get(item.status, "open")
        proven = answer.model_copy(update={"ref": proof, "at": turn.at})
        session, round_ = recording.resolve(turn, session, round_, item, proven, "answer.amended")
        lines.append(f"{number} was {was}, is now {view.answer_words(item.question, proven)}.")
    send_again(turn, session, round_, lines)


def send_again(turn: Turn, session: Session, round_: Round, lines: list[str]) -> None:
    """Tell the place, redraw the card, and send the changed document to whoever has the old one."""
    turn.redraw(round_.card, view.round_card(session, round_, bulk=False), session, round_)
    if session.stage.kind != "ended" or session.stage.how != "completed":
        turn.tell(*lines, session=session, round_=round_)
        return
    made = turn.document(session)
    lead = " ".join((*lines, "The changed result goes after the first one."))
    turn.say(document_view.with_document(made, handover.title(turn, session), lead), session=session)
