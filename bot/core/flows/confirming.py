"""Answers to the questions of our own: a tap, or a typed yes, no, or number."""

from __future__ import annotations

from datetime import timedelta

from bot.core import view
from bot.core.capture import confirmed, found_at, quote
from bot.core.flows import (
    amending,
    disputing,
    intake,
    leaving,
    numbered,
    putting_off,
    recording,
    replying,
    several,
    spec_ways,
    undoing,
)
from bot.core.flows.words import place_of, words_of, yes_or_no
from bot.core.model import Answer, MessageRef, Person
from bot.core.moments.wish import only_asks
from bot.core.own_words import marked, only_marked, unquoted
from bot.core.replies.reading import Proposal, Reading
from bot.core.state import (
    Amend,
    Item,
    LeaveSession,
    Pending,
    PickNumber,
    PickRound,
    Round,
    Session,
    TakeReading,
    TakeSeveral,
    TakeWay,
)
from bot.core.state import Settle as SettleConflict
from bot.core.turn import Turn

WHICH = "?"  # of a choice: a yes that does not say to which
LATELY = timedelta(minutes=10)  # a "yes" said later is about something else


def decide(turn: Turn, pending: Pending, choice: str, person: Person, ref: MessageRef) -> None:
    """Carry out one answer. `choice` is the end of a button's token: "n" is no, the rest depends on the question."""
    if choice == WHICH:
        _ask_which(turn, pending, person)
        return
    session = turn.state.session(getattr(pending.ask, "session", None))
    answered = None if choice == "n" or isinstance(pending.ask, LeaveSession) else session
    if answered is not None and intake.turns_away(turn, answered, person):  # may be taken away since (RD-12)
        return
    turn.drop_pending(name=pending.id, how=f"✔ {_chosen(pending, choice)}")
    proof = confirmed(ref, pending.ref)
    match pending.ask:
        case TakeReading():
            _reading(turn, pending.ask, choice, person, proof)
        case SettleConflict():
            _conflict(turn, pending.ask, choice, person, proof)
        case Amend():
            amending.decide(turn, pending.ask, choice, person, proof)
        case LeaveSession():
            leaving.leave(turn, pending.ask, choice, person, pending.ref)
        case PickRound():
            _pick(turn, pending, pending.ask, choice, person)
        case TakeSeveral():
            several.decide(turn, pending.ask, choice, person, proof)
        case PickNumber():
            numbered.picked(turn, pending.ask, choice, person, pending.ref)
        case TakeWay():
            spec_ways.confirmed(turn, pending.ask, choice, person, proof)


def _ask_which(turn: Turn, pending: Pending, person: Person) -> None:
    """A yes that does not say to which: the same is asked once more, and nothing else can have been meant."""
    session = turn.state.session(getattr(pending.ask, "session", None))
    lead = "Which one? Write its number, or press a button."
    words = pending.words if pending.words[:1] == (lead,) else (lead, *pending.words)
    round_ = None if session is None else session.round
    turn.drop_pending(name=pending.id, how="– asked again")
    turn.ask(pending.ask, person, pending.ref, words, pending.choices, session, round_)


def choices(pending: Pending) -> tuple[str, ...]:
    """The answers that a question of our own knows; anything else on a button is forged."""
    match pending.ask:
        case TakeReading(proposals=offered) | PickRound(rounds=offered):
            return (*(str(i) for i in range(len(offered))), "n")
        case PickNumber():
            return ("0", "1", "n")
        case SettleConflict(by=by):
            return (*(disputing.switch_token(n) for n in range(max(1, len(by)))), "n")
        case _:
            return ("y", "n")


def _several(pending: Pending) -> bool:
    return isinstance(pending.ask, PickRound | PickNumber) or len(choices(pending)) > 2


def _chosen(pending: Pending, choice: str) -> str:
    """The answer in a word, for the question's card."""
    if isinstance(pending.ask, SettleConflict):
        return next((label for end, label in pending.choices if end == choice), choice)
    if choice == "n":
        return "no"
    return f"{int(choice) + 1}" if _several(pending) else "yes"


