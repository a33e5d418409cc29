"""A workflow begins: its round, or straight to the hand-over where there is nothing to ask (RD-17, RT-15)."""

from __future__ import annotations

from bot.core import view
from bot.core.capture import reference
from bot.core.effects import Button
from bot.core.flows import fetching, handover, intake, spec, spec_beginning
from bot.core.model import MessageRef
from bot.core.policies import POLICIES
from bot.core.rounds import build_round
from bot.core.routing import Verdict, route
from bot.core.state import Session
from bot.core.turn import Turn


def start(turn: Turn, session: Session, verdict: Verdict, ref: MessageRef) -> Session:
    """Begin the workflow: its round, or straight to the hand-over where there is nothing to ask (RD-17, RT-15)."""
    assert verdict.workflow is not None
    if verdict.workflow == spec.WORKFLOW:
        return spec_beginning.begin(turn, _routed(turn, session, verdict, ref, "spec"), ref)
    playbook = turn.book.playbooks.get(verdict.workflow)
    policy = POLICIES[playbook.policy if playbook else "playbook"]
    session = _routed(turn, session, verdict, ref, policy.name)
    if playbook is None:
        return _straight(turn, session, "")
    supplied = tuple(m for m in session.request.materials if m.kind != "named")  # what is only named is not here
    phases = route("", supplied, turn.book.packs[session.pack]).phases if supplied else ()
    built = build_round(playbook, session.request, phases, policy)
    if (built.settled, built.dropped) != (session.settled, session.dropped):
        session = turn.put(session, settled=built.settled, dropped=built.dropped)
    fetching.order(turn, session)
    if not built.asked:
        return _straight(turn, session, " Your message answers all it would ask.")
    note = None
    if verdict.by == "phase":
        taken = handover.destination(session)
        note = f"I took this as: {taken}. If that is wrong, press or write “something else”."
    return intake.open_round(turn, session, built.asked, playbook.title, playbook.purpose, note=note, full=built.full)


def _routed(turn: Turn, session: Session, verdict: Verdict, ref: MessageRef, policy: str) -> Session:
    """The workflow is settled, with what settled it."""
    session = turn.put(session, workflow=verdict.workflow, routed_by=verdict.by, routed_ref=ref, policy=policy)
    turn.audit(
        "route.chosen",
        session,
        session.requester,
        workflow=verdict.workflow,
        by=verdict.by,
        words=verdict.trigger,
        direct_mode=verdict.direct_mode,
        user_message_ref=reference(ref),
    )
    return session


def _straight(turn: Turn, session: Session, why: str) -> Session:
    """Nothing to ask: handed over at once. A route that was only assumed says so and can be taken back (RT-3)."""
    taken = f" Taken from your message: {view.settled_words(session)}." if session.settled else ""
    words = f"Handed to {handover.destination(session)}.{why}{taken}"
    if session.routed_by == "phase":
        words = f"I took this as: {handover.destination(session)}. {words} If that is wrong: something else."
        return handover.hand_over(turn, session, words, ((Button(token=f"e:{session.id}", label="Something else"),),))
    return handover.hand_over(turn, session, words)
