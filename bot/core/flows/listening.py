"""A message has come: what it belongs to, from the surest sign to the weakest (RP-7), or nothing at all (CH-2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

from bot.core import view
from bot.core.capture import quote
from bot.core.events import MessageReceived
from bot.core.flows import (
    amending,
    commands,
    confirming,
    gathering,
    handover,
    injection,
    intake,
    labels,
    opening,
    replying,
    spec_commands,
    spec_words,
)
from bot.core.flows.words import carries_on, command, pleasantry, without_mention, yes_or_no
from bot.core.model import Material, MessageRef
from bot.core.replies.reading import ItemReading, Proposal, Reading
from bot.core.routing import Verdict, read_menu_answer, route
from bot.core.state import Asking, Between, Closing, PickRound, Round, Routing, Session
from bot.core.turn import Turn

STICKER = "a sticker"  # what adapters call one in `unreadable`; after the end it is no request (RT-14)
IDLE = timedelta(hours=72)  # RT-10


def message(turn: Turn, event: MessageReceived) -> None:
    """One message. Bots and channels are never heard (RD-12); parts of one act are joined first (RT-11)."""
    if event.person.kind != "person":
        turn.ignore("sent by a bot or a channel")
        return
    if event.forwarded is not None and event.album is None:
        event = event.model_copy(update={"album": "forwarded"})  # several forwards in a row are one act (b26)
    is_command = event.forwarded is None and command(event.text, turn.bot_name) is not None
    if gathering.belongs(turn, event) and not is_command:
        gathering.gather(turn, event)
        return
    if gathering.waiting_of(turn, event.person):
        gathered(turn)
        turn.outcome, turn.reason = "accepted", None  # that was the earlier message's
    _whole(turn, event)


def gathered(turn: Turn) -> None:
    """No further part came: the joined message is handled as one."""
    joined = gathering.joined(turn)
    if joined is None:
        turn.ignore("nothing is being gathered")
    else:
        _whole(turn, joined)


# -- what a whole message belongs to -------------------------------------------------------------------------------


def _whole(turn: Turn, event: MessageReceived) -> None:
    person, ref = event.person, event.ref.model_copy(update={"quote": quote(event.text) or event.ref.quote})
    about = turn.about
    bare = without_mention(event.text, turn.bot_name)
    mentioned = bare is not event.text
    if mentioned:
        event = event.model_copy(update={"text": bare, "addressed": True})
    said = command(event.text, turn.bot_name, mentioned=mentioned)
    if said is not None and event.forwarded is None:
        commands.run(turn, *said, person, ref)
        return
    bound = _bound(turn, about)
    if event.forwarded is None and (ordered := spec_commands.parsed(turn, event.text, mentioned=mentioned)):
        spec_commands.run(turn, *ordered, person, ref, bound[0] if bound is not None else None)
        return
    direct = event.addressed or about is not None
    if event.forwarded is None:
        answered = confirming.typed(turn, person, event.text, about if about and about.startswith("p.") else None)
        if answered is not None:
            confirming.decide(turn, *answered, person, ref)
            return
    typed_in = bound[0] if bound is not None else turn.state.current
    if event.forwarded is None and labels.pressed(turn, event, ref, typed_in, loose=turn.shared and not direct):
        return
    if event.forwarded is None and _numbered(turn, event):
        return
    if bound is not None and isinstance(bound[0].stage, Routing):
        _menu(turn, bound[0], event, ref, direct)
        return
    if bound is not None and _earlier_round(turn, *bound, event, ref):
        return
    if bound is not None and bound[0].stage.kind == "between":
        spec_words.message(turn, bound[0], event, ref, direct)
        return
    if bound is not None and bound[1] is not None and bound[0].stage.kind == "asking":
        _round(turn, bound[0], bound[1], event, ref, direct)
        return
    if bound is not None and bound[0].stage.kind == "closing":
        _closing(turn, bound[0], event, ref, direct)
        return
    session = turn.state.current
    if bound is not None and bound[0].stage.kind == "ended" and session is not None and not event.materials:
        _over(turn, bound[0], event, ref)
        return
    if session is None:
        _idle(turn, event, ref, direct)
        return
    match session.stage.kind:
        case "routing":
            _menu(turn, session, event, ref, direct)
        case "asking":
            assert session.round is not None
            if bound is None and event.forwarded is None and _for_a_paused_one(turn, session, event, ref):
                return
            _round(turn, session, session.round, event, ref, direct)
        case "closing":
            _closing(turn, session, event, ref, direct)
        case "between":
            if not _new_request(turn, session, event, ref):
                spec_words.message(turn, session, event, ref, direct)
        case "ended":
            turn.set(active=None)
            _idle(turn, event, ref, direct)


def _earlier_round(
    turn: Turn, session: Session, round_: Round | None, event: MessageReceived, ref: MessageRef
) -> bool:
    """A reply to the card of a round that has closed while its session goes on: a change, or nothing (RD-13)."""
    if round_ is None or turn.about != round_.id or session.stage.kind == "ended" or event.forwarded is not None:
        return False
    if session.round is None or session.round.id == round_.id:
        return False
    reading = replying.read(turn, round_, event.text, event.decoded)
    if not (reading.answers and amending.propose(turn, session, round_, reading, event.person, ref)):
        turn.tell(
            f"That round is over. To change an answer of it, reply: change {round_.items[0].number} to …"
            if round_.items
            else "That round is over; what it settled was confirmed.",
            session=session,
        )
    return True


def _new_request(turn: Turn, session: Session, event: MessageReceived, ref: MessageRef) -> bool:
    """A command or words for another workflow while a specification waits: asked about once (RT-7, RT-10)."""
    if event.forwarded is not None or intake.may_answer(turn, session, event.person) is not None:
        return False
    if _leaves(turn, session, event, ref):
        return True
    waits = session.stage.waits if isinstance(session.stage, Between) else None
    wanted = _request(turn, event) if waits == "go" and (event.addressed or not turn.shared) else None
    if wanted is None or wanted.workflow is None:
        return False
    named = wanted.workflow.replace("/", " / ")
    lead = (f"That sounds like a request for {named}: start that with this message? The specification is kept.",)
    opening.offer_to_leave(turn, session, event.person, event.text, event.materials, ref, lead)
    return True


def _numbered(turn: Turn, event: MessageReceived) -> bool:
    """ "#2: B" while several intakes are open: #2 is one of them, or question 2 of the present one; asked (RP-7)."""
    found = _NUMBERED.match(event.text)
    waiting = [s for s in turn.state.sessions if isinstance(s.stage, Asking) and s.round is not None]
    if found is None or len(waiting) < 2:
        return False
    session = next((s for s in waiting if str(s.number) == found[1]), None)
    if session is None or session.round is None or intake.may_answer(turn, session, event.person) is not None:
        return False
    current = turn.state.current
    if session is current:
        return False
    lead = (
        f"#{found[1]} is the number of another intake here ({session.round.title}), "
        f"and {found[1]} may be a question of this one. Nothing is recorded."
    )
    turn.tell(
        lead,
        f"For that intake reply to its card, or /resume {found[1]} first; for the question leave out the #.",
        session=current,
    )
    turn.outcome, turn.reason = "refused", "an intake or a question"
    return True


