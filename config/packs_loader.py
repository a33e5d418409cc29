"""Reads a pack's folder: `pack.yaml`, `routes.yaml`, `phases.yaml`, `menus.yaml`, `triggers/*.yaml`.

A pack can take in workflows that several packs share: `include: [spec]` reads `part.yaml` of the folder beside it, or
of the one that ships with the program. A workflow that the pack lists itself stands as it is there.

All mistakes are told at once, each as `file:line: what is wrong`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from bot.core.model import Model
from bot.core.routing.languages import Language, compile_languages
from bot.core.routing.pack import GENERAL_COMMANDS, Menus, Pack, PhaseRules, Workflow, command_form
from bot.core.routing.phrases import Lexicon
from config.yaml_nodes import Notes, compose, read_text

BUNDLED = Path(__file__).parent / "packs"

M = TypeVar("M", bound=Model)


class PackRefused(Exception):
    """`problems`: one line each, `file:line: what is wrong`."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problems))


class PackFile(Model):
    name: str
    title: str
    include: tuple[str, ...] = ()  # neighbouring folders with a `part.yaml`, or bundled ones
    marks_from: str | None = None  # the neighbouring pack whose languages' marks (negation, topics, …) are used too


class RoutesFile(Model):
    workflows: tuple[Workflow, ...]


class PartFile(Model):
    """`part.yaml`: workflows for any pack, the commands inside their sessions, and how people ask for them."""

    workflows: tuple[Workflow, ...]
    session_commands: tuple[str, ...] = ()
    languages: tuple[Language, ...] = ()


class Source:
    """One YAML file with the lines of its parts. `read` holds the files read before, for a neighbour's marks."""

    def __init__(self, path: Path, problems: list[str], read: dict[Path, yaml.Node | None]) -> None:
        self.path, self.problems = path, problems
        self.data: Any = None
        if path not in read:
            notes = Notes(str(path))
            text = read_text(path, notes)
            node = None if text is None else compose(text, notes)
            problems += [f"{path}:{max(problem.line, 1)}: {problem.message}" for problem in notes.problems]
            if not notes.problems:
                read[path] = node
        self.node = read.get(path)
        if self.node is not None:
            try:
                self.data = yaml.constructor.SafeConstructor().construct_document(self.node)
            except yaml.MarkedYAMLError as wrong:
                mark = wrong.problem_mark
                problems.append(f"{path}:{mark.line + 1 if mark else 1}: {wrong.problem or 'no YAML'}")
            except ValueError as wrong:  # 2026-13-01 is no date, and a number may have too many digits
                self.report((), f"holds a value that can not be read: {wrong}")
        for line, key in _twice(self.node):
            problems.append(f"{path}:{line}: {key!r} occurs twice; the first one would be lost")

    def line(self, where: tuple[int | str, ...]) -> int:
        node = self.node
        line = node.start_mark.line + 1 if node is not None else 1
        for step in where:
            node = _child(node, step)
            if node is None:
                break
            line = node.start_mark.line + 1
        return line

    def report(self, where: tuple[int | str, ...], message: str) -> None:
        self.problems.append(f"{self.path}:{self.line(where)}: {message}")

    def read(self, kind: type[M]) -> M | None:
        if self.data is None:
            if self.node is None and not any(p.startswith(f"{self.path}:") for p in self.problems):
                self.report((), "is empty")
            return None
        try:
            return kind.model_validate(self.data)
        except ValidationError as wrong:
            for error in wrong.errors():
                where = error["loc"]
                name = ".".join(str(part) for part in where)
                self.report(where, f"{name}: {error['msg']}" if name else error["msg"])
            return None


def load_packs(folders: Iterable[Path]) -> dict[str, Pack]:
    """Packs by name. A file that two of them use is read once. Raises PackRefused with the mistakes of all."""
    read: dict[Path, yaml.Node | None] = {}
    packs: dict[str, Pack] = {}
    problems: list[str] = []
    for folder in folders:
        try:
            pack = load_pack(folder, read)
        except PackRefused as refused:
            problems += [problem for problem in refused.problems if problem not in problems]
        else:
            if pack.name in packs:
                problems.append(
                    f"{folder / 'pack.yaml'}:1: another pack is named {pack.name!r} too; rename one of them"
                )
            packs[pack.name] = pack
    if problems:
        raise PackRefused(problems)
    return packs


