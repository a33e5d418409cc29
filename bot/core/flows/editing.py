"""An edited or deleted message. The later act wins: an edit counts at the time of the edit (RD-13)."""

from __future__ import annotations

from bot.core import view
from bot.core.capture import quote
from bot.core.events import MessageDeleted, MessageEdited
from bot.core.flows import amending, disputing, intake, menu, numbered, putting_off, recording, replying
from bot.core.model import MessageRef, Person
from bot.core.moments.wish import Wish
from bot.core.own_words import unquoted
from bot.core.replies.reading import ItemReading, Reading
from bot.core.state import (
    Item,
    Pending,
    PickNumber,
    PickRound,
    Round,
    Routing,
    Session,
    TakeReading,
    TakeSeveral,
    TakeWay,
)
from bot.core.turn import Turn


def _answered_by(item: Item, message: str) -> bool:
    return item.answer is not None and item.answer.ref.id == message


def _said_in(item: Item, message: str) -> bool:
    """Whether the answer was given in this message, or is a reading of it that was asked back and confirmed."""
    return item.answer is not None and message in (item.answer.ref.id, item.answer.ref.confirms)


def _origin(turn: Turn, message: str) -> tuple[Session, Round] | None:
    """The round that holds an answer given in this message, or in the yes to it."""
    for session in reversed(turn.state.sessions):
        for round_ in reversed(session.rounds):
            if any(_said_in(item, message) for item in round_.items):
                return session, round_
    return None


def edited(turn: Turn, event: MessageEdited) -> None:
    """Read the new text as the person's present word on what the old one said."""
    person = event.person
    short = quote(unquoted(event.text) or event.text) or event.ref.quote  # as of any message (CA-2)
    event = event.model_copy(update={"ref": event.ref.model_copy(update={"quote": short})})
    for session in turn.state.sessions:
        if session.request.ref.id == event.message and isinstance(session.stage, Routing):
            if session.requester.id == person.id and event.text.strip() != session.request.original.strip():
                menu.request_edited(turn, session, event.text)
            else:
                turn.ignore("the edit changes nothing")
            return
    for session in turn.state.sessions:
        if session.request.ref.id == event.message and session.stage.kind in ("asking", "closing"):
            turn.tell(
                "Your request is being asked about as it was; the edit changes nothing in the questions.",
                "Put it into an answer, or begin anew with /new and the whole request.",
                session=session,
            )
            return
    asked_back = _asked_back(turn, event)
    if asked_back is not None:
        turn.drop_pending(
            name=asked_back.id, how="You have changed your message: nothing is recorded by this any more."
        )
        if not isinstance(asked_back.ask, TakeReading):
            turn.tell("You changed the message that I asked about; nothing is recorded. Send it as a new message.")
            return
    found = _origin(turn, event.message)
    if found is None:
        _unanswering(turn, event)
        if asked_back is not None and turn.outcome == "ignored":
            turn.outcome, turn.reason = "accepted", None
        return
    session, round_ = found
    if any(_answered_by(i, event.message) and i.answer and _quotes_it(i.answer.ref, event) for i in round_.items):
        turn.ignore("the edit reads the same")
        return
    if any(_said_in(i, event.message) and i.answer and i.answer.by != person.id for i in round_.items):
        turn.ignore("edited by somebody else")
        return
    if intake.turns_away(turn, session, person, round_):  # it was taken away since (RD-12)
        return
    if event.unchanged and not any(_answered_by(i, event.message) for i in round_.items):
        turn.ignore("the edit changes nothing")
        return
    if numbered.names_others(turn, session, round_, event.text):
        _as_a_new_message(turn, session, round_)
        return
    # Read as if the answers of this very message were still open, so that "accept recommendations" reads the same.
    blank = round_.model_copy(
        update={
            "items": tuple(
                i.model_copy(update={"status": "open", "answer": None}) if _said_in(i, event.message) else i
                for i in round_.items
            )
        }
    )
    wish = putting_off.wish_in(turn, event.text)
    text = event.text if wish is None else wish.rest
    reading = replying.read(turn, blank, numbered.said_of_one(turn, session, text), event.decoded)
    if wish is not None and session.stage.kind == "asking":
        session = putting_off.keep(turn, session, round_, wish, person, event.ref, beside=True)
    changed = _changes(turn, round_, reading, event)
    fresh = tuple(n for n in reading.accepted if (i := round_.item(n)) and i.status == "open")  # taken in bulk
    if not changed and not fresh and not reading.errors:
        if reading.answers or reading.accepted:
            turn.ignore("the edit reads the same")
        else:  # it no longer says what it said, and nothing is withdrawn in silence
            turn.tell(
                "I can't read an answer in the edited message; what was recorded before stays.",
                f"To change it write, for example: change {round_.items[0].number} to …",
                session=session,
                round_=round_,
            )
        return
    taken = tuple(
        n for n in changed if n in reading.accepted and (i := round_.item(n)) and _said_in(i, event.message)
    )
    reading = reading.model_copy(update={"answers": changed, "accepted": fresh, "correction": True})
    if not intake.on_the_table(session, round_):
        if not amending.propose(turn, session, round_, reading, person, event.ref):
            turn.ignore("the edit changes nothing")
        return
    if not changed and not fresh:
        problems = [f"{e.item}: {e.message}" if e.item != "?" else e.message for e in reading.errors]
        turn.tell(*problems, "What was recorded before stays.", session=session, round_=round_)
        return
    explicit = {n: r for n, r in changed.items() if n not in taken}  # the rest was never named in the new text (CA-3)
    session, round_, done = recording.record(turn, session, round_, explicit, (*fresh, *taken), person, event.ref)
    intake.echo(turn, session, round_, done, reading)


