"""What the how-to pages tell people to type does what they say."""

from __future__ import annotations

import re
import shutil
import textwrap
from pathlib import Path

from bot.app import load_book
from bot.core.routing import route
from config.check import check_paths
from config.settings import BUNDLED, load_settings

HOWTO = Path(__file__).parents[2] / "docs" / "howto"


def test_a_pack_of_ones_own_as_the_page_describes_it(tmp_path: Path) -> None:
    """playbooks.md: a copy of a bundled pack, renamed, with the page's playbook; what it includes is not copied."""
    page = (HOWTO / "playbooks.md").read_text(encoding="utf-8")
    example = re.search(r"^    workflow: .*?\n\n(?! )", page, re.DOTALL | re.MULTILINE)
    assert example is not None
    mine = tmp_path / "packs" / "mine"
    shutil.copytree(BUNDLED / "packs" / "research", mine)
    head = mine / "pack.yaml"
    head.write_text(head.read_text(encoding="utf-8").replace("name: research", "name: mine"), encoding="utf-8")
    (mine / "playbooks" / "lit-review.yaml").write_text(textwrap.dedent(example[0]), encoding="utf-8")
    assert check_paths([mine]) == []
    book = load_book(load_settings(config=tmp_path, pack="mine"))
    assert [e.question.id for e in book.playbooks["academic-paper/lit-review"].entries] == ["years"]
    assert route("write a PRD for refunds", [], book.packs["mine"]).workflow == "spec/new"
    assert {"spec/phase-1", "spec/signals"} <= book.playbooks.keys()
