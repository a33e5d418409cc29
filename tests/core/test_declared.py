"""A program declares the workflow of its request: explicit intent, and never an answer (RT-16)."""

from __future__ import annotations

import pytest

from bot.core.book import Book
from bot.core.effects import Clarification, Say, Step
from bot.core.events import Envelope, Event, MessageReceived, TimerDue
from bot.core.model import Material, MessageRef, Place
from bot.core.state import Conversation, Session
from bot.core.step import step
from bot.core.view import plain
from tests.core.test_taps import ANA, NOON, book

__all__ = ["book"]  # the fixture
REVIEW = "academic-paper/lit-review"
FACTS = "deep-research/fact-check"


class Filing:
    """One conversation on the core."""

    def __init__(self, book: Book, *, shared: bool = False) -> None:
        self.book, self.acts = book, 0
        self.place = Place(conversation="chat:room", platform="chat", shared=shared)
        self.state: Conversation | None = None

    def files(self, text: str, declared: str | None, *, about: str | None = None, **more: object) -> Step:
        self.acts += 1
        said = {"person": ANA, "text": text, "ref": MessageRef(id=f"u{self.acts}", quote=text), "declared": declared}
        return self.happens(MessageReceived.model_validate(said | more), about)

    def happens(self, event: Event, about: str | None = None) -> Step:
        envelope = Envelope(
            event_id=str(self.acts), place=self.place, at=NOON, new_id=f"{self.acts:010d}", about=about, numbered=0,
            event=event,
        )  # fmt: skip
        made = step(self.state, envelope, self.book)
        self.state = made.state
        return made

    @property
    def newest(self) -> Session:
        assert self.state is not None
        return max(self.state.sessions, key=lambda session: session.number)


def told(made: Step) -> str:
    return " ".join(plain(effect.message) for effect in made.effects if isinstance(effect, Say))


@pytest.fixture
def filing(book: Book) -> Filing:
    return Filing(book)


@pytest.mark.parametrize(
    "text", ["see what you can do", "thanks", "review my paper", "1: B", "remind me tomorrow", "?"]
)
def test_a_declared_workflow_is_explicit_intent(filing: Filing, text: str) -> None:
    """RT-16, RT-5: no menu, whatever the words alone would bring."""
    filing.files(text, REVIEW)
    assert (filing.newest.workflow, filing.newest.stage.kind) == (REVIEW, "asking")
    assert filing.newest.request.text == text


def test_it_may_be_named_by_its_command(filing: Filing) -> None:
    """RT-16, RT-11."""
    filing.files("bees", "/ars_lit-review")
    assert filing.newest.workflow == REVIEW


def test_one_that_is_not_known_is_refused_and_told_the_nearest(filing: Filing) -> None:
    """RT-16, RT-10: routed by its words it would be another one than was declared."""
    made = filing.files("review my paper", "academic-paper/literature-review")
    assert made.outcome == "refused"
    assert REVIEW in (made.reason or "")
    assert REVIEW in told(made)
    assert not made.state.sessions


@pytest.mark.parametrize("text", ["1: B, 2: A", "accept recommendations", "arXiv, since it is free", "yes", "cancel"])
@pytest.mark.parametrize("about", [False, True])
def test_beside_an_open_round_it_is_asked_about_and_answers_nothing(filing: Filing, text: str, about: bool) -> None:
    """RT-16, RT-10: a request whose words look like an answer, or are all that an open question wants (RP-11)."""
    filing.files("bees", REVIEW)
    made = filing.files(text, FACTS, about=filing.newest.rounds[-1].id if about else None)
    assert not [r for r in made.records if isinstance(r, Clarification)]
    assert f"start {FACTS} with these words" in told(made)
    assert filing.newest.workflow == REVIEW
    filing.files("yes", None)
    assert (filing.newest.workflow, filing.newest.request.text) == (FACTS, text)


def test_files_come_along(filing: Filing) -> None:
    """RT-16, RT-3: two phases of materials bring no menu."""
    names = ("draft_v2.docx", "refs.bib")
    filing.files("see these", FACTS, materials=tuple(Material(kind="file", name=name) for name in names))
    assert filing.newest.workflow == FACTS
    assert [m.name for m in filing.newest.request.materials if m.kind == "file"] == list(names)


def test_in_a_shared_place_it_needs_no_mention(book: Book) -> None:
    """RT-13, RT-16: as a command does not."""
    filing = Filing(book, shared=True)
    filing.files("bees", REVIEW)
    assert filing.newest.workflow == REVIEW


def test_forwarded_words_are_its_material(filing: Filing) -> None:
    """AU-3."""
    filing.files("accept recommendations", FACTS, forwarded="Bo")
    filing.happens(TimerDue(name="gather:parts"))
    assert filing.newest.workflow == FACTS
    assert not filing.newest.request.text
    assert [m.caption for m in filing.newest.request.materials] == ["accept recommendations"]