def _reading(turn: Turn, ask: TakeReading, choice: str, person: Person, proof: MessageRef) -> None:
    session = turn.state.session(ask.session)
    round_ = next((r for r in session.rounds if r.id == ask.round), None) if session else None
    if session is None or round_ is None or not intake.on_the_table(session, round_):
        see = None if session is None else view.newest_card(session)
        turn.tell(view.over(session, round_), session=session, round_=round_, see=see)
        return
    if choice == "n":
        turn.audit("answer.confirmation_declined", session, person, round_, user_message_ref=found_at(proof))
        turn.tell(
            "Nothing recorded.",
            view.still_open(round_, turn.policy(session).bulk_accept),
            session=session,
            round_=round_,
        )
        return
    if round_.revision != ask.revision:  # RD-15: bound to what was seen
        intake.show_card(turn, session, round_, anew=True)
        turn.tell("The questions have changed since you wrote that; here they are again. Nothing recorded.")
        return
    proposal = ask.proposals[int(choice)]
    if proposal.kind == "force_quit":
        replying.force_quit(turn, session, round_, person, proof)
    elif proposal.kind == "cancel":
        replying.cancel(turn, session, person, proof)
    elif proposal.kind == "take_back":
        undoing.undo(turn, session, round_, person, proposal.numbers)
    elif proposal.kind == "put_off":
        putting_off.keep(turn, session, round_, putting_off.wished(turn, proposal.until or ""), person, proof)
    else:
        replying.apply(turn, session, round_, _taken(round_, proposal), person, proof)


def _taken(round_: Round, proposal: Proposal) -> Reading:
    accepted = replying.proposal_numbers(round_, proposal) if proposal.kind == "accept_all" else ()
    return Reading(kind="answers", answers=proposal.answers, accepted=accepted)


def _chosen_rival(ask: SettleConflict, item: Item | None, choice: str) -> Answer | None:
    """The answer that a choice switches to; for *keep*, any that it turns down. None when the dispute is over."""
    if item is None or not item.rivals:
        return None
    by = {disputing.switch_token(n): person for n, person in enumerate(ask.by)}.get(choice)
    return next((rival for rival in item.rivals if by is None or rival.by == by), None)


def _settled(session: Session | None, round_: Round | None, item: Item | None) -> str:
    """Which answer holds of those that differed, and how it is changed."""
    if session is None or round_ is None or item is None or item.answer is None:
        return view.over(session, round_)
    words = view.answer_words(item.question, item.answer)
    how = f"To change it: change {item.number} to … in #{session.number}"
    return f"{item.number} ({item.question.topic}) is settled already: {words}. {how}"


def _conflict(turn: Turn, ask: SettleConflict, choice: str, person: Person, proof: MessageRef) -> None:
    """The requester keeps the first answer or switches to the other person's (RD-12)."""
    session = turn.state.session(ask.session)
    round_ = next((r for r in session.rounds if r.id == ask.round), None) if session else None
    item = round_.item(ask.number) if round_ else None
    rival = _chosen_rival(ask, item, choice)
    if session is None or round_ is None or item is None or rival is None:
        turn.tell(_settled(session, round_, item), session=session, round_=round_)
        return
    items = tuple(i.model_copy(update={"rivals": ()}) if i.number == item.number else i for i in round_.items)
    round_ = round_.model_copy(update={"items": items})
    session = turn.put_round(session, round_)
    switched = choice != "n"
    turn.audit(
        "answer.conflict_settled",
        session,
        person,
        round_,
        number=item.number,
        switched=switched,
        user_message_ref=found_at(proof),
    )
    done = recording.Recorded()
    if switched:
        was = view.answer_words(item.question, item.answer) if item.answer else "open"
        fresh = round_.item(item.number)
        assert fresh is not None
        event = "answer.amended" if session.stage.kind == "ended" else "answer.replaced"
        both = f'{rival.ref.quote}", settled by {found_at(proof)}: "{person.name} chose it'
        settled = rival.model_copy(update={"ref": rival.ref.model_copy(update={"quote": both})})
        session, round_ = recording.resolve(turn, session, round_, fresh, settled, event)
        done.replaced.append(f"{item.number} was {was}, is now {view.answer_words(item.question, rival)}.")
        done.lines = list(done.replaced)
    else:
        assert item.answer is not None
        done.lines = [f"{item.number} stays {view.answer_words(item.question, item.answer)}."]
    if session.stage.kind == "asking":
        intake.echo(turn, session, round_, done, None)
    else:
        amending.send_again(turn, session, round_, done.lines)


def _pick(turn: Turn, pending: Pending, ask: PickRound, choice: str, person: Person) -> None:
    """A loose reply is given to the round that the person picked (RP-7)."""
    if choice == "n":
        turn.tell("Left alone; nothing recorded.")
        return
    for session in turn.state.sessions:
        for round_ in session.rounds:
            if round_.id == ask.rounds[int(choice)]:
                reading = replying.read(turn, round_, ask.text, decoded=True)
                if replying.apply(turn, session, round_, reading, person, pending.ref) is None:
                    replying.nudge(turn, session, round_, "I can't read an answer in that.")
                return


