"""What counts in a session's own thread, where other people talk too (RP-7).

There a message is as good as a reply to the card when it is shaped like an answer. Bare letters and agreement count
from the people asked, and nobody else's; their prose only where the question wants prose (RP-11).
"""

from __future__ import annotations

from bot.core import view
from bot.core.elsewhere import OpenRound, root
from bot.core.events import MessageReceived
from bot.core.flows import handover, intake, leaving, opening, replying
from bot.core.flows.asked_for import materials, request_in
from bot.core.flows.uttered import Utterance
from bot.core.flows.words import pleasantry
from bot.core.model import MessageRef
from bot.core.patterns import regex
from bot.core.replies import read_reply
from bot.core.replies.reading import Reading
from bot.core.routing import Verdict, read_menu_answer, route
from bot.core.state import Routing, Session
from bot.core.turn import Turn

NUMBERED = regex(r"(?<!\w)\d{1,2}\s*[:.)=-]?\s*\w")  # hardly anything else is an answer, said to nobody
LONGEST = 300  # characters of a loose answer
BARE = 4  # words of a message that is nothing but a letter, and some politeness around it


def counts(reading: Reading, text: str) -> bool:
    """Whether such a person's words are meant for the round, though they are not shaped like an answer."""
    match reading.kind:
        case "answers":
            prose = all(r.key in ("answer", "correct", "confirm") for r in reading.answers.values())
            return bool(reading.answers) and (prose or len(text.split()) <= BARE)
        case "needs_confirmation":
            return all(p.kind == "accept_all" for p in reading.proposals) or len(text.split()) <= BARE
        case "question_back":
            return bool(reading.asked_about)
        case "unparsed":
            return False
        case _:
            return True


def for_menu(turn: Turn, session: Session, utterance: Utterance) -> bool:
    """Whether the requester's words in the thread answer the menu, or the open question after it (RT-9)."""
    stage, event = session.stage, utterance.event
    if not utterance.asked or not isinstance(stage, Routing):
        return False
    pack = turn.book.packs[session.pack]
    said = read_menu_answer(event.text, stage.options, pack).kind
    return said != "words" or stage.asked or bool(event.materials) or request_in(turn, event) is not None


def summoned(turn: Turn, event: MessageReceived, ref: MessageRef) -> None:
    """An intake was asked for by pointing at words, by the platform's command, or by a program that declares its
    workflow (RT-16). They are never an answer (AU-3)."""
    person, session, declared = event.person, turn.state.current, event.declared
    if declared is not None and opening.declared_as(turn, declared) is None:
        opening.unknown_workflow(turn, person, declared)
        return
    if declared is None and not event.materials and pleasantry(event.text, turn.book.phrases):
        turn.ignore("a pleasantry")
        return
    named = event.addressed or declared or route(event.text, event.materials, turn.pack, bot_name=turn.bot_name)
    if isinstance(named, Verdict) and "menus" in turn.settings.off and named.outcome != "proceed":
        turn.ignore("it names no workflow, and menus are switched off here")
        return
    if person.outside and not turn.settings.outsiders:  # RD-12
        turn.audit("access.answer_refused", None, person, reason="from outside")
        turn.refuse(
            person, "from outside", "People from outside can't start an intake here; ask somebody of the team."
        )
        return
    if session is not None and session.stage.kind == "closing":
        handover.hand_over(turn, session)
        session = None
    text, files = "" if event.forwarded else event.text, materials(event)
    if session is None or session.stage.kind == "ended":
        opening.first_message(turn, person, text, files, ref, declared)
        return
    lead = (
        f"{view.isolate(session.requester.name, session.requester.id)}'s intake #{session.number} is open here.",
        f"Pause it and start {declared or 'a new one'} with these words? Nothing is lost either way.",
    )
    leaving.offer_to_leave(turn, session, person, text, files, ref, lead, declared)


def through_an_app(turn: Turn, event: MessageReceived) -> None:
    """Posted in somebody's name by a program that may not speak for them: they are told so once (b13)."""
    person = event.person
    turn.outcome, turn.reason = "refused", "posted through an app"
    if person.id in turn.state.refused or (turn.state.current is None and not event.addressed):
        turn.ignore("posted through an app")
        return
    turn.set(refused=(*turn.state.refused[-199:], person.id))
    turn.audit("access.refused", turn.state.current, person, through=person.through)
    words = (
        f"This came in your name through {person.through}, so I did not take it as your word.",
        "Please type or press your answer yourself, or ask the operator to trust that app.",
    )
    turn.say(view.says(*words), only_to=person if turn.shared else None)


# -- a place with several threads ----------------------------------------------------------------------------------


def open_here(turn: Turn) -> tuple[OpenRound, ...]:
    """The rounds that are open in the threads of this place, or beside this thread."""
    if not turn.shared:
        return ()
    place = root(turn.envelope.place.conversation)
    return tuple(one for one in turn.elsewhere() if root(one.conversation) == place)


def which_thread(turn: Turn, event: MessageReceived) -> bool:
    """An answer said loose while several intakes are open in the threads of this place: which is meant? (RP-7)"""
    loose = turn.whole_place is not None and not event.in_thread and event.forwarded is None
    if not loose or len(event.text) > LONGEST or NUMBERED.search(event.text) is None:
        return False
    fitting = []
    for one in open_here(turn):
        slots = tuple(replying.slot(q.number, q.question, q.held) for q in one.questions)
        reading = read_reply(event.text, slots, turn.book.phrases, decoded=event.decoded)
        if reading.shaped and intake.refused(turn, one.circle, event.person) is None:
            fitting.append(one)
    if len(fitting) < 2:
        return False
    listed = ", ".join(f"#{one.number} {one.title}" for one in fitting)
    turn.refuse(
        event.person,
        "which intake",
        f"Several intakes are open here: {listed}. Nothing is recorded.",
        f"Answer in the thread of the one you mean, or put its number in front: #{fitting[0].number} {event.text}",
    )
    return True
