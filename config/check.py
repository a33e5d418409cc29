"""`askfirst check PATH…`: everything that is wrong with playbooks, packs and filed rounds, by file and line.

Any file may be handed in, broken ones above all: nothing here raises because of what a file holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, ScalarNode

from bot.core.filed import read_round
from bot.core.routing.pack import Pack
from config.commands_loader import CommandFileError, load_commands
from config.json_lines import line_of, lines_of
from config.packs_loader import PackRefused, load_pack, load_part
from config.phrases_loader import load_phrases
from config.playbooks_loader import read_playbook
from config.problems import Problem
from config.times_loader import load_times
from config.word_files import PhraseFileError
from config.yaml_nodes import Notes, compose, read_text

_YAML = (".yaml", ".yml")
_JSON = (".json", ".jsonl")
_PACK = ("pack.yaml", "routes.yaml", "phases.yaml", "menus.yaml")
_SKIPPED = (".git", ".venv", "node_modules", "__pycache__")


def check_paths(paths: Sequence[Path], *, deny: Sequence[str] = ()) -> list[Problem]:
    """Every problem of the files and folders, sorted by place. Empty = fine."""
    files: dict[Path, bool] = {}  # file -> named by the caller, so that an unknown kind must be told
    packs: set[Path] = set()
    problems: list[Problem] = []
    for path in paths:
        try:
            found = [path] if not path.is_dir() else list(_walk(path))
            exists = path.exists()
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            problems.append(Problem(str(path), 0, "refused", "unreadable", f"this can not be opened: {error}"))
            continue
        if not exists:
            problems.append(Problem(str(path), 0, "refused", "not_found", "there is no such file or folder"))
            continue
        if not found:
            problems.append(Problem(str(path), 0, "refused", "nothing_here", "no YAML or JSON file is in it"))
        for file in found:
            files.setdefault(file, path == file)
    for file, named in files.items():
        pack = _pack_of(file)
        if pack is not None:
            packs.add(pack)
        elif _loader_of(file) is None:
            problems += _check_file(file, deny, named=named)
    routes: dict[Path, frozenset[str]] = {}
    for pack in packs:
        told, routes[pack] = _check_pack(pack)
        problems += told
    for folder in {f.parent for f in files if _loader_of(f)}:
        problems += _check_words(folder)
    problems += _check_workflows(sorted(files), routes)
    return sorted(set(problems))


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in _SKIPPED or path.is_symlink():  # a link may lead in a circle
            continue
        if path.is_dir():
            yield from _walk(path)
        elif path.suffix in (*_YAML, *_JSON):
            yield path


def _pack_of(file: Path) -> Path | None:
    """The pack that a file of routes, phases, menus or triggers belongs to."""
    if file.name in _PACK:
        return file.parent
    if file.parent.name == "triggers" and file.suffix in _YAML:
        return file.parent.parent
    return None


def _check_file(file: Path, deny: Sequence[str], *, named: bool) -> list[Problem]:
    if file.suffix in _JSON:
        return _check_rounds(file, deny, named=named)
    notes = Notes(str(file))
    text = read_text(file, notes)
    if text is None:
        return notes.problems
    if file.suffix not in _YAML:
        if text.lstrip().startswith(("{", "[")):
            return _check_rounds(file, deny, named=True)
        notes.refuse(0, "unknown_kind", "this is no YAML or JSON file: a playbook ends in .yaml, a round in .json")
        return notes.problems
    if file.name == "part.yaml":
        return _harmful([file]) or _loaded(file, lambda: load_part(file))
    if file.parent.name == "playbooks":
        return read_playbook(file, deny=deny).problems
    root = compose(text, notes)
    if notes.problems:
        return notes.problems
    keys = (
        {key.value for key, _ in root.value if isinstance(key, ScalarNode)}
        if isinstance(root, MappingNode)
        else set()
    )
    if keys & {"questions", "purpose"}:
        return read_playbook(file, deny=deny).problems
    if named:
        notes.refuse(1, "unknown_kind", "this is neither a playbook (workflow, questions) nor a part of a pack")
    return notes.problems


def _check_pack(folder: Path) -> tuple[list[Problem], frozenset[str]]:
    """What the pack's own loader says, and the workflows that it routes to."""
    found: list[Pack] = []
    files = [folder / name for name in _PACK] + sorted((folder / "triggers").glob("*.yaml"))
    problems = _harmful(files) or _loaded(folder / "pack.yaml", lambda: found.append(load_pack(folder)))
    return problems, frozenset(workflow.id for pack in found for workflow in pack.workflows)


