"""A round as an agent files it, read without guessing (field case b05): every mistake with its path, all at once.

Shapes that can be read in one way are read and told ("a text that holds a list"); a comma string, a number for the
recommended option or an option without a label is refused, never guessed at.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bot.core.lints import Finding, is_other, lint_round
from bot.core.model import Form, Grounding, Model, Option, Question
from bot.core.policies import AGENT, Policy

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_TEXT = ("text", "question", "prompt")  # names that agents use for the question itself
_NAMES = {  # ours <- names that are taken for it; the first is the name of CA-1 and is used in paths
    "why": ("why_it_matters", "why"),
    "rationale": ("recommendation_rationale", "rationale"),
    "topic": ("topic",),
    "text": _TEXT,
    "id": ("id",),
    "field": ("field",),
    "artefact": ("artefact",),
}
_KEYS = {name for names in _NAMES.values() for name in names} | {
    "n", "form", "options", "recommended", "grounding", "stakes", "optional",
}  # fmt: skip
_OPTION_KEYS = {"key", "label", "tradeoff", "recommended", "other"}
_FORMS: tuple[Form, ...] = ("choice", "open", "validate")
_KINDS = tuple(Grounding.model_json_schema()["properties"]["kind"]["enum"])


class Filed(Model):
    """`questions` may be shown only when no finding is refused."""

    questions: tuple[Question, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def refused(self) -> bool:
        return any(finding.level == "refused" for finding in self.findings)


def read_round(data: object, policy: Policy = AGENT, *, deny: Sequence[str] = ()) -> Filed:
    """Read `{"questions": […]}`, or the bare list, and lint it."""
    findings: list[Finding] = []
    listed = data
    if isinstance(data, Mapping):
        if "questions" not in data:
            text = 'no questions; file {"questions": [{"topic": …, "why_it_matters": …, "options": […]}]}'
            return Filed(findings=(_refused("missing_questions", "questions", text),))
        listed = data["questions"]
    rows = _list(listed, "questions", findings)
    if rows is None:
        return Filed(findings=tuple(findings))
    questions = [_question(row, number, findings) for number, row in enumerate(rows)]
    findings += [_named(finding) for finding in lint_round(questions, policy, deny=deny)]
    unique = {(f.code, f.path): f for f in reversed(findings)}
    return Filed(questions=tuple(questions), findings=tuple(f for f in findings if unique[f.code, f.path] is f))


def _question(row: object, number: int, findings: list[Finding]) -> Question:
    path = f"questions[{number}]"
    if not isinstance(row, Mapping):
        text = f"a question is an object with topic, why_it_matters and options, not {_kind(row)}"
        findings.append(_refused("wrong_type", path, text))
        row = {}
    findings += [
        _warned("unknown_key", f"{path}.{_short(key)}", "this key is not read; remove it")
        for key in row
        if key not in _KEYS
    ]
    values = {ours: _first(row, names, path, findings) for ours, names in _NAMES.items()}
    form = row.get("form", "choice")
    if form not in _FORMS:
        findings.append(_refused("unknown_form", f"{path}.form", f"the form is one of {', '.join(_FORMS)}"))
        form = "choice"
    stakes = row.get("stakes", "minor")
    if stakes not in ("critical", "minor"):
        findings.append(_refused("unknown_value", f"{path}.stakes", "the stakes are critical or minor"))
        stakes = "minor"
    options = _options(row.get("options"), f"{path}.options", findings)
    return Question.model_validate(
        {
            **values,
            "id": values["id"] or f"q{number + 1}",
            "rationale": values["rationale"] or None,
            "form": form,
            "stakes": stakes,
            "optional": _truth(row.get("optional", False), f"{path}.optional", findings),
            "options": _recommend(options, row.get("recommended"), f"{path}.recommended", findings),
            "grounding": _grounding(row.get("grounding"), f"{path}.grounding", findings),
        }
    )


def _options(value: object, path: str, findings: list[Finding]) -> tuple[Option, ...]:
    if value is None:
        return ()
    if isinstance(value, Mapping):  # {"A": "SQLite file", …}
        rows: list[tuple[str, object]] = [(_clean(str(key)), row) for key, row in value.items()]
    else:
        listed = _list(value, path, findings)
        rows = [("", row) for row in listed or ()]
    return tuple(_option(key, row, number, f"{path}[{number}]", findings) for number, (key, row) in enumerate(rows))


def _option(key: str, row: object, number: int, path: str, findings: list[Finding]) -> Option:
    letter = key or (LETTERS[number] if number < len(LETTERS) else str(number + 1))
    if isinstance(row, str):
        written = _clean(row)
        if is_other(written):
            return Option(key=letter, label=written, other=True)
        label, _, tradeoff = written.partition(" — ")
        return Option(key=letter, label=label.strip(), tradeoff=tradeoff.strip())
    if not isinstance(row, Mapping):
        if row is not None:
            text = f"an option is a text or an object with a label, not {_kind(row)}"
            findings.append(_refused("wrong_type", path, text))
        return Option(key=letter, label="")
    findings += [
        _warned("unknown_key", f"{path}.{_short(name)}", "not read; an option has key, label and tradeoff")
        for name in row
        if name not in _OPTION_KEYS
    ]
    label = _text(row.get("label"), f"{path}.label", findings)
    return Option(
        key=_text(row.get("key"), f"{path}.key", findings) if "key" in row else letter,
        label=label,
        tradeoff=_text(row.get("tradeoff"), f"{path}.tradeoff", findings),
        recommended=_truth(row.get("recommended", False), f"{path}.recommended", findings),
        other=_truth(row["other"], f"{path}.other", findings) if "other" in row else is_other(label),
    )


def _recommend(options: tuple[Option, ...], value: object, path: str, findings: list[Finding]) -> tuple[Option, ...]:
    """Mark the option that the question names by its key or label."""
    if value is None:
        return options
    if not isinstance(value, str):
        text = f"name the recommended option by its key or label, not by {_kind(value)}; counting can start at 0 or 1"
        findings.append(_refused("wrong_type", path, text))
        return options
    sought = _clean(value).casefold()
    if not any(sought in (o.key.casefold(), o.label.casefold()) for o in options):
        findings.append(
            _refused("unknown_option", path, f'"{_short(value)}" is neither a key nor a label of the options')
        )
    return tuple(
        o.model_copy(update={"recommended": True}) if sought in (o.key.casefold(), o.label.casefold()) else o
        for o in options
    )


def _grounding(value: object, path: str, findings: list[Finding]) -> Grounding | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or value.get("kind") not in _KINDS:
        text = f"the grounding is {{kind, reference}}; the kind is one of {', '.join(_KINDS)}"
        findings.append(_refused("wrong_type", path, text))
        return None
    reference = _text(value.get("reference"), f"{path}.reference", findings)
    return Grounding.model_validate({"kind": value["kind"], "reference": reference})


def _list(value: object, path: str, findings: list[Finding]) -> list[object] | None:
    """The list, or the list that a text holds, told; nothing else."""
    if isinstance(value, str):
        try:
            held: Any = json.loads(value)
        except (ValueError, RecursionError):
            held = None
        if isinstance(held, list):
            text = "this was a text that holds a list; it was read as that list. Send the list itself"
            findings.append(_warned("list_in_text", path, text))
            return held
        text = 'this is a text, not a list, and is not guessed at; send a list such as ["…", "…"]'
        findings.append(_refused("not_a_list", path, text))
        return None
    if not isinstance(value, list | tuple):
        findings.append(_refused("not_a_list", path, f"this must be a list, not {_kind(value)}"))
        return None
    return list(value)


def _first(row: Mapping[Any, Any], names: tuple[str, ...], path: str, findings: list[Finding]) -> str:
    given = [name for name in names if row.get(name) is not None]
    if len(given) > 1:
        text = f"{' and '.join(given)} say the same thing; keep {given[0]}"
        findings.append(_warned("unknown_key", f"{path}.{given[1]}", text))
    return _text(row.get(given[0]), f"{path}.{given[0]}", findings) if given else ""


def _text(value: object, path: str, findings: list[Finding]) -> str:
    if isinstance(value, str):
        return _clean(value)
    if value is not None:
        findings.append(_refused("wrong_type", path, f"this must be a text, not {_kind(value)}"))
    return ""


def _truth(value: object, path: str, findings: list[Finding]) -> bool:
    if not isinstance(value, bool):
        findings.append(_refused("wrong_type", path, f"this must be true or false, not {_kind(value)}"))
        return False
    return value


def _clean(text: str) -> str:
    """Without what no store can hold: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8").strip()


def _kind(value: object) -> str:
    names = {type(None): "nothing", bool: "true or false", int: "a number", float: "a number", str: "a text"}
    return names.get(type(value), "a list" if isinstance(value, list | tuple) else "an object")


def _short(value: object) -> str:
    return _clean(str(value))[:40]


def _named(finding: Finding) -> Finding:
    """The lint's path in the words of CA-1, which agents write."""
    head, dot, last = finding.path.rpartition(".")
    name = {"why": "why_it_matters", "rationale": "recommendation_rationale"}.get(last, last)
    return finding.model_copy(update={"path": f"{head}{dot}{name}"})


def _refused(code: str, path: str, message: str) -> Finding:
    return Finding(level="refused", code=code, path=path, message=message)


def _warned(code: str, path: str, message: str) -> Finding:
    return Finding(level="warned", code=code, path=path, message=message)
