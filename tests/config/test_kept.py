"""What a start leaves for the next one: `config.kept`."""

from __future__ import annotations

import io
import os
import pickle
import shutil
from pathlib import Path

import pytest

from bot import app
from bot.core.replies.phrases import PhraseBook
from bot.core.routing import route
from config import kept
from config.settings import BUNDLED, Settings, load_settings

PLAYBOOK = "packs/research/playbooks/fact-check.yaml"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "askfirst"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A small folder of configuration that may be changed."""
    folder = tmp_path / "config"
    shutil.copytree(BUNDLED / "packs/research", folder / "packs/research", ignore=shutil.ignore_patterns("??.yaml"))
    shutil.copytree(BUNDLED / "packs/spec", folder / "packs/spec")
    for part in ("packs/research/triggers", "phrases"):
        (folder / part).mkdir(exist_ok=True)
        shutil.copy(BUNDLED / part / "de.yaml", folder / part)
    return load_settings(config=folder)


_READ: dict[str, app.Read] = {}  # the folder of `settings` as it is at first, read once for all tests


@pytest.fixture
def reads(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """Each time that the files themselves would be read."""
    made: list[Settings] = []
    plain = app.read_folders

    def counted(settings: Settings) -> app.Read:
        made.append(settings)
        return _READ.setdefault("at first", _READ.get("at first") or plain(settings))

    monkeypatch.setattr(app, "read_folders", counted)
    return made


def test_the_second_start_has_the_same_book_without_reading(
    cache: Path, settings: Settings, reads: list[Settings]
) -> None:
    first, second = app.load_book(settings), app.load_book(settings)
    assert len(reads) == 1
    assert [file.stat().st_mode & 0o777 for file in cache.iterdir()] == [0o600]
    assert isinstance(second.packs, kept.Parts)
    assert not second.packs.unpacked  # a chat needs one of several
    assert dict(second.playbooks) == first.playbooks
    assert dict(second.packs) == first.packs
    for text in (
        "/ars-lit-review moss",
        "tổng quan tài liệu về ong",
        "phản biện bản thảo",
        "chào",
        "tong quan tai leiu",
    ):
        assert route(text, (), second.packs["research"]) == route(text, (), first.packs["research"])
    for part in PhraseBook.__slots__:
        assert getattr(second.phrases, part) == getattr(first.phrases, part)


def test_whatever_changes_is_read_anew(cache: Path, settings: Settings) -> None:
    app.load_book(settings)
    file = settings.config / PLAYBOOK
    file.write_text(file.read_text("utf-8").replace("title: ", "title: New "), "utf-8")
    assert app.load_book(settings).playbooks["deep-research/fact-check"].title.startswith("New ")
    app.load_book(settings.model_copy(update={"deny_names": ("Nobody Corp",)}))
    file.unlink()
    assert "deep-research/fact-check" not in app.load_book(settings).playbooks
    assert len(list(cache.iterdir())) == 4


def test_a_file_put_in_the_place_of_another_of_the_same_size_and_time_is_read(
    cache: Path, settings: Settings
) -> None:
    """As builds do that give every file the same time."""
    file = settings.config / PLAYBOOK
    app.load_book(settings)
    before, text = file.stat(), file.read_text("utf-8")
    file.write_text(text.replace("title: F", "title: G"), "utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert app.load_book(settings).playbooks["deep-research/fact-check"].title.startswith("G")


def test_mistakes_are_told_at_each_start_and_nothing_is_kept(cache: Path, settings: Settings) -> None:
    (settings.config / PLAYBOOK).write_text("workflow: [", "utf-8")
    for _ in range(2):
        with pytest.raises(Exception, match=r"fact-check.yaml:1: refused: broken_yaml"):
            app.load_book(settings)
    assert not cache.exists()


def test_a_damaged_file_or_one_that_others_may_write_is_not_used(
    cache: Path, settings: Settings, reads: list[Settings]
) -> None:
    app.load_book(settings)
    [file] = cache.iterdir()
    whole = file.read_bytes()
    file.chmod(0o622)
    app.load_book(settings)
    for damaged in (b"", whole[:-9], whole[:1000] + b"?" + whole[1001:]):
        file.write_bytes(damaged)
        app.load_book(settings)
    assert file.read_bytes() == whole
    assert len(reads) == 5


def test_nothing_but_our_values_comes_out(cache: Path) -> None:
    class Harm:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("false",)

    kept.keep("name", {"packs": {"x": Harm()}})
    assert cache.is_dir()
    found = kept.load("name")
    assert found is not None
    with pytest.raises(pickle.UnpicklingError, match="none of our values"):
        found["packs"]["x"]
    imported = b"\x80\x04\x8c\x18bot.core.moments.resolve\x8c\x0cdatetime.now\x93."  # dots reach what it imports
    with pytest.raises(pickle.UnpicklingError, match="none of our values"):
        kept._Values(io.BytesIO(imported)).load()


def test_without_a_place_to_keep_it_everything_works(cache: Path, settings: Settings, reads: list[Settings]) -> None:
    cache.parent.write_text("no folder")
    assert app.load_book(settings).packs.keys() == app.load_book(settings).packs.keys()
    assert len(reads) == 2


@pytest.mark.parametrize("home", ["~", "here", ""])
def test_nothing_is_kept_beside_the_work_of_somebody_without_a_home(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container's user may have none: `~` is then a folder of that name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setattr("os.path.expanduser", lambda path: path.replace("~", home, 1).lstrip("/"))
    kept.keep("name", {"packs": {"x": 1}})
    assert kept.load("name") is None
    assert list(tmp_path.iterdir()) == []


def test_what_can_not_be_packed_stops_nothing(cache: Path) -> None:
    kept.keep("name", {"packs": {"x": lambda: None}})
    assert kept.load("name") is None


def test_few_are_left_behind(cache: Path) -> None:
    for number in range(8):
        kept.keep(f"name{number}", {})
        os.utime(cache / f"name{number}.pickle", (number, number))
    assert sorted(file.name for file in cache.iterdir()) == [f"name{n}.pickle" for n in (4, 5, 6, 7)]
