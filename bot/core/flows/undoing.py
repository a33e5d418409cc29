"""Taking answers back: by one tap what was left to the bot or read from prose in a shared place (RP-3, RP-11), and by
word what somebody has answered last (RD-13)."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core import view
from bot.core.effects import Withdrawal
from bot.core.events import ButtonPressed, MessageReceived
from bot.core.flows import intake, phases, replying
from bot.core.flows.words import words_of
from bot.core.model import MessageRef, Person
from bot.core.own_words import only_marked
from bot.core.replies.reading import Proposal, Reading
from bot.core.replies.wording import CANCEL
from bot.core.state import Asking, Item, Round, Session
from bot.core.turn import Turn

LONGEST, WORDS = 48, 6  # of "undo", in any language and with a please; a longer message says more


def offer_undo(
    turn: Turn, session: Session, round_: Round, numbers: Sequence[int], person: Person
) -> tuple[Session, Round]:
    """Remember which answers one tap takes back: those left to the bot, or read from prose in a shared place."""
    round_ = round_.model_copy(update={"undo": tuple(numbers), "undo_by": person.id})
    return turn.put_round(session, round_), round_


def _last_acts(round_: Round, person: Person) -> list[tuple[Item, ...]]:
    """What this person's newest act has answered, as far as it stands and nobody differs.

    There is more than one where the clock does not tell them apart."""
    own = [(i, i.answer) for i in round_.items if i.status == "resolved" and i.answer and i.answer.by == person.id]
    newest = max((answer.at for _, answer in own), default=None)
    acts: dict[str, list[Item]] = {}
    for item, answer in own:
        if answer.at == newest and not item.rivals:
            acts.setdefault(answer.ref.id, []).append(item)
    return [tuple(items) for items in acts.values()]


def presses(round_: Round, person: Person) -> bool:
    """Whether "undo", typed, means the button: it is about what has been answered last."""
    return any(i.number in round_.undo for items in _last_acts(round_, person) for i in items)


def meant(turn: Turn, round_: Round, text: str, person: Person) -> bool:
    """Whether "undo" is all that is said, and something that this person has answered can be taken back."""
    if len(text) > LONGEST or len(text.split()) > WORDS or only_marked(text):
        return False
    return bool(_last_acts(round_, person)) and words_of(text, turn.book.phrases, "undo") is not None


def typed(turn: Turn, session: Session, round_: Round, person: Person, ref: MessageRef, *, ends: bool) -> None:
    """ "Undo": the newest answer is taken back. Where it was more than one, or took the place of an earlier one, or
    an Undo button is about others, it is asked first.

    `ends`: the word may mean the whole request as well, as in Russian; so it is asked, too."""
    acts = _last_acts(round_, person)
    (first, *_), *_ = acts
    meant = [tuple(i.number for i in items) for items in acts]
    if round_.undo_by == person.id and round_.undo and not presses(round_, person):
        meant.append(round_.undo)
    if meant == [(first.number,)] and first.revision == 1 and not ends:
        undo(turn, session, round_, person, meant[0])
        return
    offers = (*map(_take_back, meant), *((CANCEL,) if ends else ()))
    replying.confirm(turn, session, round_, Reading(kind="needs_confirmation", proposals=offers), person, ref)


def _take_back(numbers: tuple[int, ...]) -> Proposal:
    return Proposal(kind="take_back", numbers=numbers, label=f"Take back {', '.join(map(str, numbers))}")


def undo(turn: Turn, session: Session, round_: Round, person: Person, numbers: Sequence[int] = ()) -> Session:
    """Open these questions again, or those that the button is for; their clarifications leave the records.

    The history keeps them."""
    taken = [i for n in numbers or round_.undo if (i := round_.item(n)) and i.status == "resolved" and i.answer]
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
    left = tuple(n for n in round_.undo if n not in numbers)
    items = tuple(
        i.model_copy(update={"status": "open", "answer": None, "rivals": ()}) if i.number in numbers else i
        for i in round_.items
    )
    bulk = any(i.answer is not None and i.answer.via == "accept_recommendations_bulk" for i in items)
    round_ = round_.model_copy(
        update={
            "items": items,
            "undo": left,
            "undo_by": round_.undo_by if left else None,
            "closed_at": None,
            "bulk_used": bulk,
        }
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
