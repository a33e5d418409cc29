"""YAML files read as nodes, so that every mistake can be told with its line. Plain data only: no tags, no aliases.

`yaml.safe_load` builds the same values but forgets the lines, and expands aliases without a limit (the "billion
laughs" file); here such a file is refused before anything is built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from config.problems import Problem

LARGEST = 500_000  # bytes; the bundled playbooks are below 10 kB, and PyYAML reads about 1 MB a second
DEEPEST = 20  # levels; a playbook has six

_FAST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # missing where PyYAML was built without libyaml
_TAGS: Any = yaml.resolver.Resolver()


@dataclass
class Notes:
    """Collects the problems of one file."""

    file: str
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, where: Node | int, code: str, message: str) -> None:
        self._add(where, "refused", code, message)

    def warn(self, where: Node | int, code: str, message: str) -> None:
        self._add(where, "warned", code, message)

    def _add(self, where: Node | int, level: Literal["refused", "warned"], code: str, message: str) -> None:
        line = where if isinstance(where, int) else where.start_mark.line + 1
        self.problems.append(Problem(self.file, line, level, code, message))


def read_text(path: Path, notes: Notes) -> str | None:
    """The file as text, or None with the reason noted."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(LARGEST + 1)
    except OSError as error:
        notes.refuse(0, "unreadable", f"the file can not be read: {error.strerror or error}")
        return None
    if len(raw) > LARGEST:
        notes.refuse(0, "too_large", f"the file is larger than {LARGEST} bytes; split it")
        return None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        notes.refuse(line, "not_text", "not UTF-8 text; save the file as UTF-8")
        return None
    if "\0" in text:
        notes.refuse(text[: text.index("\0")].count("\n") + 1, "not_text", "there is a NUL character; remove it")
        return None
    return text


def compose(text: str, notes: Notes) -> Node | None:
    """The root node of the one document in the text, or None with the reason noted.

    libyaml reads twenty times faster, PyYAML's own parser is there where it is not. Both give the same nodes and
    lines, but word some mistakes differently, so the last word on a text with a mistake is always PyYAML's.
    """
    try:
        return _compose(text, notes, _FAST)
    except (yaml.YAMLError, ValueError, RecursionError):
        return _compose_told(text, notes)


def read_mapping(path: Path, expected: str, mistakes: list[str]) -> MappingNode | None:
    """The keys of one file, or None with `file:line: what is wrong` noted; `expected` says what should be there."""
    notes = Notes(str(path))
    text = read_text(path, notes)
    root = None if text is None else compose(text, notes)
    if notes.problems:
        mistakes += [f"{path}:{max(problem.line, 1)}: {problem.message}" for problem in notes.problems]
        return None
    if not isinstance(root, MappingNode):
        mistakes.append(f"{path}:1: {expected}")
        return None
    return root


