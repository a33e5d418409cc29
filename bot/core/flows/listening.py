"""A message has come: what it belongs to, from the surest sign to the weakest (RP-7), or nothing at all (CH-2)."""

from __future__ import annotations

from bot.core.capture import quote
from bot.core.events import MessageReceived
from bot.core.flows import (
    answering,
    between,
    commands,
    confirming,
    disputing,
    gathering,
    grace,
    idle,
    intake,
    labels,
    menu,
    numbered,
    putting_off,
    replying,
    spec_commands,
    threads,
    unreadable,
    uttered,
    voices,
)
from bot.core.flows.asked_for import begins_with_command, begins_with_token, materials
from bot.core.flows.uttered import Utterance
from bot.core.flows.words import command
from bot.core.state import Round, Session
from bot.core.turn import Turn


def message(turn: Turn, event: MessageReceived) -> None:
    """One message. Bots and channels never answer (RD-12); parts of one act are joined first (RT-11)."""
    if event.person.kind == "app":
        threads.through_an_app(turn, event)
        return
    if event.person.kind == "bot":
        turn.ignore("sent by a bot")
        return
    if event.person.kind == "channel":
        voices.heard(turn, event)
        return
    if event.summons:
        threads.summoned(turn, event, event.ref.model_copy(update={"quote": quote(event.ref.quote)}))
        return
    if event.forwarded is not None and event.album is None:
        event = event.model_copy(update={"album": "forwarded"})  # several forwards in a row are one act (b26)
    alone = event.declared is not None and event.album is None  # a request by itself, behind whatever part (RT-16)
    alone = alone or (event.forwarded is None and command(event.text, turn.bot_name) is not None)
    if gathering.belongs(turn, event) and not alone:
        gathering.gather(turn, event)
        return
    if gathering.waiting_of(turn, event.person):
        gathered(turn)
        turn.outcome, turn.reason = "accepted", None  # that was the earlier message's
    _whole(turn, event)


def gathered(turn: Turn) -> None:
    """No further part came: the joined message is handled as one."""
    joined = gathering.joined(turn)
    if joined is None:
        turn.ignore("nothing is being gathered")
    else:
        _whole(turn, joined)


# -- what a whole message belongs to -------------------------------------------------------------------------------


def _whole(turn: Turn, event: MessageReceived) -> None:
    _belongs(turn, event)
    if turn.shared and turn.outcome != "refused":  # who may not answer does not get in by trying again
        turn.took_part(event.person)


def _belongs(turn: Turn, event: MessageReceived) -> None:
    """Commands and answers to questions of our own first; then what every message may be; then its intake."""
    utterance = uttered.sort(turn, event)
    if event.declared is not None:
        threads.summoned(turn, utterance.event, utterance.ref)
        return
    if not utterance.forwarded and (_ordered(turn, utterance) or _answers_us(turn, utterance)):
        return
    if utterance.event.unreadable and not utterance.text.strip():
        unreadable.received(turn, utterance)
        return
    unreadable.readable(turn, event.person.id)
    if not utterance.forwarded:
        lettered = disputing.letter_of(turn, utterance)
        if lettered is None:
            return
        utterance = lettered
    if not utterance.forwarded and (labels.pressed(turn, utterance) or numbered.heard(turn, utterance)):
        return
    if utterance.bound is None or not _to_its_intake(turn, utterance, *utterance.bound):
        _to_the_open_one(turn, utterance)


def _ordered(turn: Turn, utterance: Utterance) -> bool:
    """A command (CH-3), or one of a specification (SP-2)."""
    mentioned, bound, person, ref = utterance.mentioned, utterance.bound, utterance.person, utterance.ref
    if (said := command(utterance.text, turn.bot_name, mentioned=mentioned)) is not None:
        commands.run(turn, *said, person, ref)
        return True
    if ordered := spec_commands.parsed(turn, utterance.text, mentioned=mentioned):
        spec_commands.run(turn, *ordered, person, ref, None if bound is None else bound[0])
        return True
    return False


def _answers_us(turn: Turn, utterance: Utterance) -> bool:
    """A yes, a no or a pick for a question of our own; or what looks like one and counts for none."""
    person, in_thread = utterance.person, utterance.event.in_thread
    asking = turn.about if turn.about and turn.about.startswith("p.") else None
    answered = confirming.typed(turn, person, utterance.own, asking, in_thread=in_thread)
    if answered is not None:
        confirming.decide(turn, *answered, person, utterance.ref)
        return True
    if confirming.quoted(turn, person, utterance.text, asking, in_thread=in_thread):
        return True
    if utterance.direct or in_thread:
        return False
    return confirming.overheard(turn, person, utterance.text)


def _to_its_intake(turn: Turn, utterance: Utterance, session: Session, round_: Round | None) -> bool:
    """A reply to a card: to the intake that it is about. False when that one is over and nothing else is meant."""
    if between.earlier_round(turn, session, round_, utterance):
        return True
    match session.stage.kind:
        case "routing":
            _menu(turn, session, utterance)
        case "ended" if utterance.open is None or utterance.event.materials:
            return False
        case "ended":
            idle.over(turn, session, utterance)
        case "between":
            between.message(turn, session, utterance)
        case "asking":
            assert round_ is not None
            answering.round_message(turn, session, round_, utterance)
        case "closing":
            grace.closing_message(turn, session, utterance)
    return True


def _to_the_open_one(turn: Turn, utterance: Utterance) -> None:
    """To what is open here; else it is a first message, or about what is over."""
    session = utterance.open
    if session is None:
        idle.idle(turn, utterance)
        return
    match session.stage.kind:
        case "routing":
            _menu(turn, session, utterance)
        case "asking":
            assert session.round is not None
            if not idle.for_a_paused_one(turn, session, utterance):
                answering.round_message(turn, session, session.round, utterance)
        case "closing":
            grace.closing_message(turn, session, utterance)
        case "between":
            between.message(turn, session, utterance)
        case "ended":
            turn.set(active=None)
            idle.idle(turn, utterance)


def _menu(turn: Turn, session: Session, utterance: Utterance) -> None:
    """With the menu open: the requester's words; in a shared place only what is meant for the bot (RT-13)."""
    event, ref = utterance.event, utterance.ref
    meant = utterance.direct or begins_with_token(event.text) or begins_with_command(turn, event.text)
    if turn.shared and not meant and not threads.for_menu(turn, session, utterance):
        turn.ignore("ordinary talk")
        return
    if intake.turns_away(turn, session, event.person):
        return
    text = "" if utterance.forwarded else event.text
    files = materials(event)
    if text and menu.quotes_choice(turn, session, text):
        turn.tell("Quoted words choose nothing here; write it without the marks, or press a button.", session=session)
        return
    if text and utterance.own != text.strip() and not menu.describes(turn, session, utterance.own):
        text = utterance.own  # a letter below words of somebody else
    if text and not files:
        if menu.cancels(turn, text):
            replying.cancel(turn, session, event.person, ref)
            return
        if menu.describes(turn, session, text) and idle.at_the_menu(turn, utterance):
            return
    if text and not utterance.direct and menu.crossed(turn, session, event):
        turn.outcome, turn.reason = "refused", "older than the menu"
        turn.tell(
            "Your message and my menu crossed, so I did not take it as your choice.",
            "Send it again if it was: a letter, or what you want to hold in your hands at the end.",
            session=session,
        )
        return
    if text and not files and putting_off.unfinished(turn, session, event, ref):
        return
    menu.answered(turn, session, text, files, ref)
