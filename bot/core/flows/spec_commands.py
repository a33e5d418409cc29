"""The commands of a specification: /continue, /tier, /jump, /show, /gate, /point, /abandon (SP-2)."""

from __future__ import annotations

import re

from bot.core import spec_view, view
from bot.core.flows import handover, intake, leaving, phases, replying, spec, spec_points, spec_steps, spec_tier
from bot.core.gate import NoSuchPhase, phase_number
from bot.core.model import MessageRef, Person
from bot.core.patterns import regex
from bot.core.slots import spec_of
from bot.core.spec import CONFIRMED_IN, LAST, phase
from bot.core.spec_evidence import gate_of
from bot.core.state import Between, Session
from bot.core.turn import Turn

WORDS = ("continue", "tier", "jump", "show", "gate", "point", "abandon", "accept-recommendations")
BARE = ("tier", "jump", "show", "gate")  # in a private chat the word alone does the same, but for words that are owed
_NUMBERED = regex(r"(?:phase )?\w*", re.IGNORECASE)
_SHORT = {  # what may follow the word after a mention; more than that is talk (CH-3)
    "continue": regex(r""),
    "accept-recommendations": regex(r""),
    "tier": regex(r"\w+(?: because .+)?", re.IGNORECASE),
    "jump": _NUMBERED,
    "show": regex(r"\d?|scope", re.IGNORECASE),
    "gate": _NUMBERED,
    "point": regex(r"(?:v-\d.*)?", re.IGNORECASE | re.DOTALL),
    "abandon": regex(r".*", re.DOTALL),
}
_COMMAND = regex(r"\s*[/!]([a-z][a-z_-]*)(?:@(\w+))?(?:\s+([\s\S]*))?\s*", re.IGNORECASE)


def reads_as_one(text: str) -> bool:
    """Whether a word without a slash, and what follows it, are a command of this page: `tier 2`."""
    head, _, rest = text.strip().partition(" ")
    head = head.casefold()
    return head in WORDS and _SHORT[head].fullmatch(rest.strip()) is not None


def parsed(turn: Turn, text: str, *, mentioned: bool) -> tuple[str, str] | None:
    """A command of this page and the words after it, where the place knows it or a specification is open."""
    spec_here = turn.state.current
    if spec_here is not None and spec_here.spec is not None and spec_points.TYPED.match(text):
        return "point", text.strip()
    found = _COMMAND.fullmatch(text)
    word, name, rest = (found[1], found[2], found[3]) if found else (None, None, None)
    if found is None and mentioned and any(_open_spec(s) for s in turn.state.sessions):
        head, _, rest = text.strip().partition(" ")
        word = head if reads_as_one(text) else None
    if found is None and word is None and not turn.shared and spec_here is not None:
        head, _, rest = text.strip().partition(" ")
        bare = head.casefold() in _bare(spec_here)
        word = head if bare and _SHORT[head.casefold()].fullmatch(rest.strip()) else None
    if word is None or (name and turn.bot_name and name.casefold() != turn.bot_name.casefold()):
        return None
    word = word.casefold().replace("_", "-")
    current = turn.state.current
    in_spec = current is not None and current.spec is not None
    if word not in WORDS or not (in_spec or word in turn.pack.session_commands):
        return None
    return word, (rest or "").strip()


def run(turn: Turn, word: str, rest: str, person: Person, ref: MessageRef, bound: Session | None) -> None:
    """Carry out one command. It means the specification replied to, else the active one, else the last paused one."""
    session = bound if bound is not None and bound.spec is not None else turn.state.current
    if session is None or session.spec is None or session.stage.kind == "ended":
        session = _waiting(turn, word)
    if session is None:
        if turn.state.current is not None and _means_any(turn, turn.state.current, word, rest, person, ref):
            return
        turn.outcome, turn.reason = "refused", "no specification is open"
        turn.tell("No specification is open here. /spec and a name begins one, e.g. /spec Refunds in the app")
        return
    refusal = None if word in ("show", "gate") else intake.may_answer(turn, session, person)
    if refusal is not None:
        turn.audit("access.answer_refused", session, person, reason=refusal)
        turn.refuse(person, f"may not /{word} here", refusal, session=session)
        return
    match word:
        case "continue":
            if turn.state.active != session.id:
                _resumed(turn, session, person, ref)
            else:
                spec_steps.go_on(turn, session, person, ref)
        case "tier":
            spec_tier.set_tier(turn, session, rest, person, ref)
        case "jump":
            _jump(turn, session, rest, person, ref)
        case "show":
            _show(turn, session, rest)
        case "gate":
            _gate(turn, session, rest, person)
        case "point":
            spec_points.run(turn, session, rest, person, ref)
        case "abandon":
            _abandon(turn, session, rest, person, ref)
        case _:
            _accept(turn, session, person, ref)


