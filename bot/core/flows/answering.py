"""A message while a round waits for answers (RD-6): an answer, a question, another request, or nothing for us."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from bot.core import view
from bot.core.capture import quote
from bot.core.claims import Claim, claims
from bot.core.events import MessageReceived
from bot.core.flows import (
    commands,
    fetching,
    handover,
    injection,
    intake,
    leaving,
    opening,
    putting_off,
    quoting,
    replying,
    threads,
    undoing,
)
from bot.core.flows.asked_for import materials, request_in
from bot.core.flows.uttered import Utterance
from bot.core.flows.words import carries_on, pleasantry, second_thought, yes_or_no
from bot.core.model import MessageRef
from bot.core.moments.wish import Wish
from bot.core.own_words import unquoted
from bot.core.replies.reading import ItemReading, Proposal, Reading
from bot.core.replies.wording import CANCEL, ask_again
from bot.core.routing import read_menu_answer, route
from bot.core.state import Asking, Round, Session
from bot.core.turn import Turn

IDLE = timedelta(hours=72)  # RT-10


def round_message(turn: Turn, session: Session, round_: Round, utterance: Utterance) -> None:
    """A message while a round waits for answers (RD-6)."""
    event, ref, person, direct = utterance.event, utterance.ref, utterance.person, utterance.direct
    to_us = direct or utterance.asked or not turn.shared
    if utterance.forwarded:
        _forwarded(turn, session, round_, utterance, to_us=to_us)
        return
    unseen = not any(r.id == round_.id for s in turn.before.sessions for r in s.rounds)  # opened in this very step
    if unseen or (not direct and intake.before_the_round(turn, round_, event.order)):
        if not turn.shared:
            turn.tell(
                "Your message and my questions crossed, so I did not take it as an answer.",
                "Send it again if it was one.",
                session=session,
                round_=round_,
            )
        turn.outcome, turn.reason = "refused", "older than the round"
        return
    if leaves(turn, session, utterance):
        return
    if utterance.whose == "quoted":
        quoting.only_quoted(turn, session, round_, utterance)
        return
    if event.quoted and _decides(replying.read(turn, round_, event.quoted, event.decoded)):
        _claimed(turn, session, round_, event, event.quoted, None)
    reading, wish = _with_wish(turn, session, round_, event, to_us=to_us)
    meant = direct or reading.shaped or (utterance.asked and threads.counts(reading, event.text))
    if turn.shared and not meant:
        turn.ignore("ordinary talk")
        return
    refusal = intake.may_answer(turn, session, person)
    if refusal is not None:
        wanted = request_in(turn, event) if event.addressed and not person.outside else None
        if wanted is not None and wanted.workflow is not None:  # a request of their own, not an answer (RT-10)
            named = wanted.workflow.replace("/", " / ")
            lead = (f"{session.requester.name}'s intake is open here. Pause it and start {named} with your message?",)
            leaving.offer_to_leave(turn, session, person, event.text, event.materials, ref, lead)
            return
        turn.audit("access.answer_refused", session, person, round_, reason=refusal)
        turn.refuse(person, "may not answer here", refusal, session=session)
        return
    session = _keep_files(turn, session, event)
    lists = turn.book.phrases.lists
    found = claims(event.text, event.materials, lists)
    session = injection.logged(turn, session, person, found)
    claimed = claims(event.text, (), lists) if found and event.materials else found  # by the text alone
    if reading.kind in ("accept_all", "accept_all_except"):
        if claimed and injection.only_fenced(event.text):  # told by `injection.logged` (AU-3)
            _not_ones_own(turn, session, round_)
            return
    elif _only_told_of(turn, session, round_, reading, utterance, claimed):
        return
    if event.materials:  # a file sent with an answer belongs to its proof (b08)
        names = ", ".join(material.name for material in event.materials)
        ref = ref.model_copy(update={"quote": f"{ref.quote} [{quote(names)}]"})
        reading = _with_files(reading, names)
    unread = reading.kind in ("unparsed", "cancel", "needs_confirmation")
    if unread and not event.materials and undoing.meant(turn, round_, event.text, person):
        undoing.typed(turn, session, round_, person, ref, ends=reading.kind == "cancel")
        return
    if _changed_subject(turn, session, round_, reading, event, ref):
        return
    if reading.kind == "put_off" and wish is not None:
        putting_off.keep(turn, session, round_, wish, person, ref)
        return
    if (after := replying.apply(turn, session, round_, reading, person, ref)) is not None:
        if wish is not None and after.stage.kind == "asking" and after.round is not None:
            noted = wish.words in (reading.note, *(item.note for item in reading.answers.values()))
            putting_off.keep(turn, after, after.round, wish, person, ref, beside=True, noted=noted)
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
    last = view.said_last(round_)
    if last is not None and second_thought(event.text, turn.book.phrases):  # "hm wait": what is recorded stays
        replying.nudge(turn, session, round_, f"What is answered stays. To change it: change {last} to …")
        return
    replying.nudge(turn, session, round_, "I can't read an answer in that; nothing is recorded.")


def _reading(turn: Turn, session: Session, round_: Round, event: MessageReceived, *, to_us: bool) -> Reading:
    """The reading of a reply; words owed after a press on Other come first, unless they are shaped otherwise.

    In a shared place what is said to nobody is talk, whatever is owed (RP-11).
    """
    reading = replying.read(turn, round_, event.text, event.decoded, attached=bool(event.materials))
    stage = session.stage
    owed = stage.describing.get(event.person.id) if isinstance(stage, Asking) else None
    if owed is None or not event.text.strip() or not to_us:
        return reading
    item = round_.item(owed)
    if item is None:
        return reading
    left = {k: v for k, v in stage.describing.items() if k != event.person.id} if isinstance(stage, Asking) else {}
    if reading.kind in ("answers", "accept_all", "accept_all_except") and reading.shaped:
        return reading
    book, words = turn.book.phrases, unquoted(event.text)
    own = ItemReading(key="other", text=words)
    told = Proposal(kind="answers", answers={owed: own}, label="My answer")
    timed = putting_off.dated(turn, words, replying.slot(owed, item.question, None))
    if timed == "either":
        return Reading(kind="needs_confirmation", proposals=(told, ask_again(words)))
    if timed != "answer" and reading.kind in ("question_back", "cancel", "put_off", "force_quit"):
        return reading
    if not words:  # somebody else's alone (AU-3)
        return reading
    chatter = (
        pleasantry(words, book) or carries_on(words, book) or yes_or_no(words, book) or words.endswith(("?", "？"))
    )
    partly = words != "\n".join(event.text.splitlines()).strip()  # beside words of somebody else
    numbered = replying.read(turn, round_, f"{owed}: {words}", event.decoded)
    orders = yes_or_no(words.rstrip(".!"), book) is None
    if orders and any(p.kind == "cancel" for p in (*reading.proposals, *numbered.proposals)):  # "delete", "stop"
        return Reading(kind="needs_confirmation", proposals=(told, CANCEL))
    if timed != "answer" and (chatter or partly or _undecided(numbered, owed)):
        return Reading(kind="needs_confirmation", proposals=(told,))
    turn.put(session, stage=Asking(describing=left))
    return Reading(kind="answers", answers={owed: own}, shaped=True)


_UNDECIDED = {"unsure", "deferred", "question", "tentative", "conditional", "reference"}


def _undecided(numbered: Reading, owed: int) -> bool:
    """Whether they would leave the question open, were its number in front: "not sure", "I have to ask Bo" (RP-3)."""
    return any(error.item == str(owed) and error.code in _UNDECIDED for error in numbered.errors)


def _with_wish(
    turn: Turn, session: Session, round_: Round, event: MessageReceived, *, to_us: bool
) -> tuple[Reading, Wish | None]:
    """What a message answers, and what it wishes about asking (CH-6). What gainsays the wish is not taken."""
    wish = putting_off.wish_in(turn, event.text) or putting_off.wish_before(turn, round_, event.text)
    if wish is not None and not wish.rest:
        return Reading(kind="put_off", until=wish.words), wish
    said = event if wish is None else event.model_copy(update={"text": wish.rest})
    reading = _reading(turn, session, round_, said, to_us=to_us)
    if wish is None:
        wish = putting_off.wish_behind(turn, round_, event.text, reading)
        return (reading if wish is None or reading.kind != "unparsed" else PUT_OFF), wish
    ends = {reading.kind, *(p.kind for p in reading.proposals)} - {"needs_confirmation"} <= {"cancel", "force_quit"}
    if reading.kind in ("unparsed", "put_off") or (ends and not wish.stops):  # "enough for today, ask me tomorrow"
        return PUT_OFF, wish
    if _only_prose(reading, wish.rest):
        proposal = Proposal(kind="answers", answers=reading.answers)
        return Reading(kind="needs_confirmation", proposals=(proposal,)), wish
    taken = {*reading.accepted, *reading.answers}
    if not wish.stops and reading.accepted and all(item.number in taken for item in round_.open_items):
        asked = {"accepted": (), "proposals": (Proposal(kind="accept_all"),)}  # what would there be to ask about?
        kind = "answers" if reading.answers else "needs_confirmation"
        return reading.model_copy(update={**asked, "kind": kind}), wish
    return reading, wish


PUT_OFF = Reading(kind="put_off")


def _only_prose(reading: Reading, text: str) -> bool:
    """Words beside a wish that only the open question makes an answer: "no idea yet, ask me tomorrow at 9"."""
    prose = [item for item in reading.answers.values() if item.key in ("answer", "correct")]
    return reading.kind == "answers" and any(item.text == text.strip() for item in prose)


def _with_files(reading: Reading, names: str) -> Reading:
    """ "2: other" with a drawing and no words beside it: the drawing is what was meant (b08)."""
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
    session = turn.put(session, request=request)
    fetching.order(turn, session)
    return session


def _forwarded(turn: Turn, session: Session, round_: Round, utterance: Utterance, *, to_us: bool) -> None:
    """Forwarded words are quoted words: kept, never an answer; a claim of approval is logged (AU-3).

    What in them is shaped like an answer may be taken as the person's own, if they say so.
    """
    event = utterance.event
    readings = [replying.read(turn, round_, line, event.decoded) for line in event.text.splitlines()[:20]]
    if not to_us and not any(r.shaped for r in readings if _decides(r)):
        turn.ignore("ordinary talk")
        return
    if any(map(_decides, readings)):
        _claimed(turn, session, round_, event, event.text, event.forwarded)
    request = session.request
    kept = request.model_copy(update={"materials": (*request.materials, *materials(event))})
    session = turn.put(session, request=kept)
    lead = f"Kept as material: forwarded words of {event.forwarded} decide nothing here."
    said = {n: item for reading in readings if reading.kind == "answers" for n, item in reading.answers.items()}
    answers = {n: i for n, i in said.items() if i.key != "skip" and (i.text or i.key not in ("other", "answer"))}
    if not answers or intake.may_answer(turn, session, event.person) is not None:
        turn.tell(f"{lead} Answer in your own words.", session=session, round_=round_)
        return
    offer = Reading(kind="needs_confirmation", proposals=(Proposal(kind="answers", answers=answers),))
    replying.confirm(turn, session, round_, offer, event.person, utterance.ref, lead=(lead,))


CLAIMS = ("answers", "accept_all", "accept_all_except", "needs_confirmation", "force_quit")


def _decides(reading: Reading) -> bool:
    """Whether words would decide something, were they the person's own. To cancel, or maybe to, decides nothing."""
    return reading.kind in CLAIMS and not (reading.proposals and all(p.kind == "cancel" for p in reading.proposals))


