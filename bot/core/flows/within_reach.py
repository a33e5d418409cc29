"""Which rounds a message means by their numbers, and what of it leads nowhere (RP-4, RP-7, RD-12)."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.core.elsewhere import OpenRound, in_order, open_rounds
from bot.core.flows import intake
from bot.core.model import Person
from bot.core.replies.several import Named, Several, said_of
from bot.core.state import Asking, Meant, Round, Session
from bot.core.turn import Turn

MOST = 20  # rounds in one message; more than that nobody has before their eyes


@dataclass(slots=True)
class Found:
    """The rounds that a message means, what it says of each, and what of it leads nowhere."""

    rounds: list[tuple[OpenRound, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def find(turn: Turn, said: Several, person: Person, order: int | None, direct: bool) -> Found:
    here = open_rounds(turn.state, person)
    known = {one.number for one in here}
    elsewhere = turn.elsewhere() if said.mine or any(n.number not in known for n in said.named) else ()
    access = turn.book.access  # whoever is not let in there learns nothing of it (CH-5)
    elsewhere = tuple(o for o in elsewhere if access.admits(person.id, o.conversation, turn.surface))
    found = Found()
    wanted: dict[str, tuple[OpenRound, Named | None]] = {}
    if said.mine:
        wanted |= {one.session: (one, None) for one in (*here, *elsewhere) if one.circle.asked(person, turn.surface)}
    for named in said.named:
        fitting = [o for o in here if o.number == named.number] or [o for o in elsewhere if o.number == named.number]
        if len(fitting) > 1:
            titles = " and ".join(f"“{one.title}”" for one in fitting)
            found.problems.append(f"#{named.number} can be {titles}: please reply to the card of the one you mean.")
            for one in fitting:
                wanted.pop(one.session, None)
        elif not fitting:
            found.problems.append(unknown(turn, named.number))
        elif turn.envelope.unseen and not turn.shared and fitting[0] not in here:
            # One of those may have the same number (RP-7); in the threads of one place there is no second.
            found.problems.append(
                f"#{named.number} may also be one in a place that I can't read now: please reply to the card of the "
                "one you mean."
            )
            wanted.pop(fitting[0].session, None)
        elif named.left_out:
            wanted.pop(fitting[0].session, None)
        else:
            wanted[fitting[0].session] = (fitting[0], named)
    for one, said_of_it in sorted(wanted.values(), key=lambda pair: in_order(pair[0])):
        refusal = intake.refused(turn, one.circle, person)
        if refusal is not None:
            turn.audit(
                "access.answer_refused", turn.state.session(one.session), person, reason=refusal, round=one.round
            )
            found.refused.append(f"{name_of(one)}: {refusal}")
        elif one in here and order is not None and one.order is not None and order < one.order and not direct:
            found.problems.append(f"{name_of(one)}: your message and its questions crossed; send it again.")
        else:
            accepted = said.mine or (said_of_it is not None and said_of_it.accepted)
            found.rounds.append((one, said_of(said_of_it, accepted=accepted)))
    if len(found.rounds) > MOST:
        left = ", ".join(f"#{one.number}" for one, _ in found.rounds[MOST:])
        found.problems.append(f"Too many at once; left for another message: {left}.")
        del found.rounds[MOST:]
    return found


def at_hand(turn: Turn) -> tuple[Session | None, Round | None]:
    """The round that bare question numbers would belong to: the active one, else the one spoken of last."""
    waiting = [s for s in turn.state.sessions if isinstance(s.stage, Asking)]
    current = turn.state.current
    session = current if current in waiting else max(waiting, key=lambda s: s.touched_at, default=None)
    return session, None if session is None else session.round


def name_of(one: OpenRound | Meant) -> str:
    return f"#{one.number} {one.title}"


def unknown(turn: Turn, number: int) -> str:
    """Why a number names no round that can be answered now."""
    session = next((s for s in turn.state.sessions if s.number == number), None)
    if session is not None and session.stage.kind == "routing":
        return f"#{number} waits for the choice of a workflow: /resume {number} shows its menu."
    if session is not None and session.stage.kind == "closing":
        return f"#{number} is answered and about to be handed over. To change it: change 1 to … in #{number}"
    if session is not None or any(a.number == number for a in turn.state.ancient):
        return f"#{number} is over; to change an answer of it: change 1 to … in #{number}"
    return f"There is no open intake #{number} within reach of this place. /status shows what is open."
