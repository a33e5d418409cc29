"""The arrows of the architecture hold, and the contracts that prove them are not asleep."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Lines that break the contracts of pyproject.toml, each of them at least once.
PLANTED = (
    ("bot/timers.py", "import storage.sqlite"),
    ("bot/ports.py", "import bot.runner"),
    ("bot/core/model.py", "import bot.core.turn"),
    ("bot/core/words.py", "import socket"),
    ("adapters/limits.py", "import storage.values"),
    ("adapters/telegram/codec.py", "import adapters.terminal.codec"),
    ("adapters/slack/codec.py", "import adapters.telegram.codec"),
)


def lint(folder: Path) -> tuple[int, str]:
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, re.sub(r"\s+", " ", done.stdout)


def test_the_contracts_are_kept_and_go_red_for_what_they_forbid(tmp_path: Path) -> None:
    code, said = lint(ROOT)
    assert (code, re.findall(r"\d+ broken", said)) == (0, ["0 broken"]), said
    for package in ("bot", "adapters", "storage", "config"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for file, line in PLANTED:
        with (tmp_path / file).open("a", encoding="utf-8") as source:
            source.write(f"\n{line}\n")
    code, said = lint(tmp_path)
    assert code == 1
    rules = [contract["name"] for contract in PROJECT["tool"]["importlinter"]["contracts"]]
    assert {rule for rule in rules if f"{rule} BROKEN" in said} == set(rules), said
