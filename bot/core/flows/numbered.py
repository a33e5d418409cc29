"""Which intakes a message names by their numbers, and whether `#2` is an intake or a question (RP-4, RP-7)."""

from __future__ import annotations

from bot.core import view
from bot.core.capture import found_at, quote
from bot.core.events import MessageReceived
from bot.core.flows import changing_closed, intake, replying, several
from bot.core.flows.uttered import Utterance
from bot.core.flows.within_reach import at_hand, unknown
from bot.core.model import MessageRef, Person
from bot.core.replies.several import Named, Several, read_several, read_within, said_of
from bot.core.replies.tokens import tokenize
from bot.core.state import Asking, PickNumber, Round, Session
from bot.core.turn import Turn


def heard(turn: Turn, utterance: Utterance) -> bool:
    """A message that names whole rounds, or all of the person's own. False when it does not."""
    event, bound = utterance.event, utterance.bound
    words = turn.written(event.text, decoded=event.decoded)
    said = read_several(words, turn.book.phrases)
    within = None
    if said is None and utterance.own and "#" in words.clean.norm:  # quoted lines decide nothing (AU-3)
        within = read_within(turn.written(utterance.own, decoded=event.decoded), turn.book.phrases)
    if within is not None and changing_closed.is_said_of(turn, within, at_hand(turn)[0]):
        said = Several(named=(within,))
    if said is None:
        return False
    if within is not None and not _known(turn, within.number):
        turn.tell(unknown(turn, within.number), "Nothing is recorded.")
        return True
    if changing_closed.heard(turn, said, utterance, within=within is not None):
        return True
    if not said.mine and within is None:
        replied_to = bound is not None and isinstance(bound[0].stage, Asking)
        session, round_ = bound if bound is not None and replied_to else at_hand(turn)
        if session is not None and round_ is not None and _are_questions(turn, session, round_, event, said):
            if replied_to or not _other_intakes(turn, session, said):
                return False  # "#1 B" is question 1, as ever
            _which(turn, session, round_, utterance, said)
            return True
        if replied_to and not any(_known(turn, named.number) for named in said.named):
            return False  # the card replied to is the surer sign (RP-7)
    return several.take_up(turn, said, event.person, utterance.ref, order=event.order, direct=utterance.direct)


# -- a question or an intake? --------------------------------------------------------------------------------------


def _are_questions(turn: Turn, session: Session, round_: Round, event: MessageReceived, said: Several) -> bool:
    """Whether each `#n` can be a question of this round, and the message an answer to it."""
    if any(round_.item(named.number) is None for named in said.named):
        return False
    if any(_says_items(named.words) for named in said.named):
        return False  # "#1 2: B, rest default": what is said of 1 has numbers of its own
    if intake.may_answer(turn, session, event.person) is not None:
        return False
    reading = replying.read(turn, round_, event.text, event.decoded)
    return reading.shaped and bool(reading.answers or reading.accepted)


def _says_items(words: str) -> bool:
    """`2: B`, `2B 3C`: a number with a letter bound to it comes first."""
    first = tokenize(words)[:4]
    if len(first) < 2 or first[0].kind != "num":
        return False
    letter = first[2] if first[1].fold in (":", ".", ")", "=", "-") and len(first) > 2 else first[1]
    return letter.letter in tuple("ABCDEFGH")


def _other_intakes(turn: Turn, session: Session, said: Several) -> list[int]:
    """Numbers that other intakes have, and the one that this one's card shows: "#2 accept recommendations"."""
    waiting = {s.number for s in turn.state.sessions if isinstance(s.stage, Asking) and s.id != session.id}
    shown = {session.number} if turn.numbered(session) else set()
    whole = {named.number for named in said.named if _accepted_whole(turn, session, named)}
    return [named.number for named in said.named if named.number in waiting | (shown & whole)]


def _accepted_whole(turn: Turn, session: Session, named: Named) -> bool:
    if not named.words:
        return named.accepted
    return session.round is not None and replying.read(turn, session.round, named.words, True).kind == "accept_all"


def _known(turn: Turn, number: int) -> bool:
    state = turn.state
    here = {*(s.number for s in state.sessions), *(a.number for a in state.ancient)}
    return number in here or any(one.number == number for one in turn.elsewhere())


def _which(turn: Turn, session: Session, round_: Round, utterance: Utterance, said: Several) -> None:
    person, ref = utterance.person, utterance.ref
    others = ", ".join(f"#{n}" for n in _other_intakes(turn, session, said))
    asked = f"“{quote(utterance.text)}”: {others} can be an intake here, and a question of {round_.title} too."
    numbers = ", ".join(str(named.number) for named in said.named)
    many = len(said.named) > 1
    turn.audit("answer.confirmation_asked", session, person, round_, user_message_ref=found_at(ref), words=ref.quote)
    turn.ask(
        PickNumber(text=utterance.text, session=session.id, round=round_.id, revision=round_.revision),
        person,
        ref,
        (
            f"{asked} Nothing is recorded yet. Which one?",
            f"1) question{'s' if many else ''} {numbers} of {round_.title} (#{session.number})",
            f"2) intake{'s' if many else ''} {', '.join(f'#{named.number}' for named in said.named)}",
        ),
        (
            ("0", f"Question{'s' if many else ''} {numbers}"),
            ("1", f"Intake{'s' if many else ''} {', '.join(f'#{named.number}' for named in said.named)}"),
            ("n", "Neither"),
        ),
        session,
        round_,
    )


def picked(turn: Turn, ask: PickNumber, choice: str, person: Person, ref: MessageRef) -> None:
    """Question or intake: the person has said which. The words, and so the proof, are those of their message."""
    if choice == "n":
        turn.tell("Left alone; nothing recorded.")
        return
    session = turn.state.session(ask.session)
    round_ = next((r for r in session.rounds if r.id == ask.round), None) if session else None
    if choice == "1":
        said = read_several(ask.text, turn.book.phrases, decoded=True)
        assert said is not None
        several.take_up(turn, said, person, ref, order=None, direct=True)
    elif session is None or round_ is None or not isinstance(session.stage, Asking):
        turn.tell(view.over(session, round_))
    elif round_.revision != ask.revision:
        several.changed(turn, session, round_)
    else:
        replying.apply(turn, session, round_, replying.read(turn, round_, ask.text, decoded=True), person, ref)


# -- edited messages -----------------------------------------------------------------------------------------------


def said_of_one(turn: Turn, session: Session, text: str) -> str:
    """The part of an edited message that speaks of this session's round: "#12 2: C" says "2: C" of #12."""
    said = read_several(text, turn.book.phrases)
    named = said.of(session.number) if said is not None else None
    if said is None or named is None or len(said.named) > 1 or said.mine:
        return text
    return said_of(named, accepted=named.accepted) or text


def names_others(turn: Turn, session: Session, round_: Round, text: str) -> bool:
    """Whether an edited message speaks of other intakes: an edit answers one round."""
    said = read_several(text, turn.book.phrases)
    if said is None:
        return False
    others = {s.number for s in turn.state.sessions if s.id != session.id}
    named = [one for one in said.named if one.number in others]
    listed = len(said.named) > 1 and any(one.accepted for one in said.named)
    return said.mine or any(listed or round_.item(one.number) is None for one in named)