def _claimed(
    turn: Turn, session: Session, round_: Round, event: MessageReceived, words: str, source: str | None
) -> None:
    """Quoted or forwarded words that would decide something if they were the person's own (AU-3)."""
    turn.audit("injection_incident", session, event.person, round_, source=source or "quoted", words=quote(words))


def _only_told_of(
    turn: Turn, session: Session, round_: Round, reading: Reading, utterance: Utterance, found: Sequence[Claim]
) -> bool:
    """Words that accept and are somebody else's: logged, and true where nothing of the person's own counts (AU-3).

    `found`: what the text claims.
    """
    event, own = utterance.event, utterance.own
    words = injection.others_words(turn, round_, event.text, found)
    if words is None:
        return False
    if not found:  # else `injection.logged` has logged it
        _claimed(turn, session, round_, event, words, "reported")
        if reading.kind == "answers":
            turn.tell(f"⚠ “{quote(words)}” is what somebody else says; that decides nothing here.", session=session)
    agrees = own != event.text.strip() and yes_or_no(own, turn.book.phrases) == "yes"
    if reading.kind not in ("unparsed", "needs_confirmation") or agrees:
        return False
    if any(proposal.kind != "accept_all" or proposal.answers for proposal in reading.proposals):
        return False
    _not_ones_own(turn, session, round_)
    return True


