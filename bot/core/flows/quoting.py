"""A message of quoted lines and nothing else: somebody's words, which may be taken as the person's own (AU-3)."""

from __future__ import annotations

from bot.core.flows import injection, intake, replying
from bot.core.flows.uttered import Utterance
from bot.core.replies.reading import Proposal, Reading
from bot.core.state import Round, Session
from bot.core.turn import Turn


def only_quoted(turn: Turn, session: Session, round_: Round, utterance: Utterance) -> None:
    """Offer what is shaped like an answer as the person's own; nothing is recorded before their yes."""
    event = utterance.event
    reading = replying.read(turn, round_, event.text, event.decoded)
    if turn.shared and not utterance.direct and not reading.shaped:
        turn.ignore("ordinary talk")
        return
    if intake.turns_away(turn, session, event.person, round_):
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
    replying.confirm(turn, session, round_, offer, event.person, utterance.ref, lead=(lead,))