def _loader_of(file: Path) -> Callable[[Path], object] | None:
    """Of a folder with one file a language (RT-12)."""
    return _WORDS.get(file.parent.name) if file.suffix == ".yaml" else None


_WORDS: dict[str, Callable[[Path], object]] = {
    "phrases": load_phrases,
    "commands": load_commands,
    "times": load_times,
}


def _check_words(folder: Path) -> list[Problem]:
    """What the loader of such files says."""
    load = _WORDS[folder.name]
    return _harmful(sorted(folder.glob("*.yaml"))) or _loaded(folder, lambda: load(folder))


def _harmful(files: Sequence[Path]) -> list[Problem]:
    """What must be told before a loader that expands aliases, or recurses, is started on these files."""
    problems: list[Problem] = []
    for file in files:
        if file.exists():
            notes = Notes(str(file))
            text = read_text(file, notes)
            if text is not None:
                compose(text, notes)
            problems += notes.problems
    return problems


def _loaded(where: Path, load: Callable[[], object]) -> list[Problem]:
    try:
        load()
    except (PackRefused, PhraseFileError, CommandFileError) as refused:
        return [_told(line, where) for line in str(refused).splitlines()]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OSError, yaml.YAMLError) as error:
        text = f"this can not be read: {type(error).__name__}: {str(error)[:200]}"
        return [Problem(str(where), 0, "refused", "unreadable", text)]
    return []


def _told(line: str, where: Path) -> Problem:
    """`file:line: what is wrong`, as the loaders write it. The file name may hold colons."""
    head, _, message = line.partition(": ")
    file, _, number = head.rpartition(":")
    if not file or not number.isdecimal():
        return Problem(str(where), 0, "refused", "config", line)
    return Problem(file, int(number), "refused", "config", message)


def _check_workflows(files: Sequence[Path], routes: Mapping[Path, frozenset[str]]) -> list[Problem]:
    """A playbook is for a workflow that its pack routes to, and is its only one."""
    problems: list[Problem] = []
    seen: dict[tuple[Path, str], Path] = {}
    for file in files:
        if file.parent.name != "playbooks" or file.suffix not in _YAML:
            continue
        read = read_playbook(file)
        if read.playbook is None:
            continue
        workflow = read.playbook.workflow
        first = seen.setdefault((file.parent, workflow), file)
        if first != file:
            text = f"{first.name} already has the playbook of {workflow}; keep one of them"
            problems.append(Problem(str(file), read.line, "refused", "duplicate_workflow", text))
        known = routes.get(file.parent.parent)
        if known and workflow not in known:
            text = f"{workflow} is not among the pack's routes; check the spelling, or add it to routes.yaml"
            problems.append(Problem(str(file), read.line, "refused", "unknown_workflow", text))
    return problems


# -- rounds as JSON -----------------------------------------------------------------------------------------------


def _check_rounds(file: Path, deny: Sequence[str], *, named: bool) -> list[Problem]:
    """A file that the caller did not name is passed over where it does not look like a round at all."""
    notes = Notes(str(file))
    text = read_text(file, notes)
    if text is None:
        return notes.problems
    if file.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                _check_round(line, number - 1, notes, deny, named=named)
    else:
        _check_round(text, 0, notes, deny, named=named)
    return notes.problems


def _check_round(text: str, above: int, notes: Notes, deny: Sequence[str], *, named: bool) -> None:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        notes.refuse(above + error.lineno, "broken_json", f"not valid JSON: {error.msg} (column {error.colno})")
        return
    except RecursionError:
        notes.refuse(above + 1, "too_deep", "nested too deeply; a round has five levels")
        return
    except ValueError as error:  # a number of thousands of digits
        notes.refuse(above + 1, "broken_json", f"not valid JSON: {error}")
        return
    if not named and not _round_like(data):
        return
    lines = lines_of(text)
    prefix = "" if isinstance(data, dict) else "questions"
    for finding in read_round(data, deny=deny).findings:
        line = above + line_of(finding.path.removeprefix(prefix), lines)
        where = f"{finding.path}: {finding.message}"
        (notes.refuse if finding.level == "refused" else notes.warn)(line, finding.code, where)


def _round_like(data: object) -> bool:
    if isinstance(data, list):
        return any(isinstance(row, dict) and {"topic", "options"} & row.keys() for row in data)
    return isinstance(data, dict) and "questions" in data
