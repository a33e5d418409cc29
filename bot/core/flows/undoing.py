"""Taking back at once what was left to the bot, or read from prose in a shared place (RP-3, RP-11)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core import view
from bot.core.effects import Withdrawal
from bot.core.events import ButtonPressed, MessageReceived
from bot.core.flows import intake, phases
from bot.core.model import Person
from bot.core.state import Asking, Round, Session
from bot.core.turn import Turn


def offer_undo(
    turn: Turn, session: Session, round_: Round, numbers: Sequence[int], person: Person
) -> tuple[Session, Round]:
    """Remember which answers one tap takes back: those left to the bot, or read from prose in a shared place."""
    round_ = round_.model_copy(update={"undo": tuple(numbers), "undo_by": person.id})
    return turn.put_round(session, round_), round_


def undo(turn: Turn, session: Session, round_: Round, person: Person) -> Session:
    """Open the questions again; their clarifications leave the records, the history keeps them."""
    taken = [i for n in round_.undo if (i := round_.item(n)) and i.status == "resolved" and i.answer]
    for item in taken:
        assert item.clarification is not None
        turn.records.append(Withdrawal(id=item.clarification, session=session.id, revision=item.revision))
        turn.audit(
            "answer.withdrawn",
            session,
            person,
            round_,
            clarification_id=item.clarification,
            revision=item.revision,
            question=item.question.id,
        )
    numbers = [i.number for i in taken]
    items = tuple(
        i.model_copy(update={"status": "open", "answer": None, "rivals": ()}) if i.number in numbers else i
        for i in round_.items
    )
    bulk = any(i.answer is not None and i.answer.via == "accept_recommendations_bulk" for i in items)
    round_ = round_.model_copy(
        update={"items": items, "undo": (), "undo_by": None, "closed_at": None, "bulk_used": bulk}
    )
    session = turn.put_round(session, round_, stage=Asking())
    turn.clear_timer(f"grace:{session.id}")
    intake.show_card(turn, session, round_)
    turn.tell(
        f"Taken back: {', '.join(map(str, numbers))}.",
        view.still_open(round_, turn.policy(session).bulk_accept),
        session=session,
        round_=round_,
    )
    event = turn.envelope.event
    if session.spec is not None and isinstance(event, MessageReceived | ButtonPressed):
        session = phases.taken_back(turn, session, event.ref, person)
    return session