def _keep_or_switch(
    turn: Turn, pending: Pending, ask: SettleConflict, text: str, *, replied: bool
) -> tuple[Pending, str] | None:
    """ "keep", "switch" where there is one other answer, or the words of a button; in reply its letter alone, too."""
    word = text.strip(" .!()").casefold()
    session = turn.state.session(ask.session)
    round_ = next((r for r in session.rounds if r.id == ask.round), None) if session else None
    item = round_.item(ask.number) if round_ else None
    if item is None or item.answer is None or not item.rivals:
        return None
    for end, label in pending.choices:
        if word == label.casefold() or (replied and len(word) == 1 and label.casefold().endswith(f" {word}")):
            return pending, end
    meant = words_of(text, turn.book.phrases, "keep_it", "switch")
    if meant == "keep_it":
        return pending, "n"
    return (pending, "y") if meant == "switch" and len(choices(pending)) == 2 else None


def overheard(turn: Turn, person: Person, text: str) -> bool:
    """A plain yes or no, said in the place around the thread in which this person was asked something just now.

    It may be meant for somebody else, so it decides nothing (RP-3); once they are told, privately, where it counts.
    """
    lately = [
        p
        for p in turn.state.pending
        if p.asked_of == person.id and not p.passed and p.reminded is None and turn.at - p.at <= LATELY
    ]
    if turn.whole_place is None or not lately or yes_or_no(text, turn.book.phrases) is None:
        return False
    told = lately[-1]
    kept = (p.model_copy(update={"reminded": True}) if p.id == told.id else p for p in turn.state.pending)
    turn.set(pending=tuple(kept))
    turn.ignore("a yes or no said elsewhere than where it was asked for")
    lines = (
        f"If “{quote(text)}” was for me: I asked in a thread, and nothing is recorded yet.",
        "Press a button there, or answer there.",
    )
    turn.say(view.says(*lines), only_to=person)
    return True


def typed(
    turn: Turn, person: Person, text: str, direct: str | None, *, in_thread: bool = False
) -> tuple[Pending, str] | None:
    """The question of our own that a typed message answers, and the choice; None when it answers none.

    In a shared place it has to be a direct reply to that question (RP-3), or said in the thread that it was asked in;
    elsewhere the newest one is meant, unless another session's questions have come after it. `text` holds no quoted
    lines: these are somebody else's and answer nothing (AU-3).
    """
    if only_marked(text):
        return None
    asked = [p for p in turn.state.pending if p.asked_of == person.id]
    loose = turn.shared and not in_thread
    named = loose or direct is not None  # else "ok" after something else is not about it any more
    mine = [p for p in asked if (p.id == direct if named else not p.passed)]
    disputes = [p for p in asked if isinstance(p.ask, SettleConflict)]
    if in_thread and not mine and len(disputes) == 1:  # "switch" says by itself what it is about
        mine = disputes
    if direct is None and not loose and (current := turn.state.current) is not None:
        since = current.round.opened_at if current.round else current.started_at
        mine = [p for p in mine if getattr(p.ask, "session", None) in (None, current.id) or p.at > since]
    if not mine:
        return None
    pending = mine[-1]
    if isinstance(pending.ask, SettleConflict):  # "which one holds?" is not answered by yes or no
        return _keep_or_switch(turn, pending, pending.ask, text, replied=pending.id == direct)
    word = yes_or_no(text, turn.book.phrases)
    if word == "no":
        return pending, "n"
    if word == "yes" and not _several(pending):
        return pending, choices(pending)[0]
    if not _several(pending):
        return None
    if word == "yes":
        return pending, WHICH
    offered = pending.ask.proposals if isinstance(pending.ask, TakeReading) else ()
    again = next((str(i) for i, p in enumerate(offered) if p.kind == "put_off"), None)
    if again is not None and only_asks(text, turn.book.times):
        return pending, again  # "ask me then"
    digits = text.strip().rstrip(".)")
    shown = {str(i): choice for i, choice in enumerate(choices(pending)[:-1], start=1)}
    if digits not in shown:
        digits = str(place_of(text, turn.book.phrases))
    return (pending, shown[digits]) if digits in shown else None


def quoted(turn: Turn, person: Person, text: str, direct: str | None, *, in_thread: bool) -> bool:
    """A yes or no that stands in quotation marks: as it would answer a question of our own, it is told why it does
    not (CH-2, AU-3)."""
    words = unquoted(marked(text)) if turn.state.pending else ""
    found = typed(turn, person, words, direct, in_thread=in_thread) if words else None
    if found is None:
        return False
    session = turn.state.session(getattr(found[0].ask, "session", None))
    turn.tell("Quoted words decide nothing here; write it without the marks, or press a button.", session=session)
    turn.ignore("quoted words")  # no act of this person's: a "yes" right behind it still means the same question
    return True
