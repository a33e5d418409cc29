"""A message while a round is on the table: which round it answers, what it means, what follows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from bot.core import view
from bot.core.capture import found_at, quote
from bot.core.circle import entry
from bot.core.effects import Message, Span
from bot.core.elsewhere import held
from bot.core.events import MessageReceived
from bot.core.flows import handover, intake, phases, putting_off, recording, undoing
from bot.core.model import MessageRef, Person, Question
from bot.core.moments.wish import Wish, moment_in
from bot.core.own_words import code_in
from bot.core.replies.reading import ItemReading, Proposal, Reading, Slot
from bot.core.replies.tokens import tokenize
from bot.core.state import Round, Session, TakeReading
from bot.core.turn import Turn

ASKING = frozenset(("question", "explain", "filler", "polite", "asks_recommended"))
SPEAKING = 4  # letters of a word that can tell which question is meant

# -- the reader's view of a round ----------------------------------------------------------------------------------


def slot(number: int, question: Question, held: str | None) -> Slot:
    return Slot(
        number=number,
        form=question.form,
        letters=tuple(o.key for o in question.options),
        other=question.other.key if question.other else None,
        recommended=question.recommended.key if question.recommended else None,
        labels=tuple(o.label for o in question.options),
        topic=question.topic,
        text=question.text,
        held=held,
    )


_slot = lru_cache(maxsize=2048)(slot)  # the questions of a playbook are asked again and again


def slots(round_: Round) -> tuple[Slot, ...]:
    made = _slot if round_.stock else slot
    return tuple([made(item.number, item.question, held(item)) for item in round_.items])


def read(turn: Turn, round_: Round, text: str, decoded: bool, *, attached: bool = False) -> Reading:
    dated = partial(putting_off.dated, turn)
    reading = turn.reading(text, slots(round_), dated, decoded=decoded, attached=attached)
    return _with_code(reading, text) if "`" in text else reading


def _with_code(reading: Reading, text: str) -> Reading:
    """Marks of code put back into own words: what is code there says nothing about the product (SC-2)."""
    pieces = code_in(text)

    def marked(words: str | None) -> str | None:
        for piece in pieces:
            if words is not None and words != piece:  # an answer that is code as a whole is the answer
                words = re.sub(rf"(?<![`\w]){re.escape(piece)}(?![`\w])", lambda hit: f"`{hit.group()}`", words)
        return words

    def items(answers: Mapping[int, ItemReading]) -> dict[int, ItemReading]:
        return {n: i.model_copy(update={"text": marked(i.text), "note": marked(i.note)}) for n, i in answers.items()}

    proposals = tuple(p.model_copy(update={"answers": items(p.answers)}) for p in reading.proposals)
    return reading.model_copy(update={"answers": items(reading.answers), "proposals": proposals})


# -- what follows from a reading -----------------------------------------------------------------------------------


def apply(
    turn: Turn, session: Session, round_: Round, reading: Reading, person: Person, ref: MessageRef
) -> Session | None:
    """Do what the reading says. Returns None when it says nothing that this round can use."""
    match reading.kind:
        case "answers" | "accept_all" | "accept_all_except":
            return answered(turn, session, round_, reading, person, ref)
        case "needs_confirmation":
            confirm(turn, session, round_, reading, person, ref)
            return session
        case "question_back":
            explain(turn, session, round_, reading)
            return session
        case "force_quit":
            return force_quit(turn, session, round_, person, ref)
        case "cancel":
            return cancel(turn, session, person, ref)
        case "put_off":
            wish = Wish(reading.until or ref.quote, moment_in(ref.quote, turn.book.times))
            return putting_off.keep(turn, session, round_, wish, person, ref)
        case "hand_over":
            return _delegate(turn, session, round_, reading, person, ref)
        case "unparsed":
            return None


def answered(
    turn: Turn,
    session: Session,
    round_: Round,
    reading: Reading,
    person: Person,
    ref: MessageRef,
    *,
    lead: Sequence[str] = (),
) -> Session:
    """Record what is certain in a reading, echo it after `lead`, and ask about the rest."""
    accepted: Sequence[int] = reading.accepted
    bulk = accepted or reading.kind in ("accept_all", "accept_all_except")
    if bulk and not turn.policy(session).bulk_accept:
        accepted = ()
        turn.tell(
            "These questions have no recommendations to accept in bulk; each needs your words.", session=session
        )
    waiting = _waiting(turn, round_, person)
    kept = {n: waiting.answers[n] for n in accepted if waiting and n in waiting.answers and n not in reading.answers}
    accepted = [n for n in accepted if n not in kept]  # words of one's own stand above a recommendation (RP-4)
    session, round_, done = recording.record(turn, session, round_, reading.answers, accepted, person, ref)
    words = [n for n in done.resolved if (i := round_.item(n)) and i.question.form != "choice"] if turn.shared else []
    left = [n for n in done.resolved if n in accepted] if reading.delegation else []
    if words or left:
        session, round_ = undoing.offer_undo(turn, session, round_, [*words, *left], person)
    session = intake.echo(turn, session, round_, done, reading, lead=lead)
    if reading.proposals and session.stage.kind == "asking" and session.round is not None:
        confirm(turn, session, session.round, reading, person, ref)
    if kept and waiting and session.stage.kind == "asking" and session.round is not None:
        own = Reading(kind="needs_confirmation", proposals=(Proposal(kind="answers", answers=kept),))
        lead = (f"You wrote “{quote(waiting.ref.quote)}” before, and it waits for your yes.",)
        confirm(turn, session, session.round, own, person, waiting.ref, lead=lead)
    return session


class _Waiting(NamedTuple):
    answers: Mapping[int, ItemReading]
    ref: MessageRef


def _waiting(turn: Turn, round_: Round, person: Person) -> _Waiting | None:
    """Answers that this person was asked about ("shall I take it as …?") and has neither confirmed nor declined."""
    for pending in reversed(turn.state.pending):
        ask = pending.ask
        if pending.asked_of == person.id and isinstance(ask, TakeReading) and ask.round == round_.id:
            return _Waiting(ask.proposals[0].answers if len(ask.proposals) == 1 else {}, pending.ref)
    return None


def proposal_words(round_: Round, proposal: Proposal) -> str:
    """A proposed reading in words: `*accept recommendations* for 2 and 3`, `1: B, 2: A`."""
    if proposal.kind == "force_quit":
        return "stop asking and go on with what there is"
    if proposal.kind == "cancel":
        return "cancel the whole request"
    if proposal.kind == "put_off":
        return "ask me again then"
    if proposal.kind == "take_back":
        return f"take back {_listed(proposal.numbers)}"
    if proposal.kind == "accept_all":
        numbers = proposal_numbers(round_, proposal)
        words = "accept recommendations" + (f" for {_listed(numbers)}" if numbers else "")
        if proposal.answers:
            words += "; " + _items_words(round_, proposal)
        return words
    return _items_words(round_, proposal)


def _listed(numbers: Sequence[int]) -> str:
    """Numbers in words: "2, 3 and 4"."""
    return " and ".join(filter(None, (", ".join(map(str, numbers[:-1])), str(numbers[-1]))))


def _items_words(round_: Round, proposal: Proposal) -> str:
    parts = []
    for number, reading in sorted(proposal.answers.items()):
        item = round_.item(number)
        if item is None:
            continue
        if reading.key == "skip":
            parts.append(f"{number}: leave open")
        elif reading.key in ("other", "answer", "correct") or item.question.option(reading.key) is None:
            parts.append(f"{number}: “{quote(reading.text or '')}”")
        else:
            parts.append(f"{number}: {reading.key}, {view.label_of(item.question, reading.key)}")
    return "; ".join(parts)


def _with_own(round_: Round, proposal: Proposal, own: Mapping[int, ItemReading]) -> Proposal:
    """An offer to accept recommendations holds the person's own words that wait for a yes, in their place."""
    if proposal.kind != "accept_all":
        return proposal
    kept = {n: own[n] for n in proposal_numbers(round_, proposal) if n in own}
    return proposal.model_copy(update={"answers": {**proposal.answers, **kept}}) if kept else proposal


