"""A message while no round is open to it: an amendment, a late word, a pleasantry, or a first message."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core import view
from bot.core.events import MessageReceived
from bot.core.flows import amending, intake, opening, putting_off, replying, threads
from bot.core.flows.asked_for import begins_with_command, begins_with_token, materials, request_in
from bot.core.flows.uttered import Utterance, asked_here
from bot.core.flows.words import LONGEST, pleasantry, second_thought, unsure
from bot.core.model import MessageRef
from bot.core.replies.reading import Reading, Slot
from bot.core.state import Asking, PickRound, Round, Session
from bot.core.turn import Turn


def idle(turn: Turn, utterance: Utterance) -> None:
    """Nothing is on the table: an amendment, a late word, a pleasantry, or a first message."""
    event, ref, person, text = utterance.event, utterance.ref, utterance.person, utterance.text
    commanded = begins_with_command(turn, text)  # explicit intent, whatever stands behind it (RT-2)
    meant = utterance.direct or not turn.shared or begins_with_token(text) or commanded
    about_what_was = not utterance.forwarded and not commanded  # it may be
    if about_what_was and _amends(turn, event, ref, utterance.direct):
        return
    if not meant:
        if not threads.which_thread(turn, event):
            turn.ignore("ordinary talk")
        return
    waiting = [s for s in turn.state.sessions if isinstance(s.stage, Asking)]
    if waiting and about_what_was and _late_answer(turn, waiting, event, ref):
        return
    plain = not event.materials and not commanded
    if plain and pleasantry(text, turn.book.phrases) and (turn.state.counted or not text.strip()):
        turn.ignore("a pleasantry")
        return
    if person.outside and not turn.settings.outsiders:  # they could never answer what would be asked (RD-12)
        turn.audit("access.answer_refused", None, person, reason="from outside")
        turn.refuse(
            person, "from outside", "People from outside can't start an intake here; ask somebody of the team."
        )
        return
    if plain and not utterance.forwarded and _wishes(turn, text):
        putting_off.about_nothing(turn)
        return
    if plain and not utterance.forwarded and _answers_nothing(turn, text, event.decoded):
        turn.tell("Nothing is open here, so nothing is recorded. Something new: just say what you need.")
        return
    opening.first_message(turn, person, "" if utterance.forwarded else text, materials(event), ref)


def _wishes(turn: Turn, text: str) -> bool:
    """ "Remind me tomorrow" with nothing open. Where it names a workflow as well, it is a request (RT-2)."""
    if not text.strip() or not putting_off.only_wishes(turn, text):
        return False
    return turn.routed(text, ()).outcome != "proceed"


ANY_ROUND = tuple(Slot(number=n, letters=tuple("ABCD"), recommended="A", topic=f"{n}") for n in range(1, 10))


def _answers_nothing(turn: Turn, text: str, decoded: bool) -> bool:
    """ "Accept recommendations but 2 c", "1: B, rest default", where nothing has been asked (RT-14, CH-2)."""
    if len(text) > LONGEST:
        return False
    reading = turn.reading(text, ANY_ROUND, decoded=decoded)
    if reading.kind not in ("accept_all", "accept_all_except", "answers") or not reading.shaped:
        return False
    lettered = all(said.key in "ABCD" and not said.note for said in reading.answers.values())
    return lettered and reading.note is None and turn.routed(text, ()).outcome != "proceed"


def _amends(turn: Turn, event: MessageReceived, ref: MessageRef, direct: bool) -> bool:
    """ "change 2 to C" after the end, or an answer in reply to a closed card (RD-13)."""
    found = amending.last_closed(turn, event.person, turn.about)
    if found is None:
        return False
    session, round_ = found
    reading = replying.read(turn, round_, event.text, event.decoded)
    if not reading.answers and turn.about in (round_.id, session.id):  # "B" in reply to the card of one question
        anew = tuple(i.model_copy(update={"status": "open", "answer": None}) for i in round_.items)
        fresh = replying.read(turn, round_.model_copy(update={"items": anew}), event.text, event.decoded)
        if fresh.answers and all(
            (i := round_.item(n)) and i.question.option(r.key) for n, r in fresh.answers.items()
        ):
            return amending.propose(turn, session, round_, fresh, event.person, ref)
    reading = amending.worded(reading) or reading
    said = [r for r in reading.answers.values() if r.key != "skip"]
    about_it = _about_the_closed(turn, event, reading, direct, session) or _answers_it(turn, event, round_, direct)
    if not said and about_it:
        problems = [f"{e.item}: {e.message}" if e.item != "?" else e.message for e in reading.errors]
        turn.tell(
            *problems,
            f"{round_.title} (#{session.number}) is over and nothing is open here.",
            f"To change an answer: change {round_.items[0].number} to … — something new: just say what you need.",
            session=session,
            round_=round_,
        )
        return True
    if not reading.answers or not (
        reading.correction or (reading.shaped and (direct or event.in_thread or not turn.shared))
    ):
        return False
    return amending.propose(turn, session, round_, reading, event.person, ref)


def at_the_menu(turn: Turn, utterance: Utterance) -> bool:
    """A change of a closed round's answers, by number and letter, while only a menu is open (RD-13)."""
    event = utterance.event
    found = amending.last_closed(turn, event.person, turn.about)
    if found is None or event.materials:
        return False
    session, round_ = found
    reading = replying.read(turn, round_, event.text, event.decoded)
    numbered = len(round_.items) > 1 or event.text.lstrip()[:1].isdigit()  # a bare letter is the menu's
    letters = numbered and all(r.key not in ("other", "skip") for r in reading.answers.values())
    if not reading.answers or not (reading.correction or letters):
        return False
    return amending.propose(turn, session, round_, reading, event.person, utterance.ref)


