"""A whole message, sorted once before any flow reads it: whose words, said to whom, about which card (RP-7, AU-3)."""

from __future__ import annotations

from typing import Literal, NamedTuple

from bot.core.capture import quote
from bot.core.circle import Circle
from bot.core.events import MessageReceived
from bot.core.flows.words import without_mention
from bot.core.model import MessageRef, Person
from bot.core.own_words import unquoted
from bot.core.state import Round, Session
from bot.core.turn import Turn


class Utterance(NamedTuple):
    """What a flow gets of a message, so that none has to look for itself.

    `event` has no mention of the bot in front; `ref` quotes the person's own words. `own` leaves out the lines that
    quote somebody; `whose` is "quoted" where nothing else is there.
    """

    event: MessageReceived
    ref: MessageRef
    own: str
    whose: Literal["own", "quoted", "forwarded"]
    mentioned: bool  # the bot, before the words: where a bare word does what a command does (CH-3)
    direct: bool  # said to the bot: it mentions it, or replies to a card of its
    asked: bool  # said in the open intake's own thread, by somebody who is asked
    bound: tuple[Session, Round | None] | None  # what the card replied to is about
    open: Session | None  # the conversation's intake

    @property
    def person(self) -> Person:
        return self.event.person

    @property
    def text(self) -> str:
        return self.event.text

    @property
    def forwarded(self) -> bool:
        return self.whose == "forwarded"

    @property
    def spoken_of(self) -> Session | None:
        """The intake that it is about, by all that stands around the words."""
        return self.open if self.bound is None else self.bound[0]


def sort(turn: Turn, event: MessageReceived) -> Utterance:
    """What is to be known of a message before its words are read. It is whole by now (`flows/gathering`)."""
    own = unquoted(event.text)
    ref = event.ref.model_copy(update={"quote": quote(own or event.text) or event.ref.quote})
    taken_off = event.addressed and f"@{turn.bot_name}" not in event.text  # the mention, by the adapter
    bare = without_mention(event.text, turn.bot_name)
    mentioned = bare is not event.text
    if mentioned:
        event = event.model_copy(update={"text": bare, "addressed": True})
        own = unquoted(bare)
    about = turn.about
    session = turn.state.current
    return Utterance(
        event=event,
        ref=ref,
        own=own,
        whose="forwarded" if event.forwarded is not None else "own" if own or not bare.strip() else "quoted",
        mentioned=mentioned or taken_off,
        direct=event.addressed or about is not None,
        asked=asked_here(turn, event, session),
        bound=None if about is None else _bound(turn, about),
        open=session,
    )


def asked_here(turn: Turn, event: MessageReceived, session: Session | None) -> bool:
    """Whether somebody whose questions these are says it in the session's own thread."""
    if not event.in_thread or session is None:
        return False
    circle = Circle(shared=turn.shared, requester=session.requester, named=session.participants)
    return circle.asked(event.person, turn.surface)


def _bound(turn: Turn, about: str) -> tuple[Session, Round | None] | None:
    """The session and round that the message replied to speaks of."""
    session = turn.state.session(about.partition(".")[0])
    if session is None:
        return None
    return session, next((r for r in session.rounds if r.id == about), session.round)
