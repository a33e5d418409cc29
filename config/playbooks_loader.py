"""Playbooks from YAML files, with every mistake told at once by file and line.

One file is one playbook:

    workflow: academic-paper/lit-review
    title: Literature review
    purpose: They decide what is searched; nothing starts before you answer.
    questions:
      - id: years
        topic: Years to cover
        why: Sets the search filters and how much there is to screen.
        options:
          A: Last 5 years — quick; misses the founding papers
          B: Last 10 years — most methods in use; more to screen
        recommended: B
        because: Screening time grows with every year, and …
        grounding: {kind: constraint, reference: time to screen}
        field: search.years            # the empty field that it fills (RD-5)
        changes: search protocol       # the document that changes with the answer (RD-5)
        stakes: critical               # or minor (the default)
        known:                         # what a request may already say; see bot/core/stated
          A: [papers from the last 5 years]
          as_said: ["papers|studies published? since {year}"]
        known_from_phases: [2]         # settled by a file of that phase
        known_from_files: true         # settled by any document (PDF, Word, Markdown, …)
        known_from_paste: [comments]   # settled by a pasted text that these words introduce

"Other, I'll describe it" is added as the last option where the policy requires it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from yaml.nodes import MappingNode, Node, ScalarNode

from bot.core.files import KINDS as FILE_KINDS
from bot.core.files import FileKind
from bot.core.lints import is_other, lint_bank
from bot.core.model import Form, Grounding, Option, Question
from bot.core.playbook import Default, Entry, Known, Playbook
from bot.core.policies import POLICIES
from bot.core.spec import TIERS
from bot.core.stated import phrase
from config.problems import Problem, Unloadable
from config.yaml_nodes import (
    Notes,
    compose,
    elements,
    items,
    kind,
    known_keys,
    read_text,
    text_of,
    truth_of,
)

OTHER = "Other, I'll describe it"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

# The keys of a file and what they are for; docs/reference/playbooks.md is made from them.
PLAYBOOK: Mapping[str, str] = {
    "workflow": "the workflow that it belongs to, as in the pack's routes.yaml",
    "title": "stands above the card",
    "purpose": "one sentence under the title: what the answers decide",
    "policy": f"one of {', '.join(POLICIES)}; `playbook` if left out",
    "fetch": f"kinds of files to download and check: a list of {', '.join(FILE_KINDS)}; none if left out",
    "questions": "the list of questions, in the order in which they are asked",
}
QUESTION: Mapping[str, str] = {
    "id": "a short name that stays when the wording changes",
    "form": "`choice` (if left out), `open` for own words, or `validate` for a statement to confirm",
    "topic": "the decision, in 3 to 6 words",
    "text": "the question in full, where the topic does not say it",
    "why": "one sentence: which document or decision changes with the answer",
    "options": "`A: label — what is gained; what is lost`, or label and tradeoff as keys; Other is added by itself",
    "recommended": "the letter of the recommended option",
    "because": "the reason for the recommendation, pointing to the case at hand",
    "grounding": "what that reason rests on; see below",
    "stakes": "`critical` or `minor` (if left out): critical questions are asked first when a round is full",
    "optional": "`true` if it may be skipped",
    "field": "the empty field that the answer fills; without it nobody is asked",
    "changes": "the document that changes with the answer; without it nobody is asked",
    "known": "by option letter (or `as_said`, for an open answer): phrases of a request that already answer it",
    "known_from_phases": "numbers of phases; a file of one of them answers it",
    "known_from_files": "`true` if any document that was sent answers it: PDF, Word, Markdown, LaTeX, plain text",
    "known_from_paste": "words that introduce a pasted text which answers it",
    "sets": "by option letter: what the state holds when it is chosen, where that is not the label",
    "tiers": "the tiers at which a specification asks it; all if left out",
    "by_tier": "by tier: `B — the reason`, the recommendation where it depends on the tier",
    "inherits": "a field: the option that holds the value decided for it is recommended here",
    "depends": "fields of the locked scope: when one changes, the question is asked again",
    "against": "by option letter: a list of `field=value` that the option contradicts",
}
GROUNDING: Mapping[str, str] = {
    "kind": "what the reason is; see the list",
    "reference": "where it can be looked up, or whom it concerns",
}
OPTION: Mapping[str, str] = {"label": "what is chosen", "tradeoff": "what is gained and what is lost"}
KINDS = get_args(Grounding.model_fields["kind"].annotation)
_STAKES = get_args(Question.model_fields["stakes"].annotation)
FORMS = get_args(Form)


@dataclass
class Read:
    """One file as read. `playbook` is None when it could not be made sense of."""

    playbook: Playbook | None
    problems: list[Problem]
    line: int = 1  # of the workflow


@dataclass
class _Places:
    """Lines of one question, for findings that name a path."""

    whole: int
    options: list[int] = field(default_factory=list)
    fields: dict[str, int] = field(default_factory=dict)


def load_playbooks(folder: Path, *, deny: Sequence[str] = ()) -> dict[str, Playbook]:
    """The playbooks of a folder by workflow. Raises Unloadable with every problem when one is refused.

    A pack without the folder has no playbooks: its workflows hand over at once (RT-15).
    """
    if not folder.is_dir():
        return {}
    problems: list[Problem] = []
    found: dict[str, Playbook] = {}
    files: dict[str, str] = {}
    for path in sorted(p for p in folder.iterdir() if p.suffix in (".yaml", ".yml") and p.is_file()):
        read = read_playbook(path, deny=deny)
        problems += read.problems
        if read.playbook is None:
            continue
        workflow = read.playbook.workflow
        if workflow in found:
            text = f"{files[workflow]} already has the playbook of {workflow}; keep one of them"
            problems.append(Problem(str(path), read.line, "refused", "duplicate_workflow", text))
            continue
        found[workflow], files[workflow] = read.playbook, path.name
    if any(problem.level == "refused" for problem in problems):
        raise Unloadable(problems)
    return found


def read_playbook(path: Path, *, deny: Sequence[str] = ()) -> Read:
    """One file, with everything that is wrong with it."""
    notes = Notes(str(path))
    text = read_text(path, notes)
    root = compose(text, notes) if text is not None else None
    if root is None:
        if not notes.problems:
            notes.refuse(1, "empty", "the file is empty; a playbook has " + ", ".join(PLAYBOOK))
        return Read(None, notes.problems)
    return _playbook(root, notes, deny)


def _playbook(root: Node, notes: Notes, deny: Sequence[str]) -> Read:
    found = items(root, "a playbook", notes)
    if not found:
        return Read(None, notes.problems or [Problem(notes.file, 1, "refused", "empty", "the playbook is empty")])
    known_keys(found, tuple(PLAYBOOK), "a playbook", notes)
    values = {key: _required(found, key, root, notes) for key in ("workflow", "title", "purpose")}
    name = _text(found, "policy", notes) or "playbook"
    policy = POLICIES.get(name)
    if policy is None:
        notes.refuse(found["policy"][1], "unknown_policy", f'"{name}" is no policy; there are {", ".join(POLICIES)}')
        policy = POLICIES["playbook"]
    fetch = _kinds(_value(found, "fetch"), notes)
    entries: list[Entry] = []
    places: list[_Places] = []
    for node in elements(_value(found, "questions"), "questions", notes):
        if not isinstance(node, MappingNode):
            notes.refuse(node, "wrong_type", f"a question must be a list of `key: value` lines, not {kind(node)}")
            continue
        entry, place = _entry(node, notes, needs_other=policy.other == "required")
        entries.append(entry)
        places.append(place)
    if not entries:
        where = found["questions"][0] if "questions" in found else root
        notes.refuse(where, "no_questions", "a playbook needs at least one question under `questions`")
    for finding in lint_bank([entry.question for entry in entries], policy, deny=deny):
        line = _line(finding.path, places)
        notes.problems.append(Problem(notes.file, line, finding.level, finding.code, finding.message))
    read = Read(None, sorted(set(notes.problems)), _start(found["workflow"][1]) if "workflow" in found else 1)
    if values["workflow"] and entries:
        read.playbook = Playbook(policy=policy.name, fetch=fetch, entries=tuple(entries), **values)
    return read


def _kinds(node: Node | None, notes: Notes) -> tuple[FileKind, ...]:
    named = [] if node is None else [(one, text_of(one, "fetch", notes)) for one in elements(node, "fetch", notes)]
    for one, name in named:
        if name and name not in FILE_KINDS:
            notes.refuse(one, "unknown_kind", f'"{name}" is no kind of file; there are {", ".join(FILE_KINDS)}')
    return tuple(kind for kind in FILE_KINDS if any(name == kind for _, name in named))


def _entry(node: MappingNode, notes: Notes, *, needs_other: bool) -> tuple[Entry, _Places]:
    found = items(node, "a question", notes)
    known_keys(found, tuple(QUESTION), "a question", notes)
    place = _Places(_start(node), fields={name: _start(key) for name, (key, _) in found.items()})
    form = _one_of(found, "form", FORMS, "choice", notes)
    options = _options(found, place, notes, needs_other=needs_other and form == "choice")
    options = _sets(_value(found, "sets"), options, notes)
    because = _text(found, "because", notes)
    question = Question.model_validate(
        {
            **{key: _text(found, key, notes) for key in ("id", "topic", "text", "why", "field")},
            "form": form,
            "options": options,
            "rationale": because or None,
            "grounding": _grounding(_value(found, "grounding"), notes),
            "stakes": _one_of(found, "stakes", _STAKES, "minor", notes),
            "optional": truth_of(_value(found, "optional"), "optional", notes),
            "artefact": _text(found, "changes", notes),
        }
    )
    for key, what in (("field", "which empty field"), ("changes", "which document")):
        if not _text(found, key, Notes(notes.file)):
            notes.refuse(
                node, "no_slot", f"`{key}` is missing: {what} the answer changes; without it nobody is asked"
            )
    entry = Entry(
        question=question,
        known=_known(_value(found, "known"), question, notes),
        known_from_phases=_phases(_value(found, "known_from_phases"), notes),
        known_from_files=truth_of(_value(found, "known_from_files"), "known_from_files", notes),
        known_from_paste=_texts(_value(found, "known_from_paste"), "known_from_paste", notes),
        tiers=_tiers(_value(found, "tiers"), notes),
        by_tier=_by_tier(_value(found, "by_tier"), question, notes),
        inherits=_text(found, "inherits", notes) or None,
        depends=_texts(_value(found, "depends"), "depends", notes),
        against=_against(_value(found, "against"), question, notes),
    )
    return entry, place


def _tiers(node: Node | None, notes: Notes) -> tuple[int, ...]:
    tiers: list[int] = []
    for element in elements(node, "tiers", notes):
        if isinstance(element, ScalarNode) and element.value in map(str, TIERS):
            tiers.append(int(element.value))
        else:
            notes.refuse(element, "no_tier", f"a tier is one of {', '.join(map(str, TIERS))}, not {kind(element)}")
    return tuple(tiers)


def _by_tier(node: Node | None, question: Question, notes: Notes) -> dict[int, Default]:
    found: dict[int, Default] = {}
    for tier, (key_node, value) in items(node, "by_tier", notes).items() if node is not None else ():
        key, _, because = " ".join(text_of(value, f"by_tier.{tier}", notes).split()).partition(" — ")
        option = question.option(key)
        if tier not in map(str, TIERS):
            notes.refuse(key_node, "no_tier", f"a tier is one of {', '.join(map(str, TIERS))}, not {tier[:20]}")
        elif option is None or option.other or not because.strip():
            notes.refuse(value, "bad_default", "write the option's letter and the reason: `B — the reason`")
        else:
            found[int(tier)] = Default(option=key, because=because.strip())
    return found


def _sets(node: Node | None, options: tuple[Option, ...], notes: Notes) -> tuple[Option, ...]:
    """The options with the values that they put into the state."""
    values: dict[str, str] = {}
    for key, (key_node, value) in items(node, "sets", notes).items() if node is not None else ():
        if key not in {option.key for option in options if not option.other}:
            notes.refuse(key_node, "unknown_option", f'"{key[:20]}" is not an option; use its letter')
        values[key] = text_of(value, f"sets.{key}", notes)
    return tuple(o.model_copy(update={"value": values[o.key]}) if o.key in values else o for o in options)


def _against(node: Node | None, question: Question, notes: Notes) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key, (key_node, value) in items(node, "against", notes).items() if node is not None else ():
        rules = _texts(value, f"against.{key}", notes)
        if question.option(key) is None or not all("=" in rule for rule in rules):
            notes.refuse(key_node, "bad_rule", "write the option's letter and a list of `field=value`")
            continue
        found[key] = rules
    return found


def _options(
    found: dict[str, tuple[Node, Node]], place: _Places, notes: Notes, *, needs_other: bool
) -> tuple[Option, ...]:
    marked = {
        text_of(node, "recommended", notes): node
        for node in elements(_value(found, "recommended"), "recommended", notes)
    }
    options: list[Option] = []
    if "options" in found:
        for key, (key_node, node) in items(found["options"][1], "options", notes).items():
            expected = LETTERS[len(options)] if len(options) < len(LETTERS) else ""
            if key != expected:
                notes.refuse(key_node, "wrong_letter", f'"{key[:20]}" should be {expected}; options go A, B, C')
            label, tradeoff = _option(node, notes)
            other = is_other(label)
            options.append(Option(key=key, label=label, tradeoff=tradeoff, recommended=key in marked, other=other))
            place.options.append(_start(key_node))
    for key, node in marked.items():
        if key and key not in {option.key for option in options}:
            notes.refuse(node, "unknown_option", f'"{key[:20]}" is recommended but is not an option')
    free = [letter for letter in LETTERS[len(options) :] if letter not in {option.key for option in options}]
    if needs_other and options and free and not any(option.other for option in options):
        options.append(Option(key=free[0], label=OTHER, other=True))
        place.options.append(place.fields.get("options", place.whole))
    return tuple(options)


def _option(node: Node, notes: Notes) -> tuple[str, str]:
    """`label — tradeoff` in one line, or a mapping of the two."""
    if isinstance(node, MappingNode):
        found = items(node, "an option", notes)
        known_keys(found, tuple(OPTION), "an option", notes)
        return _text(found, "label", notes), _text(found, "tradeoff", notes)
    written = " ".join(text_of(node, "an option", notes).split())
    label, _, tradeoff = written.partition(" — ")
    return label.strip(), tradeoff.strip()


def _grounding(node: Node | None, notes: Notes) -> Grounding | None:
    if node is None:
        return None
    found = items(node, "grounding", notes)
    known_keys(found, tuple(GROUNDING), "grounding", notes)
    name = _one_of(found, "kind", KINDS, "", notes)
    if not name:
        if "kind" not in found:
            notes.refuse(node, "missing", f"`kind` is missing; it is one of {', '.join(KINDS)}")
        return None
    return Grounding.model_validate({"kind": name, "reference": _text(found, "reference", notes)})


def _known(node: Node | None, question: Question, notes: Notes) -> tuple[Known, ...]:
    if node is None:
        return ()
    known: list[Known] = []
    for key, (key_node, value) in items(node, "known", notes).items():
        option = question.option(key)
        if key != "as_said" and (option is None or option.other):
            notes.refuse(key_node, "unknown_option", f'"{key[:20]}" is not an option; use its letter, or `as_said`')
            continue
        lines: list[str] = []
        for element in elements(value, f"known.{key}", notes):
            line = text_of(element, "a phrase", notes)
            try:
                phrase(line)
            except ValueError as error:
                notes.refuse(element, "bad_phrase", f'"{line[:60]}": {error}')
                continue
            lines.append(line)
        known.append(Known(words=tuple(lines), option=None if key == "as_said" else key))
    return tuple(known)


def _phases(node: Node | None, notes: Notes) -> tuple[int, ...]:
    phases: list[int] = []
    for element in elements(node, "known_from_phases", notes):
        if isinstance(element, ScalarNode) and element.value in "01234567" and element.value:
            phases.append(int(element.value))
        else:
            notes.refuse(element, "wrong_type", f"a phase is a number from 0 to 7, not {kind(element)}")
    return tuple(phases)


def _texts(node: Node | None, what: str, notes: Notes) -> tuple[str, ...]:
    return tuple(text_of(element, what, notes) for element in elements(node, what, notes))


# -- single values ------------------------------------------------------------------------------------------------


def _value(found: dict[str, tuple[Node, Node]], key: str) -> Node | None:
    return found[key][1] if key in found else None


def _text(found: dict[str, tuple[Node, Node]], key: str, notes: Notes) -> str:
    return text_of(_value(found, key), f"`{key}`", notes)


def _required(found: dict[str, tuple[Node, Node]], key: str, root: Node, notes: Notes) -> str:
    value = _text(found, key, notes)
    if not value and not isinstance(_value(found, key), MappingNode):
        notes.refuse(found[key][1] if key in found else root, "missing", f"`{key}` is missing or empty")
    return value


def _one_of(
    found: dict[str, tuple[Node, Node]], key: str, allowed: tuple[str, ...], default: str, notes: Notes
) -> str:
    value = _text(found, key, notes)
    if key in found and value not in allowed:
        notes.refuse(
            found[key][1], "unknown_value", f'`{key}` is "{value[:40]}"; it must be one of {", ".join(allowed)}'
        )
        return default
    return value or default


def _start(node: Node) -> int:
    return int(node.start_mark.line) + 1


_FIELDS = {"rationale": "because", "artefact": "changes"}  # names in findings that differ from the file's


def _line(path: str, places: Sequence[_Places]) -> int:
    """The line of a finding such as `questions[0].options[2]` or `questions[1].why`."""
    question, _, rest = path.partition(".")
    place = places[int(question.removeprefix("questions[").removesuffix("]"))]
    if rest.startswith("options["):
        return place.options[int(rest.removeprefix("options[").removesuffix("]"))]
    return place.fields.get(_FIELDS.get(rest, rest), place.whole)
