"""Packs: loading, mistakes with file and line, look-ups, records (RT-10, RT-12)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bot.core.routing import route, route_record
from bot.core.routing.materials import phase_of_name
from bot.core.routing.text import words
from config.packs_loader import PackRefused, load_pack

PACKS_FOLDER = Path(__file__).parents[3] / "config" / "packs"
PACKS = {name: load_pack(PACKS_FOLDER / name) for name in ("research", "triage")}
RESEARCH = PACKS["research"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    made.mkdir()
    for name in ("pack.yaml", "routes.yaml", "phases.yaml", "menus.yaml"):
        shutil.copy(PACKS_FOLDER / "research" / name, made / name)
    shutil.copytree(PACKS_FOLDER / "research" / "triggers", made / "triggers")
    (tmp_path / "spec").mkdir()
    shutil.copy(PACKS_FOLDER / "spec" / "part.yaml", tmp_path / "spec" / "part.yaml")
    return made


def change(path: Path, old: str, new: str) -> int:
    """Replace the first occurrence; the line on which it stood."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def problems(folder: Path) -> tuple[str, ...]:
    with pytest.raises(PackRefused) as refused:
        load_pack(folder)
    return refused.value.problems


def test_all_mistakes_at_once_with_their_lines(folder: Path) -> None:
    """RT-12: an unknown key, a command twice, a phase without default, a workflow that is not there."""
    routes, menus = folder / "routes.yaml", folder / "menus.yaml"
    unknown = change(routes, "title: A check of claims", "titel: A check of claims")
    found = problems(folder)
    assert any(p.startswith(f"{routes}:") and "titel" in p for p in found)
    change(routes, "titel:", "title:")
    twice = change(routes, "commands: [ars-3w]", "commands: [ars-full]")
    change(routes, "    default_for_phase: 5\n", "")
    gone = change(menus, "one_paper: [academic-paper-reviewer/full", "one_paper: [academic-paper-reviewer/fool")
    found = problems(folder)
    assert any(p.startswith(f"{routes}:{twice}:") and "already belongs" in p for p in found)
    assert any("phase 5 has no default" in p for p in found)
    assert any(p.startswith(f"{menus}:{gone}:") and "fool" in p for p in found)
    assert unknown > 1


def test_a_workflow_twice(folder: Path) -> None:
    """RT-12."""
    line = change(folder / "routes.yaml", "id: academic-paper/plan", "id: academic-paper/full")
    assert any(f"routes.yaml:{line}:" in p and "twice" in p for p in problems(folder))


def test_broken_yaml(folder: Path) -> None:
    """RT-12."""
    line = change(folder / "phases.yaml", "folder_prefix: phase", "folder_prefix: [phase")
    found = problems(folder)
    assert len(found) == 1
    assert "phases.yaml:" in found[0]
    assert line >= 1


def test_a_key_twice(folder: Path) -> None:
    """RT-12: the first one would be lost in silence."""
    (folder / "pack.yaml").write_text("name: a\nname: b\ntitle: c\n", encoding="utf-8")
    assert any("pack.yaml:2:" in p and "twice" in p for p in problems(folder))


def test_a_bad_phrase_and_an_unknown_class(folder: Path) -> None:
    """RT-12."""
    line = change(folder / "triggers" / "any.yaml", "- <write> ~ <sysrev>", "- <wriet> ~ <sysrev>")
    assert any(f"any.yaml:{line}:" in p and "<wriet>" in p for p in problems(folder))


def test_a_yes_that_yaml_reads_as_true(folder: Path) -> None:
    """RT-12: `no` without quotes is not a word in YAML."""
    change(folder / "triggers" / "en.yaml", 'negation: ["no",', "negation: [no,")
    assert any("negation" in p and "string" in p for p in problems(folder))


def test_missing_files(tmp_path: Path) -> None:
    """RT-12."""
    assert len(problems(tmp_path)) >= 4


def test_a_language_is_a_file(folder: Path) -> None:
    """RT-12: adding one is adding a file."""
    (folder / "triggers" / "eo.yaml").write_text(
        "language: eo\nwords:\n  review: [recenzu]\n  paper: [artikolon]\n  det: [mian]\n", encoding="utf-8"
    )
    verdict = route("recenzu mian artikolon", [], load_pack(folder))
    assert (verdict.by, verdict.workflow) == ("trigger", "academic-paper-reviewer/full")


def test_look_ups() -> None:
    """RT-10, RT-11."""
    assert RESEARCH.workflow("nothing") is None
    for word in ("ars-full", "/ARS_Full", "ars—full"):
        found = RESEARCH.workflow_by_command(word)
        assert found
        assert found.id == "academic-pipeline/full"
    assert RESEARCH.nearest_commands("ars-lit-reviw")[0].id == "academic-paper/lit-review"


@pytest.mark.parametrize("name", ["research", "triage"])
def test_no_mark_undoes_another(name: str) -> None:
    """RT-12: all languages are read together, so `no.` in one list of exceptions once switched off every "no"."""
    lexicon = PACKS[name].lexicon
    for mark in ("negation", "negation_back"):
        assert not lexicon.phrases_of(f"<!{mark}>") & lexicon.phrases_of("<!not_negation>")
    assert not lexicon.phrases_of("<!others>") & lexicon.phrases_of("<!own>")