_NUMBERED = re.compile(r"\s*#(\d{1,6})\b")


def _over(turn: Turn, session: Session, event: MessageReceived, ref: MessageRef) -> None:
    """A reply to a card of an intake that has ended says nothing of the one that is open now (RP-7, RD-13)."""
    if event.forwarded is None and _amends(turn, event, ref, True):
        return
    lines = [f"That intake (#{session.number}) is over. To change an answer of it, reply: change 1 to …"]
    current = turn.state.current
    if current is not None and current.round is not None and current.round.open_items:
        lines.append(view.still_open(current.round, turn.policy(current).bulk_accept))
    turn.tell(*lines, session=session)


def _for_a_paused_one(turn: Turn, current: Session, event: MessageReceived, ref: MessageRef) -> bool:
    """An answer by somebody whose own round was paused by another person's intake in this place (RP-7)."""
    if intake.may_answer(turn, current, event.person) is None:
        return False
    waiting = [s for s in turn.state.sessions if isinstance(s.stage, Asking) and s.id != current.id]
    return bool(waiting) and _late_answer(turn, waiting, event, ref, activate=False)


def _bound(turn: Turn, about: str | None) -> tuple[Session, Round | None] | None:
    """The session and round that the message replied to speaks of."""
    if about is None:
        return None
    session = turn.state.session(about.partition(".")[0])
    if session is None:
        return None
    return session, next((r for r in session.rounds if r.id == about), session.round)