def _asked_back(turn: Turn, event: MessageEdited) -> Pending | None:
    """What was asked back about the words that this edit replaces: a yes would record what is not said any more."""
    for pending in turn.state.pending:
        about = isinstance(pending.ask, TakeReading | TakeSeveral | PickNumber | PickRound | TakeWay)
        if about and pending.ref.id == event.message and pending.asked_of == event.person.id and not event.unchanged:
            return None if _quotes_it(pending.ref, event) else pending
    return None


def _quotes_it(ref: MessageRef, event: MessageEdited) -> bool:
    """Whether it quotes the very words of the edit. Behind a quote that was cut there may be others."""
    return ref.quote == event.ref.quote and not ref.quote.endswith("…")


def _changes(turn: Turn, round_: Round, reading: Reading, event: MessageEdited) -> dict[int, ItemReading]:
    """The items that the new text answers otherwise than what is held."""
    said = dict(reading.answers)
    for number in reading.accepted:
        item = round_.item(number)
        held = item is not None and item.status != "open"  # an answer changed to the recommended one, by name
        if item is not None and held and item.question.recommended is not None and number not in said:
            said[number] = ItemReading(key=item.question.recommended.key, recommended=True)
    changed = {}
    for number, item_reading in said.items():
        item = round_.item(number)
        if item is None or recording.wordless(item.question, item_reading):
            continue
        answer = recording.answer_from(item.question, item_reading, "user_response", event.person, event.ref, turn)
        if item.status != "resolved" or item.answer is None or not disputing.same(item.answer, answer):
            changed[number] = item_reading
    return changed


