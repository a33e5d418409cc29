"""Several people differ on one question: every answer is kept, and the requester says which one holds (RD-12)."""

from __future__ import annotations

from bot.core import view
from bot.core.audit import human
from bot.core.capture import audit_of, clarification, found_at, reference
from bot.core.effects import Audit
from bot.core.model import Answer, MessageRef
from bot.core.state import Item, Round, Session
from bot.core.state import Settle as SettleConflict
from bot.core.turn import Turn

ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def same(one: Answer, other: Answer) -> bool:
    return (one.chosen, one.text, one.note) == (other.chosen, other.text, other.note)


def conflict(turn: Turn, session: Session, round_: Round, item: Item, answer: Answer) -> tuple[Session, Round]:
    """A different answer by another allowed person waits for the requester: keep or switch (RD-12)."""
    held = item.answer
    assert held is not None
    others = (rival for rival in item.rivals if rival.by != answer.by)  # a later word of one's own replaces it
    item = item.model_copy(update={"rivals": (*others, answer)})
    round_ = _with(round_, item)
    session = turn.put_round(session, round_)
    turn.records.append(
        audit_of(clarification(session, round_, item, turn.surface), "answer.conflict").model_copy(
            update={
                "actor": f"human:{answer.by}",
                "details": {
                    "number": item.number,
                    "clarification_of": item.clarification,
                    "chosen": answer.chosen,
                    "chosen_text": answer.text,
                    "user_message_ref": reference(answer.ref),
                },
            }
        )
    )
    _ask_which(turn, session, round_, item, answer.ref)
    return session, round_


def _ask_which(turn: Turn, session: Session, round_: Round, item: Item, ref: MessageRef) -> None:
    """Put every answer that was given to the requester, each named once with whoever gave it first."""
    held = item.answer
    assert held is not None
    offered: list[Answer] = []
    for rival in item.rivals:
        if not any(same(rival, other) for other in offered):
            offered.append(rival)
    offered = offered[: len(ORDINALS)]
    asked = view.isolate(session.requester.name, session.requester.id)
    mine = view.answer_words(item.question, held)
    others = [
        f"{' and '.join(view.isolate(r.by_name, r.by) for r in item.rivals if same(r, one))} "
        f"{'says' if sum(same(r, one) for r in item.rivals) == 1 else 'say'} {view.answer_words(item.question, one)}"
        for one in offered
    ]
    first = view.isolate(held.by_name, held.by)
    turn.ask(
        SettleConflict(session=session.id, round=round_.id, number=item.number, by=tuple(one.by for one in offered)),
        session.requester,
        ref,
        (
            f"⚠ {item.number} · {item.question.topic}: {first} said {mine}; {'; '.join(others)}.",
            f"{asked}, which one holds? Until then it stays {mine}.",
        ),
        (
            ("n", f"Keep {held.chosen or 'the first'}"),
            *((switch_token(n), f"Switch to {one.chosen or f'the {ORDINALS[n]}'}") for n, one in enumerate(offered)),
        ),
        session,
        round_,
    )


def switch_token(n: int) -> str:
    """The end of the token that switches to the n-th of the other answers."""
    return "y" if n == 0 else f"y{n}"


def agreed(turn: Turn, session: Session, round_: Round, item: Item, answer: Answer) -> tuple[Session, Round, Item]:
    """One of those who differed has come round; with the others the dispute goes on."""
    left = tuple(rival for rival in item.rivals if rival.by != answer.by)
    if not left:
        return settled(turn, session, round_, item, answer)
    item = item.model_copy(update={"rivals": left})
    round_ = _with(round_, item)
    session = turn.put_round(session, round_)
    _ask_which(turn, session, round_, item, left[-1].ref)
    return session, round_, item


def settled(turn: Turn, session: Session, round_: Round, item: Item, answer: Answer) -> tuple[Session, Round, Item]:
    """The requester answers a disputed question anew: the dispute is over, whatever they say."""
    for pending in turn.state.pending:
        ask = pending.ask
        if isinstance(ask, SettleConflict) and (ask.round, ask.number) == (round_.id, item.number):
            turn.drop_pending(name=pending.id)
    item = item.model_copy(update={"rivals": ()})
    round_ = round_.model_copy(update={"items": tuple(item if i.number == item.number else i for i in round_.items)})
    turn.records.append(
        Audit(
            event="answer.conflict_settled",
            session=session.id,
            phase=round_.phase,
            actor=human(answer.by),
            details={"number": item.number, "chosen": answer.chosen, "user_message_ref": found_at(answer.ref)},
        )
    )
    return turn.put_round(session, round_), round_, item


def _with(round_: Round, item: Item) -> Round:
    return round_.model_copy(update={"items": tuple(item if i.number == item.number else i for i in round_.items)})
