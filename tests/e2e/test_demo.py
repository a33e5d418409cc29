"""`askfirst demo` without a terminal: the bundled conversation and what it stored, on a throw-away database.

The README shows the same conversation, shortened with "…"; what it shows is what is printed.
"""

from __future__ import annotations

import json
from pathlib import Path

from config.settings import BUNDLED
from tests.e2e.installed import askfirst

README = Path(__file__).parents[2] / "README.md"


def test_it_plays_the_sample_and_shows_who_decided_what_as_often_as_wanted(tmp_path: Path) -> None:
    (tmp_path / "askfirst.toml").write_text('database = "mine.db"\n', encoding="utf-8")  # not for the sample
    said = [json.loads(line)["text"] for line in (BUNDLED / "sample.jsonl").read_text("utf-8").splitlines()]
    for _ in range(2):
        ran = askfirst("demo", cwd=tmp_path)
        assert (ran.code, ran.err) == (0, "")
        conversation, _, stored = ran.out.partition("Stored, with proof of who decided what:")
        places = [conversation.index(f"> {text}") for text in said]
        assert places == sorted(places)  # every line of the person, in order
        assert conversation.count("askfirst> ") >= len(said)
        assert "chosen_via user_response" in stored
        assert "chosen_via accept_recommendations_bulk" in stored
        assert "by terminal:ana" in stored
        follows_the_readme(ran.out)
    assert [path.name for path in tmp_path.iterdir()] == ["askfirst.toml"]


def follows_the_readme(printed: str) -> None:
    """Every piece of the README's conversation, between one "…" and the next, in its order."""
    section = README.read_text("utf-8").partition("## What it looks like")[2].partition("\n## ")[0]
    shown = [line.strip() for line in section.splitlines() if line.startswith("    ")]
    pieces = [piece.strip() for line in shown for piece in line.split("…") if piece.strip()]
    assert len(pieces) > 30
    at = 0
    for piece in pieces:
        found = printed.find(piece, at)
        assert found >= 0, f"the README shows {piece!r}, the demo does not, or not there"
        at = found + len(piece)
