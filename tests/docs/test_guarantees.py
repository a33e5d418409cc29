"""docs/guarantees.md names tests; they exist, and each promise has one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_test_that_is_named_exists() -> None:
    assert len(NAMED) > 30
    missing = [f"{file}::{name}" for file, name in NAMED if name not in functions_of(ROOT / file)]
    assert missing == []


def test_every_promise_names_a_test() -> None:
    promises = [part for part in PAGE.split("\n\n") if part.startswith("**")]
    assert len(promises) > 10
    assert [promise.splitlines()[0] for promise in promises if "::test_" not in promise] == []