def _menu(turn: Turn, session: Session, event: MessageReceived, ref: MessageRef, direct: bool) -> None:
    """With the menu open: the requester's words; in a shared place only what is meant for the bot (RT-13)."""
    if turn.shared and not direct and not _token_first(event.text) and not _commands(turn, event.text):
        turn.ignore("ordinary talk")
        return
    refusal = intake.may_answer(turn, session, event.person)
    if refusal is not None:
        turn.refuse(event.person, "may not answer here", refusal, session=session)
        return
    text = "" if event.forwarded else event.text
    opening.menu_message(turn, session, text, _materials(event), ref)


def _commands(turn: Turn, text: str) -> bool:
    """Whether it begins with the command of a workflow: that is meant for the bot anywhere (RT-13)."""
    if text.lstrip()[:1] not in ("/", "!"):
        return False
    return route(text, (), turn.pack, bot_name=turn.bot_name).by == "command"


def _token_first(text: str) -> bool:
    return text.lstrip().casefold().startswith("[direct-mode]")


def _materials(event: MessageReceived) -> tuple[Material, ...]:
    """What came with the message; forwarded words are material, never an answer (AU-3)."""
    if not event.forwarded:
        return event.materials
    name = f"forwarded from {event.forwarded}: {quote(event.text)}"
    return (*event.materials, Material(kind="named", name=name, caption=event.text or None))


# -- no session is active ------------------------------------------------------------------------------------------


def _idle(turn: Turn, event: MessageReceived, ref: MessageRef, direct: bool) -> None:
    """Nothing is on the table: an amendment, a late word, a pleasantry, or a first message."""
    person, text = event.person, event.text
    meant = direct or not turn.shared or _token_first(text) or _commands(turn, text)
    if not event.forwarded and _amends(turn, event, ref, direct):
        return
    if not meant:
        turn.ignore("ordinary talk")
        return
    waiting = [s for s in turn.state.sessions if isinstance(s.stage, Asking)]
    if waiting and not event.forwarded and _late_answer(turn, waiting, event, ref):
        return
    if not event.materials and pleasantry(text, turn.book.phrases) and (turn.state.counted or not text.strip()):
        if event.unreadable and event.unreadable != STICKER:
            turn.tell(f"I can't read {event.unreadable} here; please write it.")
        else:
            turn.ignore("a pleasantry")
        return
    if event.unreadable and not text.strip():
        turn.tell(f"I can't read {event.unreadable} here; please write what you need.")
        return
    if person.outside:  # they could never answer what would be asked (RD-12)
        turn.audit("access.answer_refused", None, person, reason="from outside")
        turn.refuse(
            person, "from outside", "People from outside can't start an intake here; ask somebody of the team."
        )
        return
    opening.first_message(turn, person, "" if event.forwarded else text, _materials(event), ref, event.declared)


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
    said = [r for r in reading.answers.values() if r.key != "skip"]
    if not said and _about_the_closed(turn, event, reading, direct):
        problems = [f"{e.item}: {e.message}" if e.item != "?" else e.message for e in reading.errors]
        turn.tell(
            *problems,
            f"{round_.title} (#{session.number}) is over and nothing is open here.",
            f"To change an answer: change {round_.items[0].number} to … — something new: just say what you need.",
            session=session,
            round_=round_,
        )
        return True
    if not reading.answers or not (reading.correction or (reading.shaped and (direct or not turn.shared))):
        return False
    return amending.propose(turn, session, round_, reading, event.person, ref)


