"""What is installed: the four packages, their data, and a command that works from anywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("bot", "adapters", "storage", "config")
KINDS = {
    ".py",
    ".yaml",
    ".sql",
    ".jsonl",
    ".mako",
    ".typed",
}  # py.typed: PEP 561; mako: Alembic's, for a new migration


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    [made] = folder.iterdir()
    return made


def test_it_holds_the_four_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        held = {name for name in opened.namelist() if ".dist-info/" not in name}
    wanted = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert held == wanted
    assert {Path(name).suffix if Path(name).name != "py.typed" else ".typed" for name in held} == KINDS
    for package in PACKAGES:
        assert f"{package}/py.typed" in held
    assert "storage/migrations/newest.sql" in held


def test_it_says_what_it_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        [name] = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        about = opened.read(name).decode()
        [scripts] = [opened.read(n).decode() for n in opened.namelist() if n.endswith("entry_points.txt")]
    assert "Requires-Python: >=3.11" in about
    assert re.search(r"^Requires-Dist: pydantic>=2", about, re.MULTILINE)
    assert "askfirst = bot.cli:main" in scripts


def test_no_other_distribution_has_packages_of_these_names() -> None:
    """`config` and `bot` are common names: whoever came second would be half overwritten."""
    owners = packages_distributions()
    assert {package: set(owners.get(package, ())) - {"askfirst"} for package in PACKAGES} == {
        package: set() for package in PACKAGES
    }


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel in an environment of its own, which sees the dependencies of this one and not this source tree."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    place = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
    # Only this folder itself: the .pth files in it, one of which leads to the source tree, are not followed.
    (place / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        folder,
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        wheel,
    ]
    subprocess.run(install, check=True, timeout=120, capture_output=True)
    return folder


def run(installed: Path, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASKFIRST_", "PYTHON"))}
    return subprocess.run(
        [installed / "bin" / command[0], *command[1:]],
        cwd=cwd,
        env=kept,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_it_works_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    where = run(installed, "python", "-c", "import bot, config; print(*bot.__path__, *config.__path__)", cwd=tmp_path)
    paths = where.stdout.split()
    assert len(paths) == 2
    assert all(path.startswith(str(installed)) for path in paths)
    demo = run(installed, "askfirst", "demo", cwd=tmp_path)
    assert (demo.returncode, demo.stderr) == (0, "")
    assert "chosen_via" in demo.stdout
    bundled = Path(paths[1])
    check = run(installed, "askfirst", "check", str(bundled / "packs"), str(bundled / "phrases"), cwd=tmp_path)
    assert (check.returncode, check.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []


def test_it_does_not_write_where_it_is_installed(installed: Path, tmp_path: Path) -> None:
    def held() -> set[Path]:
        return {path for path in installed.rglob("*") if path.is_file() and path.suffix != ".pyc"}

    before = held()
    made = run(installed, "askfirst", "db", "upgrade", "--db", str(tmp_path / "a.db"), cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    assert held() == before