def proposal_numbers(round_: Round, proposal: Proposal) -> tuple[int, ...]:
    """The open questions whose recommendation a proposal would accept."""
    return tuple(
        i.number
        for i in round_.open_items
        if i.question.recommended
        and (not proposal.numbers or i.number in proposal.numbers)
        and i.number not in proposal.answers
    )


def confirm(
    turn: Turn,
    session: Session,
    round_: Round,
    reading: Reading,
    person: Person,
    ref: MessageRef,
    *,
    lead: tuple[str, ...] = (),
) -> None:
    """Echo an uncertain reading and wait for one tap or a typed yes; nothing is recorded before (RP-3, RP-8)."""
    policy = turn.policy(session)
    proposals = tuple(
        p
        for p in reading.proposals
        if (p.kind != "accept_all" or p.answers or proposal_numbers(round_, p))
        and (p.kind != "force_quit" or policy.force_quit)  # nothing is offered that would be refused (RP-10)
    )
    if (waiting := _waiting(turn, round_, person)) is not None and waiting.answers:
        proposals = tuple(_with_own(round_, p, waiting.answers) for p in proposals)
    if not proposals:
        turn.tell(
            f"I can't tell what “{quote(ref.quote)}” decides; nothing is recorded.",
            view.still_open(round_, turn.policy(session).bulk_accept),
            session=session,
            round_=round_,
        )
        return
    problems = [f"{e.item}: {e.message}" if e.item != "?" else e.message for e in reading.errors]
    if reading.kind != "needs_confirmation":
        problems = []  # already in the echo
    elif reading.note and any(p.kind == "accept_all" for p in proposals):  # "looks good, but 4 competitors"
        problems.append(f"“{quote(reading.note)}” is no part of that. As an answer it needs its number in front.")
    ask = TakeReading(session=session.id, round=round_.id, revision=round_.revision, proposals=proposals)
    turn.audit("answer.confirmation_asked", session, person, round_, user_message_ref=found_at(ref), words=ref.quote)
    if len(proposals) == 1:
        words = proposal_words(round_, proposals[0])
        asked = (
            f"Shall I take as your own answer: {words}?"
            if lead
            else f"You wrote “{quote(ref.quote)}”. Shall I take it as: {words}?"
        )
        turn.ask(
            ask,
            person,
            ref,
            (*lead, *problems, asked),
            (("0", "Yes, take it so"), ("n", "No")),
            session,
            round_,
        )
        return
    listed = [f"{i}) {proposal_words(round_, p)}" for i, p in enumerate(proposals, start=1)]
    asked = f"“{quote(ref.quote)}” can be read in more than one way. Which one is it?"
    if (put := next((p for p in proposals if p.kind == "put_off"), None)) is not None:
        numbers = ", ".join(str(n) for p in proposals for n in p.answers)
        asked = f"Is “{quote(put.until or '')}” the answer to {numbers}, or shall I ask you again then?"
    turn.ask(
        ask,
        person,
        ref,
        (*problems, asked, *listed),
        (*((str(i), p.label or str(i + 1)) for i, p in enumerate(proposals)), ("n", "Neither")),
        session,
        round_,
    )


