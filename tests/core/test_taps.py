"""Taps that come too fast (field case b50), on the real core with plain values."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.app import load_book
from bot.core.book import Book
from bot.core.effects import Clarification, Say, Step
from bot.core.events import ButtonPressed, Envelope, Event, MessageReceived
from bot.core.model import MessageRef, Person, Place
from bot.core.policies import Access
from bot.core.state import Conversation
from bot.core.step import step
from config.playbooks_loader import load_playbooks
from config.settings import load_settings

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
ANA = Person(id="chat:ana", name="Ana")
PLAYBOOKS = Path(__file__).parents[1] / "transcripts" / "playbooks"


@pytest.fixture(scope="module")
def book() -> Book:
    return replace(load_book(load_settings()), playbooks=load_playbooks(PLAYBOOKS), access=Access(allow=("*",)))


class Talk:
    """One conversation on the core, with a clock of its own."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.state: Conversation | None = None
        self.at = NOON
        self.acts = 0

    def happen(self, event: Event) -> Step:
        self.acts += 1
        place = Place(conversation="chat:room", platform="chat")
        envelope = Envelope(
            event_id=str(self.acts), place=place, at=self.at, new_id=f"{self.acts:010d}", about=None, event=event
        )
        made = step(self.state, envelope, self.book)
        self.state = made.state
        return made

    def says(self, text: str) -> Step:
        return self.happen(MessageReceived(person=ANA, text=text, ref=MessageRef(id=f"u{self.acts}", quote=text)))

    def taps(self, token: str, after: timedelta) -> Step:
        self.at += after
        ref = MessageRef(id=f"tap{self.acts}", quote="A", card="m1")
        return self.happen(ButtonPressed(person=ANA, token=token, label="A", ref=ref))


def clarified(made: Step) -> list[str]:
    return [record.question for record in made.records if isinstance(record, Clarification)]


def test_the_second_half_of_a_double_click_does_not_answer_the_next_question(book: Book) -> None:
    """b50, RD-9: the card has moved on under the finger; nothing passes as a considered choice."""
    talk = Talk(book)
    talk.says("lit-review this")
    assert talk.state is not None
    round_ = talk.state.active
    first = talk.taps(f"a:{round_}.1:1:A", timedelta(seconds=5))
    assert clarified(first) == ["years"]
    again = talk.taps(f"a:{round_}.1:1:A", timedelta(milliseconds=500))
    assert clarified(again) == []
    assert again.outcome == "accepted"
    second = talk.taps(f"a:{round_}.1:2:A", timedelta(milliseconds=400))  # of the tap that recorded nothing
    assert clarified(second) == []
    assert second.outcome == "refused"
    assert second.reply is not None
    assert "look at question 2 first" in second.reply.text


def test_a_tap_after_a_moment_counts(book: Book) -> None:
    """b50: the pause is short; a person who reads is not held up."""
    talk = Talk(book)
    talk.says("lit-review this")
    assert talk.state is not None
    round_ = talk.state.active
    talk.taps(f"a:{round_}.1:1:A", timedelta(seconds=5))
    assert clarified(talk.taps(f"a:{round_}.1:2:A", timedelta(seconds=1))) == ["databases"]


def test_taps_are_answered_by_the_card_and_a_notice_not_by_messages(book: Book) -> None:
    """CARDS: a round of ten questions answered by taps is no ten messages."""
    talk = Talk(book)
    talk.says("lit-review this")
    assert talk.state is not None
    made = talk.taps(f"a:{talk.state.active}.1:1:A", timedelta(seconds=5))
    assert [effect for effect in made.effects if isinstance(effect, Say)] == []
    assert made.reply is not None


@pytest.mark.parametrize("now", [{"outside": True}, {"kind": "app"}])
def test_whoever_asked_answers_as_a_person_of_the_place_alone(book: Book, now: dict[str, object]) -> None:
    """RD-12: also of the requester the platform's latest word counts."""
    talk = Talk(book)
    talk.says("lit-review this")
    assert talk.state is not None
    token = f"a:{talk.state.active}.1:1:A"
    ref = MessageRef(id="tap", quote="A", card="m1")
    made = talk.happen(ButtonPressed(person=ANA.model_copy(update=now), token=token, label="A", ref=ref))
    assert (made.outcome, clarified(made)) == ("refused", [])
    assert clarified(talk.taps(token, timedelta(seconds=5))) == ["years"]
