"""What holds no words: a sticker, a voice message, a poll. Kept where it holds something, and answered once (b32)."""

from __future__ import annotations

from datetime import timedelta

from bot.core.events import MessageReceived
from bot.core.flows import intake, replying
from bot.core.flows.uttered import Utterance
from bot.core.model import PersonId
from bot.core.state import Asking, Session
from bot.core.turn import Turn

STICKER = "a sticker"  # what adapters call one in `unreadable`; after the end it is no request (RT-14)
IN_A_ROW = timedelta(minutes=10)  # so long one answer serves for all that come without a word between them
REMEMBERED = 20  # people in one place


def received(turn: Turn, utterance: Utterance) -> None:
    """Nothing is recorded from it. Several in a row get one answer, whatever they are."""
    event, session = utterance.event, utterance.spoken_of
    if turn.shared and not utterance.direct and not utterance.asked:
        turn.ignore("ordinary talk")
        return
    if session is not None and session.stage.kind == "ended":
        session = None
    if session is None and event.unreadable == STICKER and turn.state.counted:
        turn.ignore("a pleasantry")
        return
    names = ""
    if session is not None and event.materials and intake.may_answer(turn, session, event.person) is None:
        request = session.request
        kept = request.model_copy(update={"materials": (*request.materials, *event.materials)})
        session = turn.put(session, request=kept)
        names = ", ".join(material.name for material in event.materials)
    if _told(turn, event.person.id):
        turn.ignore("answered already")
        return
    _say(turn, event, session, names)


def readable(turn: Turn, person: PersonId) -> None:
    """Words again: the next thing without any gets its own answer."""
    if person in turn.state.wordless:
        turn.set(wordless={who: at for who, at in turn.state.wordless.items() if who != person})


def _told(turn: Turn, person: PersonId) -> bool:
    last = turn.state.wordless.get(person)
    others = [(who, at) for who, at in turn.state.wordless.items() if who != person]
    turn.set(wordless=dict([*others[1 - REMEMBERED :], (person, turn.at)]))
    return last is not None and turn.at - last < IN_A_ROW


def _say(turn: Turn, event: MessageReceived, session: Session | None, names: str) -> None:
    lead = f"I can't read {event.unreadable} here; nothing is recorded from it."
    kept = f" Kept with your request: {names}." if names else ""
    round_ = None if session is None else session.round
    if session is not None and round_ is not None and isinstance(session.stage, Asking) and round_.open_items:
        item = round_.open_items[0]
        how = f"{item.number}: other (what it says)" if item.question.other else f"{item.number}: what it says"
        say = f" If it answers {item.number} ({item.question.topic}), write: {how}" if names else ""
        replying.nudge(turn, session, round_, f"{lead}{kept}{say}")
    elif session is not None and session.stage.kind == "routing":
        turn.tell(f"{lead}{kept}", "Please write it, or send a letter of the menu.", session=session)
    else:
        turn.tell(f"I can't read {event.unreadable} here; please write what you need.", session=session)
