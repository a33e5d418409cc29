"""Patterns are compiled when they are first used (`bot.core.patterns`): here all of them are."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from bot import core
from bot.core import scope_change
from bot.core.own_words import only_marked
from bot.core.patterns import regex
from bot.core.spec import Spec
from config.phrases_loader import load_phrases


def test_every_pattern_of_the_core_compiles() -> None:
    names = [module.name for module in pkgutil.walk_packages(core.__path__, "bot.core.")]
    later = type(regex(""))
    modules = [importlib.import_module(name) for name in names]  # noqa: TID251 - every one there is
    found = [value for module in modules for value in _within(vars(module).values()) if type(value) is later]
    assert len(found) > 80
    assert all(isinstance(value.pattern, str) for value in found)  # type: ignore[attr-defined]


def _within(values: Any) -> Iterator[object]:
    for value in values:
        yield value
        if isinstance(value, tuple):
            yield from _within(value)
        elif isinstance(value, dict):
            yield from _within(value.values())


def test_a_pattern_does_what_a_compiled_one_does() -> None:
    made, plain = regex(r"(\d+)x?", re.IGNORECASE), re.compile(r"(\d+)x?", re.IGNORECASE)
    for _ in range(2):
        assert [m.span(1) for m in made.finditer("12X 3")] == [m.span(1) for m in plain.finditer("12X 3")]
        assert made.sub("-", "12X 3") == plain.sub("-", "12X 3")
    assert made.flags == plain.flags
    with pytest.raises(re.error):
        regex("(").search("")
    with pytest.raises(AttributeError):
        made.nothing  # noqa: B018  # type: ignore[attr-defined]


@pytest.mark.parametrize("row", ["\n", " \n", "`", " ", ","])
def test_a_long_row_of_one_sign_is_looked_through_once(row: str) -> None:
    """A message of a few thousand empty lines or backticks must not hold everybody up."""
    began = time.process_time()
    scope_change.described(f"surfaces: 4 because x{row * 2000}y", Spec(name="Refunds"), load_phrases())
    only_marked(row * 40_000 + "a")
    assert time.process_time() - began < 2  # seconds of work; both took minutes