def load_pack(folder: Path, read: dict[Path, yaml.Node | None] | None = None) -> Pack:
    """Raises PackRefused with every mistake found. `read`: files that are known already."""
    problems: list[str] = []
    read = {} if read is None else read
    head = Source(folder / "pack.yaml", problems, read)
    routes = Source(folder / "routes.yaml", problems, read)
    phases = Source(folder / "phases.yaml", problems, read) if (folder / "phases.yaml").exists() else None
    menus = Source(folder / "menus.yaml", problems, read)
    tongues = [Source(path, problems, read) for path in sorted((folder / "triggers").glob("*.yaml"))]

    about, listed, shown = head.read(PackFile), routes.read(RoutesFile), menus.read(Menus)
    rules = phases.read(PhaseRules) if phases else PhaseRules()
    languages = [(source, source.read(Language)) for source in tongues]
    parts = _parts_of(folder, head, about.include, read) if about else []
    if listed:
        own = {w.id for w in listed.workflows}
        shared = tuple(w for _, part in parts for w in part.workflows if w.id not in own)
        listed = RoutesFile(workflows=(*listed.workflows, *shared))
        _check_routes(routes, listed, rules)
        known = {w.id for w in listed.workflows}
        if shown:
            _check_menus(menus, shown, known)
        for source, language in languages:
            if language:
                _check_language(source, language, known)
    if not tongues:
        problems.append(f"{folder / 'triggers'}:1: holds no language; add one file a language, e.g. en.yaml")
    languages += [(source, language) for source, part in parts for language in part.languages]
    if about and about.marks_from:
        languages += _marks_of(_neighbour(folder, about.marks_from), head, read)
    lexicon = _compiled([(s, lang) for s, lang in languages if lang], problems)
    if problems or about is None or listed is None or shown is None or rules is None:
        raise PackRefused(problems)
    pack = Pack(
        name=about.name,
        title=about.title,
        session_commands=tuple(dict.fromkeys(c for _, part in parts for c in part.session_commands)),
        workflows=listed.workflows,
        phases=rules,
        menus=shown,
        languages=tuple(lang for _, lang in languages if lang),
    )
    vars(pack)["lexicon"] = lexicon  # where its cached_property keeps it: compiled to be checked, kept to be used
    return pack


def load_part(path: Path) -> PartFile:
    """One `part.yaml` alone. Raises PackRefused with every mistake found."""
    problems: list[str] = []
    source = Source(path, problems, {})
    part = source.read(PartFile)
    if part is not None:
        _check_part(source, part)
    if problems or part is None:
        raise PackRefused(problems)
    return part


def _neighbour(folder: Path, name: str) -> Path:
    """A folder that the pack names: beside its own, else among the bundled ones."""
    own = folder.parent / name
    return own if own.is_dir() else BUNDLED / name


def _parts_of(
    folder: Path, head: Source, names: Sequence[str], read: dict[Path, yaml.Node | None]
) -> list[tuple[Source, PartFile]]:
    """The shared workflows that a pack takes in."""
    found: list[tuple[Source, PartFile]] = []
    for place, name in enumerate(names):
        path = _neighbour(folder, name) / "part.yaml"
        if not path.is_file():
            why = "`include` names a folder beside this pack's, or a bundled one"
            head.report(("include", place), f"there is no {folder.parent / name / 'part.yaml'}; {why}")
            continue
        source = Source(path, head.problems, read)
        part = source.read(PartFile)
        if part is not None:
            _check_part(source, part)
            found.append((source, part))
    return found


def _check_part(source: Source, part: PartFile) -> None:
    known = {w.id for w in part.workflows}
    _check_routes(source, RoutesFile(workflows=part.workflows), None)
    for place, language in enumerate(part.languages):
        _check_language(source, language, known, ("languages", place))
    for place, command in enumerate(part.session_commands):
        if command != command_form(command) or command in GENERAL_COMMANDS:
            source.report(("session_commands", place), f"{command!r} can not be a command of a session")


def _marks_of(
    neighbour: Path, head: Source, read: dict[Path, yaml.Node | None]
) -> list[tuple[Source, Language | None]]:
    """The marks of the neighbour's languages, and nothing else of them."""
    paths = sorted((neighbour / "triggers").glob("*.yaml"))
    if not paths:
        head.report(("marks_from",), f"there is no pack with languages at {neighbour}")
    found: list[tuple[Source, Language | None]] = []
    for path in paths:
        source = Source(path, head.problems, read)
        language = source.read(Language)
        if language and (language.marks or language.fold):
            bare = Language(language=language.language, gaps=language.gaps, fold=language.fold, marks=language.marks)
            found.append((source, bare))
    return found