def _compose_told(text: str, notes: Notes) -> Node | None:
    try:
        return _compose(text, notes, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = error.problem or error.context or "it can not be read"
        notes.refuse(mark.line + 1 if mark else 0, "broken_yaml", f"not valid YAML: {said}")
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1 if isinstance(error.position, int) else 0
        notes.refuse(line, "broken_yaml", f"not valid YAML: {error.reason}")
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: PyYAML on odd escapes and numbers
        notes.refuse(0, "broken_yaml", f"not valid YAML: {type(error).__name__}")
    return None


def _compose(text: str, notes: Notes, loader: Any) -> Node | None:
    """Nodes from the parser's events, in one pass. yaml.compose recurses, in C without a limit."""
    root: Node | None = None
    open_nodes: list[tuple[MappingNode | SequenceNode, list[Node]]] = []  # with what is in them so far
    documents = 0
    events: Iterator[Any] = yaml.parse(text, Loader=loader)
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
        if (harm := _harm(event, documents, len(open_nodes))) is not None:
            notes.refuse(event.start_mark.line + 1 if event.start_mark else 0, *harm)
            return None
        node: Node | None = None
        start, end = event.start_mark, event.end_mark
        if isinstance(event, yaml.ScalarEvent):
            # libyaml says "" where PyYAML says None: written without quotes
            tag = _TAGS.resolve(ScalarNode, event.value, event.implicit)
            node = ScalarNode(tag, event.value, start, end, style=event.style or None)
        elif isinstance(event, yaml.CollectionStartEvent):
            kind_ = MappingNode if isinstance(event, yaml.MappingStartEvent) else SequenceNode
            tag = _TAGS.resolve(kind_, None, event.implicit)
            open_nodes.append((kind_(tag, [], start, end, bool(event.flow_style)), []))
        elif isinstance(event, yaml.CollectionEndEvent):
            node, inside = open_nodes.pop()
            node.end_mark = end
            pairs = zip(inside[::2], inside[1::2], strict=True)
            node.value = list(pairs) if isinstance(node, MappingNode) else inside
        if node is not None and open_nodes:
            open_nodes[-1][1].append(node)
        elif node is not None:
            root = node
    return root


def _harm(event: Any, documents: int, depth: int) -> tuple[str, str] | None:
    """Code and message where the text holds more than plain data."""
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        return "alias", "anchors and aliases (& and *) are not read; write the value out"
    if documents > 1:
        return "two_documents", "a file holds one document; remove the second ---"
    if isinstance(event, yaml.CollectionStartEvent) and depth >= DEEPEST:
        return "too_deep", f"nested deeper than {DEEPEST} levels"
    if getattr(event, "tag", None) not in (None, "!"):
        return "tag", f"tags such as {event.tag} are not read; remove it"
    return None


def items(node: Node | None, what: str, notes: Notes) -> dict[str, tuple[Node, Node]]:
    """The pairs of a mapping by key; {} with the reason noted when it is none."""
    if not isinstance(node, MappingNode):
        notes.refuse(node or 1, "wrong_type", f"{what} must be a list of `key: value` lines, not {kind(node)}")
        return {}
    found: dict[str, tuple[Node, Node]] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            notes.refuse(key, "wrong_type", f"a key of {what} must be a word, not {kind(key)}")
        elif key.value in found:
            first = found[key.value][0].start_mark.line + 1
            notes.refuse(key, "duplicate_key", f"`{key.value}` is already set in line {first}; keep one of them")
        else:
            found[key.value] = (key, value)
    return found


def known_keys(found: Mapping[str, tuple[Node, Node]], allowed: tuple[str, ...], what: str, notes: Notes) -> None:
    for name, (key, _) in found.items():
        if name not in allowed:
            notes.refuse(key, "unknown_key", f"`{name[:60]}` is not a key of {what}; it has {', '.join(allowed)}")


def text_of(node: Node | None, what: str, notes: Notes) -> str:
    """A text as written: `2020`, `no` and dates stay what the author typed."""
    if isinstance(node, ScalarNode) and not (node.tag == "tag:yaml.org,2002:null" and node.style is None):
        return str(node.value).strip()
    if node is not None:
        notes.refuse(node, "wrong_type", f"{what} must be a text, not {kind(node)}")
    return ""


def elements(node: Node | None, what: str, notes: Notes) -> Iterator[Node]:
    """The elements of a list; a single text stands for a list of one."""
    if isinstance(node, SequenceNode):
        yield from node.value
    elif isinstance(node, ScalarNode) and not node.tag.endswith(":null"):
        yield node
    elif node is not None:
        notes.refuse(node, "wrong_type", f"{what} must be a list, not {kind(node)}")


def truth_of(node: Node | None, what: str, notes: Notes) -> bool:
    if node is None:
        return False
    if isinstance(node, ScalarNode) and node.tag == "tag:yaml.org,2002:bool":
        return str(node.value).casefold() in ("true", "yes", "on")
    notes.refuse(node, "wrong_type", f"{what} must be true or false, not {kind(node)}")
    return False


def kind(node: Node | None) -> str:
    if isinstance(node, MappingNode):
        return "a list of keys"
    if isinstance(node, SequenceNode):
        return "a list"
    if isinstance(node, ScalarNode):
        return "empty" if node.tag.endswith(":null") else f'"{node.value[:40]}"'
    return "empty"