def _about_the_closed(turn: Turn, event: MessageReceived, reading: Reading, direct: bool) -> bool:
    """Words that only make sense about a round, said when none is open; never a new request (RD-13, CH-2)."""
    if (turn.shared and not direct) or event.materials or _request(turn, event) is not None:
        return False
    listed = any(e.item.isdigit() for e in reading.errors)
    ends = reading.kind in ("accept_all", "accept_all_except", "cancel", "force_quit")
    return listed or ends or reading.correction or any(r.key == "skip" for r in reading.answers.values())


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


# -- a round is open -----------------------------------------------------------------------------------------------


def _round(
    turn: Turn, session: Session, round_: Round, event: MessageReceived, ref: MessageRef, direct: bool
) -> None:
    """A message while a round waits for answers (RD-6)."""
    person = event.person
    if event.forwarded is not None:
        _forwarded(turn, session, round_, event, direct)
        return
    unseen = not any(r.id == round_.id for s in turn.before.sessions for r in s.rounds)  # opened in this very step
    older = round_.order is not None and event.order is not None and event.order < round_.order and not direct
    if unseen or older:
        if not turn.shared:
            turn.tell(
                "Your message and my questions crossed, so I did not take it as an answer.",
                "Send it again if it was one.",
                session=session,
                round_=round_,
            )
        turn.outcome, turn.reason = "refused", "older than the round"
        return
    if _leaves(turn, session, event, ref):
        return
    if event.unreadable and not event.text.strip():
        if direct or not turn.shared:
            session = _keep_files(turn, session, event)
            replying.nudge(
                turn, session, round_, f"I can't read {event.unreadable} here; nothing is recorded from it."
            )
        else:
            turn.ignore("ordinary talk")
        return
    if injection.only_quoted(event.text):
        _only_quoted(turn, session, round_, event, direct)
        return
    if event.quoted and replying.read(turn, round_, event.quoted, event.decoded).kind in CLAIMS:
        _claimed(turn, session, round_, event, event.quoted, None)
    reading = _reading(turn, session, round_, event)
    if turn.shared and not direct and not reading.shaped:
        turn.ignore("ordinary talk")
        return
    refusal = intake.may_answer(turn, session, person)
    if refusal is not None:
        wanted = _request(turn, event) if event.addressed and not person.outside else None
        if wanted is not None and wanted.workflow is not None:  # a request of their own, not an answer (RT-10)
            named = wanted.workflow.replace("/", " / ")
            lead = (f"{session.requester.name}'s intake is open here. Pause it and start {named} with your message?",)
            opening.offer_to_leave(turn, session, person, event.text, event.materials, ref, lead)
            return
        turn.audit("access.answer_refused", session, person, round_, reason=refusal)
        turn.refuse(person, "may not answer here", refusal, session=session)
        return
    session = _keep_files(turn, session, event)
    session = injection.note(turn, session, person, event.text, event.materials)
    if event.materials:  # a file sent with an answer belongs to its proof (b08)
        names = ", ".join(material.name for material in event.materials)
        ref = ref.model_copy(update={"quote": f"{ref.quote} [{quote(names)}]"})
        reading = _with_files(reading, names)
    if yes_or_no(event.text, turn.book.phrases) is None and _changed_subject(
        turn, session, round_, reading, event, ref
    ):
        return
    if replying.apply(turn, session, round_, reading, person, ref) is not None:
        return
    if event.materials and not event.text.strip():
        still = view.still_open(round_, turn.policy(session).bulk_accept)
        turn.tell("Added to your request.", still, session=session, round_=round_)
        return
    if carries_on(event.text, turn.book.phrases):
        replying.nudge(
            turn, session, round_, "I can't go on before these are answered; nothing is decided meanwhile."
        )
        return
    replying.nudge(turn, session, round_, "I can't read an answer in that; nothing is recorded.")


