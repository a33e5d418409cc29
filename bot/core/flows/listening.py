"""A message has come: what it belongs to, from the surest sign to the weakest (RP-7), or nothing at all (CH-2)."""

from __future__ import annotations

from bot.core.capture import quote
from bot.core.events import MessageReceived
from bot.core.flows import (
    answering,
    between,
    commands,
    confirming,
    gathering,
    grace,
    idle,
    intake,
    labels,
    opening,
    putting_off,
    replying,
    several,
    spec_commands,
    threads,
    unreadable,
    voices,
)
from bot.core.flows.asked_for import begins_with_command, begins_with_token, materials
from bot.core.flows.words import command, without_mention
from bot.core.model import MessageRef
from bot.core.own_words import unquoted
from bot.core.state import Round, Routing, Session
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
        threads.summoned(turn, event, event.ref)
        return
    if event.forwarded is not None and event.album is None:
        event = event.model_copy(update={"album": "forwarded"})  # several forwards in a row are one act (b26)
    is_command = event.forwarded is None and command(event.text, turn.bot_name) is not None
    if gathering.belongs(turn, event) and not is_command:
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
    person, ref = (
        event.person,
        event.ref.model_copy(update={"quote": quote(unquoted(event.text) or event.text) or event.ref.quote}),
    )
    about = turn.about
    bare = without_mention(event.text, turn.bot_name)
    mentioned = bare is not event.text
    if mentioned:
        event = event.model_copy(update={"text": bare, "addressed": True})
    taken_off = event.addressed and f"@{turn.bot_name}" not in event.text  # by the adapter
    mentioned = mentioned or taken_off
    said = command(event.text, turn.bot_name, mentioned=mentioned)
    if said is not None and event.forwarded is None:
        commands.run(turn, *said, person, ref)
        return
    bound = _bound(turn, about)
    if event.forwarded is None and (ordered := spec_commands.parsed(turn, event.text, mentioned=mentioned)):
        spec_commands.run(turn, *ordered, person, ref, bound[0] if bound is not None else None)
        return
    direct = event.addressed or about is not None
    if event.forwarded is None:
        asking = about if about and about.startswith("p.") else None
        answered = confirming.typed(turn, person, event.text, asking, in_thread=event.in_thread)
        if answered is not None:
            confirming.decide(turn, *answered, person, ref)
            return
        if confirming.quoted(turn, person, event.text, asking, in_thread=event.in_thread):
            return
        if not direct and not event.in_thread and confirming.overheard(turn, person, event.text):
            return
    if event.unreadable and not event.text.strip():
        spoken_of = bound[0] if bound is not None else turn.state.current
        unreadable.received(turn, event, spoken_of, direct or threads.asked_here(turn, event, spoken_of))
        return
    unreadable.readable(turn, person.id)
    typed_in = bound[0] if bound is not None else turn.state.current
    loose = turn.shared and not direct and not threads.asked_here(turn, event, typed_in)
    if event.forwarded is None and labels.pressed(turn, event, ref, typed_in, loose=loose):
        return
    if event.forwarded is None and several.heard(turn, event, ref, bound, direct):
        return
    if bound is not None and isinstance(bound[0].stage, Routing):
        _menu(turn, bound[0], event, ref, direct)
        return
    if bound is not None and between.earlier_round(turn, *bound, event, ref):
        return
    if bound is not None and bound[0].stage.kind == "between":
        between.message(turn, bound[0], event, ref, direct)
        return
    if bound is not None and bound[1] is not None and bound[0].stage.kind == "asking":
        answering.round_message(turn, bound[0], bound[1], event, ref, direct)
        return
    if bound is not None and bound[0].stage.kind == "closing":
        grace.closing_message(turn, bound[0], event, ref, direct)
        return
    session = turn.state.current
    if bound is not None and bound[0].stage.kind == "ended" and session is not None and not event.materials:
        idle.over(turn, bound[0], event, ref)
        return
    if session is None:
        idle.idle(turn, event, ref, direct)
        return
    match session.stage.kind:
        case "routing":
            _menu(turn, session, event, ref, direct)
        case "asking":
            assert session.round is not None
            if bound is None and event.forwarded is None and idle.for_a_paused_one(turn, session, event, ref):
                return
            answering.round_message(turn, session, session.round, event, ref, direct)
        case "closing":
            grace.closing_message(turn, session, event, ref, direct)
        case "between":
            between.message(turn, session, event, ref, direct)
        case "ended":
            turn.set(active=None)
            idle.idle(turn, event, ref, direct)


def _bound(turn: Turn, about: str | None) -> tuple[Session, Round | None] | None:
    """The session and round that the message replied to speaks of."""
    if about is None:
        return None
    session = turn.state.session(about.partition(".")[0])
    if session is None:
        return None
    return session, next((r for r in session.rounds if r.id == about), session.round)


def _menu(turn: Turn, session: Session, event: MessageReceived, ref: MessageRef, direct: bool) -> None:
    """With the menu open: the requester's words; in a shared place only what is meant for the bot (RT-13)."""
    meant = begins_with_token(event.text) or begins_with_command(turn, event.text)
    if turn.shared and not direct and not meant and not threads.for_menu(turn, session, event):
        turn.ignore("ordinary talk")
        return
    refusal = intake.may_answer(turn, session, event.person)
    if refusal is not None:
        turn.audit("access.answer_refused", session, event.person, reason=refusal)
        turn.refuse(event.person, "may not answer here", refusal, session=session)
        return
    if not event.forwarded and not event.materials and opening.cancels(turn, event.text):
        replying.cancel(turn, session, event.person, ref)
        return
    if not event.forwarded and opening.describes(turn, session, event.text) and idle.at_the_menu(turn, event, ref):
        return
    text = "" if event.forwarded else event.text
    if text and not direct and opening.crossed(turn, session, event):
        turn.outcome, turn.reason = "refused", "older than the menu"
        turn.tell(
            "Your message and my menu crossed, so I did not take it as your choice.",
            "Send it again if it was: a letter, or what you want to hold in your hands at the end.",
            session=session,
        )
        return
    if text and not event.materials and putting_off.unfinished(turn, session, event, ref):
        return
    opening.menu_message(turn, session, text, materials(event), ref)
