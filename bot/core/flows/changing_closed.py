"""A change of an intake that is over, by its number: "change 1 to B in #12", "#12: change 1 to B" (RP-7, RD-13)."""

from __future__ import annotations

from bot.core.flows import amending, replying
from bot.core.flows.uttered import Utterance
from bot.core.replies.several import Named, Several
from bot.core.state import Round, Session
from bot.core.turn import Turn


def heard(turn: Turn, said: Several, utterance: Utterance, *, within: bool) -> bool:
    """Offer the change of the one intake that is named. False when it is not over, or nothing is changed.

    `within`: the number stands inside what is said of it, so it can be no question's.
    """
    if said.mine or said.accepts or said.agrees or len(said.named) != 1 or not said.named[0].words:
        return False
    named = said.named[0]
    found = _closed(turn, named.number)
    if found is None:
        return False
    session, round_ = found
    reading = replying.read(turn, round_, named.words, decoded=True)
    to_us = utterance.direct or utterance.event.in_thread or not turn.shared
    meant = reading.correction or (reading.shaped and to_us)
    tells = reading.answers or (within and reading.errors)
    if not tells or not meant or not (within or reading.correction):
        return False
    lead = f"#{session.number} {round_.title}"
    return amending.propose(turn, session, round_, reading, utterance.person, utterance.ref, lead)


def is_said_of(turn: Turn, within: Named, at_hand: Session | None) -> bool:
    """Whether the rest of the message is a change, or answers and nothing else: "as agreed in #12" is a remark."""
    session = next((s for s in turn.state.sessions if s.number == within.number), None)
    known = session is not None
    session = session or at_hand or next(reversed(turn.state.sessions), None)
    if session is None or session.round is None:
        return False
    reading = replying.read(turn, session.round, within.words, decoded=True)
    if reading.correction:
        return bool(reading.answers or reading.errors)
    plain = all(item.note is None and item.text is None for item in reading.answers.values())
    return known and bool(reading.answers) and plain and not reading.errors and reading.note is None


def _closed(turn: Turn, number: int) -> tuple[Session, Round] | None:
    """The intake here with that number and its last closed round, where it is over."""
    session = next((s for s in turn.state.sessions if s.number == number), None)
    if session is None or session.stage.kind not in ("ended", "closing"):
        return None
    round_ = next((r for r in reversed(session.rounds) if r.closed_at is not None), None)
    return None if round_ is None else (session, round_)
