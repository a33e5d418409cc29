"""What a platform's menu of commands says: one folder, one file a language (RT-12), named by its two letters.

A file maps the general commands to a few words each. Every mistake is reported with file and line, all at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from bot.core.routing.pack import GENERAL_COMMANDS
from config.yaml_nodes import read_mapping

FOLDER = Path(__file__).parent / "commands"
LONGEST = 256  # characters: core.telegram.org/bots/api#botcommand
IN_MENU = tuple(name for name in GENERAL_COMMANDS if name != "start")  # a button of its own where it is needed


class CommandFileError(ValueError):
    """One or more files can not be used. The text has one `file:line: what is wrong` a line."""


def load_commands(folder: Path = FOLDER) -> dict[str, Mapping[str, str]]:
    """The words of each language by command, in the order of the menu. English stands in for words that lack."""
    mistakes: list[str] = []
    found = {path.stem: _read(path, mistakes) for path in sorted(folder.glob("*.yaml"))}
    english = found.get("en", {})
    if lacking := [name for name in IN_MENU if name not in english]:
        mistakes.append(f"{folder / 'en.yaml'}:1: the words for {', '.join(lacking)} are missing")
    if mistakes:
        raise CommandFileError("\n".join(mistakes))
    return {language: {name: words.get(name, english[name]) for name in IN_MENU} for language, words in found.items()}


def _read(path: Path, mistakes: list[str]) -> dict[str, str]:
    if not re.fullmatch(r"[a-z]{2}", path.stem):
        mistakes.append(f"{path}:1: the name of the file must be a language in two letters, such as de.yaml")
    root = read_mapping(path, "expected commands with a few words each, such as `help: what I do`", mistakes)
    if root is None:
        return {}
    words: dict[str, str] = {}
    for key, node in root.value:
        where, name = f"{path}:{key.start_mark.line + 1}", str(key.value)
        said = str(node.value).strip() if isinstance(node, yaml.ScalarNode) else ""
        if name not in IN_MENU:
            mistakes.append(f"{where}: there is no command {name}; the commands are {', '.join(IN_MENU)}")
        elif name in words:
            mistakes.append(f"{where}: {name} stands here twice")
        elif not 0 < len(said) <= LONGEST:
            mistakes.append(f"{where}: {name} needs 1 to {LONGEST} characters")
        else:
            words[name] = said
    return words
