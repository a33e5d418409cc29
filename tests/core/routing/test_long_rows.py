"""The work grows with the message, not with its square: thousands of small words in a row are just a paste."""

from __future__ import annotations

import pytest

from bot.core.routing import route
from bot.core.routing.languages import Mark
from bot.core.routing.sheet import Sheet
from tests.core.routing.test_cases import PACKS


@pytest.mark.parametrize("word", ["word ", "the ", "my draft ", "에 대한 문헌 검토 "])
def test_marks_are_looked_up_a_few_times_for_each_word(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    plain = Sheet.mark

    def counting(sheet: Sheet, name: Mark, at: int) -> int:
        nonlocal asked
        asked += 1
        return plain(sheet, name, at)

    monkeypatch.setattr(Sheet, "mark", counting)
    for count in (500, 2000):
        asked = 0
        route(word * count, [], PACKS["research"])
        assert asked < 60 * count