def _reading(turn: Turn, session: Session, round_: Round, event: MessageReceived) -> Reading:
    """The reading of a reply; words owed after a press on Other come first, unless they are shaped otherwise."""
    reading = replying.read(turn, round_, event.text, event.decoded)
    stage = session.stage
    owed = stage.describing.get(event.person.id) if isinstance(stage, Asking) else None
    if owed is None or not event.text.strip():
        return reading
    item = round_.item(owed)
    if item is None:
        return reading
    left = {k: v for k, v in stage.describing.items() if k != event.person.id} if isinstance(stage, Asking) else {}
    if reading.kind in ("answers", "accept_all", "accept_all_except") and reading.shaped:
        return reading
    if reading.kind in ("question_back", "cancel", "put_off", "force_quit"):
        return reading
    book, words = turn.book.phrases, event.text.strip()
    if pleasantry(words, book) or carries_on(words, book) or yes_or_no(words, book) or words.endswith(("?", "？")):
        own = ItemReading(key="other", text=words)  # hardly a description: asked, not recorded
        return Reading(kind="needs_confirmation", proposals=(Proposal(kind="answers", answers={owed: own}),))
    turn.put(session.model_copy(update={"stage": Asking(describing=left)}))
    return Reading(kind="answers", answers={owed: ItemReading(key="other", text=event.text.strip())}, shaped=True)


def _with_files(reading: Reading, names: str) -> Reading:
    """ "2: other (see the drawing)" with the drawing: the words point to what is there (b08)."""
    owed = {n for n, item in reading.answers.items() if item.key == "other" and not item.text}
    if not owed:
        return reading
    answers = {
        n: item.model_copy(update={"text": f"see the file {names}"}) if n in owed else item
        for n, item in reading.answers.items()
    }
    errors = tuple(e for e in reading.errors if not (e.code == "other_without_text" and e.item in map(str, owed)))
    return reading.model_copy(update={"answers": answers, "errors": errors})


def _keep_files(turn: Turn, session: Session, event: MessageReceived) -> Session:
    """Files that come during a round belong to the request."""
    session = turn.state.session(session.id) or session
    if not event.materials:
        return session
    request = session.request
    request = request.model_copy(update={"materials": (*request.materials, *event.materials)})
    return turn.put(session.model_copy(update={"request": request}))


def _forwarded(turn: Turn, session: Session, round_: Round, event: MessageReceived, direct: bool) -> None:
    """Forwarded words are quoted words: kept, never an answer; a claim of approval is logged (AU-3).

    What in them is shaped like an answer may be taken as the person's own, if they say so.
    """
    readings = [replying.read(turn, round_, line, event.decoded) for line in event.text.splitlines()[:20]]
    if turn.shared and not direct and not any(r.shaped for r in readings if r.kind in CLAIMS):
        turn.ignore("ordinary talk")
        return
    if any(reading.kind in CLAIMS for reading in readings):
        _claimed(turn, session, round_, event, event.text, event.forwarded)
    request = session.request
    kept = request.model_copy(update={"materials": (*request.materials, *_materials(event))})
    session = turn.put(session.model_copy(update={"request": kept}))
    lead = f"Kept as material: forwarded words of {event.forwarded} decide nothing here."
    said = {n: item for reading in readings if reading.kind == "answers" for n, item in reading.answers.items()}
    answers = {n: i for n, i in said.items() if i.key != "skip" and (i.text or i.key not in ("other", "answer"))}
    if not answers or intake.may_answer(turn, session, event.person) is not None:
        turn.tell(f"{lead} Answer in your own words.", session=session, round_=round_)
        return
    offer = Reading(kind="needs_confirmation", proposals=(Proposal(kind="answers", answers=answers),))
    replying.confirm(turn, session, round_, offer, event.person, event.ref, lead=(lead,))