def _bare(session: Session) -> tuple[str, ...]:
    """The words that do the same without a slash here: none where words of one's own are asked for."""
    stage = session.stage
    if session.spec is None or (stage.kind == "asking" and stage.describing):
        return ()
    if isinstance(stage, Between) and stage.waits == "name":
        return ("tier",)  # "gate" could be what it is about
    return () if isinstance(stage, Between) and stage.waits in ("reconfirm", "rationale", "input") else BARE


def _open_spec(session: Session) -> bool:
    return session.spec is not None and session.stage.kind != "ended"


def _means_any(turn: Turn, session: Session, word: str, rest: str, person: Person, ref: MessageRef) -> bool:
    """What these say of an intake that is no specification. False = nothing."""
    if word == "abandon":
        _abandon(turn, session, rest, person, ref)
        return True
    round_ = session.round
    if session.stage.kind != "asking" or round_ is None or word not in ("continue", "accept-recommendations"):
        return False
    refusal = intake.may_answer(turn, session, person)
    if refusal is not None:
        turn.audit("access.answer_refused", session, person, reason=refusal)
        turn.refuse(person, f"may not /{word} here", refusal, session=session)
    elif word == "continue":
        turn.outcome, turn.reason = "refused", "questions are open"
        turn.tell(spec_steps.FIRST, *spec_steps.still_open(turn, session), session=session, round_=round_)
    else:
        _accept(turn, session, person, ref)
    return True


def _waiting(turn: Turn, word: str) -> Session | None:
    """The last specification of this place that is not over; only /continue and what merely shows take it up.

    `/show` shows one that is over as well, while it is remembered whole.
    """
    if word not in ("continue", "show", "gate"):
        return None
    paused = [s for s in turn.state.sessions if _open_spec(s)]
    over = [s for s in turn.state.sessions if s.spec is not None] if word == "show" else []
    return next(reversed(paused or over), None)


def _resumed(turn: Turn, session: Session, person: Person, ref: MessageRef) -> None:
    """Back to a specification that was set aside: it is shown as it was left, nothing else happens."""
    current = turn.state.current
    if current is not None:
        leaving.pause(turn, current, person)
    turn.set(active=session.id)
    turn.audit("session.resumed", session, person)
    spec.phase_audit(turn, session, "run_resumed", person, ref)
    spec_steps.again(turn, session)


def _accept(turn: Turn, session: Session, person: Person, ref: MessageRef) -> None:
    """`/accept-recommendations`: what the words "accept recommendations" do."""
    round_ = session.round
    if session.stage.kind != "asking" or round_ is None:
        turn.tell("Nothing is open to accept.", phases.ahead(turn, session).words, session=session)
        return
    reading = replying.read(turn, round_, "accept recommendations", True)
    replying.apply(turn, session, round_, reading, person, ref)


# -- /jump -----------------------------------------------------------------------------------------------------------


