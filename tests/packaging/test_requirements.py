"""The pinned requirements: hashed, without addresses, and enough for what pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FILES = ("run.txt", "dev.txt")


def pinned(name: str) -> dict[str, Requirement]:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8").replace("\\\n", " ")
    found = [Requirement(line.partition("--hash")[0].strip()) for line in text.splitlines() if line.strip()]
    return {canonicalize_name(requirement.name): requirement for requirement in found}


@pytest.mark.parametrize("name", FILES)
def test_every_line_is_pinned_and_hashed_and_names_no_address(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert "://" not in text
    for line in text.replace("\\\n", " ").splitlines():
        assert re.fullmatch(r"[a-z0-9.-]+==[^\s;]+( *;[^-]+?)?( +--hash=sha256:[0-9a-f]{64})+ *", line), line


def version_of(requirement: Requirement) -> str:
    [pin] = requirement.specifier
    return pin.version


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        *((asked, "run.txt") for asked in PROJECT["project"]["dependencies"]),
        *((asked, "run.txt") for asked in PROJECT["build-system"]["requires"]),
        *((asked, "dev.txt") for asked in PROJECT["project"]["optional-dependencies"]["dev"]),
    ],
)
def test_what_the_project_asks_for_is_there(asked: str, name: str) -> None:
    """If not: compile anew, as CONTRIBUTING.md says."""
    wanted = Requirement(asked)
    found = pinned(name)[canonicalize_name(wanted.name)]
    assert wanted.specifier.contains(version_of(found), prereleases=True)


def test_both_files_agree() -> None:
    run, dev = pinned("run.txt"), pinned("dev.txt")
    both = run.keys() & dev.keys()
    assert {name: version_of(run[name]) for name in both} == {name: version_of(dev[name]) for name in both}


def test_the_build_needs_nothing_that_is_not_pinned() -> None:
    """`--no-build-isolation -e .` finds its back end among what is installed; hatchling needs `editables` for -e."""
    asked = (ROOT / "requirements" / "run.in").read_text(encoding="utf-8").split()
    assert {"hatchling", "editables"} <= set(asked) <= pinned("run.txt").keys()
