"""Files of time words: one folder, one file a language (RT-12). Adding a language is adding a file.

A file maps the kinds of `bot.core.moments.words` to lists of phrases, or to maps of phrase to number. Every mistake
is reported with file and line, all at once.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from bot.core.moments.words import LISTS, VALUES, TimeWords
from config.phrases_loader import PhraseFileError
from config.yaml_nodes import read_mapping

FOLDER = Path(__file__).parent / "times"
KINDS = {**LISTS, **VALUES}


def load_times(folder: Path = FOLDER) -> TimeWords:
    """Read every `*.yaml` in `folder`, in name order."""
    mistakes: list[str] = []
    languages = [_read(path, mistakes) for path in sorted(folder.glob("*.yaml"))]
    if not languages:
        mistakes.append(f"{folder}: no file of time words (*.yaml) in this folder")
    if mistakes:
        raise PhraseFileError("\n".join(mistakes))
    return TimeWords(languages)


def _read(path: Path, mistakes: list[str]) -> dict[str, list[str] | dict[str, int]]:
    root = read_mapping(path, "expected kinds of words with their phrases, such as `ask: [ask me]`", mistakes)
    language: dict[str, list[str] | dict[str, int]] = {}
    for key, node in () if root is None else root.value:
        where = f"{path}:{key.start_mark.line + 1}"
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        if name not in KINDS:
            mistakes.append(f"{where}: unknown kind {name!r}; the kinds are listed in bot/core/moments/words.py")
        elif name in language:
            mistakes.append(f"{where}: {name} stands here twice; join the two")
        elif name in LISTS and isinstance(node, yaml.SequenceNode):
            language[name] = [_phrase(path, name, entry, mistakes) for entry in node.value]
        elif name in VALUES and isinstance(node, yaml.MappingNode):
            language[name] = {
                _phrase(path, name, said, mistakes): _number(path, name, value, mistakes)
                for said, value in node.value
            }
        else:
            form = "a list of phrases" if name in LISTS else "phrases with numbers, such as `tomorrow: 1`"
            mistakes.append(f"{where}: {name} must be {form}")
    return language


def _phrase(path: Path, name: str, node: yaml.Node, mistakes: list[str]) -> str:
    if isinstance(node, yaml.ScalarNode) and node.value.strip():
        return str(node.value)
    mistakes.append(f"{path}:{node.start_mark.line + 1}: {name} holds something that is no phrase")
    return "?"


def _number(path: Path, name: str, node: yaml.Node, mistakes: list[str]) -> int:
    value = node.value if isinstance(node, yaml.ScalarNode) else ""
    if value.removeprefix("-").isdecimal() and value.isascii() and len(value) < 7:
        return int(value)
    mistakes.append(
        f"{path}:{node.start_mark.line + 1}: a phrase of {name} needs a whole number, not {str(value)[:40]!r}"
    )
    return 0
