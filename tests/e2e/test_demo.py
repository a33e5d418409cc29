"""`askfirst demo` without a terminal: the bundled conversation and what it stored, on a throw-away database."""

from __future__ import annotations

import json
from pathlib import Path

from config.settings import BUNDLED
from tests.e2e.installed import askfirst


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
    assert [path.name for path in tmp_path.iterdir()] == ["askfirst.toml"]
