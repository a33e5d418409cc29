"""A message for a specification whose round has closed: what it belongs to before its own words are read."""

from __future__ import annotations

from bot.core import spec_view, view
from bot.core.effects import Redraw
from bot.core.flows import amending, answering, intake, leaving, replying, spec, spec_words
from bot.core.flows.asked_for import request_in
from bot.core.flows.uttered import Utterance
from bot.core.spec import COMMAND
from bot.core.state import Between, Ended, Round, Session
from bot.core.turn import Turn


def message(turn: Turn, session: Session, utterance: Utterance) -> None:
    """Another request, or words about what waits."""
    if turn.state.active != session.id or not _new_request(turn, session, utterance):
        spec_words.message(turn, session, utterance)


def earlier_round(turn: Turn, session: Session, round_: Round | None, utterance: Utterance) -> bool:
    """A reply to the card of a round that has closed while its session goes on: a change, or nothing (RD-13)."""
    if round_ is None or turn.about != round_.id or session.stage.kind == "ended" or utterance.forwarded:
        return False
    if session.round is None or session.round.id == round_.id:
        return False
    reading = replying.read(turn, round_, utterance.text, utterance.event.decoded)
    if not (reading.answers and amending.propose(turn, session, round_, reading, utterance.person, utterance.ref)):
        turn.tell(
            f"That round is over. To change an answer of it, reply: change {round_.items[0].number} to …"
            if round_.items
            else f"That round is over; what it settled was confirmed. /jump {round_.phase} goes through it again.",
            session=session,
            see=view.newest_card(session),
        )
    return True


def settle_cards(turn: Turn) -> None:
    """The cards that sessions have waited on, and wait on no more, lose their buttons and say so, where nothing that
    was decided on them is said there already."""
    for before in turn.before.sessions:
        stage = before.stage
        if not isinstance(stage, Between) or stage.card is None:
            continue
        if any(isinstance(effect, Redraw) and effect.card == stage.card for effect in turn.effects):
            continue
        now = turn.state.session(before.id)
        if now is None or (isinstance(now.stage, Between) and now.stage.card == stage.card):
            continue
        again = isinstance(now.stage, Between) and now.stage.waits == stage.waits
        cancelled = isinstance(now.stage, Ended) and now.stage.how == "cancelled"
        ended = "Cancelled." if cancelled else "Closed; it is asked again below." if again else "Closed."
        turn.redraw(stage.card, spec_view.over(before, ended), now)


def _new_request(turn: Turn, session: Session, utterance: Utterance) -> bool:
    """A command or words for another workflow while a specification waits: asked about once (RT-7, RT-10)."""
    event, ref = utterance.event, utterance.ref
    if utterance.forwarded or intake.may_answer(turn, session, event.person) is not None:
        return False
    waits = session.stage.waits if isinstance(session.stage, Between) else None
    if waits == "name" and _names_it(turn, event.text):
        return False
    if answering.leaves(turn, session, utterance):
        return True
    wanted = request_in(turn, event) if waits == "go" and (event.addressed or not turn.shared) else None
    if wanted is None or wanted.workflow is None:
        return False
    named = wanted.workflow.replace("/", " / ")
    lead = (f"That sounds like a request for {named}: start that with this message? The specification is kept.",)
    leaving.offer_to_leave(turn, session, event.person, event.text, event.materials, ref, lead)
    return True


def _names_it(turn: Turn, text: str) -> bool:
    """`/spec NAME` again, where the name is what is asked for."""
    found = COMMAND.match(text)
    named = turn.pack.workflow_by_command(found[0].strip(" /!").partition("@")[0]) if found else None
    return named is not None and named.id == spec.WORKFLOW
