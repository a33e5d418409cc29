"""What a person says while no round of a specification is open: a "y", a number, a described change."""

from __future__ import annotations

import re

from bot.core import scope_change, spec_view, view
from bot.core.capture import quote
from bot.core.events import MessageReceived
from bot.core.flows import (
    amending,
    injection,
    intake,
    phases,
    putting_off,
    recording,
    replying,
    spec,
    spec_beginning,
    spec_scope,
    spec_steps,
    spec_ways,
)
from bot.core.flows.uttered import Utterance
from bot.core.flows.words import carries_on, pleasantry, puts_off, second_thought, words_of, yes_or_no
from bot.core.model import Material, MessageRef, Person
from bot.core.own_words import only_marked
from bot.core.patterns import regex
from bot.core.replies.phrases import PhraseBook
from bot.core.replies.reading import Reading
from bot.core.replies.tokens import tokenize
from bot.core.slots import spec_of
from bot.core.state import Between, Round, Session
from bot.core.turn import Turn

OWED = ("rationale", "input", "name")  # words of one's own are asked for: they may be somebody's, in quotation marks
_NUMBER = regex(r"\W*(\d{1,2})\b(.*)", re.DOTALL)


def message(turn: Turn, session: Session, utterance: Utterance) -> None:
    """A message that is no command. In a shared place only a direct reply or words to the bot count (RP-3)."""
    stage = session.stage
    assert isinstance(stage, Between)
    event, ref = utterance.event, utterance.ref
    last = None if stage.waits in ("name", "input") else _last_round(session)
    reading = _change(turn, last, event)
    changes = reading is not None
    meant = utterance.direct or changes or (utterance.asked and _fits(turn, session, stage, event))
    if turn.shared and not meant:
        turn.ignore("ordinary talk")
        return
    if intake.turns_away(turn, session, event.person):
        return
    if utterance.forwarded:
        _forwarded(turn, session, event)
        return
    if last is not None and reading is not None and not intake.on_the_table(session, last):
        amending.propose(turn, session, last, reading, event.person, ref)  # whatever else waits here (RD-13)
        return
    if _crossed(turn, session, stage, event, direct=utterance.direct or utterance.asked):
        turn.outcome, turn.reason = "refused", "older than the question"
        turn.tell(
            "Your message and my question crossed, so I did not take it as an answer. Send it again if it was one.",
            session=session,
        )
        return
    if event.materials:
        session = _files(turn, session, event)
        if not event.text.strip():
            if stage.waits == "name" and spec_beginning.from_files(turn, session, event.person, ref):
                return
            session = injection.note(turn, session, event.person, "", event.materials)
            turn.tell("Added to your request.", phases.ahead(turn, session).words, session=session)
            return
    session = injection.note(turn, session, event.person, event.text, event.materials)
    if not event.materials and putting_off.unfinished(turn, session, event, utterance.ref):
        return
    own = utterance.own
    if not own or (only_marked(own) and not _owed(stage)):
        turn.tell("Quoted words decide nothing here; please write it in your own, unquoted.", session=session)
        spec_steps.again(turn, session)
        return
    choose(turn, session, own, event.person, ref, event)


def _owed(stage: Between) -> bool:
    """Whether words of one's own are asked for; of a change with its reason it is a yes."""
    return stage.waits in OWED and not (stage.waits == "rationale" and stage.changes and stage.changes[0].rationale)


def _last_round(session: Session) -> Round | None:
    """The last round that has asked anything."""
    return next((round_ for round_ in reversed(session.rounds) if round_.items), None)


def _change(turn: Turn, round_: Round | None, event: MessageReceived) -> Reading | None:
    """ "change 2 to C" means the round that has closed here, also when it is said to nobody (RD-13)."""
    if round_ is None:
        return None
    reading = replying.read(turn, round_, event.text.strip(), event.decoded)
    return reading if reading.shaped and reading.correction and reading.answers else None


