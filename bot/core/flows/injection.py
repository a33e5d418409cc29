"""Handed-in words that claim to decide something: logged, told, and nothing follows from them (AU-3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bot.core import claims
from bot.core.capture import quote
from bot.core.flows import replying
from bot.core.model import Material, Person
from bot.core.reported import spoken
from bot.core.state import Round, Session
from bot.core.turn import Turn


def only_fenced(text: str) -> bool:
    """Whether the message is code and nothing else: pasted from somewhere."""
    return "```" in text and not re.sub(r"```[\s\S]*?(?:```|\Z)", "", text).strip()


def others_words(turn: Turn, round_: Round, text: str, found: Sequence[claims.Claim]) -> str | None:
    """Somebody else's acceptance in a message: "> Bo: accept…", "Bo said: accept recommendations". None = none.

    `found`: what the text claims.
    """
    for words in spoken(text, turn.book.phrases.lists):
        if replying.read(turn, round_, words, True).kind in ("accept_all", "accept_all_except"):
            return words
    return found[0].words if found else None


def note(
    turn: Turn, session: Session, person: Person, text: str, materials: Iterable[Material], *, told: bool = True
) -> Session:
    """Log every claim of authorisation that is not the person's own, and say so once."""
    return logged(turn, session, person, claims.claims(text, materials, turn.book.phrases.lists), told=told)


def logged(
    turn: Turn, session: Session, person: Person, found: Sequence[claims.Claim], *, told: bool = True
) -> Session:
    """As `note`, of claims already found."""
    for claim in found:
        turn.audit("injection_incident", session, person, source=claim.where, words=quote(claim.words))
    if found and session.spec is not None:
        spec = session.spec.model_copy(update={"incidents": session.spec.incidents + len(found)})
        session = turn.put(session, spec=spec)
    if found and told:
        turn.tell(
            f"⚠ {found[0].where} says “{quote(found[0].words)}”. That decides nothing here: "
            "only what you write or press yourself does.",
            session=session,
        )
    return session