def explain(turn: Turn, session: Session, round_: Round, reading: Reading) -> None:
    """Answer a question back with the tradeoffs and the reason; the round stays open (RP-9)."""
    numbers = reading.asked_about or spoken_of(turn, round_) or tuple(i.number for i in round_.open_items)
    items = [i for i in round_.items if i.number in numbers][:3] or list(round_.open_items or round_.items)[:1]
    lines: list[str] = []
    for item in items:
        question = item.question
        lines.append(f"{item.number} · {question.topic}: {question.why}")
        lines += [f"{o.key}  {o.label} — {o.tradeoff}" for o in question.options if o.tradeoff]
        if question.recommended and question.rationale:
            lines.append(f"{question.recommended.key} is recommended: {question.rationale}")
    if round_.open_items:
        lines.append(view.still_open(round_, turn.policy(session).bulk_accept))
    else:
        lines.append(f"To change an answer: change {round_.items[0].number} to …")
    turn.tell(*lines, session=session, round_=round_)


def spoken_of(turn: Turn, round_: Round) -> tuple[int, ...]:
    """The questions that the message speaks of by words of their own: "what does open access mean?" (RP-9)."""
    event = turn.envelope.event
    tokens = tokenize(event.text) if isinstance(event, MessageReceived) else []
    said = {
        t.fold
        for n, t in enumerate(tokens)
        if len(t.fold) >= SPEAKING and not turn.book.phrases.at(tokens, n).keys() & ASKING
    }
    own: dict[int, set[str]] = {}
    for item in round_.items:
        labels = (o.label for o in item.question.options if not o.other)
        own[item.number] = {t.fold for text in (item.question.topic, *labels) for t in tokenize(text)}
    found = {n: sum(1 for w in said if any(_alike(w, one) for one in words)) for n, words in own.items()}
    most = max(found.values(), default=0)
    named = tuple(n for n, count in found.items() if count == most > 0)
    return named if len(named) < len(round_.items) else ()


def _alike(one: str, other: str) -> bool:
    """The same word, or its plural."""
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= SPEAKING and longer.startswith(shorter) and len(longer) - len(shorter) <= 2