def _fits(turn: Turn, session: Session, stage: Between, event: MessageReceived) -> bool:
    """Whether words in the session's own thread, said by somebody who is asked, are meant for what waits (RP-7)."""
    said, book = event.text.strip(), turn.book.phrases
    if yes_or_no(said, book) is not None or said.casefold() in ("y", "n"):
        return stage.waits in ("settled", "reconfirm", "rerun", "rationale")
    match stage.waits:
        case "go":
            round_ = session.round
            reading = replying.read(turn, round_, said, event.decoded) if round_ and round_.items else None
            return carries_on(said, book) or bool(reading and reading.correction and reading.answers)
        case "escalation":
            way = spec_ways.read(said, spec_view.ways_out(session), book)
            return way is not None and way.sure
        case "settled":
            return _NUMBER.fullmatch(said) is not None
        case "reconfirm":
            return bool(scope_change.described(said, spec_of(session), book).wanted)
        case "rerun":
            return carries_on(said, book)
        case "rationale":
            return _owed(stage) or scope_change.says_why(said, book)
        case "input" | "name":
            return bool(said)


def _crossed(turn: Turn, session: Session, stage: Between, event: MessageReceived, *, direct: bool) -> bool:
    """Written before the question was seen (RP-7)."""
    before = turn.before.session(session.id)
    unseen = before is None or not isinstance(before.stage, Between) or before.stage.card != stage.card
    if unseen or direct or event.order is None:
        return unseen
    if stage.waits == "settled" and session.round is not None:
        return intake.before_the_round(turn, session.round, event.order)
    return (stage.after is not None and event.order <= stage.after) or (
        stage.order is not None and event.order < stage.order
    )


def _files(turn: Turn, session: Session, event: MessageReceived) -> Session:
    request = session.request.model_copy(update={"materials": (*session.request.materials, *event.materials)})
    return turn.put(session, request=request)


def _forwarded(turn: Turn, session: Session, event: MessageReceived) -> None:
    """Forwarded words are quoted words: kept as material, they decide nothing (AU-3)."""
    name = f"forwarded from {event.forwarded}: {view.shortened(event.text)}"
    material = Material(kind="named", name=name, caption=event.text or None)
    request = session.request.model_copy(update={"materials": (*session.request.materials, material)})
    session = turn.put(session, request=request)
    if yes_or_no(event.text, turn.book.phrases) is not None or carries_on(event.text, turn.book.phrases):
        turn.audit("injection_incident", session, event.person, source=event.forwarded, words=quote(event.text))
    session = injection.note(turn, session, event.person, "", (material,), told=False)
    turn.tell(f"Kept as material: forwarded words of {event.forwarded} decide nothing here.", session=session)
    spec_steps.again(turn, session)


# -- one answer, typed or pressed ------------------------------------------------------------------------------------


def choose(
    turn: Turn, session: Session, said: str, person: Person, ref: MessageRef, event: MessageReceived | None = None
) -> None:
    """`said` is the words, or the choice of a button. What it means depends on what waits."""
    stage = session.stage
    assert isinstance(stage, Between)
    word = yes_or_no(said, turn.book.phrases)
    if said.casefold().strip(" .!") in ("y", "n"):
        word = "yes" if said.casefold().startswith("y") else "no"
    match stage.waits:
        case "go":
            _going(turn, session, said, person, ref, event)
        case "settled":
            _settled(turn, session, said, word, person, ref)
        case "reconfirm":
            spec_scope.reconfirm(turn, session, said, word, person, ref)
        case "rationale":
            spec_scope.rationale(turn, session, stage, said, person, ref)
        case "rerun":
            spec_scope.rerun(turn, session, said, word, person, ref)
        case "escalation":
            spec_ways.choose(turn, session, said, person, ref)
        case "input":
            if word == "no" or _turns_back(said, turn.book.phrases):
                spec_steps.back_to_the_ways(turn, session, person, ref)
            elif len(said) < 4 or word is not None or not spec_beginning.is_request(said, turn.book.phrases):
                turn.tell("That is no request yet.", spec_steps.INPUT, session=session)
            else:
                spec_steps.revised(turn, session, said, person, ref)
        case "name":
            spec_beginning.said(turn, session, said, person, ref)


