"""Answers for whole rounds by their numbers, one or several at once (RP-4, RP-7).

Which ones a message names is found in `flows/numbered`. Several rounds are summed up first, and nothing is recorded
before a yes. Rounds of this conversation are answered in
this step; what is meant for rounds elsewhere is forwarded, and decided in a step of theirs.
"""

from __future__ import annotations

from bot.core import view
from bot.core.capture import found_at, quote
from bot.core.elsewhere import OpenQuestion, OpenRound
from bot.core.events import Forwarded
from bot.core.flows import intake, recording, replying
from bot.core.flows.within_reach import Found, at_hand, find, name_of
from bot.core.model import MessageRef, Person
from bot.core.replies.reading import ItemReading, Reading
from bot.core.replies.several import Several
from bot.core.replies.tokens import tokenize
from bot.core.state import Asking, Meant, Round, Session, TakeSeveral
from bot.core.turn import Turn


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
    reading = turn.reading(words, slots, decoded=True)
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
    session, round_ = at_hand(turn)
    answers = said.mine or said.accepts or any(_like_items(named.words) for named in said.named)
    if loose or (session is None and not answers):
        return False
    if round_ is not None and not said.mine and any(round_.item(named.number) for named in said.named):
        return False  # a question of the round at hand, put in a way that it will say it can not read
    problems = found.problems or ["No open round is yours to answer. /status shows what is open here."]
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
            turn.tell(f"I can't read an answer to {name_of(meant)} in that; nothing is passed on. {_how(meant)}")
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


def _how(one: OpenRound | Meant) -> str:
    return f"Write for example: #{one.number} 1: A"


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
        lead = f"{name_of(one)}: I can't tell what “{quote(words)}” decides; nothing for this one."
        return [lead if errors else f"{lead} {_how(one)}", *errors]
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
        told = f"{title} is over meanwhile; nothing was recorded for it. /status shows what is open."
        if session is not None and round_ is not None:
            told = view.over(session, round_, "nothing was recorded for it")
        turn.tell(told, session=session, round_=round_)
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
        changed(turn, session, round_)
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


def changed(turn: Turn, session: Session, round_: Round) -> None:
    """RD-15: what was seen is not what is asked now."""
    intake.show_card(turn, session, round_, anew=True)
    turn.tell(
        f"The questions of #{session.number} {round_.title} have changed since then; here they are again. "
        "Nothing is recorded for it.",
        session=session,
        round_=round_,
    )