def force_quit(turn: Turn, session: Session, round_: Round, person: Person, ref: MessageRef) -> Session:
    """Stop asking, where the policy allows it; it takes no defaults (RP-10)."""
    policy = turn.policy(session)
    if not policy.force_quit:
        ways = "accept recommendations, come back later (just leave it, nothing expires), or /cancel"
        turn.outcome, turn.reason = "refused", "this intake has no early end"
        turn.tell(
            f"I can't go on without these answers. You can {ways}.",
            view.still_open(round_, policy.bulk_accept),
            session=session,
            round_=round_,
        )
        return session
    left = round_.open_items
    items = tuple(
        i.model_copy(update={"status": "force_quit", "words": ref.quote}) if i.status == "open" else i
        for i in round_.items
    )
    assumed = tuple(f"{i.question.topic}: not answered; whatever is assumed here is unvalidated" for i in left)
    round_ = round_.model_copy(update={"items": items})
    session = turn.put_round(session, round_, assumptions=(*session.assumptions, *assumed))
    turn.audit(
        "answer.force_quit",
        session,
        person,
        round_,
        questions=[i.question.id for i in left],
        user_message_ref=found_at(ref),
    )
    intake.show_card(turn, session, round_)
    return intake.close(turn, session, round_)


def cancel(turn: Turn, session: Session, person: Person, ref: MessageRef) -> Session:
    """Cancel the whole intake, on a person's explicit word. What was answered stays in the record."""
    answered = sum(1 for r in session.rounds for i in r.items if i.status == "resolved")
    session = handover.end(turn, session, "cancelled", person, ref.quote)
    kept = f" Your {answered} answers stay in the record." if answered > 1 else ""
    kept = " Your answer stays in the record." if answered == 1 else kept
    turn.tell(f"Cancelled; nothing is handed on.{kept} A new message starts something new.", session=session)
    return session


ABSENT = {
    "left": "has left: their account is deactivated, so nobody is asked.",
    "outside": "is from outside, and can not answer here unless somebody switches it on: /settings outsiders on.",
    "bot": "is a bot, and bots can not answer.",
}


def _delegate(
    turn: Turn, session: Session, round_: Round, reading: Reading, person: Person, ref: MessageRef
) -> Session:
    """ "@maria please": she may answer from now on; the questions stay open (CH-6)."""
    name = (reading.named or "").strip()
    if not turn.shared and turn.surface in turn.book.alone:
        turn.outcome, turn.reason = "refused", "nobody else is in this chat"
        turn.tell(
            f"Nobody but you sees this chat, so I can't ask {name}. Ask them and send me the answer, or begin the "
            "intake in a group that you are both in.",
            view.still_open(round_, turn.policy(session).bulk_accept),
            session=session,
            round_=round_,
        )
        return session
    who = entry(f"@{name.lstrip('@')}", turn.surface)
    event = turn.envelope.event
    ids = event.named if isinstance(event, MessageReceived) else ()
    absent = event.absent if isinstance(event, MessageReceived) else {}
    if len(ids) == 1 and (why := absent.get(ids[0])) and not (why == "outside" and turn.settings.outsiders):
        turn.outcome, turn.reason = "refused", f"they can not answer: {why}"
        turn.audit(
            "access.answer_refused", session, person, round_, to=ids[0], reason=why, user_message_ref=found_at(ref)
        )
        turn.tell(f"{name} {ABSENT[why]} Name somebody else: @name please.", session=session, round_=round_)
        return session
    asked = dict.fromkeys((*session.participants, who, *ids))
    session = turn.put(session, participants=tuple(asked))
    turn.audit("answer.delegated", session, person, round_, to=who, words=ref.quote, user_message_ref=found_at(ref))
    asked_now = Span(text=name, person=ids[0] if len(ids) == 1 else None)  # told, where the platform can (CH-6)
    words = (
        view.text(asked_now, ": these questions are yours to answer too, if you will; just reply to the card."),
        view.text(view.still_open(round_, turn.policy(session).bulk_accept)),
    )
    turn.say(Message(blocks=words), session=session, round_=round_)
    return session


def nudge(turn: Turn, session: Session, round_: Round, lead: str) -> Session:
    """A message that this round can not read: say what is open and how to answer (RD-6, CH-2)."""
    numbers = [i.number for i in round_.open_items]
    session, round_ = intake.count_tries(turn, session, round_, numbers)
    example = intake.worked_example(round_)
    event = turn.envelope.event
    hint = phases.scope_hint(session, event.text, turn.book.phrases) if isinstance(event, MessageReceived) else ""
    lines = (lead, hint, view.still_open(round_, turn.policy(session).bulk_accept), example or "")
    turn.tell(*lines, session=session, round_=round_)
    return session