def _turns_back(said: str, book: PhraseBook) -> bool:
    """ "cancel", "go back", "never mind", and nothing else: of the way that was chosen, not of the specification."""
    return (
        said.casefold().strip(" .!") in ("back", "never mind", "nevermind")
        or words_of(said, book, "undo", "to_bot") is not None
        or spec_beginning.cancels(said, book)
    )


def _going(
    turn: Turn, session: Session, said: str, person: Person, ref: MessageRef, event: MessageReceived | None
) -> None:
    """Between two steps: "go on", an answer changed, thanks; anything else is met with what could be done."""
    book = turn.book.phrases
    asks = "?" in said or "？" in said  # "continue?" lets nothing through a gate
    if carries_on(said, book, agreeing=True) and not asks:
        spec_steps.go_on(turn, session, person, ref)
        return
    ahead = phases.ahead(turn, session)
    if yes_or_no(said, book) == "yes":
        turn.tell("Nothing goes on by itself.", ahead.words, session=session)
        return
    if ahead.step in ("next", "finish") and _holds_back(said, book):
        spec.phase_audit(turn, session, "gate_withheld", person, ref, words=ref.quote)
        number = spec_of(session).phase
        turn.tell(f"{spec_view.name_of(number, first=True)} is kept as it is.", ahead.words, session=session)
        return
    if pleasantry(said, book) and not asks:
        turn.ignore("a pleasantry")
        return
    round_ = _last_round(session)
    if round_ is not None and event is not None:
        reading = replying.read(turn, round_, said, event.decoded)
        sure = reading.shaped and intake.on_the_table(session, round_)
        if reading.answers and not sure and amending.propose(turn, session, round_, reading, person, ref):
            return  # its phase is done (RD-13), or the words may be meant otherwise: "actually 5: the clerks"
        if reading.answers and sure:
            session, round_, done = recording.record(turn, session, round_, reading.answers, (), person, ref)
            intake.echo(turn, session, round_, done, reading)
            return
        if reading.kind == "question_back" and reading.asked_about:
            replying.explain(turn, session, round_, reading)
            return
        if reading.kind == "cancel":
            replying.cancel(turn, session, person, ref)
            return
        if reading.kind in ("accept_all", "accept_all_except"):
            turn.tell("Nothing is open to accept.", phases.ahead(turn, session).words, session=session)
            return
    last = None if round_ is None else view.said_last(round_)
    if last is not None and second_thought(said, book):
        turn.tell(f"What is answered stays. To change it: change {last} to …", ahead.words, session=session)
        return
    turn.tell("No question is open.", phases.scope_hint(session, said, book), ahead.words, session=session)


def _holds_back(said: str, book: PhraseBook) -> bool:
    """ "no", "not yet": a person who could let the work go on keeps it where it is."""
    return yes_or_no(said, book) == "no" or puts_off(said, book)