def _only_quoted(turn: Turn, session: Session, round_: Round, event: MessageReceived, direct: bool) -> None:
    """A message of quoted lines and nothing else: what it says may be taken as the person's own, if they say so."""
    reading = replying.read(turn, round_, event.text, event.decoded)
    if turn.shared and not direct and not reading.shaped:
        turn.ignore("ordinary talk")
        return
    refusal = intake.may_answer(turn, session, event.person)
    if refusal is not None:
        turn.refuse(event.person, "may not answer here", refusal, session=session)
        return
    session = injection.note(turn, session, event.person, event.text, event.materials)
    said = {
        n: i for n, i in reading.answers.items() if i.key != "skip" and (i.text or i.key not in ("other", "answer"))
    }
    lead = "You sent only quoted words, and these decide nothing here."
    if not said:
        turn.tell(f"{lead} Answer in your own words.", session=session, round_=round_)
        return
    offer = Reading(kind="needs_confirmation", proposals=(Proposal(kind="answers", answers=said),))
    replying.confirm(turn, session, round_, offer, event.person, event.ref, lead=(lead,))


CLAIMS = ("answers", "accept_all", "accept_all_except", "needs_confirmation", "force_quit")


def _claimed(
    turn: Turn, session: Session, round_: Round, event: MessageReceived, words: str, source: str | None
) -> None:
    """Quoted or forwarded words that would decide something if they were the person's own (AU-3)."""
    turn.audit("injection_incident", session, event.person, round_, source=source or "quoted", words=quote(words))


def _leaves(turn: Turn, session: Session, event: MessageReceived, ref: MessageRef) -> bool:
    """A workflow's command, or the token in front: asked about once, nothing lost either way (RT-7, RT-10)."""
    text = event.text
    if text.lstrip()[:1] not in ("/", "!", "[") and not event.addressed:
        return False
    verdict = route(text, event.materials, turn.pack, position="in_workflow", bot_name=turn.bot_name)
    if verdict.outcome == "confirm_leave":
        named = (verdict.workflow or "something new").replace("/", " / ")
        lead = (
            f"You are in {handover.destination(session)} (#{session.number}), with its questions open.",
            f"Leave it for now and start {named} with this message? Nothing is lost either way.",
        )
        opening.offer_to_leave(turn, session, event.person, text, event.materials, ref, lead)
        return True
    if verdict.other_bot:
        turn.ignore("meant for another bot")
        return True
    owed = session.stage.describing.get(event.person.id) if isinstance(session.stage, Asking) else None
    if verdict.outcome == "clarify" and verdict.unknown_command and owed is not None and session.round is not None:
        words = ItemReading(key="other", text=text.strip())
        kept = Reading(kind="needs_confirmation", proposals=(Proposal(kind="answers", answers={owed: words}),))
        replying.apply(turn, session, session.round, kept, event.person, ref)
        return True
    if verdict.outcome == "clarify" and verdict.unknown_command:
        known = " ".join(f"/{w.commands[0]}" for w in turn.pack.nearest_commands(verdict.unknown_command))
        turn.tell(
            f"I don't know the command {quote(verdict.unknown_command)}. The nearest: {known}. "
            "As an answer in your own words, put the number in front, e.g. 1: other (your words).",
            session=session,
            round_=session.round,
        )
        return True
    return False


