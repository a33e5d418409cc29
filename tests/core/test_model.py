"""Values: a changed copy is the value that would have been made so."""

from __future__ import annotations

import pickle

import pytest
from pydantic import BaseModel, ValidationError

from bot.core.model import Material, MessageRef, Person


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
