"""Phrase files: adding a language is adding a file, and every mistake names file and line (RT-12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.replies import read_reply
from config.phrases_loader import FOLDER, load_phrases
from config.word_files import PhraseFileError
from tests.core.replies.shapes import four


def test_a_new_language_is_a_new_file(tmp_path: Path) -> None:
    (tmp_path / "eo.yaml").write_text(
        "recommended: [rekomendoj]\nall: [ĉiuj]\nnumber: {unu: 1, du: 2}\nagree: [jes, no]\n", encoding="utf-8"
    )
    book = load_phrases(tmp_path)
    assert read_reply("ĉiuj rekomendoj", four(), book).kind == "accept_all"
    assert read_reply("cxiuj", four(), book).kind == "unparsed"
    assert {n: i.key for n, i in read_reply("unu B, du A", four(), book).answers.items()} == {1: "B", 2: "A"}
    assert read_reply("no", four(), book).kind == "needs_confirmation"  # words as written, not YAML's booleans


def test_every_mistake_is_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "skip: pass\nunknown: [x]\nskip: [y]\nnumber: [one]\nordinal: {first: x}\n", encoding="utf-8"
    )
    (tmp_path / "b.yaml").write_text("agree: [yes\nskip: [no]\n", encoding="utf-8")
    (tmp_path / "c.yaml").write_text("- a\n", encoding="utf-8")
    (tmp_path / "d.yaml").write_bytes(b"agree: [\xff]\n")
    (tmp_path / "e.yaml").write_text("agree:\n  - yes\n  - [x]\n", encoding="utf-8")
    with pytest.raises(PhraseFileError) as caught:
        load_phrases(tmp_path)
    lines = str(caught.value).splitlines()
    for start in (
        "a.yaml:1: skip must be a list",
        "a.yaml:2: unknown word class",
        "a.yaml:3: skip stands here twice",
        "a.yaml:4: number must map",
        "a.yaml:5: ordinal",
        "b.yaml:2:",
        "c.yaml:1:",
        "d.yaml:1: not UTF-8",
        "e.yaml:3: agree",
    ):
        assert any(start in line for line in lines), (start, lines)


def test_an_empty_folder_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(PhraseFileError, match="no phrase file"):
        load_phrases(tmp_path)


def test_shipped_languages() -> None:
    shipped = {path.stem for path in FOLDER.glob("*.yaml")}
    assert shipped >= {"en", "zh", "ja", "ko", "ru", "uk", "es", "pt", "de", "fr", "vi"}