@pytest.mark.parametrize("name", ["research", "triage"])
def test_no_word_is_the_end_of_an_english_short_form(name: str) -> None:
    """RT-12: accents are folded, so the Vietnamese "vẽ" (draw) was read in every "I've"."""
    ends = {("ve",), ("ll",), ("re",)}
    for language in PACKS[name].languages:
        for table, entries in [*language.words.items(), *language.marks.items()]:
            if table not in ("lead", "around", "det"):
                assert not {e for e in entries if words(e, {}) in ends}, (language.language, table)


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("phase2_investigation/draft.md", 2),
        ("work\\phase5_review\\draft.md", 5),
        ("phase0_intake/config.yaml", 0),
        ("phase9_x/draft.md", 4),
        ("phase12_x/refs.bib", 2),
        ("decision_letter.docx", 5),
        ("draft_revised.docx", 6),
        ("paper_R1.tex", 6),
        ("论文修改稿.docx", 6),
        ("response_to_reviewers.docx", 6),
        ("ReviewerComments2.docx", 5),
        ("literature_review_draft.docx", 4),
        ("literature.yaml", 2),
        ("literature_corpus.json", 2),
        ("manuscript.pdf", 4),
        ("smith2020.pdf", None),
        ("notes.md", 3),
        ("rq_brief.md", 1),
        ("черновик.docx", 4),
        ("Gutachten_1.pdf", 5),
        ("査読コメント_1.pdf", 5),
        ("x.ris", 2),
        ("thesis.tex", 4),
        ("ethics_report.pdf", 5),
        ("report.md", 4),
        ("photo.jpg", None),
        ("", None),
    ],
)
def test_one_file_is_one_phase(name: str, phase: int | None) -> None:
    """RT-3: folder mark before name mark before extension."""
    assert phase_of_name(name, RESEARCH) == phase


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        "x",
        {"id": 1, "text": 5},
        {"id": 1, "text": "a", "files": "b"},
        {"id": 1, "text": "a", "pack": "none"},
        {"id": 1, "text": "a", "position": "last"},
        {"id": 1, "text": "a", "menu": [1]},
        {"id": 1, "text": "a", "pack": []},
    ],
)
def test_a_bad_record_is_told(record: object) -> None:
    """The line discipline of `askfirst route --jsonl`."""
    out = route_record(record, PACKS)
    assert set(out) == {"id", "error"}


def test_a_record() -> None:
    """The exact shape of `askfirst route --jsonl`."""
    assert route_record({"id": "r", "text": "[direct-mode] /ars-full x", "more": 1}, PACKS) == {
        "id": "r",
        "outcome": "proceed",
        "by": "command",
        "direct_mode": True,
        "workflow": "academic-pipeline/full",
        "text": "/ars-full x",
        "phases": [],
        "options": [],
    }


def test_every_bundled_pack_takes_in_the_specification() -> None:
    """SP-2: `/spec` and the commands inside it are known wherever people write."""
    for pack in PACKS.values():
        verdict = route("/spec Refunds", [], pack)
        assert (verdict.outcome, verdict.workflow) == ("proceed", "spec/new")
        assert {"continue", "tier", "jump", "show", "gate", "abandon"} <= set(pack.session_commands)
    assert route("write a PRD for refunds", [], RESEARCH).workflow == "spec/new"


@pytest.mark.parametrize("text", ["review the model specification", "write the specification section of my paper"])
def test_the_word_of_statistics_begins_no_specification(text: str) -> None:
    """RT-2: what several packs share does not take requests away from a pack."""
    verdict = route(text, [], RESEARCH)
    assert "spec/new" not in (verdict.workflow, *verdict.options)


def test_a_workflow_that_the_pack_lists_itself_stands(folder: Path) -> None:
    """RT-12: an included one only fills in what is missing."""
    change(folder / "routes.yaml", "workflows:", "workflows:\n  - {id: spec/new, commands: [spec], title: Our own}")
    found = load_pack(folder).workflow("spec/new")
    assert found is not None
    assert found.title == "Our own"


def test_what_is_included_must_be_there_and_right(folder: Path) -> None:
    """RT-12: each mistake by its file and line."""
    part = folder.parent / "spec" / "part.yaml"
    line = change(part, "spec/new: [lastenheft", "spec/nwe: [lastenheft")
    assert any(p.startswith(f"{part}:{line}:") and "spec/nwe" in p for p in problems(folder))
    change(part, "spec/nwe:", "spec/new:")
    line = change(part, "(lastenheft|", "(lastenheft||")
    assert any(p.startswith(f"{part}:{line}:") for p in problems(folder))
    change(folder / "pack.yaml", "include: [spec]", "include: [spce]")
    assert any("there is no" in p and "spce" in p for p in problems(folder))


@pytest.mark.parametrize("text", ["@askfirst show me the papers", "@askfirst continue with my draft"])
def test_an_everyday_word_after_a_mention_orders_nothing(text: str) -> None:
    """CH-3: the commands of a session need their slash where none is open."""
    verdict = route(text, [], RESEARCH)
    assert verdict.general is None
    assert verdict.outcome != "continue"
