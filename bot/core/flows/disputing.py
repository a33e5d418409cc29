"""Several people differ on one question: every answer is kept, and the requester says which one holds (RD-12)."""

from __future__ import annotations

from bot.core import view
from bot.core.audit import human
from bot.core.capture import audit_of, clarification, found_at, reference
from bot.core.effects import Audit
from bot.core.flows.uttered import Utterance
from bot.core.model import Answer, MessageRef
from bot.core.state import Item, Pending, Round, Session
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
    letters = [one.chosen for one in (held, *offered)]  # two may have put Other into different words
    keep, *switches = (c if c is not None and letters.count(c) == 1 else None for c in letters)
    choices = (
        ("n", f"Keep {keep or 'the first'}"),
        *((switch_token(n), f"Switch to {letter or f'the {ORDINALS[n]}'}") for n, letter in enumerate(switches)),
    )
    turn.ask(
        SettleConflict(session=session.id, round=round_.id, number=item.number, by=tuple(one.by for one in offered)),
        session.requester,
        ref,
        (
            f"⚠ {item.number} · {item.question.topic}: {first} said {mine}; {'; '.join(others)}.",
            f"{asked}, which one holds? Until then it stays {mine}.",
            "Reply: " + " — or: ".join(label for _, label in choices),
        ),
        choices,
        session,
        round_,
    )


def letter_of(turn: Turn, utterance: Utterance) -> Utterance | None:
    """A bare letter while "which one holds?" waits. In reply to it, it is about that question and no other one. Said
    loose by whoever was asked, it may be meant for any of these and for what is open: None, once that is said (RP-8).
    """
    letter = utterance.own.strip(" .!()")
    if len(letter) != 1 or letter not in "ABCDEFGHabcdefgh" or not turn.state.pending:
        return utterance
    disputes = [p for p in turn.state.pending if isinstance(p.ask, SettleConflict)]
    if replied := [p for p in disputes if p.id == turn.about]:
        return _about(utterance, replied[0], letter)
    mine = [p for p in disputes if p.asked_of == utterance.person.id and not p.passed]
    if not mine or turn.about is not None or (turn.shared and not utterance.event.in_thread):
        return utterance
    session = turn.state.current
    open_ = session.round.open_items if session is not None and session.round is not None else ()
    if len(mine) == 1 and not open_:
        return _about(utterance, mine[0], letter)
    numbers = sorted(
        {item.number for item in open_} | {p.ask.number for p in mine if isinstance(p.ask, SettleConflict)}
    )
    turn.tell(
        f"“{letter}” can be meant for {', '.join(map(str, numbers))}; nothing is recorded.",
        "Put the number in front: " + " — or: ".join(f"{n}: {letter}" for n in numbers[:3]),
        session=session,
    )
    return None


def _about(utterance: Utterance, pending: Pending, letter: str) -> Utterance:
    assert isinstance(pending.ask, SettleConflict)
    text = f"{pending.ask.number}: {letter}"
    return utterance._replace(event=utterance.event.model_copy(update={"text": text}), own=text)


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
