"""The commands that work anywhere, in any state (CH-3). They mean the active session."""

from __future__ import annotations

from bot.core import spec_view, view
from bot.core.capture import quote
from bot.core.flows import (
    handover,
    intake,
    leaving,
    menu,
    opening,
    phases,
    putting_off,
    replying,
    settings,
    spec_steps,
    threads,
)
from bot.core.model import MessageRef, Person
from bot.core.spec_evidence import gate_of
from bot.core.state import Asking, Session
from bot.core.turn import Turn

HELP = (
    "I ask before anyone acts. Send a request, with or without files; I ask the few questions that matter.",
    "Answer in one line (1: B, 2: other (your words)), with the buttons, or write: accept recommendations.",
    "/status what is open · /new something new · /cancel end this · /resume a paused one · /export the record",
    "No time now? Write: ask me tomorrow at 9. /settings has reminders, quiet hours and the time zone.",
    "To name a workflow yourself, begin a message with [direct-mode] or with its command.",
)
SPEC_HELP = (
    "In this specification: /continue the next step · /tier 1–3 · /jump 4 another phase · /show what is decided · "
    "/gate what is missing · /point V-001 an open point · /abandon with a reason"
)


def run(turn: Turn, word: str, rest: str, person: Person, ref: MessageRef) -> None:
    """Carry out one command."""
    session = turn.state.current
    allowed = ("help", "start", "status", *(("new", "cancel", "resume") if turn.settings.outsiders else ()))
    if person.outside and word not in allowed:  # RD-12
        turn.audit("access.answer_refused", session, person, reason=f"/{word} from outside")
        turn.refuse(
            person,
            "from outside",
            "People from outside can only look at /status here; ask somebody of the team.",
        )
        return
    match word:
        case "help":
            turn.tell(*HELP, *_commands_of(turn), session=session)
        case "start":
            _start(turn, session, rest, person, ref)
        case "status":
            turn.tell(*_status(turn), session=session)
        case "new":
            _new(turn, session, rest, person, ref)
        case "cancel":
            if session is None:
                turn.tell("Nothing is open here, so there is nothing to cancel.")
            elif (why := intake.may_answer(turn, session, person)) is not None:
                turn.refuse(person, "may not cancel here", why, session=session)
            else:
                replying.cancel(turn, session, person, ref)
        case "resume":
            _resume(turn, rest, person)
        case "export":
            _export(turn, session, rest)
        case "settings":
            settings.settings(turn, rest, person)


def _commands_of(turn: Turn) -> tuple[str, ...]:
    listed = [w.call for w in turn.pack.workflows if w.commands]
    session = turn.state.current
    inside = (SPEC_HELP,) if session is not None and session.spec is not None else ()
    return (*((f"Workflows here: {' '.join(listed)}",) if listed else ()), *inside)


def name_of(session: Session) -> str:
    """A session in a list: `#2 academic-paper/lit-review — “Here's an abstract…”`."""
    return f"#{session.number} {session.workflow or 'not routed yet'} — “{quote(session.request.text)[:60]}”"


def where(session: Session) -> str:
    round_ = session.round
    if session.spec is not None and session.stage.kind != "ended":
        return f"{spec_view.name_of(session.spec.phase)}, {spec_view.phase_words(session, session.spec.phase)}"
    if session.stage.kind == "routing":
        return "waiting for your choice of workflow"
    if session.stage.kind == "asking" and round_ is not None:
        count = len(round_.items) - len(round_.open_items)
        return f"{count} of {len(round_.items)} answered"
    if session.stage.kind == "closing":
        return "answered, about to be handed over"
    return session.stage.how if session.stage.kind == "ended" else session.stage.kind


def _status(turn: Turn) -> list[str]:
    """Where things stand, in a few lines: the active session, what is open and why, the paused ones."""
    session = turn.state.current
    if session is not None and session.spec is not None:
        ahead = phases.ahead(turn, session).words
        may = gate_of(session, session.spec.phase).open
        status = spec_view.status(session, turn.policy(session).bulk_accept, ahead, may)
        return [*status, *putting_off.shown(turn, session)]
    paused = [s for s in turn.state.sessions if s.stage.kind != "ended" and s.id != turn.state.active]
    ended = [s for s in turn.state.sessions if s.stage.kind == "ended"]
    lines: list[str] = []
    if session is None:
        beside = threads.open_here(turn)
        lines += [
            f"Open in a thread: #{r.number} {r.title}: {len(r.open)} of {len(r.questions)} open" for r in beside
        ]
        lines += [] if beside else ["Nothing is open here."]
    else:
        lines.append(f"Open: {name_of(session)}: {where(session)}.")
        round_ = session.round
        if session.stage.kind == "asking" and round_ is not None:
            if round_.open_items:
                lines.append(view.still_open(round_, turn.policy(session).bulk_accept))
                lines.append(f"Why it matters: {round_.open_items[0].question.why}")
            if any(i.rivals for i in round_.items):
                lines.append("⚠ Two people differ on one answer; the requester has to choose.")
        lines += putting_off.shown(turn, session)
        if session.undelivered:
            lines.append(f"⚠ The last card could not be delivered: {session.undelivered}")
    lines += [f"Paused: {name_of(s)}: {where(s)}. /resume {s.number}" for s in paused[-3:]]
    lines += [f"⚠ {words}" for words in turn.envelope.trouble or ()]
    if not paused and session is None and ended:
        last = ended[-1]
        lines.append(f"Last: {name_of(last)}: {where(last)}. /export {last.number}")
    return lines


