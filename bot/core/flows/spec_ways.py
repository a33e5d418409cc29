"""Which way out of an escalation a message names, if it names one (RD-7).

A number alone does, and a number with a reason that can be told from it: behind a sign ("2: we know after the
pilot"), a word for reasons ("2 because …") or somebody who acts ("2 we need more time"). In "2 screens are enough"
the number counts something, so it is asked about and nothing is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from bot.core import spec_view, view
from bot.core.flows import spec_steps
from bot.core.flows.words import pleasantry
from bot.core.model import MessageRef, Person
from bot.core.moments.wish import only_moment
from bot.core.patterns import regex
from bot.core.replies.phrases import PhraseBook
from bot.core.replies.tokens import Token, tokenize
from bot.core.state import Between, Session, TakeWay
from bot.core.turn import Turn
from bot.core.words import begins, fold

_ANSWER = regex(r"\W*\d{1,2}\s*[:.=)-]?\s*[A-Z]\s*(?:[,;\n]|$)", re.IGNORECASE)  # "1: B, rest default" is for a round
_BEFORE: Final = frozenset(("lead", "item", "option", "article", "polite", "agree"))
_ACTS: Final = frozenset(("speaker", "self"))
_HOLDS: Final = frozenset(
    ("negate", "disagree", "later", "put_off", "hedge", "unsure", "unknowing", "conditional", "discuss", "question",
     "or")
)  # fmt: skip
_SEPARATES: Final = frozenset(":;,.)-=->")


class Way(NamedTuple):
    """`sure` False: the number may be about something else, or is taken back in the same breath."""

    choice: str
    sure: bool


def read(said: str, ways: Sequence[tuple[str, str]], book: PhraseBook) -> Way | None:
    """The way that is named. `ways` are (number, label), as `spec_view.ways_out` gives them."""
    bare = said.casefold().strip(" .!")
    by_label = next((n for n, label in ways if label.casefold() == bare), None)
    if by_label is not None:
        return Way(by_label, sure=True)
    tokens = tokenize(said)
    at = _number_at(tokens, book)
    numbers = {n for n, _ in ways}
    choice = "" if at is None else str(tokens[at].value)
    if at is None or choice not in numbers or _ANSWER.match(said[tokens[at].start :]):
        return None
    rest = tokens[at + 1 :]
    others = numbers - {choice}
    if said.rstrip().endswith(("?", "？")) or any(t.kind == "num" and str(t.value) in others for t in rest):
        return None  # "2?", "1 or 2", "1-2"
    return Way(choice, sure=_sure(said, rest, dict(ways)[choice], book))


def _number_at(tokens: Sequence[Token], book: PhraseBook) -> int | None:
    """The place of the number with which the message begins, behind "way", "option", "let's go with" or nothing."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.kind == "num":
            return at
        if token.kind in ("mark", "line", "para"):
            at += 1
            continue
        known = book.at(tokens, at)
        length = max((n for name, (n, _) in known.items() if name in _BEFORE), default=0)
        if known.keys() & {"negate", "disagree"}:  # "no 2" may be number 2, and may be a no
            return None
        if not length and token.fold not in book.lists["way"]:
            return None
        at += length or 1
    return None


def _sure(said: str, rest: Sequence[Token], label: str, book: PhraseBook) -> bool:
    """Whether what follows the number leaves no other reading than that the way is chosen."""
    place = next((n for n, t in enumerate(rest) if t.kind not in ("mark", "line", "para")), None)
    if place is None:
        return True
    first, sign = rest[place], rest[0] if place else None
    known = book.at(rest, place).keys()
    if known & _HOLDS:
        return False
    if sign is not None and (sign.kind != "mark" or (sign.fold in _SEPARATES and _parts(sign, first))):
        return True
    words = said[first.start :]
    if known & _ACTS or begins(fold(words), book.lists["reason"]):
        return True
    named = "article" not in known and first.fold in {t.fold for t in tokenize(label)}
    return named or pleasantry(words, book)


def _parts(sign: Token, first: Token) -> bool:
    """ "2: we", "2,we" and "2 - we" part the number from the words; "2-screen" and "2.5" do not."""
    return first.spaced or (sign.fold in (":", ";", ",", ")") and first.kind != "num")


# -- what follows --------------------------------------------------------------------------------------------------


def choose(turn: Turn, session: Session, said: str, person: Person, ref: MessageRef) -> None:
    """Go the way that is named; ask about one that may not be meant."""
    ways = spec_view.ways_out(session)
    way = None if only_moment(said, turn.book.times) else read(said, ways, turn.book.phrases)  # "1. Dezember"
    if way is not None and way.sure:
        spec_steps.way_out(turn, session, way.choice, person, ref)
        return
    turn.outcome, turn.reason = "refused", "no way out named"
    numbers = " or ".join(n for n, _ in ways)
    if way is None:
        words = (
            f"That names no way on, and I ask nothing more here. Which one: {numbers}?",
            *(f"{n}) {label}" for n, label in ways),
        )
        turn.say(view.says(*words, buttons=spec_view.buttons(session)), session=session)
        return
    ask = TakeWay(session=session.id, choice=way.choice, mark=spec_view.mark(session))
    words = (
        f"You wrote “{view.shortened(said)}”. Do you choose {way.choice}) {dict(ways)[way.choice]}?",
        f"Nothing is chosen yet. A number alone chooses: {numbers}. A reason goes behind a colon.",
    )
    turn.ask(ask, person, ref, words, (("y", f"Yes, {way.choice}"), ("n", "No")), session)


def confirmed(turn: Turn, ask: TakeWay, choice: str, person: Person, proof: MessageRef) -> None:
    """The person's answer to "do you choose 2?" (RD-15: it holds while the same ways are offered)."""
    session = turn.state.session(ask.session)
    offered = session is not None and isinstance(session.stage, Between) and session.stage.waits == "escalation"
    if session is None:
        turn.tell("That specification is over; nothing follows from this. /status shows what is open.")
    elif not offered or ask.mark != spec_view.mark(session):
        words = spec_view.overtaken(session, "escalation", ask.mark)
        turn.tell(*words, session=session, see=view.newest_card(session))
    elif choice == "n":
        ways = spec_view.ways_out(session)
        row = spec_view.buttons(session)
        turn.say(
            view.says("Nothing is chosen.", *(f"{n}) {label}" for n, label in ways), buttons=row), session=session
        )
    else:
        spec_steps.way_out(turn, session, ask.choice, person, proof)
