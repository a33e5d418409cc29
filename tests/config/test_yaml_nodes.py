"""YAML is read by libyaml where it is there; what comes of a text is the same without it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from yaml.nodes import MappingNode, Node, SequenceNode

from bot.app import read_folders
from config import yaml_nodes
from config.settings import BUNDLED, load_settings
from config.yaml_nodes import DEEPEST, Notes, compose

BROKEN = Path(__file__).parents[1] / "data" / "playbooks"
FILES = [*sorted(BUNDLED.rglob("*.yaml")), *sorted(BROKEN.glob("*.yaml"))]


def whole(node: Node | None) -> Any:
    """A node with all that the loaders look at: tag, value, line, and whether it was quoted."""
    if node is None:
        return None
    place = (node.tag, node.start_mark.line, node.start_mark.column)
    if isinstance(node, MappingNode):
        return place, [(whole(key), whole(value)) for key, value in node.value]
    if isinstance(node, SequenceNode):
        return place, [whole(element) for element in node.value]
    return place, node.value, node.style


def read(text: str) -> tuple[Any, list[str]]:
    notes = Notes("file")
    return whole(compose(text, notes)), [str(problem) for problem in notes.problems]


def test_both_parsers_give_the_same_nodes_lines_and_words(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    texts += [
        "\tx: y",
        "a: [1, 2",
        "a: 'b",
        "a: b: c",
        "- a\nb: c",
        "a: \x07",
        '"\\ud800"',
        "%YAML 9.9\n---\na",
        "@a",
    ]
    fast = [read(text) for text in texts]
    monkeypatch.setattr(yaml_nodes, "_FAST", yaml.SafeLoader)
    assert [read(text) for text in texts] == fast
    assert sum(bool(problems) for _, problems in fast) > 10


def test_the_nodes_are_those_of_the_library() -> None:
    for path in sorted(BUNDLED.rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        assert read(text) == (whole(yaml.compose(text, Loader=yaml.SafeLoader)), [])


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "- " * 200_000, "{a: " * 200_000, "\n".join(" " * n + "a:" for n in range(500))]
)
def test_depth_is_told_and_no_danger(text: str) -> None:
    node, [problem] = read(text)
    assert node is None
    assert f"nested deeper than {DEEPEST} levels" in problem


def test_each_file_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading is most of the start-up."""
    times: Counter[str] = Counter()
    plain = yaml_nodes._compose

    def counting(text: str, notes: Notes, loader: Any) -> Any:
        times[notes.file] += 1
        return plain(text, notes, loader)

    monkeypatch.setattr(yaml_nodes, "_compose", counting)
    read_folders(load_settings(config=BUNDLED))
    assert set(times.values()) == {1}
    needed = [file for file in BUNDLED.rglob("*.yaml") if file.parent.name != "commands"]  # those are for menus
    assert len(times) == len(needed)
