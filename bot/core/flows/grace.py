"""A message within the grace: a change needs no yes, a new request ends it and is heard by itself (RD-16)."""

from __future__ import annotations

from datetime import timedelta

from bot.core.flows import amending, handover, idle, intake, recording, replying, threads, undoing
from bot.core.flows.asked_for import request_in
from bot.core.flows.uttered import Utterance
from bot.core.flows.words import pleasantry
from bot.core.replies.reading import Reading
from bot.core.state import Closing, Round, Session
from bot.core.turn import Turn

LONGER = timedelta(minutes=1)  # somebody is hesitating: more time before the hand-over


def closing_message(turn: Turn, session: Session, utterance: Utterance) -> None:
    """Within the grace a change needs no confirmation; a new request ends it and is heard by itself (RD-16)."""
    round_ = session.round
    assert round_ is not None
    event, person = utterance.event, utterance.person
    reading = replying.read(turn, round_, event.text, event.decoded)
    meant = utterance.direct or reading.shaped or (utterance.asked and threads.counts(reading, event.text))
    if turn.shared and not meant:
        turn.ignore("ordinary talk")
        return
    if intake.turns_away(turn, session, person, round_):
        return
    if not utterance.forwarded and not event.materials:
        if pleasantry(event.text, turn.book.phrases):
            turn.ignore("a pleasantry")
            return
        if _during_grace(turn, session, round_, reading, utterance):
            return
    handover.hand_over(turn, session)
    turn.about = None
    idle.idle(turn, utterance)


def _during_grace(turn: Turn, session: Session, round_: Round, reading: Reading, utterance: Utterance) -> bool:
    """What can be said about answers that are about to be handed over. False when it is about something else."""
    event, ref = utterance.event, utterance.ref
    if reading.answers and (reading.shaped or reading.correction):
        session, round_, done = recording.record(turn, session, round_, reading.answers, (), event.person, ref)
        intake.echo(turn, session, round_, done, reading)
        return True
    undo = undoing.meant(turn, round_, event.text, event.person)
    if reading.kind == "cancel" and not undo:
        replying.cancel(turn, session, event.person, ref)
        return True
    if request_in(turn, event) is not None or event.text.lstrip()[:1] in ("/", "!", "["):
        return False
    problems = [f"{e.item}: {e.message}" if e.item != "?" else e.message for e in reading.errors]
    until = turn.at + LONGER
    turn.put(session, stage=Closing(until=until))
    turn.timer(f"grace:{session.id}", until)
    if undo:
        undoing.typed(turn, session, round_, event.person, ref, ends=reading.kind == "cancel")
        return True
    if reading.kind == "question_back":
        replying.explain(turn, session, round_, reading)
        return True
    own = amending.worded(reading)
    if own is not None and amending.propose(turn, session, round_, own, event.person, ref):
        return True
    turn.tell(
        *problems,
        f"Held back for a minute. To change an answer: change {round_.items[0].number} to … — or: cancel.",
        "Something new starts with /new.",
        session=session,
        round_=round_,
    )
    return True
