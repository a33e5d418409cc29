"""Whole talks on the core: what holds in the end (RP-3, RP-7, RP-11, RD-12, RD-13, AU-3).

`eighth_talks.jsonl` was written before it was run, together with eighth.jsonl: 47 of 67 as written then, 14 wrong
captures and 4 intakes cancelled unasked. `ninth_talks.jsonl` holds what they left, beside what must not change with
it. One sign a question: a letter, `o` for Other, `t` for own words on an open question, `-` for open.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from bot.core.book import Book
from bot.core.policies import Access
from bot.core.state import Item
from bot.core.step import step
from config.playbooks_loader import load_playbooks
from tests.core import builders
from tests.core.replies import score

BEGINS = {
    "choice": "/ars-lit-review x",
    "open": "/ars-3w x",
    "open2": "/ars-reviewer x",
    "validate": "/ars-outline x",
    "mixed": "/ars-abstract x",
    "due": "/ars-revision x",
    "planned": "/ars-revision-coach x",
}
KNOWN: set[str] = set()


@pytest.fixture(scope="module")
def newsletter() -> Book:
    playbooks = load_playbooks(score.HERE / "newsletter")
    return dataclasses.replace(builders.book(), playbooks=playbooks, access=Access(allow=("x:ana", "x:ben")))


class Talk(builders.Talk):
    def __init__(self, book: Book, *, shared: bool) -> None:
        super().__init__(shared=shared)
        self.book = book

    def takes(self, envelope: Any) -> Any:
        made = step(self.state, envelope, self.book)
        self.before, self.state = self.state, made.state
        return made


def _sign(item: Item) -> str:
    if item.answer is None or item.status != "resolved":
        return "-"
    chosen = item.question.option(item.answer.chosen) if item.answer.chosen else None
    return "t" if chosen is None else "o" if chosen.other else chosen.key


def played(case: Mapping[str, Any], book: Book) -> Talk:
    talk = Talk(book, shared=case.get("shared", False))
    if talk.place.shared:
        talk.says("ben", "hi all")
    talk.says("ana", BEGINS[case["round"]], addressed=True)
    refs: list[str] = []
    for line in case["said"]:
        if "edit" in line:
            talk.edits(line["from"], refs[line["edit"] - 1], line["text"])
        else:
            made = talk.says(line["from"], line["text"], forwarded=line.get("forwarded"))
            for timer in [e.name for e in made.effects if e.kind == "set_timer" and e.name.startswith("gather")]:
                talk.rings(timer)
        refs.append(f"u{talk.acts}")
    return talk


TALKS = [*score.cases("eighth_talks.jsonl"), *score.cases("ninth_talks.jsonl")]


@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in TALKS])
def test_a_talk_ends_as_a_careful_secretary_would_have_it(case: dict[str, Any], newsletter: Book) -> None:
    """RP-3, RP-11, RD-13"""
    talk = played(case, newsletter)
    assert talk.state is not None
    session = talk.state.sessions[-1]
    how = session.stage.how if session.stage.kind == "ended" else None
    found = "".join(map(_sign, session.rounds[-1].items))
    if case["id"] in KNOWN:
        assert found not in case["holds"], "it holds now: take it out of KNOWN"
        return
    assert found in case["holds"]
    assert how == case.get("ends")


DATES = (
    "3 December 2026, 10 am",
    "friday, 10 am",
    "3 December",
    "12/3",
    "Dec 3rd, at noon",
    "3. Dezember, 10 Uhr",
    "friday please",
)


@pytest.mark.parametrize("text", DATES)
@pytest.mark.parametrize("begins", ["due", "planned"])
def test_a_date_is_the_answer_to_a_question_that_asks_for_a_time(begins: str, text: str, newsletter: Book) -> None:
    """RP-11 CH-6: it puts nothing off, and no part of it is asked about."""
    talk = played({"round": begins, "said": [{"from": "ana", "text": text}]}, newsletter)
    assert talk.state is not None
    assert not talk.state.pending
    (item,) = talk.state.sessions[-1].rounds[-1].items
    assert item.answer is not None
    assert item.answer.text == text


@pytest.mark.parametrize("text", ["delete", "clear", "stop", "reset", "delete it!"])
def test_an_order_is_no_words_of_other_before_a_yes(text: str, newsletter: Book) -> None:
    """RP-3: after a press on Other it may be the answer, or the end of everything; it is asked."""
    talk = played({"round": "choice", "said": []}, newsletter)
    talk.presses("ana", "a:s000000001.1:1:D", "Other…")
    made = talk.says("ana", text)
    assert talk.state is not None
    assert not any(r.kind == "clarification" for r in made.records)
    assert talk.state.sessions[-1].stage.kind == "asking"
    (pending,) = talk.state.pending
    token = f"p:{pending.id}:0"
    (record,) = (r for r in talk.presses("ana", token, "My answer").records if r.kind == "clarification")
    assert record.chosen_text == text


@pytest.mark.parametrize("text", ["1: delete", "1: we'll see", "change 1 to delete"])
@pytest.mark.parametrize("over", [False, True])
def test_words_that_may_be_no_answer_can_be_changed_to(text: str, over: bool, newsletter: Book) -> None:
    """RP-3 RD-13: within the grace and after the end they are offered as a change, and a yes takes them."""
    talk = played({"round": "open", "said": [{"from": "ana", "text": "The Village Post"}]}, newsletter)
    if over:
        talk.rings("grace:s000000001")
    assert not any(r.kind == "clarification" for r in talk.says("ana", text).records)
    (record,) = (r for r in talk.says("ana", "yes").records if r.kind == "clarification")
    assert record.chosen_text == text.removeprefix("1: ").removeprefix("change 1 to ")


def test_the_change_that_the_card_names_is_taken_within_the_grace(newsletter: Book) -> None:
    """RD-16: "change 1 to …" with words of one's own, as it says."""
    talk = played({"round": "choice", "said": [{"from": "ana", "text": "1: B, 2: A, 3: A, 4: A"}]}, newsletter)
    (record,) = (r for r in talk.says("ana", "change 1 to twice a year").records if r.kind == "clarification")
    assert (record.chosen, record.chosen_text) == ("D", "twice a year")
