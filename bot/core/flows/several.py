"""Answers for whole rounds by their numbers, one or several at once (RP-4, RP-7).

Several rounds are summed up first, and nothing is recorded before a yes. Rounds of this conversation are answered in
this step; what is meant for rounds elsewhere is forwarded, and decided in a step of theirs.
"""

from __future__ import annotations

from bot.core import view
from bot.core.capture import found_at, quote
from bot.core.elsewhere import OpenQuestion, OpenRound
from bot.core.events import Forwarded, MessageReceived
from bot.core.flows import changing_closed, intake, recording, replying
from bot.core.flows.within_reach import Found, find, name_of, unknown
from bot.core.model import MessageRef, Person
from bot.core.own_words import unquoted
from bot.core.replies import read_reply
from bot.core.replies.reading import ItemReading, Reading
from bot.core.replies.several import Named, Several, read_several, read_within, said_of
from bot.core.replies.tokens import tokenize
from bot.core.state import Asking, Meant, PickNumber, Round, Session, TakeSeveral
from bot.core.turn import Turn


def heard(
    turn: Turn, event: MessageReceived, ref: MessageRef, bound: tuple[Session, Round | None] | None, direct: bool
) -> bool:
    """A message that names whole rounds, or all of the person's own. False when it does not."""
    words = turn.written(event.text, decoded=event.decoded)
    said = read_several(words, turn.book.phrases)
    within = None
    if said is None and (own := unquoted(event.text)):  # quoted lines decide nothing (AU-3)
        within = read_within(turn.written(own, decoded=event.decoded), turn.book.phrases)
    if within is not None and changing_closed.is_said_of(turn, within, _at_hand(turn)[0]):
        said = Several(named=(within,))
    if said is None or event.forwarded is not None:
        return False
    if within is not None and not _known(turn, within.number):
        turn.tell(unknown(turn, within.number), "Nothing is recorded.")
        return True
    if changing_closed.heard(turn, said, event, ref, direct=direct, within=within is not None):
        return True
    if not said.mine and within is None:
        replied_to = bound is not None and isinstance(bound[0].stage, Asking)
        session, round_ = bound if bound is not None and replied_to else _at_hand(turn)
        if session is not None and round_ is not None and _are_questions(turn, session, round_, event, said):
            if replied_to or not _other_intakes(turn, session, said):
                return False  # "#1 B" is question 1, as ever
            _which(turn, session, round_, event, said, ref)
            return True
        if replied_to and not any(_known(turn, named.number) for named in said.named):
            return False  # the card replied to is the surer sign (RP-7)
    return take_up(turn, said, event.person, ref, order=event.order, direct=direct)


# -- a question or an intake? --------------------------------------------------------------------------------------


def _at_hand(turn: Turn) -> tuple[Session | None, Round | None]:
    """The round that bare question numbers would belong to: the active one, else the one spoken of last."""
    waiting = [s for s in turn.state.sessions if isinstance(s.stage, Asking)]
    current = turn.state.current
    session = current if current in waiting else max(waiting, key=lambda s: s.touched_at, default=None)
    return session, None if session is None else session.round


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


