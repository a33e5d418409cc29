"""Rounds that wait for answers, as values that can be handed to the step of another conversation (RP-4, RP-7).

A step knows one conversation. A message that names rounds of others ("#12, #14", "accept all mine") is decided with
these, looked up before the step; what they lead to is forwarded, and decided again where the round is.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from bot.core.circle import Circle
from bot.core.model import ConversationId, Model, Person, Question
from bot.core.policies import POLICIES

if TYPE_CHECKING:
    from bot.core.state import Conversation, Item


class OpenQuestion(Model):
    """A question of an open round. `held`: what the reply reader is told of it; None = open."""

    number: int
    question: Question
    held: str | None = None


class OpenRound(Model):
    """An open round: how people name it, what is asked, and who may answer. `revision` is what a yes is bound to."""

    conversation: ConversationId
    session: str
    number: int
    round: str
    revision: int
    title: str
    bulk: bool
    questions: tuple[OpenQuestion, ...]
    circle: Circle
    order: int | None = None
    opened_at: datetime

    @property
    def open(self) -> tuple[OpenQuestion, ...]:
        return tuple(q for q in self.questions if q.held is None)


def held(item: Item) -> str | None:
    """What the reader is told of an item: a letter, "other", "text", "skip", or None when it is open."""
    if item.status == "open":
        return None
    if item.status != "resolved" or item.answer is None:
        return "skip"
    option = None if item.answer.chosen is None else item.question.option(item.answer.chosen)
    if option is None:
        return "text"
    return "other" if option.other else option.key


def open_rounds(state: Conversation, person: Person) -> tuple[OpenRound, ...]:
    """The rounds of a conversation that wait for answers, with what concerns this person."""
    found = []
    for session in state.sessions:
        round_ = session.round
        if session.stage.kind != "asking" or round_ is None or not round_.open_items:
            continue
        settings = state.settings
        circle = Circle(
            shared=state.place.shared,
            requester=session.requester,
            named=session.participants,
            taken_part=(person.id,) if person.id in state.taken_part else (),
            answerers=settings.answerers,
            listed=settings.listed,
            outsiders=settings.outsiders,
        )
        questions = (OpenQuestion(number=i.number, question=i.question, held=held(i)) for i in round_.items)
        found.append(
            OpenRound(
                conversation=state.place.conversation,
                session=session.id,
                number=session.number,
                round=round_.id,
                revision=round_.revision,
                title=round_.title,
                bulk=POLICIES[session.policy].bulk_accept,
                questions=tuple(questions),
                circle=circle,
                order=round_.order,
                opened_at=round_.opened_at,
            )
        )
    return tuple(found)


def in_order(one: OpenRound) -> tuple[int, datetime, str]:
    """By number; of the same number in several places, the older one first."""
    return one.number, one.opened_at, one.session


# -- how far a message reaches -------------------------------------------------------------------------------------


def root(conversation: ConversationId) -> str:
    """The place that a thread belongs to: `x:team` of `x:team/17`. Intakes are numbered per root."""
    return conversation.partition("/")[0]


def reachable(states: Iterable[Conversation], person: Person, here: ConversationId) -> tuple[OpenRound, ...]:
    """The rounds of other conversations that a message of this person may mean, by number.

    From a shared place: those of the same channel. From a private one: those anywhere that are this person's own.
    """
    found: list[OpenRound] = []
    for state in states:
        if state.place.conversation == here:
            continue
        same_place = root(state.place.conversation) == root(here)
        mine = open_rounds(state, person)
        found += [one for one in mine if same_place or one.circle.asked(person, state.place.platform)]
    return tuple(sorted(found, key=in_order))
