"""docs/reference/ says what the code says, and the links between the pages lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adapters.terminal.codec import CODES
from bot.core.audit import EVENTS
from config.settings import variables
from docs.generate import REFERENCE, pages

ROOT = Path(__file__).parents[2]
PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_current(name: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name], "run `make docs`"


def test_there_is_no_page_that_nobody_makes() -> None:
    assert {path.name for path in REFERENCE.iterdir()} == set(PAGES)


def test_every_event_and_setting_is_described() -> None:
    assert all(f"| `{event}` | {meaning} |" in PAGES["audit-events.md"] for event, meaning in EVENTS.items())
    assert all(meaning and meaning[0].islower() for meaning in EVENTS.values())
    assert all(f"| `{variable}` |" in PAGES["settings.md"] for variable, _ in variables())


def documents() -> list[Path]:
    return [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("page", documents(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_variable_in_the_documentation_is_known() -> None:
    known = {variable for variable, _ in variables()} | {"ASKFIRST_"}
    said = {
        name for page in documents() for name in re.findall(r"ASKFIRST_[A-Z_]*", page.read_text(encoding="utf-8"))
    }
    assert said <= known


def test_a_default_in_the_documentation_is_the_default() -> None:
    """`ASKFIRST_LEASE_SECONDS` (10): what the page says in brackets is what happens when it is left out."""
    said = [m for page in documents() for m in re.findall(r"`(ASKFIRST_\w+)` \((\d+)\)", page.read_text("utf-8"))]
    assert said
    for name, number in said:
        assert re.search(rf"^\| `{name}` \| `\w+` \| `{number}(\.0)?` \|", PAGES["settings.md"], re.MULTILINE), name


def test_every_code_of_a_bad_line_is_described() -> None:
    source = "".join(
        (ROOT / "adapters" / "terminal" / f"{name}.py").read_text("utf-8") for name in ("codec", "jsonl")
    )
    assert set(re.findall(r"(?:BadLine|_Wrong)\(\s*\"(\w+)\"", source)) == set(CODES)