def _not_ones_own(turn: Turn, session: Session, round_: Round) -> None:
    bulk = turn.policy(session).bulk_accept
    if_own = " If they are yours too, write: accept recommendations" if bulk else ""
    turn.tell(
        f"Somebody else's words decide nothing here; nothing is recorded.{if_own}",
        view.still_open(round_, bulk),
        session=session,
        round_=round_,
    )


def leaves(turn: Turn, session: Session, utterance: Utterance) -> bool:
    """A workflow's command, or the token in front: asked about once, nothing lost either way (RT-7, RT-10)."""
    event, ref, text = utterance.event, utterance.ref, utterance.text
    if text.lstrip()[:1] not in ("/", "!", "[") and not event.addressed:
        return False
    verdict = route(text, event.materials, turn.pack, position="in_workflow", bot_name=turn.bot_name)
    if verdict.outcome == "confirm_leave":
        named = (verdict.workflow or "something new").replace("/", " / ")
        lead = (
            f"You are in {handover.destination(session)} (#{session.number})"
            + (", with its questions open." if session.stage.kind == "asking" else "."),
            f"Leave it for now and start {named} with this message? Nothing is lost either way.",
        )
        leaving.offer_to_leave(turn, session, event.person, text, event.materials, ref, lead)
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
        meant = turn.pack.mistyped(verdict.unknown_command)
        workflows = (w.commands[0] for w in turn.pack.nearest_commands(verdict.unknown_command))
        known = " ".join(f"/{word}" for word in (*([meant] if meant else ()), *workflows))
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
    """An unreadable message that asks for a workflow, or comes after a long silence (RT-10). No plain yes or no."""
    prose = reading.kind == "unparsed" or _only_own_words(reading)
    unclear = prose or (reading.kind in ("needs_confirmation", "question_back") and not reading.asked_about)
    if not unclear and session.routed_by != "phase":
        return False
    if yes_or_no(event.text, turn.book.phrases) is not None:
        return False
    if session.routed_by == "phase" and read_menu_answer(event.text, (), turn.pack).kind == "else":
        opening.something_else(turn, session, event.person, ref)  # the button's words, typed (CH-1)
        return True
    if not unclear:
        return False
    verdict = request_in(turn, event)
    if verdict is not None and verdict.workflow is not None:
        named = verdict.workflow.replace("/", " / ")
        lead = (
            f"I can't read an answer in that. Still open here: {len(round_.open_items)} of {len(round_.items)}.",
            f"It sounds like a request for {named}: start that with this message? The present one is kept.",
        )
        leaving.offer_to_leave(turn, session, event.person, event.text, event.materials, ref, lead)
        return True
    if prose and turn.at - session.touched_at > IDLE and event.text.strip():
        lead = (
            f"{commands.name_of(session)} has been waiting for you since {session.touched_at:%d %B}.",
            "Go on with it, or start something new with this message?",
        )
        leaving.offer_to_leave(turn, session, event.person, event.text, event.materials, ref, lead)
        return True
    return False


def _only_own_words(reading: Reading) -> bool:
    """Prose that would be somebody's own answer if they say so; nothing in it is answer-shaped."""
    items = [item for proposal in reading.proposals for item in proposal.answers.values()]
    return reading.kind == "needs_confirmation" and bool(items) and all(i.key in ("other", "answer") for i in items)
