"""Phrase files: one folder, one file a language (RT-12). Adding a language is adding a file.

A file maps word classes (`WORD_CLASSES` and its kin in `bot.core.replies.phrases`) to lists of phrases, or, for
`number`, `ordinal` and `spoken`, to maps of phrase to value. Words are taken as written, so `no` and `on` need no
quotes. Every mistake is reported with file and line, all at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bot.core.replies.phrases import TEXT_CLASSES, VALUE_CLASSES, WORD_CLASSES, PhraseBook
from config.yaml_nodes import read_mapping

FOLDER = Path(__file__).parent / "phrases"


class PhraseFileError(ValueError):
    """One or more phrase files cannot be used. The text has one `file:line: what is wrong` a line."""


def load_phrases(folder: Path = FOLDER) -> PhraseBook:
    """Read every `*.yaml` in `folder`, in name order."""
    mistakes: list[str] = []
    languages = [_read(path, mistakes) for path in sorted(folder.glob("*.yaml"))]
    if not languages:
        mistakes.append(f"{folder}: no phrase file (*.yaml) in this folder")
    if mistakes:
        raise PhraseFileError("\n".join(mistakes))
    return PhraseBook(languages)


def _read(path: Path, mistakes: list[str]) -> dict[str, Any]:
    root = read_mapping(path, "expected word classes with their phrases, such as `skip: [skip, pass]`", mistakes)
    if root is None:
        return {}
    language: dict[str, Any] = {}
    for key, node in root.value:
        where = f"{path}:{key.start_mark.line + 1}"
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        if name in language:
            mistakes.append(f"{where}: {name} stands here twice; join the two lists")
        elif name in WORD_CLASSES or name in TEXT_CLASSES:
            language[name] = _phrases(path, name, node, mistakes)
        elif name in VALUE_CLASSES:
            language[name] = _values(path, name, node, mistakes)
        else:
            mistakes.append(
                f"{where}: unknown word class {name!r}; the classes are listed in bot/core/replies/phrases.py"
            )
    return language


def _phrases(path: Path, name: str, node: yaml.Node, mistakes: list[str]) -> list[str]:
    if not isinstance(node, yaml.SequenceNode):
        mistakes.append(f"{path}:{node.start_mark.line + 1}: {name} must be a list of phrases")
        return []
    phrases = []
    for entry in node.value:
        if isinstance(entry, yaml.ScalarNode) and entry.value.strip():
            phrases.append(str(entry.value))
        else:
            mistakes.append(f"{path}:{entry.start_mark.line + 1}: {name} holds something that is no phrase")
    return phrases


def _values(path: Path, name: str, node: yaml.Node, mistakes: list[str]) -> dict[str, int | str]:
    if not isinstance(node, yaml.MappingNode):
        mistakes.append(f"{path}:{node.start_mark.line + 1}: {name} must map phrases to values, such as `one: 1`")
        return {}
    values: dict[str, int | str] = {}
    for key, entry in node.value:
        value = entry.value if isinstance(entry, yaml.ScalarNode) else ""
        if not isinstance(key, yaml.ScalarNode) or not key.value.strip():
            mistakes.append(f"{path}:{key.start_mark.line + 1}: {name} has a key that is no phrase")
        elif value.isascii() and value.isdigit() and 0 < int(value) < 1000:
            values[str(key.value)] = int(value)
        elif name == "spoken" and len(value) == 1 and "A" <= value.upper() <= "Z":
            values[str(key.value)] = value.upper()
        else:
            mistakes.append(f"{path}:{entry.start_mark.line + 1}: {name} {key.value!r} needs a number as its value")
    return values
