"""Playbooks from files: pleasant to write, every mistake told at once with its line; the bundled ones are clean."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from bot.core.lints import lint_bank
from bot.core.model import Grounding, MessageRef
from bot.core.playbook import Entry, Known, Playbook
from bot.core.policies import PLAYBOOK, POLICIES
from bot.core.rounds import build_round
from bot.core.state import Request
from bot.core.stated import CLAIM, SUBJECT, phrase
from config.playbooks_loader import OTHER, load_playbooks, read_playbook
from config.problems import Unloadable

ROOT = Path(__file__).parents[2]
DATA = sorted((ROOT / "tests/data/playbooks").glob("*.yaml"))
FOLDERS = [ROOT / "config/packs" / pack / "playbooks" for pack in ("research", "triage")]
BUNDLED = [p for folder in FOLDERS for p in sorted(folder.glob("*.yaml"))]
DENY = ("Umbrella Corp",)


@pytest.mark.parametrize("path", DATA, ids=lambda p: p.stem)
def test_each_mistake_has_its_line(path: Path) -> None:
    """RD-3: one bad file per lint; its first line says which line and code are expected."""
    head = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# expect:")
    expected = sorted(tuple(part.split()) for part in head.split(";") if part.strip())
    found = read_playbook(path, deny=DENY).problems
    assert sorted((str(p.line), p.code) for p in found) == expected
    assert all(p.file == str(path) and len(p.message) > 15 for p in found)


def test_a_folder_is_refused_with_all_its_problems(tmp_path: Path) -> None:
    for name in ("good", "two_recommended", "topic_length", "broken_yaml"):
        shutil.copy(ROOT / f"tests/data/playbooks/{name}.yaml", tmp_path)
    with pytest.raises(Unloadable) as refused:
        load_playbooks(tmp_path)
    told = [(Path(p.file).stem, p.line, p.code) for p in refused.value.problems]
    assert told == [
        ("broken_yaml", 4, "broken_yaml"),
        ("topic_length", 2, "duplicate_workflow"),
        ("topic_length", 7, "topic_length"),
        ("two_recommended", 2, "duplicate_workflow"),
        ("two_recommended", 11, "two_recommended"),
    ]
    assert f"{tmp_path / 'two_recommended.yaml'}:11: refused: two_recommended:" in str(refused.value)


def test_a_warning_does_not_keep_a_playbook_out(tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests/data/playbooks/topic_length.yaml", tmp_path)
    assert list(load_playbooks(tmp_path)) == ["academic-paper/lit-review"]


def test_a_missing_folder_has_no_playbooks(tmp_path: Path) -> None:
    """RT-15: a workflow without a playbook is handed over at once."""
    assert load_playbooks(tmp_path / "none") == {}


def test_other_is_added_where_the_policy_requires_it() -> None:
    """RD-2: the author writes the real options only."""
    read = read_playbook(ROOT / "tests/data/playbooks/good.yaml").playbook
    assert read is not None
    (entry,) = read.entries
    assert [(o.key, o.label, o.other, o.recommended) for o in entry.question.options] == [
        ("A", "Last 5 years", False, False),
        ("B", "Last 10 years", False, True),
        ("C", OTHER, True, False),
    ]
    assert entry.question.options[1].tradeoff == "current methods; twice the screening"
    assert entry.question.grounding == Grounding(kind="constraint", reference="screening time")
    assert (entry.question.field, entry.question.artefact) == ("search.years", "search protocol")


def test_scalars_are_taken_as_written(tmp_path: Path) -> None:
    """A label `no`, a year or a date is text, whatever YAML would make of it."""
    text = (ROOT / "tests/data/playbooks/good.yaml").read_text(encoding="utf-8")
    text = text.replace("A: Last 5 years — least to screen; misses early papers", "A: no")
    text = text.replace("B: Last 10 years — current methods; twice the screening", "B: 2020")
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    read = read_playbook(path).playbook
    assert read is not None
    assert [o.label for o in read.entries[0].question.options] == ["no", "2020", OTHER]


@pytest.fixture(scope="module")
def bundled() -> dict[str, Playbook]:
    return {w: p for folder in FOLDERS for w, p in load_playbooks(folder).items()}


@pytest.mark.parametrize("path", BUNDLED, ids=lambda p: p.stem)
def test_bundled_playbooks_are_clean(path: Path) -> None:
    """RD-3: nothing refused and nothing warned."""
    assert read_playbook(path).problems == []


def test_bundled_playbooks_follow_the_shape(bundled: dict[str, Playbook]) -> None:
    """RD-2, RD-4, RD-5: 2 to 5 questions, every one earning its slot, below the ceiling of tier 2."""
    assert {"academic-paper/lit-review", "academic-paper/full", "academic-pipeline/full"} <= bundled.keys()
    assert {"academic-paper-reviewer/full", "academic-paper/revision-coach"} <= bundled.keys()
    assert {"intake/bug", "intake/feature", "intake/incident", "intake/question"} <= bundled.keys()
    for playbook in bundled.values():
        questions = [entry.question for entry in playbook.entries]
        assert 2 <= len(questions) <= 5
        assert lint_bank(questions, POLICIES[playbook.policy]) == ()
        for question in questions:
            assert question.field
            assert question.artefact
            assert question.recommended
            assert question.other == question.options[-1]
            best = question.grounding is not None and question.grounding.kind == "best_guess"
            assert best is (question.rationale or "").startswith("Best guess")


def test_bundled_playbooks_fit_a_phone(bundled: dict[str, Playbook]) -> None:
    for playbook in bundled.values():
        assert playbook.purpose.count(".") == 1
        for entry in playbook.entries:
            question = entry.question
            assert len(question.why) <= 80
            assert len(question.rationale or "") <= 240
            assert all(len(o.label) <= 30 and len(o.tradeoff) <= 75 for o in question.options)


def test_bundled_files_are_what_a_plain_yaml_reader_sees() -> None:
    """Other tools may read them: no anchors, no tags."""
    for path in BUNDLED:
        plain = yaml.safe_load(path.read_text(encoding="utf-8"))
        read = read_playbook(path).playbook
        assert read is not None
        assert [q["topic"] for q in plain["questions"]] == [e.question.topic for e in read.entries]


SHORTEST = [
    pytest.param(read.playbook, entry, known, line, id=f"{path.stem}-{entry.question.id}-{line[:40]}")
    for path in BUNDLED
    if (read := read_playbook(path)).playbook
    for entry in read.playbook.entries
    for known in entry.known
    for line in known.words
    if line not in (SUBJECT, CLAIM)
]


@pytest.mark.parametrize(("playbook", "entry", "known", "line"), SHORTEST)
def test_every_phrase_settles_its_question_when_said_alone(
    playbook: Playbook, entry: Entry, known: Known, line: str
) -> None:
    """RD-5: no phrase is dead, and none means two options."""
    steps = [step.choices[0] for step in phrase(line).steps if not step.optional]
    said = " ".join(word for choice in steps for word in choice)
    said = said.replace("{year}", "2018").replace("{number}", "4000")
    request = Request(text=said, original=said, ref=MessageRef(id="u1", quote=said))
    settled = {s.question: s.value for s in build_round(playbook, request, (), PLAYBOOK).settled}
    option = entry.question.option(known.option or "")
    named = {o.label for o in entry.question.options}
    value = settled.get(entry.question.id)
    assert value == option.label if option else value == said or value in named
