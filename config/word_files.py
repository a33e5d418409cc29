"""Words by language: one folder, one file a language (RT-12), each a map of kinds of words to phrases.

A kind is a list of phrases, or a map of phrase to value. Words are taken as written, so `no` and `on` need no quotes.
Every mistake is reported with file and line, all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from config.yaml_nodes import read_mapping


class PhraseFileError(ValueError):
    """One or more files of words can not be used. The text has one `file:line: what is wrong` a line."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """What the files of one folder may hold. `kind` and `files` name them in messages, `listed` is where they stand.

    `value` reads the value of a phrase, given its kind: None where it is none.
    """

    kind: str
    files: str
    example: str
    listed: str
    lists: Collection[str]
    values: Collection[str]
    value: Callable[[str, str], int | str | None]


def read_languages(folder: Path, kinds: Kinds) -> list[dict[str, Any]]:
    """Every `*.yaml` in `folder`, in name order; raises PhraseFileError with all mistakes."""
    mistakes: list[str] = []
    languages = [_read(path, kinds, mistakes) for path in sorted(folder.glob("*.yaml"))]
    if not languages:
        mistakes.append(f"{folder}: no {kinds.files} (*.yaml) in this folder")
    if mistakes:
        raise PhraseFileError("\n".join(mistakes))
    return languages


def _read(path: Path, kinds: Kinds, mistakes: list[str]) -> dict[str, Any]:
    expected = f"expected kinds of words with their phrases, such as `{kinds.example}`"
    root = read_mapping(path, expected, mistakes)
    language: dict[str, Any] = {}
    for key, node in () if root is None else root.value:
        where = f"{path}:{key.start_mark.line + 1}"
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        if name in language:
            mistakes.append(f"{where}: {name} stands here twice; join the two")
        elif name in kinds.lists:
            language[name] = _phrases(path, name, node, mistakes)
        elif name in kinds.values:
            language[name] = _values(path, name, node, kinds, mistakes)
        else:
            mistakes.append(f"{where}: unknown {kinds.kind} {name!r}; they are listed in {kinds.listed}")
    return language


def _phrases(path: Path, name: str, node: yaml.Node, mistakes: list[str]) -> list[str]:
    if not isinstance(node, yaml.SequenceNode):
        mistakes.append(f"{path}:{node.start_mark.line + 1}: {name} must be a list of phrases")
        return []
    return [phrase for entry in node.value if (phrase := _phrase(path, name, entry, mistakes)) is not None]


def _values(path: Path, name: str, node: yaml.Node, kinds: Kinds, mistakes: list[str]) -> dict[str, int | str]:
    if not isinstance(node, yaml.MappingNode):
        mistakes.append(f"{path}:{node.start_mark.line + 1}: {name} must map phrases to values, such as `one: 1`")
        return {}
    values: dict[str, int | str] = {}
    for key, entry in node.value:
        phrase = _phrase(path, name, key, mistakes)
        said = entry.value if isinstance(entry, yaml.ScalarNode) else ""
        value = kinds.value(name, said)
        if phrase is not None and value is None:
            where = f"{path}:{entry.start_mark.line + 1}"
            mistakes.append(f"{where}: {name} {phrase!r} needs a number as its value, not {said[:40]!r}")
        elif phrase is not None and value is not None:
            values[phrase] = value
    return values


def _phrase(path: Path, name: str, node: yaml.Node, mistakes: list[str]) -> str | None:
    if isinstance(node, yaml.ScalarNode) and node.value.strip():
        return str(node.value)
    mistakes.append(f"{path}:{node.start_mark.line + 1}: {name} holds something that is no phrase")
    return None