def _unanswering(turn: Turn, event: MessageEdited) -> None:
    """The message had answered nothing: its new text is read as a reply now, if a round is open."""
    if event.unchanged:  # whoever put a heart on an old message has not said it again (b20)
        turn.ignore("the edit changes nothing")
        return
    session = turn.state.current
    round_ = session.round if session else None
    if session is None or round_ is None or session.stage.kind != "asking":
        turn.ignore("the edited message decided nothing")
        return
    if numbered.names_others(turn, session, round_, event.text):
        _as_a_new_message(turn, session, round_)
        return
    wish = putting_off.wish_in(turn, event.text)
    if wish is not None and not wish.rest:
        _another_wish(turn, session, round_, wish, event)
        return
    reading = replying.read(turn, round_, event.text if wish is None else wish.rest, event.decoded)
    if not reading.shaped or intake.may_answer(turn, session, event.person) is not None:
        turn.ignore("the edited message decided nothing")
        return
    if _said_to_others(turn, round_, event):
        turn.refuse(
            event.person,
            "older than the round",
            "You have changed a message from when other questions were open; it answers none of these.",
            "If it should, send its words as a new message.",
            session=session,
        )
        return
    kept = {n: r for n, r in reading.answers.items() if not _said_before(turn, round_, n, r, event)}
    if reading.answers and not kept and not reading.accepted:
        turn.ignore("the edit reads the same")
        return
    reading = reading.model_copy(update={"answers": kept})
    if replying.apply(turn, session, round_, reading, event.person, event.ref) is None:
        turn.ignore("the edited message decided nothing")


def _said_to_others(turn: Turn, round_: Round, event: MessageEdited) -> bool:
    """Whether the message was there before this round and while another one was: its words were meant for that one,
    whatever has become of them, and are no answer to this one's first question (RP-7)."""
    if event.order is None or not intake.before_the_round(turn, round_, event.order):
        return False
    rounds = (other for session in turn.state.sessions for other in session.rounds)
    return any(other.order is not None and other.order <= event.order for other in rounds)


def _another_wish(turn: Turn, session: Session, round_: Round, wish: Wish, event: MessageEdited) -> None:
    """ "Ask me tomorrow at 9", edited to 10. An edit to a wish of what was none, among others, may be talk."""
    wished = any(p.ref == event.message for p in session.put_off or ())
    if (turn.shared and not wished) or intake.may_answer(turn, session, event.person) is not None:
        turn.ignore("the edited message decided nothing")
        return
    putting_off.keep(turn, session, round_, wish, event.person, event.ref)


def _as_a_new_message(turn: Turn, session: Session, round_: Round) -> None:
    turn.tell(
        "An edit can't answer several intakes by their numbers; nothing is changed by it. Send it as a new message.",
        session=session,
        round_=round_,
    )


def _said_before(turn: Turn, round_: Round, number: int, said: ItemReading, event: MessageEdited) -> bool:
    """Whether this message had said just that, before another one said otherwise."""
    item = round_.item(number)
    if item is None:
        return False
    answer = recording.answer_from(item.question, said, "user_response", event.person, event.ref, turn)
    return item.said.get(event.message) == recording.fingerprint(answer)


def deleted(turn: Turn, event: MessageDeleted) -> None:
    """Deleting withdraws nothing; the reference is marked, and whoever answered is told once, privately (RD-13)."""
    for session in turn.state.sessions:
        for round_ in session.rounds:
            numbers = [i.number for i in round_.items if _answered_by(i, event.message)]
            if numbers:
                _mark(turn, session, round_, numbers)
                return
    turn.ignore("the deleted message decided nothing")


def _mark(turn: Turn, session: Session, round_: Round, numbers: list[int]) -> None:
    answer = None
    for number in numbers:
        item = round_.item(number)
        if item is None or item.answer is None or item.answer.ref.deleted_at is not None:
            continue
        ref = item.answer.ref.model_copy(update={"deleted_at": turn.at})
        answer = item.answer.model_copy(update={"ref": ref})
        session, round_ = recording.remark(turn, session, round_, item, answer, "answer.message_deleted")
    if answer is None:
        turn.ignore("the deletion is known already")
        return
    listed = ", ".join(map(str, numbers))
    stands = f"What you answered in the message that was deleted stands ({listed})."
    turn.say(
        view.says(stands, f"To change it write, for example: change {numbers[0]} to …"),
        only_to=Person(id=answer.by, name=answer.by_name) if turn.shared else None,
        session=session,
        round_=round_,
    )
