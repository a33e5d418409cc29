"""Every call held against a description of the Bot API: fields, required, types.

The description is the file `telegram-bot-api.json` in the folder that `ASKFIRST_SPEC_DIR` names, else the small table
beside this file. The real server ignores parameters that it does not know; this one refuses them, since in a test an
unknown parameter is a typing mistake.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.telegram import table
from tests.fakes.telegram.errors import Refusal, bad

FILE = "telegram-bot-api.json"
Fields = dict[str, tuple[tuple[str, ...], bool]]  # name: types, required


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that came in a multipart body."""

    name: str
    content: bytes
    mime: str


class Mismatch(Exception):
    """A value that is not of its type; `where` is the path to it."""


class Schema:
    def __init__(self, methods: dict[str, Fields], types: dict[str, Fields], unions: dict[str, list[str]]) -> None:
        self.methods, self.types, self.unions = methods, types, unions
        self.lower = {name.lower(): name for name in methods}

    @classmethod
    def load(cls, folder: str | None = None) -> Schema:
        folder = os.environ.get("ASKFIRST_SPEC_DIR", "") if folder is None else folder
        return cls.published(Path(folder) / FILE) if folder else cls.small()

    @classmethod
    def published(cls, path: Path) -> Schema:
        described = json.loads(path.read_text("utf-8"))
        return cls(
            {name: _published(method) for name, method in described["methods"].items()},
            {name: _published(kind) for name, kind in described["types"].items() if not kind.get("subtypes")},
            {name: kind["subtypes"] for name, kind in described["types"].items() if kind.get("subtypes")},
        )

    @classmethod
    def small(cls) -> Schema:
        methods = {name: _small(line) for name, line in table.METHODS.items()}
        return cls(methods, {name: _small(line) for name, line in table.TYPES.items()}, {})

    def call(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        """The parameters as values. What comes as text is read as the type that is asked for."""
        fields = self.methods[method]
        read: dict[str, Any] = {}
        for name, value in given.items():
            if name not in fields:
                if name.startswith("attached-") or isinstance(value, Upload):
                    continue  # a file that another parameter names with attach://
                raise bad(f'{method} has no parameter "{name}"')
            try:
                read[name] = self._read(fields[name][0], value, name)
            except Mismatch as error:
                raise bad(f"{method}: {error}") from error
        for name, (_, required) in fields.items():
            if required and name not in read:
                raise _missing(method, name)
        return read

    def verify(self, kind: str, value: Any, where: str = "") -> None:
        """Raises Mismatch unless a value that is JSON already is of a published type."""
        self._read(_types(kind), value, where or kind, from_text=False)

    def _read(self, types: tuple[str, ...], value: Any, where: str, from_text: bool = True) -> Any:
        problems = []
        for kind in types:
            try:
                return self._as(kind, value, where, from_text)
            except Mismatch as problem:
                problems.append(str(problem))
        raise Mismatch(problems[0] if len(problems) == 1 else f"{where} is none of {', '.join(types)}: {problems}")

    def _as(self, kind: str, value: Any, where: str, from_text: bool) -> Any:
        if kind == "str":
            return _need(value, str, where, kind)
        if kind in {"int", "float", "bool"}:
            return _scalar(kind, value, where, from_text)
        if kind == "InputFile":
            if isinstance(value, Upload) or (isinstance(value, str) and value.startswith("attach://")):
                return value
            raise Mismatch(f"{where} is no file")
        if from_text and isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError as error:
                raise Mismatch(f"{where} is no JSON of {kind}") from error
        if kind.endswith("[]"):
            items = _need(value, list, where, kind)
            return [self._read((kind[:-2],), item, f"{where}[{n}]", False) for n, item in enumerate(items)]
        if kind in self.unions:
            return self._read(tuple(self.unions[kind]), value, where, False)
        return self._object(kind, value, where)

    def _object(self, kind: str, value: Any, where: str) -> Any:
        _need(value, dict, where, kind)
        fields = self.types.get(kind)
        if not fields:
            return value
        for name, item in value.items():
            if name not in fields:
                raise Mismatch(f"{where}.{name} is unknown to {kind}")
            self._read(fields[name][0], item, f"{where}.{name}", False)
        for name, (_, required) in fields.items():
            if required and name not in value:
                raise Mismatch(f"{where} lacks {name}")
        return value


def _scalar(kind: str, value: Any, where: str, from_text: bool) -> Any:
    if kind == "bool":
        if from_text and isinstance(value, str) and value.lower() in {"true", "false"}:
            return value.lower() == "true"
        return _need(value, bool, where, kind)
    if isinstance(value, bool):
        raise Mismatch(f"{where} is no {kind}")
    if from_text and isinstance(value, str):
        try:
            return int(value) if kind == "int" else float(value)
        except ValueError as error:
            raise Mismatch(f"{where} is no {kind}") from error
    return _need(value, (int, float) if kind == "float" else int, where, kind)


def _need(value: Any, kind: Any, where: str, name: str) -> Any:
    if not isinstance(value, kind):
        raise Mismatch(f"{where} is no {name}")
    return value


def _missing(method: str, name: str) -> Refusal:
    """The real words for the two that are forgotten most."""
    if name == "chat_id":
        return bad("chat_id is empty")
    if (method, name) == ("sendMessage", "text"):
        return bad("message text is empty")
    return bad(f'parameter "{name}" is required')


_WORDS = {"Integer": "int", "String": "str", "Boolean": "bool", "Float": "float"}


def _types(*written: str) -> tuple[str, ...]:
    kinds = []
    for kind in written:
        depth = kind.count("Array of ")
        bare = kind.replace("Array of ", "")
        kinds.append(_WORDS.get(bare, bare) + "[]" * depth)
    return tuple(sorted(kinds, key=lambda kind: kind == "str"))  # a number is a number before it is a text


def _published(described: dict[str, Any]) -> Fields:
    return {f["name"]: (_types(*f["types"]), f["required"]) for f in described.get("fields", [])}


def _small(line: str) -> Fields:
    fields: Fields = {}
    for word in line.split():
        name, _, types = word.partition(":")
        kinds = tuple(sorted(types.split("|"), key=lambda kind: kind == "str"))
        fields[name.removesuffix("!")] = kinds, name.endswith("!")
    return fields
