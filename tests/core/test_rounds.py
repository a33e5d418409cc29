"""Which questions are asked, which are known, which are dropped (RD-4, RD-5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.core.model import Material, MessageRef, Option, Question
from bot.core.playbook import Entry, Known, Playbook
from bot.core.policies import PACKET, PLAYBOOK
from bot.core.rounds import Built, build_round
from bot.core.state import Request
from bot.core.stated import Statement, phrase
from config.playbooks_loader import load_playbooks

ROOT = Path(__file__).parents[2]
TABLES = sorted((ROOT / "tests/data/requests").glob("*.yaml"))
PLAYBOOKS = {
    workflow: playbook
    for pack in ("research", "triage")
    for workflow, playbook in load_playbooks(ROOT / "config/packs" / pack / "playbooks").items()
}
ROWS = [
    pytest.param(workflow, row, id=f"{table.stem}-{number}")
    for table in TABLES
    for workflow, rows in yaml.safe_load(table.read_text(encoding="utf-8")).items()
    for number, row in enumerate(rows)
]


def request(text: str, files: list[str] | None = None) -> Request:
    materials = tuple(Material(kind="file", name=name) for name in files or ())
    return Request(text=text, original=text, materials=materials, ref=MessageRef(id="u1", quote=text[:80]))


@pytest.mark.parametrize(("workflow", "row"), ROWS)
def test_a_request_is_asked_only_what_it_does_not_say(workflow: str, row: list[Any]) -> None:
    """RD-5: what the request states is known with its words as source; everything else is asked."""
    text, known = row[:2]
    files, phases = row[2:] or ([], [])
    playbook = PLAYBOOKS[workflow]
    built = build_round(playbook, request(text, files), phases, PLAYBOOK)
    options = {entry.question.id: {o.key: o.label for o in entry.question.options} for entry in playbook.entries}
    expected = {question: options[question].get(value, value) for question, value in known.items()}
    assert {s.question: s.value for s in built.settled} == expected
    assert [q.id for q in built.asked] == [q for q in options if q not in known]
    for settled in built.settled:
        assert settled.source in text or settled.value in ("in the files you sent", "pasted into the request")
        assert settled.source


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.stem)
def test_every_family_has_forty_requests(table: Path) -> None:
    assert sum(len(rows) for rows in yaml.safe_load(table.read_text(encoding="utf-8")).values()) >= 40


def question(number: int, **changes: Any) -> Question:
    given_: dict[str, Any] = {
        "id": f"q{number}",
        "topic": f"Topic of question {number}",
        "why": "It matters.",
        "field": "some.field",
        "artefact": "some document",
        "options": (Option(key="A", label="One"), Option(key="B", label="Two")),
    }
    return Question(**(given_ | changes))


def playbook(*entries: Entry | Question) -> Playbook:
    listed = tuple(e if isinstance(e, Entry) else Entry(question=e) for e in entries)
    return Playbook(workflow="w", title="W", purpose="P.", entries=listed)


def test_a_question_earns_its_slot() -> None:
    """RD-5: without the empty field and the artefact that changes it is dropped, with that reason."""
    built = build_round(
        playbook(question(1), question(2, field=" "), question(3, artefact=""), question(4, field="", artefact="")),
        request("x"),
        (),
        PLAYBOOK,
    )
    assert [q.id for q in built.asked] == ["q1"]
    assert [(d.question, d.later) for d in built.dropped] == [("q2", False), ("q3", False), ("q4", False)]
    assert "field" in built.dropped[0].reason
    assert "document" not in built.dropped[0].reason
    assert "document" in built.dropped[1].reason
    assert "neither" in built.dropped[2].reason


@pytest.mark.parametrize(("tier", "ceiling"), [(1, 10), (2, 6), (3, 4)])
def test_above_the_ceiling_critical_ones_come_first_and_the_rest_is_listed(tier: int, ceiling: int) -> None:
    """RD-4."""
    questions = [question(n, stakes="critical" if n in (9, 11) else "minor") for n in range(12)]
    built = build_round(playbook(*questions), request("x"), (), PLAYBOOK.model_copy(update={"tier": tier}))
    assert [q.id for q in built.asked] == [*(f"q{n}" for n in range(ceiling - 2)), "q9", "q11"]
    later = [f"q{n}" for n in range(ceiling - 2, 12) if n not in (9, 11)]
    assert [(d.question, d.later) for d in built.dropped] == [(q, True) for q in later]
    assert str(ceiling) in built.dropped[0].reason
    assert built.full


def test_reaching_the_ceiling_is_told_and_a_packet_has_none() -> None:
    """RD-4."""
    six = playbook(*(question(n) for n in range(6)))
    assert build_round(six, request("x"), (), PLAYBOOK).full
    assert not build_round(playbook(*(question(n) for n in range(5))), request("x"), (), PLAYBOOK).full
    built = build_round(playbook(*(question(n) for n in range(30))), request("x"), (), PACKET)
    assert (len(built.asked), built.dropped, built.full) == (30, (), False)


def test_known_questions_do_not_use_up_the_ceiling() -> None:
    known = [Entry(question=question(n), known=(Known(words=("yes",), option="A"),)) for n in range(5)]
    built = build_round(playbook(*known, *(question(n) for n in range(5, 11))), request("yes"), (), PLAYBOOK)
    assert [q.id for q in built.asked] == ["q5", "q6", "q7", "q8", "q9", "q10"]
    assert built.dropped == ()


def test_nothing_to_ask_is_an_empty_round() -> None:
    """RD-17."""
    assert build_round(playbook(), request("x"), (), PLAYBOOK) == Built(asked=())


def test_an_artefact_only_named_is_not_here_yet() -> None:
    """RT-2: a missing input is asked for by the workflow."""
    entry = Entry(question=question(1), known_from_phases=(4,))
    named = request("my draft").model_copy(update={"materials": (Material(kind="named", name="my draft"),)})
    assert [q.id for q in build_round(playbook(entry), named, (4,), PLAYBOOK).asked] == ["q1"]


@pytest.mark.parametrize(
    "line", ["", "?", "a?", "{yeer}", "a|", "+", "$", "-abstract", "{year", "a|?", "*", "^", "a^"]
)
def test_a_phrase_that_matches_nothing_or_everything_is_refused(line: str) -> None:
    with pytest.raises(ValueError):
        phrase(line)


PIECES = [*"abc \n.,;:!?\"'“”«»`>()|{}-–—日本語한\u200b", "papers ", "since ", "2018 ", "not ", "APA ", "or "]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)))
def test_any_request_can_be_read(text: str) -> None:
    """Nothing is invented: every source stands in the request, whatever it looks like."""
    for playbook_ in PLAYBOOKS.values():
        built = build_round(playbook_, request(text), (), PLAYBOOK)
        assert len(built.asked) + len(built.settled) + len(built.dropped) == len(playbook_.entries)
        assert all(s.source in text for s in built.settled if s.value != "pasted into the request")


LONG = [
    "a" * 100_000,
    "a b " * 25_000,
    "\"'" * 50_000,
    "一" * 100_000,
    "\n" * 100_000,
    "not, " * 20_000,
    "a b" + " b" * 40_000,
]


@pytest.mark.parametrize("text", LONG, ids=lambda text: ascii(text[:4]))
def test_a_long_request_is_read_in_time(text: str) -> None:
    statement = Statement(text)
    assert statement.find(["papers since {year}", "{subject}", "a? b+ c"]) == ()