def _check_routes(source: Source, listed: RoutesFile, rules: PhaseRules | None) -> None:
    ids: set[str] = set()
    commands: dict[str, str] = {}
    defaults: dict[int, str] = {}
    known = {w.id for w in listed.workflows}
    numbers = {p.number for p in rules.phases} if rules else set()
    for place, workflow in enumerate(listed.workflows):
        at = ("workflows", place)
        if workflow.id in ids:
            source.report((*at, "id"), f"workflow {workflow.id} is listed twice")
        ids.add(workflow.id)
        for number, command in enumerate(workflow.commands):
            where = (*at, "commands", number)
            if command != command_form(command):
                source.report(where, f"write the command {command!r} as {command_form(command)!r}")
            if command in commands or command in GENERAL_COMMANDS:
                owner = commands.get(command, "the bot itself")
                source.report(where, f"the command {command!r} already belongs to {owner}")
            commands[command] = workflow.id
        phase = workflow.default_for_phase
        if phase is not None:
            line = (*at, "default_for_phase")
            if phase in defaults:
                source.report(line, f"phase {phase} already has the default {defaults[phase]}")
            if rules and phase not in numbers:
                source.report(line, f"phase {phase} is not in phases.yaml")
            defaults[phase] = workflow.id
        for number, other in enumerate(workflow.covers):
            if other not in known:
                source.report((*at, "covers", number), f"there is no workflow {other!r}")
    for number in sorted(numbers - defaults.keys()):
        source.report(("workflows",), f"phase {number} has no default workflow (default_for_phase)")


def _check_menus(source: Source, menus: Menus, known: set[str]) -> None:
    named: list[tuple[tuple[int | str, ...], str]] = [
        *((("stage", i, "workflow"), line.workflow) for i, line in enumerate(menus.stage) if line.workflow),
        *((("rules", i, "options", j), o) for i, r in enumerate(menus.rules) for j, o in enumerate(r.options)),
        *((("offers", phase, j), o) for phase, row in menus.offers.items() for j, o in enumerate(row)),
        *((("one_paper", j), o) for j, o in enumerate(menus.one_paper)),
    ]
    if menus.whole:
        named.append((("whole",), menus.whole))
    for place, identity in named:
        if identity not in known:
            source.report(place, f"there is no workflow {identity!r}")
    if len(menus.stage) > 4:
        source.report(("stage",), "a menu has at most four lines")
    for number, rule in enumerate(menus.rules):
        if len(rule.options) > 3:
            source.report(("rules", number, "options"), "at most three options, and something else")
        if menus.whole and len(rule.phases) > 1 and menus.whole not in rule.options:
            source.report(("rules", number, "options"), f"{menus.whole} must be among them when phases are mixed")


def _check_language(source: Source, language: Language, known: set[str], at: tuple[int | str, ...] = ()) -> None:
    for table, entries in (
        ("triggers", language.triggers),
        ("negative", language.negative),
        ("names", language.names),
    ):
        for identity in entries:
            if identity and identity not in known:
                source.report((*at, table, identity), f"there is no workflow {identity!r}")
    for number, pair in enumerate(language.fold):
        if len(pair) != 2:
            source.report((*at, "fold", number), f"{pair!r}: two characters, the second is what the first is read as")


def _compiled(languages: list[tuple[Source, Language]], problems: list[str]) -> Lexicon | None:
    """The phrases of all languages, or None with the reason noted."""
    if problems:
        return None
    try:
        return compile_languages([language for _, language in languages])
    except ValueError as wrong:
        name = str(wrong).partition(":")[0]
        phrase = str(wrong).split("'")[1] if "'" in str(wrong) else ""
        sources = [s for s, lang in languages if lang.language == name] or [languages[0][0]]
        holding = [(s, n) for s in sources for n, t in _numbered(s.path) if phrase and phrase in t]
        source, line = holding[0] if holding else (sources[0], 1)
        problems.append(f"{source.path}:{line}: {wrong}")
        return None


def _numbered(path: Path) -> Iterator[tuple[int, str]]:
    yield from enumerate(path.read_text(encoding="utf-8").splitlines(), 1)


def _child(node: yaml.Node | None, step: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        child: yaml.Node = node.value[step]
        return child
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                found: yaml.Node = value
                return found
    return None


def _twice(node: yaml.Node | None) -> Iterator[tuple[int, str]]:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if str(key.value) in seen:
                yield key.start_mark.line + 1, str(key.value)
            seen.add(str(key.value))
            yield from _twice(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _twice(item)
