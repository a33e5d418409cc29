"""Guards that hardly any platform lets anybody reach: questions that change under a yes, edits by somebody else."""

from __future__ import annotations

from adapters.limits import plain
from bot.core.book import Book
from bot.core.effects import Audit, Redraw, Say, Step
from bot.core.events import MessageEdited
from bot.core.model import MessageRef, Person
from bot.core.state import Conversation
from tests.core import builders
from tests.core.test_taps import ANA, Talk, book, clarified

__all__ = ["book"]  # the fixture

BEN = Person(id="chat:ben", name="Ben")


def edits(talk: Talk, person: Person, message: str, text: str) -> Step:
    return talk.happen(
        MessageEdited(person=person, message=message, text=text, ref=MessageRef(id=message, quote=text))
    )


def with_other_questions(state: Conversation | None) -> Conversation:
    """The round as it is after whoever asked has changed it."""
    assert state is not None
    [session] = state.sessions
    assert session.round is not None
    changed = session.round.model_copy(update={"revision": session.round.revision + 1})
    return state.model_copy(update={"sessions": (session.model_copy(update={"rounds": (changed,)}),)})


def words(made: Step) -> str:
    return "\n".join(plain(e.message) for e in made.effects if isinstance(e, Say))


def test_a_yes_to_questions_that_have_changed_since_records_nothing(book: Book) -> None:
    """RD-15: what was asked back is bound to what the person saw; they see it anew."""
    talk = Talk(book)
    talk.says("lit-review this")
    talk.says("yeah ok")
    talk.state = with_other_questions(talk.state)
    made = talk.says("yes")
    assert clarified(made) == []
    assert "have changed" in words(made)
    assert clarified(talk.says("accept recommendations")) == ["years", "databases", "access"]


def test_nobody_else_edits_an_answer(book: Book) -> None:
    """RD-13: an edit that comes in another name changes nothing."""
    talk = Talk(book)
    talk.says("lit-review this")
    talk.says("1: B")
    made = edits(talk, BEN, "u1", "1: C")
    assert (clarified(made), made.outcome) == ([], "ignored")
    assert clarified(edits(talk, ANA, "u1", "1: C")) == ["years"]


def test_nobody_else_edits_a_request(book: Book) -> None:
    """RT-9: while the menu is open, the requester's own edit routes the request anew."""
    talk = Talk(book)
    talk.says("hello")
    made = edits(talk, BEN, "u0", "lit-review this")
    assert (made.effects, made.outcome) == ((), "ignored")
    assert any(isinstance(e, Redraw) for e in edits(talk, ANA, "u0", "lit-review this").effects)


def test_people_from_outside_are_told_why_whatever_they_write() -> None:
    """RD-12 CH-5: a wish with nothing open, or a change of an intake that is over, is refused and audited."""
    talk = builders.Talk()
    talk.says("ana", "review my paper")
    talk.says("ana", "accept recommendations")
    talk.rings("grace:s000000001")
    for text in ("remind me tomorrow at 9", "change 1 to B in #1"):
        made = talk.says("guest", text)
        assert made.outcome == "refused", text
        assert [r.event for r in made.records if isinstance(r, Audit)] == ["access.answer_refused"], text


def test_quoted_words_that_would_only_cancel_claim_nothing() -> None:
    """AU-3: an incident is what would decide something, were it the person's own."""
    talk = builders.Talk()
    talk.says("ana", "lit-review this")
    for quoted, events in (("delete", []), ("cancel", []), ("yeah ok", ["injection_incident"])):
        made = talk.says("ana", "hm", quoted=quoted)
        assert [r.event for r in made.records if isinstance(r, Audit)] == events, quoted


def test_a_yes_in_quotation_marks_is_told_why_it_counts_for_nothing() -> None:
    """CH-2 AU-3: while a question of ours waits it is neither taken, nor asked about, nor met with silence."""
    talk = builders.Talk()
    talk.says("ana", "review my paper")
    talk.says("ana", "yeah ok")
    asked = [p.id for p in talk.state.pending] if talk.state else []
    for text in ('"yes"', "“No”", "`y`", "> yes", "「はい」"):
        made = talk.says("ana", text)
        assert "write it without the marks" in words(made), text
        assert made.records == (), text
        assert [p.id for p in made.state.pending] == asked, text
    assert clarified(talk.says("ana", "yes")) == ["venue"]
    talk.rings("grace:s000000001")
    talk.says("ana", "change 1 to B")
    assert "write it without the marks" in words(talk.says("ana", '"yes"'))
    assert clarified(talk.says("ana", "yes")) == ["venue"]


def test_a_quoted_change_that_names_its_intake_is_nobodys_answer() -> None:
    """AU-3 RP-7: "> change 1 to C in #1" is what somebody else wrote."""
    for text in ("> change 1 to B in #1", "> change 1 to B in #1\nhm"):
        talk = builders.Talk()
        talk.says("ana", "lit-review this")
        assert clarified(talk.says("ana", text)) == [], text
        assert clarified(talk.says("ana", "change 1 to B in #1")) == ["years"]