def _settled(turn: Turn, session: Session, said: str, word: str | None, person: Person, ref: MessageRef) -> None:
    """One "y" for all that is taken as settled, or the number of what is not right (RD-5)."""
    round_ = session.round
    assert round_ is not None
    if word == "yes":
        run = spec_of(session).present.model_copy(update={"confirmed": True})
        session = turn.put_round(session, round_.model_copy(update={"closed_at": turn.at}))
        session = phases.keep(turn, session, spec_of(session).with_run(run), stage=Between())
        spec.phase_audit(
            turn, session, "round.closed", person, ref,
            round=round_.nth, resolved=0, asked=0, confirmed=True, trigger=round_.trigger,
        )  # fmt: skip
        message = spec_view.lines(view.heading(round_, ""), "✔ Settled as listed.")
        turn.redraw(round_.card, message, session, round_)
        session, told = phases.settle_scope(turn, session, person, ref)
        turn.tell("Settled.", *told, phases.ahead(turn, session).words, session=session)
        return
    rows = [s for s in session.settled if s.phase == spec_of(session).phase]
    numbers, beside = _numbers(said, turn.book.phrases)
    numbers = numbers or tuple(n for n, s in enumerate(rows, 1) if _names(said, s.topic))
    asks = said.rstrip().endswith(("?", "？"))
    if asks or not numbers or not all(1 <= n <= len(rows) for n in numbers):
        listed = f"1–{len(rows)}" if rows else "y"
        shown = [line for n, line in spec_view.settled_points(session) if asks and n in numbers]
        turn.tell(*shown, f"Write y, or the number of what is not right ({listed}).", session=session)
        return
    run = spec_of(session).present
    run = run.model_copy(update={"doubted": (*run.doubted, *(rows[n - 1].question for n in numbers))})
    listed = ", ".join(str(n) for n in numbers) + (" is" if len(numbers) == 1 else " are")
    turn.redraw(round_.card, spec_view.lines(view.heading(round_, ""), f"✔ {listed} asked instead."), session, round_)
    session = turn.put_round(session, round_.model_copy(update={"closed_at": turn.at}))
    spec.phase_audit(turn, session, "round.closed", person, ref, round=round_.nth, confirmed=True, corrected=numbers)
    session = phases.keep(turn, session, spec_of(session).with_run(run))
    if beside:
        turn.tell(f"“{view.shortened(beside)}” is no answer yet: here the options are.", session=session)
    spec.surface(turn, session, round_.trigger)


def _numbers(said: str, book: PhraseBook) -> tuple[tuple[int, ...], str]:
    """The numbers with which a message begins ("1 and 3 are wrong", "2-4"), and what is given as their answer."""
    tokens = tokenize(said)
    found: list[int] = []
    at, until = 0, False
    while at < len(tokens):
        token = tokens[at]
        if token.kind == "num":
            found += range(found[-1] + 1, token.value + 1) if until and found and token.value < 100 else [token.value]
            until = False
        elif token.kind == "mark" and token.fold == "-" and found:
            until = at + 1 < len(tokens) and tokens[at + 1].kind == "num"
        elif token.kind not in ("mark", "line", "para"):
            known = book.at(tokens, at)
            length = max((n for name, (n, _) in known.items() if name in ("and", "item")), default=0)
            if not length:
                break
            at += length - 1
        at += 1
    given = found and at and at < len(tokens) and tokens[at - 1].fold in (":", "=", "->")
    return tuple(dict.fromkeys(found)), said[tokens[at].start :] if given else ""


def _names(said: str, topic: str) -> bool:
    return topic.casefold() in said.casefold()


# -- a button --------------------------------------------------------------------------------------------------------


def pressed(turn: Turn, rest: str, person: Person, ref: MessageRef) -> None:
    """`<session>:<waits>:<mark>:<choice>`: bound to what was seen (RD-15)."""
    name, waits, mark, choice = [*rest.split(":"), "", "", ""][:4]
    session = turn.state.session(name)
    if session is None or session.spec is None:
        turn.outcome, turn.reason = "refused", "late tap"
        turn.notice("That specification is over; nothing follows from this. /status shows what is open.")
        return
    stage = session.stage
    if not isinstance(stage, Between) or stage.waits != waits or mark != spec_view.mark(session):
        turn.outcome, turn.reason = "refused", "late tap"
        turn.notice(" ".join(spec_view.overtaken(session, waits, mark)))
        return
    if intake.turns_away(turn, session, person):
        return
    if choice not in {c for c, _ in spec_view.choices(session)}:
        turn.outcome, turn.reason = "refused", "unknown button"
        how = spec_view.WAITS[waits][1] if waits in spec_view.WAITS else "Please write it."
        turn.notice(f"This button does not fit any more. {how}")
        return
    turn.set(active=session.id)
    if waits == "reconfirm" and choice == "n":
        turn.notice("Write what changes and why.", typed=False)
        turn.tell("Write what changes and why, e.g. surfaces: 4 because the admin page joins", session=session)
        return
    turn.notice("Noted.", typed=False)
    choose(turn, session, choice, person, ref)