def _jump(turn: Turn, session: Session, rest: str, person: Person, ref: MessageRef) -> None:
    """Go to another phase: one that is done is done again, with what has changed alone (RD-11)."""
    state = spec_of(session)
    number = _number(turn, session, rest)
    if number is None:
        return
    if session.stage.kind == "asking":
        turn.outcome, turn.reason = "refused", "questions are open"
        turn.tell(
            f"Questions of {spec_view.name_of(state.phase)} are open; nothing goes on before they are answered.",
            *spec_steps.still_open(turn, session),
            session=session,
        )
        return
    stage = session.stage
    if isinstance(stage, Between) and stage.waits == "settled":
        turn.outcome, turn.reason = "refused", "a “y” is open"
        turn.tell("What this phase takes as settled needs your word first.", session=session)
        spec_steps.again(turn, session)
        return
    needed = 1 if number > 1 and not state.lock.locked else None
    if needed is None and number > CONFIRMED_IN and not gate_of(session, CONFIRMED_IN).open:
        needed = CONFIRMED_IN
    if needed is not None:
        turn.outcome, turn.reason = "refused", "an earlier phase is needed"
        what = "the scope is locked" if needed == 1 else "the scope is confirmed again and its questions are answered"
        how = phases.ahead(turn, session).words if needed == state.phase else f"/jump {needed} goes there."
        turn.tell(f"Phase {number} can begin once {what} in {spec_view.name_of(needed)}.", how, session=session)
        return
    run = state.run(number)
    if number == state.phase and run is not None and run.status == "started" and _complete(turn, session):
        turn.tell(f"You are in {spec_view.name_of(number)}.", session=session)
        spec_steps.again(turn, session)
        return
    spec.phase_audit(turn, session, "phase_jump", person, ref, to=number, **{"from": state.phase})
    left_out = [n for n in range(state.phase + 1, number) if state.run(n) is None]
    if left_out:
        named = ", ".join(phase(n).name for n in left_out)
        turn.tell(f"Jumped over, and still to be done before the end: {named}.", session=session)
    session = turn.put(session, stage=Between())
    spec.start(turn, session, number, person, ref)


def _complete(turn: Turn, session: Session) -> bool:
    """Whether the present phase has nothing wrong that doing it again would mend."""
    return phases.ahead(turn, session).step != "gate"


def _number(turn: Turn, session: Session, rest: str) -> int | None:
    """The phase that is meant, by number or name; tells what there is where none is."""
    word = rest.strip().casefold().removeprefix("phase").strip(" .#")
    named = next((p.number for n in range(1, LAST + 1) if (p := phase(n)).name.casefold() == word), None)
    try:
        return named or phase_number(int(word) if word.isascii() and word.isdigit() else 0)
    except NoSuchPhase:
        listed = ", ".join(f"{n} {phase(n).name}" for n in range(1, LAST + 1))
        turn.outcome, turn.reason = "refused", "no such phase"
        said = f"There is no phase “{view.shortened(rest, 30)}”." if rest else "Which phase?"
        turn.tell(f"{said} The phases: {listed}.", session=session)
        return None


# -- /show, /gate, /abandon ------------------------------------------------------------------------------------------


def _show(turn: Turn, session: Session, rest: str) -> None:
    """The seven phases, or what one of them has decided."""
    if not rest:
        state = spec_of(session)
        turn.tell(f"Spec “{state.name}”", *spec_view.overview(session), "/show 3 shows one phase.", session=session)
        handover.show_record(turn, session)
        return
    if rest.casefold() == "scope":
        lock = spec_of(session).lock
        turn.tell(
            *(spec_view.scope_lines(lock) if lock.locked else ("The scope is not locked yet.",)), session=session
        )
        return
    number = _number(turn, session, rest)
    if number is not None:
        turn.tell(
            spec_view.name_of(number, first=True),
            *spec_view.phase_decisions(session, phase(number)),
            session=session,
        )


def _gate(turn: Turn, session: Session, rest: str, person: Person) -> None:
    """Whether a phase's artefact may be made; a closed gate is audited and its round shown again (CA-6)."""
    number = _number(turn, session, rest) if rest else spec_of(session).phase
    if number is None:
        return
    if gate_of(session, number).open:
        made = phase(number).artefact
        turn.tell(f"The gate of {spec_view.name_of(number)} is open: the {made} may be made.", session=session)
    else:
        spec_steps.refuse(turn, session, number, person, "a person")


def _abandon(turn: Turn, session: Session, rest: str, person: Person, ref: MessageRef) -> None:
    """`/abandon [reason]`: /cancel with a reason."""
    reason = rest or "no reason given"
    refusal = intake.may_answer(turn, session, person)
    if refusal is not None:
        turn.refuse(person, "may not cancel here", refusal, session=session)
        return
    if session.spec is not None:
        spec.phase_audit(turn, session, "run_abandoned", person, ref, reason=reason)
    answered = sum(1 for r in session.rounds for i in r.items if i.status == "resolved")
    session = handover.end(turn, session, "cancelled", person, reason)
    kept = f" What was decided ({spec_view.plural(answered, 'answer')}) stays in the record." if answered else ""
    turn.tell(f"Abandoned: {view.shortened(reason, 120)}.{kept}", session=session)