def _changed_subject(
    turn: Turn, session: Session, round_: Round, reading: Reading, event: MessageReceived, ref: MessageRef
) -> bool:
    """An unreadable message that asks for a workflow, or comes after a long silence (RT-10)."""
    if session.routed_by == "phase" and read_menu_answer(event.text, (), turn.pack).kind == "else":
        opening.something_else(turn, session, event.person, ref)  # the button's words, typed (CH-1)
        return True
    prose = reading.kind == "unparsed" or _only_own_words(reading)
    if not prose and not (reading.kind in ("needs_confirmation", "question_back") and not reading.asked_about):
        return False
    verdict = _request(turn, event)
    if verdict is not None and verdict.workflow is not None:
        named = verdict.workflow.replace("/", " / ")
        lead = (
            f"I can't read an answer in that. Still open here: {len(round_.open_items)} of {len(round_.items)}.",
            f"It sounds like a request for {named}: start that with this message? The present one is kept.",
        )
        opening.offer_to_leave(turn, session, event.person, event.text, event.materials, ref, lead)
        return True
    if prose and turn.at - session.touched_at > IDLE and event.text.strip():
        lead = (
            f"{commands.name_of(session)} has been waiting for you since {session.touched_at:%d %B}.",
            "Go on with it, or start something new with this message?",
        )
        opening.offer_to_leave(turn, session, event.person, event.text, event.materials, ref, lead)
        return True
    return False


def _request(turn: Turn, event: MessageReceived) -> Verdict | None:
    verdict = route(event.text, event.materials, turn.pack, bot_name=turn.bot_name)
    return verdict if verdict.outcome == "proceed" and verdict.by == "trigger" else None


def _only_own_words(reading: Reading) -> bool:
    """Prose that would be somebody's own answer if they say so; nothing in it is answer-shaped."""
    items = [item for proposal in reading.proposals for item in proposal.answers.values()]
    return reading.kind == "needs_confirmation" and bool(items) and all(i.key in ("other", "answer") for i in items)


# -- the grace -----------------------------------------------------------------------------------------------------


def _closing(turn: Turn, session: Session, event: MessageReceived, ref: MessageRef, direct: bool) -> None:
    """Within the grace a change needs no confirmation; a new request ends it and is heard by itself (RD-16)."""
    round_ = session.round
    assert round_ is not None
    person = event.person
    if turn.shared and not direct and not replying.read(turn, round_, event.text, event.decoded).shaped:
        turn.ignore("ordinary talk")
        return
    refusal = intake.may_answer(turn, session, person)
    if refusal is not None:
        turn.audit("access.answer_refused", session, person, round_, reason=refusal)
        turn.refuse(person, "may not answer here", refusal, session=session)
        return
    if event.forwarded is None and not event.materials:
        if pleasantry(event.text, turn.book.phrases):
            turn.ignore("a pleasantry")
            return
        if _during_grace(turn, session, round_, event, ref):
            return
    handover.hand_over(turn, session)
    turn.about = None
    _idle(turn, event, ref, direct)


def _during_grace(turn: Turn, session: Session, round_: Round, event: MessageReceived, ref: MessageRef) -> bool:
    """What can be said about answers that are about to be handed over. False when it is about something else."""
    reading = replying.read(turn, round_, event.text, event.decoded)
    if reading.answers and reading.shaped:
        session, round_, done = intake.record(turn, session, round_, reading.answers, (), event.person, ref)
        intake.echo(turn, session, round_, done, reading)
        return True
    if reading.kind == "cancel":
        replying.cancel(turn, session, event.person, ref)
        return True
    if _request(turn, event) is not None or event.text.lstrip()[:1] in ("/", "!", "["):
        return False
    problems = [f"{e.item}: {e.message}" if e.item != "?" else e.message for e in reading.errors]
    until = turn.at + LONGER
    turn.put(session.model_copy(update={"stage": Closing(until=until)}))
    turn.timer(f"grace:{session.id}", until)
    if reading.kind == "question_back":
        replying.explain(turn, session, round_, reading)
        return True
    turn.tell(
        *problems,
        f"Held back for a minute. To change an answer: change {round_.items[0].number} to … — or: cancel.",
        "Something new starts with /new.",
        session=session,
        round_=round_,
    )
    return True


LONGER = timedelta(minutes=1)  # somebody is hesitating: more time before the hand-over
