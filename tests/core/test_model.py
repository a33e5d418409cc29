"""Values: a changed copy is the value that would have been made so."""

from __future__ import annotations

import pickle

import pytest
from pydantic import BaseModel, ValidationError

from bot.core.effects import Block, Message, Span
from bot.core.model import Grounding, Material, MessageRef, Option, Person, Question


def test_a_changed_copy_equals_the_value_made_so() -> None:
    ref = MessageRef(id="m1", quote="B")
    copied = ref.model_copy(update={"card": "c1"})
    assert copied == MessageRef(id="m1", quote="B", card="c1")
    assert hash(copied) == hash(MessageRef(id="m1", quote="B", card="c1"))
    assert copied.model_fields_set == {"id", "quote", "card"}
    assert copied.model_dump_json() == MessageRef(id="m1", quote="B", card="c1").model_dump_json()
    assert pickle.loads(pickle.dumps(copied)) == copied
    assert ref.card is None
    assert ref.model_fields_set == {"id", "quote"}


@pytest.mark.parametrize("value", [Person(id="t:1", name="Ana"), Material(kind="file", name="a.pdf", size=3)])
def test_copies_are_as_those_of_pydantic(value: BaseModel) -> None:
    for update in (None, {}, {"name": "Bo"}):
        for deep in (False, True):
            ours, theirs = value.model_copy(update=update, deep=deep), BaseModel.model_copy(value, update=update)
            assert ours == theirs
            assert ours.model_fields_set == theirs.model_fields_set
            assert ours.model_extra is theirs.model_extra is None
    with pytest.raises(ValidationError):
        value.model_copy().__setattr__("name", "Eve")


def test_a_value_made_of_its_fields_is_checked_like_any_other() -> None:
    made = Block.made_of({"spans": ({"text": "a"}, Span(text="b", style="bold")), "gap": True})
    assert made == Block(spans=(Span(text="a"), Span(text="b", style="bold")), gap=True)
    assert made.model_fields_set == {"spans", "gap"}
    assert made.spans[0].model_fields_set == {"text"}
    assert Message.made_of({"blocks": [made]}) == Message(blocks=(made,))
    for wrong in ({}, {"spans": "words"}, {"spans": (), "kind": "shout"}, {"spans": (), "spare": 1}):
        with pytest.raises(ValidationError):
            Block.made_of(wrong)


def test_questions_are_the_same_key_exactly_where_they_are_equal() -> None:
    """What is prepared of a question is looked up by it; one that was read from a store finds the same."""
    options = (Option(key="A", label="One", recommended=True), Option(key="B", label="Two"))
    grounding = Grounding(kind="convention", reference="a")
    question = Question(id="q", topic="Which", why="It decides.", options=options, grounding=grounding)
    known = {question: 1}
    assert known[Question.model_validate_json(question.model_dump_json())] == 1
    for change in ({"text": "Which one?"}, {"options": options[:1]}, {"rationale": "so"}, {"topic": "What"}):
        assert question.model_copy(update=change) not in known
    assert (question.recommended, question.option("B"), question.option("C")) == (options[0], options[1], None)
    assert question.other is None