def _which(
    turn: Turn, session: Session, round_: Round, event: MessageReceived, said: Several, ref: MessageRef
) -> None:
    others = ", ".join(f"#{n}" for n in _other_intakes(turn, session, said))
    asked = f"“{quote(event.text)}”: {others} can be an intake here, and a question of {round_.title} too."
    numbers = ", ".join(str(named.number) for named in said.named)
    many = len(said.named) > 1
    turn.audit(
        "answer.confirmation_asked", session, event.person, round_, user_message_ref=found_at(ref), words=ref.quote
    )
    turn.ask(
        PickNumber(text=event.text, session=session.id, round=round_.id, revision=round_.revision),
        event.person,
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
        take_up(turn, said, person, ref, order=None, direct=True)
    elif session is None or round_ is None or not isinstance(session.stage, Asking):
        turn.tell("That round is over; nothing was recorded by this.")
    elif round_.revision != ask.revision:
        _changed(turn, session, round_)
    else:
        replying.apply(turn, session, round_, replying.read(turn, round_, ask.text, decoded=True), person, ref)


def take_up(turn: Turn, said: Several, person: Person, ref: MessageRef, *, order: int | None, direct: bool) -> bool:
    """One round is answered at once; several are summed up first. False when nothing of it is for the bot."""
    loose = turn.shared and not direct
    if said.bare and (loose or (said.named and len(said.named) < 2 and turn.state.current is None)):
        return False
    found = find(turn, said, person, order, direct)
    means = [_meant(turn, one, words) for one, words in found.rounds]
    if not means:
        return _nothing(turn, said, person, found, loose)
    if loose and not said.accepts and not any(m.reading.shaped for m in means):
        return False
    sure = said.accepts or not said.agrees
    if sure and len(means) == 1 and not found.problems and not found.refused and len(said.named) < 2:
        return _one(turn, said, means[0], person, ref)
    _sum_up(turn, found, means, person, ref)
    return True


def _meant(turn: Turn, one: OpenRound, words: str) -> Meant:
    slots = tuple(replying.slot(q.number, q.question, q.held) for q in one.questions)
    reading = read_reply(words, slots, turn.book.phrases, decoded=True)
    asked = {q.number: q.question for q in one.questions}
    said = {n: item for n, item in reading.answers.items() if n in asked and not recording.wordless(asked[n], item)}
    reading = reading.model_copy(update={"answers": said})
    if not one.bulk and reading.accepted:
        reading = reading.model_copy(update={"accepted": ()})
    return Meant(
        place=None if one.conversation == turn.state.place.conversation else one.conversation,
        session=one.session,
        round=one.round,
        revision=one.revision,
        number=one.number,
        title=one.title,
        reading=reading,
    )


def _nothing(turn: Turn, said: Several, person: Person, found: Found, loose: bool) -> bool:
    """No round is meant that this person can answer."""
    if found.refused:
        turn.refuse(person, "may not answer here", *found.refused, *found.problems)
        return True
    session, round_ = _at_hand(turn)
    answers = said.mine or said.accepts or any(_like_items(named.words) for named in said.named)
    if loose or (session is None and not answers):
        return False
    if round_ is not None and not said.mine and any(round_.item(named.number) for named in said.named):
        return False  # a question of the round at hand, put in a way that it will say it can not read
    problems = found.problems or ["No open round is yours to answer."]
    still = "" if session is None or round_ is None else view.still_open(round_, turn.policy(session).bulk_accept)
    turn.tell(*problems, "Nothing is recorded.", still, session=session, round_=round_)
    return True


def _like_items(words: str) -> bool:
    """`2: B, 3 C`: numbers, letters and marks, and nothing that could be prose."""
    return bool(words) and all(len(token.fold) < 2 or token.kind == "num" for token in tokenize(words))


# -- one round -----------------------------------------------------------------------------------------------------


def _one(turn: Turn, said: Several, meant: Meant, person: Person, ref: MessageRef) -> bool:
    """It is answered at once, here or where it is; a bare number shows its card."""
    reading = meant.reading
    session = turn.state.session(meant.session)
    if meant.place is not None or session is None or session.round is None:
        if not _decides(reading):
            turn.tell(f"I can't read an answer to {name_of(meant)} in that; nothing is passed on.")
        else:
            _pass_on(turn, meant, person, ref)
            turn.tell(f"Passed on to {name_of(meant)}; the receipt is given there.")
        return True
    if said.bare:
        intake.show_card(turn, session, session.round, anew=True)
        turn.audit("round.reposted", session, round_=session.round, round=session.round.number)
    elif replying.apply(turn, session, session.round, reading, person, ref) is None:
        replying.nudge(turn, session, session.round, "I can't read an answer in that; nothing is recorded.")
    return True


def _decides(reading: Reading) -> bool:
    return reading.kind in ("answers", "accept_all", "accept_all_except") and bool(
        reading.answers or reading.accepted
    )


# -- several rounds ------------------------------------------------------------------------------------------------


def _sum_up(turn: Turn, found: Found, means: list[Meant], person: Person, ref: MessageRef) -> None:
    """What would be recorded, round by round, and what would not and why. Nothing is recorded before the yes."""
    lines: list[str] = []
    decided = [m for m in means if _decides(m.reading)]
    for (one, words), meant in zip(found.rounds, means, strict=True):
        lines += _summary(one, words, meant)
    problems = (*found.problems, *found.refused)
    if not decided:
        turn.tell(*lines, *problems, "Nothing is recorded.")
        return
    turn.audit(
        "answer.confirmation_asked",
        None,
        person,
        rounds=[f"{m.round} revision {m.revision}" for m in decided],
        user_message_ref=found_at(ref),
        words=ref.quote,
    )
    count = "1 intake" if len(decided) == 1 else f"{len(decided)} intakes"
    turn.ask(
        TakeSeveral(rounds=tuple(decided)),
        person,
        ref,
        (f"Nothing is recorded yet. For {count} I would record:", *lines, *problems, "Shall I?"),
        (("y", "Yes, record it"), ("n", "No")),
    )


def _summary(one: OpenRound, words: str, meant: Meant) -> list[str]:
    """`#12 Literature review:`, below it a line for each answer, for what stays open, and for each mistake."""
    reading = meant.reading
    errors = [f"• {e.item}: {e.message}" if e.item != "?" else f"• {e.message}" for e in reading.errors]
    if not _decides(reading):
        return [f"{name_of(one)}: I can't tell what “{quote(words)}” decides; nothing for this one.", *errors]
    parts: list[str] = []
    left: list[str] = []
    for question in one.questions:
        number, topic = question.number, question.question.topic
        if number in reading.answers:
            parts.append(f"• {number} {topic} → {_words(question, reading.answers[number])}")
        elif number in reading.accepted and (best := question.question.recommended) is not None:
            parts.append(f"• {number} {topic} → {best.key}, {best.label} (recommended)")
        elif question.held is None:
            left.append(
                f"{number} ({topic})" + ("" if question.question.recommended else ", without a recommendation")
            )
    open_ = [f"• Stays open: {'; '.join(left)}."] if left else []
    return [f"{name_of(one)}:", *parts, *open_, *errors]


def _words(question: OpenQuestion, said: ItemReading) -> str:
    if said.key == "skip":
        return "left open"
    option = question.question.option(said.key)
    words = f"“{said.text or ''}”" if option is None or option.other else f"{option.key}, {option.label}"
    return words if said.note is None else f"{words} — note: “{said.note}”"


def decide(turn: Turn, ask: TakeSeveral, choice: str, person: Person, proof: MessageRef) -> None:
    """The person has confirmed the summary, or not."""
    if choice != "y":
        turn.audit(
            "answer.confirmation_declined",
            None,
            person,
            rounds=[m.round for m in ask.rounds],
            user_message_ref=found_at(proof),
        )
        turn.tell("Nothing recorded.")
        return
    away = [m for m in ask.rounds if m.place is not None]
    for meant in ask.rounds:
        if meant.place is None:
            _take(turn, meant.session, meant.round, meant.revision, meant.reading, person, proof, name_of(meant))
        else:
            _pass_on(turn, meant, person, proof)
    if away:
        turn.tell(f"Passed on to {', '.join(map(name_of, away))}; each gives its receipt in its own place.")


def _pass_on(turn: Turn, meant: Meant, person: Person, ref: MessageRef) -> None:
    """To the step of another conversation. Message ids are a conversation's own: there, the id names this one too."""
    assert meant.place is not None
    origin = turn.state.place.conversation
    turn.forward(
        meant.place,
        Forwarded(
            person=person,
            origin=origin,
            session=meant.session,
            round=meant.round,
            revision=meant.revision,
            reading=meant.reading,
            ref=ref.model_copy(update={"id": f"{ref.id}@{origin}", "card": None}),
        ),
    )


def forwarded(turn: Turn, event: Forwarded) -> None:
    """What was confirmed elsewhere arrives at its round."""
    title = "That intake"
    _take(turn, event.session, event.round, event.revision, event.reading, event.person, event.ref, title)


def _take(
    turn: Turn,
    session_id: str,
    round_id: str,
    revision: int,
    reading: Reading,
    person: Person,
    ref: MessageRef,
    title: str,
) -> None:
    """Record what was confirmed for one round, as far as it still can be, with a receipt that says so (RD-15)."""
    session = turn.state.session(session_id)
    round_ = next((r for r in session.rounds if r.id == round_id), None) if session else None
    if session is None or round_ is None or not isinstance(session.stage, Asking):
        name = title if session is None or round_ is None else f"#{session.number} {round_.title}"
        turn.tell(f"{name} is over meanwhile; nothing was recorded for it.", session=session, round_=round_)
        return
    name = f"#{session.number} {round_.title}"
    refusal = intake.may_answer(turn, session, person)  # it may have been taken away since (RD-12)
    if refusal is not None:
        turn.audit("access.answer_refused", session, person, round_, reason=refusal)
        outcome, reason = turn.outcome, turn.reason
        turn.refuse(person, "may not answer here", f"{name}: {refusal}", session=session)
        if not isinstance(turn.envelope.event, Forwarded):  # other rounds of the same yes were not refused
            turn.outcome, turn.reason = outcome, reason
        return
    if round_.revision != revision:
        _changed(turn, session, round_)
        return
    who = "" if not isinstance(turn.envelope.event, Forwarded) else f" — {view.isolate(person.name, person.id)}"
    lead = [f"{name}{who}:"]
    for number in reading.accepted:
        item = round_.item(number)
        if item is not None and item.status != "open" and item.answer is not None:
            by = view.isolate(item.answer.by_name, item.answer.by)
            words = view.answer_words(item.question, item.answer)
            lead.append(f"{number} was answered meanwhile, by {by}: {words}. It stays.")
    replying.answered(turn, session, round_, reading, person, ref, lead=lead)


def _changed(turn: Turn, session: Session, round_: Round) -> None:
    """RD-15: what was seen is not what is asked now."""
    intake.show_card(turn, session, round_, anew=True)
    turn.tell(
        f"The questions of #{session.number} {round_.title} have changed since then; here they are again. "
        "Nothing is recorded for it.",
        session=session,
        round_=round_,
    )


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