def _about_the_closed(turn: Turn, event: MessageReceived, reading: Reading, direct: bool, session: Session) -> bool:
    """Words that only make sense about a round, said when none is open; never a new request (RD-13, CH-2)."""
    if event.materials or request_in(turn, event) is not None:
        return False
    listed = any(e.item.isdigit() for e in reading.errors)
    if turn.shared and not direct:  # in the thread, from whoever was asked: a change that can not be read
        return asked_here(turn, event, session) and listed and (reading.correction or reading.shaped)
    ends = reading.kind in ("accept_all", "accept_all_except", "cancel", "force_quit")
    ends = ends or any(p.kind == "cancel" for p in reading.proposals)
    left = reading.correction or any(r.key == "skip" for r in reading.answers.values())
    return listed or ends or left or second_thought(event.text, turn.book.phrases)


SHORT = 24  # characters of "option B please"; what is longer and no answer may be a request


def _answers_it(turn: Turn, event: MessageReceived, round_: Round, direct: bool) -> bool:
    """ "B", "2", "a and c", "no idea": nothing else is said, and nothing is open that it could answer (CH-2)."""
    if len(event.text) > SHORT or event.materials or (turn.shared and not direct):
        return False
    if any(s.stage.kind != "ended" for s in turn.state.sessions):
        return False  # something is open, or kept
    if unsure(event.text, turn.book.phrases):
        return True
    anew = tuple(i.model_copy(update={"status": "open", "answer": None}) for i in round_.items)
    reading = replying.read(turn, round_.model_copy(update={"items": anew}), event.text, event.decoded)
    told = [*reading.answers.values(), *(item for p in reading.proposals for item in p.answers.values())]
    letters = [item.key for item in told]
    if letters:
        return all(key not in ("other", "answer", "correct", "confirm") for key in letters)
    named = any(p.numbers for p in reading.proposals)
    return reading.kind == "needs_confirmation" and (named or not reading.proposals)


def _late_answer(
    turn: Turn, waiting: Sequence[Session], event: MessageReceived, ref: MessageRef, *, activate: bool = True
) -> bool:
    """An answer-shaped message while rounds wait in paused sessions: the only one, or ask which (RP-7)."""
    fitting = []
    for session in waiting:
        assert session.round is not None
        reading = replying.read(turn, session.round, event.text, event.decoded)
        if reading.shaped and intake.may_answer(turn, session, event.person) is None:
            fitting.append((session, session.round, reading))
    if not fitting:
        return False
    if len(fitting) == 1:
        session, round_, reading = fitting[0]
        if activate:
            turn.set(active=session.id)
        return replying.apply(turn, session, round_, reading, event.person, ref) is not None
    rounds = tuple(r.id for _, r, _ in fitting)
    lines = [f"{i}) {r.title} (#{s.number})" for i, (s, r, _) in enumerate(fitting, start=1)]
    turn.ask(
        PickRound(text=event.text, rounds=rounds),
        event.person,
        ref,
        ("Several rounds are open; which one do you mean?", *lines),
        tuple((str(i), r.title) for i, (_, r, _) in enumerate(fitting)),
    )
    return True


def over(turn: Turn, session: Session, utterance: Utterance) -> None:
    """A reply to a card of an intake that has ended says nothing of the one that is open now (RP-7, RD-13)."""
    if not utterance.forwarded and _amends(turn, utterance.event, utterance.ref, True):
        return
    lines = [f"That intake (#{session.number}) is over. To change an answer of it, reply: change 1 to …"]
    current = turn.state.current
    if current is not None and current.round is not None and current.round.open_items:
        lines.append(view.still_open(current.round, turn.policy(current).bulk_accept))
    turn.tell(*lines, session=session, see=None if current is None else view.newest_card(current))


def for_a_paused_one(turn: Turn, current: Session, utterance: Utterance) -> bool:
    """An answer by somebody whose own round was paused by another person's intake in this place (RP-7)."""
    if utterance.forwarded or utterance.bound is not None:
        return False
    if intake.may_answer(turn, current, utterance.person) is None:
        return False
    waiting = [s for s in turn.state.sessions if isinstance(s.stage, Asking) and s.id != current.id]
    return bool(waiting) and _late_answer(turn, waiting, utterance.event, utterance.ref, activate=False)
