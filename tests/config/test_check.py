"""`askfirst check PATH…`: playbooks, packs, phrases and rounds by file and line; never a crash (RD-3, b05)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.core.filed import read_round
from bot.core.lints import Finding
from bot.core.policies import SPEC
from bot.core.routing.pack import Menus
from config.check import check_paths
from config.json_lines import line_of, lines_of
from config.problems import Problem

ROOT = Path(__file__).parents[2]
ROUNDS = ROOT / "tests/data/rounds"
PLAYBOOKS = ROOT / "tests/data/playbooks"


def told(problems: list[Problem]) -> list[tuple[str, int, str]]:
    return [(Path(p.file).name, p.line, p.code) for p in problems]


def check(tmp_path: Path, name: str, content: str | bytes) -> list[Problem]:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return check_paths([path])


# -- rounds --------------------------------------------------------------------------------------------------------


def findings(data: object) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for finding in read_round(data).findings:
        assert len(finding.message) > 15, "a message says how to repair it"
        found.setdefault(finding.path, set()).add(finding.code)
    return found


def refused(data: object) -> set[tuple[str, str]]:
    return {(f.path, f.code) for f in read_round(data).findings if f.level == "refused"}


STRINGIFIED = '[{"topic":"Storage engine","options":["SQLite file","Postgres server","Other — let me describe it"],"recommended":1}]'  # noqa: E501


def test_a_list_in_a_text_is_read_told_and_refused_all_the_same() -> None:
    """b05, first step: no why, no rationale; the index can be read two ways."""
    found = findings({"questions": STRINGIFIED})
    assert found["questions"] == {"list_in_text"}
    assert found["questions[0].why_it_matters"] == {"missing_why"}
    assert found["questions[0].recommended"] == {"wrong_type"}
    assert [o.label for o in read_round({"questions": STRINGIFIED}).questions[0].options][:2] == [
        "SQLite file",
        "Postgres server",
    ]
    assert refused({"questions": STRINGIFIED.replace('"recommended":1', '"recommended":"B"')}) == {
        ("questions[0].why_it_matters", "missing_why"),
        ("questions[0].recommendation_rationale", "missing_rationale"),
    }


def test_a_comma_string_is_not_guessed_at() -> None:
    """b05, second step."""
    found = findings({"questions": [{"topic": "Storage engine", "options": "SQLite file, Postgres server"}]})
    assert found["questions[0].options"] == {"not_a_list"}
    assert found["questions[0].why_it_matters"] == {"missing_why"}
    assert read_round({"questions": [{"options": "A, B"}]}).questions[0].options == ()
    assert findings({"questions": "Storage engine, Backups"}) == {"questions": {"not_a_list"}}


def test_every_useless_option_is_named_with_its_path() -> None:
    """b05, third step."""
    options = [{"label": "SQLite file", "description": "one file"}, {"value": "pg"}, {}, None]
    found = findings({"questions": [{"topic": "Storage engine", "options": options}]})
    for number in (1, 2, 3):
        assert "empty_label" in found[f"questions[0].options[{number}]"]
    assert found["questions[0].options[0].description"] == {"unknown_key"}
    assert found["questions[0].options[1].value"] == {"unknown_key"}
    message = next(
        f.message for f in read_round({"questions": [{"options": options}]}).findings if f.code == "empty_label"
    )
    assert message.startswith("no label")


def test_a_round_that_points_elsewhere_is_refused() -> None:
    """b05, fourth step: the real questions are not in it."""
    row = {"topic": "Questions", "prompt": "Please see my three questions above.", "options": ["See my questions"]}
    codes = {code for _, code in refused({"questions": [row]})}
    assert codes >= {"too_few_options", "points_elsewhere", "missing_why"}


def test_an_empty_list_and_an_undeclared_open_question_are_refused() -> None:
    """b05, fifth step."""
    assert refused({"questions": []}) == {("questions", "empty_round")}
    bare = {"topic": "Name of the service", "why_it_matters": "It is printed on the report."}
    assert refused({"questions": [bare]}) == {("questions[0]", "too_few_options")}
    assert refused({"questions": [bare | {"form": "open"}]}) == set()


def test_a_complete_round_is_read() -> None:
    data = json.loads((ROUNDS / "r3.json").read_text(encoding="utf-8"))
    read = read_round(data)
    assert not read.refused
    assert [(o.key, o.label, o.recommended, o.other) for o in read.questions[0].options] == [
        ("A", "SQLite file", False, False),
        ("B", "Postgres server", True, False),
        ("C", "Plain folder", False, False),
        ("D", "Other — let me describe it", False, True),
    ]
    good = json.loads((ROUNDS / "good.json").read_text(encoding="utf-8"))
    assert read_round(good, SPEC).findings == ()
    assert read_round(good["questions"], SPEC).findings == ()


@pytest.mark.parametrize(
    ("change", "path", "code"),
    [
        ({"topic": 5}, "questions[0].topic", "wrong_type"),
        ({"recommended": "Z"}, "questions[0].recommended", "unknown_option"),
        ({"grounding": "x"}, "questions[0].grounding", "wrong_type"),
        ({"grounding": {"kind": "hunch"}}, "questions[0].grounding", "wrong_type"),
        ({"form": "poll"}, "questions[0].form", "unknown_form"),
        ({"form": ["open"]}, "questions[0].form", "unknown_form"),
        ({"stakes": {}}, "questions[0].stakes", "unknown_value"),
        ({"optional": "yes"}, "questions[0].optional", "wrong_type"),
        ({"why": "x"}, "questions[0].why", "unknown_key"),
        ({"options": 3}, "questions[0].options", "not_a_list"),
        ({"options": [1, 2]}, "questions[0].options[0]", "wrong_type"),
        ({"colour": "red"}, "questions[0].colour", "unknown_key"),
    ],
)
def test_other_wrong_shapes(change: dict[str, Any], path: str, code: str) -> None:
    row = json.loads((ROUNDS / "good.json").read_text(encoding="utf-8"))["questions"][0]
    assert code in findings({"questions": [row | change]})[path]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.just(STRINGIFIED)
    | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["questions", "topic", "options", "label", "recommended", "grounding", "why", "x", "key"]
            ),
            inner,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_anything_can_be_filed(data: object) -> None:
    read = read_round(data)
    assert all(isinstance(f, Finding) for f in read.findings)
    assert read.refused or read.questions


# -- files ---------------------------------------------------------------------------------------------------------


def test_a_round_in_a_file_has_lines(tmp_path: Path) -> None:
    text = (
        (ROUNDS / "good.json").read_text(encoding="utf-8").replace("Last 5 years", "").replace("Sets the", "").strip()
    )
    text = text.replace('" search filter."', '""')
    problems = check(tmp_path, "round.json", text)
    assert told(problems) == [("round.json", 6, "missing_why"), ("round.json", 8, "empty_label")]
    assert problems[1].message.startswith("questions[0].options[0]: no label")


def test_a_bare_list_and_many_rounds_in_one_file(tmp_path: Path) -> None:
    rows = json.loads((ROUNDS / "good.json").read_text(encoding="utf-8"))["questions"]
    rows[0]["why_it_matters"] = ""
    assert told(check(tmp_path, "a.json", json.dumps(rows, indent=1))) == [("a.json", 5, "missing_why")]
    lines = "\n".join(["", json.dumps(rows), '{"questions": []}', "{"])
    assert told(check(tmp_path, "a.jsonl", lines)) == [
        ("a.jsonl", 2, "missing_why"),
        ("a.jsonl", 3, "empty_round"),
        ("a.jsonl", 4, "broken_json"),
    ]


@pytest.mark.parametrize(
    "data", [{"a": [1, {"b": 'x"y, [z', "c": {}}], "d": []}, [[], [{}]], "x", 5, None, {"": {"a.b": 1}}]
)
def test_lines_of_any_json(data: object) -> None:
    lines = lines_of(json.dumps(data, indent=2))
    assert lines[""] == 1
    assert line_of("a[1].nothing[5]", lines) in lines.values()


def test_lines_of_the_parts_of_a_round() -> None:
    lines = lines_of('{"questions": [\n{"topic": "a,b",\n"options": ["x",\n"y",\n{"label": 1}]},\n{}]}')
    assert {path: line for path, line in lines.items() if path} == {
        "questions": 1,
        "questions[0]": 2,
        "questions[0].topic": 2,
        "questions[0].options": 3,
        "questions[0].options[0]": 3,
        "questions[0].options[1]": 4,
        "questions[0].options[2]": 5,
        "questions[0].options[2].label": 5,
        "questions[1]": 6,
    }


def test_the_bundled_configuration_has_no_problem_of_ours() -> None:
    """Every playbook belongs to a workflow of its pack."""
    problems = check_paths([ROOT / "config/packs/research", ROOT / "config/packs/triage"])
    assert [str(p) for p in problems if "playbooks" in p.file] == []


def test_a_folder_is_walked(tmp_path: Path) -> None:
    for name in ("good", "two_recommended"):
        target = tmp_path / "pack" / "playbooks" / f"{name}.yaml"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PLAYBOOKS / f"{name}.yaml", target)
    shutil.copy(ROUNDS / "good.json", tmp_path / "round.json")
    (tmp_path / "notes.txt").write_text("not looked at", encoding="utf-8")
    (tmp_path / "chat.jsonl").write_text('{"text": "hi"}\n["no", "round"]\n', encoding="utf-8")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert told(check_paths([tmp_path])) == [
        ("two_recommended.yaml", 2, "duplicate_workflow"),
        ("two_recommended.yaml", 11, "two_recommended"),
    ]


def small_pack(folder: Path) -> Path:
    (folder / "triggers").mkdir(parents=True)
    (folder / "playbooks").mkdir()
    menus = {name: [] if name == "stage" else "a" for name, f in Menus.model_fields.items() if f.is_required()}
    (folder / "menus.yaml").write_text(yaml.safe_dump(menus), encoding="utf-8")
    (folder / "pack.yaml").write_text("name: small\ntitle: Small\n", encoding="utf-8")
    (folder / "routes.yaml").write_text("workflows:\n  - {id: a/b, title: B}\n", encoding="utf-8")
    (folder / "triggers" / "en.yaml").write_text("language: en\n", encoding="utf-8")
    return folder


def test_a_pack_is_checked_whole_and_its_playbooks_against_its_routes(tmp_path: Path) -> None:
    pack = small_pack(tmp_path / "small")
    text = (PLAYBOOKS / "good.yaml").read_text(encoding="utf-8")
    (pack / "playbooks" / "b.yaml").write_text(text.replace("academic-paper/lit-review", "a/b"), encoding="utf-8")
    assert told(check_paths([pack])) == []
    (pack / "playbooks" / "poem.yaml").write_text(text.replace("lit-review", "poem"), encoding="utf-8")
    assert told(check_paths([pack])) == [("poem.yaml", 2, "unknown_workflow")]
    (pack / "routes.yaml").write_text("workflows:\n  - {id: a/b, title: B}\nsurprise: 1\n", encoding="utf-8")
    assert told(check_paths([pack / "triggers" / "en.yaml"])) == [("routes.yaml", 3, "config")]
    (pack / "menus.yaml").write_text("a: &a 1\nb: *a\n", encoding="utf-8")
    assert told(check_paths([pack])) == [("menus.yaml", 1, "alias")]


def test_phrase_files_are_checked_by_their_loader(tmp_path: Path) -> None:
    """RT-12."""
    problems = check(tmp_path, "phrases/xx.yaml", "nonsense: [a]\n")
    assert [(p.line, p.code) for p in problems] == [(1, "config")]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.yaml", b"\xff\xfe\x00\x01", "not_text"),
        ("a.json", b"\x89PNG\r\n\x1a\n\x00", "not_text"),
        ("a.yaml", b"a: b\x00c\n", "not_text"),
        ("a.yaml", b"a: b\x07c\n", "broken_yaml"),
        ("playbooks/a.yaml", b"", "empty"),
        ("playbooks/a.yaml", b"\xef\xbb\xbf# only a remark\n", "empty"),
        ("a.yaml", b"", "unknown_kind"),
        ("a.yaml", b"a: &x [1]\nb: [*x, *x]\n", "alias"),
        ("a.yaml", b"[" * 100_000, "too_deep"),
        ("a.yaml", b"- " * 50_000, "too_deep"),
        ("a.yaml", b"{a: " * 30_000, "too_deep"),
        ("a.yaml", b"? " * 30_000, "too_deep"),
        ("a.yaml", b"x" * 600_000, "too_large"),
        ("a.json", b"[" * 100_000, "too_deep"),
        ("a.json", b"[" * 900 + b"]" * 900, "wrong_type"),
        ("a.json", b"", "broken_json"),
        ("a.json", b"9" * 5000, "broken_json"),
        ("a.json", b'{"questions": {"a": 1}}', "not_a_list"),
        ("a.json", b'{"topic": "x"}', "missing_questions"),
        ("a.json", b'["\\ud800"]', "wrong_type"),
        ("a.yaml", b'a: "\\ud800"\n', "unknown_kind"),
        ("a.yaml", b"a: 0b_\nb: 2020-99-99\n", "unknown_kind"),
        ("a.txt", b"hello", "unknown_kind"),
        ("routes.yaml", b"[]", "config"),
        ("triggers/en.yaml", b"a: {b: {c: [1]}}", "config"),
    ],
)
def test_no_file_crashes_it(tmp_path: Path, name: str, content: bytes, code: str) -> None:
    problems = check(tmp_path, name, content)
    assert code in {p.code for p in problems}
    assert all(p.line >= 0 and p.message for p in problems)


def test_a_missing_file_and_an_impossible_name(tmp_path: Path) -> None:
    assert [p.code for p in check_paths([tmp_path / "none.yaml"])] == ["not_found"]
    assert [p.code for p in check_paths([Path("a\0b.yaml")])] in (["unreadable"], ["not_found"])


def test_a_folder_with_nothing_to_check_is_no_success(tmp_path: Path) -> None:
    """A mistyped folder must not look like a pack without mistakes."""
    (tmp_path / "notes.txt").write_text("hello")
    assert [p.code for p in check_paths([tmp_path])] == ["nothing_here"]


NAMES = ["a.yaml", "playbooks/a.yaml", "a.json", "a.jsonl", "triggers/en.yaml", "phrases/en.yaml"]
BYTES = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")),
    st.lists(st.sampled_from(["a", ": ", "- ", "\n", "  ", "[", "]", "{", "}", '"', "'", "&x ", "*x", "!!set ", "? ", "|", "questions", "options", "known", "A", "#", ",", "---\n"]), max_size=60).map(lambda parts: "".join(parts).encode()),  # noqa: E501
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    BYTES, st.sampled_from(["a.yaml", "playbooks/a.yaml", "a.json", "a.jsonl", "triggers/en.yaml", "phrases/en.yaml"])
)
def test_any_bytes_can_be_checked(tmp_path: Path, content: bytes, name: str) -> None:
    for problem in check(tmp_path, name, content):
        assert problem.line >= 0


LINES = ["x", "x: y", "- z", "  A: [", "    known: {A: 3}", "", "    options: x", "\ta"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 40),
    st.sampled_from(["x", "x: y", "- z", "  A: [", "    known: {A: 3}", "", "    options: x", "\ta"]),
)
def test_a_playbook_with_any_line_replaced_can_be_checked(tmp_path: Path, number: int, line: str) -> None:
    lines = (PLAYBOOKS / "good.yaml").read_text(encoding="utf-8").splitlines()
    lines[number % len(lines)] = line
    for problem in check(tmp_path, "playbooks/a.yaml", "\n".join(lines)):
        assert 0 <= problem.line <= len(lines) + 1
