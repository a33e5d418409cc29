"""A round answered in a form: selections, words and notes are three fields, none of it read as prose (RP-5)."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core.effects import Audit, Clarification, Step
from bot.core.events import FormField, FormSubmitted
from bot.core.model import MessageRef
from tests.core.builders import Talk, person


class FormTalk(Talk):
    def sends(self, name: str, fields: dict[int, dict[str, Any]], *, revision: int = 1) -> Step:
        assert self.state is not None
        round_ = self.state.sessions[-1].round
        assert round_ is not None
        ref = MessageRef(id=f"f{self.acts + 1}", quote="form", card="m1")
        made = {number: FormField(**said) for number, said in fields.items()}
        form = FormSubmitted(person=person(name), round=round_.id, revision=revision, fields=made, ref=ref)
        return self.happens(form)

    @property
    def round_id(self) -> str:
        assert self.state is not None
        round_ = self.state.sessions[-1].round
        assert round_ is not None
        return round_.id


@pytest.fixture
def talk() -> FormTalk:
    made = FormTalk()
    made.says("ana", "lit-review this")
    return made


def recorded(step: Step) -> dict[str, tuple[str | None, str | None, str | None, str]]:
    found = [r for r in step.records if isinstance(r, Clarification)]
    return {c.question: (c.chosen, c.chosen_text, c.user_note, c.chosen_via) for c in found}


def test_what_is_sent_is_recorded_as_it_stands(talk: FormTalk) -> None:
    """RP-5 CA-2: a selection, words, a note; the reference is the act, its quote what was pressed."""
    step = talk.sends("ana", {1: {"chosen": "B", "note": "2: A"}, 2: {"chosen": "C", "text": "accept all"}})
    assert recorded(step) == {
        "years": ("B", None, "2: A", "user_response"),
        "databases": ("C", "accept all", None, "user_response"),
    }
    [first, *_] = [r for r in step.records if isinstance(r, Clarification)]
    assert first.user_message_ref.startswith("f2")


def test_a_selection_that_was_filled_in_and_left_is_not_said(talk: FormTalk) -> None:
    """RP-7, RD-13: where the answer is not there any more, that is said, and nothing is recorded."""
    step = talk.sends("ana", {1: {"chosen": "B", "note": "as the board wants", "left": True}})
    assert (recorded(step), step.outcome) == ({}, "refused")
    assert step.reply is not None
    assert "open it again" in step.reply.errors[1]
    talk.sends("ana", {1: {"chosen": "C"}})
    step = talk.sends("ana", {1: {"chosen": "B", "note": "as the board wants", "left": True}})
    assert recorded(step) == {"years": ("C", None, "as the board wants", "user_response")}
    step = talk.sends("ana", {1: {"chosen": "B", "left": True}})
    assert recorded(step) == {}


def test_words_alone_are_other(talk: FormTalk) -> None:
    assert recorded(talk.sends("ana", {1: {"text": "since 2012"}})) == {
        "years": ("D", "since 2012", None, "user_response")
    }


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({1: {"chosen": "D"}}, {1}),
        ({1: {"chosen": "B", "text": "but other"}}, {1}),
        ({1: {"note": "hm"}}, {1}),
        ({1: {"chosen": "Z"}}, {1}),
        ({9: {"chosen": "A"}}, {9}),
        ({1: {"chosen": "B"}, 2: {"chosen": "C"}}, {2}),
        ({}, {1}),
    ],
)
def test_a_mistake_is_said_at_its_field_and_nothing_is_recorded(
    talk: FormTalk, fields: dict[int, dict[str, Any]], wrong: set[int]
) -> None:
    """AG-4: an empty form records nothing. The rest of a wrong one is not lost: it stays in the form."""
    step = talk.sends("ana", fields)
    assert step.reply is not None
    assert set(step.reply.errors) == wrong
    assert not recorded(step)
    assert not step.effects
    assert step.outcome == "refused"


def test_a_form_of_other_questions_is_refused(talk: FormTalk) -> None:
    """RD-15."""
    step = talk.sends("ana", {1: {"chosen": "B"}}, revision=7)
    assert step.reply is not None
    assert "have changed" in step.reply.text
    assert not recorded(step)


def test_whoever_may_not_answer_may_not_by_form_either() -> None:
    """RD-12 CH-5."""
    talk = FormTalk(shared=True)
    talk.says("ana", "@askfirst lit-review this")
    for name in ("ben", "guest", "stranger"):
        step = talk.sends(name, {1: {"chosen": "B"}})
        assert step.reply is not None
        assert step.reply.errors
        assert not recorded(step)
        assert any(isinstance(r, Audit) and r.event.startswith("access.") for r in step.records)


def test_a_form_opened_again_shows_what_this_person_has_said_and_nothing_else(talk: FormTalk) -> None:
    """RD-9: nothing is selected that nobody has selected, least of all what is recommended."""
    fresh = talk.presses("ana", f"f:{talk.round_id}:1").reply
    assert fresh is not None
    assert fresh.form is not None
    assert [(f.chosen, f.text, f.note) for f in fresh.form.fields] == [(None, None, None)] * 3
    talk.sends("ana", {1: {"chosen": "B", "note": "why not"}})
    again = talk.presses("ana", f"f:{talk.round_id}:1").reply
    assert again is not None
    assert again.form is not None
    assert [(f.chosen, f.note) for f in again.form.fields] == [("B", "why not"), (None, None), (None, None)]


def test_what_is_sent_along_unchanged_is_no_new_answer(talk: FormTalk) -> None:
    talk.sends("ana", {1: {"chosen": "B"}})
    step = talk.sends("ana", {1: {"chosen": "B"}, 2: {"chosen": "A"}})
    assert list(recorded(step)) == ["databases"]
    step = talk.sends("ana", {1: {"chosen": "B"}, 2: {"chosen": "A"}})
    assert step.reply is not None
    assert "differs" in step.reply.text


def test_a_form_that_comes_late_is_told_so(talk: FormTalk) -> None:
    """RD-14."""
    name = talk.round_id
    talk.says("ana", "accept recommendations")
    talk.rings(f"grace:{name.partition('.')[0]}")
    ref = MessageRef(id="f9", quote="form", card="m1")
    late = FormSubmitted(person=person("ana"), round=name, revision=1, fields={1: FormField(chosen="A")}, ref=ref)
    step = talk.happens(late)
    assert step.reply is not None
    assert "over" in step.reply.text
    assert not recorded(step)