def _start(turn: Turn, session: Session | None, payload: str, person: Person, ref: MessageRef) -> None:
    """Greets, and opens nothing (RT-14). During a session it shows the open round; it never begins anew.

    A link that names a workflow is its command (RT-2); any other payload is a plain start that says so.
    """
    linked = turn.pack.workflow_by_command(payload) if payload and not payload.startswith(("/", "!")) else None
    if linked is not None and session is None:
        opening.first_message(turn, person, linked.call, (), ref)
        return
    if linked is not None and session is not None and session.stage.kind in ("routing", "asking"):
        lead = (
            f"You are in {handover.destination(session)} (#{session.number}); the link is for {linked.title}.",
            "Leave the present one for now and start that? Nothing is lost either way.",
        )
        leaving.offer_to_leave(turn, session, person, linked.call, (), ref, lead)
        return
    lines = []
    if payload and linked is None:
        lines.append(f"I don't know the link “{quote(payload)}”; nothing is changed by it.")
    if session is None:
        turn.tell(*lines, *HELP[:2], "What do you need?")
        return
    turn.tell(*lines, *_status(turn), session=session)
    round_ = session.round
    if isinstance(session.stage, Asking) and round_ is not None:
        intake.show_card(turn, session, round_, anew=True)
        owed = sorted(set(session.stage.describing.values()))
        if owed:
            turn.tell(f"I am still waiting for your own words on {owed[0]}.", session=session, round_=round_)


def _new(turn: Turn, session: Session | None, rest: str, person: Person, ref: MessageRef) -> None:
    """The old session is kept and listed (RT-10). Words after /new are the new request."""
    if session is not None:
        leaving.pause(turn, session, person)
    if rest:
        opening.first_message(turn, person, rest, (), ref)
        return
    kept = "" if session is None else f"Kept for later: {name_of(session)} (/resume {session.number}). "
    how = "The next message starts something new."
    if turn.shared:  # where the next message may be anybody's, about anything (RT-13)
        how = f"Write @{turn.bot_name} and what you need." if turn.bot_name else "Write /new and what you need."
    turn.tell(f"{kept}What do you need? {how}")


def _resume(turn: Turn, rest: str, person: Person) -> None:
    paused = [s for s in turn.state.sessions if s.stage.kind != "ended" and s.id != turn.state.active]
    wanted = rest.strip().lstrip("#")
    if wanted:
        paused = [s for s in paused if str(s.number) == wanted or s.id == wanted]
    if not paused:
        current = turn.state.current
        if current is not None and not wanted:
            again(turn, current)
            return
        turn.tell("There is no paused intake like that here.", *_status(turn))
        return
    if len(paused) > 1 and not wanted:
        turn.tell("Which one?", *(f"/resume {s.number} — {name_of(s)}: {where(s)}" for s in paused))
        return
    session = paused[-1]
    if turn.state.current is not None:
        leaving.pause(turn, turn.state.current, person)
    turn.set(active=session.id)
    turn.audit("session.resumed", session, person)
    again(turn, session)


def again(turn: Turn, session: Session) -> None:
    """Show an open session's card anew: the same questions, never asked as new ones."""
    if session.stage.kind == "routing":
        menu.again(turn, session, anew=True)
    elif session.spec is not None:
        spec_steps.again(turn, session)
    elif session.round is not None:
        intake.show_card(turn, session, session.round, anew=True)
        turn.audit("round.reposted", session, round_=session.round, round=session.round.number)


def _export(turn: Turn, session: Session | None, rest: str) -> None:
    wanted = rest.strip().lstrip("#")
    if wanted:
        session = next((s for s in turn.state.sessions if str(s.number) == wanted or s.id == wanted), None)
    elif session is None and turn.state.sessions:
        session = turn.state.sessions[-1]
    if session is None:
        turn.tell("There is no such intake here to export.", *_status(turn))
        return
    handover.show_record(turn, session)
